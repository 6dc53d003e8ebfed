/* rodinia-btree: queries of a B+ tree of order 256, a block of 256 threads each: a thread compares one key of a node.
 *
 * Launches: findRangeK (`ranges` blocks), findK (`queries` blocks). A node is 2068 B: indices from byte 4 on, keys
 * from byte 1032 on. In every level block b looks at node c, in which the query lies behind key m; thread t:
 *     findK: CUR[b]; KNODE[c].keys[t]; KEY[b]; if (t <= m) keys[t+1]; if (t == m) OFF[b], indices[t], store OFF[b];
 *         barrier; if (t == 0) OFF[b], store CUR[b]; barrier
 *     its leaf: CUR[b]; keys[t]; KEY[b]; if equal: indices[t], RECORD[..], store ANS[b]
 *     findRangeK: CUR[b]; keys[t]; START[b]; if (t <= m) keys[t+1]; if (t == m) indices[t], store OFF[b]; the same
 *         with LAST, END, OFF2; barrier; if (t == 0) OFF[b], store CUR[b], OFF2[b], store LAST[b]; barrier
 *     its leaf: CUR[b]; keys[t]; START[b]; if equal: indices[t], store ASTART[b]; barrier; LAST[b]; keys[t]; END[b];
 *         if equal: indices[t], ASTART[b], store ALEN[b]
 * Arrays on 256 B from 0xC0000000 on: of findRangeK KNODE, CUR, OFF, LAST, OFF2 (8 B a query), START, END, ASTART,
 * ALEN; of findK RECORD, KNODE, CUR, OFF, KEY, ANS. The CPU has written all.
 * The tree is complete, queries are drawn (parts/btree_paths.h).
 * Worked example: n = 10^6, fan = 144: 6945 leaves, height 2, 3 nodes a query. A query loads 24 times in each of
 * them; further keys, at most 5 times, and 3 times more in each of the upper two; twice more in the leaf.
 * Uses and instructions: each value is used by the next instruction, two instructions before an access: assumed.
 * order=hoisted: the node's number and the key are awaited together.
 * Source: Rodinia 3.1, cuda/b+tree/kernel/kernel_gpu_cuda.cu, kernel_gpu_cuda_2.cu, their wrappers, main.c; 6000
 * ranges, then 10000 keys: command.txt, which the F3FS artifact runs; registers: nvcc 13.0 -O3 for capability 7.5.
 * Differs: the tree and the keys are stand-ins, the length of ranges is assumed; loads of a node's number that the
 * compiler can keep are left out. */
#include <stdlib.h>

#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/rodinia_btree.h"
#include "trace/workloads/rodinia/suite.h"

enum { ORDER = 256, NODE_WORDS = 2068 / 4, INDICES = 4 / 4, KEYS = 1032 / 4 };
enum { KNODE, CUR, OFF, LAST, OFF2, START, END, ASTART, ALEN }; /* of findRangeK */
enum { RECORD, KNODE_F, CUR_F, OFF_F, KEY, ANS };               /* of findK, from find_arrays on */

static const struct param btree_params[] = {
    PARAM_INT_ROW(btree_params, n, "", 1, 1 << 28, 1000000, "keys"),
    PARAM_INT_ROW(btree_params, fan, "", 2, ORDER - 1, 144, "children of a node, keys of a leaf"),
    PARAM_INT_ROW(btree_params, queries, "", 1, 65535, 10000, "keys looked for"),
    PARAM_INT_ROW(btree_params, ranges, "", 1, 65535, 6000, "ranges looked for"),
    PARAM_INT_ROW(btree_params, range, "", 0, 1 << 28, 3000, "keys from a range's first to its last"),
    PARAM_CHOICE_ROW(btree_params, kernel, "both|findRangeK|findK", BTREE_BOTH, "which are run"),
    PARAM_INT_ROW(btree_params, seed, "", 0, 0x1p53, 1, "of the queries"),
    RODINIA_ORDER_ROW(btree_params),
    PARAM_NS_AUTO_ROW(btree_params, compute_ns, 0, 1e9, "time of a warp's level, its data at hand"),
    {0}};

/* A query on its way: its arrays, and where it is in the level at hand. */
struct search {
    unsigned nodes, cur, key, off, answer;
    uint32_t node, slot;
    bool leaf;
};

/* The block's own element of an array, of so many bytes: a load. */
static struct program_access *own(const struct emit *e, unsigned array, uint32_t bytes)
{
    struct emit of = emit_of(e, bytes);
    return emit_same(emit_load(&of, array, (int64_t)e->at.block, 2, 1));
}

/* A word for each thread: keys[t], keys[t + 1], indices[t]. */
static void load_word(const struct emit *e, const struct search *s, int64_t offset)
{
    emit_load(e, s->nodes, (int64_t)s->node * NODE_WORDS + offset + e->at.warp * PROGRAM_LANES, 2, 1);
}

/* All threads load the node's number, its keys, the query's key; then the one behind whose key the query lies goes on
 * alone. Returns whether it is in the warp. */
