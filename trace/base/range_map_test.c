#include "trace/base/range_map.h"

#include "trace/base/testing.h"

START_TEST(points_find_their_row_none_or_several)
{
    struct range_map s = {0};
    WORKS(range_map_add(&s, 30, 40, 2, &err));
    WORKS(range_map_add(&s, 10, 20, 0, &err));
    WORKS(range_map_add(&s, 15, 25, 1, &err));
    WORKS(range_map_add(&s, 50, 50, 3, &err));
    WORKS(range_map_build(&s, &err));
    static const int64_t want[][2] = {{9, RANGE_MAP_NONE},
                                      {10, 0},
                                      {14, 0},
                                      {15, RANGE_MAP_SEVERAL},
                                      {19, RANGE_MAP_SEVERAL},
                                      {20, 1},
                                      {24, 1},
                                      {25, -1},
                                      {30, 2},
                                      {39, 2},
                                      {40, -1},
                                      {50, -1}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        ck_assert_int_eq(range_map_find(&s, want[i][0]), want[i][1]);
    range_map_release(&s);
}
END_TEST

START_TEST(overlaps_of_one_row_are_that_row)
{
    struct range_map s = {0};
    WORKS(range_map_add(&s, 0, 10, 7, &err));
    WORKS(range_map_add(&s, 5, 15, 7, &err));
    WORKS(range_map_add(&s, 15, 20, 7, &err));
    WORKS(range_map_build(&s, &err));
    ck_assert_uint_eq(s.count, 1);
    ck_assert_int_eq(range_map_find(&s, 12), 7);
    range_map_release(&s);
}
END_TEST

START_TEST(an_empty_set_finds_nothing)
{
    struct range_map s = {0};
    WORKS(range_map_build(&s, &err));
    ck_assert_int_eq(range_map_find(&s, 0), RANGE_MAP_NONE);
    range_map_release(&s);
}
END_TEST

TEST_MAIN("range_map")
