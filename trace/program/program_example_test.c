/* The example of docs/adding-a-program.md, compiled and run as the page shows it: what stands between the two marks is
 * what stands there, and a test compares them. */
#include "trace/workloads/program_testing.h"

/* [example] */
/* blur: out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3 over n floats, blocks x threads threads.
 *
 *     for (i = 1 + thread; i < n - 1; i += threads in all) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3
 *
 * The CPU has written in; out is new. A turn of a warp: three loads, awaited together, then a store.
 * Worked example, n = 100, one block of 32 threads: turns of elements 1 to 32, 33 to 64, 65 to 96, then lanes 0 and 1
 * alone for elements 97 and 98.
 * Source: the loop above. Differs: instructions are counted by eye, not in machine code. */
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { IN, OUT, GUARD = 6 /* instructions of a thread that has nothing to do */ };

struct blur {
    struct layout layout;
    int64_t n, blocks, threads; /* the keys */
    uint64_t step;              /* threads in all */
};

static const struct param blur_keys[] = {PARAM_INT_ROW(blur, n, "elements", 3, 1LL << 36, 1 << 24, "of each array"),
                                         PARAM_INT_ROW(blur, blocks, "", 1, 1 << 20, 1024, "thread blocks"),
                                         PARAM_INT_ROW(blur, threads, "", 1, 1024, 256, "threads of a block"),
                                         LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
                                         {0}};

static int blur(struct emit *e)
{
    const struct blur *b = e->state;
    struct program_loop loop = program_grid_stride(e->at.thread, e->at.lanes, b->step, b->n - 2, 1);
    struct program_part part;
    if (loop.trips == 0 && loop.more == 0)
        return emit_idle(e, GUARD);
    if (!program_loop_part(&loop, e->index, &part))
        return 0;
    int64_t i = 1 + (int64_t)(e->at.thread + part.first * b->step); /* of lane 0 */
    e->active = part.active;
    emit_load(e, IN, i - 1, 0, 3); /* all three are used by the first addition */
    emit_load(e, IN, i, 0, 2);
    emit_load(e, IN, i + 1, 0, 1);
    emit_store(e, OUT, i, 3); /* two additions, a division */
    emit_turns(e, part.turns, (int64_t)b->step);
    return emit_end(e, 3); /* i += step; compare; branch */
}

static int blur_init(struct blur *b, struct err *err)
{
    (void)err; /* all keys in their ranges go together */
    b->step = b->blocks * b->threads;
    LAYOUT_ARRAYS(&b->layout, {"+in", b->n * 4}, {"out", b->n * 4}); /* +: the CPU has written it */
    layout_kernel(&b->layout, blur, "blur", b->blocks, (uint32_t)b->threads, 16, 0);
    return 0;
}

WORKLOAD_OF_LAYOUT(blur, workload_blur, "blur", "three neighbours averaged", "docs/adding-a-program.md", layout_open,
                   free);
/* [end] */

static struct blur *opened(int64_t n, int64_t blocks, int64_t threads, struct program *program)
{
    struct blur p = {.layout = {.compute_ns = -1}, .n = n, .blocks = blocks, .threads = threads};
    struct blur *b = workload_blur.open(&p, NULL);
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(workload_blur.program(b, program, NULL), 0);
    return b;
}

/* [test] */
/* The loop of each thread, as the kernel's source has it. */
static void compare(uint64_t n, uint32_t blocks, uint32_t threads)
{
    struct program program;
    struct program_notes notes = {0};
    struct blur *b = opened((int64_t)n, blocks, threads, &program);
    for (uint64_t block = 0; block < blocks; block++)
        for (uint32_t t = 0; t < threads; t++) {
            uint64_t when = 0;
            for (uint64_t i = 1 + block * threads + t; i < n - 1; i += (uint64_t)blocks * threads) {
                for (uint64_t k = i - 1; k <= i + 1; k++)
                    program_note(&notes, 0, block, threads, t, when++, RECORD_READ, 4, program_at(&program, IN, k, 4));
                program_note(&notes, 0, block, threads, t, when++, RECORD_WRITE, 4, program_at(&program, OUT, i, 4));
            }
        }
    program_compare(&notes, &program);
    workload_blur.close(b);
}
/* [end of test] */

START_TEST(threads_do_what_the_loop_says)
{
    static const uint64_t sizes[] = {3, 4, 33, 34, 35, 100, 999, 4098};
    static const uint32_t shapes[][2] = {{1, 1}, {1, 32}, {3, 7}, {2, 33}, {5, 256}, {1, 1024}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            compare(sizes[i], shapes[s][0], shapes[s][1]);
}
END_TEST

START_TEST(the_worked_example_has_two_bodies)
{
    struct program program;
    static struct program_body body;
    struct blur *b = opened(100, 1, 32, &program);
    ck_assert_int_eq(program_body(&program, b, 0, 0, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.turns, 3);
    ck_assert_uint_eq(program_stalls(&body), 1 << 3); /* before the store, for all three loads */
    ck_assert_int_eq(program_body(&program, b, 0, 0, 1, &body, NULL), 1);
    ck_assert_uint_eq(body.turns, 1);
    ck_assert_uint_eq(body.access[0].active, 3);
    ck_assert_int_eq(program_body(&program, b, 0, 0, 2, &body, NULL), 0);
    workload_blur.close(b);
}
END_TEST

/* The text of a file, ended by zero. */
static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s cannot be opened; tests run from the top of the source tree", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_lt(fread(text, 1, (1 << 16) - 1, f), (1 << 16) - 1);
    (void)fclose(f);
    return text;
}

static void shown(const char *begin, const char *end)
{
    char *code = slurp("trace/program/program_example_test.c"), *page = slurp("docs/adding-a-program.md");
    char *from = strstr(code, begin), *to = strstr(code, end);
    ck_assert(from && to);
    *to = 0;
    ck_assert_msg(strstr(page, from + strlen(begin)) != NULL,
                  "the code in docs/adding-a-program.md is not the one tested here");
    free(code);
    free(page);
}

START_TEST(the_page_shows_this_very_code)
{
    shown("/* [example] */\n", "/* [end] */");
    shown("/* [test] */\n", "/* [end of test] */");
}
END_TEST

TEST_MAIN("program_example")
