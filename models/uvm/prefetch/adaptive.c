/* adaptive: the granularity follows the locality of the faults.
 *
 * Rule. Over each window of 20 batches, R = distinct VA blocks with serviced faults / batches. R <= 0.3 sets the
 * counter A to its upper bound, R <= 4 adds one, more takes one off. While A stands at its upper (lower) bound, every
 * window moves the granularity one rung up (down) the ladder 4K 64K 128K 256K 512K 1M 2M; it starts at 2 MiB. While
 * memory is abundant (no eviction in the last 20 batches, 5 % of the chunks free) it is 2 MiB. A faulted page brings
 * its aligned region of that size.
 *
 * Example. Memory is short and every window shows 27 blocks a batch: A goes 0, -1, ... and reaches -16 after 16
 * windows, which moves 2 MiB to 1 MiB; windows 17 to 21 bring 512K, 256K, 128K, 64K, 4K, where it stays.
 *
 * Source: "Adaptive Prefetch-Granularity Management" (lee-2026), section III: equation 1 (R), equation 3 (A), what
 * follows it (a move while A is at a bound); section IV-C for the gate.
 * Differs: R_hi is 4 (paper 1), A's bounds are -16 and 4 (paper: not given), windows of 20 batches replace routines,
 * the fine stage is off: with the paper's rules the granularity oscillates, because at 2 MiB a block faults once and R
 * cannot fall below 1. R_hi and A's lower bound were fitted to 20 simulated cases (conv2d, fdtd2d, bicg, nw at 8 GiB).
 * adaptive-literal has the paper's rules; docs/models-uvm.md lists every open point and its setting. */
#include "models/uvm/prefetch/adaptive.h"
#include "trace/base/param.h"

#define KIB 1024ll
#define MIB 1048576ll

static const struct param params[] = {
    PARAM_REAL_ROW(adaptive, r_lo, "blocks/batch", 0, 1e6, 0.3, "R at or below which A jumps to its upper bound"),
    PARAM_REAL_ROW(adaptive, r_hi, "blocks/batch", 0, 1e6, 4, "R at or below which A grows by one; above it falls"),
    PARAM_INT_ROW(adaptive, a_min, "", -1000000, 0, -16, "lower bound of A: windows of patience before shrinking"),
    PARAM_INT_ROW(adaptive, a_max, "", 0, 1000000, 4, "upper bound of A"),
    PARAM_INT_ROW(adaptive, a_start, "", -1000000, 1000000, 0, "A at the start"),
    PARAM_INT_ROW(adaptive, window, "batches", 0, UVM_LOCALITY_MAX_BATCHES, 20, "tumbling window; 0: one routine"),
    PARAM_CHOICE_ROW(adaptive, r, "distinct|summed", ADAPTIVE_R_DISTINCT,
                     "blocks counted once per window, or once per batch"),
    PARAM_CHOICE_ROW(adaptive, step, "rung|jump", ADAPTIVE_STEP_RUNG, "at a bound of A: one rung, or to the end"),
    PARAM_CHOICE_ROW(adaptive, a_reset, "off|on", 0, "whether A returns to a_start when the granularity moved"),
    PARAM_CHOICE_ROW(adaptive, ladder, "levels|pte|ends|powers", 0,
                     "4K 64K 128K 256K 512K 1M 2M, 4K 64K 2M, 4K 2M, or every power of two"),
    PARAM_BYTES_ROW(adaptive, start, UVM_PAGE_BYTES, UVM_BLOCK_BYTES, UVM_BLOCK_BYTES,
                    "granularity at the start; a rung of the ladder"),
    PARAM_CHOICE_ROW(adaptive, gate, "off|on", 1, "2 MiB while memory is abundant"),
    PARAM_INT_ROW(adaptive, gate_batches, "batches", 1, 1000000, 20, "without an eviction, for the gate"),
    PARAM_INT_ROW(adaptive, gate_free_pct, "%", 0, 100, 5, "of the chunks free, for the gate"),
    PARAM_CHOICE_ROW(adaptive, fine, "off|grow|damped|literal", ADAPTIVE_FINE_OFF,
                     "outlier stage: off, may only grow, D in steps between 0 and 1, or D of 0 or 1"),
    PARAM_INT_ROW(adaptive, fine_min_blocks, "blocks", 0, 1000000, 0, "batches of fewer VA blocks are not judged"),
    PARAM_CHOICE_ROW(adaptive, fine_counts, "serviced|raw", 0, "what f_b counts; raw where the source knows it"),
    PARAM_INT_ROW(adaptive, fine_moves, "rungs", 0, 1000000, 1, "per window at most; 0: no limit"),
    PARAM_CHOICE_ROW(adaptive, saturated, "coarse|fine", ADAPTIVE_SATURATED_COARSE,
                     "which stage decides when A is at a bound and the ladder at its end"),
    PARAM_REAL_ROW(adaptive, z, "", 0, 1e6, 2, "absolute z-score above which a VA block is an outlier"),
    PARAM_REAL_ROW(adaptive, outlier, "", 0, 1, 0.1, "fraction of outliers above which D grows"),
    PARAM_REAL_ROW(adaptive, d_start, "", 0, 1, 0.5, "density score at the start and after a move"),
    PARAM_REAL_ROW(adaptive, d_step, "", 0.001, 1, 0.25, "how far one batch moves the density score"),
    {0}};

