#include "trace/workloads/program_testing.h"

enum { A, R, S, P, Q };

/* A loop of n trips unrolled by u: trip number i of a thread. Unrolled trips come before those left over, and all have
 * the same order, so that when they come is their number. */
static void compare(const char *spec, uint64_t n, uint32_t kernel, uint64_t base, uint64_t align)
{
    struct workload w;
    struct program program = program_opened(&w, spec, base, align);
    struct program_notes notes = {0};
    uint32_t launch = 0;
    for (uint32_t k = 1; k <= 2; k++) {
        if (kernel && kernel != k)
            continue;
        for (uint64_t block = 0; block < (n + 255) / 256; block++)
            for (uint32_t t = 0; t < 256; t++) {
                uint64_t thread = block * 256 + t;
                for (uint64_t i = 0; thread < n && i < n; i++) {
                    uint64_t element = k == 1 ? i * n + thread : thread * n + i;
                    program_note(&notes, launch, block, 256, t, 2 * i, RECORD_READ, 4,
                                 program_at(&program, A, element, 4));
                    program_note(&notes, launch, block, 256, t, 2 * i + 1, RECORD_READ, 4,
                                 program_at(&program, k == 1 ? R : P, i, 4));
                }
                if (thread < n)
                    program_note(&notes, launch, block, 256, t, 2 * n, RECORD_WRITE, 4,
                                 program_at(&program, k == 1 ? S : Q, thread, 4));
            }
        launch++;
    }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_thread_adds_up_a_column_or_a_row)
{
    static const uint64_t sizes[] = {1, 3, 4, 5, 31, 33, 64, 100, 257};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t kernel = 0; kernel <= 2; kernel++)
            for (uint32_t unroll = 1; unroll <= 16; unroll += 3) {
                const char *spec =
                    testing_text("bicg,n=%llu,kernel=%u,unroll=%u", (unsigned long long)sizes[i], kernel, unroll);
                compare(spec, sizes[i], kernel, 0x10000, 4u << unroll % 8);
            }
}
END_TEST

START_TEST(the_loads_of_four_trips_are_issued_together)
{
    struct workload w;
    struct program program = program_opened(&w, "bicg,n=1026", 0, 0);
    static struct program_body body;
    for (uint32_t launch = 0; launch < 2; launch++) {
        ck_assert_int_eq(program_body(&program, w.state, launch, 0, 0, &body, NULL), 1);
        ck_assert_uint_eq(body.count, 8);
        ck_assert_uint_eq(body.turns, 256);
        ck_assert_uint_eq(program_stalls(&body), 0); /* but at the end of the turn */
        ck_assert_uint_eq(program_instructions(&body), launch ? 23 : 30);
        ck_assert_int_eq(program_body(&program, w.state, launch, 0, 1, &body, NULL), 1);
        ck_assert_uint_eq(body.turns, 2); /* left over */
        ck_assert_uint_eq(body.count, 2);
        ck_assert_int_eq(program_body(&program, w.state, launch, 0, 2, &body, NULL), 1);
        ck_assert_uint_eq(body.access[0].kind, RECORD_WRITE);
        ck_assert_int_eq(program_body(&program, w.state, launch, 0, 3, &body, NULL), 0);
    }
    workload_close(&w);
}
END_TEST

START_TEST(sizes_without_a_row_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("bicg,bytes=4MB"), "expected 4MiB to 4TiB"));
    struct workload w;
    (void)program_opened(&w, "bicg,bytes=4TiB", 0, 0);
    workload_close(&w);
}
END_TEST

TEST_MAIN("bicg")
