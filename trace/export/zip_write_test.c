#include "trace/export/zip_write.h"

#include "trace/base/testing.h"
#include "trace/import/zip.h"

enum { MOST = 70000 };
static unsigned char data[MOST], back[MOST + 1];

/* Bytes that deflate makes smaller, and such that it cannot. */
static void fill(void)
{
    unsigned seed = 3;
    for (size_t i = 0; i < MOST; i++) {
        seed = seed * 1103515245u + 12345u;
        data[i] = i < MOST / 2 ? (unsigned char)(i / 1000) : (unsigned char)(seed >> 16);
    }
}

static void check(const char *path, const size_t *sizes, size_t n)
{
    struct zip_member *m;
    struct err err = {""};
    size_t count, got;
    ck_assert_msg(zip_members(path, &m, &count, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(count, n);
    for (size_t i = 0; i < n; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "m%zu", i);
        ck_assert_str_eq(m[i].name, name);
        ck_assert_uint_eq(m[i].part.bytes, sizes[i]);
        struct source *s = source_open_part(path, &m[i].part, &err);
        ck_assert_msg(s && source_read(s, (char *)back, sizeof back, &got, &err) == 0, "%s", err.msg);
        ck_assert_uint_eq(got, sizes[i]);
        ck_assert_mem_eq(back, data, got);
        source_close(s);
    }
    free(m);
}

/* Read by the reader that is held against archives of Python (zip_test.c); `small` 0: every size and place in zip64. */
START_TEST(what_is_written_is_read_back_with_and_without_zip64)
{
    static const size_t sizes[] = {0, 1, 16384, MOST, 300};
    static const uint64_t smalls[] = {0xfffffffe, 0, 20000};
    fill();
    for (size_t k = 0; k < 3; k++) {
        struct zip_write zip;
        struct err err = {""};
        const char *path = testing_file("a.zip");
        FILE *to = fopen(path, "wb");
        ck_assert_int_eq(zip_write_init(&zip, to, &err), 0);
        zip.small = smalls[k];
        for (size_t i = 0; i < 5; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "m%zu", i);
            ck_assert_int_eq(zip_write_member(&zip, name, sizes[i], &err), 0);
            for (size_t at = 0; at < sizes[i]; at += 4097)
                zip_write_data(&zip, data + at, sizes[i] - at < 4097 ? sizes[i] - at : 4097);
            zip_write_end(&zip);
            ck_assert_int_eq(zip.members[i].wide, k == 1 || (k == 2 && sizes[i] > 20000));
        }
        zip_write_finish(&zip);
        ck_assert_uint_eq(zip.at, (uint64_t)ftell(to));
        zip_write_release(&zip);
        (void)fclose(to);
        check(path, sizes, 5);
    }
}
END_TEST

START_TEST(too_many_members_are_an_error)
{
    struct zip_write zip;
    struct err err = {""};
    FILE *to = fopen(testing_file("b.zip"), "wb");
    ck_assert_int_eq(zip_write_init(&zip, to, &err), 0);
    for (int i = 0; i < ZIP_MEMBERS; i++) {
        ck_assert_int_eq(zip_write_member(&zip, "x", 0, &err), 0);
        zip_write_end(&zip);
    }
    ck_assert_int_eq(zip_write_member(&zip, "x", 0, &err), -1);
    ck_assert(err.msg[0]);
    zip_write_release(&zip);
    (void)fclose(to);
}
END_TEST

TEST_MAIN("zip_write", what_is_written_is_read_back_with_and_without_zip64, too_many_members_are_an_error)
