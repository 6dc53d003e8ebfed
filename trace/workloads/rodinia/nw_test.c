#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/nw_testing.h"

enum { MAT, REF };

START_TEST(every_tile_is_loaded_and_stored_on_its_diagonal)
{
    for (uint64_t tiles = 1; tiles <= 6; tiles++)
        for (uint64_t align = 4; align <= 4096; align *= 8)
            for (int order = 0; order < 3; order++) {
                static const char *const orders[] = {"hoisted", "ptx", "together"};
                uint64_t cols = tiles * NW_TILE + 1;
                const char *spec =
                    testing_text("nw,bytes=%llu,order=%s", (unsigned long long)(8 * cols * cols), orders[order]);
                nw_compare(spec, MAT, (int64_t)cols, 0x10000 + align, align);
            }
    nw_compare("nw,bytes=40000", MAT, 65, 0, 0);
    nw_compare("nw,n=48", MAT, 49, 0, 0);
}
END_TEST

/* 33 x 33 ints, the reference first, from 0xC0000000 on, each on 256 B. Source: emulation of Rodinia's kernels. */
START_TEST(two_tiles_make_the_emulated_counts)
{
    struct workload w;
    struct program program = program_opened(&w, "nw,bytes=8712", 0, 0);
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(allocs[REF].bytes, 33 * 33 * 4);
    allocs[REF].addr = 0xC0000000u;
    allocs[MAT].addr = (allocs[REF].addr + allocs[REF].bytes + 255) / 256 * 256;
    CHECK_OPEN(&program, {0, .reads = {19, 289, 66, 35, 65, 34}, .writes = {16, 256, 46, 17, 46, 17}},
               {1, .reads = {38, 578, 132, 98, 128, 66}, .writes = {32, 512, 92, 60, 91, 33}},
               {2, .reads = {19, 289, 66, 35, 65, 34}, .writes = {16, 256, 46, 17, 46, 17}}); /* kernel 2 */
    workload_close(&w);
}
END_TEST

START_TEST(hoisted_waits_at_barriers_and_ptx_for_each_load)
{
    uint32_t hoisted, ptx;
    /* Forth: 17 loads, barrier, column, barrier, row, barrier, stores. */
    ck_assert_uint_eq(stalls_of("nw,bytes=8712", 0, 0, 0, &hoisted), 1ull << 17 | 1ull << 19 | 1ull << 21);
    ck_assert_uint_eq(stalls_of("nw,bytes=8712,order=ptx", 0, 0, 0, &ptx), 0x3fffe | 1ull << 19 | 1ull << 21);
    ck_assert_uint_eq(hoisted, ptx);
    /* Back: 16 loads, barrier, corner and column, barrier, row, barrier, stores. */
    ck_assert_uint_eq(stalls_of("nw,bytes=8712", 2, 0, 0, &hoisted), 1ull << 16 | 1ull << 19 | 1ull << 21);
    ck_assert_uint_eq(stalls_of("nw,bytes=8712,order=ptx", 2, 0, 0, &ptx),
                      0x1fffe | 1ull << 18 | 1ull << 19 | 1ull << 21);
    /* Corner, row, 16 of the reference, column, barrier, stores: one wait. */
    ck_assert_uint_eq(stalls_of("nw,bytes=8712,order=together", 0, 0, 0, &hoisted), 1ull << 19);
    ck_assert_uint_eq(stalls_of("nw,bytes=8712,order=together", 2, 0, 0, &hoisted), 1ull << 19);
}
END_TEST

START_TEST(sizes_without_a_tile_are_refused_and_huge_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("nw,bytes=2311"), "expected 2312"));
    ck_assert_ptr_nonnull(strstr(program_refused("nw,n=40"), "expected a multiple of 16"));
    struct workload w;
    struct program program = program_opened(&w, "nw,bytes=4TiB", 0, 0);
    struct program_launch launch = {0};
    static struct program_body body;
    uint32_t last = program.ops->launches(program.state) - 1;
    program.ops->launch(program.state, last, &launch);
    ck_assert_uint_eq(launch.blocks, 1);
    ck_assert_int_eq(program_body(&program, w.state, last, 0, 0, &body, NULL), 1);
    const struct program_access *store = &body.access[body.count - 1];
    size_t n;
    const struct program_alloc *matrix = &program.ops->allocs(program.state, &n)[MAT];
    ck_assert_uint_eq(program_addr(store, 15, 0) + 4, matrix->addr + matrix->bytes); /* the last element */
    workload_close(&w);
}
END_TEST

TEST_MAIN("nw")
