#include "trace/base/dir_list.h"

#include <sys/stat.h>

#include "trace/base/testing.h"

START_TEST(the_first_names_and_how_many_more)
{
    char text[400], path[128];
    const char *folder = testing_file("set");
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_str_eq(dir_list(folder, text, sizeof text), "its folder is empty");
    static const char *const names[] = {"m", "b", ".hidden", "z", "a", "c", "y"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(path, sizeof path, "set/%.20s", names[i]);
        (void)testing_write(path, "", 0);
        if (i == 3)
            ck_assert_str_eq(dir_list(folder, text, sizeof text), "its folder holds b, m, z");
    }
    ck_assert_str_eq(dir_list(folder, text, sizeof text), "its folder holds a, b, c, m and 2 more");
    (void)snprintf(path, sizeof path, "%.100s/nosuch", folder);
    ck_assert_str_eq(dir_list_beside(path, text, sizeof text), "its folder holds a, b, c, m and 2 more");
    ck_assert_str_eq(dir_list(path, text, sizeof text), "its folder cannot be read: No such file or directory");
}
END_TEST

START_TEST(long_names_and_short_room_do_no_harm)
{
    char text[40], path[128], name[101];
    memset(name, 'n', 100);
    name[100] = 0;
    ck_assert_int_eq(mkdir(testing_file("long"), 0700), 0);
    (void)snprintf(path, sizeof path, "long/%.100s", name);
    (void)testing_write(path, "", 0);
    (void)dir_list(testing_file("long"), text, sizeof text);
    ck_assert_uint_eq(strlen(text), sizeof text - 1);
}
END_TEST

TEST_MAIN("folder", the_first_names_and_how_many_more, long_names_and_short_room_do_no_harm)
