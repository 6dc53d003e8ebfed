#include "trace/base/regular_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "trace/base/testing.h"

START_TEST(a_file_is_read_whole_and_ended)
{
    struct err err = {""};
    size_t n = 200000, got = 0;
    char *data = malloc(n);
    for (size_t i = 0; i < n; i++)
        data[i] = (char)(i * 7);
    char *text = regular_file_read(testing_write("big", data, n), n, &got, &err);
    ck_assert_msg(text != NULL, "%s", err.msg);
    ck_assert_uint_eq(got, n);
    ck_assert_mem_eq(text, data, n);
    ck_assert_int_eq(text[n], 0);
    free(text);
    free(data);
    text = regular_file_read(testing_write("nothing", "", 0), 10, &got, &err);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(got, 0);
    free(text);
}
END_TEST

/* /proc says 0 bytes of every file: the end is where reading ends. */
START_TEST(a_file_that_states_no_size_is_read_to_its_end)
{
    size_t got = 0;
    char *text = GIVES(regular_file_read("/proc/self/status", 1 << 20, &got, NULL));
    ck_assert_ptr_nonnull(strstr(text, "Pid:"));
    free(text);
}
END_TEST

static void refused(const char *path, size_t limit, const char *says)
{
    struct err err = {""};
    size_t got;
    ck_assert_ptr_null(regular_file_read(path, limit, &got, &err));
    ck_assert_msg(strstr(err.msg, says) && strstr(err.msg, path), "%s gave: %s", path, err.msg);
}

START_TEST(what_is_no_file_is_refused_at_once)
{
    const char *pipe = testing_file("pipe"), *socket_path = testing_file("socket");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    refused(pipe, 100, "it is a pipe, not a file");
    refused(testing_dir(), 100, "it is a directory, not a file");
    refused("/dev/zero", 100, "it is a device, not a file");
    refused("/dev/null", 100, "it is a device, not a file");
    refused(socket_path, 100, "cannot open");
    refused(testing_file("nothere"), 100, "No such file or directory");
    (void)close(fd);
}
END_TEST

START_TEST(what_cannot_be_read_or_is_too_large_is_refused)
{
    refused("/proc/self/mem", 100, "at byte 0: Input/output error");
    refused(testing_write("three", "abc", 3), 2, "larger than 2 bytes");
}
END_TEST

START_TEST(the_first_line_with_a_word_comes_without_its_end)
{
    char line[16] = "before";
    const char *path = testing_write("lines", "a b\nRed fox\nred", 15);
    ck_assert(regular_file_line(path, "", line, sizeof line));
    ck_assert_str_eq(line, "a b");
    ck_assert(regular_file_line(path, "red", line, sizeof line));
    ck_assert_str_eq(line, "Red fox");
    ck_assert(!regular_file_line(path, "green", line, sizeof line));
    ck_assert_str_eq(line, "");
    ck_assert(!regular_file_line(testing_dir(), "", line, sizeof line));
    ck_assert(!regular_file_line(testing_write("empty", "", 0), "", line, sizeof line));
}
END_TEST

TEST_MAIN("regular_file")
