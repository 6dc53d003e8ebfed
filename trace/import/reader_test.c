#include "trace/import/reader.h"

#include "trace/import/testing_memory.h"
#include "trace/store/testing_facts.h"

START_TEST(readers_are_found_by_name_and_have_what_the_list_prints)
{
    for (size_t i = 0; readers[i]; i++) {
        ck_assert_ptr_eq(reader_find(readers[i]->name), readers[i]);
        ck_assert(readers[i]->summary && readers[i]->probe && readers[i]->read);
        ck_assert(!readers[i]->options || readers[i]->options_size > 0);
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(readers[i]->name, readers[k]->name);
    }
    ck_assert_ptr_null(reader_find("nosuch"));
}
END_TEST

START_TEST(formats_are_found_by_content)
{
    struct err err = {""};
    static const char cupti[] = "1,1,2,10,4096,0,0,0,1,2\n", csv[] = "kind,time_ns\n",
                      other[] = "\x7f"
                                "ELF\2\1\1";
    ck_assert_str_eq(reader_probe("x", (const unsigned char *)cupti, strlen(cupti), &err)->name, "cupti-csv");
    ck_assert_str_eq(reader_probe("x", (const unsigned char *)csv, strlen(csv), &err)->name, "csv");
    ck_assert_str_eq(reader_probe("x", (const unsigned char *)"\xef\xbb\xbfkind,a\n", 10, &err)->name, "csv");
    ck_assert_ptr_null(reader_probe("x",
                                    (const unsigned char *)"\xff\xfe"
                                                           "k\0i\0",
                                    6, &err));
    ck_assert_msg(strstr(err.msg, "UTF-16"), "%s", err.msg);
    static const char *const texts[][2] = {
        {"Time (%),Total Time (ns),Instances,Name\n", "sums, where no event has a time"},
        {"Start (ns),Duration (ns),Name,Result,CorrID\n", "calls of the CPU"},
        {"==1== NVPROF is profiling process 1\nType  Time(%)\n", "'nvprof --print-gpu-trace' prints events"},
        {"t;a\n1;2\n", "--columns names its columns"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_ptr_null(reader_probe("x", (const unsigned char *)texts[i][0], strlen(texts[i][0]), &err));
        ck_assert_msg(strstr(err.msg, texts[i][1]), "%s", err.msg);
    }
    ck_assert_ptr_null(reader_probe("x.bin", (const unsigned char *)other, strlen(other), &err));
    ck_assert_msg(strncmp(err.msg, "x.bin: byte 0: no known format; formats known (offchip list formats): ", 70) == 0,
                  "%s", err.msg);
    ck_assert_msg(!strstr(err.msg, "--columns"), "%s", err.msg);
    static const char foreign[] = "cycle,address,rw\r\n0,4096,R\r\n";
    ck_assert_ptr_null(reader_probe("x.csv", (const unsigned char *)foreign, strlen(foreign), &err));
    ck_assert_msg(strstr(err.msg, "; a table of another tool: --columns names its columns"), "%s", err.msg);
}
END_TEST

START_TEST(no_probe_claims_noise_or_reads_past_its_head)
{
    unsigned char head[READER_PROBE_BYTES];
    uint64_t x = 1;
    struct err err;
    for (int round = 0; round < 200; round++) {
        size_t n = (size_t)round * 20;
        for (size_t i = 0; i < n; i++)
            head[i] = (unsigned char)((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
        unsigned char *exact = malloc(n + 1);
        memcpy(exact, head, n);
        for (size_t i = 0; readers[i]; i++)
            ck_assert_int_ne(readers[i]->probe("noise", exact, n), PROBE_YES);
        (void)reader_probe("noise", exact, n, &err);
        free(exact);
    }
}
END_TEST

static int collect(void *ctx, const struct store_value *v, size_t n)
{
    char *text = ctx;
    ck_assert_uint_eq(n, 2);
    (void)sprintf(text + strlen(text), "%s=%lld;", v[0].s, (long long)v[1].i);
    return 0;
}

START_TEST(skips_are_counted_by_reason_beyond_the_table)
{
    struct err err = {""};
    struct reader_context context = {.store = store_create(testing_file("s.db"), true, "t", &err), .path = "in"};
    char reason[32], text[4096] = "";
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < READER_REASONS + 5; i++) {
            (void)snprintf(reason, sizeof reason, "reason %02d", i);
            ck_assert_int_eq(reader_skip(&context, reason, "line 1", &err), 0);
        }
    ck_assert_int_eq(reader_flush(&context, &err), 0);
    ck_assert_uint_eq(context.skips.total, 2 * (READER_REASONS + 5));
    ck_assert_int_eq(store_rows(context.store, "skipped", collect, text, &err), 0);
    for (int i = 0; i < READER_REASONS + 5; i++) {
        (void)snprintf(reason, sizeof reason, "reason %02d=2;", i);
        ck_assert_msg(strstr(text, reason) != NULL, "%s in %s", reason, text);
    }
    store_close(context.store);
}
END_TEST

START_TEST(equal_streams_are_shared_and_different_ones_get_a_number)
{
    struct err err = {""};
    struct reader_context context = {.store = store_create(testing_file("m.db"), true, "t", &err), .path = "in"};
    struct stream a = {.name = "uvm", .unit = TIME_NS}, b = {.name = "uvm", .unit = TIME_CYCLES, .clock = "core"};
    int first, again, other;
    ck_assert_int_eq(reader_stream(&context, &a, &first, &err), 0);
    ck_assert_int_eq(reader_stream(&context, &a, &again, &err), 0);
    ck_assert_int_eq(reader_stream(&context, &b, &other, &err), 0);
    ck_assert_int_eq(first, again);
    ck_assert_int_ne(first, other);
    ck_assert_str_eq(store_stream(context.store, other)->name, "uvm-2");
    ck_assert_int_eq(reader_stream(&context, &b, &again, &err), 0);
    ck_assert_int_eq(again, other);
    store_close(context.store);
}
END_TEST

TEST_MAIN("reader")
