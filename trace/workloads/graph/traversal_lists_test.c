/* The lists of a warp are the program's own: by including it. */
#include "trace/workloads/graph/traversal_program.c"

#include "trace/base/testing.h"

/* Lists of 0, 3, 40, 0, 64, 1, ... elements; vertices of odd number are inactive where the test says so. */
enum { VERTICES = 45 };

static uint64_t offsets[VERTICES + 1], bits[VERTICES / 64 + 1];

static struct traversal make(bool all)
{
    static const uint64_t degrees[] = {0, 3, 40, 0, 64, 1, 31, 32, 33, 2};
    struct traversal t = {.graph = {.vertices = VERTICES, .offsets = offsets}, .active = {.bits = bits}};
    bits[0] = 0;
    for (uint64_t v = 0; v < VERTICES; v++) {
        offsets[v + 1] = offsets[v] + degrees[v % 10];
        if (all || v % 2 == 0)
            frontier_add(&t.active, v);
    }
    return t;
}

/* Every element of an active list is loaded once, and in the load and lane that the kernel's loop says. */
static void check(const struct traversal *t, const struct traversal_shape *shape)
{
    uint8_t *times = calloc(offsets[VERTICES] + 1, 1);
    struct traversal_lists l;
    for (uint64_t warp = 0; traversal_lists(t, shape, warp, &l); warp++)
        for (uint64_t j = 0; j < l.loads; j++) {
            struct traversal_load load;
            traversal_load(&l, j, &load);
            ck_assert_uint_ne(load.list, 0);
            ck_assert_uint_eq(load.list & ~load.reads, 0);
            for (unsigned lane = 0; lane < 32; lane++) {
                uint64_t v = shape->each ? warp * 32 + lane : warp, at = load.at[lane];
                uint64_t start = v < VERTICES ? offsets[v] - (shape->each ? 0 : offsets[v] % shape->round) : 0;
                if (load.list >> lane & 1) {
                    times[at]++;
                    ck_assert(at >= offsets[v] && at < offsets[v + 1]);
                }
                if (load.reads >> lane & 1)
                    ck_assert_uint_eq(at, start + (shape->each ? j : 32 * j + lane));
                else if (v < VERTICES && !shape->each && shape->unmasked_head)
                    ck_assert_uint_ge(at, offsets[v + 1]);
            }
        }
    for (uint64_t v = 0; v < VERTICES; v++)
        for (uint64_t i = offsets[v]; i < offsets[v + 1]; i++)
            ck_assert_uint_eq(times[i], frontier_has(&t->active, v));
    free(times);
}

START_TEST(active_lists_are_loaded_once_as_the_loops_say)
{
    static const struct traversal_shape shapes[] = {
        {true, 1, false, 1}, {false, 1, false, 1}, {false, 16, false, 1}, {false, 32, false, 1}, {false, 16, true, 1}};
    for (int all = 0; all < 2; all++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const struct traversal t = make(all);
            check(&t, &shapes[i]);
        }
}
END_TEST

START_TEST(warps_beyond_the_vertices_have_no_lists)
{
    const struct traversal t = make(true);
    const struct traversal_shape each = {.each = true}, one = {.round = 16};
    struct traversal_lists l;
    ck_assert(traversal_lists(&t, &each, 1, &l));
    ck_assert_uint_eq(l.lanes, (1u << (VERTICES - 32)) - 1);
    ck_assert(!traversal_lists(&t, &each, 2, &l));
    ck_assert(traversal_lists(&t, &one, VERTICES - 1, &l));
    ck_assert(!traversal_lists(&t, &one, VERTICES, &l));
}
END_TEST

START_TEST(the_same_lanes_take_part_until_told)
{
    const struct traversal t = make(true);
    for (int each = 0; each < 2; each++) {
        const struct traversal_shape shape = {.each = each, .round = 16};
        struct traversal_lists l;
        for (uint64_t warp = 0; traversal_lists(&t, &shape, warp, &l); warp++)
            for (uint64_t j = 0; j < l.loads;) {
                struct traversal_load first, load;
                traversal_load(&l, j, &first);
                uint64_t until = traversal_same_until(&l, &first, j);
                ck_assert_uint_gt(until, j);
                for (; j < until; j++) {
                    traversal_load(&l, j, &load);
                    ck_assert_uint_eq(load.list, first.list);
                }
                if (j == l.loads || first.list != UINT32_MAX)
                    continue; /* a masked head and the load behind it may be alike */
                traversal_load(&l, j, &load);
                ck_assert_uint_ne(load.list, first.list);
            }
    }
}
END_TEST

TEST_MAIN("traversal_lists")
