#include "replay/dram/dram_latency.h"

#include "trace/base/testing.h"

START_TEST(counts_are_exact_below_4096_cycles)
{
    static struct dram_latency l, m;
    for (int i = 1; i <= 1000; i++)
        dram_latency_add(&l, i);
    dram_latency_merge(&m, &l);
    dram_latency_merge(&m, &l);
    for (int i = 1; i <= 1000; i++)
        ck_assert_int_eq(m.buckets[i], 2);
    ck_assert_int_eq(m.count, 2000);
    ck_assert_int_eq(m.sum, 1001000);
}
END_TEST

START_TEST(buckets_above_are_low_by_less_than_a_hundredth)
{
    for (int64_t x = 4096; x < INT64_C(1) << 60; x = x * 3 / 2 + 7) {
        const int64_t low = dram_latency_least((int)dram_latency_bucket(x));
        ck_assert_int_le(low, x);
        ck_assert(low > x - x / 100);
    }
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

TEST_MAIN("dram_latency", counts_are_exact_below_4096_cycles, buckets_above_are_low_by_less_than_a_hundredth,
          buckets_ascend_to_the_largest_count)
