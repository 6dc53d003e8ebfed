#include "models/uvm/legacy.h"

#include <math.h>

#include "trace/base/testing.h"

/* Wilt 2017, both tables: KB, microseconds per launch. */
static const struct {
    int kb;
    double gm200, gp100;
} table[] = {
    {0, 47, 39},          {4, 105, 47.15},      {8, 104, 49.86},        {16, 115, 57.84},       {32, 134, 59.04},
    {64, 213, 64.73},     {128, 381, 79.08},    {256, 649, 98.41},      {512, 1247, 137.15},    {1024, 2221, 205.56},
    {2048, 4712, 391.91}, {4096, 8458, 745.81}, {8192, 17041, 1543.91}, {16384, 33992, 3114.83}};

static void check(const char *name, int column)
{
    struct platform *p = GIVES(platform_load(name, &err));
    const struct legacy_platform *hw = platform_section_get(p, "legacy");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].kb <= 64)
            continue;
        struct legacy_cost cost;
        legacy_launch(hw, table[i].kb / 4, LEGACY_WRITE, &cost);
        double measured = (column ? table[i].gp100 : table[i].gm200) * 1000;
        ck_assert_msg(fabs(cost.time_ns / measured - 1) <= 0.10, "%s, %d KB: %.0f ns, measured %.0f (%+.1f %%)", name,
                      table[i].kb, cost.time_ns, measured, 100 * (cost.time_ns / measured - 1));
    }
    platform_free(p);
}

START_TEST(every_row_beyond_64_kb_is_within_ten_percent_on_gm200)
{
    check("gm200", 0);
}
END_TEST

START_TEST(every_row_beyond_64_kb_is_within_ten_percent_on_gp100)
{
    check("gp100", 1);
}
END_TEST

static const struct legacy_platform hw = {.launch_ns = 1000,
                                          .present_ns = 100,
                                          .copy_in_bytes_per_s = 4.096e9,
                                          .fault_ns = 10000,
                                          .run_pages = 4,
                                          .copy_back_bytes_per_s = 4.096e9,
                                          .mapped_bytes_per_s = 4.096e9};

START_TEST(reads_copy_nothing_in_and_no_touch_copies_nothing)
{
    struct legacy_cost c;
    legacy_launch(&hw, 10, LEGACY_WRITE, &c);
    ck_assert_int_eq(c.faults, 3);
    ck_assert_double_eq(c.time_ns, 1000 + 100 + 10 * 1000 + 3 * 10000 + 10 * 1000);
    legacy_launch(&hw, 10, LEGACY_READ, &c);
    ck_assert_int_eq(c.h2d_bytes, 0);
    ck_assert_double_eq(c.time_ns, 1000 + 100 + 3 * 10000 + 10 * 1000);
    legacy_launch(&hw, 10, LEGACY_NONE, &c);
    ck_assert_double_eq(c.time_ns, 1100);
    legacy_launch(&hw, 0, LEGACY_WRITE, &c);
    ck_assert_double_eq(c.time_ns, 1000);
    legacy_mapped(&hw, 10 * 4096, &c);
    ck_assert_double_eq(c.time_ns, 1000 + 10 * 1000);
}
END_TEST

TEST_MAIN("legacy")
