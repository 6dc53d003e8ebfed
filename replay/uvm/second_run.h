/* second_run: what a second run of a program recorded, page touches or accesses, into the recording of the first.
 *
 * The second run becomes the first one's: its launches get their numbers, its addresses are moved to where the first
 * run had the same allocation. Refused unless both launched the same kernels in the same order and allocated the same
 * managed memory in the same order, and all pages that faulted in the first are touched in the second. */
#ifndef REPLAY_UVM_SECOND_RUN_H
#define REPLAY_UVM_SECOND_RUN_H

#include "trace/store/store.h"

/* Origin (but for what a new trace says of itself), what was left out and what was lost, the driver's parameters. */
int recording_copy_facts(struct store *in, struct store *out, struct err *err);

/* Whether a trace can be added to: migrations are recorded in it, no touches and no accesses. -1 with *err set: no. */
int second_run_check(struct store *first, struct err *err);

/* The command that records touches or accesses besides, "offchip record --touches --with t.db -- ./app --size 64": into
 * it where second_run_check() lets it. Returns buf. */
const char *second_run_command(struct store *first, bool touches, char *buf, size_t size);

/* What `second` says, a recording of accesses, as stream "accesses" of `out`, or, `touches`, the pages that it touches
 * as stream "touches". `some`: only some kernels were recorded in it, all launches of each. `out` is a new trace, which
 * gets all that `first` holds besides. -1 with *err set: what does not agree first. */
int second_run_join(struct store *first, struct store *second, bool touches, bool some, struct store *out,
                    struct err *err);

#endif
