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
#include "trace/workloads/rodinia/rodinia_btree.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/random.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/suite.h"

enum { ORDER = 256, WARPS = ORDER / PROGRAM_LANES, NODE_WORDS = 2068 / 4, INDICES = 4 / 4, KEYS = 1032 / 4 };
enum { KNODE, CUR, OFF, LAST, OFF2, START, END, ASTART, ALEN }; /* of findRangeK */
enum { RECORD = 9, KNODE_F, CUR_F, OFF_F, KEY, ANS };           /* of findK */

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

/* Where the program's arrays begin among all: findK alone has none of findRangeK's. */
static unsigned first_array(const struct rodinia_btree *b)
{
    return b->p.kernel == BTREE_FIND ? RECORD : KNODE;
}

static void lay_out(struct rodinia_btree *b)
{
    uint64_t r = (uint64_t)b->p.ranges, q = (uint64_t)b->p.queries, n = (uint64_t)b->p.n;
    uint64_t nodes = (uint64_t)b->tree.first[b->tree.height + 1] * NODE_WORDS * 4;
    const struct program_alloc arrays[BTREE_ARRAYS] = {{.name = "knodes (range)", .bytes = nodes},
                                                       {.name = "currKnode (range)", .bytes = 8 * r},
                                                       {.name = "offset (range)", .bytes = 8 * r},
                                                       {.name = "lastKnode", .bytes = 8 * r},
                                                       {.name = "offset_2", .bytes = 8 * r},
                                                       {.name = "start", .bytes = 4 * r},
                                                       {.name = "end", .bytes = 4 * r},
                                                       {.name = "ansStart", .bytes = 4 * r},
                                                       {.name = "ansLength", .bytes = 4 * r},
                                                       {.name = "records", .bytes = 4 * n},
                                                       {.name = "knodes", .bytes = nodes},
                                                       {.name = "currKnode", .bytes = 8 * q},
                                                       {.name = "offset", .bytes = 8 * q},
                                                       {.name = "keys", .bytes = 4 * q},
                                                       {.name = "ans", .bytes = 4 * q}};
    for (unsigned i = 0; i < BTREE_ARRAYS; i++) {
        b->allocs[i] = arrays[i];
        b->allocs[i].host = true;
    }
    program_place(b->allocs + first_array(b), BTREE_ARRAYS - first_array(b), RODINIA_BASE, RODINIA_ALIGN);
}

static void *btree_open(const void *params, struct err *err)
{
    struct rodinia_btree *b = mem_zalloc(1, sizeof *b, err);
    if (!b)
        return NULL;
    b->p = *(const struct rodinia_btree_params *)params;
    b->start = mem_zalloc((size_t)b->p.ranges, sizeof *b->start, err);
    b->end = mem_zalloc((size_t)b->p.ranges, sizeof *b->end, err);
    b->find = mem_zalloc((size_t)b->p.queries, sizeof *b->find, err);
    if (!b->start || !b->end || !b->find) {
        btree_close(b);
        return NULL;
    }
    btree_tree(&b->tree, (uint32_t)b->p.n, (uint32_t)b->p.fan);
    draw(b);
    lay_out(b);
    return b;
}

static const struct program_alloc *btree_allocs(const void *state, size_t *n)
{
    const struct rodinia_btree *b = state;
    *n = (b->p.kernel == BTREE_RANGE ? RECORD : BTREE_ARRAYS) - first_array(b);
    return b->allocs + first_array(b);
}

static uint32_t btree_launches(const void *state)
{
    return ((const struct rodinia_btree *)state)->p.kernel == BTREE_BOTH ? 2 : 1;
}

static bool is_find(const struct rodinia_btree *b, uint32_t launch)
{
    return b->p.kernel == BTREE_FIND || launch == 1;
}

static void btree_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct rodinia_btree *b = state;
    bool find = is_find(b, launch);
    *out = (struct program_launch){.kernel = find ? "findK" : "findRangeK",
                                   .blocks = (uint64_t)(find ? b->p.queries : b->p.ranges),
                                   .threads = ORDER,
                                   .registers = find ? 20 : 24};
}

/* --- accesses; arrays by the numbers above --- */

struct query {
    const struct rodinia_btree *b;
    struct emit e;
    int64_t block, warp;
    uint32_t lanes; /* all */
};

/* The block's own element of an array: a load, or a store. */
static void own(const struct query *q, unsigned array, uint32_t bytes, bool store)
{
    struct emit e = q->e;
    e.bytes = bytes;
    unsigned at = array - first_array(q->b);
    (void)emit_same(store ? emit_store(&e, at, q->block, 2) : emit_load(&e, at, q->block, 2, 1));
}

/* keys[t + more], or an index. */
static void word(const struct query *q, unsigned nodes, uint32_t node, int64_t offset)
{
    (void)emit_load(&q->e, nodes - first_array(q->b), (int64_t)node * NODE_WORDS + offset + q->warp * PROGRAM_LANES, 2,
                    1);
}

