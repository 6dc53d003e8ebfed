/* What the program draws or lists when it is opened: its own functions, by including it. */
#include "trace/workloads/rodinia/rodinia_heartwall.c"

#include "trace/workloads/rodinia/check_testing.h"

static struct heartwall *opened(int64_t template, int64_t area)
{
    struct err err = {""};
    struct heartwall *h = heartwall_open(
        &(struct heartwall){.frames = 1, .template = template, .area = area, .points = 2, .video = 1}, &err);
    ck_assert_msg(h != NULL, "%s", err.msg);
    return h;
}

/* Trips of the loops of all outputs. */
static uint64_t trips(int32_t template, int32_t area, bool mask)
{
    int32_t c = template + area - 1;
    uint64_t n = 0;
    for (int32_t e = 0; e < c * c; e++) {
        struct trips t = trips_of(template, area, mask, e);
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
    struct heartwall *h = opened(11, 31);
    const struct part *p = &h->part[TRACK];
    uint64_t made = 0, barriers[WARPS] = {0};
    for (uint32_t w = 0; w < WARPS; w++)
        for (size_t i = 0; i < p->steps[w]; i++) {
            const struct step *s = &p->step[w][i];
            if (p->phase[s->phase].kind == CONVOLVE && !s->last)
                made += (unsigned)__builtin_popcount(s->active) * (uint64_t)s->turns;
            barriers[w] += s->active == 0;
        }
    ck_assert_uint_eq(made, 11 * 11 * 31 * 31);
    for (uint32_t w = 0; w < WARPS; w++)
        ck_assert_uint_eq(barriers[w], 34);
    heartwall_close(h);
}
END_TEST

START_TEST(the_first_frame_only_cuts_templates)
{
    struct heartwall *h = opened(51, 81);
    const struct part *p = &h->part[CUT];
    ck_assert_uint_eq(p->phases, 2);
    ck_assert_uint_eq(p->steps[0], 1 + 11); /* rounds of 256 for 2601 elements */
    ck_assert_uint_eq(p->steps[7], 10);
    heartwall_close(h);
}
END_TEST

START_TEST(both_loads_of_an_element_come_first_only_if_hoisted)
{
    struct heartwall *h = opened(3, 5);
    const struct part *p = &h->part[TRACK];
    uint32_t ptx, hoisted, i = 0;
    while (p->phase[p->step[0][i].phase].source[1] == NONE) /* the first difference */
        i++;
    heartwall_close(h);
    ck_assert_uint_eq(stalls_of("rodinia-heartwall,template=3,area=5", 1, 0, i, &ptx), 1 << 1 | 1 << 2);
    ck_assert_uint_eq(stalls_of("rodinia-heartwall,template=3,area=5,order=hoisted", 1, 0, i, &hoisted), 1 << 2);
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

TEST_MAIN("rodinia_heartwall_steps")
