#include "trace/program/access.h"

#include "trace/base/testing.h"

static struct access_line lines[2 * ACCESS_LANES];
static uint64_t addrs[ACCESS_LANES];

static int strided(uint64_t base, uint64_t stride, uint32_t bytes)
{
    for (uint64_t i = 0; i < ACCESS_LANES; i++)
        addrs[i] = base + i * stride;
    return access_lines(addrs, ACCESS_LANES, bytes, lines);
}

START_TEST(consecutive_words_are_one_line_of_four_sectors)
{
    ck_assert_int_eq(strided(0x1000, 4, 4), 1);
    ck_assert_uint_eq(lines[0].addr, 0x1000);
    ck_assert_uint_eq(lines[0].sectors, 15);
}
END_TEST

START_TEST(a_shift_of_16_bytes_touches_five_sectors_in_two_lines)
{
    ck_assert_int_eq(strided(0x1010, 4, 4), 2);
    ck_assert_uint_eq(lines[0].sectors, 15);
    ck_assert_uint_eq(lines[1].addr, 0x1080);
    ck_assert_uint_eq(lines[1].sectors, 1);
}
END_TEST

START_TEST(a_stride_of_a_line_touches_a_sector_of_each)
{
    ck_assert_int_eq(strided(0x1000 + 96, 128, 4), 32);
    for (int i = 0; i < 32; i++) {
        ck_assert_uint_eq(lines[i].addr, 0x1000 + 128 * (unsigned)i);
        ck_assert_uint_eq(lines[i].sectors, 8);
    }
}
END_TEST

START_TEST(wide_lanes_reach_across_sectors_and_lines)
{
    ck_assert_int_eq(strided(0x1000, 16, 16), 4);
    addrs[0] = 0x1078;
    ck_assert_int_eq(access_lines(addrs, 1, 16, lines), 2);
    ck_assert_uint_eq(lines[0].sectors, 8);
    ck_assert_uint_eq(lines[1].sectors, 1);
    ck_assert_int_eq(strided(0x1040, 256, 128), 64);
    ck_assert_uint_eq(lines[0].sectors, 12);
    ck_assert_uint_eq(lines[1].sectors, 3);
    addrs[0] = UINT64_MAX - 1;
    ck_assert_int_eq(access_lines(addrs, 1, 16, lines), 1);
    ck_assert_uint_eq(lines[0].sectors, 8);
}
END_TEST

START_TEST(lines_stand_in_order_of_first_touch)
{
    addrs[0] = 0x3000;
    addrs[1] = 0x1000;
    addrs[2] = 0x3020;
    ck_assert_int_eq(access_lines(addrs, 3, 4, lines), 2);
    ck_assert_uint_eq(lines[0].addr, 0x3000);
    ck_assert_uint_eq(lines[0].sectors, 3);
    ck_assert_uint_eq(lines[1].addr, 0x1000);
}
END_TEST

START_TEST(dimensions_are_three_numbers_with_or_without_brackets)
{
    uint32_t d[3] = {7, 7, 7};
    ck_assert(access_dim("(4,2,1)", d));
    ck_assert_uint_eq(d[0] * 100 + d[1] * 10 + d[2], 421);
    ck_assert(access_dim("80,1,4294967295 block", d));
    ck_assert_uint_eq(d[2], UINT32_MAX);
    static const char *const bad[] = {"", "(", "1,2", "1 2 3", "1,,3", "-1,2,3", "1,2,4294967296", "(1,2,"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!access_dim(bad[i], d), "%s", bad[i]);
    ck_assert_uint_eq(d[0], 80);
}
END_TEST

START_TEST(flags_of_a_recording_tell_what_an_access_does)
{
    ck_assert_uint_eq(access_of_flags(1), RECORD_READ);
    ck_assert_uint_eq(access_of_flags(2), RECORD_WRITE);
    ck_assert_uint_eq(access_of_flags(3), RECORD_ATOMIC); /* of the device's scope */
    ck_assert_uint_eq(access_of_flags(4), RECORD_ATOMIC);
    ck_assert_uint_eq(access_of_flags(7), RECORD_ATOMIC);
    ck_assert_uint_eq(access_of_flags(0), 0);
    ck_assert_uint_eq(access_of_flags(8), 0);
    ck_assert_uint_eq(access_of_flags(9), 0);
}
END_TEST

TEST_MAIN("access")
