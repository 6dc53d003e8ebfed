/* record_twice: `offchip record --counters --counter-group l2+sectors`, for chips that do not count requests and
 * sectors in one pass: the counters of a second run of the same program, added to those of the first. */
#ifndef CMD_RECORD_RECORD_TWICE_H
#define CMD_RECORD_RECORD_TWICE_H

#include <stdbool.h>

#include "trace/base/err.h"

/* Whether the recording in `path` counted requests without sectors, so that a second run is of use. -1 with *err set if
 * it cannot be read. */
int record_lacks_sectors(const char *path, struct err *err);

/* Add the sectors that `second` counted to `first`, in place of it. Both must have launched the same kernels in the
 * same order; -1 with *err set if not: then `first` is as it was. */
int record_join(const char *first, const char *second, const char *command_line, struct err *err);

#endif
