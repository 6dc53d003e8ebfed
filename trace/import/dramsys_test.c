#include "trace/import/testing_dram.h"

START_TEST(cycles_operations_addresses_and_bytes)
{
    static const char stl[] =
        "# a comment\n31 :\tread\t0x400140\n\n33: (s16) Write 40 0x00ff\n34: fetch 0x1\nx: read 0x1\n";
    ck_assert_int_eq(dram_probe_text(&read_dramsys, stl), PROBE_YES);
    ck_assert_int_eq(dram_read_text(&read_dramsys, stl, NULL, false), 0);
    ck_assert_uint_eq(dram_got_count, 2);
    ck_assert_uint_eq(dram_got_skips, 2);
    ck_assert(dram_got[0].time == 31 && dram_got[0].addr == 0x400140 && dram_got[0].bytes == 64 &&
              dram_got[0].kind == RECORD_DRAM_READ);
    ck_assert(dram_got[1].time == 33 && dram_got[1].addr == 0x40 && dram_got[1].bytes == 16 &&
              dram_got[1].kind == RECORD_DRAM_WRITE);
    ck_assert_str_eq(dram_got_stream.clock, "dram");
}
END_TEST

START_TEST(prospero_has_decimal_addresses)
{
    static const char prospero[] = "1 R 140737488355328 8\n2 W 4096 64\n3 X 4096 64\n";
    ck_assert_int_eq(dram_probe_text(&read_dramsys, prospero), PROBE_YES);
    ck_assert_int_eq(dram_read_text(&read_dramsys, prospero, NULL, false), 0);
    ck_assert_uint_eq(dram_got_count, 2);
    ck_assert(dram_got[0].addr == 140737488355328 && dram_got[0].bytes == 8 && dram_got[1].time == 2);
    ck_assert_int_eq(dram_read_text(&read_dramsys, prospero, NULL, true), -1);
    ck_assert_int_eq(dram_probe_text(&read_dramsys, "1 R 4096\n"), PROBE_NO);
    ck_assert_int_eq(dram_probe_text(&read_dramsys, "0x10 READ 5\n"), PROBE_NO);
    ck_assert_int_eq(dram_read_text(&read_dramsys, "1: read\n", NULL, false), -1); /* nothing is left */
}
END_TEST

TEST_MAIN("dramsys")
