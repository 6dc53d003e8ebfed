#include "trace/import/csv.h"
#include "trace/import/reader.h"

#include "trace/base/testing.h"
#include "trace/import/testing_memory.h"

static int import(const char *text, struct reader_context *context, struct err *err)
{
    struct input_stream *source = input_stream_from_memory(text, strlen(text), err);
    ck_assert_ptr_nonnull(source);
    context->store = store_create(testing_file("t.db"), true, "test", err);
    ck_assert_msg(context->store != NULL, "%s", err->msg);
    context->path = "in.csv";
    int rc = reader_run(&read_csv, context, source, err);
    input_stream_close(source);
    return rc;
}

static size_t read_back(struct store *store, struct record *out, int64_t *extra_out, size_t cap)
{
    struct err err = {""};
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    ck_assert_msg(cursor != NULL, "%s", err.msg);
    const struct record *records;
    const int64_t *extra;
    size_t n, total = 0;
    while (store_cursor_next(cursor, &records, &extra, &n, &err) > 0)
        for (size_t i = 0; i < n && total < cap; i++, total++) {
            out[total] = records[i];
            if (extra_out)
                extra_out[total] = extra[i];
        }
    store_cursor_close(cursor);
    return total;
}

START_TEST(columns_are_found_by_name_in_any_order)
{
    struct reader_context context = {0};
    WORKS(import("\xef\xbb\xbf# made by hand\n"
                 "addr,kind,extra:port,time_ns,flags,bytes,dur_ns,id,group\n"
                 "0x7f0000000000,MIGRATE_H2D,-7,1000,2,4096,50,3,9\r\n"
                 "\n"
                 "\"4096\",\"CPU_FAULT\",8,-5,1,,,0xffffffffffffffff,0\n",
                 &context, &err));
    struct record got[4];
    int64_t extra[4];
    ck_assert_uint_eq(read_back(context.store, got, extra, 4), 2);
    static const struct record want[] = {
        {.kind = RECORD_MIGRATE_H2D,
         .time = 1000,
         .duration = 50,
         .addr = 0x7f0000000000,
         .bytes = 4096,
         .flags = 2,
         .id = 3,
         .group = 9},
        {.kind = RECORD_CPU_FAULT, .time = -5, .addr = 4096, .flags = 1, .id = UINT64_MAX}};
    ck_assert_mem_eq(&got[0], &want[0], sizeof want[0]);
    ck_assert_mem_eq(&got[1], &want[1], sizeof want[1]);
    ck_assert_int_eq(extra[0], -7);
    ck_assert_int_eq(extra[1], 8);
    ck_assert_str_eq(store_stream(context.store, 0)->extra[0], "port");
    store_close(context.store);
}
END_TEST

START_TEST(the_unit_is_in_the_column_name)
{
    struct reader_context ns = {0}, cycles = {0}, none = {0};
    WORKS(import("kind,time_ns\nTOUCH,1\n", &ns, &err));
    ck_assert_int_eq(store_stream(ns.store, 0)->unit, TIME_NS);
    store_close(ns.store);
    WORKS(import("kind,time_cycles,dur_cycles\nDRAM_READ,1,2\n", &cycles, &err));
    ck_assert_int_eq(store_stream(cycles.store, 0)->unit, TIME_CYCLES);
    ck_assert_str_eq(store_stream(cycles.store, 0)->name, "requests");
    store_close(cycles.store);
    WORKS(import("kind,addr\nACCESS,128\n", &none, &err));
    ck_assert_int_eq(store_stream(none.store, 0)->unit, TIME_NONE);
    store_close(none.store);
}
END_TEST

START_TEST(every_kind_is_read_by_its_name)
{
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++) {
        struct reader_context context = {0};
        WORKS(import(testing_text("kind,time_ns\n%s,5\n", record_kinds[k].name), &context, &err));
        struct record got;
        ck_assert_uint_eq(read_back(context.store, &got, NULL, 1), 1);
        ck_assert_int_eq((int)got.kind, k);
        store_close(context.store);
    }
}
END_TEST

START_TEST(kernels_are_named_and_numbered)
{
    struct reader_context context = {0};
    WORKS(import("kind,time_ns,dur_ns,name\nKERNEL,5,10,\"f(int, \"\"x\"\")\"\nKERNEL,20,1,g\n", &context, &err));
    struct record got[2];
    ck_assert_uint_eq(read_back(context.store, got, NULL, 2), 2);
    ck_assert_uint_eq(got[0].id, 0);
    ck_assert_uint_eq(got[1].id, 1);
    ck_assert_int_eq(context.launches, 2);
    store_close(context.store);
}
END_TEST

