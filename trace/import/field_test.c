#include "trace/import/field.h"

#include "trace/base/testing.h"

static struct field of(const char *text)
{
    return (struct field){text, strlen(text)};
}

START_TEST(fields_are_cut_at_commas_and_an_empty_last_one_counts)
{
    const char *cursor = "a,,b,";
    struct field f;
    static const char *const want[] = {"a", "", "b", ""};
    for (size_t i = 0; i < 4; i++) {
        ck_assert(field_next(&cursor, &f));
        ck_assert(field_is(&f, want[i]));
    }
    ck_assert(!field_next(&cursor, &f));
}
END_TEST

START_TEST(numbers_fill_their_field_and_stay_in_range)
{
    uint64_t u;
    int64_t i;
    struct field f = of("18446744073709551615");
    ck_assert(field_unsigned(&f, &u) && u == UINT64_MAX);
    f = of("18446744073709551616");
    ck_assert(!field_unsigned(&f, &u));
    f = of("0xffffffffffffffff");
    ck_assert(field_unsigned(&f, &u) && u == UINT64_MAX);
    f = of("0x1ffffffffffffffff");
    ck_assert(!field_unsigned(&f, &u));
    static const char *const bad[] = {"", "-", "0x", "1 ", " 1", "12a", "1.5", "0xg", "+1", "--1"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        f = of(bad[k]);
        ck_assert_msg(!field_signed(&f, &i), "%s", bad[k]);
    }
    f = of("-9223372036854775808");
    ck_assert(field_signed(&f, &i) && i == INT64_MIN);
    f = of("-9223372036854775809");
    ck_assert(!field_signed(&f, &i));
    f = of("9223372036854775807");
    ck_assert(field_signed(&f, &i) && i == INT64_MAX);
}
END_TEST

TEST_MAIN("field")
