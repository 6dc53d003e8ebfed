#include "trace/import/testing_dram.h"

#define HEAD "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}],\n\"traceEvents\": [\n"
#define KERNEL                                                                                                         \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k<a\\\"}>\", \"ts\": 1690000000000000.125, \"dur\": 3.25, "      \
    "\"args\": {\"device\": 1, \"stream\": 7, \"grid\": [4, 2, 1], \"block\": [32, 1, 1], \"registers per thread\": "  \
    "16}}"
#define COPY                                                                                                           \
    "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> Pageable)\", \"ts\": 5, \"dur\": 2, " \
    "\"args\": {\"device\": 1, \"bytes\": 4096}}"

START_TEST(kernels_and_copies_are_read_and_the_rest_passed_over)
{
    static const char text[] = HEAD "{\"cat\": \"cpu_op\", \"name\": \"aten::add\", \"ts\": 1, \"dur\": 1},\n" KERNEL
                                    ",\n" COPY ",{\"cat\": \"kernel\", \"args\": {\"blocks per SM\": inf}},{\"cat\": "
                                    "\"kernel\", \"name\": \"k\"}], \"more\": 1}";
    ck_assert_int_eq(dram_probe_text(&read_pytorch, text), PROBE_YES);
    ck_assert_msg(dram_read_text(&read_pytorch, text, NULL, false) == 0, "%s", dram_got_err.msg);
    ck_assert_uint_eq(dram_got_count, 2);
    ck_assert_uint_eq(dram_got_skips, 2); /* no JSON; without times */
    ck_assert(dram_got[0].kind == RECORD_KERNEL && dram_got[0].time == 1690000000000000125 &&
              dram_got[0].duration == 3250);
    ck_assert(dram_got[1].kind == RECORD_COPY && dram_got[1].flags == RECORD_COPY_D2H && dram_got[1].bytes == 4096 &&
              dram_got[1].time == 5000);
}
END_TEST

START_TEST(what_is_no_list_of_events_is_refused)
{
    ck_assert_int_eq(dram_read_text(&read_pytorch, "{\"schemaVersion\": 1}", NULL, false), -1);
    ck_assert_int_eq(dram_read_text(&read_pytorch, HEAD "{\"cat\" \"kernel\"}]}", NULL, false), -1);
    ck_assert_ptr_nonnull(strstr(dram_got_err.msg, "ProfilerActivity.CUDA"));
    ck_assert_int_eq(dram_read_text(&read_pytorch, HEAD KERNEL ",", NULL, false), 0); /* incomplete */
    ck_assert_uint_eq(dram_got_count, 1);
    ck_assert_int_eq(dram_probe_text(&read_pytorch, "[1]"), PROBE_NO);
    ck_assert_int_eq(dram_probe_text(&read_pytorch, "{\"a\": 1}"), PROBE_NO);
}
END_TEST

TEST_MAIN("pytorch")
