#include "replay/run/input.h"

#include "trace/base/testing.h"

START_TEST(what_cannot_be_opened_is_named)
{
    struct input input;
    FAILS_WITH(input_open(&input, "/nowhere/a.db", "", false, &err), "/nowhere/a.db");
    FAILS_WITH(input_open(&input, "synth:nothing", "", false, &err), "nothing");
}
END_TEST

START_TEST(plain_files_are_for_engines_that_read_them)
{
    struct input input;
    const char *path = testing_write("tasks.ini", "[a]\n", 4);
    WORKS(input_open(&input, path, "", true, &err));
    ck_assert_ptr_null(input.store);
    ck_assert_uint_eq(strlen(input.hash), 32);
    char first[33];
    memcpy(first, input.hash, sizeof first);
    input_close(&input);
    testing_write("tasks.ini", "[b]\n", 4);
    WORKS(input_open(&input, path, "", true, &err));
    ck_assert_str_ne(first, input.hash);
    input_close(&input);
    FAILS(input_open(&input, path, "", false, &err));
    FAILS_WITH(input_open(&input, "/nowhere/tasks.ini", "", true, &err), "/nowhere/tasks.ini");
}
END_TEST

TEST_MAIN("input")
