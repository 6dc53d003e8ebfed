/* totals_watch: the totals of a program (program_totals.h), counted while somebody else takes its steps.
 *
 * The page view of the program with all steps as they are; what goes by is counted, so that its bodies are made once
 * for both. The totals are those of program_totals_init(), to the bit, if each actor of each launch that no other is
 * like took all its steps, once and in order, and every run was through with a launch before any began the next. */
#ifndef REPLAY_PLACEMENT_TOTALS_WATCH_H
#define REPLAY_PLACEMENT_TOTALS_WATCH_H

#include "models/zerocopy/launch_weights.h"
#include "replay/placement/program_totals.h"
#include "trace/program/pages.h"

struct totals_watch;

/* `pages` stay as long as the watch, and `weights`, which get what is counted as the totals do; NULL: they are not
 * asked for. NULL with *err set. */
struct totals_watch *totals_watch_open(const struct program_pages *pages, const struct gpu *gpu,
                                       struct launch_weights *weights, struct err *err);

/* State: the watch. A launch that does not fit on a multiprocessor fails its first step. */
extern const struct actor_ops totals_watch_ops;

/* The totals, once, when all runs are closed; to be released. */
void totals_watch_end(struct totals_watch *watch, struct program_totals *totals);
void totals_watch_close(struct totals_watch *watch); /* NULL: nothing */

#endif
