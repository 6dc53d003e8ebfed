#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { J, C, E, W, S, N };

/* The thread of cell (y, x). Its accesses are told by the cell: what is north of its tile, in its column, and so on. */
struct cell {
    struct program_notes *notes;
    const struct program *program;
    int64_t y, x, rows, cols;
    uint32_t launch;
};

static void note(const struct cell *c, uint64_t when, uint32_t kind, unsigned array, int64_t y, int64_t x)
{
    uint64_t block = (uint64_t)(c->y / 16 * (c->cols / 16) + c->x / 16);
    program_note(c->notes, c->launch, block, 256, (uint32_t)(c->y % 16 * 16 + c->x % 16), when, kind, 4,
                 program_at(c->program, array, (uint64_t)(y * c->cols + x), 4));
}

static void first_kernel(const struct cell *c)
{
    int64_t top = c->y - c->y % 16, left = c->x - c->x % 16;
    note(c, 0, RECORD_READ, J, top - 1, c->x);
    note(c, 1, RECORD_READ, J, top + 16, c->x);
    if (top == 0)
        note(c, 2, RECORD_READ, J, 0, c->x);
    else if (top + 16 == c->rows)
        note(c, 2, RECORD_READ, J, c->rows - 1, c->x);
    note(c, 3, RECORD_READ, J, c->y, left - 1);
    note(c, 4, RECORD_READ, J, c->y, left + 16);
    if (left == 0)
        note(c, 5, RECORD_READ, J, c->y, 0);
    else if (left + 16 == c->cols)
        note(c, 5, RECORD_READ, J, c->y, c->cols - 1);
    note(c, 6, RECORD_READ, J, c->y, c->x);
    for (unsigned array = C; array <= N; array++)
        note(c, 6 + array, RECORD_WRITE, array, c->y, c->x);
}

static void second_kernel(const struct cell *c)
{
    int64_t top = c->y - c->y % 16, left = c->x - c->x % 16;
    note(c, 0, RECORD_READ, J, c->y, c->x);
    note(c, 1, RECORD_READ, C, top + 16, c->x);
    if (top + 16 == c->rows)
        note(c, 2, RECORD_READ, C, c->rows - 1, c->x);
    note(c, 3, RECORD_READ, C, c->y, left + 16);
    if (left + 16 == c->cols)
        note(c, 4, RECORD_READ, C, c->y, c->cols - 1);
    note(c, 5, RECORD_READ, C, c->y, c->x);
    note(c, 6, RECORD_READ, N, c->y, c->x);
    note(c, 7, RECORD_READ, S, c->y, c->x);
    note(c, 8, RECORD_READ, W, c->y, c->x);
    note(c, 9, RECORD_READ, E, c->y, c->x);
    note(c, 10, RECORD_WRITE, J, c->y, c->x);
}

static void compare(int64_t rows, int64_t cols, uint32_t iterations, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec =
        testing_text("rodinia-srad-v2,rows=%lld,cols=%lld,iterations=%u", (long long)rows, (long long)cols, iterations);
    struct program program = program_opened(&w, spec, 0x1000000, align);
    struct cell c = {.notes = &notes, .program = &program, .rows = rows, .cols = cols};
    for (; c.launch < 2 * iterations; c.launch++)
        for (c.y = 0; c.y < rows; c.y++)
            for (c.x = 0; c.x < cols; c.x++)
                (c.launch % 2 ? second_kernel : first_kernel)(&c);
    ck_assert_uint_eq(program.ops->launches(program.state), 2 * iterations);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_cell_reads_its_tiles_surroundings_and_writes_its_own)
{
    compare(16, 16, 1, 4);
    compare(32, 16, 2, 256);
    compare(16, 48, 1, 32);
    compare(64, 64, 1, 0);
    compare(48, 80, 3, 4);
}
END_TEST

/* Source: two emulations of the kernels. */
START_TEST(sixteen_tiles_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-srad-v2,rows=64,cols=64",
                   {0, .reads = {768, 24576, 1792, 1216, 528, 132}, .writes = {640, 20480, 2560, 1280, 2560, 640},
                    .order = 0x8ae95000},
                   {1, .reads = {1088, 34816, 3712, 2016, 3072, 768}, .writes = {128, 4096, 512, 256, 512, 128},
                    .order = 0xfc22d700});
}
END_TEST

/* Of a warp that is not at a border. */
static uint64_t stalls(const char *spec, uint32_t launch, uint32_t index)
{
    uint32_t instructions;
    return stalls_of(spec, launch, 8 * 129, index, &instructions);
}

START_TEST(ptx_waits_for_each_load_and_hoisted_for_those_between_barriers)
{
    /* North, south, barrier, west, east, barrier, cells, barrier. */
    ck_assert_uint_eq(stalls("rodinia-srad-v2", 0, 0), 0xb6);
    ck_assert_uint_eq(stalls("rodinia-srad-v2,order=hoisted", 0, 0), 0xa4);
    /* N, S, W, E, barrier, J. */
    ck_assert_uint_eq(stalls("rodinia-srad-v2", 1, 1), 0x1c);
    ck_assert_uint_eq(stalls("rodinia-srad-v2,order=hoisted", 1, 1), 0x10);
}
END_TEST

START_TEST(broken_tiles_are_refused_and_large_images_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-srad-v2,rows=17"), "multiples of 16"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-srad-v2,cols=40"), "multiples of 16"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-srad-v2,rows=65536,cols=32768"), "2^31"));
    ck_assert_uint_eq(program_blocks("rodinia-srad-v2,rows=46336,cols=46336", 1), 2896 * 2896);
}
END_TEST

TEST_MAIN("rodinia_sradv2")
