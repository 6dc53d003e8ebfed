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

/* Without its commas it is the number; and between two of them, or one and an end, stand three digits. */
START_TEST(counts_are_in_groups_of_three)
{
    static const struct {
        int64_t count;
        const char *text;
    } known[] = {{0, "0"},
                 {999, "999"},
                 {-999, "-999"},
                 {1000, "1,000"},
                 {-12345, "-12,345"},
                 {1234567, "1,234,567"},
                 {INT64_MIN, "-9,223,372,036,854,775,808"}};
    char buf[32], plain[32];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(units_human_count(known[i].count, buf, sizeof buf), known[i].text);
    for (int64_t v = 7; v < INT64_MAX / 13; v = v * 13 - 5) {
        size_t n = 0, last = 0;
        units_human_count(v, buf, sizeof buf);
        for (const char *p = buf; *p; p++)
            if (*p != ',')
                plain[n++] = *p;
        plain[n] = 0;
        for (const char *p = buf; (p = strchr(p, ',')); p++)
            last = strlen(p) - 1;
        ck_assert_int_eq(strtoll(plain, NULL, 10), v);
        ck_assert_uint_eq(strlen(buf), n + (n - 1) / 3);
        ck_assert(last == 3 || n < 4);
    }
    ck_assert_str_eq(units_human_count(1234567, buf, 5), "1,23");
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

START_TEST(a_range_is_two_numbers_with_a_colon_between)
{
    static const char *const bad[] = {
        "", "5", ":5", "5:", "a:5", "5:b", "1:2:3", "1.5:2", "00000000000000000000000000000001:2"};
    int64_t lo, hi;
    ck_assert_int_eq(units_parse_range("-8:72", &lo, &hi, NULL), 0);
    ck_assert_int_eq(lo, -8);
    ck_assert_int_eq(hi, 72);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(units_parse_range(bad[i], &lo, &hi, NULL) == -1, "'%s' was accepted", bad[i]);
}
END_TEST

TEST_MAIN("units")
