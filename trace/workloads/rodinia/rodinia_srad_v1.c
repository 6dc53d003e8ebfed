/* rodinia-srad-v1: anisotropic diffusion, first version: neighbours by index arrays, sums by reduction.
 *
 * An image of R rows and C columns of floats, row index fastest; n = R C. Thread g is element e = g, row r = e mod R,
 * column c = e div R; blocks of 512, as many as cover n. Launches: extract; `iterations` times prepare, reduce ..
 * reduce, srad, srad2; compress.
 *     extract, compress: I[e]; exp or log; store I[e]
 *     prepare: I[e]; store SUM[e]; I[e]; store SUM2[e]
 *     reduce(no, mul), ceil(no/512) blocks: if (e < no) SUM[e mul], SUM2[e mul]; barrier; 9 steps in shared memory,
 *         each with a barrier; thread 511: store SUM[512 mul block], SUM2 of the same. First no = n, mul = 1, then no
 *         = blocks, mul times 512, down to one block. In a last block of m < 512 elements, d the largest power of two
 *         up to m: log2 d steps, then thread d-1: SUM[512 block + i], SUM2 of the same, i = d to m-1, and it stores
 *     srad: iN[r]; I[e]; I[iN + R c]; iS[r]; I[iS + R c]; jW[c]; I[r + R jW]; jE[c]; I[r + R jE]; 36 instructions;
 *         stores of dN, dS, dW, dE, c at e
 *     srad2: iS[r]; jE[c]; dN[e]; dS[e]; c[iS + R c]; c[e]; dW[e]; dE[e]; c[r + R jE]; I[e]; store I[e]
 * iN = max(r-1, 0), iS = min(r+1, R-1), jW, jE likewise of the column. order=hoisted: what depends on no other load
 * comes first. Arrays I, iN, iS, jE, jW, SUM, SUM2, dN, dS, dW, dE, c on 256 B from 0xC0000000 on; the CPU has
 * written I and the four index arrays.
 * Worked example: R = 64, C = 16: n = 1024, launches of 2 blocks; reduce with 2 blocks, then with 1 block of 2
 * elements.
 * Uses: I[e] of srad 4 instructions later, dN of srad2 8, dS 6, all else by the next. Two instructions before an
 * access, 30 for exp or log, 12 for a step of the reduction: assumed.
 * Source: Rodinia 3.1, cuda/srad/srad_v1/main.cu and {extract,prepare,reduce,srad,srad2,compress}_kernel.cu; the F3FS
 * artifact's arguments (100 0.5 512 512); registers, shared memory, uses: PTX of nvcc 13.0 -O3 for capability 7.5.
 * Differs: the sums' copies to the host in each iteration are left out. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 512, ARRAYS = 12, GUARD = 8, MATH = 30, STEP = 12, DERIVE = 36 };
enum { I, IN, IS, JE, JW, SUM, SUM2, DN, DS, DW, DE, COEFF };
enum kernel { EXTRACT, PREPARE, REDUCE, SRAD, SRAD2, COMPRESS };

struct srad_params {
    int64_t rows, columns, iterations, order, compute_ns;
};

struct srad {
    struct srad_params p;
    int64_t n;
    uint32_t reduces; /* launches of reduce in an iteration */
    struct program_alloc allocs[ARRAYS];
};

static const struct param srad_params[] = {
    PARAM_INT_ROW(srad_params, rows, "", 1, 1 << 15, 512, "of the image"),
    PARAM_INT_ROW(srad_params, columns, "", 1, 1 << 15, 512, "of the image"),
    PARAM_INT_ROW(srad_params, iterations, "", 1, 1 << 20, 100, "of the diffusion"),
    RODINIA_ORDER_ROW(srad_params),
    PARAM_NS_AUTO_ROW(srad_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

static void *srad_open(const void *params, struct err *err)
{
    static const char *const names[ARRAYS] = {"I",     "iN", "iS", "jE", "jW", "sums",
                                              "sums2", "dN", "dS", "dW", "dE", "c"};
    struct srad *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *(const struct srad_params *)params;
    s->n = s->p.rows * s->p.columns;
    for (int64_t no = s->n; s->reduces == 0 || no > 1; s->reduces++)
        no = (no + THREADS - 1) / THREADS;
    for (unsigned i = 0; i < ARRAYS; i++) {
        int64_t elements = i == IN || i == IS ? s->p.rows : i == JE || i == JW ? s->p.columns : s->n;
        s->allocs[i].bytes = (uint64_t)elements * 4;
        s->allocs[i].host = i <= JW;
        strcpy(s->allocs[i].name, names[i]);
    }
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *srad_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct srad *)state)->allocs;
}

