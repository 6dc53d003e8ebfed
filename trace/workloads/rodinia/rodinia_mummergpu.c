/* rodinia-mummergpu: queries matched along a suffix tree, a thread for each; the least exact of Rodinia's programs
 * here.
 *
 * One launch, blocks of 256 (of all queries, if fewer). A thread loads QLEN and QADDR of its query, then from each
 * start whose rest is at least `match` bases long follows the tree (parts/query_walk.h): CHILD of the node (16 B),
 * NODE of the child (16 B), the next letter, then REF and the next letter for each base of the edge; on a difference,
 * or at the query's end, RESULT if the match is long enough, and NODE of the node above for its suffix link. All
 * loads depend on each other and lanes part freely.
 * A query is q, its bases, a zero byte. Node i of the tree lies in row 32 (i >> 17) + i mod 32, column (i mod 2^17)
 * >> 5 of a texture of 4096 columns. reference=plain: base p is byte p' = p + 1; interleaved: byte 65536 (4 (p' >>
 * 18) + p' mod 4) + (p' mod 2^18) / 4.
 * Arrays on 256 B from 0xC0000000 on: QUERY, QADDR, QLEN, NODE, CHILD, REF, RESULT (8 B a start); the CPU has written
 * all but RESULT.
 * Worked example: 25 bases, match = 20: 6 starts, the first from the root: a node for each of some 10 levels, then
 * base by base.
 * Uses and instructions: every value by the next instruction, two before an access, three behind a loop: assumed.
 * Source: Rodinia 3.1, cuda/mummergpu/src/mummergpu_kernel.cu mummergpuKernel, suffix-tree.cpp, common.cu
 * (REORDER_REF is 0 where the Makefile does not set it: plain); sizes: the F3FS artifact (NC_003997.20k.fna: 20,000
 * lines; 50,000 queries of 25 bases; match 20); registers: nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: genome and queries are drawn (queries are parts of the genome, a share `errors` of their bases changed);
 * textures are read like other memory; the kernel that prints the matches, and the search for reverse ones, are left
 * out. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/random.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/parts/query_walk.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 256, TEXEL = 16, WIDTH = 4096, BLOCK_ROWS = 32, PITCH = 65536, GUARD = 6 };
enum { QUERY, QADDR, QLEN, NODE, CHILD, REF, RESULT, ARRAYS };

struct mummergpu_params {
    int64_t bases, queries, length, match, reference, seed, order, compute_ns;
    double errors;
};

struct mummergpu {
    struct mummergpu_params p;
    struct genome_tree tree;
    struct query_set set;
    uint8_t *letters;
    struct program_alloc allocs[ARRAYS];
};

static const struct param mummergpu_params[] = {
    PARAM_INT_ROW(mummergpu_params, bases, "", 1, 1 << 23, 1400000, "of the genome"),
    PARAM_INT_ROW(mummergpu_params, queries, "", 1, 1 << 22, 50000, "matched"),
    PARAM_INT_ROW(mummergpu_params, length, "bases", 1, 1000, 25, "of a query"),
    PARAM_INT_ROW(mummergpu_params, match, "bases", 1, 1000, 20, "that must match"),
    PARAM_REAL_ROW(mummergpu_params, errors, "", 0, 1, 0.02, "share of a query's bases that are not the genome's"),
    PARAM_CHOICE_ROW(mummergpu_params, reference, "plain|interleaved", 0, "how the genome lies in memory"),
    PARAM_INT_ROW(mummergpu_params, seed, "", 0, 0x1p53, 1, "of genome and queries"),
    RODINIA_ORDER_ROW(mummergpu_params),
    PARAM_NS_AUTO_ROW(mummergpu_params, compute_ns, 0, 1e9, "time of a warp's step, its data at hand"),
    {0}};

static void mummergpu_close(void *state)
{
    struct mummergpu *m = state;
    genome_tree_release(&m->tree);
    free(m->letters);
    free(m);
}

static void draw_queries(struct mummergpu *m)
{
    struct random r = {(uint64_t)m->p.seed + 1};
    for (int64_t q = 0; q < m->p.queries; q++) {
        uint32_t at = random_below(&r, (uint32_t)(m->p.bases - m->p.length + 1));
        for (int64_t i = 0; i < m->p.length; i++) {
            uint8_t base = m->tree.text[at + i];
            bool wrong = random_chance(&r, m->p.errors);
            m->letters[q * m->p.length + i] = wrong ? (uint8_t)((base + 1 + random_below(&r, 3)) % GENOME_BASES) : base;
        }
    }
}

/* Byte of the reference where base p lies. */
static int64_t reference_at(const struct mummergpu *m, int64_t p)
{
    p++; /* a letter s goes before */
    return m->p.reference ? PITCH * ((p >> 18) * 4 + p % 4) + (p & 0x3ffff) / 4 : p;
}

