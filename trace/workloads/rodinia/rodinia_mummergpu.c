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
#include "trace/workloads/rodinia/parts/query_walk.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 256, TEXEL = 16, WIDTH = 4096, BLOCK_ROWS = 32, PITCH = 65536, GUARD = 6 };
enum { QUERY, QADDR, QLEN, NODE, CHILD, REF, RESULT };

struct mummergpu_params {
    int64_t bases, queries, length, match, reference, seed, order, compute_ns;
    double errors;
};

struct mummergpu {
    struct plan plan;
    struct mummergpu_params p;
    struct genome_tree tree;
    struct query_set set;
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

/* --- accesses --- */

/* Byte of the reference where base p lies. */
static int64_t reference_at(const struct mummergpu *m, int64_t p)
{
    p++; /* a letter s goes before */
    return m->p.reference ? PITCH * ((p >> 18) * 4 + p % 4) + (p & 0x3ffff) / 4 : p;
}

/* One access of the walk along the tree. */
static void walked(const struct emit *e, const struct query_access *a)
{
    static const struct {
        uint8_t array, bytes;
    } of[] = {[QUERY_LETTER] = {QUERY, 1},
              [QUERY_CHILD] = {CHILD, TEXEL},
              [QUERY_NODE] = {NODE, TEXEL},
              [QUERY_REFERENCE] = {REF, 1},
              [QUERY_RESULT] = {RESULT, 8}};
    struct emit here = emit_of(e, of[a->array].bytes);
    int64_t index[PROGRAM_LANES];
    bool texel = a->array == QUERY_CHILD || a->array == QUERY_NODE;
    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
        int64_t i = a->index[l];
        index[l] = texel ? ((i >> 17) * BLOCK_ROWS + i % BLOCK_ROWS) * WIDTH + (i & 0x1ffff) / BLOCK_ROWS : i;
        if (a->array == QUERY_REFERENCE)
            index[l] = reference_at(e->state, i);
    }
    here.active = a->active;
    struct program_access *access = emit_gather(&here, of[a->array].array, index, 2, 1);
    if (a->array == QUERY_RESULT)
        emit_as(access, RECORD_WRITE);
}

/* --- a run: the walks of the warps under way --- */

struct run {
    struct plan_run plan_run;
    uint64_t warps;
    struct query_walk walk[]; /* of each warp; no bodies: not there */
};

static void *run_open(const void *state, struct err *err)
{
    uint64_t warps = program_warps(&((const struct plan *)state)->kernel[0].launch);
    struct run *r = mem_zalloc(1, sizeof *r + warps * sizeof *r->walk, err);
    if (r)
        r->warps = warps;
    return r;
}

static void run_close(void *run)
{
    struct run *r = run;
    for (uint64_t i = 0; i < r->warps; i++)
        query_walk_release(&r->walk[i]);
    free(r);
}

/* Body 0: the query's length and place; then one for each step of the longest walk. */
static int match(struct emit *e)
{
    const struct query_set *set = &((const struct mummergpu *)e->state)->set;
    struct query_walk *w = &((struct run *)e->run)->walk[e->at.thread / PROGRAM_LANES];
    if (e->index == 0) {
        emit_load(e, QLEN, (int64_t)e->at.thread, GUARD, 1);
        emit_load(e, QADDR, (int64_t)e->at.thread, 2, 1);
        emit_hoist(e, 0);
        return emit_end(e, 0);
    }
    if (!w->bodies && query_walk_init(w, set, (uint32_t)e->at.thread, e->err))
        return -1;
    if (e->index > w->bodies) {
        query_walk_release(w);
        return 0;
    }
    const struct query_access *a = &w->list[w->body[e->index - 1]];
    do
        walked(e, a);
    while (!a++->last);
    return emit_end(e, 3);
}

/* --- memory and launch --- */

static void mummergpu_close(void *state)
{
    struct mummergpu *m = state;
    genome_tree_release(&m->tree);
    free((void *)m->set.letters);
    free(m);
}

static void lay_out(struct mummergpu *m)
{
    uint64_t rows = plan_blocks((uint64_t)m->tree.nodes + 1, WIDTH * BLOCK_ROWS) * BLOCK_ROWS;
    uint64_t q = (uint64_t)m->p.queries, end = (uint64_t)m->p.bases + 2; /* with s and the end */
    uint32_t threads = q < THREADS ? (uint32_t)q : THREADS;
    if (m->p.reference)
        end = (plan_blocks(end, PITCH) + 4) * PITCH;
    plan_input(&m->plan, "queries", q * (uint64_t)(m->p.length + 2));
    plan_input(&m->plan, "queryAddrs", q * 4);
    plan_input(&m->plan, "queryLengths", q * 4);
    plan_input(&m->plan, "nodes", rows * WIDTH * TEXEL);
    plan_input(&m->plan, "children", rows * WIDTH * TEXEL);
    plan_input(&m->plan, "reference", end);
    plan_array(&m->plan, "match_coords", q * (uint64_t)(m->p.length - m->p.match + 1) * 8);
    plan_kernel(&m->plan, match, "mummergpuKernel", plan_blocks(q, threads), threads, 31, 0);
    plan_guard(&m->plan, q, GUARD);
    m->plan.run_open = run_open;
    m->plan.run_close = run_close;
}

static void *mummergpu_open(const void *params, struct err *err)
{
    const struct mummergpu_params *p = params;
    if (p->match > p->length || p->length > p->bases) {
        (void)err_set(err, "match %lld, length %lld, bases %lld; expected none longer than the next",
                      (long long)p->match, (long long)p->length, (long long)p->bases);
        return NULL;
    }
    struct mummergpu *m = rodinia_new(sizeof *m, p->order, p->compute_ns, err);
    if (!m)
        return NULL;
    m->p = *p;
    m->set = (struct query_set){&m->tree, NULL, (uint32_t)p->queries, (uint32_t)p->length, (uint32_t)p->match};
    if (genome_tree_init(&m->tree, (uint32_t)p->bases, (uint64_t)p->seed, err) ||
        query_set_draw(&m->set, p->errors, (uint64_t)p->seed + 1, err)) {
        mummergpu_close(m);
        return NULL;
    }
    lay_out(m);
    return m;
}

const struct workload_type workload_rodinia_mummergpu = {
    .name = "rodinia-mummergpu",
    .summary = "queries matched along a genome's suffix tree, after the F3FS artifact",
    .source = "Rodinia 3.1 cuda/mummergpu",
    WORKLOAD_WITH_KEYS(mummergpu),
    .close = mummergpu_close,
    .program = plan_program,
};