const struct param adaptive_findings[] = {
    PARAM_INT_ROW(adaptive, windows, "", 0, 0, 0, "windows judged"),
    PARAM_INT_ROW(adaptive, windows_lo, "", 0, 0, 0, "of them with R <= r_lo"),
    PARAM_INT_ROW(adaptive, windows_mid, "", 0, 0, 0, "with r_lo < R <= r_hi"),
    PARAM_INT_ROW(adaptive, windows_hi, "", 0, 0, 0, "with R > r_hi"),
    PARAM_INT_ROW(adaptive, grown, "", 0, 0, 0, "moves up by the coarse stage"),
    PARAM_INT_ROW(adaptive, shrunk, "", 0, 0, 0, "moves down by the coarse stage"),
    PARAM_INT_ROW(adaptive, fine_grown, "", 0, 0, 0, "moves up by the fine stage"),
    PARAM_INT_ROW(adaptive, fine_shrunk, "", 0, 0, 0, "moves down by the fine stage"),
    PARAM_INT_ROW(adaptive, batches_judged, "", 0, 0, 0, "batches whose outliers were counted"),
    PARAM_INT_ROW(adaptive, batches_outlying, "", 0, 0, 0, "of them with more outliers than allowed"),
    PARAM_REAL_ROW(adaptive, outlier_max, "", 0, 0, 0, "largest outlier fraction of a batch"),
    {0}};

static int set_ladder(struct adaptive *s, struct err *err)
{
    static const int64_t ladders[4][ADAPTIVE_RUNGS] = {
        {4 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB},
        {4 * KIB, 64 * KIB, 2 * MIB},
        {4 * KIB, 2 * MIB},
        {4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB}};
    s->rung = -1;
    for (int i = 0; i < ADAPTIVE_RUNGS && ladders[s->ladder][i]; i++) {
        s->rungs[i] = ladders[s->ladder][i];
        s->rung_count = i + 1;
        if (s->rungs[i] == s->start)
            s->rung = i;
    }
    if (s->rung < 0)
        return err_set(err, "start is %lld bytes, which is no rung of the ladder chosen", (long long)s->start);
    return 0;
}

int adaptive_init(void *state, struct err *err)
{
    struct adaptive *s = state;
    if (s->r_lo > s->r_hi)
        return err_set(err, "r_lo is %g and r_hi %g; expected r_lo <= r_hi", s->r_lo, s->r_hi);
    if (s->a_min >= s->a_max || s->a_start < s->a_min || s->a_start > s->a_max)
        return err_set(err, "a_min %lld, a_start %lld, a_max %lld; expected a_min <= a_start <= a_max, a_min < a_max",
                       (long long)s->a_min, (long long)s->a_start, (long long)s->a_max);
    s->a = s->a_start;
    s->d = s->fine == ADAPTIVE_FINE_LITERAL ? 0 : s->d_start;
    s->quiet_batches = (uint64_t)s->gate_batches;
    s->gate_open = s->gate != 0;
    return set_ladder(s, err);
}

int64_t adaptive_granularity(const void *state)
{
    const struct adaptive *s = state;
    return s->gate_open ? UVM_BLOCK_BYTES : s->rungs[s->rung];
}

void adaptive_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                   struct page_mask *plan)
{
    uvm_fixed_plan(block, faulted, adaptive_granularity(state), plan);
}

/* f_b of equations 4 to 7. */
static double faults_of(const struct uvm_batch_block *block, bool raw)
{
    return raw && block->raw ? block->raw : block->faults;
}

/* |{b : |f_b - mu| > z sigma}| / |B| with the population sigma (equations 4 to 7); 0 where sigma is 0 or the batch has
 * no block. counts: 0 serviced pages, 1 raw faults where known.
 * Everything is multiplied by |B|, so that whole numbers stay exact: five blocks reach |z| = 2 but never exceed it. */
static double adaptive_outlier_fraction(const struct uvm_batch *batch, double z, bool raw)
{
    double n = (double)batch->block_count, sum = 0, squares = 0;
    for (size_t i = 0; i < batch->block_count; i++) {
        double f = faults_of(&batch->blocks[i], raw);
        sum += f;
        squares += f * f;
    }
    double variance = n * squares - sum * sum; /* |B|^2 sigma^2 */
    if (variance <= 0)
        return 0;
    size_t outliers = 0;
    for (size_t i = 0; i < batch->block_count; i++) {
        double off = n * faults_of(&batch->blocks[i], raw) - sum; /* |B| (f_b - mu) */
        outliers += off * off > z * z * variance;
    }
    return (double)outliers / n;
}

