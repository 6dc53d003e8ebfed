#include "trace/workloads/rodinia/parts/heartwall_phases.h"

#include "trace/base/testing.h"

/* Trips of the loops of all outputs. */
static uint64_t trips(int32_t template, int32_t area, bool mask)
{
    struct heartwall_shape shape = {template, area};
    int32_t c = template + area - 1;
    uint64_t n = 0;
    for (int32_t e = 0; e < c * c; e++) {
        struct heartwall_trips t = heartwall_trips(&shape, mask, e);
        ck_assert_int_gt(t.outer, 0);
        ck_assert_int_gt(t.inner, 0);
        n += (uint64_t)t.outer * (uint64_t)t.inner;
    }
    return n;
}

/* The header's example; n points convolved with m take n m trips in each direction. */
START_TEST(convolutions_take_a_trip_for_each_pair)
{
    ck_assert_uint_eq(trips(2, 3, false), 36);
    ck_assert_uint_eq(trips(51, 81, false), 51 * 51 * 81 * 81);
    ck_assert_uint_eq(trips(51, 81, true), 1285 * 1285);
}
END_TEST

/* The steps of the warps make all trips, once each, and the same barriers. */
START_TEST(steps_make_all_trips_and_as_many_barriers_in_each_warp)
{
    struct heartwall_shape shape = {11, 31};
    struct heartwall_program p;
    struct err err = {""};
    uint64_t made = 0, barriers[HEARTWALL_WARPS] = {0};
    ck_assert_int_eq(heartwall_program_init(&p, &shape, HW_TRACK, &err), 0);
    for (uint32_t w = 0; w < HEARTWALL_WARPS; w++)
        for (size_t i = 0; i < p.steps[w]; i++) {
            const struct heartwall_step *s = &p.step[w][i];
            if (p.phase[s->phase].kind == HW_CONVOLVE && !s->last)
                made += (unsigned)__builtin_popcount(s->active) * (uint64_t)s->turns;
            barriers[w] += s->active == 0;
        }
    ck_assert_uint_eq(made, 11 * 11 * 31 * 31);
    for (uint32_t w = 0; w < HEARTWALL_WARPS; w++)
        ck_assert_uint_eq(barriers[w], 34);
    heartwall_program_release(&p);
}
END_TEST

START_TEST(the_first_frame_only_cuts_templates)
{
    struct heartwall_shape shape = {51, 81};
    struct heartwall_program p;
    struct err err = {""};
    ck_assert_int_eq(heartwall_program_init(&p, &shape, HW_CUT, &err), 0);
    ck_assert_uint_eq(p.phases, 2);
    ck_assert_uint_eq(p.steps[0], 1 + 11); /* rounds of 256 for 2601 elements */
    ck_assert_uint_eq(p.steps[7], 10);
    heartwall_program_release(&p);
}
END_TEST

TEST_MAIN("heartwall_phases", convolutions_take_a_trip_for_each_pair,
          steps_make_all_trips_and_as_many_barriers_in_each_warp, the_first_frame_only_cuts_templates)
