#include "trace/import/reader.h"

#include "trace/base/testing.h"
#include "trace/import/testing_access.h"

static struct store *good(const char *text)
{
    return testing_import(&read_accesses, testing_write("accesses.txt", text, strlen(text)), true);
}

START_TEST(each_line_touched_is_one_record)
{
    struct store *s = good("#kernel _Z3sumPKf grid 2,1,1 block 64,1,1 accesses 3\n"
                           "7f00 f 1 4 1 1 1000 1004 1008 100c\n"
                           "7f10 3 2 8 0 0 0x107c 2000\n"
                           "7f20 1 7 4 0 1 3000\r\n");
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.n, 5);
    ck_assert_uint_eq(a.records[0].addr, 0x1000);
    ck_assert_uint_eq(a.records[0].flags, 1 | RECORD_READ << 4);
    ck_assert_uint_eq(a.records[0].id, 1ull << 32 | 1);
    ck_assert_uint_eq(a.records[1].addr, 0x1000);
    ck_assert_uint_eq(a.records[1].flags, 8 | RECORD_WRITE << 4);
    ck_assert_uint_eq(a.records[2].addr, 0x1080);
    ck_assert_uint_eq(a.records[2].flags, 1 | RECORD_WRITE << 4);
    ck_assert_int_eq(a.access[1], 1);
    ck_assert_int_eq(a.access[3], 1);
    ck_assert_uint_eq(a.records[4].flags, 1 | RECORD_ATOMIC << 4);
    ck_assert_int_eq(a.launches, 1);
    ck_assert_int_eq(a.ends, 1);
    ck_assert(store_complete(s));
    testing_release(&a, s);
}
END_TEST

START_TEST(kernels_follow_each_other_as_launches)
{
    struct store *s = good("#kernel void f<int>(int *) grid 0,0,0 block 0,0,0 accesses 1\n7f00 1 1 4 0 0 10\n"
                           "\n# a note\n#kernel g accesses 0\n#kernel h\n1 1 1 4 0 0 20\n1 1 1 4 0 0 20\n");
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.launches, 3);
    ck_assert_int_eq(a.ends, 3);
    ck_assert_int_eq(a.n, 3);
    ck_assert_uint_eq(a.records[0].group, 0);
    ck_assert_uint_eq(a.records[1].group, 2);
    testing_release(&a, s);
}
END_TEST

START_TEST(a_kernel_with_too_few_accesses_is_incomplete)
{
    struct store *s = good("#kernel f grid 0,0,0 block 0,0,0 accesses 5\n7f00 1 1 4 0 0 10\n");
    ck_assert(!store_complete(s));
    ck_assert_ptr_nonnull(strstr(testing_context.incomplete, "5 accesses announced, 1 found"));
    store_close(s);
}
END_TEST

START_TEST(lines_that_do_not_fit_are_counted)
{
    static const char *const bad[] = {
        "zz 1 1 4 0 0 10",   "7f00 1ffffffff 1 4 0 0 10", "7f00 1 0 4 0 0 10", "7f00 1 9 4 0 0 10",
        "7f00 1 1 0 0 0 10", "7f00 1 1 129 0 0 10",       "7f00 1 1 4 0 x 10", "7f00 3 1 4 0 0 10",
        "7f00 1 1 4 0 0",    "7f00 1 1 4 0 0 10 20",      "7f00 1 1 4 0 0 1g", "7f00 1 1 4 4294967296 0 10"};
    char text[1024] = "#kernel f\n7f00 1 1 4 0 0 10\n";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        strcat(text, bad[i]);
        strcat(text, "\n");
    }
    struct store *s = good(text);
    struct testing_accesses a = testing_read_accesses(s);
    ck_assert_int_eq(a.n, 1);
    ck_assert_uint_eq(testing_context.skips.total, sizeof bad / sizeof *bad);
    testing_release(&a, s);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(read_accesses.probe("x", (const unsigned char *)bad[i], strlen(bad[i])), PROBE_NO);
    ck_assert_int_eq(read_accesses.probe("x", (const unsigned char *)text, strlen(text)), PROBE_YES);
    ck_assert_int_eq(read_accesses.probe("x", (const unsigned char *)"", 0), PROBE_NO);
}
END_TEST

TEST_MAIN("accesses")
