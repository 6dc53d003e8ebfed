#include "models/dram/energy.h"

#include "models/base/platform.h"
#include "models/dram/dram_platform.h"
#include "trace/base/testing.h"

static const struct dram_energy_counts counts = {.activates = 1000, .columns = 20000, .cycles = 9330000};

/* TX2, LPDDR4: 1,000 x 1,205 pJ; 20,000 x 256 bits of 5.0 to 8.5 pJ; eight channels for 5 ms: 33.3 to 37.1 mW each, and
 * every 7,288 cycles a refresh of 22.4 nJ. */
START_TEST(energy_is_counts_times_figures)
{
    struct err err = {""};
    struct platform *p = platform_load("tx2", &err);
    double low, high;
    ck_assert_msg(p != NULL, "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    const double seconds = 9330000 / 1866e6, refresh = 8 * 9330000.0 / 7288 * 22.4e-9;
    ck_assert_double_eq_tol(seconds, 0.005, 1e-12);
    ck_assert_double_eq_tol(low, 1.205e-6 + 20000 * 256 * 5.0e-12 + refresh + 8 * seconds * 0.0333, 1e-12);
    ck_assert_double_eq_tol(high, 1.205e-6 + 20000 * 256 * 8.5e-12 + refresh + 8 * seconds * 0.0371, 1e-12);
    platform_free(p);
}
END_TEST

START_TEST(a_figure_that_is_set_has_no_range)
{
    struct err err = {""};
    struct platform *p = platform_load("titanv", &err);
    double low, high;
    ck_assert_msg(p != NULL, "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    ck_assert_double_lt(low, high);
    static const char *const set[][2] = {
        {"act_pj", "1000"}, {"bit_pj", "2"}, {"refresh_nj", "50"}, {"background_mw", "10"}, {"refresh", "none"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        ck_assert_msg(!platform_set(p, set[i][0], set[i][1], NULL, &err), "%s", err.msg);
    ck_assert(dram_energy(p, &counts, &low, &high));
    ck_assert_double_eq(low, high);
    ck_assert_double_eq_tol(low, 1e-6 + 20000 * 256 * 2e-12 + 48 * 9330000 / 850e6 * 0.010, 1e-12);
    platform_free(p);
}
END_TEST

START_TEST(without_figures_there_is_no_energy)
{
    static const char *const names[] = {"gv100", "h100", "t4", "orin"};
    for (size_t i = 0; i < 4; i++) {
        struct err err = {""};
        struct platform *p = platform_load(names[i], &err);
        double low, high;
        ck_assert_msg(p != NULL, "%s", err.msg);
        ck_assert_msg(!dram_energy(p, &counts, &low, &high), "%s", names[i]);
        platform_free(p);
    }
}
END_TEST

TEST_MAIN("energy", energy_is_counts_times_figures, a_figure_that_is_set_has_no_range,
          without_figures_there_is_no_energy)
