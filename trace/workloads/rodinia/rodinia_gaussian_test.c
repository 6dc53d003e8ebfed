#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { M, A, B };

static uint64_t at(const struct program *p, unsigned array, uint64_t row, uint64_t column, uint64_t n)
{
    return program_at(p, array, row * n + column, 4);
}

static void fan1(struct program_notes *notes, const struct program *p, uint64_t n, uint64_t t)
{
    for (uint64_t block = 0; block * 512 < n; block++)
        for (uint32_t thread = 0; thread < 512; thread++) {
            uint64_t r = block * 512 + thread;
            if (r >= n - 1 - t)
                continue;
            program_note(notes, 2 * (uint32_t)t, block, 512, thread, 0, RECORD_READ, 4, at(p, A, t, t, n));
            program_note(notes, 2 * (uint32_t)t, block, 512, thread, 1, RECORD_READ, 4, at(p, A, r + t + 1, t, n));
            program_note(notes, 2 * (uint32_t)t, block, 512, thread, 2, RECORD_WRITE, 4, at(p, M, r + t + 1, t, n));
        }
}

/* Over the matrix: the thread that has each element, and what it does. */
static void fan2(struct program_notes *notes, const struct program *p, uint64_t n, uint64_t t)
{
    uint32_t launch = 2 * (uint32_t)t + 1;
    uint64_t across = n / 4 + (n % 4 != 0);
    for (uint64_t row = t + 1; row < n; row++)
        for (uint64_t column = t; column < n; column++) {
            uint64_t r = row - t - 1, c = column - t, block = c / 4 * across + r / 4, when = 0;
            uint32_t thread = (uint32_t)(c % 4 * 4 + r % 4);
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, A, t, column, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, M, row, t, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, A, row, column, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_WRITE, 4, at(p, A, row, column, n));
            if (column > t)
                continue;
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, B, 0, t, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, M, row, t, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_READ, 4, at(p, B, 0, row, n));
            program_note(notes, launch, block, 16, thread, when++, RECORD_WRITE, 4, at(p, B, 0, row, n));
        }
}

static void compare(uint64_t n, uint64_t iterations, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec =
        testing_text("rodinia-gaussian,n=%llu,iterations=%llu", (unsigned long long)n, (unsigned long long)iterations);
    struct program program = program_opened(&w, spec, 0x10000, align);
    uint64_t steps = iterations < n - 1 ? iterations : n - 1;
    ck_assert_uint_eq(program.ops->launches(program.state), 2 * steps);
    for (uint64_t t = 0; t < steps; t++) {
        fan1(&notes, &program, n, t);
        fan2(&notes, &program, n, t);
    }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_step_divides_a_column_and_updates_what_is_right_and_below)
{
    static const uint64_t sizes[] = {2, 3, 4, 5, 17, 32, 33, 50};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare(sizes[i], 1, 0);
        compare(sizes[i], 46339, 4);
        compare(sizes[i], 3, 256);
    }
    compare(515, 1, 32);
}
END_TEST

/* Source: two emulations of the kernels; their order sum of Fan1, 00a02000, is that with A[t][t] as the second load,
 * which PTX has first. */
START_TEST(a_step_makes_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-gaussian,n=64",
                   {0, .reads = {4, 126, 65, 65, 64, 64}, .writes = {2, 63, 63, 63, 63, 63}, .order = 0x00a80000},
                   {1, .reads = {816, 12285, 2374, 2368, 583, 193}, .writes = {272, 4095, 1031, 1025, 512, 128},
                    .order = 0x5ce8dfa0});
}
END_TEST

/* Of a body of so many instructions: PTX of the kernel, without loads of parameters. */
static uint64_t stalls(const char *spec, uint32_t launch, uint32_t instructions)
{
    uint32_t found;
    uint64_t stalls = stalls_of(spec, launch, 0, 0, &found);
    ck_assert_uint_eq(found, instructions);
    return stalls;
}

START_TEST(hoisted_waits_once_before_each_result)
{
    ck_assert_uint_eq(stalls("rodinia-gaussian", 0, 29), 0x4);
    ck_assert_uint_eq(stalls("rodinia-gaussian,order=hoisted", 0, 29), 0x4);
    ck_assert_uint_eq(stalls("rodinia-gaussian", 1, 53), 0xcc);
    ck_assert_uint_eq(stalls("rodinia-gaussian,order=hoisted", 1, 53), 0x88);
}
END_TEST

START_TEST(matrices_that_an_int_cannot_count_are_refused_and_large_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-gaussian,n=46341"), "expected 2"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-gaussian,n=1"), "expected 2"));
    ck_assert_uint_eq(program_blocks("rodinia-gaussian,n=46340,iterations=46339", 92677), 11585ull * 11585);
    ck_assert_uint_eq(program_launches("rodinia-gaussian,n=46340,iterations=46339"), 92678);
}
END_TEST

TEST_MAIN("rodinia_gaussian")
