#include "trace/program/layout.h"

#include <stdlib.h>

#include "trace/base/testing.h"

enum { IN, OUT };

struct state {
    struct layout layout;
    int64_t n;
};

/* out[i] = in[i] of a thread i < n (layout_guard()); the others' warps do seven instructions. */
static int copy(struct emit *e)
{
    emit_load(e, IN, (int64_t)e->at.thread, 3, 1);
    emit_store(e, OUT, (int64_t)e->at.thread, 2);
    return emit_end(e, 1);
}

/* Element number of the launch, by every warp. */
static int mark(struct emit *e)
{
    emit_same(emit_store(e, OUT, e->launch, 0));
    return e->index == 0 && emit_end(e, 0);
}

static struct state *opened(struct program *program)
{
    struct state *s = calloc(1, sizeof *s);
    layout_init(&s->layout, 5);
    s->n = 40;
    layout_array(&s->layout, "+in", 160);
    layout_array(&s->layout, "out", 160);
    layout_straight(&s->layout, copy, "copy", 1, 96, 16, 0);
    layout_guard(&s->layout, (uint64_t)s->n, 7);
    layout_kernel(&s->layout, mark, "mark", 2, 32, 8, 64);
    s->layout.launches = 3;
    ck_assert_int_eq(layout_program(s, program, NULL), 0);
    return s;
}

START_TEST(arrays_lie_one_after_the_other_on_their_boundaries)
{
    struct program program;
    size_t n;
    struct state *s = opened(&program);
    const struct program_alloc *a = program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(a[IN].addr, PROGRAM_BASE);
    ck_assert_uint_eq(a[OUT].addr, PROGRAM_BASE + PROGRAM_BLOCK_BYTES);
    ck_assert(a[IN].host && !a[OUT].host);
    ck_assert_str_eq(a[OUT].name, "out");
    ck_assert_int_eq(program.compute_ns, 5);
    free(s);
    s = calloc(1, sizeof *s);
    layout_init(&s->layout, 0);
    s->layout.base = 1000;
    s->layout.align = 256;
    ck_assert_uint_eq(layout_array(&s->layout, "a", 257)->addr, 1024);
    ck_assert_uint_eq(layout_array(&s->layout, "b", 1)->addr, 1536);
    free(s);
}
END_TEST

