/* adaptive-literal: the adaptive granularity with the paper's own rules and thresholds.
 *
 * Rule. After every fault-handling routine (at most 20 batches), R = distinct VA blocks / batches. R <= 0.3 sets A to
 * its upper bound, R <= 1 adds one, more takes one off; while A is at a bound every routine moves the granularity one
 * rung. If A is at no bound, every batch of the routine is judged: more than 10 % outlier VA blocks (|z| > 2) increment
 * D, which at 1 moves the granularity up; otherwise D is decremented, which at 0 moves it down.
 *
 * Example. Each routine is one batch with one VA block: R = 1, so A goes 1, 2, 3, and in the same routines no block is
 * an outlier, D is 0 and 2 MiB becomes 1 MiB, 512K, 256K; the fourth brings A to its bound 4 and 512K, the next 1 MiB.
 *
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), section III: equation 1 (R), equation 3 (A and its
 * thresholds 0.3 and 1), equations 4 to 6 (outliers, |z| > 2), equation 7 (D, 10 %). Nothing is fitted.
 * Differs: the paper gives neither A's bounds (here -4 and 4), nor the ladder, nor the start (2 MiB), nor how often D
 * may move the granularity in one routine (once; `fine_moves`). */
#include "models/uvm/prefetch/adaptive.h"
#include "trace/base/param.h"

static const struct param params[] = {
    PARAM_INT_ROW(adaptive, a_min, "", -1000000, 0, -4, "lower bound of A; the paper gives none"),
    PARAM_INT_ROW(adaptive, a_max, "", 0, 1000000, 4, "upper bound of A; the paper gives none"),
    PARAM_CHOICE_ROW(adaptive, ladder, "levels|pte|ends|powers", 0,
                     "4K 64K 128K 256K 512K 1M 2M, 4K 64K 2M, 4K 2M, or every power of two"),
    PARAM_BYTES_ROW(adaptive, start, UVM_PAGE_BYTES, UVM_BLOCK_BYTES, UVM_BLOCK_BYTES,
                    "granularity at the start; a rung of the ladder"),
    PARAM_INT_ROW(adaptive, window, "batches", 0, UVM_LOCALITY_MAX_BATCHES, 0,
                  "tumbling window for sources without routines; 0: one routine"),
    PARAM_INT_ROW(adaptive, fine_moves, "rungs", 0, 1000000, 1, "by D per routine at most; 0: no limit"),
    {0}};

static int literal_init(void *state, struct err *err)
{
    struct adaptive *s = state;
    s->r_lo = 0.3;    /* section III-A */
    s->r_hi = 1;      /* equation 3 */
    s->z = 2;         /* section III-B */
    s->outlier = 0.1; /* section III-B */
    s->r = ADAPTIVE_R_DISTINCT;
    s->fine = ADAPTIVE_FINE_LITERAL;
    s->gate_batches = 1;
    return adaptive_init(state, err);
}

const struct uvm_policy uvm_adaptive_literal = {
    .head = {.name = "adaptive-literal",
             .summary = "granularity follows locality: the paper's rules to the letter, per routine",
             .source = "lee-2026, equations 1 to 7 as printed; nothing fitted; a_min, a_max, ladder, start: ours",
             .params = params,
             .state_size = sizeof(struct adaptive)},
    .init = literal_init,
    .plan = adaptive_plan,
    .on_batch_end = adaptive_on_batch_end,
    .granularity = adaptive_granularity,
    .findings = adaptive_findings};
