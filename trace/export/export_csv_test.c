#include "trace/export/exporter.h"

#include "trace/base/testing.h"
#include "trace/import/csv.h"
#include "trace/import/reader.h"
#include "trace/import/testing_memory.h"

static int add_name(void *ctx, const struct store_value *v, size_t n)
{
    char *names = ctx;
    (void)n;
    (void)snprintf(names + strlen(names), 64 - strlen(names), "%s;", v[1].s);
    return 0;
}

START_TEST(what_is_written_reads_back_to_the_same_records)
{
    static const char facts[] = CSV_HEAD "\n" CSV_STATE "complete\n",
                      kernels[] = CSV_FACT
                      "kernels [0,\"f(int, \\u0022q\\u0022)\",0,null,null,4,1,1,64,1,1,16,0,0,0,7]\n" CSV_FACT
                      "kernels [1,\"\\u003d1+1\",1,5,6]\n",
                      records[] = CSV_STREAM
                      "[\"requests\",\"cycles\",\"dram\",850000000,\"dram-packed\",\"ch:5 bank:4 row:14 col:6\"]\n"
                      "kind,time_cycles,dur_cycles,addr,bytes,flags,id,group,name,extra:port\n"
                      "KERNEL,-5,10,0x0,0,0,0,7,\"f(int, \"\"q\"\")\",0\n"
                      "DRAM_READ,4611686018427387903,0,0xffffffffffffffff,18446744073709551615,4294967295,"
                      "18446744073709551615,4294967295,,-9223372036854775808\n"
                      "PIM,3,0,0x40,32,0,1,0,,9\nKERNEL,4,1,0x0,0,0,1,8,'=1+1,0\n" CSV_END "4\n";
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s%s", facts, kernels, records);
    struct err err = {""};
    struct input_stream *source = input_stream_from_memory(text, strlen(text), &err);
    struct reader_context context = {.store = store_create(testing_file("t.db"), true, "t", &err), .path = "in"};
    ck_assert_msg(reader_run(&read_csv, &context, source, &err) == 0, "%s", err.msg);
    input_stream_close(source);
    ck_assert_int_eq(store_finish(context.store, &err), 0);
    store_close(context.store);

    char out[4096] = "";
    FILE *to = fmemopen(out, sizeof out, "w");
    struct exporter_context export = {.store = store_open(testing_file("t.db"), &err), .to = to};
    ck_assert_msg(export_csv.write(&export_csv, &export, &err) == 0, "%s", err.msg);
    (void)fclose(to);
    /* But for the facts of origin, which say when and where. */
    ck_assert_int_eq(strncmp(out, facts, sizeof facts - 1), 0);
    ck_assert_str_eq(strstr(out, CSV_FACT "kernels"), text + sizeof facts - 1);
    ck_assert_uint_eq(export.written, 4);
    char names[64] = "";
    ck_assert_int_eq(store_rows(export.store, "kernels", add_name, names, &err), 0);
    ck_assert_str_eq(names, "f(int, \"q\");=1+1;");
    store_close(export.store);
}
END_TEST

TEST_MAIN("export_csv")
