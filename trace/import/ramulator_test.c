#include "trace/import/reader.h"

#include "trace/event/dram_map.h"
#include "trace/import/testing_dram.h"

START_TEST(load_store_lines_are_addresses_without_time)
{
    ck_assert_int_eq(dram_read_text(&read_ramulator, "LD 0x12345680\nST 4096\n", NULL, true), 0);
    ck_assert_uint_eq(dram_got[0].addr, 0x12345680);
    ck_assert_uint_eq(dram_got[1].addr, 4096);
    ck_assert_int_eq(dram_got[1].kind, RECORD_DRAM_WRITE);
    ck_assert_int_eq(dram_got_stream.unit, TIME_NONE);
}
END_TEST

START_TEST(read_write_lines_are_address_vectors)
{
    ck_assert_int_eq(dram_read_text(&read_ramulator, "R 3,1,2,3,77,5\nW 0,0,0,0,0,0\n", NULL, true), 0);
    const struct dram_addr a = dram_addr_unpack(dram_got[0].addr);
    ck_assert_uint_eq(a.channel, 3 * 2 + 1);
    ck_assert_uint_eq(a.bank, 3 * 4 + 2);
    ck_assert_uint_eq(a.row, 77);
    ck_assert_uint_eq(a.column, 5);
    ck_assert_int_eq(dram_got_stream.space, ADDR_DRAM_PACKED);
}
END_TEST

START_TEST(first_version_puts_the_address_first)
{
    ck_assert_int_eq(dram_read_text(&read_ramulator, "0x40 R\n128 W\n", NULL, true), 0);
    ck_assert_uint_eq(dram_got[1].addr, 0x80);
    ck_assert_int_eq(dram_got[1].kind, RECORD_DRAM_WRITE);
}
END_TEST

START_TEST(instruction_traces_read_and_write_back)
{
    ck_assert_int_eq(dram_read_text(&read_ramulator, "3 20734016\n8 0x13DFC80 20841344\n1 x\n", NULL, false), 0);
    ck_assert_uint_eq(dram_got_count, 3);
    ck_assert_uint_eq(dram_got_skips, 1);
    ck_assert(dram_got[0].kind == RECORD_DRAM_READ && dram_got[0].addr == 20734016);
    ck_assert(dram_got[2].kind == RECORD_DRAM_WRITE && dram_got[2].addr == 20841344 && dram_got[2].id == 2);
}
END_TEST

START_TEST(bad_lines_are_named)
{
    static const char *const texts[][2] = {{"LD 0x40\nLD\n", "form of the first line"},
                                           {"LD 0x40\nLD 0x8000000000000000\n", "below 2^63"},
                                           {"LD 0x40\nR 0x40\n", "form of the first line"},
                                           {"R 0,0,0,0,0,0\nR 0,0,0,0,0\n", "as many numbers as levels"},
                                           {"R 0,0,0,0,0,0\nR 0,0,4,0,0,0\n", "too large (options groups"},
                                           {"0x40 R\n0x40 X\n", "form of the first line"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_int_eq(dram_read_text(&read_ramulator, texts[i][0], NULL, true), -1);
        ck_assert_msg(strstr(dram_got_err.msg, "line 2") && strstr(dram_got_err.msg, texts[i][1]), "%s",
                      dram_got_err.msg);
    }
    ck_assert_int_eq(dram_read_text(&read_ramulator, "R 20734016\nW 4096\n", NULL, false), -1);
    ck_assert_ptr_nonnull(strstr(dram_got_err.msg, "flat addresses stand behind LD and ST"));
    ck_assert_int_eq(dram_read_text(&read_ramulator, "hello\n", NULL, false), -1);
    ck_assert_int_eq(dram_read_text(&read_ramulator, "", NULL, false), -1);
}
END_TEST

START_TEST(probe_tells_the_dialects)
{
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "ST 77\n"), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "W 0,1\n"), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "0x40 R\n"), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "305419904 R\n"), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "3 20734016\n"), PROBE_MAYBE);
    ck_assert_int_eq(dram_probe_text(&read_ramulator, "0x40 READ 1\n"), PROBE_NO);
}
END_TEST

TEST_MAIN("ramulator")
