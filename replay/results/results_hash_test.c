/* The hashes of results.c. */
#include "replay/results/results.c"

#include "trace/base/testing.h"

/* The hash of the one row that a query gives. */
static struct row_hash of(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
    struct row_hashing *hashing = GIVES(row_hash_begin(&err));
    row_hash_values(hashing, stmt, 0, sqlite3_column_count(stmt));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return row_hash_end(hashing);
}

START_TEST(values_are_told_apart_by_type_place_and_length)
{
    static const char *const rows[] = {"SELECT 1",
                                       "SELECT 1.0",
                                       "SELECT '1'",
                                       "SELECT NULL",
                                       "SELECT ''",
                                       "SELECT x'31'",
                                       "SELECT 'ab','c'",
                                       "SELECT 'a','bc'",
                                       "SELECT 'abc'",
                                       "SELECT 'abc', ''",
                                       "SELECT NULL, ''",
                                       "SELECT '', NULL",
                                       "SELECT -9223372036854775808",
                                       "SELECT 9223372036854775807"};
    enum { ROWS = sizeof rows / sizeof *rows };
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            const struct row_hash a = of(rows[i]), b = of(rows[j]);
            ck_assert_msg(row_hash_equal(&a, &b) == (i == j), "%s and %s", rows[i], rows[j]);
        }
}
END_TEST

START_TEST(a_sum_has_no_order)
{
    const struct row_hash a = row_hash_text("a"), b = row_hash_text("b");
    struct row_hash ab = {0}, ba = {0};
    row_hash_add(&ab, &a);
    row_hash_add(&ab, &b);
    row_hash_add(&ba, &b);
    row_hash_add(&ba, &a);
    ck_assert(row_hash_equal(&ab, &ba) && !row_hash_equal(&ab, &a));
}
END_TEST

START_TEST(a_run_is_its_content_key_and_position)
{
    const struct row_hash content = row_hash_text("x"), other = row_hash_text("y");
    const struct row_hash a = row_hash_run(&content, "key", 1), b = row_hash_run(&other, "key", 1),
                          c = row_hash_run(&content, "key2", 1), d = row_hash_run(&content, "key", 2);
    ck_assert(!row_hash_equal(&a, &b) && !row_hash_equal(&a, &c) && !row_hash_equal(&a, &d));
}
END_TEST

START_TEST(texts_come_back_and_only_those)
{
    char text[ROW_HASH_TEXT];
    const struct row_hash hash = {0x0123456789abcdef, 7};
    struct row_hash again;
    ck_assert_str_eq(row_hash_format(&hash, text), "0123456789abcdef0000000000000007");
    ck_assert_int_eq(row_hash_parse(text, &again), 0);
    ck_assert(row_hash_equal(&hash, &again));
    static const char *const bad[] = {"",
                                      "0123456789abcdef",
                                      "0123456789ABCDEF0000000000000007",
                                      "0123456789abcdef00000000000000070",
                                      " 123456789abcdef0000000000000007",
                                      "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(row_hash_parse(bad[i], &again) == -1, "'%s'", bad[i]);
    ck_assert_int_eq(row_hash_parse(NULL, &again), -1);
}
END_TEST

TEST_MAIN("results_hash")
