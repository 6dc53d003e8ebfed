#include <errno.h>
#include <sys/syscall.h>

#include "trace/base/testing.h"
#include "trace/store/store.h"

/* SQLite's writes come here, before the C library's: from the fail_at-th on all fail, as on a full disk (0: none). */
static long writes, fail_at;

static int full(void)
{
    writes++;
    if (!fail_at || writes < fail_at)
        return 0;
    errno = ENOSPC;
    return 1;
}

#define INSTEAD __attribute__((visibility("default")))

INSTEAD ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    return full() ? -1 : syscall(SYS_pwrite64, fd, data, n, at);
}

INSTEAD int ftruncate64(int fd, off64_t size)
{
    return full() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

INSTEAD int fdatasync(int fd)
{
    return full() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

INSTEAD int fsync(int fd)
{
    return full() ? -1 : (int)syscall(SYS_fsync, fd);
}

/* A trace of one record, with the nth write of its end failing, and all later ones; store_finish()'s status. */
static int end_with_write_failing(const char *path, long nth)
{
    struct err err = {""};
    struct stream s = {.name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES};
    struct record r = {.time = 1, .kind = RECORD_TOUCH};
    int index;
    (void)unlink(path);
    struct store *store = store_create(path, OUTPUT_IN_PLACE, "offchip test", &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    ck_assert_int_eq(store_stream_add(store, &s, &index, &err), 0);
    ck_assert_int_eq(store_append(store, index, &r, NULL, 1, &err), 0);
    writes = 0;
    fail_at = nth;
    int rc = store_finish(store, &err);
    store_close(store);
    fail_at = 0;
    return rc;
}

START_TEST(a_failing_write_of_the_end_never_leaves_a_complete_file)
{
    struct err err = {""};
    const char *path = testing_file("cut.db");
    ck_assert_int_eq(end_with_write_failing(path, 0), 0);
    long total = writes;
    ck_assert_int_ge(total, 4); /* the mark's page, what undoes it, and both onto the disk */
    for (long nth = 1; nth <= total; nth++) {
        ck_assert_msg(end_with_write_failing(path, nth) == -1, "write %ld of %ld", nth, total);
        struct store *store = store_open(path, &err);
        ck_assert_msg(store != NULL, "write %ld of %ld: %s", nth, total, err.msg);
        ck_assert_msg(!store_complete(store), "write %ld of %ld failed, and the file is complete", nth, total);
        store_close(store);
    }
}
END_TEST

/* A store made in memory takes the stream, or says why not. */
static int add(const struct stream *stream, struct err *err)
{
    int index;
    struct store *store = store_create_temporary(":memory:", err);
    ck_assert_msg(store != NULL, "%s", err->msg);
    int rc = store_stream_add(store, stream, &index, err);
    store_close(store);
    return rc;
}

START_TEST(a_text_of_a_stream_that_does_not_end_is_refused)
{
    struct err err = {""};
    const struct stream good = {.name = "uvm", .unit = TIME_CYCLES, .clock = "core", .extra = {"a", "b"}};
    ck_assert_msg(add(&good, &err) == 0, "%s", err.msg);
    for (int which = 0; which < 4 + STORE_EXTRAS; which++) {
        struct stream bad = good;
        switch (which) {
        case 0:
            bad.name[0] = 0;
            break;
        case 1:
            memset(bad.name, 'n', sizeof bad.name);
            break;
        case 2:
            memset(bad.clock, 'c', sizeof bad.clock);
            break;
        case 3:
            memset(bad.addr_layout, 'l', sizeof bad.addr_layout);
            break;
        default:
            memset(bad.extra[which - 4], 'x', sizeof bad.extra[0]);
        }
        ck_assert_msg(add(&bad, &err) == -1, "case %d", which);
        ck_assert_ptr_nonnull(strstr(err.msg, "a stream needs a name, and texts that end"));
    }
}
END_TEST

TEST_MAIN("store_disk_full")
