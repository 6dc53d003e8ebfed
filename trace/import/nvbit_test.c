#include "trace/import/testing_access.h"
#include "trace/store/testing_facts.h"

#define CTX "MEMTRACE: CTX 0x0000560000000000 - "
static const char printed[] =
    "------------- NVBit v1.5.5 Loaded --------------\n" CTX
    "LAUNCH - Kernel pc 0x0000000000000200 - Kernel name f - g(int, "
    "int) - grid launch id 0 - grid size 4,2,1 - block size 64,1,1 - nregs 16 - shmem 0 - cuda stream id 0\n" CTX
    "grid_launch_id 0 - CTA 1,1,0 - warp 1 - LDG.E.64 - 0x00007f0000100000 0x00007f0000100008 0x0000000000000000 \n"
    "the program prints this\n[1,0]<stdout>:" CTX
    "grid_launch_id 0 - CTA 0,0,0 - warp 0 - STG.E - 0x00007f0000200000 \n" CTX
    "grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDS - 0x0000000000000010 \n" CTX
    "grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDGSTS.E.128 - 0x0000000000000010 \n" CTX
    "grid_launch_id 7 - CTA 0,0,0 - warp 0 - ATOMG.E.ADD - 0x00007f0000300000 \n" CTX
    "grid_launch_id 0 - CTA 0,0,0 - warp 0 - STG.E - 0x00007f0000200000 \n" CTX "grid_launch_id 7 - CTA 0,0 - LDG.E\n";

START_TEST(warps_accesses_are_read_between_what_the_program_prints)
{
    const char *path = testing_write("mem_trace.txt", printed, strlen(printed));
    ck_assert_int_eq(read_nvbit.probe(path, (const unsigned char *)printed, strlen(printed)), PROBE_YES);
    struct store *store = testing_import(&read_nvbit, path, true);
    struct testing_accesses a = testing_read_accesses(store);
    ck_assert_int_eq(a.n, 3);
    ck_assert_int_eq(a.ends, 2); /* the second launch has no line of its own */
    ck_assert_uint_eq(testing_context.skips.total, 4);
    ck_assert_uint_eq(a.records[0].addr, 0x7f0000100000);
    ck_assert_uint_eq(a.records[0].bytes, 8);
    free(a.records);
    free(a.access);
    char *text = testing_trace_text(store);
    ck_assert_ptr_nonnull(strstr(text, "f - g(int, int)"));
    free(text);
    store_close(store);
}
END_TEST

TEST_MAIN("nvbit")
