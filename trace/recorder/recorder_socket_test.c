#include "trace/recorder/recorder.c"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/testing.h"
#include "trace/recorder/wire/record_pipe.h"

static struct err err;

static int connected(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = record_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
    return fd;
}

START_TEST(a_listener_has_no_file_and_takes_connections)
{
    char name[SOCKET_NAME], other[SOCKET_NAME];
    int listener = socket_listen(name, &err), second = socket_listen(other, &err);
    ck_assert_int_ge(listener, 0);
    ck_assert_int_ge(second, 0);
    ck_assert_str_ne(name, other);
    ck_assert_int_eq(name[0], '@');
    ck_assert_int_eq(access(name, F_OK), -1);
    ck_assert_int_eq(socket_accept(listener), -1);
    int client = connected(name), taken = socket_accept(listener);
    ck_assert_int_ge(taken, 0);
    ck_assert_int_eq(socket_accept(listener), -1);
    ck_assert_int_eq(close(client) | close(taken) | close(listener) | close(second), 0);
}
END_TEST

START_TEST(a_file_is_claimed_once_through_every_name_and_free_again_when_closed)
{
    char path[600], twisted[700];
    (void)snprintf(path, sizeof path, "%s", testing_file("claimed.db"));
    const char *slash = strrchr(path, '/');
    (void)snprintf(twisted, sizeof twisted, "%.*s/.%s", (int)(slash - path), path, slash);
    int fd = socket_claim(path, &err);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(socket_claim(twisted, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "another offchip record"));
    int other = socket_claim(testing_file("other.db"), &err);
    ck_assert_int_ge(other, 0);
    ck_assert_int_eq(close(fd), 0);
    fd = socket_claim(twisted, &err);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd) | close(other), 0);
}
END_TEST

START_TEST(a_link_claims_the_file_it_points_at)
{
    char file[600], link[600];
    (void)snprintf(file, sizeof file, "%s", testing_write("real.db", "x", 1));
    (void)snprintf(link, sizeof link, "%s", testing_file("link.db"));
    (void)unlink(link);
    ck_assert_int_eq(symlink(file, link), 0);
    int fd = socket_claim(link, &err);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(socket_claim(file, &err), -1);
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(names_that_are_too_long_have_no_address)
{
    char name[200];
    struct sockaddr_un address;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ck_assert_uint_eq(record_address(name, &address), 0);
    ck_assert_uint_eq(record_address("", &address), 0);
    ck_assert_uint_eq(record_address("/tmp/s", &address), sizeof address);
}
END_TEST

TEST_MAIN("recorder_socket")
