#include "models/gpu/l2.h"

#include "trace/base/testing.h"

static struct l2_result read_(struct l2 *l2, uint64_t addr, uint32_t sectors)
{
    return l2_access(l2, addr, sectors, true, false);
}

START_TEST(the_worked_example_of_two_ways)
{
    struct l2 *l2 = l2_new(256, 2, NULL);
    ck_assert_uint_eq(read_(l2, 0x1000, 3).fetch, 3);
    struct l2_result r = l2_access(l2, 0x2000, 8, false, true);
    ck_assert_uint_eq(r.fetch | r.write_back, 0);
    ck_assert_uint_eq(read_(l2, 0x1000, 15).fetch, 12);
    r = read_(l2, 0x3000, 15);
    ck_assert_uint_eq(r.fetch, 15);
    ck_assert_uint_eq(r.write_back, 8);
    ck_assert_uint_eq(r.victim, 0x2000);
    l2_free(l2);
}
END_TEST

START_TEST(what_fits_is_fetched_once_and_what_does_not_every_time)
{
    struct l2 *l2 = l2_new(128 * 64, 4, NULL);
    uint64_t fetched = 0;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t line = 0; line < 64; line++)
            fetched += (unsigned)__builtin_popcount(read_(l2, line * 128, 15).fetch);
    ck_assert_uint_eq(fetched, 4 * 64);
    fetched = 0;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t line = 1000; line < 1000 + 80; line++) /* five lines a set of four: least recently used loses */
            fetched += (unsigned)__builtin_popcount(read_(l2, line * 128, 15).fetch);
    ck_assert_uint_eq(fetched, 3 * 4 * 80);
    l2_free(l2);
}
END_TEST

static int add_sectors(void *ctx, uint64_t addr, uint32_t sectors)
{
    (void)addr;
    *(uint64_t *)ctx += (unsigned)__builtin_popcount(sectors);
    return 0;
}

START_TEST(every_written_sector_goes_back_exactly_once)
{
    struct l2 *l2 = l2_new(128 * 16, 2, NULL);
    uint64_t back = 0;
    for (uint64_t line = 0; line < 100; line++)
        back += (unsigned)__builtin_popcount(l2_access(l2, line * 128, 5, false, true).write_back);
    ck_assert_int_eq(l2_flush(l2, add_sectors, &back), 0);
    ck_assert_uint_eq(back, 2 * 100);
    ck_assert_int_eq(l2_flush(l2, add_sectors, &back), 0);
    ck_assert_uint_eq(back, 2 * 100);
    l2_free(l2);
}
END_TEST

START_TEST(without_a_cache_every_access_goes_to_dram)
{
    struct l2 *l2 = l2_new(0, 16, NULL);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(read_(l2, 0x1000, 3).fetch, 3);
        struct l2_result r = l2_access(l2, 0x1000, 9, true, true);
        ck_assert_uint_eq(r.fetch, 9);
        ck_assert_uint_eq(r.write_back, 9);
        ck_assert_uint_eq(r.victim, 0x1000);
    }
    l2_free(l2);
    struct err err;
    ck_assert_ptr_null(l2_new(1024, 16, &err));
    ck_assert_ptr_null(l2_new(1024, 0, &err));
}
END_TEST

TEST_MAIN("l2", the_worked_example_of_two_ways, what_fits_is_fetched_once_and_what_does_not_every_time,
          every_written_sector_goes_back_exactly_once, without_a_cache_every_access_goes_to_dram)
