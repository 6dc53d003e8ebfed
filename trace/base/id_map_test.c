#include "trace/base/id_map.h"

#include "trace/base/testing.h"

static uint32_t number_of(struct id_map *d, uint64_t id)
{
    uint32_t number;
    ck_assert_int_eq(id_map_number(d, id, &number, NULL), 0);
    return number;
}

START_TEST(ids_are_numbered_in_the_order_in_which_they_are_met)
{
    static const uint64_t ids[] = {77, 0, UINT64_MAX, 77, 5, 0};
    static const uint32_t want[] = {0, 1, 2, 0, 3, 1};
    struct id_map d = {0};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        ck_assert_uint_eq(number_of(&d, ids[i]), want[i]);
    ck_assert_uint_eq(d.count, 4);
    id_map_release(&d);
}
END_TEST

START_TEST(numbers_stay_while_the_table_grows)
{
    struct id_map d = {0};
    enum { IDS = 100000 };
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < IDS; i++)
            ck_assert_uint_eq(number_of(&d, i << 32 | i % 3), i); /* ids that differ in their high bits */
    ck_assert_uint_eq(d.count, IDS);
    id_map_release(&d);
}
END_TEST

START_TEST(after_clear_numbers_begin_again)
{
    struct id_map d = {0};
    id_map_clear(&d);
    (void)number_of(&d, 9);
    (void)number_of(&d, 8);
    id_map_clear(&d);
    ck_assert_uint_eq(number_of(&d, 8), 0);
    ck_assert_uint_eq(number_of(&d, 9), 1);
    id_map_release(&d);
}
END_TEST

TEST_MAIN("dense")
