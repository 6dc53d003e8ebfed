#include "trace/base/random.h"
#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { KNODE, CUR, OFF, LAST, OFF2, START, END, ASTART, ALEN };
enum { RECORD, KNODE_F, CUR_F, OFF_F, KEY, ANS };
enum { ORDER = 256, MOST = 2000, NODE = 2068 };

/* Nodes as transform_to_cuda() makes them. */
static struct {
    int indices[ORDER + 1], keys[ORDER + 1];
} knode[MOST];
static uint32_t nodes, height;

/* Fill node `at` with children, or records, from..to - 1; `apart`: keys below each. */
static void fill(uint32_t at, uint32_t from, uint32_t to, uint32_t apart, uint32_t first_index, bool leaf)
{
    ck_assert_uint_lt(at, MOST);
    for (int i = 0; i <= ORDER; i++)
        knode[at].keys[i] = INT32_MAX;
    knode[at].keys[0] = INT32_MIN;
    for (uint32_t i = from; i < to; i++) {
        uint32_t slot = i - from + leaf;
        if (slot)
            knode[at].keys[slot] = (int)(i * apart);
        knode[at].indices[slot] = (int)(first_index + i);
    }
}

/* A complete tree, level by level: `counts` nodes of each from the leaves up. */
static void grow(uint32_t n, uint32_t fan)
{
    uint32_t counts[32], levels = 0, below = n, first = 0;
    do
        counts[levels++] = below = (below + fan - 1) / fan;
    while (below > 1);
    height = levels - 1;
    for (uint32_t level = levels; level-- > 0;) {
        uint32_t entries = level ? counts[level - 1] : n, apart = 1;
        for (uint32_t i = 0; i < level; i++)
            apart *= fan;
        for (uint32_t k = 0; k < counts[level]; k++) {
            uint32_t from = k * fan, to = from + fan < entries ? from + fan : entries;
            fill(first + k, from, to, apart, level ? first + counts[level] : 0, level == 0);
        }
        first += counts[level];
    }
    nodes = first;
}

static int64_t word(int64_t node, int64_t byte, int64_t i)
{
    return (node * NODE + byte) / 4 + i;
}

/* The block's own 8-byte element. */
static void own(struct thread *t, bool takes, uint32_t kind, unsigned array)
{
    thread_does(t, takes, kind, array, (int64_t)t->block * 8, 8);
}

/* Loads and tests of one search; stores the child in *offset. In the order of the code, or the key first. */
static void look(struct thread *t, bool find, unsigned cur, unsigned key, unsigned off, int64_t at, int value,
                 int64_t *offset, bool hoisted)
{
    unsigned array = find ? KNODE_F : KNODE;
    int64_t i = t->thread;
    own(t, true, RECORD_READ, cur);
    reads(t, hoisted, key, (int64_t)t->block);
    reads(t, true, array, word(at, 1032, i));
    reads(t, !hoisted, key, (int64_t)t->block);
    bool below = knode[at].keys[i] <= value;
    reads(t, below, array, word(at, 1032, i + 1));
    bool here = below && knode[at].keys[i + 1] > value;
    own(t, here && find, RECORD_READ, off);
    reads(t, here, array, word(at, 4, i));
    if (here)
        *offset = knode[at].indices[i];
    own(t, here, RECORD_WRITE, off);
}

static void step(struct thread *t, unsigned cur, unsigned off)
{
    own(t, t->thread == 0, RECORD_READ, off);
    own(t, t->thread == 0, RECORD_WRITE, cur);
}

/* A block of findK: threads in lockstep by `when`. */
static void find_k(struct thread *t, int key, bool hoisted)
{
    int64_t cur = 0, off = 0;
    for (uint32_t level = 0; level < height; level++, cur = off)
        for (t->thread = 0; t->thread < ORDER; t->thread++) {
            t->when = 100 * level;
            look(t, true, CUR_F, KEY, OFF_F, cur, key, &off, hoisted);
            step(t, CUR_F, OFF_F);
        }
    for (t->thread = 0; t->thread < ORDER; t->thread++) {
        t->when = 100 * height;
        bool equal = knode[cur].keys[t->thread] == key;
        own(t, true, RECORD_READ, CUR_F);
        reads(t, hoisted, KEY, (int64_t)t->block);
        reads(t, true, KNODE_F, word(cur, 1032, t->thread));
        reads(t, !hoisted, KEY, (int64_t)t->block);
        reads(t, equal, KNODE_F, word(cur, 4, t->thread));
        reads(t, equal, RECORD, knode[cur].indices[t->thread]);
        writes(t, equal, ANS, (int64_t)t->block);
    }
}