static uint32_t srad_launches(const void *state)
{
    const struct srad *s = state;
    return 2 + (uint32_t)s->p.iterations * (s->reduces + 3);
}

/* The kernel of a launch; of reduce: no and mul. */
static enum kernel kernel_of(const struct srad *s, uint32_t launch, int64_t *no, int64_t *mul)
{
    uint32_t k = launch ? (launch - 1) % (s->reduces + 3) : 0;
    *no = s->n;
    *mul = 1;
    if (launch == 0 || launch + 1 == srad_launches(s))
        return launch ? COMPRESS : EXTRACT;
    if (k == 0 || k > s->reduces)
        return k == 0 ? PREPARE : k == s->reduces + 1 ? SRAD : SRAD2;
    for (; k > 1; k--) {
        *no = (*no + THREADS - 1) / THREADS;
        *mul *= THREADS;
    }
    return REDUCE;
}

static void srad_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const struct program_launch kernels[] = {{.kernel = "extract", .registers = 14},
                                                    {.kernel = "prepare", .registers = 10},
                                                    {.kernel = "reduce", .registers = 61, .shared = 4096},
                                                    {.kernel = "srad", .registers = 22},
                                                    {.kernel = "srad2", .registers = 17},
                                                    {.kernel = "compress", .registers = 14}};
    int64_t no, mul;
    *out = kernels[kernel_of(state, launch, &no, &mul)];
    out->blocks = (uint64_t)(no + THREADS - 1) / THREADS;
    out->threads = THREADS;
}

/* --- reduce --- */

/* Elements of a block; d of the last one. */
struct part {
    int64_t m, d, mul, first; /* first: element of the block's first thread */
};

static struct part part_of(int64_t no, int64_t mul, uint64_t block)
{
    struct part p = {.mul = mul, .first = (int64_t)block * THREADS};
    p.m = no - p.first < THREADS ? no - p.first : THREADS;
    for (int64_t i = 2; i <= p.m; i *= 2)
        p.d = i;
    return p;
}

/* Loads, and the steps with their barriers. */
static void sum_block(const struct srad *s, const struct emit *e, const struct part *p, uint32_t warp)
{
    int64_t first = p->first + warp * PROGRAM_LANES;
    if (e->active) {
        (void)emit_apart(emit_load(e, SUM, first * p->mul, 2, 1), p->mul);
        (void)emit_apart(emit_load(e, SUM2, first * p->mul, 2, 1), p->mul);
        rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    }
    emit_barrier(e, 2);
    for (int64_t i = 2; i <= p->d; i *= 2)
        emit_barrier(e, STEP - 1);
}

static int reduce(const struct srad *s, struct emit *e, const struct part *p, uint32_t warp, uint32_t index)
{
    bool last = p->d && (p->d - 1) / PROGRAM_LANES == warp; /* thread d-1 is here */
    bool rest = last && p->m > p->d;
    if (index > (rest ? 2 : 0))
        return 0;
    if (index == 0)
        sum_block(s, e, p, warp);
    e->active = last ? 1u << (p->d - 1) % PROGRAM_LANES : 0;
    if (index == 1) {
        emit_same(emit_load(e, SUM, p->first + p->d, 2, 1))->turn_stride = 4;
        emit_same(emit_load(e, SUM2, p->first + p->d, 2, 1))->turn_stride = 4;
        rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
        e->body->turns = (uint64_t)(p->m - p->d);
    }
    if (last && index == (rest ? 2 : 0)) {
        (void)emit_same(emit_store(e, SUM, p->first * p->mul, 2));
        (void)emit_same(emit_store(e, SUM2, p->first * p->mul, 2));
    }
    e->body->after = 1;
    return 1;
}

/* --- what goes over the image --- */

/* Of the 32 elements from `first` on: row, column, and each neighbour. */
struct around {
    int64_t row[PROGRAM_LANES], column[PROGRAM_LANES], south[PROGRAM_LANES], north[PROGRAM_LANES], west[PROGRAM_LANES],
        east[PROGRAM_LANES];
};

static void look_around(const struct srad *s, int64_t first, struct around *a)
{
    int64_t R = s->p.rows, r = first % R, c = first / R;
    for (int64_t l = 0; l < PROGRAM_LANES; l++) {
        int64_t e = first + l;
        a->row[l] = r;
        a->column[l] = c;
        a->north[l] = r ? e - 1 : e;
        a->south[l] = r < R - 1 ? e + 1 : e;
        a->west[l] = c ? e - R : e;
        a->east[l] = c < s->p.columns - 1 ? e + R : e;
        if (++r == R) {
            r = 0;
            c++;
        }
    }
}

