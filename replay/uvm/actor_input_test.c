#include "replay/uvm/actor_input.h"

#include "trace/base/testing.h"
#include "trace/program/layout.h"

/* Two kernels in turn, each warp one load; launches are like the one two before them, or not. */
static int one_load(struct emit *e)
{
    emit_load(e, 0, (int64_t)e->at.thread, 1, 1);
    return emit_end(e, 1);
}

static struct layout *layout_of(uint32_t launches, bool alike)
{
    struct layout *layout = calloc(1, sizeof *layout);
    layout_init(layout, -1);
    ck_assert_ptr_nonnull(layout);
    layout_input(layout, "a", 1 << 20);
    layout_straight(layout, one_load, "one", 64, 64, 16, 0);
    layout_straight(layout, one_load, "two", 64, 64, 16, 0);
    layout->launches = launches;
    layout->alike = alike;
    return layout;
}

/* Whether the steps of so many runs are kept; then they are the program's. */
static bool kept(uint32_t launches, bool alike, size_t runs)
{
    struct err err = {""};
    struct layout *layout = layout_of(launches, alike);
    struct program program;
    struct actor_input t;
    struct actor_at at[2] = {{0}, {0}};
    struct actor_step step[2];
    ck_assert(layout_program(layout, &program, &err) == 0 && actor_input_program(&t, &program, &err) == 0);
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
    free(layout);
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
