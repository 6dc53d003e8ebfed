#include "trace/store/output.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "trace/base/testing.h"

static struct err err;

static int write_to(const char *path, const char *text, int rc)
{
    struct output w;
    if (output_open(&w, path, &err))
        return -2;
    (void)fputs(text, w.file);
    return output_close(&w, rc, &err);
}

static void holds(const char *path, const char *text)
{
    char buf[64] = "", part[300];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    (void)!fread(buf, 1, sizeof buf - 1, f);
    (void)fclose(f);
    ck_assert_str_eq(buf, text);
    (void)snprintf(part, sizeof part, "%s.part", path);
    ck_assert_int_ne(access(part, F_OK), 0);
}

START_TEST(a_file_is_there_whole_or_as_it_was)
{
    const char *path = testing_file("a.txt");
    ck_assert_int_eq(write_to(path, "first", -1), -1);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_msg(write_to(path, "second", 0) == 0, "%s", err.msg);
    holds(path, "second");
    ck_assert_int_eq(write_to(path, "third", -1), -1);
    holds(path, "second");
}
END_TEST

START_TEST(a_full_disk_is_an_error_that_names_the_file)
{
    const char *path = testing_file("full.txt");
    (void)write_to(path, "before", 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {3, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int rc = write_to(path, "more than three bytes", 0);
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    ck_assert_int_eq(rc, -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "full.txt"));
    holds(path, "before");
    ck_assert_int_eq(write_to(testing_file("no/folder.txt"), "", 0), -2);
    ck_assert_ptr_nonnull(strstr(err.msg, "folder.txt"));
}
END_TEST

START_TEST(links_are_followed_and_devices_stay_devices)
{
    const char *path = testing_file("real.txt"), *link = testing_file("link.txt");
    (void)write_to(path, "old", 0);
    ck_assert_int_eq(symlink("real.txt", link), 0);
    ck_assert_int_eq(write_to(link, "new", 0), 0);
    holds(path, "new");
    struct stat st;
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(write_to("/dev/null", "gone", 0), 0);
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

TEST_MAIN("output", a_file_is_there_whole_or_as_it_was, a_full_disk_is_an_error_that_names_the_file,
          links_are_followed_and_devices_stay_devices)
