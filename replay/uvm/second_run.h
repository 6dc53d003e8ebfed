/* second_run: what a second run of a program recorded, page touches or accesses, into the recording of the first.
 *
 * The second run becomes the first one's: its launches get their numbers, its addresses are moved to where the first
 * run had the same allocation. Refused unless both launched the same kernels in the same order and allocated the same
 * managed memory in the same order, and all pages that faulted in the first are touched in the second. */
#pragma once

#include "trace/store/store.h"

/* Origin (but for what a new trace says of itself), what was left out and what was lost, the driver's parameters. */
int recording_copy_facts(struct store *in, struct store *out, struct err *err);

/* Whether a trace can be added to: migrations are recorded in it, no touches and no accesses. -1 with *err set: no. */
int second_run_check(struct store *first, struct err *err);

/* What was recorded, "app --size 64": of the recorder's own command line, or the process; NULL: nothing says it. */
const char *recorded_program(const struct store *store);

/* The command that records touches or accesses besides, "offchip record --touches --with t.db -- ./app --size 64": into
 * it where second_run_check() lets it. Returns buf. */
const char *second_run_command(struct store *first, bool touches, char *buf, size_t size);

/* Write `second`, a recording of accesses, to `out` as stream "accesses", or with `touches` its pages as stream
 * "touches". `some`: it recorded only some kernels, all launches of each. `out` is a new trace and also gets everything
 * in `first`. -1 with *err set: the first disagreement. */
int second_run_join(struct store *first, struct store *second, bool touches, bool some, struct store *out,
                    struct err *err);

/* --- without the profiler: facts of origin with the time from a launch to the end of the next wait for the GPU --- */
#define UNTRACED_PLAIN    "untraced.plain"    /* as it is */
#define UNTRACED_RESIDENT "untraced.resident" /* with all managed memory on the GPU before */
#define UNTRACED_PLANNED  "untraced.planned"  /* under a plan, with its calls */

struct untraced {
    double median_ns, low_ns, high_ns; /* the middle half of the runs lies between the last two */
    uint32_t runs;
};

/* Of n runs, n > 0, which are sorted. */
struct untraced untraced_of(double *ns, size_t n);
/* False: there is no such fact. -1 with *err set. */
bool untraced_get(const struct store *store, const char *key, struct untraced *u);
int untraced_put(const char *path, const char *key, const struct untraced *u, struct err *err);
/* "38.6 ms (38.1 to 39.2, runs: 7)". Returns text. */
const char *untraced_say(const struct untraced *u, char *text, size_t size);
