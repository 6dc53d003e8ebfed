#include "models/placement/overhead.c"

#include "trace/base/testing.h"

static const struct placement_platform hw = {.l_hd = 1e-7,
                                             .l_dh = 2e-7,
                                             .l_mapping = 1e-8,
                                             .l_ini = 5e-8,
                                             .l_l2 = 1e-5,
                                             .l_mem = 4e-5,
                                             .t_ini = 0.01,
                                             .c_cpu = 0.2,
                                             .c_gpu = 0.1,
                                             .max_parallelism = 32};
static const struct placement_inputs in = {.bytes_hd = 4e6,
                                           .bytes_dh = 2e6,
                                           .copies = 3,
                                           .kernels = 10,
                                           .dirty_kernels = 2,
                                           .mapped_bytes = 50e6,
                                           .dirty_mapped_bytes = 10e6,
                                           .l2_instructions = 1e4,
                                           .l2_hit_ratio = 0.5,
                                           .parallelism = 40};

static const struct placement_misses printed = {PLACEMENT_PRINTED, 0}, physical = {PLACEMENT_PHYSICAL, 0};

START_TEST(equation_2_copies_and_their_start_up)
{
    /* 3 x 0.01 + (2e-7 + 5e-8) x 2e6 + 1e-7 x 4e6 */
    ck_assert_double_eq_tol(overhead_device(&in, &hw), 0.03 + 0.5 + 0.4, 1e-12);
}
END_TEST

START_TEST(equations_3_4_5_mapping_and_flushes)
{
    /* 10e6 x 1e-8 + 2 x 0.2;  worst case 10 x 0.1 */
    ck_assert_double_eq_tol(overhead_launch(&in, &hw), 0.1 + 0.4, 1e-12);
    ck_assert_double_eq_tol(overhead_synchronise(&in, &hw), 1.0, 1e-12);
    ck_assert_double_eq_tol(overhead_managed(&in, &hw), 1.5, 1e-12);
}
END_TEST

START_TEST(equations_6_7_8_both_readings_of_the_penalty)
{
    /* parallelism 40 >= 32: printed pays 3e-5 for 0.5 x 1e4 accesses, physical hides it */
    ck_assert_double_eq_tol(overhead_penalty(&in, &hw, printed), 3e-5, 1e-15);
    ck_assert_double_eq(overhead_penalty(&in, &hw, physical), 0);
    ck_assert_double_eq_tol(overhead_cache(&in, &hw, printed), 0.15, 1e-12);
    ck_assert_double_eq_tol(overhead_pinned(&in, &hw, printed), 0.15 + 0.5, 1e-12);
    ck_assert_double_eq_tol(overhead_pinned(&in, &hw, physical), 0.5, 1e-12);
    struct placement_inputs narrow = in;
    narrow.parallelism = 31;
    ck_assert_double_eq(overhead_penalty(&narrow, &hw, printed), 0);
    ck_assert_double_eq_tol(overhead_penalty(&narrow, &hw, physical), 3e-5, 1e-15);
    narrow.parallelism = 32; /* as many as hide it */
    ck_assert_double_eq_tol(overhead_penalty(&narrow, &hw, printed), 3e-5, 1e-15);
    ck_assert_double_eq(overhead_penalty(&narrow, &hw, physical), 0);
}
END_TEST

START_TEST(where_pages_come_by_faults_their_time_stands_for_equation_5)
{
    struct placement_inputs paged = in;
    struct placement_overheads o;
    paged.faults = true;
    paged.managed_ms = 0.7;
    placement_overheads(&paged, &hw, printed, &o);
    ck_assert_double_eq(o.ms[PLACEMENT_MANAGED], 0.7);
    ck_assert_double_eq(o.idle_ms, 0);
    ck_assert_double_eq_tol(o.margin_managed, o.ms[PLACEMENT_DEVICE] - 0.7, 1e-12);
}
END_TEST

START_TEST(misses_in_flight_share_their_latency)
{
    /* 3e-5 for each of 0.5 x 1e4 accesses; 32 of 40 in flight on each of 2 multiprocessors: a 64th of 0.15 ms */
    const struct placement_misses two = {PLACEMENT_IN_FLIGHT, 2};
    ck_assert_double_eq_tol(overhead_cache(&in, &hw, two), 0.15 / 64, 1e-15);
    struct placement_inputs narrow = in;
    narrow.parallelism = 8; /* below the peak's: fewer in flight, dearer */
    ck_assert_double_eq_tol(overhead_cache(&narrow, &hw, two), 0.15 / 16, 1e-15);
    narrow.parallelism = 0.5; /* at least one: the literal equation is the upper end */
    ck_assert_double_eq_tol(overhead_cache(&narrow, &hw, (struct placement_misses){PLACEMENT_IN_FLIGHT, 1}), 0.15,
                            1e-15);
}
END_TEST

