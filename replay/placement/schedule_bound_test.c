#include "replay/placement/schedule_bound.h"

#include "replay/placement/schedule_testing.h"
#include "trace/base/testing.h"

START_TEST(the_worked_example)
{
    const struct schedule_task forms[PLACEMENTS] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 5, .copy_in_ms = 4},
        {.placement = PLACEMENT_MANAGED, .kernels = 1, .mappings = 1, .exec_ms = 5, .idle_ms = 1, .flush_ms = 2}};
    double bound = schedule_bound_ms(forms, 1);
    ck_assert_double_le(bound, 22.0 / 3);
    ck_assert_double_ge(bound, 22.0 / 3 - 5.0 / 64);
}
END_TEST

START_TEST(random_sets_it_is_never_above_the_best_of_all_placements_and_orders)
{
    double least = 1, sum = 0;
    enum { ROUNDS = 300 };
    for (int round = 0; round < ROUNDS; round++) {
        struct schedule_task forms[3 * PLACEMENTS];
        size_t n = 1 + (size_t)schedule_any(2.99);
        for (size_t i = 0; i < n; i++)
            schedule_any_forms(&forms[PLACEMENTS * i], 2);
        double best = schedule_best_of_all_ms(forms, n), bound = schedule_bound_ms(forms, n);
        ck_assert_double_le(bound, best + 1e-9);
        least = fmin(least, bound / best);
        sum += bound / best;
    }
    printf("bound / optimum: mean %.3f, least %.3f\n", sum / ROUNDS, least);
    ck_assert_double_gt(sum / ROUNDS, 0.9);
}
END_TEST

TEST_MAIN("schedule_bound", the_worked_example, random_sets_it_is_never_above_the_best_of_all_placements_and_orders)
