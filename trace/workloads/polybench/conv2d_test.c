#include "trace/workloads/program_testing.h"

static void compare(const char *spec, uint64_t n, uint64_t m, uint64_t base, uint64_t align)
{
    struct workload w;
    struct program program = program_opened(&w, spec, base, align);
    struct program_notes notes = {0};
    uint64_t across = (m + 31) / 32, down = (n + 7) / 8;
    for (uint64_t by = 0; by < down; by++)
        for (uint64_t bx = 0; bx < across; bx++)
            for (uint32_t ty = 0; ty < 8; ty++)
                for (uint32_t tx = 0; tx < 32; tx++) {
                    int64_t i = (int64_t)(by * 8 + ty), j = (int64_t)(bx * 32 + tx), M = (int64_t)m;
                    if (!(i > 0 && j > 0 && i < (int64_t)n - 1 && j < M - 1))
                        continue;
                    uint64_t when = 0;
                    for (int y = -1; y <= 1; y++)
                        for (int x = -1; x <= 1; x++)
                            program_note(&notes, 0, by * across + bx, 256, ty * 32 + tx, when++, RECORD_READ, 4,
                                         program_at(&program, 0, (uint64_t)((i + y) * M + j + x), 4));
                    program_note(&notes, 0, by * across + bx, 256, ty * 32 + tx, when, RECORD_WRITE, 4,
                                 program_at(&program, 1, (uint64_t)(i * M + j), 4));
                }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(a_warp_loads_nine_points_each_and_stores_one)
{
    static const uint64_t sizes[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 34, 65, 100, 129};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t align = 4; align <= 4096; align *= 8) {
            compare(testing_text("conv2d,n=%llu", (unsigned long long)sizes[i]), sizes[i], sizes[i], 0x10000 + align,
                    align);
        }
    compare("conv2d,bytes=128KiB", 128, 128, 0, 0);
    compare("conv2d,n=20,m=70", 20, 70, 0, 0);
    compare("conv2d,n=70,m=33", 70, 33, 0, 0);
    compare("conv2d,bytes=100000", 96, 96, 0, 0);
}
END_TEST

START_TEST(all_loads_are_issued_before_the_first_is_used)
{
    struct workload w;
    struct program program = program_opened(&w, "conv2d,n=64", 0, 0);
    static struct program_body body;
    ck_assert_int_eq(program_body(&program, w.state, 0, 1, 0, &body, NULL), 1);
    ck_assert_uint_eq(program_stalls(&body), 1 << 9); /* before the store */
    ck_assert_uint_eq(program_instructions(&body), 66);
    ck_assert_int_eq(program_body(&program, w.state, 0, 0, 0, &body, NULL), 1); /* row 0: on the border */
    ck_assert_uint_eq(body.count, 0);
    workload_close(&w);
}
END_TEST

START_TEST(sizes_without_a_point_are_refused_and_huge_ones_open_at_once)
{
    struct err err = {""};
    struct program_launch launch = {0};
    struct workload most;
    struct program whole = program_opened(&most, "conv2d,bytes=4TiB", 0, 0);
    whole.ops->launch(whole.state, 0, &launch);
    ck_assert_int_eq(program_check_launch(&launch, 0, &err), -1); /* 2^39 points, 32 to a warp */
    ck_assert_ptr_nonnull(strstr(err.msg, "2^32 - 2 warps"));
    workload_close(&most);
    ck_assert_ptr_nonnull(strstr(program_refused("conv2d,bytes=8191"), "expected 8KiB to 4TiB"));
    struct workload w;
    struct program program = program_opened(&w, "conv2d,bytes=256GiB,compute_ns=5", 0, 0);
    static struct program_body body;
    program.ops->launch(program.state, 0, &launch);
    ck_assert_msg(program_check_launch(&launch, 0, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(program_body(&program, w.state, 0, program_warps(&launch) - 2, 0, &body, &err), 1);
    ck_assert_uint_eq(body.count, 10);
    ck_assert_int_eq(program.compute_ns, 5);
    workload_close(&w);
}
END_TEST

TEST_MAIN("conv2d")