START_TEST(errors_name_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "in.csv: byte 0: no header row"},
        {"kind,time_ns\nTOUCH\n", "in.csv: line 2: fewer fields"},
        {"kind,time_ns\nTOUCH,1,2\n", "in.csv: line 2: more fields"},
        {"kind,time_ns\nTOUCH,x\n", "in.csv: line 2, column time_ns: 'x'"},
        {"kind,extra:q\nTOUCH,1.5\n", "in.csv: line 2, column q: '1.5'"},
        {"time_ns\n1\n", "in.csv: line 1: no column 'kind'"},
        {"kind,dur_ns\nTOUCH,1\n", "in.csv: line 1: time and duration"},
        {"kind,time_ns\nTOUCH,4611686018427387904\n", "in.csv: line 2, column time_ns: '4611686018427387904'"},
        {"kind,time_ns\nTOUCH,-4611686018427387904\n", "in.csv: line 2, column time_ns: '-4611686018427387904'"},
        {"kind,time_ns,dur_ns\nKERNEL,1,4611686018427387904\n",
         "in.csv: line 2, column dur_ns: '4611686018427387904'; expected 0 to 4611686018427387903"},
        {"kind\nSKIPPED\n", "in.csv: line 2, column kind: 'SKIPPED'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {""};
        struct reader_context context = {0};
        ck_assert_int_eq(import(cases[i].text, &context, &err), -1);
        ck_assert_msg(strncmp(err.msg, cases[i].message, strlen(cases[i].message)) == 0, "%s", err.msg);
        store_close(context.store);
    }
}
END_TEST

