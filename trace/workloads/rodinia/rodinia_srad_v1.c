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

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 512, GUARD = 8, MATH = 30, STEP = 12, DERIVE = 36 };
enum { I, IN, IS, JE, JW, SUM, SUM2, DN, DS, DW, DE, COEFF };
enum kernel { EXTRACT, PREPARE, REDUCE, SRAD, SRAD2, COMPRESS };

struct srad_params {
    int64_t rows, columns, iterations, order, compute_ns;
};

struct srad {
    struct plan plan;
    struct srad_params p;
    int64_t n;
    uint32_t reduces; /* launches of reduce in an iteration */
};

static const struct param srad_params[] = {
    PARAM_INT_ROW(srad_params, rows, "", 1, 1 << 15, 512, "of the image"),
    PARAM_INT_ROW(srad_params, columns, "", 1, 1 << 15, 512, "of the image"),
    PARAM_INT_ROW(srad_params, iterations, "", 1, 1 << 20, 100, "of the diffusion"),
    RODINIA_ORDER_ROW(srad_params),
    PARAM_NS_AUTO_ROW(srad_params, compute_ns, 0, 1e9, "time of a warp whose data is all at hand"),
    {0}};

/* --- reduce --- */

/* no and mul of a launch of reduce; of any other: n and 1. */
static int64_t elements(const struct srad *s, uint32_t launch, int64_t *mul)
{
    uint32_t k = launch ? (launch - 1) % (s->reduces + 3) : 0;
    int64_t no = s->n;
    for (*mul = 1; k > 1 && k <= s->reduces; k--, *mul *= THREADS)
        no = (no + THREADS - 1) / THREADS;
    return no;
}

/* Body 0: loads, and the steps with their barriers; in a last block of m elements, d of which the steps add up: body 1:
 * thread d-1 adds the rest; then it stores. */
static int reduce(struct emit *e)
{
    int64_t mul, no = elements(e->state, e->launch, &mul), block = (int64_t)e->at.block * THREADS, d = 0;
    int64_t first = (int64_t)e->at.thread * mul, m = no - block < THREADS ? no - block : THREADS;
    for (int64_t i = 2; i <= m; i *= 2)
        d = i;
    bool last = d && (d - 1) / PROGRAM_LANES == e->at.warp, rest = last && m > d; /* last: thread d-1 is here */
    if (e->index > (rest ? 2 : 0))
        return 0;
    if (e->index == 0 && emit_below(e, (uint64_t)no)) {
        emit_apart(emit_load(e, SUM, first, 2, 1), mul);
        emit_apart(emit_load(e, SUM2, first, 2, 1), mul);
        emit_hoist(e, 0);
    }
    if (e->index == 0)
        emit_barrier(e, 2);
    for (int64_t i = 2; e->index == 0 && i <= d; i *= 2)
        emit_barrier(e, STEP - 1);
    e->active = last ? 1u << (d - 1) % PROGRAM_LANES : 0;
    if (e->index == 1) {
        emit_same(emit_load(e, SUM, block + d, 2, 1));
        emit_same(emit_load(e, SUM2, block + d, 2, 1));
        emit_hoist(e, 0);
        emit_turns(e, (uint64_t)(m - d), 1);
    }
    if (last && e->index == (rest ? 2 : 0)) {
        emit_same(emit_store(e, SUM, block * mul, 2));
        emit_same(emit_store(e, SUM2, block * mul, 2));
    }
    return emit_end(e, 1);
}

/* --- what goes over the image, a thread for each element --- */

/* Of the 32 elements of a warp: row, column, and each neighbour. */
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
static int srad(struct emit *e)
{
    static const uint8_t array[4] = {IN, IS, JW, JE}, store[5] = {DN, DS, DW, DE, COEFF};
    const struct srad *s = e->state;
    int64_t g = (int64_t)e->at.thread;
    bool hoisted = e->order == ORDER_HOISTED;
    struct around a;
    const int64_t *index[4] = {a.row, a.row, a.column, a.column}, *beside[4] = {a.north, a.south, a.west, a.east};
    if (!emit_below(e, (uint64_t)s->n))
        return emit_idle(e, GUARD);
    look_around(s, g, &a);
    for (unsigned k = 0; k < 4; k++) {
        emit_gather(e, array[k], index[k], 2, 1);
        if (k == 0)
            emit_load(e, I, g, 2, 4);
        if (!hoisted)
            emit_gather(e, I, beside[k], 2, 1);
    }
    emit_hoist(e, 0);
    uint32_t dependent = e->body->count;
    for (unsigned k = 0; hoisted && k < 4; k++)
        emit_gather(e, I, beside[k], 2, 1);
    emit_hoist(e, dependent);
    for (unsigned k = 0; k < 5; k++)
        emit_store(e, store[k], g, k ? 2 : DERIVE);
    return emit_end(e, 1);
}

