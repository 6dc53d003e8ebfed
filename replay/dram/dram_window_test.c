#include "replay/dram/dram_partition.h"

#include "replay/dram/dram_testing.h"

/* Bursts of writes to a few banks: fewer in flight, later done. */
START_TEST(a_smaller_window_is_slower)
{
    struct err err = {""};
    struct input input;
    struct dram_stream stream;
    struct dram_stats one, all;
    struct platform *platform = platform_load("gv100", &err);
    const char *path = test_import("fixtures/dram/m08_writebacks_32_128.csv.xz", "writes.offchip");
    ck_assert_msg(platform && !input_open(&input, path, "", false, &err), "%s", err.msg);
    ck_assert(!dram_stream_load(&stream, &input, 1, 1, platform, DRAM_CLOCK_DRAM, NULL, &err));
    const int64_t slow = test_window(&stream, platform, 0, 1, 0, &one);
    ck_assert_int_gt(slow, 2 * test_window(&stream, platform, 0, 640, 0, &all));
    ck_assert_int_eq(one.in[DRAM_MEM], all.in[DRAM_MEM]);
    dram_stream_release(&stream);
    input_close(&input);
    platform_free(platform);
}
END_TEST

TEST_MAIN("dram_window", a_smaller_window_is_slower)
