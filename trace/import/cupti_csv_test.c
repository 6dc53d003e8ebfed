#include "trace/import/reader.h"

#include "trace/base/testing.h"
#include "trace/import/testing_memory.h"

/* Read `text` into a fresh trace; returns the reader's result. The trace is left open for writing. */
static int import(const char *text, struct reader_context *context, struct err *err)
{
    struct input_stream *source = input_stream_from_memory(text, strlen(text), err);
    ck_assert_ptr_nonnull(source);
    context->store = store_create(testing_file("t.db"), true, "test", err);
    ck_assert_msg(context->store != NULL, "%s", err->msg);
    context->path = "in.csv";
    int rc = reader_run(&read_cupti_csv, context, source, err);
    input_stream_close(source);
    return rc;
}

/* The records of the only stream, up to cap. */
static size_t records_of(struct store *store, struct record *out, size_t cap)
{
    struct err err = {""};
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    ck_assert_msg(cursor != NULL, "%s", err.msg);
    const struct record *records;
    size_t n, total = 0;
    while (store_cursor_next(cursor, &records, NULL, &n, &err) > 0)
        for (size_t i = 0; i < n && total < cap; i++)
            out[total++] = records[i];
    store_cursor_close(cursor);
    return total;
}

START_TEST(every_counter_kind_becomes_its_record)
{
    static const char text[] = "K,100,900,foo<int, 4>(float*)\n"
                               "1,100,250,7f0000000000,8192,0,0,0,1,2\n"
                               "2,300,310,7f0000001000,4096,0,0,0,1,4\n"
                               "3,400,0,7f0000002000,94507479715326,0,0,0,1,2\r\n"
                               "4,500,510,7f0000003000,7,0,0,0,1,1\n"
                               "5,600,0,7f0000004000,4096,0,0,0,1,0\n"
                               "6,700,720,7f0000005000,0,0,0,0,1,0\n"
                               "7,800,0,7f0000006000,65536,0,0,0,1,3\n"
                               "8,900,950,ffffffffffffe000,4096,1,2,0,1,1\n";
    static const struct record want[] = {
        {.kind = RECORD_KERNEL, .time = 100, .duration = 800},
        {.kind = RECORD_MIGRATE_H2D, .time = 100, .duration = 150, .addr = 0x7f0000000000, .bytes = 8192, .flags = 2},
        {.kind = RECORD_MIGRATE_D2H, .time = 300, .duration = 10, .addr = 0x7f0000001000, .bytes = 4096, .flags = 4},
        {.kind = RECORD_CPU_FAULT, .time = 400, .addr = 0x7f0000002000, .id = 94507479715326, .flags = 2},
        {.kind = RECORD_FAULT, .time = 500, .duration = 10, .addr = 0x7f0000003000, .bytes = 7, .flags = 1},
        {.kind = RECORD_THRASH, .time = 600, .addr = 0x7f0000004000, .bytes = 4096},
        {.kind = RECORD_THROTTLE, .time = 700, .duration = 20, .addr = 0x7f0000005000},
        {.kind = RECORD_REMOTE_MAP, .time = 800, .addr = 0x7f0000006000, .bytes = 65536, .flags = 3},
        {.kind = RECORD_MIGRATE_D2D,
         .time = 900,
         .duration = 50,
         .addr = 0xffffffffffffe000,
         .bytes = 4096,
         .flags = 1}};
    struct reader_context context = {0};
    WORKS(import(text, &context, &err));
    struct record got[16];
    ck_assert_uint_eq(records_of(context.store, got, 16), 9);
    for (size_t i = 0; i < 9; i++)
        ck_assert_msg(memcmp(&got[i], &want[i], sizeof got[i]) == 0, "record %zu", i);
    ck_assert_str_eq(store_stream(context.store, 0)->name, "uvm");
    ck_assert_int_eq(store_stream(context.store, 0)->unit, TIME_NS);
    ck_assert_int_eq(context.launches, 1);
    store_close(context.store);
}
END_TEST

START_TEST(rows_that_cannot_be_are_counted_by_reason)
{
    static const char text[] = "1,0,250,7f0000000000,8192,0,0,0,1,2\n"
                               "1,300,250,7f0000000000,8192,0,0,0,1,2\n"
                               "1,300,350,7f0000000000,0,0,0,0,1,2\n"
                               "9,300,350,7f0000000000,1,0,0,0,1,2\n"
                               "0,300,350,7f0000000000,1,0,0,0,1,2\n"
                               "1,300,350,ffffffffffffffff,4096,0,0,0,1,2\n"
                               "K,900,100,backwards\n"
                               "1,300,4611686018427387904,7f0000000000,4096,0,0,0,1,2\n"
                               "K,900,4611686018427387904,endless\n"
                               "1,300,350,7f0000000000,4096,0,0,0,1,2\n";
    struct reader_context context = {0};
    WORKS(import(text, &context, &err));
    struct record got[16];
    ck_assert_uint_eq(records_of(context.store, got, 16), 1);
    ck_assert_uint_eq(context.skips.total, 9);
    store_close(context.store);
}
END_TEST

START_TEST(strict_stops_at_the_first_row_left_out)
{
    struct reader_context context = {.strict = true};
    FAILS_AS(import("1,1,2,10,4096,0,0,0,1,2\n9,3,4,7f,1,0,0,0,1,2\n", &context, &err),
             "in.csv: line 2 '9,3,4,7f,1,0,0,0,1,2': unknown counter kind");
    store_close(context.store);
}
END_TEST

START_TEST(more_rows_than_a_batch_keep_their_order)
{
    enum { N = 3 * STORE_BATCH + 7 };
    char *text = malloc(64 * N);
    size_t used = 0;
    for (int i = 1; i <= N; i++)
        used += (size_t)sprintf(text + used, "1,%d,%d,%x000,4096,0,0,0,1,%d\n", i * 10, i * 10 + 5, i, 2 + i % 2);
    struct reader_context context = {0};
    WORKS(import(text, &context, &err));
    struct record *got = calloc(N, sizeof *got);
    ck_assert_uint_eq(records_of(context.store, got, N), N);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(got[i].time, (i + 1) * 10);
        ck_assert_uint_eq(got[i].addr, (uint64_t)(i + 1) * 4096);
    }
    free(got);
    free(text);
    store_close(context.store);
}
END_TEST

START_TEST(the_format_is_known_by_its_first_row)
{
    static const char *const yes[] = {"1,1,2,10,4096,0,0,0,1,2\n", "K,1,2,name\n", "counterKind,start,end\n",
                                      "# note\n\n3,1,0,10,4096,0,0,0,1,2\r\n"};
    static const char *const no[] = {"", "1,2,3\n", "kind,time_ns\n", "0x10 READ 5\n", "# only a note\n"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_int_eq(read_cupti_csv.probe("x", (const unsigned char *)yes[i], strlen(yes[i])), PROBE_YES);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_int_eq(read_cupti_csv.probe("x", (const unsigned char *)no[i], strlen(no[i])), PROBE_NO);
}
END_TEST

TEST_MAIN("cupti_csv")
