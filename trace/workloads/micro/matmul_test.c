#include "trace/workloads/program_testing.h"

enum { A, B, C, TILE = 32 };

/* Each thread in plain loops. */
static void compare(uint32_t n)
{
    struct workload w;
    struct program_notes notes = {0};
    struct program program = program_opened(&w, testing_text("matmul,n=%u", n), 0x10000, 32);
    for (uint32_t row = 0; row < n; row++)
        for (uint32_t column = 0; column < n; column++) {
            const uint32_t block = row / TILE * (n / TILE) + column / TILE, x = column % TILE, y = row % TILE;
            const uint32_t thread = y * TILE + x;
            uint64_t at = 0;
            for (uint32_t t = 0; t < n / TILE; t++, at += 2) {
                program_note(&notes, 0, block, TILE * TILE, thread, at, RECORD_READ, 4,
                             program_at(&program, A, row * n + t * TILE + x, 4));
                program_note(&notes, 0, block, TILE * TILE, thread, at + 1, RECORD_READ, 4,
                             program_at(&program, B, (t * TILE + y) * n + column, 4));
            }
            program_note(&notes, 0, block, TILE * TILE, thread, at, RECORD_WRITE, 4,
                         program_at(&program, C, row * n + column, 4));
        }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(threads_read_a_row_of_a_and_a_column_of_b)
{
    compare(32);
    compare(96);
}
END_TEST

START_TEST(a_size_that_is_no_multiple_of_a_tile_is_refused)
{
    struct workload w;
    FAILS_WITH(workload_open(&w, "matmul,n=100", &err), "multiple of 32");
}
END_TEST

TEST_MAIN("matmul")
