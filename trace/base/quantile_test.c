#include "trace/base/quantile.h"

#include "trace/base/testing.h"

START_TEST(quartiles_of_one_to_five_are_two_three_four)
{
    struct quantile *q = quantile_new(NULL);
    for (int64_t v = 5; v >= 1; v--)
        quantile_add(q, v);
    ck_assert_uint_eq(quantile_count(q), 5);
    ck_assert_int_eq(quantile_at(q, 0), 1);
    ck_assert_int_eq(quantile_at(q, 0.25), 2);
    ck_assert_int_eq(quantile_at(q, 0.5), 3);
    ck_assert_int_eq(quantile_at(q, 0.75), 4);
    ck_assert_int_eq(quantile_at(q, 1), 5);
    quantile_free(q);
}
END_TEST

START_TEST(the_median_of_an_even_count_is_the_lower_one)
{
    struct quantile *q = quantile_new(NULL);
    quantile_add(q, 150322);
    quantile_add(q, 154803);
    ck_assert_int_eq(quantile_at(q, 0.5), 150322);
    quantile_free(q);
}
END_TEST

START_TEST(values_over_four_milliseconds_are_within_one_part_in_4096)
{
    static const int64_t values[] = {1 << 22, (1 << 22) + 1, 7654321, 64000000000, INT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct quantile *q = quantile_new(NULL);
        quantile_add(q, 0);
        quantile_add(q, values[i]);
        quantile_add(q, values[i]);
        quantile_add(q, INT64_MAX);
        int64_t got = quantile_at(q, 0.5);
        ck_assert_int_le(got, values[i]);
        ck_assert_int_ge(got, values[i] - values[i] / 4096);
        ck_assert_int_eq(quantile_at(q, 1), INT64_MAX);
        quantile_free(q);
    }
}
END_TEST

static void last_two(void *ctx, int64_t value, uint64_t below)
{
    int64_t *out = ctx;
    out[0] = value;
    out[1] = (int64_t)below;
}

START_TEST(the_walk_ends_at_the_largest_value_and_the_full_count)
{
    struct quantile *q = quantile_new(NULL);
    int64_t out[2] = {-1, -1};
    quantile_walk(q, last_two, out);
    ck_assert_int_eq(out[0], -1);
    for (int64_t v = 0; v < 1000; v++)
        quantile_add(q, v * v);
    quantile_walk(q, last_two, out);
    ck_assert_int_eq(out[0], 999 * 999);
    ck_assert_int_eq(out[1], 1000);
    quantile_free(q);
}
END_TEST

START_TEST(quartiles_of_few_lie_between_neighbours)
{
    const double few[] = {1, 2, 3, 4};
    ck_assert_double_eq(quantile_between(few, 4, 0.25), 1.75);
    ck_assert_double_eq(quantile_between(few, 4, 0.5), 2.5);
    ck_assert_double_eq(quantile_between(few, 4, 0.75), 3.25);
    ck_assert_double_eq(quantile_between(few, 1, 0.75), 1);
}
END_TEST

TEST_MAIN("quantile")
