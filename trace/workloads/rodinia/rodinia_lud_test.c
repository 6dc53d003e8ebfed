#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { M, S = 32 };

/* --- the kernels as their source has them, thread by thread --- */

static void diagonal(struct thread *t, int64_t n, int64_t offset)
{
    int64_t at = offset * n + offset;
    for (int i = 0; i < S; i++, at += n)
        reads(t, true, M, at + t->thread);
    at = (offset + 1) * n + offset;
    for (int i = 1; i < S; i++, at += n)
        writes(t, true, M, at + t->thread);
}

static void perimeter(struct thread *t, int64_t n, int64_t offset)
{
    int64_t beside = ((int64_t)t->block + 1) * S, idx = t->thread % S;
    bool row = t->thread < S;
    int64_t at = row ? offset * n + offset : (offset + S / 2) * n + offset;
    for (int i = 0; i < S / 2; i++, at += n)
        reads(t, true, M, at + idx);
    at = row ? offset * n + offset + beside : (offset + beside) * n + offset;
    for (int i = 0; i < S; i++, at += n)
        reads(t, true, M, at + idx);
    at = row ? (offset + 1) * n + offset + beside : (offset + beside) * n + offset;
    for (int i = row; i < S; i++, at += n)
        writes(t, true, M, at + idx);
}

static void internal(struct thread *t, int64_t n, int64_t offset, int64_t across)
{
    int64_t row = offset + ((int64_t)t->block / across + 1) * S, column = offset + ((int64_t)t->block % across + 1) * S;
    int64_t x = t->thread % S, y = t->thread / S;
    reads(t, true, M, (offset + y) * n + column + x);
    reads(t, true, M, (row + y) * n + offset + x);
    reads(t, true, M, (row + y) * n + column + x);
    writes(t, true, M, (row + y) * n + column + x);
}

static void launch(struct thread *t, uint32_t threads, int64_t blocks, int which, int64_t n, int64_t offset,
                   int64_t across)
{
    t->threads = threads;
    for (t->block = 0; t->block < (uint64_t)blocks; t->block++)
        for (t->thread = 0; t->thread < threads; t->thread++) {
            t->when = 0;
            if (which == 0)
                diagonal(t, n, offset);
            else if (which == 1)
                perimeter(t, n, offset);
            else
                internal(t, n, offset, across);
        }
    t->launch++;
}

static void compare(const char *spec, int64_t n, int64_t most)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    struct program_notes notes = {0};
    struct thread t = {.notes = &notes, .program = &program};
    int64_t i = 0, end = n - S < most * S ? n - S : most * S;
    for (; i < end; i += S) {
        int64_t across = (n - i) / S - 1;
        launch(&t, S, 1, 0, n, i, across);
        launch(&t, 2 * S, across, 1, n, i, across);
        launch(&t, S * S, across * across, 2, n, i, across);
    }
    launch(&t, S, 1, 0, n, i, 0);
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(tiles_are_those_of_the_kernels_loops)
{
    compare("rodinia-lud,n=32", 32, 8);
    compare("rodinia-lud,n=64", 64, 8);
    compare("rodinia-lud,n=160,order=hoisted", 160, 8);
    compare("rodinia-lud,n=160,steps=2", 160, 2);
    compare("rodinia-lud,n=352", 352, 8);
    compare("rodinia-lud,n=352,steps=0", 352, 1000);
}
END_TEST

/* Source: emulations of Rodinia's kernels. */
START_TEST(three_tiles_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-lud,n=96",
                   {0, .reads = {32, 1024, 128, 32, 128, 32}, .writes = {31, 992, 124, 31, 124, 31}},
                   {1, .reads = {192, 6144, 768, 192, 640, 160}, .writes = {126, 4032, 504, 126, 504, 126}},
                   {2, .reads = {384, 12288, 1536, 384, 1024, 256}, .writes = {128, 4096, 512, 128, 512, 128}});
}
END_TEST

START_TEST(internal_loads_two_rows_before_it_waits)
{
    uint32_t instructions, hoisted;
    ck_assert_uint_eq(stalls_of("rodinia-lud,n=96", 2, 0, 0, &instructions), 1ull << 2 | 1ull << 4);
    ck_assert_uint_eq(stalls_of("rodinia-lud,n=96", 0, 0, 0, &instructions), 0x1fffffffeull);
    ck_assert_uint_eq(stalls_of("rodinia-lud,n=96,order=hoisted", 0, 0, 0, &hoisted), 1ull << 32);
    ck_assert_uint_eq(instructions, hoisted);
    ck_assert_uint_eq(stalls_of("rodinia-lud,n=96,order=hoisted", 1, 1, 0, &hoisted), 1ull << 48);
    ck_assert_uint_eq(stalls_of("rodinia-lud,n=96", 1, 1, 0, &instructions), 0x1fffffffffffeull);
}
END_TEST

START_TEST(broken_tiles_are_refused_and_huge_sizes_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-lud,n=40"), "a multiple of 32"));
    ck_assert_uint_eq(program_launches("rodinia-lud,n=131072,steps=0"), 3 * 4095 + 1);
    ck_assert_uint_eq(program_blocks("rodinia-lud,n=131072,steps=0", 2), 4095 * 4095);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-lud,n=96", 96 * 96 * 4);
}
END_TEST

TEST_MAIN("rodinia_lud")
