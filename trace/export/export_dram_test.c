#include "trace/export/exporter.h"

#include "trace/import/reader.h"
#include "trace/import/testing_dram.h"

#define ROWS                                                                                                           \
    "id,arrival_cycle,kind,bank,row,col,channel\n0,5,RD,3,100,7,31\n1,6,WR,15,4095,63,0\n2,8,WR96,1,9,0,2\n"           \
    "3,9,PIM,8,5000,7,0\n"

/* Export the trace that was read last; returns the text. */
static const char *export(const struct exporter *exporter, uint64_t *skips)
{
    static char text[4096];
    struct store *store = GIVES(store_open(testing_file("read.offchip"), &err));
    memset(text, 0, sizeof text);
    FILE *to = fmemopen(text, sizeof text - 1, "w");
    struct exporter_context context = {.store = store, .to = to};
    WORKS(exporter->write(exporter, &context, &err));
    *skips = context.skip_count ? context.skips[0].n : 0;
    (void)fclose(to);
    store_close(store);
    return text;
}

/* Exported, read again and exported again: the same text. */
static void round_trip(const struct exporter *exporter, const struct reader *reader, uint64_t left_out)
{
    uint64_t skips;
    char first[4096];
    ck_assert_int_eq(dram_read_text(&read_dram_csv, ROWS, NULL, true), 0);
    (void)snprintf(first, sizeof first, "%s", export(exporter, &skips));
    ck_assert_uint_eq(skips, left_out);
    ck_assert_msg(!dram_read_text(reader, first, NULL, true), "%s", dram_got_err.msg);
    ck_assert_str_eq(export(exporter, &skips), first);
}

START_TEST(dram_csv_round_trips)
{
    uint64_t skips;
    round_trip(&export_dram_csv, &read_dram_csv, 0);
    ck_assert_str_eq(export(&export_dram_csv, &skips), ROWS);
}
END_TEST

START_TEST(dramsim3_round_trips_without_pim)
{
    round_trip(&export_dramsim3, &read_dramsim3, 1);
    ck_assert_uint_eq(dram_got_count, 3);
    ck_assert_int_eq(dram_got[1].time, 6);
}
END_TEST

START_TEST(ramulator_round_trips_without_pim)
{
    round_trip(&export_ramulator, &read_ramulator, 1);
    ck_assert_uint_eq(dram_got_count, 3);
    ck_assert_int_eq(dram_read_text(&read_ramulator, "LD 0x40\nST 0x80\n", NULL, true), 0);
    uint64_t skips;
    ck_assert_str_eq(export(&export_ramulator, &skips), "LD 0x40\nST 0x80\n");
}
END_TEST

TEST_MAIN("export_dram")
