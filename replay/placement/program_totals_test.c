#include "replay/placement/program_totals.h"

#include "replay/placement/program_testing.h"
#include "trace/base/testing.h"

START_TEST(the_hand_worked_program_counts_as_worked)
{
    struct hand h;
    struct err err = {""};
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    ck_assert_msg(program_totals_init(&t, &h.program, &gpu, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(t.launches, 3);
    ck_assert_uint_eq(t.kernels, 2);
    const struct launch_totals *k = &t.launch[0], *cpu = &t.launch[1], *last = &t.launch[2];
    ck_assert_uint_eq(k->touched_bytes, 4 * 4096);
    ck_assert_uint_eq(k->modified_bytes, 8192);
    ck_assert_uint_eq(k->touched, 3);
    ck_assert_uint_eq(k->modified, 2);
    ck_assert_uint_eq(k->loaded, 1);
    ck_assert_uint_eq(k->accesses, 4 * 16 * 3);
    ck_assert_uint_eq(k->instructions, 4 * 16 * 2);
    ck_assert_uint_eq(k->loads, 4 * 16 * 2);
    ck_assert_uint_eq(k->waits, 4 * 16);
    ck_assert_uint_eq(k->resident, 64);
    ck_assert_double_eq(k->warps, 2);
    /* A turn: 100 ns for its loads, three instructions of 1 ns. */
    ck_assert_double_eq_tol(k->ms, 16 * 103e-6, 1e-12);
    ck_assert(cpu->cpu);
    ck_assert_uint_eq(cpu->touched, 3);
    ck_assert_uint_eq(cpu->modified, 1);
    ck_assert_uint_eq(cpu->accesses + cpu->instructions + cpu->waits, 0);
    ck_assert_uint_eq(last->touched_bytes, 2 * 4096);
    ck_assert_uint_eq(last->modified_bytes, 128);
    ck_assert_double_eq_tol(last->ms, 103e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(warps_beyond_the_places_come_after_one_another)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    gpu.sms = 1;
    gpu.warps_per_sm = 2;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, NULL), 0);
    ck_assert_uint_eq(t.launch[0].resident, 1);
    ck_assert_double_eq(t.launch[0].warps, 2);
    ck_assert_double_eq_tol(t.launch[0].ms, 2 * 16 * 103e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(compute_ns_is_the_time_of_a_turn)
{
    struct hand h;
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    h.program.compute_ns = 700;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, NULL), 0);
    ck_assert_double_eq_tol(t.launch[0].ms, 16 * 700e-6, 1e-12);
    program_totals_release(&t);
}
END_TEST

START_TEST(what_fits_nowhere_is_refused)
{
    struct hand h;
    struct err err = {""};
    struct program_totals t;
    struct gpu gpu = hand_gpu();
    hand_make(&h);
    gpu.warps_per_sm = 1;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, &err), -1);
    ck_assert_msg(strstr(err.msg, "does not fit") != NULL, "%s", err.msg);
    program_totals_release(&t);
    hand_make(&h);
    h.allocs[0].device = h.allocs[1].device = true;
    ck_assert_int_eq(program_totals_init(&t, &h.program, &gpu, &err), -1);
    ck_assert_msg(strstr(err.msg, "managed") != NULL, "%s", err.msg);
    program_totals_release(&t);
}
END_TEST

TEST_MAIN("program_totals", the_hand_worked_program_counts_as_worked, warps_beyond_the_places_come_after_one_another,
          compute_ns_is_the_time_of_a_turn, what_fits_nowhere_is_refused)
