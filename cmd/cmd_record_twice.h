/* cmd_record_twice: `offchip record --counters --counter-group l2+sectors`, for chips that do not count requests and
 * sectors in one pass: the counters of a second run of the same program, added to those of the first. */
#ifndef CMD_CMD_RECORD_TWICE_H
#define CMD_CMD_RECORD_TWICE_H

#include <stdbool.h>

#include "trace/base/err.h"

/* Whether the recording in `path` counted requests without sectors, so that a second run is of use. -1 with *err set if
 * it cannot be read. */
int cmd_record_lacks_sectors(const char *path, struct err *err);

/* Add the sectors that `second` counted to `first`, in place of it. Both must have launched the same kernels in the
 * same order; -1 with *err set if not: then `first` is as it was. */
int cmd_record_join(const char *first, const char *second, struct err *err);

#endif
