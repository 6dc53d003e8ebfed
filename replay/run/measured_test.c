#include "replay/run/measured.h"
#include "trace/base/testing.h"

START_TEST(a_machine_with_rows_of_its_own_has_an_error_of_its_own)
{
    ck_assert_double_gt(measured_error("prefetched", "h100"), 0);
    ck_assert_double_ne(measured_error("prefetched", "h100"), measured_error("prefetched", NULL));
}
END_TEST

START_TEST(others_have_the_error_of_all)
{
    const double all = measured_error("copied", NULL);
    ck_assert_double_gt(all, 0);
    ck_assert_double_eq(measured_error("copied", "t4"), all);
    ck_assert_double_eq(measured_error("copied", ""), all);
}
END_TEST

START_TEST(what_nobody_has_measured_has_none)
{
    ck_assert_double_eq(measured_error("by carrier pigeon", "h100"), 0);
    ck_assert_double_eq(measured_error(NULL, "h100"), 0);
}
END_TEST

TEST_MAIN("measured")
