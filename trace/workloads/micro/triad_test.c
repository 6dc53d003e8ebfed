#include "trace/workloads/program_testing.h"

enum { A, B, C };

/* The loop of each thread, unrolled by u: the turns of u trips, then those left over. Warps do the former first. */
static void compare(const char *spec, uint64_t n, uint32_t blocks, uint32_t threads, uint64_t unroll)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0x10000, 4u << blocks % 9);
    struct program_notes notes = {0};
    uint64_t all = (uint64_t)blocks * threads;
    for (uint64_t block = 0; block < blocks; block++)
        for (uint32_t t = 0; t < threads; t++) {
            uint64_t i = block * threads + t, trip = 0;
            for (; i + (unroll - 1) * all < n; i += unroll * all)
                for (uint64_t k = 0; k < unroll; k++, trip++)
                    for (unsigned array = A; array <= C; array++)
                        program_note(&notes, 0, block, threads, t, trip * 3 + array,
                                     array == C ? RECORD_WRITE : RECORD_READ, 4,
                                     program_at(&program, array, i + k * all, 4));
            for (; i < n; i += all, trip++)
                for (unsigned array = A; array <= C; array++)
                    program_note(&notes, 0, block, threads, t, (1ull << 32) + trip * 3 + array,
                                 array == C ? RECORD_WRITE : RECORD_READ, 4, program_at(&program, array, i, 4));
        }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(threads_stride_over_the_arrays)
{
    static const uint32_t shapes[][2] = {{1, 1}, {1, 7}, {3, 1}, {1, 32}, {2, 33}, {5, 100}, {1, 1024}, {300, 1}};
    static const uint64_t sizes[] = {1, 2, 31, 33, 64, 100, 999, 2048, 5003};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (uint32_t unroll = 1; unroll <= 8; unroll += unroll < 4 ? 1 : 4) {
                const char *spec =
                    testing_text("triad,bytes=%llu,blocks=%u,threads=%u,unroll=%u",
                                 (unsigned long long)sizes[i] * 12 + 5, shapes[s][0], shapes[s][1], unroll);
                compare(spec, sizes[i], shapes[s][0], shapes[s][1], unroll);
            }
}
END_TEST

START_TEST(a_load_does_not_pass_the_store_before_it)
{
    struct workload w;
    struct program program = program_opened(&w, "triad,bytes=12MiB,blocks=4,unroll=2", 0, 0);
    static struct program_body body;
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.count, 6);
    ck_assert_uint_eq(body.turns, (1 << 20) / 1024 / 2);
    ck_assert_uint_eq(program_stalls(&body), 1 << 2 | 1 << 5); /* each store waits for its loads */
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 1, &body, NULL), 0);
    workload_close(&w);
}
END_TEST

START_TEST(sizes_without_an_element_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("triad,bytes=11"), "expected 12 "));
    ck_assert_ptr_nonnull(strstr(program_refused("triad,threads=1025"), "threads"));
    struct workload w;
    (void)program_opened(&w, "triad,bytes=4TiB,blocks=1048576,threads=1024", 0, 0);
    workload_close(&w);
}
END_TEST

TEST_MAIN("triad")