static int srad2(struct emit *e)
{
    const struct srad *s = e->state;
    int64_t g = (int64_t)e->at.thread;
    bool hoisted = e->order == ORDER_HOISTED;
    struct around a;
    if (!emit_below(e, (uint64_t)s->n))
        return emit_idle(e, GUARD);
    look_around(s, g, &a);
    emit_gather(e, IS, a.row, 2, 1);
    emit_gather(e, JE, a.column, 2, 1);
    emit_load(e, DN, g, 2, 8);
    emit_load(e, DS, g, 2, 6);
    if (!hoisted)
        emit_gather(e, COEFF, a.south, 2, 1);
    emit_load(e, COEFF, g, 2, 1);
    emit_load(e, DW, g, 2, 1);
    emit_load(e, DE, g, 2, 1);
    if (!hoisted)
        emit_gather(e, COEFF, a.east, 2, 1);
    emit_load(e, I, g, 2, 1);
    emit_hoist(e, 0);
    uint32_t dependent = e->body->count;
    if (hoisted) {
        emit_gather(e, COEFF, a.south, 2, 1);
        emit_gather(e, COEFF, a.east, 2, 1);
    }
    emit_hoist(e, dependent);
    emit_store(e, I, g, 2);
    return emit_end(e, 1);
}

static int extract_compress(struct emit *e)
{
    int64_t g = (int64_t)e->at.thread;
    if (!emit_below(e, (uint64_t)((const struct srad *)e->state)->n))
        return emit_idle(e, GUARD);
    emit_load(e, I, g, 2, 1);
    emit_store(e, I, g, MATH);
    return emit_end(e, 1);
}

static int prepare(struct emit *e)
{
    int64_t g = (int64_t)e->at.thread;
    if (!emit_below(e, (uint64_t)((const struct srad *)e->state)->n))
        return emit_idle(e, GUARD);
    emit_load(e, I, g, 2, 1);
    emit_store(e, SUM, g, 2);
    emit_load(e, I, g, 2, 1);
    emit_store(e, SUM2, g, 2);
    return emit_end(e, 1);
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    const struct srad *s = state;
    uint32_t k = launch ? (launch - 1) % (s->reduces + 3) : 0;
    if (launch == 0 || launch + 1 == s->plan.launches)
        return launch ? COMPRESS : EXTRACT;
    return k == 0 ? PREPARE : k <= s->reduces ? REDUCE : k == s->reduces + 1 ? SRAD : SRAD2;
}

/* The same in every iteration. */
static uint32_t like(const void *state, uint32_t launch)
{
    const struct srad *s = state;
    bool ends = launch == 0 || launch + 1 == s->plan.launches;
    return ends ? launch : 1 + (launch - 1) % (s->reduces + 3);
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    int64_t mul;
    out->blocks = plan_blocks((uint64_t)elements(state, launch, &mul), THREADS);
    out->threads = THREADS;
}

static void *srad_open(const void *params, struct err *err)
{
    const struct srad_params *p = params;
    struct srad *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->n = p->rows * p->columns;
    for (int64_t no = s->n; s->reduces == 0 || no > 1; s->reduces++)
        no = (no + THREADS - 1) / THREADS;
    static const char *const names[] = {"sums", "sums2", "dN", "dS", "dW", "dE", "c"};
    plan_input(&s->plan, "I", (uint64_t)s->n * 4);
    plan_input(&s->plan, "iN", (uint64_t)p->rows * 4);
    plan_input(&s->plan, "iS", (uint64_t)p->rows * 4);
    plan_input(&s->plan, "jE", (uint64_t)p->columns * 4);
    plan_input(&s->plan, "jW", (uint64_t)p->columns * 4);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        plan_array(&s->plan, names[i], (uint64_t)s->n * 4);
    plan_straight(&s->plan, extract_compress, "extract", 0, 0, 14, 0);
    plan_straight(&s->plan, prepare, "prepare", 0, 0, 10, 0);
    plan_kernel(&s->plan, reduce, "reduce", 0, 0, 61, 4096);
    plan_straight(&s->plan, srad, "srad", 0, 0, 22, 0);
    plan_straight(&s->plan, srad2, "srad2", 0, 0, 17, 0);
    plan_straight(&s->plan, extract_compress, "compress", 0, 0, 14, 0);
    s->plan.kernel_of = kernel_of;
    s->plan.shape = shape;
    s->plan.like = like;
    s->plan.launches = 2 + (uint32_t)p->iterations * (s->reduces + 3);
    return s;
}

const struct workload_type workload_rodinia_srad_v1 = {
    .name = "rodinia-srad-v1",
    .summary = "anisotropic diffusion, first version, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/srad/srad_v1",
    WORKLOAD_WITH_KEYS(srad),
    .close = free,
    .program = plan_program,
};
