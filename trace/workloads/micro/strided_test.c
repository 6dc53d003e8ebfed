#include "trace/workloads/program_testing.h"

/* Thread by thread: a trip is a load; lanes go side by side. */
static void compare(const char *spec, uint64_t threads, uint32_t block, uint64_t chunk)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0x10000, 4u << chunk % 9);
    struct program_notes notes = {0};
    for (uint64_t t = 0; t < threads; t++)
        for (uint64_t i = 0; i < chunk; i++)
            program_note(&notes, 0, t / block, block, (uint32_t)(t % block), i, RECORD_READ, 4,
                         program_at(&program, 0, t * chunk + i, 4));
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(threads_read_a_chunk_each)
{
    static const uint32_t blocks[] = {1, 7, 32, 100, 256, 1024};
    static const uint64_t chunks[] = {1, 2, 5, 32, 33};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t c = 0; c < sizeof chunks / sizeof *chunks; c++)
            for (uint64_t threads = 1; threads < 700; threads = threads * 3 + 1)
                for (int unroll = 1; unroll <= 8; unroll += 3) {
                    const char *spec = testing_text("strided,bytes=%llu,chunk=%llu,threads=%u,unroll=%d",
                                                    (unsigned long long)(threads * chunks[c] * 4 + 3),
                                                    (unsigned long long)chunks[c], blocks[b], unroll);
                    compare(spec, threads, blocks[b], chunks[c]);
                }
}
END_TEST

START_TEST(four_loads_are_under_way_together)
{
    struct workload w;
    struct program program = program_opened(&w, "strided,bytes=1MiB", 0, 0);
    static struct program_body body;
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 0, &body, NULL), 1);
    ck_assert_uint_eq(body.count, 4);
    ck_assert_uint_eq(body.turns, 8);
    ck_assert_uint_eq(program_stalls(&body), 0);
    workload_close(&w);
}
END_TEST

START_TEST(an_array_without_a_chunk_or_with_too_many_is_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("strided,bytes=100"), "a chunk of 32 words takes 128"));
    ck_assert_ptr_nonnull(strstr(program_refused("strided,bytes=256GiB,chunk=1,threads=1"), "2^32 - 2 warps"));
}
END_TEST

TEST_MAIN("strided")