START_TEST(the_format_is_known_by_a_column_called_kind)
{
    static const char *const yes[] = {"kind\n", "addr,kind,id\n", "# note\n\nkind,x\n"};
    static const char *const no[] = {"", "addr,id\n", "Kind,a\n", "kinds,a\n", "1,2,kind2\n", "x\nkind\n"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ck_assert_int_eq(read_csv.probe("x", (const unsigned char *)yes[i], strlen(yes[i])), PROBE_YES);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_int_eq(read_csv.probe("x", (const unsigned char *)no[i], strlen(no[i])), PROBE_NO);
}
END_TEST

START_TEST(a_file_of_ours_that_is_cut_anywhere_is_never_whole)
{
    static const char text[] = CSV_HEAD_2 "\nkind,time_ns,addr\nTOUCH,11,4096\nTOUCH,22,8192\n" CSV_END "2\n";
    char cut[sizeof text];
    for (size_t n = 0; n < sizeof text; n++) {
        struct err err = {""};
        struct reader_context context = {0};
        (void)snprintf(cut, sizeof cut, "%.*s", (int)n, text);
        int rc = import(cut, &context, &err);
        bool whole = n == sizeof text - 1;
        ck_assert_msg((rc == 0 && !context.incomplete[0]) == whole, "the first %zu bytes: %s", n, err.msg);
        ck_assert_msg((rc == 0) == (n >= 48), "the first %zu bytes: %s", n, err.msg);
        struct record got[3];
        size_t records = store_stream_count(context.store) ? read_back(context.store, got, NULL, 3) : 0;
        ck_assert_uint_eq(records, n < 48 ? 0 : n < 62 ? 1 : 2);
        if (records == 2)
            ck_assert_uint_eq(got[1].addr, 8192);
        store_close(context.store);
    }
}
END_TEST

START_TEST(the_end_line_states_all_records_and_is_the_last)
{
    static const struct {
        const char *end, *words;
    } bad[] = {{CSV_END "3\n", "line 4: the end states 3 records, but there are 1"},
               {CSV_END "x\n", "expected the number of records"},
               {CSV_END "1\nTOUCH,2\n", "line 5: something stands behind the end line"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct reader_context context = {0};
        const char *text = testing_text(CSV_HEAD_2 "\nkind,time_ns\nTOUCH,1\n%s", bad[i].end);
        FAILS_WITH(import(text, &context, &err), bad[i].words);
        store_close(context.store);
        /* Of a file that does not say that it is ours these are remarks like others. */
        if (i < 2) {
            WORKS(import(strchr(text, '\n') + 1, &context, &err));
            ck_assert_str_eq(context.incomplete, "");
            store_close(context.store);
        }
    }
}
END_TEST

#define STREAM CSV_STREAM "[\"uvm\",\"ns\",\"\",0,\"bytes\",\"\"]\n"

START_TEST(what_a_file_says_of_itself_is_taken_or_refused_with_its_line)
{
    static const struct {
        const char *lines, *words; /* "": it is taken */
    } cases[] = {
        {"# state complete\n# fact strings [7,\"a\"]\n" STREAM "kind,time_ns\nTOUCH,1\n# records 1\n", ""},
        {"# state complete\n# fact counters [\"\",\"c\",1,\"\",\"\"]\n" STREAM "kind,time_ns\n# records 0\n", ""},
        {"# state maybe\n", "line 2: 'maybe'; expected complete or incomplete, once"},
        {"# state complete\n# state complete\n", "line 3: 'complete'; expected complete or incomplete, once"},
        {STREAM "kind,time_ns\nTOUCH,1\n# records 1\n", "line 5: no line '# state complete'"},
        {"# fact chunks [1]\n", "line 2: 'chunks [1]' names no table of facts"},
        {"# fact streams [1]\n", "names no table of facts"},
        {"# fact sqlite_master [1]\n", "names no table of facts"},
        {"# fact strings [7]\n", "value 2 is none of column text of table strings"},
        {"# fact strings [7\n", "expected a JSON array of at most 2 columns of table strings"},
        {"# fact strings [7,\"a\",8]\n", "expected a JSON array of at most 2 columns of table strings"},
        {"# fact strings\n", "expected a JSON array of at most 2 columns of table strings"},
        {"# fact strings [7,8]\n", "value 2 is none of column text of table strings"},
        {"# fact strings [7,null]\n", "value 2 is none of column text of table strings"},
        {"# fact strings [7,\"\\u0000\"]\n", "expected a JSON array"},
        {"# fact strings [99999999999999999999,\"a\"]\n", "expected a JSON array"},
        {"# fact strings [1.5,\"a\"]\n", "value 1 is none of column id of table strings"},
        {"# fact strings [7,\"a\"]\n# fact strings [7,\"b\"]\n", "line 3: table strings: "},
        {"# fact dropped [\"a\",-1]\n", "a count of -1"},
        {"# fact origin [{},[]]\n", "value 1 is none of column key of table origin"},
        {"# stream [\"\",\"ns\",\"\",0,\"bytes\",\"\"]\n",
         "line 2: '[\"\",\"ns\",\"\",0,\"bytes\",\"\"]'; expected the name"},
        {"# stream [\"a\",\"us\",\"\",0,\"bytes\",\"\"]\n", "expected the name, time unit"},
        {"# stream [\"a\",\"ns\",\"\",-1,\"bytes\",\"\"]\n", "expected the name, time unit"},
        {"# stream [\"a\",\"ns\",\"\",0,\"words\",\"\"]\n", "expected the name, time unit"},
        {"# stream [\"a\",\"ns\",\"a clock whose name is far too long\",0,\"bytes\",\"\"]\n",
         "expected the name, time unit"},
        {STREAM STREAM,
         "line 3: '[\"uvm\",\"ns\",\"\",0,\"bytes\",\"\"]'; expected the header row of the stream before"},
        {STREAM "kind,time_ns\nTOUCH,1\n" STREAM,
         "line 5: '[\"uvm\",\"ns\",\"\",0,\"bytes\",\"\"]': there is a stream of this name"},
        {STREAM "kind,time_cycles\n", "line 3: a header row in cycles; expected the line '# stream [..]' of this unit"},
        {"kind,time_ns\n", "line 2: a header row in ns; expected the line '# stream [..]'"},
        {STREAM "kind,time_ns\nTOUCH,1\nkind,time_ns\n", "line 5, column kind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {""};
        struct reader_context context = {0};
        const char *text = testing_text(CSV_HEAD "\n%s", cases[i].lines);
        ck_assert_msg(import(text, &context, &err) == (*cases[i].words ? -1 : 0), "case %zu: %s", i, err.msg);
        ck_assert_msg(strstr(err.msg, cases[i].words) != NULL, "case %zu: %s", i, err.msg);
        store_close(context.store);
        /* Of a file that does not say that it is ours a fact is a remark like others. */
        if (i >= 5 && i < 20) {
            err = (struct err){""};
            ck_assert_msg(import(strcat(strchr(text, '\n') + 1, "kind,time_ns\nTOUCH,1\n"), &context, &err) == 0, "%s",
                          err.msg);
            store_close(context.store);
        }
    }
}
END_TEST

START_TEST(facts_of_two_files_and_of_other_versions_are_refused)
{
    struct reader_context context = {.file_index = 1};
    FAILS_WITH(import(CSV_HEAD "\n# fact strings [7,\"a\"]\n", &context, &err), "line 2: facts of a further file");
    store_close(context.store);
    FAILS_WITH(import(CSV_MARK "4\nkind\nTOUCH\n", &context, &err),
               "line 1: '# offchip csv 4'; expected version 2 or 3");
    store_close(context.store);
}
END_TEST

TEST_MAIN("csv")
