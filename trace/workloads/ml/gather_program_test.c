/* The kernel by itself: its own functions, by including it. */
#include "trace/workloads/ml/gather.c"

#include "trace/base/testing.h"
#include "trace/program/pages.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

/* Seven rows in batches of 3, 0 and 4. */
static const uint64_t rows[] = {4, 0, 9, 9, 1, 4, 3}, ends[] = {3, 3, 7};

static struct gather_program make(uint64_t width, enum gather_kernel kernel, bool batches)
{
    struct gather_program p;
    const struct gather_rows r = {.rows = rows,
                                  .count = 7,
                                  .ends = batches ? ends : NULL,
                                  .batches = batches ? 3 : 1,
                                  .table_rows = 10,
                                  .row_elements = width,
                                  .element = GATHER_ELEMENT,
                                  .table = 8192,
                                  .threads_per_block = 64,
                                  .kernel = kernel};
    ck_assert_int_eq(gather_program_init(&p, &r, NULL), 0);
    return p;
}

/* Whose row the launch's output row is. */
static uint64_t row_of(const struct gather_program *p, uint32_t launch, uint64_t output)
{
    return p->of.rows[(p->of.ends && launch ? p->of.ends[launch - 1] : 0) + output];
}

/* Bodies of the launch's warps, the empty ones of the guard not counted. */
static uint64_t check_launch(struct gather_program *p, uint32_t launch, uint64_t output_rows)
{
    static struct program_body b;
    const struct program program = {.ops = &gather_program_ops, .state = p};
    uint64_t width = p->of.row_elements, start = p->of.ends && launch ? p->of.ends[launch - 1] : 0;
    uint8_t *copied = calloc(output_rows * width + 1, 1);
    uint64_t bodies = 0;
    struct program_launch shape;
    gather_program_ops.launch(p, launch, &shape);
    ck_assert_int_eq(program_check_launch(&shape, launch, NULL), 0);
    for (uint64_t warp = 0; warp < program_warps(&shape); warp++)
        for (uint32_t index = 0; program_body(&program, p, launch, warp, index, &b, NULL) > 0; index++) {
            if (warp * 32 >= output_rows * width) {
                ck_assert_uint_eq(b.count, 0); /* the guard */
                continue;
            }
            bodies++;
            ck_assert_uint_eq(b.count, 3);
            ck_assert_uint_eq(program_stalls(&b), 6); /* the number, then the element */
            for (unsigned lane = 0; lane < 32; lane++) {
                if (!(b.access[0].active >> lane & 1))
                    continue;
                uint64_t at = (program_addr(&b.access[2], lane, 0) - p->allocs[OUTPUT].addr) / 4;
                uint64_t from = (program_addr(&b.access[1], lane, 0) - p->allocs[TABLE].addr) / 4;
                uint64_t number = (program_addr(&b.access[0], lane, 0) - p->allocs[INDEX].addr) / 8;
                ck_assert_uint_lt(at, output_rows * width);
                copied[at]++;
                ck_assert_uint_eq(number, start + at / width);
                ck_assert_uint_eq(from, row_of(p, launch, at / width) * width + at % width);
            }
        }
    for (uint64_t i = 0; i < output_rows * width; i++)
        ck_assert_uint_eq(copied[i], 1);
    free(copied);
    return bodies;
}

START_TEST(a_kernel_of_few_blocks_loops)
{
    for (int64_t blocks = 1; blocks < 20; blocks += blocks) {
        struct gather_program p = make(100, GATHER_NAIVE, false);
        struct program_launch shape;
        p.of.blocks = blocks;
        ck_assert_uint_eq(check_launch(&p, 0, 7), 22); /* 700 elements, in whatever turns */
        gather_program_ops.launch(&p, 0, &shape);
        ck_assert_uint_eq(shape.blocks, blocks < 11 ? (uint64_t)blocks : 11);
    }
}
END_TEST

START_TEST(every_element_of_the_output_is_copied_once_from_its_row)
{
    for (uint64_t width = 1; width < 140; width += 1 + width / 9)
        for (int kernel = GATHER_NAIVE; kernel <= GATHER_SHIFT; kernel++) {
            struct gather_program p = make(width, (enum gather_kernel)kernel, false);
            check_launch(&p, 0, 7);
            p = make(width, (enum gather_kernel)kernel, true);
            check_launch(&p, 0, 3);
            check_launch(&p, 1, 0);
            check_launch(&p, 2, 4);
        }
}
END_TEST

