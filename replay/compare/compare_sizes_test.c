/* Sizes about 2^32 bytes and far above, on every engine: more bytes never move fewer, twice as many move twice as much,
 * and what memory does not hold is evicted. A count of bytes or pages in 32 bits fails. */
#include <math.h>

#include "replay/compare/compare_testing.h"

enum { SIZES = 5, BASE = 1, DOUBLE = 3 };

/* Blocks of 2 MiB: one less than 2^32 bytes, that, one more, twice and 16 times as much. */
static const int64_t blocks_of[SIZES] = {2047, 2048, 2049, 4096, 32768};

static const char *spec_of(const char *keys, int64_t blocks)
{
    static char spec[128];
    (void)snprintf(spec, sizeof spec, "synth:array,bytes=%lldMiB%s", 2 * (long long)blocks, keys);
    return spec;
}

enum { POLICIES = 8 };

/* Put what an engine says of the array, one metric of each policy, into `values`, a second into the next POLICIES of
 * them if `also` is not NULL. Returns how many policies. */
static size_t ask(const char *engine, const char *platform, const char *policies, const char *set, const char *keys,
                  int64_t blocks, const char *metric, const char *also, double *values)
{
    struct replay_result r;
    const char *spec = spec_of(keys, blocks), *const metrics[2] = {metric, also};
    testing_replay(&r, testing_request(engine, platform, policies, &set), spec);
    size_t n = r.policy_count;
    for (size_t i = 0; i < (also ? 2 * n : n); i++) {
        const struct metric_value *v = outcome_get(&r.runs[i % n], metrics[i / n]);
        ck_assert_msg(v && v->known, "%s of %s", metrics[i / n], spec);
        values[i / n * POLICIES + i % n] = v->real;
    }
    replay_release(&r);
    return n;
}

/* A metric grows with the size, in proportion (to 1 %) but for `constant`. */
static void in_proportion(double values[SIZES][2 * POLICIES], size_t p, const char *metric, double constant, int sizes)
{
    for (int s = 1; s < sizes; s++) {
        const double was = values[s - 1][p] + constant, is = values[s][p] + constant,
                     expected = values[BASE][p] + constant;
        ck_assert_msg(is > was, "%s: policy %zu: %g, then %g", metric, p % POLICIES, was, is);
        ck_assert_msg(s < DOUBLE || fabs(is / expected * (double)blocks_of[BASE] / (double)blocks_of[s] - 1) < 0.01,
                      "%s: policy %zu: %g of %lld blocks, %g of %lld", metric, p % POLICIES, expected,
                      (long long)blocks_of[BASE], is, (long long)blocks_of[s]);
    }
}

/* The metric grows, and `also`, which has a constant, if it is not NULL. */
static void grows(const char *engine, const char *platform, const char *policies, const char *set, const char *keys,
                  const char *metric, const char *also, double constant, int sizes)
{
    double values[SIZES][2 * POLICIES];
    size_t n = 0;
    for (int s = 0; s < sizes; s++)
        n = ask(engine, platform, policies, set, keys, blocks_of[s], metric, also, values[s]);
    for (size_t p = 0; p < n; p++) {
        in_proportion(values, p, metric, 0, sizes);
        if (also)
            in_proportion(values, POLICIES + p, also, constant, sizes);
    }
}

#define SPARSE ",pattern=sparse"

/* 3 GiB less 322,122,547 bytes are 1,382 blocks: as many are never evicted. */
START_TEST(managed_memory_moves_and_evicts_what_does_not_fit)
{
    const char *policies = "tree,fixed:granularity=2MiB", *set = "memory_bytes=3GiB";
    grows("uvm", "t4", policies, set, SPARSE, "h2d_bytes", "evictions", 1382, SIZES);
}
END_TEST

/* 128 reads 8 GiB apart, of 1 TiB, in 100 blocks. */
START_TEST(a_footprint_of_a_tebibyte_has_all_its_blocks)
{
    static const int64_t terabyte = 524288;
    double value;
    (void)ask("uvm", "h200", "fixed:granularity=2MiB", "gpu_memory_bytes=200MiB", ",pattern=chain,step=8GiB", terabyte,
              "evictions", NULL, &value);
    ck_assert_double_eq(value, 28);
    (void)ask("dram", "gv100", "frfcfs", NULL, ",pattern=chain,step=8GiB", terabyte, "mem_requests", NULL, &value);
    ck_assert_double_ge(value, 128);
    (void)ask("zerocopy", "h200", "merged", NULL, "", terabyte, "payload_bytes", NULL, &value);
    ck_assert_double_eq(value, 0x1p40);
}
END_TEST

START_TEST(what_is_read_over_the_link_is_all_of_it)
{
    grows("zerocopy", "h200", "naive,merged,aligned", NULL, "", "payload_bytes", "requests", 0, SIZES);
    grows("zerocopy", "h200", "naive,merged,as-written", NULL, SPARSE, "payload_bytes", NULL, 0, SIZES);
}
END_TEST

/* A pattern that has no closed form is read as its program has it. */
START_TEST(reads_over_the_link_are_the_same_in_a_comparison)
{
    double values[2 * POLICIES];
    compare_with(spec_of(SPARSE, blocks_of[BASE]), "t4", NULL, 2);
    const struct compare_row *row = row_of("zerocopy", "as-written");
    (void)ask("zerocopy", "t4", "as-written", NULL, SPARSE, blocks_of[BASE], "time_ns", "read_amplification_ratio",
              values);
    ck_assert_double_eq(metric(row, "time_ns"), values[0]);
    ck_assert_double_eq(metric(row, "read_amplification_ratio"), values[POLICIES]);
    ck_assert_double_eq(values[POLICIES], 32 / 0x1p21); /* a sector of each 2 MiB */
    compare_release(&result);
}
END_TEST

START_TEST(dram_is_asked_for_every_page_and_its_number)
{
    grows("dram", "gv100", "frfcfs", "cut=none", SPARSE, "mem_requests", NULL, 0, SIZES);
}
END_TEST

START_TEST(tasks_hold_what_their_program_does)
{
    grows("placement", "tx2", "device,managed,pinned", NULL, SPARSE, "footprint_bytes", NULL, 0, DOUBLE + 1);
}
END_TEST

START_TEST(rows_evict_what_does_not_fit)
{
    double h2d = 0, d2h = 0;
    for (int s = 0; s < 4; s++) {
        compare_with(spec_of(SPARSE, blocks_of[s]), "t4", "memory_bytes=3GiB", 2);
        const struct compare_row *row = row_of("managed", "fixed:granularity=2MiB");
        ck_assert_double_eq(metric(row, "gpu_bytes"), 3 * 0x1p30 - 322122547 + 4 * (double)blocks_of[s]);
        ck_assert_double_gt(metric(row, "h2d_bytes"), h2d);
        ck_assert_double_gt(metric(row, "d2h_bytes"), d2h);
        h2d = metric(row, "h2d_bytes");
        d2h = metric(row, "d2h_bytes");
        ck_assert(!row_of("copy", "cudaMemcpy")->answered);
        compare_release(&result);
    }
}
END_TEST

TEST_MAIN("compare_sizes")