/* Each load of an index is followed by that of the neighbour, or all the indices come first. */
static void derive(const struct srad *s, const struct emit *e, int64_t first)
{
    struct around a;
    look_around(s, first, &a);
    const int64_t *index[4] = {a.row, a.row, a.column, a.column}, *beside[4] = {a.north, a.south, a.west, a.east};
    static const uint8_t array[4] = {IN, IS, JW, JE}, store[5] = {DN, DS, DW, DE, COEFF};
    bool hoisted = s->p.order == ORDER_HOISTED;
    for (unsigned k = 0; k < 4; k++) {
        (void)emit_gather(e, array[k], index[k], 2, 1);
        if (k == 0)
            (void)emit_load(e, I, first, 2, 4);
        if (!hoisted)
            (void)emit_gather(e, I, beside[k], 2, 1);
    }
    rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    uint32_t dependent = e->body->count;
    for (unsigned k = 0; hoisted && k < 4; k++)
        (void)emit_gather(e, I, beside[k], 2, 1);
    rodinia_order(e->body, dependent, (enum rodinia_order)s->p.order);
    for (unsigned k = 0; k < 5; k++)
        (void)emit_store(e, store[k], first, k ? 2 : DERIVE);
}

static void update(const struct srad *s, const struct emit *e, int64_t first)
{
    struct around a;
    look_around(s, first, &a);
    bool hoisted = s->p.order == ORDER_HOISTED;
    (void)emit_gather(e, IS, a.row, 2, 1);
    (void)emit_gather(e, JE, a.column, 2, 1);
    (void)emit_load(e, DN, first, 2, 8);
    (void)emit_load(e, DS, first, 2, 6);
    if (!hoisted)
        (void)emit_gather(e, COEFF, a.south, 2, 1);
    (void)emit_load(e, COEFF, first, 2, 1);
    (void)emit_load(e, DW, first, 2, 1);
    (void)emit_load(e, DE, first, 2, 1);
    if (!hoisted)
        (void)emit_gather(e, COEFF, a.east, 2, 1);
    (void)emit_load(e, I, first, 2, 1);
    rodinia_order(e->body, 0, (enum rodinia_order)s->p.order);
    uint32_t dependent = e->body->count;
    if (hoisted) {
        (void)emit_gather(e, COEFF, a.south, 2, 1);
        (void)emit_gather(e, COEFF, a.east, 2, 1);
    }
    rodinia_order(e->body, dependent, (enum rodinia_order)s->p.order);
    (void)emit_store(e, I, first, 2);
}

static void simple(const struct emit *e, enum kernel kernel, int64_t first)
{
    (void)emit_load(e, I, first, 2, 1);
    if (kernel != PREPARE) {
        (void)emit_store(e, I, first, MATH);
        return;
    }
    (void)emit_store(e, SUM, first, 2);
    (void)emit_load(e, I, first, 2, 1);
    (void)emit_store(e, SUM2, first, 2);
}

static int srad_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct srad *s = run;
    int64_t no, mul, first = (int64_t)warp * PROGRAM_LANES;
    enum kernel kernel = kernel_of(s, launch, &no, &mul);
    (void)err;
    struct emit e = emit_to(body, s->allocs, first < no ? program_first_lanes((uint64_t)(no - first)) : 0);
    if (kernel == REDUCE) {
        struct part p = part_of(no, mul, warp / (THREADS / PROGRAM_LANES));
        return reduce(s, &e, &p, (uint32_t)(warp % (THREADS / PROGRAM_LANES)), index);
    }
    if (!e.active)
        return program_no_trip(index, GUARD, body);
    if (index > 0)
        return 0;
    if (kernel == SRAD)
        derive(s, &e, first);
    else if (kernel == SRAD2)
        update(s, &e, first);
    else
        simple(&e, kernel, first);
    body->after = 1;
    return 1;
}

static const struct program_ops srad_ops = {
    .allocs = srad_allocs, .launches = srad_launches, .launch = srad_launch, .body = srad_body};

static int srad_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&srad_ops, state, ((const struct srad *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_srad_v1 = {
    .name = "rodinia-srad-v1",
    .summary = "anisotropic diffusion, first version, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/srad/srad_v1",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = srad_params,
    .params_size = sizeof(struct srad_params),
    .open = srad_open,
    .close = free,
    .program = srad_program,
};
