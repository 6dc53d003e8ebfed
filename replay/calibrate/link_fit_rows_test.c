#include "replay/calibrate/link_fit.h"

#include "trace/base/testing.h"
#include "trace/store/store.h"

static int read_text(struct link_rows *rows, const char *text, struct err *err)
{
    return link_rows_read(rows, testing_write("rows.csv", text, strlen(text)), err);
}

START_TEST(columns_stand_in_any_order_and_unknown_ones_are_passed_over)
{
    struct link_rows rows = {0};
    WORKS(read_text(&rows,
                    "# a comment\nname,time_ns,host64_lines,what,req128,req96,req64,req32,copy_bytes\n"
                    "shifted,2.5e3,11,x,0,3,0,5,\n\ncopied,1000,,,,,,,4096\n",
                    &err));
    ck_assert_uint_eq(rows.count, 2);
    const struct link_row *r = rows.rows;
    ck_assert_str_eq(r->name, "shifted");
    ck_assert_double_eq(r->time_ns, 2500);
    ck_assert_uint_eq(r->launch.mix.by_size[0], 5);
    ck_assert_uint_eq(r->launch.mix.by_size[2], 3);
    ck_assert_uint_eq(r->launch.mix.host_lines, 11);
    ck_assert_double_eq(r->launches, 1);
    ck_assert(!link_row_is_copy(r) && r->lines_known);
    ck_assert(link_row_is_copy(&r[1]));
    ck_assert_double_eq(r[1].copies, 1);
    link_rows_release(&rows);
}
END_TEST

#define HEADER "req32,req64,req96,req128,host64_lines,copy_bytes,time_ns\n"

START_TEST(wrong_rows_name_file_line_and_what_was_expected)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"time_ns,req32\n1,1\n", "rows.csv:1: found the header 'time_ns,req32'; expected time_ns and either"},
               {"time_ns,req32,req64,req96,host64_lines\n1,1,0,0,1\n", "expected time_ns and either"},
               {"req32,req64,req96,req128,host64_lines\n1,1,0,0,1\n", "expected time_ns and either"},
               {"req32,req32,time_ns\n", "column req32 is given twice"},
               {HEADER "1,0,0,0,1,,x\n", "rows.csv:2: time_ns: 'x' is not a number"},
               {HEADER "1,0,0,0,1,,0\n", "rows.csv:2: time_ns must be above 0"},
               {HEADER "1,0,0,0,1,,-5\n", "time_ns is -5; expected 0 to 1e15"},
               {HEADER "1,0,0,0,1e99,,5\n", "host64_lines is 1e99; expected 0 to 1e15"},
               {HEADER "1,0,0,0,1\n", "rows.csv:2: 5 fields; the header has 7"},
               {HEADER "1,0,0,0,3,,5\n", "host64_lines is 3; expected one or two for each of the 1 requests"},
               {HEADER "0,0,0,0,0,,5\n", "expected either requests or copy_bytes above 0"},
               {HEADER "1,0,0,0,1,64,5\n", "expected either requests or copy_bytes above 0"},
               {HEADER "1,0,0,0,1,,1111111111111111111111111111111111111111111111111111111111111111111\n",
                "time_ns is longer than a number"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct link_rows rows = {0};
        struct err err = {""};
        ck_assert_int_eq(read_text(&rows, bad[i].text, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
        link_rows_release(&rows);
    }
}
END_TEST

static void count(struct store *store, const char *kernel, const char *name, double value)
{
    const struct store_value row[] = {STORE_V_TEXT(kernel), STORE_V_TEXT(name), STORE_V_REAL(value), STORE_V_TEXT(""),
                                      STORE_V_TEXT("test")};
    ck_assert_int_eq(store_row(store, "counters", row, 5, NULL), 0);
}

static void launch(struct store *store, int id, const char *kernel, int64_t duration)
{
    struct store_value row[16];
    for (size_t i = 0; i < 16; i++)
        row[i] = STORE_V_NULL;
    row[0] = STORE_V_INT(id);
    row[1] = STORE_V_TEXT(kernel);
    row[4] = STORE_V_INT(duration);
    ck_assert_int_eq(store_row(store, "kernels", row, 16, NULL), 0);
}

/* The H200's counters of 64 MiB shifted by 32 B: 1,046,918 requests, 2,097,152 sectors; down payload + 12 B, up 16 B
 * for each request. */
START_TEST(counters_of_a_recording_give_requests_and_payload)
{
    const char *path = testing_file("t.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    for (int i = 0; i < 2; i++) {
        count(store, "by_l2", "l2_sysmem_requests", 523459);
        count(store, "by_l2", "l2_sysmem_sectors", 1048576);
        launch(store, 1 + i, "by_l2", 900000);
    }
    count(store, "by_pcie", "pcie_write_bytes", 16.0 * 1046918);
    count(store, "by_pcie", "pcie_read_bytes", 67108864 + 12.0 * 1046918);
    count(store, "by_pcie", "pcie_write_bytes", -16000); /* no counts: passed over */
    count(store, "by_pcie", "pcie_write_bytes", 1e16);
    launch(store, 3, "by_pcie", 1800000);
    count(store, "once_counted", "l2_sysmem_requests", 10);
    count(store, "once_counted", "l2_sysmem_sectors", 10);
    launch(store, 4, "once_counted", 100);
    launch(store, 5, "once_counted", 100);
    launch(store, 6, "no_requests", 100);
    WORKS(store_finish(store, &err));
    store_close(store);

    struct link_rows rows = {0};
    WORKS(link_rows_read(&rows, path, &err));
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_uint_eq(rows.skipped, 1);
    for (int i = 0; i < 2; i++) {
        const struct link_row *r = &rows.rows[i];
        ck_assert_uint_eq(mix_requests(&r->launch.mix), 1046918);
        ck_assert_uint_eq(mix_payload(&r->launch.mix), 67108864);
        ck_assert(!r->lines_known);
        ck_assert_double_eq(r->time_ns, 1800000);
    }
    ck_assert_double_eq(rows.rows[0].launches, 2);
    link_rows_release(&rows);
}
END_TEST

TEST_MAIN("link_fit_rows")
