#include "trace/base/old_names.h"

#include "trace/base/suggest.h"
#include "trace/base/testing.h"

START_TEST(an_old_name_says_what_to_write_now_and_a_new_one_nothing)
{
    ck_assert_str_eq(old_name("relaunch_gap"), "launch_gap");
    ck_assert_ptr_null(old_name("launch_gap"));
    ck_assert_ptr_null(old_name(""));
}
END_TEST

START_TEST(an_error_names_what_is_there_now_before_what_looks_alike)
{
    char buf[SUGGEST_HINT];
    struct suggest suggest = {.word = "relaunch_gap"};
    suggest_offer(&suggest, "relaunch_gaps");
    ck_assert_str_eq(suggest_hint(&suggest, buf, sizeof buf), "; up to 0.3 only, now: launch_gap");
}
END_TEST

TEST_MAIN("old_names", an_old_name_says_what_to_write_now_and_a_new_one_nothing,
          an_error_names_what_is_there_now_before_what_looks_alike)