/* The granularity of the coarse stage moves towards `up`; whether it could. */
static bool move(struct adaptive *s, bool up, bool to_end)
{
    int64_t last = s->rung_count - 1, before = s->rung;
    if (to_end)
        s->rung = up ? last : 0;
    else
        s->rung += up ? s->rung < last : -(s->rung > 0);
    return s->rung != before;
}

/* Equation 3. */
static void update_a(struct adaptive *s, double r)
{
    s->windows++;
    if (r <= s->r_lo) {
        s->windows_lo++;
        s->a = s->a_max;
    } else if (r <= s->r_hi) {
        s->windows_mid++;
        s->a += s->a < s->a_max;
    } else {
        s->windows_hi++;
        s->a -= s->a > s->a_min;
    }
}

/* Whether the coarse stage decided, so that the fine stage keeps out. */
static bool coarse(struct adaptive *s, double r)
{
    update_a(s, r);
    if (s->a != s->a_max && s->a != s->a_min)
        return false;
    bool up = s->a == s->a_max;
    bool moved = move(s, up, s->step == ADAPTIVE_STEP_JUMP);
    s->grown += moved && up;
    s->shrunk += moved && !up;
    if (moved && s->a_reset)
        s->a = s->a_start;
    return moved || s->saturated == ADAPTIVE_SATURATED_COARSE;
}

/* Update D for one batch; *moves counts the granularity steps taken in this window. */
static void fine_batch(struct adaptive *s, bool above, int64_t *moves)
{
    double step = s->fine == ADAPTIVE_FINE_LITERAL ? 1 : s->d_step;
    s->d += above ? step : -step;
    s->d = s->d > 1 ? 1 : s->d < 0 ? 0 : s->d;
    if (s->d > 0 && s->d < 1)
        return;
    bool up = s->d >= 1;
    if (!up && s->fine == ADAPTIVE_FINE_GROW)
        return;
    if (s->fine_moves && *moves >= s->fine_moves)
        return;
    if (move(s, up, false)) {
        ++*moves;
        s->fine_grown += up;
        s->fine_shrunk += !up;
    }
    if (s->fine != ADAPTIVE_FINE_LITERAL)
        s->d = s->d_start;
}

/* Judge the outliers of a batch; kept until the window ends. */
static void judge(struct adaptive *s, const struct uvm_batch *batch)
{
    if (!batch->block_count || (int64_t)batch->block_count < s->fine_min_blocks)
        return;
    double fraction = adaptive_outlier_fraction(batch, s->z, s->fine_counts != 0);
    bool above = fraction > s->outlier;
    s->batches_judged++;
    s->batches_outlying += above;
    if (fraction > s->outlier_max)
        s->outlier_max = fraction;
    if (s->judged < UVM_LOCALITY_MAX_BATCHES) {
        uint64_t bit = 1ull << (s->judged % 64);
        s->above[s->judged / 64] = (s->above[s->judged / 64] & ~bit) | (above ? bit : 0);
        s->judged++;
    }
}

/* Memory is abundant: nothing was evicted for a while and chunks are free. Then the granularity is 2 MiB. */
static void update_gate(struct adaptive *s, const struct uvm_batch *batch)
{
    s->quiet_batches = batch->evictions ? 0 : s->quiet_batches + 1;
    bool plenty = !batch->total_chunks || batch->free_chunks * 100 >= batch->total_chunks * (uint64_t)s->gate_free_pct;
    s->gate_open = s->gate && plenty && s->quiet_batches >= (uint64_t)s->gate_batches;
    if (s->gate_open)
        s->rung = s->rung_count - 1;
}

void adaptive_on_batch_end(void *state, const struct uvm_batch *batch)
{
    struct adaptive *s = state;
    uvm_locality_add(&s->batches, batch);
    judge(s, batch);
    bool full = s->window ? s->batches.batches >= s->window : batch->routine_end;
    if (!full && s->batches.batches < UVM_LOCALITY_MAX_BATCHES) {
        update_gate(s, batch);
        return;
    }
    double r = s->r == ADAPTIVE_R_SUMMED ? uvm_locality_summed_r(&s->batches) : uvm_locality_r(&s->batches);
    if (!coarse(s, r) && s->fine != ADAPTIVE_FINE_OFF) {
        int64_t moves = 0;
        for (uint32_t i = 0; i < s->judged; i++)
            fine_batch(s, s->above[i / 64] >> (i % 64) & 1, &moves);
    }
    s->judged = 0;
    uvm_locality_next(&s->batches);
    update_gate(s, batch);
}

const struct uvm_policy uvm_adaptive = {
    .head = {.name = "adaptive",
             .summary = "granularity follows locality: R over 20 batches, closed-loop reading of the paper",
             .source = "lee-2026, equations 1 to 3, IV-C's gate; r_hi and a_min fitted to 20 simulated cases",
             .params = params,
             .state_size = sizeof(struct adaptive)},
    .init = adaptive_init,
    .plan = adaptive_plan,
    .on_batch_end = adaptive_on_batch_end,
    .granularity = adaptive_granularity,
    .findings = adaptive_findings};