static bool compare(struct emit *e, struct search *s, const struct btree_path *path)
{
    uint32_t first = e->body->count;
    bool hoisted = e->order == ORDER_HOISTED;
    s->node = path->node[e->index];
    s->slot = path->slot[e->index];
    s->leaf = e->index == ((const struct rodinia_btree *)e->state)->tree.height;
    e->active = UINT32_MAX;
    own(e, s->cur, 8);
    if (hoisted)
        own(e, s->key, 4);
    emit_hoist(e, first);
    load_word(e, s, KEYS);
    if (!hoisted)
        own(e, s->key, 4);
    if (!s->leaf && emit_threads(e, s->slot + 1))
        load_word(e, s, KEYS + 1);
    return emit_thread(e, s->slot);
}

/* That thread stores the child, or the answer. */
static void store_found(const struct emit *e, const struct search *s)
{
    emit_as(s->leaf ? own(e, s->answer, 4) : own(e, s->off, 8), RECORD_WRITE);
}

/* Behind a level thread 0 moves so many searches on to the child. */
static int move_on(struct emit *e, const struct search *s, unsigned n)
{
    if (s->leaf)
        return emit_end(e, 2);
    emit_barrier(e, 2);
    for (unsigned i = 0; i < n && emit_thread(e, 0); i++) {
        own(e, s[i].off, 8);
        emit_as(own(e, s[i].cur, 8), RECORD_WRITE);
    }
    emit_barrier(e, 2);
    return emit_end(e, 2);
}

/* --- the kernels: a body for each level --- */

static int find_k(struct emit *e)
{
    const struct rodinia_btree *b = e->state;
    const struct btree_path *path = &b->drawn.find[e->at.block];
    const unsigned of = b->find_arrays;
    struct search s = {of + KNODE_F, of + CUR_F, of + KEY, of + OFF_F, of + ANS, 0, 0, false};
    if (e->index > b->tree.height)
        return 0;
    if (compare(e, &s, path)) {
        if (!s.leaf)
            own(e, s.off, 8);
        load_word(e, &s, INDICES);
        if (s.leaf)
            emit_same(emit_load(e, of + RECORD, path->record, 2, 1));
        store_found(e, &s);
    }
    return move_on(e, &s, 1);
}

static int find_range_k(struct emit *e)
{
    const struct rodinia_btree *b = e->state;
    const struct btree_path *path[] = {&b->drawn.start[e->at.block], &b->drawn.end[e->at.block]};
    struct search s[] = {{KNODE, CUR, START, OFF, ASTART, 0, 0, false}, {KNODE, LAST, END, OFF2, ALEN, 0, 0, false}};
    if (e->index > b->tree.height)
        return 0;
    for (unsigned i = 0; i < 2; i++) {
        if (i == 1 && s[0].leaf)
            emit_barrier(e, 2);
        if (!compare(e, &s[i], path[i]))
            continue;
        load_word(e, &s[i], INDICES);
        if (i == 1 && s[1].leaf)
            own(e, ASTART, 4);
        store_found(e, &s[i]);
    }
    return move_on(e, s, 2);
}

/* --- memory and launches --- */

static void btree_close(void *state)
{
    btree_queries_release(&((struct rodinia_btree *)state)->drawn);
    free(state);
}

static void *btree_open(const void *params, struct err *err)
{
    const struct btree_params *p = params;
    const uint64_t ranges = (uint64_t)p->ranges, queries = (uint64_t)p->queries;
    struct rodinia_btree *b = rodinia_new(sizeof *b, p->order, p->compute_ns, err);
    if (!b)
        return NULL;
    b->p = *p;
    btree_tree(&b->tree, (uint32_t)p->n, (uint32_t)p->fan);
    if (btree_queries_draw(&b->drawn, &b->tree, (uint64_t)p->seed, ranges, (uint64_t)p->range, queries, err)) {
        btree_close(b);
        return NULL;
    }
    uint64_t nodes = (uint64_t)b->tree.first[b->tree.height + 1] * NODE_WORDS * 4;
    if (p->kernel != BTREE_FIND) {
        plan_input(&b->plan, "knodes (range)", nodes);
        plan_inputs(&b->plan, "currKnode (range)|offset (range)|lastKnode|offset_2", 8 * ranges);
        plan_inputs(&b->plan, "start|end|ansStart|ansLength", 4 * ranges);
        plan_kernel(&b->plan, find_range_k, "findRangeK", ranges, ORDER, 24, 0);
    }
    b->find_arrays = b->plan.arrays;
    if (p->kernel != BTREE_RANGE) {
        plan_input(&b->plan, "records", 4 * (uint64_t)p->n);
        plan_input(&b->plan, "knodes", nodes);
        plan_inputs(&b->plan, "currKnode|offset", 8 * queries);
        plan_inputs(&b->plan, "keys|ans", 4 * queries);
        plan_kernel(&b->plan, find_k, "findK", queries, ORDER, 20, 0);
    }
    b->plan.launches = b->plan.kernels;
    return b;
}

const struct workload_type workload_rodinia_btree = {
    .name = "rodinia-btree",
    .summary = "queries of a B+ tree, a block for each, as the F3FS artifact runs them",
    .source = "Rodinia 3.1 cuda/b+tree",
    WORKLOAD_WITH_KEYS(btree),
    .close = btree_close,
    .program = plan_program,
};
