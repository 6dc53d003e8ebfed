/* record_views: `offchip record --requests` and `--dram`: a recording of accesses made into the stream that is
 * asked for. */
#ifndef CMD_RECORD_VIEWS_H
#define CMD_RECORD_VIEWS_H

#include <stdbool.h>

#include "trace/store/store.h"

enum record_view { RECORD_VIEW_NONE, RECORD_VIEW_TOUCHES, RECORD_VIEW_REQUESTS, RECORD_VIEW_DRAM };

/* Whether there is such a platform: before anything is run. */
int record_views_platform(const char *platform, struct err *err);

/* Replace the recording of accesses in `path` by a trace of what follows from it: first touches as a
 * program of pages, link requests and their sizes, or the
 * DRAM requests behind the L2 of `platform`, or, with NULL, of the size that the recorded GPU said; what is said of the
 * recording (origin, allocations, what was left out or lost, whether it is complete) stays.
 * command_line: for the origin. -1 with *err set: path is as it was. */
int record_views_make(const char *path, enum record_view view, const char *platform, const char *command_line,
                      struct err *err);

/* --- `offchip record --counters --counter-group l2+sectors`, for chips that do not count requests and sectors in one
 * pass: the counters of a second run of the same program, added to those of the first --- */

/* Whether the recording in `path` counted requests without sectors, so that a second run is of use. -1 with *err set if
 * it cannot be read. */
int record_lacks_sectors(const char *path, struct err *err);

/* Add the sectors that `second` counted to `first`, in place of it. Both must have launched the same kernels in the
 * same order; -1 with *err set if not: then `first` is as it was. */
int record_join(const char *first, const char *second, const char *command_line, struct err *err);

#endif
