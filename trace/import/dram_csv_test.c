#include "trace/import/reader.h"

#include "trace/event/dram_map.h"
#include "trace/import/testing_dram.h"

#define HEADER "id,arrival_cycle,kind,bank,row,col\n"

START_TEST(kinds_and_places_are_kept)
{
    ck_assert_int_eq(
        dram_read_text(&read_dram_csv, HEADER "0,5,RD,3,100,7\n9,6,WR96,15,4095,63\r\n2,7,PIM,8,5000,0", NULL, true),
        0);
    ck_assert_uint_eq(dram_got_count, 3);
    ck_assert_int_eq(dram_got[0].kind, RECORD_DRAM_READ);
    ck_assert_int_eq(dram_got[0].time, 5);
    const struct dram_addr a = dram_addr_unpack(dram_got[1].addr);
    ck_assert_uint_eq(a.bank, 15);
    ck_assert_uint_eq(a.row, 4095);
    ck_assert_uint_eq(a.column, 63);
    ck_assert_int_eq(dram_got[1].kind, RECORD_DRAM_WRITEBACK);
    ck_assert_uint_eq(dram_got[1].bytes, 96);
    ck_assert_uint_eq(dram_got[1].id, 9);
    ck_assert_int_eq(dram_got[2].kind, RECORD_PIM);
    ck_assert_int_eq(dram_got_stream.unit, TIME_CYCLES);
    ck_assert_int_eq(dram_got_stream.clock_hz, 0);
    ck_assert_int_eq(dram_got_stream.space, ADDR_DRAM_PACKED);
}
END_TEST

START_TEST(a_seventh_column_is_the_channel)
{
    ck_assert_int_eq(
        dram_read_text(&read_dram_csv, "id,arrival_cycle,kind,bank,row,col,channel\n0,5,RD,3,0,7,31\n", NULL, true), 0);
    ck_assert_uint_eq(dram_addr_unpack(dram_got[0].addr).channel, 31);
    ck_assert_uint_eq(dram_addr_unpack(dram_got[0].addr).row, 0);
}
END_TEST

START_TEST(every_bad_field_is_named_with_its_line)
{
    static const char *const lines[][2] = {
        {"x,5,RD,3,100,7", "id"},
        {"0,-5,RD,3,100,7", "arrival_cycle"},
        {"0,5,READ,3,100,7", "kind"},
        {"0,5,RD,256,100,7", "bank"},
        {"0,5,RD,3,16777216,7", "row"},
        {"0,5,RD,3,1,65536", "col"},
        {"0,5,RD,3,100", "fields"},
        {"0,5,RD,3,100,7,1", "fields"},
        {"0,99999999999999999999,RD,3,1,1", "arrival_cycle"},
        {"0,4611686018427387904,RD,3,1,1", "arrival_cycle is not a number below 2^62"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = testing_text(HEADER "0,5,RD,3,100,7\n%s\n", lines[i][0]);
        ck_assert_int_eq(dram_read_text(&read_dram_csv, text, NULL, true), -1);
        ck_assert_msg(strstr(dram_got_err.msg, "line 3") && strstr(dram_got_err.msg, lines[i][1]), "%s",
                      dram_got_err.msg);
        ck_assert_int_eq(dram_read_text(&read_dram_csv, text, NULL, false), 0);
        ck_assert_uint_eq(dram_got_skips, 1);
        ck_assert_uint_eq(dram_got_count, 1);
    }
}
END_TEST

START_TEST(another_header_and_an_empty_file_are_refused)
{
    ck_assert_int_eq(dram_read_text(&read_dram_csv, "id,cycle\n", NULL, false), -1);
    ck_assert_int_eq(dram_read_text(&read_dram_csv, "", NULL, false), -1);
    ck_assert_int_eq(dram_read_text(&read_dram_csv, HEADER, NULL, false), -1);
    ck_assert_int_eq(dram_probe_text(&read_dram_csv, HEADER), PROBE_YES);
    ck_assert_int_eq(dram_probe_text(&read_dram_csv, "id,arrival"), PROBE_NO);
}
END_TEST

TEST_MAIN("dram_csv")
