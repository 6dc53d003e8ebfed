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

TEST_MAIN("launch_weights", what_threads_counted_of_a_launch_is_known_for_its_program)
