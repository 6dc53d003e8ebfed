#include "replay/uvm/actor_input.h"

#include "trace/base/testing.h"
#include "trace/program/plan.h"

/* Two kernels in turn, each warp one load; launches are like the one two before them, or not. */
static int one_load(struct emit *e)
{
    emit_load(e, 0, (int64_t)e->at.thread, 1, 1);
    return emit_end(e, 1);
}

static struct plan *plan_of(uint32_t launches, bool alike)
{
    struct err err = {""};
    struct plan *plan = plan_new(sizeof *plan, -1, &err);
    ck_assert_ptr_nonnull(plan);
    plan_input(plan, "a", 1 << 20);
    plan_straight(plan, one_load, "one", 64, 64, 16, 0);
    plan_straight(plan, one_load, "two", 64, 64, 16, 0);
    plan->launches = launches;
    plan->alike = alike;
    return plan;
}

/* Whether the steps of so many runs are kept; then they are the program's. */
static bool kept(uint32_t launches, bool alike, size_t runs)
{
    struct err err = {""};
    struct plan *plan = plan_of(launches, alike);
    struct program program;
    struct actor_input t;
    struct actor_at at[2] = {{0}, {0}};
    struct actor_step step[2];
    ck_assert(plan_program(plan, &program, &err) == 0 && actor_input_program(&t, &program, &err) == 0);
    void *run = t.ops->run_open(t.state, &err);
    actor_input_keep(&t, runs, 2);
    bool is = t.tracks != NULL;
    if (is) {
        ck_assert_ptr_eq(t.state, t.tracks);
        ck_assert_int_eq(program_pages_ops.step(run, launches - 1, 77, &at[0], &step[0], &err), 1);
        ck_assert_int_eq(t.ops->step((void *)t.state, launches - 1, 77, &at[1], &step[1], &err), 1);
        ck_assert_mem_eq(&step[0], &step[1], offsetof(struct actor_step, page) + sizeof *step->page);
    }
    program_pages_ops.run_close(run);
    actor_input_close(&t);
    free(plan);
    return is;
}

START_TEST(steps_that_are_asked_for_again_are_kept)
{
    ck_assert(kept(2, true, 2));
    ck_assert(kept(3, true, 1)); /* the third is the first */
    ck_assert(!kept(2, true, 1));
    ck_assert(!kept(3, false, 1));
}
END_TEST

TEST_MAIN("replay/actor_input", steps_that_are_asked_for_again_are_kept)
