#include "trace/workloads/program_testing.h"

/* The shapes that every pattern is tried with: blocks and threads of a block. */
static const uint32_t shapes[][2] = {{1, 1}, {1, 7}, {3, 1}, {1, 32}, {2, 33}, {5, 100}, {1, 1024}, {70, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static uint64_t hash(uint64_t i)
{
    i *= 0x9E3779B97F4A7C15u;
    i ^= i >> 29;
    i *= 0xBF58476D1CE4E5B9u;
    i ^= i >> 32;
    return i;
}

/* Thread by thread, page by page. */
static void chunk(const char *spec, uint64_t pages, const uint32_t *shape, bool shuffled)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    struct program_notes notes = {0};
    uint64_t all = (uint64_t)shape[0] * shape[1], per = (pages + all - 1) / all;
    for (uint64_t block = 0; block < shape[0]; block++)
        for (uint32_t t = 0; t < shape[1]; t++) {
            uint64_t thread = block * shape[1] + t, first = thread * per,
                     end = first + per < pages ? first + per : pages;
            for (uint64_t p = 0; first + p < end; p++) {
                uint64_t m = end - first, page = first + p;
                if (shuffled)
                    page = first + (hash(2 * thread + 1) % m + p * (hash(2 * thread + 2) % m | 1)) % m;
                program_note(&notes, 0, block, shape[1], t, 2 * p, RECORD_READ, 4, program_at(&program, 0, page, 4096));
                program_note(&notes, 0, block, shape[1], t, 2 * p + 1, RECORD_WRITE, 4,
                             program_at(&program, 1, page, 4096));
            }
        }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(chunks_are_copied_page_by_page_by_the_thread_that_owns_them)
{
    static const uint64_t sizes[] = {1, 2, 31, 33, 64, 100, 999, 2048};
    for (int s = 0; s < SHAPES; s++)
        for (int i = 0; i < 8; i++)
            for (int shuffled = 0; shuffled < 2; shuffled++) {
                const char *spec = testing_text(
                    "array,pattern=%s,bytes=%llu,blocks=%u,threads=%u", shuffled ? "chunk-random" : "chunk",
                    (unsigned long long)(sizes[i] * 8192 + 4100), shapes[s][0], shapes[s][1]);
                chunk(spec, sizes[i], shapes[s], shuffled);
            }
}
END_TEST

START_TEST(a_random_chunk_of_a_power_of_two_is_visited_whole)
{
    struct workload w;
    struct program program = program_opened(&w, "array,pattern=chunk-random,bytes=8MiB,blocks=2,threads=8", 0, 0);
    static struct program_body body;
    static bool seen[1024];
    uint64_t base = program_at(&program, 0, 0, 1);
    for (uint64_t warp = 0; warp < 2; warp++)
        for (uint32_t i = 0; program_body(&program, w.state, 0, warp, i, &body, NULL) == 1; i++)
            for (unsigned lane = 0; lane < 8; lane++) {
                uint64_t page = (program_addr(&body.access[0], lane, 0) - base) / 4096;
                ck_assert(!seen[page]);
                seen[page] = true;
            }
    for (int page = 0; page < 1024; page++)
        ck_assert(seen[page]);
    workload_close(&w);
}
END_TEST

TEST_MAIN("array_chunk")
