/* rodinia-btree: queries of a B+ tree of order 256, a block of 256 threads each: a thread compares one key of a node.
 *
 * Launches: findRangeK (`ranges` blocks, each both ends of a range), findK (`queries` blocks). A node is 2068 B:
 * indices from byte 4 on, keys from byte 1032 on. In every level all threads load the number of the block's node, a key
 * of it and the query's key; threads up to the key m that the query lies behind load the next key; thread m finds the
 * child, or in a leaf the answer; thread 0 moves the block on to it between two barriers.
 * The tree is complete: keys 0 to n - 1 in leaves of `fan`, leaves and nodes in nodes of `fan`; the last of a level
 * holds what is left. Nodes are numbered level by level from the root on. Slot 0 of a node stands for what lies below
 * its first key, so child i is slot i and key i of a leaf slot i + 1; record i is key i's. Queries are drawn as main()
 * does: keys among n; of a range the first key and the one `range` behind, or the last key and the one as many before.
 * Worked example: n = 100, fan = 4: levels of 1, 2, 7 and 25 nodes, height 3; key 37: root slot 0, node 1 slot 2, node
 * 5 slot 1, node 19 (leaf 9) slot 2. n = 10^6, fan = 144: 6945 leaves, height 2: in each of 3 nodes a query loads 24
 * times, and at most 5 times further keys; 3 times more in each of the upper two, twice in the leaf.
 * Uses and instructions: assumed. order=hoisted: the node's number and the key are awaited together.
 * Source: Rodinia 3.1, cuda/b+tree/kernel/kernel_gpu_cuda.cu, kernel_gpu_cuda_2.cu, their wrappers, main.c
 * (transform_to_cuda: slots, numbering); 6000 ranges, then 10000 keys: command.txt, which the F3FS artifact runs.
 * Differs: the tree of the file mil.txt grows by insertion, its nodes are half full to full; the length of ranges is
 * assumed; loads of a node's number that the compiler can keep are left out. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { ORDER = 256, NODE_WORDS = 2068 / 4, INDICES = 4 / 4, KEYS = 1032 / 4, LEVELS = 28 /* at most */ };
enum { KNODE, CUR, OFF, LAST, OFF2, START, END, ASTART, ALEN }; /* of findRangeK */
enum { RECORD, KNODE_F, CUR_F, OFF_F, KEY, ANS };               /* of findK, from find_arrays on */
enum { BOTH, RANGE, FIND };

struct path {
    uint32_t node[LEVELS], record;
    uint16_t slot[LEVELS]; /* that the key lies behind; in a leaf: of the key */
};

struct btree {
    struct layout layout;
    int64_t n, fan, queries, ranges, range, kernel, seed;
    uint32_t height;                 /* edges from the root to a leaf */
    uint32_t first[LEVELS + 1];      /* node of each level; behind the leaves: all nodes */
    struct path *start, *end, *find; /* of each range its two ends, of each key */
    unsigned find_arrays;            /* number of findK's first array */
};

static const struct param btree_keys[] = {
    PARAM_INT_ROW(btree, n, "", 1, 1 << 28, 1000000, "keys"),
    PARAM_INT_ROW(btree, fan, "", 2, ORDER - 1, 144, "children of a node, keys of a leaf"),
    PARAM_INT_ROW(btree, queries, "", 1, 65535, 10000, "keys looked for"),
    PARAM_INT_ROW(btree, ranges, "", 1, 65535, 6000, "ranges looked for"),
    PARAM_INT_ROW(btree, range, "", 0, 1 << 28, 3000, "keys from a range's first to its last"),
    PARAM_CHOICE_ROW(btree, kernel, "both|findRangeK|findK", BOTH, "which are run"),
    PARAM_INT_ROW(btree, seed, "", 0, 0x1p53, 1, "of the queries"),
    RODINIA_KEYS("time of a warp's level, its data at hand")};

/* --- the tree, and the way of each query through it --- */

static void set_levels(struct btree *b)
{
    uint32_t size[LEVELS], levels = 0, n = (uint32_t)b->n; /* from the leaves up */
    do
        size[levels++] = n = (uint32_t)layout_blocks(n, (uint32_t)b->fan);
    while (n > 1);
    b->height = levels - 1;
    for (uint32_t i = 0; i < levels; i++)
        b->first[i + 1] = b->first[i] + size[levels - 1 - i];
}

