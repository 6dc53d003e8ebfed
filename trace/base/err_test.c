#include "trace/base/err.h"

#include <stdint.h>

#include "trace/base/mem.h"
#include "trace/base/testing.h"

START_TEST(set_returns_minus_one_and_keeps_the_sentence)
{
    struct err err = {""};
    ck_assert_int_eq(err_set(&err, "found %d, expected %d", 3, 4), -1);
    ck_assert_str_eq(err.msg, "found 3, expected 4");
    ck_assert_int_eq(err_set(NULL, "nobody listens"), -1);
}
END_TEST

START_TEST(at_puts_the_place_in_front)
{
    struct err err = {""};
    err_set(&err, "bad address");
    ck_assert_int_eq(err_at(&err, "%s:%d", "a.csv", 7), -1);
    ck_assert_str_eq(err.msg, "a.csv:7: bad address");
}
END_TEST

START_TEST(long_messages_are_cut_not_overrun)
{
    struct err err = {""};
    for (int i = 0; i < 100; i++)
        err_at(&err, "0123456789");
    ck_assert_uint_eq(strlen(err.msg), sizeof err.msg - 1);
}
END_TEST

START_TEST(lack_of_memory_is_told_from_all_else_also_with_its_place)
{
    struct err err = {""};
    ck_assert(!err_is_memory(&err));
    ck_assert_ptr_null(mem_zalloc(SIZE_MAX, 2, &err));
    err_at(&err, "a.csv");
    ck_assert(err_is_memory(&err));
    struct err passed = {""};
    ck_assert_int_eq(err_pass_memory(&err, &passed), -1);
    ck_assert_str_eq(passed.msg, err.msg);
    err_set(&err, "bad address");
    ck_assert(!err_is_memory(&err));
    ck_assert_int_eq(err_pass_memory(&err, &passed), 0);
    ck_assert_str_ne(passed.msg, err.msg);
}
END_TEST

TEST_MAIN("err")