/* Rows of 120 elements; row 4 starts at element 480, a multiple of 32; row 9 at 1,080: rotated by (240 - 1080) mod 32.
 */
START_TEST(shift_starts_warps_on_lines)
{
    static struct program_body b;
    struct gather_program p = make(120, GATHER_SHIFT, false);
    const struct program program = {.ops = &gather_program_ops, .state = &p};
    ck_assert_int_eq(program_body(&program, &p, 0, 0, 0, &b, NULL), 1);
    ck_assert_uint_eq(program_addr(&b.access[1], 0, 0), 8192 + 4 * 480);
    ck_assert_int_eq(program_body(&program, &p, 0, 8, 0, &b, NULL), 1); /* elements 256 to 287: row 2 from column 16 */
    ck_assert_uint_eq(program_addr(&b.access[1], 0, 0), 8192 + 4 * (1080 + 16 + (240 - 1080 + 27 * 32)));
    ck_assert_uint_eq(program_addr(&b.access[1], 0, 0) % 128, 0);
    ck_assert_ptr_null(b.access[1].lane); /* neighbours: no address for each lane */
}
END_TEST

struct touched {
    const struct program_pages *view;
    uint8_t pages[4096];
};

static int mark(void *ctx, const struct program_op *op, struct err *err)
{
    struct touched *t = ctx;
    (void)err;
    for (int i = 0; i < op->lines; i++)
        t->pages[actor_page(&t->view->allocs[0], op->line[i].addr - t->view->allocs[0].addr)] |= 1;
    return 0;
}

START_TEST(the_page_view_touches_the_pages_of_the_walk)
{
    static const char *const specs[] = {"gather,count=50,table_rows=200,row_bytes=1028",
                                        "gather,count=33,table_rows=90,row_bytes=9000,kernel=naive",
                                        "gather,graph=kron,scale=8,batches=3,row_bytes=480,labelled_pct=20"};
    static const struct program_taker taker = {.op = mark};
    static const struct program_walk managed = {.managed_only = true};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct workload w;
        struct program program;
        struct program_pages view;
        struct touched t = {.view = &view};
        ck_assert_int_eq(workload_open(&w, specs[i], NULL), 0);
        ck_assert_int_eq(w.type->program(w.state, &program, NULL), 0);
        ck_assert_int_eq(program_pages_init(&view, &program, NULL, NULL), 0);
        ck_assert_uint_eq(view.count, 1); /* the table */
        ck_assert_int_eq(program_walk(&program, &managed, &taker, &t, NULL, NULL), 0);
        void *run = program_pages_ops.run_open(&view, NULL);
        for (uint32_t l = 0; l < program.ops->launches(program.state); l++) {
            struct actor_launch shape;
            program_pages_ops.launch(&view, l, &shape);
            for (uint32_t a = 0; a < shape.actors; a++) {
                struct actor_at at = {0};
                struct actor_step step;
                while (program_pages_ops.step(run, l, a, &at, &step, NULL) > 0)
                    for (uint32_t k = 0; k < step.count; k++)
                        t.pages[step.page[k]] |= 2;
            }
        }
        program_pages_ops.run_close(run);
        uint32_t both = 0;
        for (size_t page = 0; page < sizeof t.pages; page++) {
            ck_assert(t.pages[page] == 0 || t.pages[page] == 3);
            both += t.pages[page] == 3;
        }
        ck_assert_uint_gt(both, 5);
        workload_close(&w);
    }
}
END_TEST

START_TEST(blocks_of_split_warps_are_refused)
{
    struct gather_program p;
    struct err err = {""};
    const struct gather_rows r = {
        .rows = rows, .count = 7, .batches = 1, .table_rows = 10, .row_elements = 3, .threads_per_block = 100};
    ck_assert_int_eq(gather_program_init(&p, &r, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "threads_per_block is 100"));
}
END_TEST

TEST_MAIN("gather_program")
