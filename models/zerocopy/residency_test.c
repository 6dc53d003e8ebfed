#include "models/zerocopy/pattern.h"

#include "trace/base/testing.h"

static void count(const struct residency *r, int places[3])
{
    places[0] = places[1] = places[2] = 0;
    for (uint64_t row = 0; row < 100; row++)
        places[residency_of(r, row)]++;
}

START_TEST(the_worked_example_in_both_layouts)
{
    uint32_t rank[100];
    for (uint32_t i = 0; i < 100; i++)
        rank[i] = i;
    struct residency r;
    int places[3];
    residency_init(&r, rank, 100, 10, 20, 4, RESIDENCY_INTERLEAVE);
    count(&r, places);
    ck_assert_int_eq(places[RESIDENCY_LOCAL], 15);
    ck_assert_int_eq(places[RESIDENCY_PEER], 15);
    ck_assert_int_eq(places[RESIDENCY_LINK], 70);
    ck_assert_int_eq(residency_of(&r, 14), RESIDENCY_LOCAL);
    ck_assert_int_eq(residency_of(&r, 11), RESIDENCY_PEER);
    residency_init(&r, rank, 100, 10, 20, 4, RESIDENCY_BLOCK);
    ck_assert_int_eq(residency_of(&r, 11), RESIDENCY_LOCAL);
    ck_assert_int_eq(residency_of(&r, 15), RESIDENCY_PEER);
    count(&r, places);
    ck_assert_int_eq(places[RESIDENCY_LOCAL], 15);
}
END_TEST

START_TEST(without_ranks_or_beyond_them_rows_cross_the_link)
{
    struct residency r = {0};
    ck_assert_int_eq(residency_of(&r, 0), RESIDENCY_LINK);
    uint32_t rank[1] = {0};
    residency_init(&r, rank, 1, 100, 0, 1, RESIDENCY_INTERLEAVE);
    ck_assert_int_eq(residency_of(&r, 0), RESIDENCY_LOCAL);
    ck_assert_int_eq(residency_of(&r, 1), RESIDENCY_LINK);
}
END_TEST

TEST_MAIN("residency")
