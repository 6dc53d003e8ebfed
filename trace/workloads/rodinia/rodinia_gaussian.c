/* rodinia-gaussian: elimination steps of Rodinia's Gaussian elimination, two kernels a step.
 *
 *     step t: Fan1, 512 threads a block: if (r < n-1-t) M[r+1+t][t] = A[r+1+t][t] / A[t][t]
 *             Fan2, blocks of 4 x 4:     if (r < n-1-t and c < n-t) A[r+1+t][c+t] -= M[r+1+t][t] A[t][c+t];
 *                                        if (c == 0) B[r+1+t] -= M[r+1+t][t] B[t]
 *
 * Fan1's r is the thread; in Fan2 r = 4 bx + tx, c = 4 by + ty: lanes side by side are rows apart. Both grids stay
 * those of n. Arrays, from 0xC0000000 on: M, A (n x n floats), B (n), all copied in. n = 2048 as gupta-2025-f3fs runs
 * it; its copy of the program ends after one step (GAUSSIAN_ITERS), the whole has n - 1: iterations.
 * Worked example, n = 64, t = 0: Fan1 is 63 lanes in two warps, each loading a column of 256 B pitch; Fan2 is 16 x 16
 * blocks of one half-empty warp, each on 4 rows and 4 columns.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers: the same compiler.
 * What all lanes share is loaded first (A[t][t]; A[t][c+t]; B[t]). order=hoisted: the loads of a guarded stretch, then
 * their uses.
 * Source: Rodinia 3.1, cuda/gaussian/gaussian.cu (Fan1, Fan2, ForwardSub).
 * Differs: nothing known. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/order.h"
#include "trace/workloads/rodinia/suite.h"

enum { BLOCK1 = 512, SIDE2 = 4, M = 0, A = 1, B = 2 };

struct gaussian_params {
    int64_t n, iterations, order, compute_ns;
};

struct gaussian {
    uint64_t n;
    struct gaussian_params p;
    struct program_alloc allocs[3];
};

static const struct param gaussian_params[] = {
    PARAM_INT_ROW(gaussian_params, n, "", 2, 46340, 2048, "rows and columns; n x n below 2^31"),
    PARAM_INT_ROW(gaussian_params, iterations, "", 1, 46339, 1, "elimination steps, no more than n - 1"),
    RODINIA_ORDER_ROW(gaussian_params),
    PARAM_NS_AUTO_ROW(gaussian_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *gaussian_open(const void *params, struct err *err)
{
    struct gaussian *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct gaussian_params *)params;
    s->n = (uint64_t)s->p.n;
    s->allocs[M] = (struct program_alloc){.name = "m", .bytes = s->n * s->n * 4, .host = true};
    s->allocs[A] = (struct program_alloc){.name = "a", .bytes = s->n * s->n * 4, .host = true};
    s->allocs[B] = (struct program_alloc){.name = "b", .bytes = s->n * 4, .host = true};
    program_place(s->allocs, 3, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *gaussian_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct gaussian *)state)->allocs;
}

static uint32_t gaussian_launches(const void *state)
{
    const struct gaussian *s = state;
    return 2 * (uint32_t)(s->p.iterations < s->p.n - 1 ? s->p.iterations : s->p.n - 1);
}

static void gaussian_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct gaussian *s = state;
    uint64_t across = (s->n + SIDE2 - 1) / SIDE2;
    if (launch % 2 == 0)
        *out = (struct program_launch){
            .kernel = "Fan1", .blocks = (s->n + BLOCK1 - 1) / BLOCK1, .threads = BLOCK1, .registers = 15};
    else
        *out = (struct program_launch){
            .kernel = "Fan2", .blocks = across * across, .threads = SIDE2 * SIDE2, .registers = 16};
}

/* One element of a row for all lanes (lane_stride 0), or of a column, `rows` rows apart from lane to lane. */
static struct program_access *add(const struct gaussian *s, struct program_body *body, unsigned array, uint64_t element,
                                  uint64_t rows, uint16_t before, uint16_t use)
{
    struct program_access *a = program_load(body, s->allocs, array, element * 4, 4);
    a->lane_stride = (int64_t)(rows * s->n * 4);
    a->before = before;
    a->use = use;
    return a;
}

