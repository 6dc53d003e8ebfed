#include "trace/workloads/graph/traversal.h"

#include <stdlib.h>

#include "trace/base/testing.h"

START_TEST(members_are_found_in_order_as_far_as_asked_for)
{
    static const uint64_t members[] = {0, 5, 63, 64, 129};
    struct frontier f;
    size_t n = 0;
    ck_assert_int_eq(frontier_init(&f, 130, NULL), 0);
    for (int twice = 0; twice < 2; twice++) /* the second time they are there already */
        for (size_t i = 0; i < 5; i++)
            frontier_add(&f, members[i]);
    ck_assert_uint_eq(f.count, 5);
    for (uint64_t v = frontier_next(&f, 0, 130); v < 130; v = frontier_next(&f, v + 1, 130))
        ck_assert_uint_eq(v, members[n++]);
    ck_assert_uint_eq(n, 5);
    ck_assert_uint_eq(frontier_next(&f, 6, 63), 63); /* the end, not the member there */
    ck_assert_uint_eq(frontier_next(&f, 65, 100), 100);
    ck_assert(frontier_has(&f, 129) && !frontier_has(&f, 128));
    frontier_clear(&f);
    ck_assert_uint_eq(f.count, 0);
    ck_assert_uint_eq(frontier_next(&f, 0, 130), 130);
    free(f.bits);
}
END_TEST

START_TEST(all_are_the_vertices_of_the_graph_and_no_more)
{
    static const uint64_t sizes[] = {1, 63, 64, 65, 128};
    for (size_t i = 0; i < 5; i++) {
        struct frontier f;
        uint64_t n = 0;
        ck_assert_int_eq(frontier_init(&f, sizes[i], NULL), 0);
        frontier_fill(&f);
        for (uint64_t v = frontier_next(&f, 0, sizes[i]); v < sizes[i]; v = frontier_next(&f, v + 1, sizes[i]))
            ck_assert_uint_eq(v, n++);
        ck_assert_uint_eq(n, sizes[i]);
        ck_assert_uint_eq(f.count, sizes[i]);
        ck_assert_uint_eq(frontier_next(&f, 0, (sizes[i] / 64 + 1) * 64), 0);
        for (uint64_t v = sizes[i]; v < (sizes[i] / 64 + 1) * 64; v++)
            ck_assert(!frontier_has(&f, v));
        free(f.bits);
    }
}
END_TEST

TEST_MAIN("frontier")
