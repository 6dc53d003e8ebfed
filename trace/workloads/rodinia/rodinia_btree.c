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
 * Keys are drawn among n, ranges are `range` keys long; the tree is complete (parts/btree_paths.h).
 * Worked example: n = 10^6, fan = 144: 6945 leaves, height 2, 3 nodes a query. A query loads 24 times in each of
 * them; further keys, at most 5 times, and 3 times more in each of the upper two; twice more in the leaf.
 * Uses and instructions: each value is used by the next instruction, two instructions before an access: assumed.
 * order=hoisted: the node's number and the key are awaited together.
 * Source: Rodinia 3.1, cuda/b+tree/kernel/kernel_gpu_cuda.cu, kernel_gpu_cuda_2.cu, their wrappers, main.c; 6000
 * ranges, then 10000 keys: command.txt, which the F3FS artifact runs; registers: nvcc 13.0 -O3 for capability 7.5.
 * Differs: the tree and the keys are stand-ins, the length of ranges is assumed; loads of a node's number that the
 * compiler can keep are left out. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/rodinia_btree.h"
#include "trace/workloads/rodinia/suite.h"

enum { ORDER = 256, NODE_WORDS = 2068 / 4, INDICES = 4 / 4, KEYS = 1032 / 4 };
enum { KNODE, CUR, OFF, LAST, OFF2, START, END, ASTART, ALEN }; /* of findRangeK */
enum { RECORD, KNODE_F, CUR_F, OFF_F, KEY, ANS };               /* of findK, from find_arrays on */

static const struct param btree_params[] = {
    PARAM_INT_ROW(rodinia_btree_params, n, "", 1, 1 << 28, 1000000, "keys"),
    PARAM_INT_ROW(rodinia_btree_params, fan, "", 2, ORDER - 1, 144, "children of a node, keys of a leaf"),
    PARAM_INT_ROW(rodinia_btree_params, queries, "", 1, 65535, 10000, "keys looked for"),
    PARAM_INT_ROW(rodinia_btree_params, ranges, "", 1, 65535, 6000, "ranges looked for"),
    PARAM_INT_ROW(rodinia_btree_params, range, "", 0, 1 << 28, 3000, "keys from a range's first to its last"),
    PARAM_CHOICE_ROW(rodinia_btree_params, kernel, "both|findRangeK|findK", BTREE_BOTH, "which are run"),
    PARAM_INT_ROW(rodinia_btree_params, seed, "", 0, 0x1p53, 1, "of the queries"),
    RODINIA_ORDER_ROW(rodinia_btree_params),
    PARAM_NS_AUTO_ROW(rodinia_btree_params, compute_ns, 0, 1e9, "time of a warp's level, its data at hand"),
    {0}};

/* --- accesses --- */

/* The block's own element of an array, of so many bytes. */
static void load_own(const struct emit *e, unsigned array, uint32_t bytes)
{
    struct emit own = emit_of(e, bytes);
    emit_same(emit_load(&own, array, (int64_t)e->at.block, 2, 1));
}

static void store_own(const struct emit *e, unsigned array, uint32_t bytes)
{
    struct emit own = emit_of(e, bytes);
    emit_same(emit_store(&own, array, (int64_t)e->at.block, 2));
}

/* A word for each thread: keys[t], keys[t + 1], indices[t]. */
static void load_word(const struct emit *e, unsigned nodes, uint32_t node, int64_t offset)
{
    emit_load(e, nodes, (int64_t)node * NODE_WORDS + offset + e->at.warp * PROGRAM_LANES, 2, 1);
}

/* What all threads load: the node's number, its keys, the query's key. */
static void compare(struct emit *e, unsigned nodes, unsigned cur, unsigned key, uint32_t node)
{
    uint32_t first = e->body->count;
    e->active = UINT32_MAX;
    load_own(e, cur, 8);
    if (e->order == ORDER_HOISTED)
        load_own(e, key, 4);
    emit_hoist(e, first);
    load_word(e, nodes, node, KEYS);
    if (e->order != ORDER_HOISTED)
        load_own(e, key, 4);
}

