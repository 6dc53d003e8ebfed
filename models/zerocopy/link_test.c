#include "models/base/sections.h"
#include "models/zerocopy/link.h"

#include "models/base/platform.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* Useful GB/s of `requests` of one size on a platform, long enough for nothing else to count. */
static double rate(const char *name, int sectors, int lines, enum link_bound *bound)
{
    struct err err = {""};
    struct platform *platform = platform_load(name, &err);
    ck_assert_msg(platform != NULL, "%s", err.msg);
    struct link_launch l = {.mix = {.host_lines = (uint64_t)lines * 100000000}};
    l.mix.by_size[sectors - 1] = 100000000;
    double ns = link_time_ns(platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), &l, bound);
    platform_free(platform);
    return (double)mix_payload(&l.mix) / ns;
}

/* Dissertation, figure 2.5: strided 4.74 to 4.77, aligned 12.23 GB/s. H200: measured 2026-11. */
START_TEST(toy_bandwidths_are_the_published_and_measured_ones)
{
    enum link_bound bound;
    ck_assert_double_eq_tol(rate("v100", 1, 1, &bound), 4.75, 0.05);
    ck_assert_int_eq(bound, LINK_TAGS);
    ck_assert_double_eq_tol(rate("v100", 4, 2, &bound), 12.23, 0.1);
    ck_assert_int_eq(bound, LINK_WIRE);
    ck_assert_double_eq_tol(rate("h200", 4, 2, &bound), 50.5, 0.8);
    ck_assert_double_eq_tol(rate("h200", 2, 1, &bound), 42.9, 1.5);
}
END_TEST

START_TEST(block_copies_have_the_measured_curve)
{
    static const struct {
        double bytes, ns;
    } measured[] = {{4096, 2605}, {65536, 3810}, {262144, 7584}, {1048576, 22167}, {67108864, 1213068}};
    struct platform *platform = platform_load("h200", NULL);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double ns = link_copy_ns(platform_section_get(platform, "pcie"), measured[i].bytes, 1);
        ck_assert_double_eq_tol(ns / measured[i].ns, 1, 0.05);
    }
    platform_free(platform);
}
END_TEST

/* Multiprocessors of 32 warps, one 128 B load each at a time: GB/s, measured on an H200, 2026-11. */
START_TEST(few_multiprocessors_are_bound_by_their_warps)
{
    static const struct {
        double sms, rate;
    } measured[] = {{1, 3.113}, {4, 11.926}, {8, 23.249}, {16, 40.436}, {24, 49.675}, {132, 49.286}};
    struct platform *platform = platform_load("h200", NULL);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct link_launch l = {
            .mix = {{0, 0, 0, 4194304}, 8388608}, .loads = 4194304, .resident_warps = 32 * measured[i].sms};
        enum link_bound bound;
        double ns =
            link_time_ns(platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), &l, &bound);
        ck_assert_double_eq_tol(536870912 / ns / measured[i].rate, 1, 0.08);
    }
    platform_free(platform);
}
END_TEST

START_TEST(wire_bytes_are_what_counters_see)
{
    const struct request_mix mix = {{0, 0, 0, 524288}, 1048576};
    ck_assert_uint_eq(link_up_bytes(&mix), 16 * 524288);
    ck_assert_uint_eq(link_down_bytes(&mix), 140 * 524288);
}
END_TEST

/* A translation cache of 64 pages that throws out any of them, and reads that jump about in more: it misses as often as
 * the link's formula has it, after the first of each page. */
START_TEST(walks_are_the_misses_of_a_cache_that_forgets_at_random)
{
    enum { PAGES = 64, READS = 400000 };
    for (uint64_t span = 32; span <= 1024; span *= 2) {
        uint64_t held[PAGES], random = 88172645463325252u, misses = 0;
        bool has[1024] = {false};
        size_t n = 0;
        for (int i = 0; i < READS; i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            uint64_t page = (random >> 20) % span;
            if (has[page])
                continue;
            misses++;
            size_t place = n < PAGES ? n++ : (random >> 50) % PAGES;
            if (misses > PAGES)
                has[held[place]] = false;
            held[place] = page;
            has[page] = true;
        }
        struct pcie p;
        struct gpu gpu;
        enum link_bound bound;
        param_defaults(pcie_params, &p);
        param_defaults(gpu_params, &gpu);
        p.walk_ns = 1000;
        p.reach_bytes = PAGES * 65536.0;
        struct link_launch l = {.mix = {.host_lines = READS}, .jumps = READS, .span = (double)span * 65536};
        double ns = link_time_ns(&p, &gpu, &l, &bound), first = (double)(span < PAGES ? span : PAGES);
        ck_assert_double_eq_tol(ns / 1000, (double)misses - first, 0.01 * READS);
    }
}
END_TEST

/* By hand: 1,000 loads of 4 lines by 10 warps: each waits 1,000 ns and 3 times 40. 1,000 jumps of 5 ns. */
START_TEST(further_requests_wait_for_the_first_and_jumps_add_to_host_memory)
{
    struct pcie p;
    struct gpu gpu;
    enum link_bound bound;
    param_defaults(pcie_params, &p);
    param_defaults(gpu_params, &gpu);
    p.load_ns = 1000;
    p.further_ns = 40;
    p.efficiency = 1;
    p.gigatransfers = 128;
    p.lanes = 32;
    struct link_launch l = {
        .mix = {.by_size = {0, 0, 0, 4000}, .host_lines = 8000}, .loads = 1000, .resident_warps = 10};
    ck_assert_double_eq_tol(link_time_ns(&p, &gpu, &l, &bound), 112000, 10);
    ck_assert_int_eq(bound, LINK_ISSUE);
    l.jumps = 1000;
    l.loads = 0;
    p.jump_ns = 5000;
    ck_assert_double_eq_tol(link_time_ns(&p, &gpu, &l, &bound), 5e6, 10);
    ck_assert_int_eq(bound, LINK_HOST);
}
END_TEST

TEST_MAIN("link", toy_bandwidths_are_the_published_and_measured_ones, block_copies_have_the_measured_curve,
          few_multiprocessors_are_bound_by_their_warps, wire_bytes_are_what_counters_see,
          walks_are_the_misses_of_a_cache_that_forgets_at_random,
          further_requests_wait_for_the_first_and_jumps_add_to_host_memory)