static void to_store(struct program_access *a)
{
    a->kind = RECORD_WRITE;
    a->use = 0;
}

static int fan1(const struct gaussian *s, uint64_t t, uint64_t r, uint32_t index, struct program_body *body)
{
    uint64_t below = s->n * (r + t + 1) + t;
    if (r >= s->n - 1 - t)
        return program_no_trip(index, 9, body);
    if (index > 0)
        return 0;
    (void)add(s, body, A, s->n * t + t, 0, 23, 2);
    (void)add(s, body, A, below, 1, 0, 1);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    to_store(add(s, body, M, below, 1, 2, 0));
    for (uint32_t i = 0; i < body->count; i++)
        body->access[i].active = program_first_lanes(s->n - 1 - t - r);
    body->after = 1;
    return 1;
}

/* Lane l stands at row r + l mod 4, column c + l div 4: bytes from the first element of the access. */
static void spread(struct program_body *body, struct program_access *a, uint64_t row_bytes, uint64_t column_bytes)
{
    uint64_t first = a->addr, *lane = program_scatter(body, a);
    for (uint64_t l = 0; l < PROGRAM_LANES; l++)
        lane[l] = first + l % SIDE2 * row_bytes + l / SIDE2 * column_bytes;
}

/* B, of the lanes whose column is 0. */
static void fan2_b(const struct gaussian *s, uint64_t t, uint64_t r, uint32_t active, struct program_body *body)
{
    uint32_t first = body->count;
    (void)add(s, body, B, t, 0, 7, 2);
    (void)add(s, body, M, s->n * (r + 1 + t) + t, 1, 0, 1);
    add(s, body, B, r + 1 + t, 0, 3, 1)->lane_stride = 4;
    rodinia_order(body, first, (enum rodinia_order)s->p.order);
    struct program_access *store = add(s, body, B, r + 1 + t, 0, 1, 0);
    store->lane_stride = 4;
    to_store(store);
    for (uint32_t i = first; i < body->count; i++)
        body->access[i].active = active;
}

static int fan2(const struct gaussian *s, uint64_t t, uint64_t block, uint32_t index, struct program_body *body)
{
    uint64_t across = (s->n + SIDE2 - 1) / SIDE2, r = block % across * SIDE2, c = block / across * SIDE2;
    uint64_t row = s->n * 4, below = s->n * (r + 1 + t);
    uint32_t active = 0;
    for (uint64_t l = 0; l < SIDE2 * SIDE2; l++)
        if (r + l % SIDE2 < s->n - 1 - t && c + l / SIDE2 < s->n - t)
            active |= 1u << l;
    if (!active)
        return program_no_trip(index, r < s->n - 1 - t ? 17 : 10, body);
    if (index > 0)
        return 0;
    spread(body, add(s, body, A, s->n * t + c + t, 0, 27, 2), 0, 4);
    spread(body, add(s, body, M, below + t, 0, 0, 1), row, 0);
    struct program_access *old = add(s, body, A, below + c + t, 0, 5, 1);
    spread(body, old, row, 4);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    struct program_access *store = add(s, body, A, below + c + t, 0, 1, 0);
    store->lane = old->lane;
    to_store(store);
    for (uint32_t i = 0; i < body->count; i++)
        body->access[i].active = active;
    if (c == 0)
        fan2_b(s, t, r, active & 0xf, body);
    body->after = c == 0 ? 1 : 3;
    return 1;
}

static int gaussian_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                         struct err *err)
{
    (void)err;
    if (launch % 2 == 0)
        return fan1(run, launch / 2, warp * PROGRAM_LANES, index, body);
    return fan2(run, launch / 2, warp, index, body);
}

static const struct program_ops gaussian_ops = {
    .allocs = gaussian_allocs, .launches = gaussian_launches, .launch = gaussian_launch, .body = gaussian_body};

static int gaussian_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&gaussian_ops, state, ((const struct gaussian *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_gaussian = {
    .name = "rodinia-gaussian",
    .summary = "Gaussian elimination, two kernels a step, rows apart from lane to lane",
    .source = "Rodinia 3.1 cuda/gaussian",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = gaussian_params,
    .params_size = sizeof(struct gaussian_params),
    .open = gaussian_open,
    .close = free,
    .program = gaussian_program,
};
