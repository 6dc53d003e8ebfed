#include "models/zerocopy/l1.h"

#include "models/base/platform.h"
#include "trace/base/testing.h"

/* H200, 2026-11: chunks of 32 4-byte elements, blocks of 256 threads. */
START_TEST(l1_refetches_are_the_measured_ones)
{
    struct platform *platform = platform_load("h200", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct l1_kernel k = {.blocks = 2048, .warps = 8, .lines_per_warp = 32, .sector_loads = 8};
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1.547, 0.03);
    k.blocks = 16384;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1.323, 0.03);
    k.blocks_per_sm = 4;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 3.7, 0.2);
    k.blocks_per_sm = 0;
    k.lines_per_warp = 16;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1, 0.1);
    platform_free(platform);
}
END_TEST

/* The last wave's places that stay empty change nothing: what comes with the first wave is all of a small launch. */
START_TEST(launches_of_as_many_blocks_a_multiprocessor_fetch_alike)
{
    struct platform *platform = platform_load("h200", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    double before = 0;
    for (int per_sm = 1; per_sm <= 8; per_sm++) {
        struct l1_kernel k = {.warps = 8, .lines_per_warp = 32, .sector_loads = 8};
        k.blocks = (double)gpu->sms * per_sm;
        const double full = l1_fetches(p, gpu, &k);
        k.blocks = (double)gpu->sms * (per_sm - 1) + 1;
        ck_assert_double_eq(l1_fetches(p, gpu, &k), full);
        ck_assert_double_ge(full, before);
        before = full;
    }
    ck_assert_double_gt(before, 1);
    platform_free(platform);
}
END_TEST

TEST_MAIN("zerocopy/l1", l1_refetches_are_the_measured_ones, launches_of_as_many_blocks_a_multiprocessor_fetch_alike)