/* Lanes from now on: threads up to `slot`, or that one alone; whether there are any. */
static bool up_to(struct emit *e, uint32_t slot)
{
    int64_t n = (int64_t)slot + 1 - e->at.warp * PROGRAM_LANES;
    e->active = n > 0 ? program_first_lanes((uint64_t)n) : 0;
    return e->active;
}

static bool alone(struct emit *e, uint32_t slot)
{
    e->active = slot / PROGRAM_LANES == e->at.warp ? 1u << slot % PROGRAM_LANES : 0;
    return e->active;
}

/* Thread 0 moves on to the child. */
static void move_on(struct emit *e, unsigned cur, unsigned off)
{
    if (alone(e, 0)) {
        load_own(e, off, 8);
        store_own(e, cur, 8);
    }
}

/* --- the kernels: a body for each level --- */

static void find_level(struct emit *e, unsigned of, uint32_t node, uint32_t slot)
{
    compare(e, of + KNODE_F, of + CUR_F, of + KEY, node);
    if (up_to(e, slot))
        load_word(e, of + KNODE_F, node, KEYS + 1);
    if (alone(e, slot)) {
        load_own(e, of + OFF_F, 8);
        load_word(e, of + KNODE_F, node, INDICES);
        store_own(e, of + OFF_F, 8);
    }
    emit_barrier(e, 2);
    move_on(e, of + CUR_F, of + OFF_F);
    emit_barrier(e, 2);
}

static int find_k(struct emit *e)
{
    const struct rodinia_btree *b = e->state;
    const struct btree_path *path = &b->find[e->at.block];
    unsigned of = b->find_arrays;
    if (e->index > b->tree.height)
        return 0;
    if (e->index < b->tree.height) {
        find_level(e, of, path->node[e->index], path->slot[e->index]);
        return emit_end(e, 2);
    }
    compare(e, of + KNODE_F, of + CUR_F, of + KEY, path->node[e->index]);
    if (alone(e, path->slot[e->index])) {
        load_word(e, of + KNODE_F, path->node[e->index], INDICES);
        emit_same(emit_load(e, of + RECORD, path->record, 2, 1));
        store_own(e, of + ANS, 4);
    }
    return emit_end(e, 2);
}

/* One end of a range. */
static void range_level(struct emit *e, unsigned cur, unsigned key, unsigned off, const struct btree_path *path)
{
    uint32_t node = path->node[e->index], slot = path->slot[e->index];
    compare(e, KNODE, cur, key, node);
    if (up_to(e, slot))
        load_word(e, KNODE, node, KEYS + 1);
    if (alone(e, slot)) {
        load_word(e, KNODE, node, INDICES);
        store_own(e, off, 8);
    }
}

static void range_leaf(struct emit *e, const struct btree_path *start, const struct btree_path *end)
{
    compare(e, KNODE, CUR, START, start->node[e->index]);
    if (alone(e, start->slot[e->index])) {
        load_word(e, KNODE, start->node[e->index], INDICES);
        store_own(e, ASTART, 4);
    }
    emit_barrier(e, 2);
    compare(e, KNODE, LAST, END, end->node[e->index]);
    if (alone(e, end->slot[e->index])) {
        load_word(e, KNODE, end->node[e->index], INDICES);
        load_own(e, ASTART, 4);
        store_own(e, ALEN, 4);
    }
}

static int find_range_k(struct emit *e)
{
    const struct rodinia_btree *b = e->state;
    const struct btree_path *start = &b->start[e->at.block], *end = &b->end[e->at.block];
    if (e->index > b->tree.height)
        return 0;
    if (e->index == b->tree.height) {
        range_leaf(e, start, end);
        return emit_end(e, 2);
    }
    range_level(e, CUR, START, OFF, start);
    range_level(e, LAST, END, OFF2, end);
    emit_barrier(e, 2);
    move_on(e, CUR, OFF);
    move_on(e, LAST, OFF2);
    emit_barrier(e, 2);
    return emit_end(e, 2);
}

