#include "trace/import/reader.h"

#include "trace/import/testing_dram.h"

START_TEST(both_tools_operations_are_read)
{
    ck_assert_int_eq(
        dram_read_text(&read_dramsim3,
                       "0x1F40 READ 10\n  1f80\tWRITE\t12\n0x0 P_MEM_WR 13\n0x40 IFETCH 14\n0x80 BOFF 15\n\n", NULL,
                       true),
        0);
    ck_assert_uint_eq(dram_got_count, 5);
    ck_assert_uint_eq(dram_got[1].addr, 0x1f80);
    ck_assert_int_eq(dram_got[1].kind, RECORD_DRAM_WRITE);
    ck_assert_int_eq(dram_got[1].time, 12);
    ck_assert_int_eq(dram_got[3].kind, RECORD_DRAM_READ);
    ck_assert_int_eq(dram_got[4].kind, RECORD_DRAM_WRITE);
    ck_assert_int_eq(dram_got_stream.space, ADDR_BYTES);
}
END_TEST

START_TEST(an_unknown_operation_is_an_error_not_a_read)
{
    ck_assert_int_eq(dram_read_text(&read_dramsim3, "0x1F40 READ 10\n0x40 REFRESH 11\n", NULL, true), -1);
    ck_assert_ptr_nonnull(strstr(dram_got_err.msg, "line 2 '0x40 REFRESH 11': unknown operation"));
    ck_assert_int_eq(
        dram_read_text(&read_dramsim3,
                       "0x1F40 READ 10\n0x40 READ\n0xZZ READ 1\n0x40 READ x\n0x40 READ 4611686018427387904\n", NULL,
                       false),
        0);
    ck_assert_uint_eq(dram_got_skips, 4);
}
END_TEST

START_TEST(probe_takes_hex_operation_cycle_only)
{
    ck_assert_int_eq(dram_probe_text(&read_dramsim3, "0x1F40 READ 10\n"), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_dramsim3, "0x1F40 R\n"), PROBE_NO);
    ck_assert_int_eq(dram_probe_text(&read_dramsim3, "LD 0x40\n"), PROBE_NO);
}
END_TEST

TEST_MAIN("dramsim3")