static struct path path_to(const struct btree *b, uint32_t key)
{
    struct path p = {.record = key};
    for (uint32_t level = b->height + 1, at = key, fan = (uint32_t)b->fan; level-- > 0;) {
        p.slot[level] = (uint16_t)(at % fan + (level == b->height));
        at /= fan;
        p.node[level] = b->first[level] + at;
    }
    return p;
}

static int draw_queries(struct btree *b, struct err *err)
{
    struct random r = {b->seed};
    uint32_t n = (uint32_t)b->n, apart = b->range < b->n ? (uint32_t)b->range : n;
    b->start = mem_zalloc(2 * b->ranges + b->queries, sizeof *b->start, err);
    if (!b->start)
        return -1;
    b->end = b->start + b->ranges;
    b->find = b->end + b->ranges;
    for (int64_t i = 0; i < b->ranges; i++) {
        uint32_t start = random_below(&r, n);
        bool fits = start + apart < n;
        b->start[i] = path_to(b, fits ? start : n - apart);
        b->end[i] = path_to(b, fits ? start + apart : n - 1);
    }
    for (int64_t i = 0; i < b->queries; i++)
        b->find[i] = path_to(b, random_below(&r, n));
    return 0;
}

/* --- the kernels: a body for each level --- */

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
    return emit_same(emit_load(&of, array, e->at.block, 2, 1));
}

/* A word for each thread: keys[t], keys[t + 1], indices[t]. */
static void load_word(const struct emit *e, const struct search *s, int64_t offset)
{
    emit_load(e, s->nodes, (int64_t)s->node * NODE_WORDS + offset + (int64_t)e->at.warp * PROGRAM_LANES, 2, 1);
}

/* All threads load the node's number, its keys, the query's key; then the one behind whose key the query lies goes on
 * alone. Returns whether it is in the warp. */
static bool compare(struct emit *e, struct search *s, const struct path *path)
{
    uint32_t first = e->body->count;
    bool hoisted = e->order == ORDER_HOISTED;
    s->node = path->node[e->index];
    s->slot = path->slot[e->index];
    s->leaf = e->index == ((const struct btree *)e->state)->height;
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

static int find_k(struct emit *e)
{
    const struct btree *b = e->state;
    const struct path *path = &b->find[e->at.block];
    const unsigned of = b->find_arrays;
    struct search s = {of + KNODE_F, of + CUR_F, of + KEY, of + OFF_F, of + ANS, 0, 0, false};
    if (e->index > b->height)
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
    const struct btree *b = e->state;
    struct search s[] = {{KNODE, CUR, START, OFF, ASTART, 0, 0, false}, {KNODE, LAST, END, OFF2, ALEN, 0, 0, false}};
    if (e->index > b->height)
        return 0;
    for (unsigned i = 0; i < 2; i++) {
        if (i == 1 && s[0].leaf)
            emit_barrier(e, 2);
        if (!compare(e, &s[i], (i ? b->end : b->start) + e->at.block))
            continue;
        load_word(e, &s[i], INDICES);
        if (i == 1 && s[1].leaf)
            own(e, ASTART, 4);
        store_found(e, &s[i]);
    }
    return move_on(e, s, 2);
}

static void btree_close(void *state)
{
    free(((struct btree *)state)->start);
    free(state);
}

static int btree_init(struct btree *b, struct err *err)
{
    const uint64_t ranges = b->ranges, queries = b->queries;
    set_levels(b);
    if (draw_queries(b, err))
        return -1;
    uint64_t nodes = (uint64_t)b->first[b->height + 1] * NODE_WORDS * 4;
    if (b->kernel != FIND) {
        LAYOUT_ARRAYS(&b->layout, {"+knodes (range)", nodes},
                      {"+currKnode (range)|offset (range)|lastKnode|offset_2", 8 * ranges},
                      {"+start|end|ansStart|ansLength", 4 * ranges});
        layout_kernel(&b->layout, find_range_k, "findRangeK", ranges, ORDER, 24, 0);
    }
    b->find_arrays = b->layout.arrays;
    if (b->kernel != RANGE) {
        LAYOUT_ARRAYS(&b->layout, {"+records", 4 * b->n}, {"+knodes", nodes}, {"+currKnode|offset", 8 * queries},
                      {"+keys|ans", 4 * queries});
        layout_kernel(&b->layout, find_k, "findK", queries, ORDER, 20, 0);
    }
    b->layout.launches = b->layout.kernels;
    return 0;
}

RODINIA(btree, "btree", "b+tree", "queries of a B+ tree, a block for each, as the F3FS artifact runs them",
        btree_close);
