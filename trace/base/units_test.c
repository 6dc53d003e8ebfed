#include "trace/base/units.h"

#include "trace/base/testing.h"

static int64_t bytes(const char *text)
{
    struct err err = {""};
    int64_t v = -7;
    ck_assert_msg(units_parse_bytes(text, &v, &err) == 0, "%s: %s", text, err.msg);
    return v;
}

START_TEST(bytes_know_binary_and_decimal_units)
{
    ck_assert_int_eq(bytes("4096"), 4096);
    ck_assert_int_eq(bytes("64KiB"), 65536);
    ck_assert_int_eq(bytes("2M"), 2 << 20);
    ck_assert_int_eq(bytes("1.5GiB"), 3LL << 29);
    ck_assert_int_eq(bytes("12GB"), 12000000000);
    ck_assert_int_eq(bytes("9223372036854775807"), INT64_MAX);
}
END_TEST

START_TEST(times_become_nanoseconds)
{
    int64_t v;
    ck_assert_int_eq(units_parse_ns("2.5us", &v, NULL), 0);
    ck_assert_int_eq(v, 2500);
    ck_assert_int_eq(units_parse_ns("3 s", &v, NULL), 0);
    ck_assert_int_eq(v, 3000000000);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    static const char *const bad[] = {"",    "KiB",  "1.5B", "12Q", "1e30GiB", "99999999999999999999",
                                      "nan", "1..2", "0x10Z"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t v;
        ck_assert_msg(units_parse_bytes(bad[i], &v, NULL) == -1, "'%s' was accepted", bad[i]);
    }
    double r;
    ck_assert_int_eq(units_parse_real("inf", &r, NULL), -1);
    ck_assert_int_eq(units_parse_real("1,5", &r, NULL), -1);
    int64_t v;
    ck_assert_int_eq(units_parse_int("12x", &v, NULL), -1);
    ck_assert_int_eq(units_parse_int("--1", &v, NULL), -1);
}
END_TEST

START_TEST(formatting_round_trips)
{
    char buf[32];
    ck_assert_str_eq(units_format_bytes(65536, buf, sizeof buf), "64KiB");
    ck_assert_str_eq(units_format_bytes(100, buf, sizeof buf), "100");
    ck_assert_str_eq(units_format_bytes(0, buf, sizeof buf), "0");
    ck_assert_int_eq(bytes(units_format_bytes(3LL << 31, buf, sizeof buf)), 3LL << 31);
    ck_assert_str_eq(units_human_bytes(90911539, buf, sizeof buf), "86.7 MiB");
    ck_assert_str_eq(units_human_ns(38900000, buf, sizeof buf), "38.9 ms");
}
END_TEST

START_TEST(numbers_parse_exactly)
{
    double r;
    ck_assert_int_eq(units_parse_real("-0.25", &r, NULL), 0);
    ck_assert_double_eq(r, -0.25);
    ck_assert_int_eq(units_parse_real("12e9", &r, NULL), 0);
    ck_assert_double_eq(r, 12e9);
    int64_t v;
    ck_assert_int_eq(units_parse_int("0x7f7618000000", &v, NULL), 0);
    ck_assert_int_eq(v, 0x7f7618000000);
}
END_TEST

TEST_MAIN("units", bytes_know_binary_and_decimal_units, times_become_nanoseconds, nonsense_is_refused,
          formatting_round_trips, numbers_parse_exactly)
