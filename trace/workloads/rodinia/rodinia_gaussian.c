/* rodinia-gaussian: elimination steps of Gaussian elimination, two kernels a step.
 *
 * Step t: Fan1, a thread for each row, sets a column of M; Fan2, blocks of 4 x 4, subtracts from A, and from B in its
 * column 0. In Fan2 r = 4 bx + tx, c = 4 by + ty: lanes side by side are rows apart. Both grids stay those of n. What
 * all lanes share is loaded first. One iteration: the artifact's copy ends there (GAUSSIAN_ITERS), the whole program
 * has n - 1.
 * Worked example, n = 64, t = 0: Fan1 is 63 lanes in two warps, each loading a column of 256 B pitch; Fan2 is 16 x 16
 * blocks of one half-empty warp, each on 4 rows and 4 columns.
 * Source: Rodinia 3.1, cuda/gaussian/gaussian.cu (Fan1, Fan2, ForwardSub).
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS1 = 512, SIDE2 = 4, M = 0, A = 1, B = 2 };

struct gaussian {
    struct layout layout;
    int64_t n, iterations;
};

static const struct param gaussian_keys[] = {
    PARAM_INT_ROW(gaussian, n, "", 2, 46340, 2048, "rows and columns; n x n below 2^31"),
    PARAM_INT_ROW(gaussian, iterations, "", 1, 46339, 1, "elimination steps, no more than n - 1"),
    RODINIA_KEYS("time of a warp whose data is all at hand")};

static int fan1(struct emit *e)
{
    int64_t n = ((const struct gaussian *)e->state)->n, t = e->launch / 2, r = e->at.thread;
    if (!emit_below(e, n - 1 - t))
        return emit_idle(e, 9);
    emit_same(emit_load(e, A, n * t + t, 23, 2));
    emit_apart(emit_load(e, A, n * (r + t + 1) + t, 0, 1), n);
    emit_hoist(e, 0);
    emit_apart(emit_store(e, M, n * (r + t + 1) + t, 2), n);
    return emit_end(e, 1);
}

/* B, of the lanes whose column is 0. */
static void fan2_b(struct emit *e, int64_t n, int64_t t, int64_t r)
{
    uint32_t first = e->body->count;
    e->active &= 0xf;
    emit_same(emit_load(e, B, t, 7, 2));
    emit_apart(emit_load(e, M, n * (r + 1 + t) + t, 0, 1), n);
    emit_load(e, B, r + 1 + t, 3, 1);
    emit_hoist(e, first);
    emit_store(e, B, r + 1 + t, 1);
}

/* Lane l stands at row r + l mod 4, column c + l div 4. */
static int fan2(struct emit *e)
{
    int64_t n = ((const struct gaussian *)e->state)->n, t = e->launch / 2, across = (n + SIDE2 - 1) / SIDE2;
    int64_t r = (int64_t)e->at.block % across * SIDE2, c = (int64_t)e->at.block / across * SIDE2;
    for (int64_t l = 0; l < (int64_t)SIDE2 * SIDE2; l++)
        if (r + l % SIDE2 >= n - 1 - t || c + l / SIDE2 >= n - t)
            e->active &= ~(1u << l);
    if (!e->active)
        return emit_idle(e, r < n - 1 - t ? 17 : 10);
    emit_tile(e, emit_load(e, A, n * t + c + t, 27, 2), SIDE2, 1, 0);
    emit_tile(e, emit_load(e, M, n * (r + 1 + t) + t, 0, 1), SIDE2, 0, n);
    struct program_access *a = emit_tile(e, emit_load(e, A, n * (r + 1 + t) + c + t, 5, 1), SIDE2, 1, n);
    emit_hoist(e, 0);
    emit_again(e, a, RECORD_WRITE, 1);
    if (c == 0)
        fan2_b(e, n, t, r);
    return emit_end(e, c == 0 ? 1 : 3);
}

static int gaussian_init(struct gaussian *s, struct err *err)
{
    uint64_t n = s->n, across = layout_blocks(n, SIDE2);
    (void)err;
    LAYOUT_ARRAYS(&s->layout, {"+m|a", n * n * 4}, {"+b", n * 4});
    layout_straight(&s->layout, fan1, "Fan1", layout_blocks(n, THREADS1), THREADS1, 15, 0);
    layout_straight(&s->layout, fan2, "Fan2", across * across, SIDE2 * SIDE2, 16, 0);
    s->layout.kernel[0].launch.waited = s->layout.kernel[1].launch.waited = true; /* ForwardSub() waits for each */
    s->layout.launches = 2 * (uint32_t)(s->iterations < s->n - 1 ? s->iterations : s->n - 1);
    return 0;
}

RODINIA(gaussian, "gaussian", "gaussian", "Gaussian elimination, two kernels a step, rows apart from lane to lane",
        free);
