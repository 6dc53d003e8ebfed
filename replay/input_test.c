#include "replay/input.h"

#include "trace/testing.h"

START_TEST(what_cannot_be_opened_is_named)
{
    struct input input;
    struct err err = {""};
    ck_assert_int_eq(input_open(&input, "/nowhere/a.db", "", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nowhere/a.db"));
    ck_assert_int_eq(input_open(&input, "synth:nothing", "", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "nothing"));
}
END_TEST

TEST_MAIN("input", what_cannot_be_opened_is_named)
