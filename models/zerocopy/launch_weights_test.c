#include "models/zerocopy/launch_weights.h"

#include "models/gpu/sms_testing.h"

static struct err err;

static int one_load(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    program_load(body, &p->alloc, 0, warp * 4096, 4);
    return 1;
}

START_TEST(what_threads_counted_of_a_launch_is_known_for_its_program)
{
    static struct launch_weight w;
    struct hand_program p, q;
    struct program program = hand_program(&p, 4, 32, one_load), other = hand_program(&q, 4, 32, one_load);
    struct launch_weights *all = launch_weights_open(&program, 3, &err);
    struct launch_tally *t = launch_weights_tally(all, &err);
    struct program_body body;
    ck_assert(!launch_weights_get(all, 0, 3, &p.alloc, &w));
    for (uint64_t warp = 0; warp < 4; warp++) {
        launch_tally_begin(t, 1);
        ck_assert_int_eq(program_body(&program, &p, 0, warp, 0, &body, &err), 1);
        launch_tally_body(t, warp, &body);
        launch_tally_end(t, warp);
        launch_weights_add(all, 0, t);
    }
    ck_assert(launch_weights_get(all, 0, 3, &p.alloc, &w));
    ck_assert_uint_eq(w.lines, 4);
    ck_assert_uint_eq(w.of_sm[0], 2);
    ck_assert(!launch_weights_get(all, 0, 4, &p.alloc, &w)); /* on another GPU */
    ck_assert(launch_weights_are_of(all, &program));
    ck_assert(!launch_weights_are_of(all, &other));
    ck_assert(!launch_weights_are_of(NULL, &program));
    launch_tally_free(t);
    launch_weights_close(all);
    launch_weights_close(NULL);
}
END_TEST

/* Names, launches and GPUs are told apart; the first weight of a launch stays. */
START_TEST(what_somebody_went_over_is_kept_by_name)
{
    static struct launch_weight w, got;
    static const char *const names[] = {"merged", "aligned"};
    struct hand_program p;
    struct program program = hand_program(&p, 4, 32, one_load);
    struct launch_weights *all = launch_weights_open(&program, 3, &err);
    ck_assert(!launch_weights_kept(all, "merged", 0, 3, &got));
    for (uint32_t launch = 0; launch < 500; launch += 7)
        for (int n = 0; n < 2; n++) {
            w = (struct launch_weight){.loads = launch + 1, .lines = (uint64_t)n, .heaviest = 9};
            launch_weights_keep(all, names[n], launch, 3, &w);
            w.loads = 0;
            launch_weights_keep(all, names[n], launch, 3, &w);
            launch_weights_keep(all, names[n], launch + 1, 4, &w); /* another GPU */
        }
    for (uint32_t launch = 0; launch < 600; launch++)
        for (int n = 0; n < 2; n++) {
            const bool there = launch < 500 && launch % 7 == 0;
            ck_assert(launch_weights_kept(all, names[n], launch, 3, &got) == there);
            ck_assert(!there || (got.loads == launch + 1 && got.lines == (uint64_t)n && got.heaviest == 9));
            ck_assert(!launch_weights_kept(all, names[n], launch, 4, &got));
        }
    launch_weights_keep(all, "a name that is longer than any pattern has", 0, 3, &w);
    ck_assert(!launch_weights_kept(all, "a name that is longer than any pattern has", 0, 3, &got));
    launch_weights_close(all);
}
END_TEST

TEST_MAIN("launch_weights", what_threads_counted_of_a_launch_is_known_for_its_program,
          what_somebody_went_over_is_kept_by_name)
