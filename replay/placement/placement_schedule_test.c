#include "replay/placement/placement_schedule.h"

#include <math.h>

#include "trace/base/testing.h"

START_TEST(a_device_kernel_hides_in_the_idle_period_of_a_managed_one)
{
    /* device: copies 2 + 1, 4 kernels of 1 ms; managed: 2 kernels, each 2.5 idle + 1 flush + 3 exec.
     * Two device kernels fit in each idle period: all 4 ms are hidden. 7 + 13 - 4 = 16. */
    const struct schedule_task t[2] = {
        {.placement = PLACEMENT_DEVICE, .kernels = 4, .exec_ms = 4, .copy_in_ms = 2, .copy_out_ms = 1, .bytes = 20},
        {.placement = PLACEMENT_MANAGED, .kernels = 2, .exec_ms = 6, .idle_ms = 5, .flush_ms = 2, .bytes = 10}};
    struct schedule s;
    ck_assert_double_eq(schedule_overlap_ms(&t[0], &t[1]), 4);
    ck_assert_double_eq(schedule_overlap_ms(&t[1], &t[0]), 4);
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL), 0);
    ck_assert_double_eq(s.end_ms, 16);
    ck_assert_double_eq(s.busy_ms, 10);
    ck_assert_double_eq(s.peak_bytes, 30);
    ck_assert_uint_eq(s.pairs, 1);
    ck_assert_double_eq(s.slots[1].finish_ms, 15);
    schedule_release(&s);
    ck_assert_int_eq(schedule_run(&s, t, 2, false, NULL), 0);
    ck_assert_double_eq(s.end_ms, 20);
    ck_assert_double_eq(s.peak_bytes, 20);
    schedule_release(&s);
}
END_TEST

START_TEST(what_does_not_fit_or_may_not_pair_runs_alone)
{
    struct schedule_task d = {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 3};
    struct schedule_task m = {
        .placement = PLACEMENT_MANAGED, .kernels = 1, .exec_ms = 1, .idle_ms = 2.9, .flush_ms = 5};
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 0); /* flushes are no room */
    m.idle_ms = 3;
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 3);
    ck_assert_double_eq(schedule_overlap_ms(&m, &m), 0);
    ck_assert_double_eq(schedule_overlap_ms(&d, &d), 0);
    m.placement = PLACEMENT_PINNED;
    ck_assert_double_eq(schedule_overlap_ms(&d, &m), 0);
}
END_TEST

START_TEST(late_tasks_wait_for_their_arrival)
{
    const struct schedule_task t[2] = {{.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 1, .arrival_ms = 10},
                                       {.placement = PLACEMENT_DEVICE, .kernels = 1, .exec_ms = 5}};
    struct schedule s;
    ck_assert_int_eq(schedule_run(&s, t, 2, true, NULL), 0);
    ck_assert_double_eq(s.slots[1].start_ms, 0);
    ck_assert_double_eq(s.slots[0].start_ms, 10);
    ck_assert_double_eq(s.end_ms, 11);
    schedule_release(&s);
}
END_TEST

static uint64_t state = 1;
static double any(double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return hi * (double)(state >> 40) / 0x1p24;
}

START_TEST(random_sets_a_corun_is_never_slower_and_pairs_are_legal)
{
    for (int round = 0; round < 2000; round++) {
        struct schedule_task t[12];
        size_t n = 1 + (size_t)any(11.99);
        for (size_t i = 0; i < n; i++) {
            t[i] = (struct schedule_task){.placement = (enum placement)(int)any(2.99),
                                          .kernels = 1 + floor(any(9)),
                                          .exec_ms = any(5),
                                          .bytes = any(100)};
            if (t[i].placement == PLACEMENT_DEVICE) {
                t[i].copy_in_ms = any(3);
                t[i].copy_out_ms = any(2);
            } else {
                t[i].idle_ms = any(20);
                t[i].flush_ms = t[i].placement == PLACEMENT_MANAGED ? any(2) : 0;
            }
        }
        struct schedule serial, corun;
        ck_assert_int_eq(schedule_run(&serial, t, n, false, NULL), 0);
        ck_assert_int_eq(schedule_run(&corun, t, n, true, NULL), 0);
        ck_assert_double_le(corun.end_ms, serial.end_ms + 1e-9);
        double sum = 0, saved = 0;
        for (size_t i = 0; i < n; i++) {
            sum += schedule_alone_ms(&t[i]);
            int p = corun.slots[i].partner;
            if (p < 0)
                continue;
            ck_assert_int_eq(corun.slots[p].partner, (int)i);
            ck_assert((t[i].placement == PLACEMENT_DEVICE && t[p].placement == PLACEMENT_MANAGED) ||
                      (t[i].placement == PLACEMENT_MANAGED && t[p].placement == PLACEMENT_DEVICE));
            saved += corun.slots[i].overlap_ms / 2;
            /* Only mapping is overlapped. */
            size_t m = t[i].placement == PLACEMENT_MANAGED ? i : (size_t)p;
            ck_assert_double_le(corun.slots[i].overlap_ms, t[m].idle_ms + 1e-9);
        }
        ck_assert_double_eq_tol(corun.end_ms, sum - saved, 1e-9);
        schedule_release(&serial);
        schedule_release(&corun);
    }
}
END_TEST

TEST_MAIN("placement_schedule", a_device_kernel_hides_in_the_idle_period_of_a_managed_one,
          what_does_not_fit_or_may_not_pair_runs_alone, late_tasks_wait_for_their_arrival,
          random_sets_a_corun_is_never_slower_and_pairs_are_legal)
