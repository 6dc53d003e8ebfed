#include "replay/placement/placement_draws_testing.h"

#include <math.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/placement/placement_tasks.h"
#include "trace/base/testing.h"

/* No L2 figures, so nobody is pinned; one task, so nothing overlaps. Its margin lies inside tx2's ranges. */
static const char one[] = "[a]\nbytes_hd = 32MiB\ncopies = 2\nkernels = 200\ndirty_kernels = 1\ndirty_bytes = 32MiB\n"
                          "compute_ms = 5\nwait_ms = 0\n";

static const char *written(const char *text)
{
    return testing_write("draws.ini", text, strlen(text));
}

/* Each draw by hand: the same platforms, equations (2), (5) and (9). */
START_TEST(changes_are_those_of_the_equations_on_each_drawn_platform)
{
    enum { DRAWS = 40 };
    struct platform *tx2 = GIVES(platform_load("tx2", &err));
    struct placement_draws d;
    WORKS(placement_draws_run(&d, tx2, written(one), DRAWS, 1, 0, &err));
    double least = INFINITY, most = -INFINITY, mib = 0x1p20;
    uint32_t below = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct platform *p = GIVES(platform_draw(tx2, 1, i, DRAWS, &err));
        const struct placement_platform *hw = platform_section_get(p, "placement");
        double device = 2 * hw->t_ini + 32 * mib * hw->l_hd, map = 32 * mib * hw->l_mapping;
        double managed = map + hw->c_cpu + 200 * hw->c_gpu;
        bool moves = managed - device <= map - hw->c_cpu - hw->c_gpu;
        double x = 100 * ((5 + (moves ? managed : device)) / (5 + device) - 1);
        least = fmin(least, x);
        most = fmax(most, x);
        below += x < 0;
        platform_free(p);
    }
    ck_assert_uint_gt(below, 0);
    ck_assert_uint_lt(below, DRAWS);
    for (int corun = 0; corun < 2; corun++) {
        const struct placement_change *c = &d.change[corun][PLACEMENT_OVER_DEVICE];
        ck_assert_double_eq_tol(c->least, least, 1e-9);
        ck_assert_double_eq_tol(c->most, most, 1e-9);
        ck_assert_uint_eq(c->below, below);
    }
    ck_assert_double_gt(d.spread[PLACEMENT_DEVICE].mean, 0.01);
    ck_assert_double_eq(d.spread[PLACEMENT_DEVICE].mean, d.spread[PLACEMENT_DEVICE].worst);
    ck_assert_double_eq(d.spread[PLACEMENT_PINNED].mean, 0);
    platform_free(tx2);
}
END_TEST

/* A program's own numbers move with the drawn GPU; those of a task that states all of them do not. */
START_TEST(programs_are_run_anew_on_each_drawn_gpu)
{
    struct err err = {""};
    struct platform *tx2 = platform_load("tx2", &err);
    static const char *const keys[] = {"l_hd",  "l_dh",  "l_mapping", "l_ini", "l_l2",
                                       "l_mem", "t_ini", "c_cpu",     "c_gpu", "max_parallelism"};
    struct placement_draws d;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) { /* what --set gives is not drawn: only [gpu] is left */
        ck_assert_int_ge(platform_set(tx2, testing_text("placement.%s", keys[i]), i < 7 ? "1e-5" : "0.01", NULL, &err),
                         0);
    }
    ck_assert_msg(placement_draws_run(&d, tx2, written(one), 4, 1, 0, &err) == 0, "%s", err.msg);
    ck_assert_double_eq(d.change[1][PLACEMENT_OVER_DEVICE].least, d.change[1][PLACEMENT_OVER_DEVICE].most);
    ck_assert_msg(placement_draws_run(&d, tx2, written("[a]\nprogram = triad,bytes=1MiB\n"), 4, 1, 0, &err) == 0, "%s",
                  err.msg);
    ck_assert_double_lt(d.change[1][PLACEMENT_OVER_DEVICE].least, d.change[1][PLACEMENT_OVER_DEVICE].most);
    platform_free(tx2);
    struct platform *titanv = platform_load("titanv", &err);
    ck_assert_int_eq(placement_draws_run(&d, titanv, written(one), 4, 1, 0, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "titanv"));
    platform_free(titanv);
}
END_TEST

/* A task's error is that of its whole time, computing and copies; each task counts once, the worst is said. */
START_TEST(spreads_are_geometric_means_of_what_each_task_errs_by)
{
    enum { DRAWS = 12 };
    struct platform *tx2 = GIVES(platform_load("tx2", &err));
    const struct placement_platform *stated = platform_section_get(tx2, "placement");
    const double mib = 0x1p20, bytes[2] = {32 * mib, 2 * mib}, compute[2] = {5, 40};
    struct placement_draws d;
    WORKS(placement_draws_run(&d, tx2,
                              written("[a]\nbytes_hd = 32MiB\ncopies = 2\nkernels = 200\ncompute_ms = 5\n"
                                      "[b]\nbytes_hd = 2MiB\ncopies = 2\nkernels = 200\ncompute_ms = 40\n"),
                              DRAWS, 1, 0, &err));
    double of_task[2] = {0, 0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        struct platform *p = GIVES(platform_draw(tx2, 1, i, DRAWS, &err));
        const struct placement_platform *hw = platform_section_get(p, "placement");
        for (int t = 0; t < 2; t++) {
            double was = compute[t] + 2 * stated->t_ini + bytes[t] * stated->l_hd;
            double is = compute[t] + 2 * hw->t_ini + bytes[t] * hw->l_hd;
            of_task[t] += log(fmax(fabs(is / was - 1), 1e-4)) / DRAWS;
        }
        platform_free(p);
    }
    ck_assert_double_gt(fabs(of_task[0] - of_task[1]), 0.1);
    ck_assert_double_eq_tol(d.spread[PLACEMENT_DEVICE].mean, 100 * exp((of_task[0] + of_task[1]) / 2), 1e-9);
    ck_assert_double_eq_tol(d.spread[PLACEMENT_DEVICE].worst, 100 * exp(fmax(of_task[0], of_task[1])), 1e-9);
    platform_free(tx2);
}
END_TEST

TEST_MAIN("placement_draws")