START_TEST(kernels_are_launched_by_turns)
{
    static const char *const names[] = {"copy", "mark", "copy"};
    struct program program;
    struct program_body body;
    struct state *s = opened(&program);
    ck_assert_uint_eq(program.ops->launches(program.state), 3);
    for (uint32_t l = 0; l < 3; l++) {
        struct program_launch launch;
        program.ops->launch(program.state, l, &launch);
        ck_assert_str_eq(launch.kernel, names[l]);
        ck_assert_uint_eq(launch.blocks, l % 2 ? 2 : 1);
        ck_assert_uint_eq(launch.shared, l % 2 ? 64 : 0);
    }
    ck_assert_int_eq(program_body(&program, s, 1, 1, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.access[0].addr, PROGRAM_BASE + PROGRAM_BLOCK_BYTES + 4);
    ck_assert_int_eq(program_body(&program, s, 1, 1, 1, &body, NULL), 0);
    free(s);
}
END_TEST

START_TEST(a_warp_has_the_lanes_whose_threads_have_work)
{
    struct program program;
    struct program_body body;
    struct state *s = opened(&program);
    ck_assert_int_eq(program_body(&program, s, 0, 1, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.count, 2);
    ck_assert_uint_eq(body.access[0].active, 0xff);
    ck_assert_uint_eq(body.access[0].addr, PROGRAM_BASE + 128);
    ck_assert_uint_eq(body.access[1].kind, RECORD_WRITE);
    ck_assert_uint_eq(program_instructions(&body), 3 + 1 + 2 + 1 + 1);
    ck_assert_int_eq(program_body(&program, s, 0, 2, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.count, 0);
    ck_assert_uint_eq(program_instructions(&body), 7);
    free(s);
}
END_TEST

/* Of 40 threads the first 8 of warp 1 have work, or all, or none. */
START_TEST(a_guard_is_met_where_it_lies_in_a_warp)
{
    static const struct {
        uint64_t work;
        uint32_t active;
    } of[] = {{0, 0}, {32, 0}, {33, 1}, {40, 0xff}, {63, 0x7fffffff}, {64, UINT32_MAX}, {UINT64_MAX, UINT32_MAX}};
    struct program program;
    struct program_body body;
    struct state *s = opened(&program);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        layout_kernel(&s->layout, copy, "copy", 1, 96, 16, 0);
        layout_guard(&s->layout, of[i].work, 7);
        s->layout.launches = s->layout.kernels;
        ck_assert_int_eq(program_body(&program, s, s->layout.kernels - 1, 1, 0, &body, NULL), 1);
        ck_assert_uint_eq(body.count, of[i].active ? 2 : 0);
        ck_assert_uint_eq(body.count ? body.access[0].active : 0, of[i].active);
        ck_assert_uint_eq(program_instructions(&body), of[i].active ? 8 : 7);
        /* a warp without work has one body */
        ck_assert_int_eq(program_body(&program, s, s->layout.kernels - 1, 1, 1, &body, NULL), of[i].active != 0);
    }
    free(s);
}
END_TEST

START_TEST(arrays_of_one_size_are_named_together)
{
    struct layout *layout = calloc(1, sizeof *layout);
    layout_init(layout, 0);
    layout_array(layout, "first", 10);
    LAYOUT_ARRAYS(layout, {"+a|b", 20}, {"c|d", 30});
    static const char *const names[] = {"first", "a", "b", "c", "d"};
    ck_assert_uint_eq(layout->arrays, 5);
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_str_eq(layout->array[i].name, names[i]);
        ck_assert_uint_eq(layout->array[i].bytes, i == 0 ? 10 : i < 3 ? 20 : 30);
        ck_assert_int_eq(layout->array[i].host, i == 1 || i == 2);
        ck_assert_uint_eq(layout->array[i].addr, PROGRAM_BASE + (uint64_t)i * PROGRAM_BLOCK_BYTES);
    }
    free(layout);
}
END_TEST

/* a; then b, c by turns; then d: which kernel each launch is, and the first that does the same. */
START_TEST(the_first_and_the_last_kernels_may_come_once)
{
    static const char order[] = "abcbcbcd";
    static const uint32_t alike[] = {0, 1, 2, 1, 2, 1, 2, 7};
    struct layout *layout = calloc(1, sizeof *layout);
    layout_init(layout, 0);
    struct program program;
    for (const char *name = "a\0b\0c\0d\0"; *name; name += 2)
        layout_kernel(layout, mark, name, 1, 32, 8, 0);
    layout->once_before = layout->once_behind = 1;
    layout->launches = 8;
    ck_assert_int_eq(layout_program(layout, &program, NULL), 0);
    for (int like = 0; like < 2; like++)
        for (uint32_t l = 0; l < 8; l++) {
            struct program_launch launch;
            layout->alike = like;
            program.ops->launch(program.state, l, &launch);
            ck_assert_int_eq(*launch.kernel, order[l]);
            ck_assert_uint_eq(program_like(&program, l), like ? alike[l] : l);
        }
    free(layout);
}
END_TEST

static unsigned last_is_mark(const void *state, uint32_t launch)
{
    return launch + 1 == ((const struct state *)state)->layout.launches;
}

static void grows(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    out->threads = 32 + launch;
}

START_TEST(a_program_says_which_kernel_a_launch_is_and_of_what_shape)
{
    struct program program;
    struct program_launch launch;
    struct program_body body;
    struct state *s = opened(&program);
    s->layout.kernel_of = last_is_mark;
    s->layout.shape = grows;
    program.ops->launch(program.state, 1, &launch);
    ck_assert_str_eq(launch.kernel, "copy");
    ck_assert_uint_eq(launch.threads, 33);
    program.ops->launch(program.state, 2, &launch);
    ck_assert_str_eq(launch.kernel, "mark");
    ck_assert_int_eq(program_body(&program, s, 1, 1, 0, &body, NULL), 1); /* the 33rd thread */
    ck_assert_uint_eq(body.access[0].active, 1);
    free(s);
}
END_TEST

/* --- runs --- */

struct count {
    struct layout_run run;
    uint32_t asked;
};

static uint32_t open_runs;

static void *count_open(const void *state, struct err *err)
{
    open_runs += ((const struct state *)state)->n == 40;
    (void)err;
    return calloc(1, sizeof(struct count));
}

static void count_close(void *run)
{
    open_runs--;
    free(run);
}

/* As many instructions as the run was asked before; no third body. */
static int counted(struct emit *e)
{
    struct count *c = e->run;
    return c->asked < 2 ? emit_end(e, c->asked++) : err_set(e->err, "asked %u times", c->asked);
}

START_TEST(each_run_keeps_what_is_its_own_and_may_fail)
{
    struct program program;
    struct program_body body;
    void *run[2];
    struct state *s = opened(&program);
    s->layout.kernel[0].body = counted;
    s->layout.run_open = count_open;
    s->layout.run_close = count_close;
    ck_assert_int_eq(layout_program(s, &program, NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        WORKS(program_run_open(&program, &run[i], &err));
        ck_assert_uint_eq(open_runs, i + 1);
        for (uint32_t asked = 0; asked < 2; asked++) {
            RETURNS(program_body(&program, run[i], 0, asked, 0, &body, &err), 1);
            ck_assert_uint_eq(body.after, asked);
        }
    }
    WORKS(program_body(&program, run[1], 0, 0, 1, &body, &err)); /* straight: no second one */
    FAILS_AS(program_body(&program, run[1], 0, 0, 0, &body, &err), "asked 2 times");
    program_run_close(&program, run[0]);
    program_run_close(&program, run[1]);
    ck_assert_uint_eq(open_runs, 0);
    free(s);
}
END_TEST

TEST_MAIN("layout")