static void lay_out(struct mummergpu *m)
{
    uint64_t rows = ((uint64_t)m->tree.nodes + 1 + WIDTH * BLOCK_ROWS - 1) / (WIDTH * BLOCK_ROWS) * BLOCK_ROWS;
    uint64_t q = (uint64_t)m->p.queries, end = (uint64_t)m->p.bases + 2; /* with s and the end */
    if (m->p.reference)
        end = ((end + PITCH - 1) / PITCH + 4) * PITCH;
    const struct program_alloc arrays[ARRAYS] = {
        {.name = "queries", .bytes = q * (uint64_t)(m->p.length + 2), .host = true},
        {.name = "queryAddrs", .bytes = q * 4, .host = true},
        {.name = "queryLengths", .bytes = q * 4, .host = true},
        {.name = "nodes", .bytes = rows * WIDTH * TEXEL, .host = true},
        {.name = "children", .bytes = rows * WIDTH * TEXEL, .host = true},
        {.name = "reference", .bytes = end, .host = true},
        {.name = "match_coords", .bytes = q * (uint64_t)(m->p.length - m->p.match + 1) * 8}};
    for (unsigned i = 0; i < ARRAYS; i++)
        m->allocs[i] = arrays[i];
    program_place(m->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
}

static void *mummergpu_open(const void *params, struct err *err)
{
    const struct mummergpu_params *p = params;
    if (p->match > p->length || p->length > p->bases) {
        (void)err_set(err, "match %lld, length %lld, bases %lld; expected none longer than the next",
                      (long long)p->match, (long long)p->length, (long long)p->bases);
        return NULL;
    }
    struct mummergpu *m = mem_zalloc(1, sizeof *m, err);
    if (!m)
        return NULL;
    m->p = *p;
    m->letters = mem_zalloc((size_t)p->queries, (size_t)p->length, err);
    if (!m->letters || genome_tree_init(&m->tree, (uint32_t)p->bases, (uint64_t)p->seed, err)) {
        mummergpu_close(m);
        return NULL;
    }
    draw_queries(m);
    m->set = (struct query_set){&m->tree, m->letters, (uint32_t)p->queries, (uint32_t)p->length, (uint32_t)p->match};
    lay_out(m);
    return m;
}

static const struct program_alloc *mummergpu_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct mummergpu *)state)->allocs;
}

static uint32_t mummergpu_launches(const void *state)
{
    (void)state;
    return 1;
}

static void mummergpu_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    uint64_t q = (uint64_t)((const struct mummergpu *)state)->p.queries, threads = q < THREADS ? q : THREADS;
    (void)launch;
    *out = (struct program_launch){.kernel = "mummergpuKernel",
                                   .blocks = (q + threads - 1) / threads,
                                   .threads = (uint32_t)threads,
                                   .registers = 31};
}

/* --- a run: the walks of the warps under way --- */

