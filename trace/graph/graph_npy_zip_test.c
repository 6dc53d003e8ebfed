/* Includes the file for the members of an archive. */
#include "trace/graph/graph_npy.c"

#include <stdint.h>

#include "trace/base/testing.h"

/* Made by Python's zipfile: five members, deflated, with zip64's fields. */
static const char archive[] = "fixtures/graphs/scipy_csr.npz";
static unsigned char bytes[4096];

static size_t read_archive(void)
{
    FILE *file = fopen(archive, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return n;
}

START_TEST(members_are_unpacked_and_checked)
{
    struct zip_member *m;
    size_t n, got;
    struct err err = {""};
    char text[256];
    ck_assert_msg(zip_members(archive, &m, &n, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(n, 5);
    ck_assert_str_eq(m[0].name, "indices.npy");
    for (size_t i = 0; i < n; i++) {
        struct input_stream *s = input_stream_open_part(archive, &m[i].part, &err);
        ck_assert_ptr_nonnull(s);
        ck_assert_int_eq(input_stream_read(s, text, sizeof text, &got, &err), 0);
        ck_assert_uint_eq(got, m[i].part.bytes);
        ck_assert_int_eq(memcmp(text, "\x93NUMPY", 6), 0);
        input_stream_close(s);
        m[i].part.crc ^= 1;
        s = input_stream_open_part(archive, &m[i].part, &err);
        ck_assert_int_eq(input_stream_read(s, text, sizeof text, &got, &err), -1);
        ck_assert_msg(strstr(err.msg, "check sum"), "%s", err.msg);
        input_stream_close(s);
    }
    free(m);
}
END_TEST

/* Whatever byte is another one, and wherever the file ends: members lie inside the file, or there are none. */
START_TEST(a_damaged_archive_is_refused_or_stays_inside_the_file)
{
    size_t whole = read_archive(), refused = 0;
    for (size_t at = 0; at < 2 * whole; at++) {
        size_t size = at < whole ? whole : at - whole, n;
        unsigned char kept = bytes[at % whole];
        bytes[at % whole] ^= at < whole ? 0xff : 0;
        struct zip_member *m;
        struct err err = {""};
        int rc = zip_members(testing_write("damaged.npz", bytes, size), &m, &n, &err);
        bytes[at % whole] = kept;
        refused += rc != 0;
        ck_assert(rc == 0 || err.msg[0]);
        for (size_t i = 0; i < n; i++)
            ck_assert(m[i].part.at <= size && m[i].part.packed_bytes <= size - m[i].part.at);
        free(m);
    }
    ck_assert_uint_gt(refused, whole / 2); /* what is cut before the directory, and most of what headers say */
}
END_TEST

TEST_MAIN("graph_npy_zip")
