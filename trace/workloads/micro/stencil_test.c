#include "trace/workloads/program_testing.h"

static void compare(const char *spec, uint64_t n, uint64_t align)
{
    static const int points[6][2] = {{-1, 0}, {-1, -1}, {1, 0}, {0, -1}, {0, 1}, {0, 0}};
    struct workload w;
    struct program program = program_opened(&w, spec, 0x10000 + align, align);
    struct program_notes notes = {0};
    uint64_t across = (n + 31) / 32;
    for (int64_t i = 1; i + 1 < (int64_t)n; i++)
        for (int64_t j = 1; j + 1 < (int64_t)n; j++) {
            uint64_t block = (uint64_t)i / 8 * across + (uint64_t)j / 32;
            uint32_t thread = (uint32_t)(i % 8 * 32 + j % 32);
            for (uint64_t k = 0; k < 6; k++) {
                int64_t at = (i + points[k][0]) * (int64_t)n + j + points[k][1];
                program_note(&notes, 0, block, 256, thread, k, RECORD_READ, 4,
                             program_at(&program, 0, (uint64_t)at, 4));
            }
            program_note(&notes, 0, block, 256, thread, 6, RECORD_WRITE, 4,
                         program_at(&program, 1, (uint64_t)i * n + (uint64_t)j, 4));
        }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(a_warp_loads_six_points_each_and_stores_one)
{
    static const uint64_t sizes[] = {1, 2, 3, 8, 9, 31, 32, 33, 34, 65, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t align = 4; align <= 4096; align *= 32) {
            compare(testing_text("stencil,n=%llu", (unsigned long long)sizes[i]), sizes[i], align);
        }
}
END_TEST

START_TEST(all_loads_are_issued_before_the_first_is_used)
{
    struct workload w;
    struct program program = program_opened(&w, "stencil,n=64", 0, 0);
    static struct program_body body;
    ck_assert_int_eq(program_body(&program, w.state, 0, 1, 0, &body, NULL), 1);
    ck_assert_uint_eq(program_stalls(&body), 1 << 6); /* before the store */
    for (uint32_t i = 0, at = 0; i < 6; at += body.access[i++].before + 1u)
        ck_assert_uint_eq(at + body.access[i].before + body.access[i].use, 13 + 10); /* by the same instruction */
    workload_close(&w);
}
END_TEST

TEST_MAIN("stencil")