/* One kernel, its pages mapped and both caches flushed once: O_M - O_D <= I - C_cpu - C_gpu
 * <=> I + C_cpu + C_gpu - O_D <= I - C_cpu - C_gpu <=> O_D >= 2 (C_cpu + C_gpu) = 0.6. */
START_TEST(guideline_9_from_both_sides_of_its_boundary)
{
    struct placement_inputs one = {
        .copies = 1, .kernels = 1, .dirty_kernels = 1, .mapped_bytes = 1e6, .dirty_mapped_bytes = 1e6};
    struct placement_platform h = hw;
    struct placement_overheads o;
    h.l_mem = 1; /* a pinned run would be far worse */
    one.l2_instructions = 100;
    one.l2_hit_ratio = 1;
    one.parallelism = 100;
    h.t_ini = 0.6 + 1e-9;
    placement_overheads(&one, &h, printed, &o);
    ck_assert(o.margin_managed > 0);
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_MANAGED);
    h.t_ini = 0.6 - 1e-9;
    placement_overheads(&one, &h, printed, &o);
    ck_assert(o.margin_managed < 0);
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_DEVICE);
}
END_TEST

/* O_H - O_D <= I - T_c <=> T_c + I - O_D <= I - T_c <=> O_D >= 2 T_c. */
START_TEST(guideline_10_from_both_sides_of_its_boundary)
{
    struct placement_inputs one = {.copies = 1,
                                   .kernels = 9,
                                   .dirty_kernels = 9,
                                   .mapped_bytes = 1e6,
                                   .dirty_mapped_bytes = 1e6,
                                   .l2_instructions = 1e4,
                                   .l2_hit_ratio = 0.5,
                                   .parallelism = 40};
    struct placement_platform h = hw;
    struct placement_overheads o;
    h.t_ini = 2 * 0.15 + 1e-9;
    placement_overheads(&one, &h, printed, &o);
    ck_assert(o.margin_pinned > 0);
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_PINNED);
    h.t_ini = 2 * 0.15 - 1e-9;
    placement_overheads(&one, &h, printed, &o);
    ck_assert(o.margin_pinned < 0);
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_DEVICE);
}
END_TEST

START_TEST(where_both_hold_the_smaller_overhead_wins)
{
    struct placement_overheads o = {.ms = {9, 2, 3}, .margin_managed = 1, .margin_pinned = 1};
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_MANAGED);
    o.ms[PLACEMENT_PINNED] = 1;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_PINNED);
}
END_TEST

START_TEST(a_margin_of_nothing_is_enough)
{
    struct placement_overheads o = {.ms = {9, 2, 3}, .margin_managed = 0, .margin_pinned = -1};
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_MANAGED);
    o.margin_managed = -1;
    o.margin_pinned = 0;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_PINNED);
    o.margin_managed = 0;
    o.ms[PLACEMENT_PINNED] = 2;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_MANAGED); /* alike: the first */
}
END_TEST

START_TEST(what_the_cpu_loses_stands_against_pinned_memory)
{
    struct placement_platform uncached = hw;
    uncached.l_uncached_write = 1e-9;
    uncached.l_uncached_read = 3e-9;
    struct placement_overheads o;
    placement_overheads(&in, &uncached, physical, &o);
    ck_assert_double_eq_tol(o.host_ms, 1e-9 * 4e6 + 3e-9 * 2e6, 1e-15);
    ck_assert_double_eq_tol(o.ms[PLACEMENT_PINNED], 0.5, 1e-12); /* equation 8 is as it was */
    o = (struct placement_overheads){.ms = {5, 1, 0.9}, .host_ms = 0.05, .margin_managed = 1, .margin_pinned = 1};
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_PINNED);
    o.host_ms = 0.2;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_MANAGED);
    o.margin_managed = -1;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_PINNED);
    o.host_ms = 1.1;
    ck_assert_int_eq(guideline_1(&o), PLACEMENT_DEVICE);
}
END_TEST

START_TEST(guideline_11_counts_the_sets_of_table_iv)
{
    ck_assert(guideline_2(859, 1024)); /* TX2: all but Gaussian managed */
    ck_assert(guideline_2(27, 1856));  /* AGX */
    ck_assert(!guideline_2(180, 0));   /* the drone: the source's own exception */
    ck_assert(guideline_2(4, 4));
}
END_TEST

TEST_MAIN("overhead")
