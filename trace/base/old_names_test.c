#include "trace/base/suggest.h"

#include "trace/base/testing.h"

START_TEST(an_old_name_says_what_to_write_now_and_a_new_one_nothing)
{
    ck_assert_str_eq(old_name("mem_latency_p99_cycles"), "--latencies FILE.csv");
    ck_assert_ptr_null(old_name("mem_latency_mean_cycles"));
    ck_assert_ptr_null(old_name(""));
}
END_TEST

START_TEST(an_error_names_what_is_there_now_before_what_looks_alike)
{
    char buf[SUGGEST_HINT];
    struct suggest suggest = {.word = "noc_arrival_per_kcycle"};
    suggest_offer(&suggest, "dram_arrival_per_kcycle");
    ck_assert_str_eq(suggest_hint(&suggest, buf, sizeof buf), "; up to 0.3 only, now: noc_packets_per_kcycle");
}
END_TEST

TEST_MAIN("old_names", an_old_name_says_what_to_write_now_and_a_new_one_nothing,
          an_error_names_what_is_there_now_before_what_looks_alike)
