#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { POWER = 2 };

/* A cell's threads: every block whose tile holds it loads it; the one in whose middle it lies stores it. */
static void cell(struct program_notes *notes, const struct program *p, uint32_t launch, int64_t x, int64_t y, int64_t n,
                 int64_t height, int64_t steps)
{
    int64_t apart = 16 - 2 * steps, across = (n - 1) / (16 - 2 * height) + 1;
    for (int64_t by = 0; by < across; by++)
        for (int64_t bx = 0; bx < across; bx++) {
            int64_t tx = x + height - apart * bx, ty = y + height - apart * by;
            if (tx < 0 || tx > 15 || ty < 0 || ty > 15)
                continue;
            uint64_t block = (uint64_t)(by * across + bx), element = (uint64_t)(y * n + x);
            uint32_t t = (uint32_t)(16 * ty + tx);
            program_note(notes, launch, block, 256, t, 0, RECORD_READ, 4, program_at(p, launch % 2, element, 4));
            program_note(notes, launch, block, 256, t, 1, RECORD_READ, 4, program_at(p, POWER, element, 4));
            if (tx >= steps && tx + steps <= 15 && ty >= steps && ty + steps <= 15)
                program_note(notes, launch, block, 256, t, 2, RECORD_WRITE, 4,
                             program_at(p, 1 - launch % 2, element, 4));
        }
}

static void compare(int64_t n, int64_t height, int64_t iterations, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-hotspot,n=%lld,height=%lld,iterations=%lld", (long long)n,
                                    (long long)height, (long long)iterations);
    struct program program = program_opened(&w, spec, 0x10000, align);
    uint32_t launch = 0;
    for (int64_t done = 0; done < iterations; done += height, launch++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++)
                cell(&notes, &program, launch, x, y, n, height,
                     iterations - done < height ? iterations - done : height);
    ck_assert_uint_eq(program.ops->launches(program.state), launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_cell_is_loaded_by_every_tile_that_holds_it)
{
    static const int64_t sizes[] = {1, 7, 16, 33, 64};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare(sizes[i], 4, 2, 0);
        compare(sizes[i], 2, 5, 4);
        compare(sizes[i], 1, 3, 256);
        compare(sizes[i], 7, 15, 32);
    }
}
END_TEST

/* Source: two emulations of the kernel. */
START_TEST(sixty_four_cells_each_way_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-hotspot,n=64",
                   {0, .reads = {504, 14112, 2184, 1176, 1024, 256}, .writes = {192, 4096, 832, 448, 512, 128}});
    CHECK_LAUNCHES("rodinia-hotspot,n=64,height=2",
                   {0, .reads = {504, 14112, 2520, 1176, 1024, 256}, .writes = {192, 4096, 704, 448, 512, 128}});
}
END_TEST

START_TEST(ptx_waits_for_each_load_and_hoisted_for_both)
{
    uint32_t ptx, hoisted, idle;
    ck_assert_uint_eq(stalls_of("rodinia-hotspot,iterations=1", 0, 4, 0, &ptx), 6);
    ck_assert_uint_eq(stalls_of("rodinia-hotspot,iterations=1,order=hoisted", 0, 4, 0, &hoisted), 4);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(ptx, 158 - 9); /* the kernel's PTX but the end of a step that is not the last */
    /* Two steps of a block outside the grid: barriers only. */
    ck_assert_uint_eq(stalls_of("rodinia-hotspot,n=64", 0, 8 * 63, 0, &idle), 0);
    ck_assert_uint_eq(idle, 31 + 57 + 13 + 4 + 4 + 13 + 6 + 4);
}
END_TEST

START_TEST(tiles_without_a_middle_are_refused_and_large_chips_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-hotspot,height=8"), "expected 1"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-hotspot,n=46341"), "expected 1"));
    ck_assert_uint_eq(program_blocks("rodinia-hotspot,n=46340,iterations=100000", 0), 5793ull * 5793);
    ck_assert_uint_eq(program_launches("rodinia-hotspot,n=46340,iterations=100000"), 25000);
}
END_TEST

TEST_MAIN("rodinia_hotspot")