/* --- memory and launches --- */

static void btree_close(void *state)
{
    struct rodinia_btree *b = state;
    free(b->start);
    free(b->end);
    free(b->find);
    free(b);
}

/* As main() draws them: a range that would end behind the last key is moved back. */
static void draw(struct rodinia_btree *b)
{
    struct random r = {(uint64_t)b->p.seed};
    uint32_t n = (uint32_t)b->p.n, range = b->p.range < b->p.n ? (uint32_t)b->p.range : n;
    for (int64_t i = 0; i < b->p.ranges; i++) {
        uint32_t start = random_below(&r, n), end = start + range;
        if (end >= n) {
            start = n - range;
            end = n - 1;
        }
        b->start[i] = btree_path(&b->tree, start);
        b->end[i] = btree_path(&b->tree, end);
    }
    for (int64_t i = 0; i < b->p.queries; i++)
        b->find[i] = btree_path(&b->tree, random_below(&r, n));
}

static void add_range(struct plan *plan, uint64_t ranges, uint64_t nodes)
{
    plan_input(plan, "knodes (range)", nodes);
    plan_input(plan, "currKnode (range)", 8 * ranges);
    plan_input(plan, "offset (range)", 8 * ranges);
    plan_input(plan, "lastKnode", 8 * ranges);
    plan_input(plan, "offset_2", 8 * ranges);
    plan_input(plan, "start", 4 * ranges);
    plan_input(plan, "end", 4 * ranges);
    plan_input(plan, "ansStart", 4 * ranges);
    plan_input(plan, "ansLength", 4 * ranges);
    plan_kernel(plan, find_range_k, "findRangeK", ranges, ORDER, 24, 0);
}

static void add_find(struct plan *plan, uint64_t queries, uint64_t nodes, uint64_t keys)
{
    plan_input(plan, "records", 4 * keys);
    plan_input(plan, "knodes", nodes);
    plan_input(plan, "currKnode", 8 * queries);
    plan_input(plan, "offset", 8 * queries);
    plan_input(plan, "keys", 4 * queries);
    plan_input(plan, "ans", 4 * queries);
    plan_kernel(plan, find_k, "findK", queries, ORDER, 20, 0);
}

static void *btree_open(const void *params, struct err *err)
{
    const struct rodinia_btree_params *p = params;
    struct rodinia_btree *b = rodinia_new(sizeof *b, p->order, p->compute_ns, err);
    if (!b)
        return NULL;
    b->p = *p;
    b->start = mem_zalloc((size_t)p->ranges, sizeof *b->start, err);
    b->end = mem_zalloc((size_t)p->ranges, sizeof *b->end, err);
    b->find = mem_zalloc((size_t)p->queries, sizeof *b->find, err);
    if (!b->start || !b->end || !b->find) {
        btree_close(b);
        return NULL;
    }
    btree_tree(&b->tree, (uint32_t)p->n, (uint32_t)p->fan);
    draw(b);
    uint64_t nodes = (uint64_t)b->tree.first[b->tree.height + 1] * NODE_WORDS * 4;
    if (p->kernel != BTREE_FIND)
        add_range(&b->plan, (uint64_t)p->ranges, nodes);
    b->find_arrays = b->plan.arrays;
    if (p->kernel != BTREE_RANGE)
        add_find(&b->plan, (uint64_t)p->queries, nodes, (uint64_t)p->n);
    b->plan.launches = b->plan.kernels;
    return b;
}

const struct workload_type workload_rodinia_btree = {
    .name = "rodinia-btree",
    .summary = "queries of a B+ tree, a block for each, as the F3FS artifact runs them",
    .source = "Rodinia 3.1 cuda/b+tree",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_ALL,
    .params = btree_params,
    .params_size = sizeof(struct rodinia_btree_params),
    .open = btree_open,
    .close = btree_close,
    .program = plan_program,
};