/* What all threads load: the node's number, its keys, the query's key. */
static void compare(const struct query *q, unsigned nodes, unsigned cur, unsigned key, uint32_t node)
{
    bool hoisted = q->b->p.order == ORDER_HOISTED;
    uint32_t first = q->e.body->count;
    own(q, cur, 8, false);
    if (hoisted)
        own(q, key, 4, false);
    rodinia_order(q->e.body, first, (enum rodinia_order)q->b->p.order);
    word(q, nodes, node, KEYS);
    if (!hoisted)
        own(q, key, 4, false);
}

/* Lanes from now on: threads up to `slot`, or that one alone; whether there are any. */
static bool up_to(struct query *q, uint32_t slot)
{
    int64_t n = (int64_t)slot + 1 - q->warp * PROGRAM_LANES;
    q->e.active = n > 0 ? program_first_lanes((uint64_t)n) : 0;
    return q->e.active;
}

static bool alone(struct query *q, uint32_t slot)
{
    q->e.active = slot / PROGRAM_LANES == q->warp ? 1u << slot % PROGRAM_LANES : 0;
    return q->e.active;
}

/* One search of a level. */
static void descend(struct query *q, bool find, unsigned cur, unsigned key, unsigned off, const struct btree_path *path,
                    uint32_t level)
{
    unsigned nodes = find ? KNODE_F : KNODE;
    q->e.active = q->lanes;
    compare(q, nodes, cur, key, path->node[level]);
    if (up_to(q, path->slot[level]))
        word(q, nodes, path->node[level], KEYS + 1);
    if (alone(q, path->slot[level])) {
        if (find)
            own(q, off, 8, false);
        word(q, nodes, path->node[level], INDICES);
        own(q, off, 8, true);
    }
}

/* Thread 0 moves on; between barriers. */
static void move_on(struct query *q, unsigned cur, unsigned off)
{
    q->e.active = q->warp == 0;
    if (q->e.active) {
        own(q, off, 8, false);
        own(q, cur, 8, true);
    }
}

static void find_leaf(struct query *q, const struct btree_path *path, uint32_t level)
{
    compare(q, KNODE_F, CUR_F, KEY, path->node[level]);
    if (!alone(q, path->slot[level]))
        return;
    word(q, KNODE_F, path->node[level], INDICES);
    (void)emit_same(emit_load(&q->e, RECORD - first_array(q->b), path->record, 2, 1));
    own(q, ANS, 4, true);
}

static void range_leaf(struct query *q, const struct btree_path *start, const struct btree_path *end, uint32_t level)
{
    compare(q, KNODE, CUR, START, start->node[level]);
    if (alone(q, start->slot[level])) {
        word(q, KNODE, start->node[level], INDICES);
        own(q, ASTART, 4, true);
    }
    emit_barrier(&q->e, 2);
    q->e.active = q->lanes;
    compare(q, KNODE, LAST, END, end->node[level]);
    if (!alone(q, end->slot[level]))
        return;
    word(q, KNODE, end->node[level], INDICES);
    own(q, ASTART, 4, false);
    own(q, ALEN, 4, true);
}

static void levels(struct query *q, bool find, uint32_t level)
{
    const struct rodinia_btree *b = q->b;
    if (find)
        descend(q, true, CUR_F, KEY, OFF_F, &b->find[q->block], level);
    else {
        descend(q, false, CUR, START, OFF, &b->start[q->block], level);
        descend(q, false, LAST, END, OFF2, &b->end[q->block], level);
    }
    emit_barrier(&q->e, 2);
    move_on(q, find ? CUR_F : CUR, find ? OFF_F : OFF);
    if (!find)
        move_on(q, LAST, OFF2);
    emit_barrier(&q->e, 2);
}

static int btree_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                      struct err *err)
{
    const struct rodinia_btree *b = run;
    struct query q = {.b = b, .block = (int64_t)(warp / WARPS), .warp = (int64_t)(warp % WARPS), .lanes = 0xffffffffu};
    q.e = emit_to(body, b->allocs + first_array(b), q.lanes);
    (void)err;
    if (index > b->tree.height)
        return 0;
    if (index < b->tree.height)
        levels(&q, is_find(b, launch), index);
    else if (is_find(b, launch))
        find_leaf(&q, &b->find[q.block], index);
    else
        range_leaf(&q, &b->start[q.block], &b->end[q.block], index);
    body->after = 2;
    return 1;
}

static const struct program_ops btree_ops = {
    .allocs = btree_allocs, .launches = btree_launches, .launch = btree_launch, .body = btree_body};

static int btree_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&btree_ops, state, ((const struct rodinia_btree *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_btree = {
    .name = "rodinia-btree",
    .summary = "queries of a B+ tree, a block for each, as the F3FS artifact runs them",
    .source = "Rodinia 3.1 cuda/b+tree",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = btree_params,
    .params_size = sizeof(struct rodinia_btree_params),
    .open = btree_open,
    .close = btree_close,
    .program = btree_program,
};