static void range_leaf(struct thread *t, unsigned cur, unsigned key, int64_t at, int value, bool first, bool hoisted)
{
    bool equal = knode[at].keys[t->thread] == value;
    own(t, true, RECORD_READ, cur);
    reads(t, hoisted, key, (int64_t)t->block);
    reads(t, true, KNODE, word(at, 1032, t->thread));
    reads(t, !hoisted, key, (int64_t)t->block);
    reads(t, equal, KNODE, word(at, 4, t->thread));
    reads(t, equal && !first, ASTART, (int64_t)t->block);
    writes(t, equal, first ? ASTART : ALEN, (int64_t)t->block);
}

static void find_range_k(struct thread *t, int start, int end, bool hoisted)
{
    int64_t cur = 0, off = 0, last = 0, off2 = 0;
    for (uint32_t level = 0; level < height; level++, cur = off, last = off2)
        for (t->thread = 0; t->thread < ORDER; t->thread++) {
            t->when = 100 * level;
            look(t, false, CUR, START, OFF, cur, start, &off, hoisted);
            look(t, false, LAST, END, OFF2, last, end, &off2, hoisted);
            step(t, CUR, OFF);
            step(t, LAST, OFF2);
        }
    for (t->thread = 0; t->thread < ORDER; t->thread++) {
        t->when = 100 * height;
        range_leaf(t, CUR, START, cur, start, true, hoisted);
        range_leaf(t, LAST, END, last, end, false, hoisted);
    }
}

static void compare(uint32_t n, uint32_t fan, uint32_t range, bool find, bool hoisted)
{
    char spec[160];
    struct workload w;
    struct program_notes notes = {0};
    (void)snprintf(spec, sizeof spec,
                   "rodinia-btree,n=%u,fan=%u,range=%u,kernel=%s,order=%s,queries=20,ranges=17,seed=%u", n, fan, range,
                   find ? "findK" : "findRangeK", hoisted ? "hoisted" : "ptx", n);
    struct program program = program_opened(&w, spec, 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = ORDER};
    struct random r = {n};
    grow(n, fan);
    size_t arrays;
    const struct program_alloc *allocs = program.ops->allocs(program.state, &arrays);
    ck_assert_uint_eq(allocs[find ? KNODE_F : KNODE].bytes, nodes * (uint64_t)NODE);
    int starts[17], ends[17];
    for (int i = 0; i < 17; i++) {
        starts[i] = (int)random_below(&r, n);
        ends[i] = starts[i] + (int)range;
        if (ends[i] >= (int)n) {
            starts[i] -= ends[i] - (int)n;
            ends[i] = (int)n - 1;
        }
    }
    for (t.block = 0; t.block < (find ? 20 : 17); t.block++)
        if (find)
            find_k(&t, (int)random_below(&r, n), hoisted);
        else
            find_range_k(&t, starts[t.block], ends[t.block], hoisted);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(queries_go_the_way_of_the_kernels_through_a_tree_of_nodes)
{
    static const uint32_t sizes[][3] = {{1, 2, 0},     {7, 2, 3},      {100, 3, 30},      {255, 255, 255},
                                        {256, 255, 9}, {5000, 17, 99}, {60000, 144, 3000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int find = 0; find < 2; find++)
            for (int hoisted = 0; hoisted < 2; hoisted++)
                compare(sizes[i][0], sizes[i][1], sizes[i][2], find, hoisted);
}
END_TEST

START_TEST(number_and_key_are_awaited_together_only_if_hoisted)
{
    uint32_t ptx, hoisted;
    const char *spec = "rodinia-btree,kernel=findK,n=1000,fan=255";
    /* Warp 7 has no lane below the slot: number, keys, key; barrier; barrier. */
    ck_assert_uint_eq(stalls_of(spec, 0, 7, 0, &ptx), 1 << 1 | 1 << 2 | 1 << 3);
    ck_assert_uint_eq(stalls_of("rodinia-btree,kernel=findK,n=1000,fan=255,order=hoisted", 0, 7, 0, &hoisted),
                      1 << 2 | 1 << 3);
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(nodes_wider_than_a_block_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-btree,fan=256"), "fan"));
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-btree,n=10,fan=4,queries=3,ranges=5", 4 * 2068, 40, 40, 40, 40, 20, 20, 20, 20, 40, 4 * 2068,
                 24, 24, 12, 12);
}
END_TEST

TEST_MAIN("rodinia_btree")
