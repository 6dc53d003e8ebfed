#include "trace/workloads/program_testing.h"

enum { EX, EY, HZ };

/* One thread notes its accesses one by one. */
struct thread {
    struct program_notes *notes;
    const struct program *program;
    uint32_t launch, number;
    uint64_t block, when, n, m;
};

static void touch(struct thread *t, uint32_t kind, unsigned array, uint64_t i, uint64_t j)
{
    program_note(t->notes, t->launch, t->block, 256, t->number, t->when++, kind, 4,
                 program_at(t->program, array, i * t->m + j, 4));
}

static void point(struct thread *t, uint64_t i, uint64_t j)
{
    uint64_t n = t->n, m = t->m;
    if (t->launch % 3 == 0 && i > 0 && i < n && j < m) {
        touch(t, RECORD_READ, HZ, i, j);
        touch(t, RECORD_READ, HZ, i - 1, j);
        touch(t, RECORD_READ, EY, i, j);
        touch(t, RECORD_WRITE, EY, i, j);
    }
    if (t->launch % 3 == 1 && j > 0 && i < n && j < m) {
        touch(t, RECORD_READ, HZ, i, j - 1);
        touch(t, RECORD_READ, HZ, i, j);
        touch(t, RECORD_READ, EX, i, j);
        touch(t, RECORD_WRITE, EX, i, j);
    }
    if (t->launch % 3 == 2 && i + 1 < n && j + 1 < m) {
        touch(t, RECORD_READ, EX, i, j);
        touch(t, RECORD_READ, EX, i, j + 1);
        touch(t, RECORD_READ, EY, i + 1, j);
        touch(t, RECORD_READ, EY, i, j);
        touch(t, RECORD_READ, HZ, i, j);
        touch(t, RECORD_WRITE, HZ, i, j);
    }
}

static void compare(const char *spec, uint64_t n, uint64_t m, uint32_t steps, uint64_t base, uint64_t align)
{
    struct workload w;
    struct program program = program_opened(&w, spec, base, align);
    struct program_notes notes = {0};
    uint64_t across = (m + 31) / 32, down = (n + 7) / 8;
    for (uint32_t launch = 0; launch < 3 * steps; launch++)
        for (uint64_t block = 0; block < across * down; block++)
            for (uint32_t number = 0; number < 256; number++) {
                struct thread t = {&notes, &program, launch, number, block, 0, n, m};
                point(&t, block / across * 8 + number / 32, block % across * 32 + number % 32);
            }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(three_kernels_a_step_load_and_store_what_the_source_says)
{
    static const uint64_t sizes[] = {1, 2, 7, 9, 32, 33, 50, 97};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t steps = 1; steps <= 2; steps++) {
            compare(testing_text("fdtd2d,n=%llu,steps=%u", (unsigned long long)sizes[i], steps), sizes[i], sizes[i],
                    steps, 0x10000, 4u << (2 * i));
        }
    compare("fdtd2d,bytes=50000,steps=1", 64, 64, 1, 0, 0);
    compare("fdtd2d,n=19,m=70,steps=2", 19, 70, 2, 0, 0);
}
END_TEST

START_TEST(all_loads_are_issued_before_the_first_is_used)
{
    struct workload w;
    struct program program = program_opened(&w, "fdtd2d,n=64", 0, 0);
    static const uint32_t stores[] = {3, 3, 5}, instructions[] = {48, 39, 50};
    static struct program_body body;
    for (uint32_t l = 0; l < 3; l++) {
        ck_assert_int_eq(program_body(&program, w.state, l, 2, 0, &body, NULL), 1);
        ck_assert_uint_eq(program_stalls(&body), 1u << stores[l]);
        ck_assert_uint_eq(program_instructions(&body), instructions[l]);
    }
    workload_close(&w);
}
END_TEST

START_TEST(sizes_without_a_point_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("fdtd2d,bytes=12KB"), "expected 12KiB to 4TiB"));
}
END_TEST

TEST_MAIN("fdtd2d")
