#include "models/dram/latency.h"

#include "trace/base/testing.h"

START_TEST(percentiles_are_exact_below_4096_cycles)
{
    static struct dram_latency l;
    for (int i = 1; i <= 1000; i++)
        dram_latency_add(&l, i);
    ck_assert_int_eq(dram_latency_percentile(&l, 0.5), 500);
    ck_assert_int_eq(dram_latency_percentile(&l, 0.99), 990);
    ck_assert_int_eq(dram_latency_percentile(&l, 1), 1000);
    ck_assert_int_eq(l.sum, 500500);
}
END_TEST

START_TEST(percentiles_above_are_low_by_less_than_a_hundredth)
{
    for (int64_t x = 4096; x < INT64_C(1) << 60; x = x * 3 / 2 + 7) {
        static struct dram_latency l;
        memset(&l, 0, sizeof l);
        dram_latency_add(&l, x);
        const int64_t p = dram_latency_percentile(&l, 0.5);
        ck_assert_int_le(p, x);
        ck_assert(p > x - x / 100);
    }
}
END_TEST

START_TEST(nothing_counted_has_no_percentile)
{
    static struct dram_latency l, m;
    ck_assert_int_eq(dram_latency_percentile(&l, 0.5), -1);
    dram_latency_add(&m, 7);
    dram_latency_merge(&l, &m);
    ck_assert_int_eq(dram_latency_percentile(&l, 0.5), 7);
}
END_TEST

/* The buckets are as many as there are counts to tell apart: the last is that of the largest count. */
START_TEST(buckets_ascend_to_the_largest_count)
{
    for (int i = 1; i < LATENCY_BUCKETS; i++) {
        ck_assert_int_gt(dram_latency_least(i), dram_latency_least(i - 1));
        ck_assert_uint_eq(dram_latency_bucket(dram_latency_least(i)), (unsigned)i);
        ck_assert_uint_eq(dram_latency_bucket(dram_latency_least(i) - 1), (unsigned)i - 1);
    }
    ck_assert_uint_eq(dram_latency_bucket(INT64_MAX), LATENCY_BUCKETS - 1);
}
END_TEST

TEST_MAIN("latency", percentiles_are_exact_below_4096_cycles, percentiles_above_are_low_by_less_than_a_hundredth,
          nothing_counted_has_no_percentile, buckets_ascend_to_the_largest_count)
