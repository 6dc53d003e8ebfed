/* adaptive: the state that the two adaptive policies share.
 *
 * Coarse stage: R over a window of batches moves a counter A; at a bound of A the granularity moves. Fine stage: the
 * share of outlier VA blocks in a batch moves a density score D. The settings cover the readings of the paper's open
 * points; docs/models-uvm.md lists them.
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), section III, equations 1 to 7. */
#pragma once

#include "models/uvm/locality.h"
#include "trace/base/param.h"

enum adaptive_r { ADAPTIVE_R_DISTINCT, ADAPTIVE_R_SUMMED };
enum adaptive_step { ADAPTIVE_STEP_RUNG, ADAPTIVE_STEP_JUMP };
enum adaptive_fine { ADAPTIVE_FINE_OFF, ADAPTIVE_FINE_GROW, ADAPTIVE_FINE_DAMPED, ADAPTIVE_FINE_LITERAL };
enum adaptive_saturated { ADAPTIVE_SATURATED_COARSE, ADAPTIVE_SATURATED_FINE };
enum { ADAPTIVE_RUNGS = 10 };

struct adaptive {
    /* Settings. */
    double r_lo, r_hi; /* R <= r_lo: sequential at once; <= r_hi: A + 1; above: A - 1 */
    int64_t a_min, a_max, a_start;
    int64_t window;          /* batches; 0: a routine */
    int64_t r;               /* enum adaptive_r */
    int64_t step;            /* enum adaptive_step */
    int64_t a_reset;         /* 1: A returns to a_start when the granularity moved */
    int64_t ladder;          /* which granularities */
    int64_t start;           /* bytes */
    int64_t gate;            /* 1: 2 MiB while memory is abundant */
    int64_t gate_batches;    /* without an eviction */
    int64_t gate_free_pct;   /* of the chunks at least */
    int64_t fine;            /* enum adaptive_fine */
    int64_t fine_min_blocks; /* a batch of fewer VA blocks is not judged */
    int64_t fine_counts;     /* 0: serviced pages, 1: raw faults where known */
    int64_t fine_moves;      /* rungs per window at most; 0: no limit */
    int64_t saturated;       /* enum adaptive_saturated */
    double z;                /* |z-score| above which a VA block is an outlier */
    double outlier;          /* outlier fraction above which D grows */
    double d_start, d_step;
    /* State. */
    int64_t rungs[ADAPTIVE_RUNGS]; /* the ladder, bytes, ascending */
    int64_t rung_count, rung;
    int64_t a;
    double d;
    uint64_t quiet_batches; /* since the last eviction; starts abundant */
    bool gate_open;
    uint32_t judged;                                      /* batches of this window whose outliers were judged */
    uint64_t above[(UVM_LOCALITY_MAX_BATCHES + 63) / 64]; /* bit i: batch i of the window had too many outliers */
    struct uvm_locality batches;
    /* What the run came to. */
    int64_t windows, windows_lo, windows_mid, windows_hi; /* by R: <= r_lo, <= r_hi, above */
    int64_t grown, shrunk, fine_grown, fine_shrunk;
    int64_t batches_judged, batches_outlying;
    double outlier_max;
};

/* Check the settings and enter the start state. */
int adaptive_init(void *state, struct err *err);
void adaptive_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                   struct page_mask *plan);
void adaptive_on_batch_end(void *state, const struct uvm_batch *batch);
int64_t adaptive_granularity(const void *state);
extern const struct param adaptive_findings[];