struct run {
    const struct mummergpu *m;
    struct query_walk *walk; /* of each warp; no bodies: not there */
    uint64_t warps;
};

static void run_close(void *run)
{
    struct run *r = run;
    for (uint64_t i = 0; r->walk && i < r->warps; i++)
        query_walk_release(&r->walk[i]);
    free(r->walk);
    free(r);
}

static void *run_open(const void *state, struct err *err)
{
    struct program_launch shape;
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    mummergpu_launch(state, 0, &shape);
    r->m = state;
    r->warps = program_warps(&shape);
    r->walk = mem_zalloc(r->warps, sizeof *r->walk, err);
    if (r->walk)
        return r;
    run_close(r);
    return NULL;
}

static void emit_access(const struct mummergpu *m, struct emit *e, const struct query_access *a)
{
    static const struct {
        uint8_t array, bytes;
    } of[] = {[QUERY_LETTER] = {QUERY, 1},
              [QUERY_CHILD] = {CHILD, TEXEL},
              [QUERY_NODE] = {NODE, TEXEL},
              [QUERY_REFERENCE] = {REF, 1},
              [QUERY_RESULT] = {RESULT, 8}};
    int64_t index[PROGRAM_LANES];
    bool texel = a->array == QUERY_CHILD || a->array == QUERY_NODE;
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        int64_t i = a->index[l];
        index[l] = texel ? ((i >> 17) * BLOCK_ROWS + i % BLOCK_ROWS) * WIDTH + (i & 0x1ffff) / BLOCK_ROWS : i;
        if (a->array == QUERY_REFERENCE)
            index[l] = reference_at(m, i);
    }
    e->active = a->active;
    e->bytes = of[a->array].bytes;
    if (a->array == QUERY_RESULT)
        (void)emit_scatter(e, RESULT, index, 2);
    else
        (void)emit_gather(e, of[a->array].array, index, 2, 1);
}

static int mummergpu_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                          struct err *err)
{
    struct run *r = run;
    struct program_launch shape;
    struct query_walk *w = &r->walk[warp];
    mummergpu_launch(r->m, launch, &shape);
    struct program_warp at = program_warp_at(&shape, warp);
    if (at.thread >= r->m->set.queries)
        return program_no_trip(index, GUARD, body);
    uint64_t left = r->m->set.queries - at.thread;
    struct emit e = emit_to(body, r->m->allocs, program_first_lanes(left < at.lanes ? left : at.lanes));
    if (index == 0) {
        (void)emit_load(&e, QLEN, (int64_t)at.thread, GUARD, 1);
        (void)emit_load(&e, QADDR, (int64_t)at.thread, 2, 1);
        rodinia_order(body, 0, (enum rodinia_order)r->m->p.order);
        return 1;
    }
    if (!w->bodies && query_walk_init(w, &r->m->set, (uint32_t)at.thread, err))
        return -1;
    if (index > w->bodies) {
        query_walk_release(w);
        return 0;
    }
    const struct query_access *a = &w->list[w->body[index - 1]];
    do
        emit_access(r->m, &e, a);
    while (!a++->last);
    body->after = 3;
    return 1;
}

static const struct program_ops mummergpu_ops = {.allocs = mummergpu_allocs,
                                                 .launches = mummergpu_launches,
                                                 .launch = mummergpu_launch,
                                                 .body = mummergpu_body,
                                                 .run_open = run_open,
                                                 .run_close = run_close};

static int mummergpu_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&mummergpu_ops, state, ((const struct mummergpu *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_mummergpu = {
    .name = "rodinia-mummergpu",
    .summary = "queries matched along a genome's suffix tree, after the F3FS artifact",
    .source = "Rodinia 3.1 cuda/mummergpu",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = mummergpu_params,
    .params_size = sizeof(struct mummergpu_params),
    .open = mummergpu_open,
    .close = mummergpu_close,
    .program = mummergpu_program,
};
