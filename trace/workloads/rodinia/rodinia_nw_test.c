#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/nw_testing.h"

enum { REF, MAT };

START_TEST(every_tile_is_loaded_and_stored_on_its_diagonal)
{
    nw_compare("rodinia-nw,n=16", MAT, 17, 0, 0);
    nw_compare("rodinia-nw,n=48", MAT, 49, 0, 0);
    nw_compare("rodinia-nw,n=96,order=hoisted", MAT, 97, 0, 0);
}
END_TEST

/* Source: emulation of Rodinia's kernels. */
START_TEST(two_tiles_make_the_emulated_counts)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-nw,n=32", 0, 0);
    ck_assert_uint_eq(program_at(&program, REF, 0, 4), 0xC0000000u);
    ck_assert_uint_eq(program_at(&program, MAT, 0, 4), 0xC0000000u + 4608);
    CHECK_OPEN(&program, {0, .reads = {19, 289, 66, 35, 65, 34}, .writes = {16, 256, 46, 17, 46, 17}},
               {1, .reads = {38, 578, 132, 98, 128, 66}, .writes = {32, 512, 92, 60, 91, 33}},
               {2, .reads = {19, 289, 66, 35, 65, 34}, .writes = {16, 256, 46, 17, 46, 17}});
    workload_close(&w);
}
END_TEST

START_TEST(each_value_is_used_before_the_next_is_loaded_unless_hoisted)
{
    uint32_t hoisted, ptx;
    ck_assert_uint_eq(stalls_of("rodinia-nw,order=hoisted", 0, 0, 0, &hoisted), 1ull << 17 | 1ull << 19 | 1ull << 21);
    ck_assert_uint_eq(stalls_of("rodinia-nw", 0, 0, 0, &ptx), 0x3fffe | 1ull << 19 | 1ull << 21);
    ck_assert_uint_eq(hoisted, ptx);
}
END_TEST

START_TEST(broken_tiles_are_refused_and_huge_sizes_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-nw,n=40"), "a multiple of 16"));
    ck_assert_uint_eq(program_launches("rodinia-nw,n=262144"), 32767);
    ck_assert_uint_eq(program_blocks("rodinia-nw,n=262144", 16383), 16384);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-nw,n=16", 17 * 17 * 4, 17 * 17 * 4);
}
END_TEST

TEST_MAIN("rodinia_nw")
