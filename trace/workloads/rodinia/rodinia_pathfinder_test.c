#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { WALL = 2 };

/* A thread of a launch, as the kernel has it: what is valid is told by the block's bounds. */
static void thread(struct program_notes *notes, const struct program *p, uint32_t launch, int64_t block, int64_t tx,
                   int64_t cols, int64_t start, int64_t iterations, int64_t border)
{
    int64_t from = (256 - 2 * iterations) * block - border, to = from + 255, x = from + tx;
    int64_t valid_first = from < 0 ? -from : 0, valid_last = to > cols - 1 ? 255 - (to - cols + 1) : 255;
    uint64_t b = (uint64_t)block;
    uint32_t t = (uint32_t)tx;
    bool computed = false;
    if (x >= 0 && x <= cols - 1)
        program_note(notes, launch, b, 256, t, 0, RECORD_READ, 4, program_at(p, launch % 2, (uint64_t)x, 4));
    for (int64_t i = 0; i < iterations; i++) {
        computed = tx >= i + 1 && tx <= 254 - i && tx >= valid_first && tx <= valid_last;
        if (computed)
            program_note(notes, launch, b, 256, t, 1 + (uint64_t)i, RECORD_READ, 4,
                         program_at(p, WALL, (uint64_t)(cols * (start + i) + x), 4));
    }
    if (computed)
        program_note(notes, launch, b, 256, t, 1000, RECORD_WRITE, 4, program_at(p, 1 - launch % 2, (uint64_t)x, 4));
}

static void compare(int64_t cols, int64_t rows, int64_t height, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-pathfinder,cols=%lld,rows=%lld,height=%lld", (long long)cols,
                                    (long long)rows, (long long)height);
    struct program program = program_opened(&w, spec, 0x10000, align);
    int64_t stored = 256 - 2 * height, blocks = cols / stored + (cols % stored != 0);
    uint32_t launch = 0;
    for (int64_t t = 0; t < rows - 1; t += height, launch++)
        for (int64_t block = 0; block < blocks; block++)
            for (int64_t tx = 0; tx < 256; tx++)
                thread(&notes, &program, launch, block, tx, cols, t, rows - t - 1 < height ? rows - t - 1 : height,
                       height);
    ck_assert_uint_eq(program.ops->launches(program.state), launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_thread_reads_its_column_of_the_wall_while_it_is_within_the_pyramid)
{
    static const int64_t cols[] = {1, 3, 31, 252, 253, 504, 700, 1001};
    for (size_t i = 0; i < sizeof cols / sizeof *cols; i++)
        for (int64_t rows = 2; rows <= 11; rows += 3) {
            compare(cols[i], rows, 1, 4);
            compare(cols[i], rows, 2, 256);
            compare(cols[i], rows, 5, 0);
        }
    compare(1500, 200, 127, 32);
    compare(300, 130, 100, 32);
}
END_TEST

/* Source: two emulations of the kernel. */
START_TEST(launches_make_the_emulated_counts)
{
    CHECK_LAUNCHES(
        "rodinia-pathfinder,cols=1000,rows=9,height=2",
        {0, .reads = {96, 3018, 469, 188, 375, 95}, .writes = {32, 1000, 155, 63, 125, 32}, .order = 0x86cac600},
        {1, .reads = {96, 3018, 469, 189, 375, 95}, .writes = {32, 1000, 155, 63, 125, 32}, .order = 0xc3776000});
    CHECK_LAUNCHES("rodinia-pathfinder,cols=1000,rows=10,height=2",
                   {4, .reads = {64, 2006, 298, 126, 250, 64}, .writes = {32, 1000, 149, 63, 125, 32},
                    .order = 0x9551a194}); /* of one row */
}
END_TEST

static void stalls(const char *spec)
{
    static struct program_body body;
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 0, &body, NULL), 1);
    ck_assert_uint_eq(program_stalls(&body), 2); /* the barrier behind the source */
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 2, &body, NULL), 1);
    ck_assert_uint_eq(program_stalls(&body), 2); /* the barrier behind the row of the wall */
    ck_assert_uint_eq(body.count, 3);            /* the last step: one barrier, then the store */
    workload_close(&w);
}

START_TEST(each_load_is_awaited_before_the_barrier_in_both_orders)
{
    stalls("rodinia-pathfinder");
    stalls("rodinia-pathfinder,order=hoisted");
}
END_TEST

START_TEST(grids_that_an_int_cannot_count_are_refused_and_large_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-pathfinder,height=128"), "expected 1"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-pathfinder,rows=1"), "expected 2"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-pathfinder,cols=1073741824,rows=2"), "int"));
    ck_assert_uint_eq(program_blocks("rodinia-pathfinder,cols=1073741823,rows=2", 0),
                      4260881); /* (2^30 - 1) / 252, rounded up */
}
END_TEST

TEST_MAIN("rodinia_pathfinder")
