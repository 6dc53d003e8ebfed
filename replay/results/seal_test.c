#include "replay/results/results_file.h"

#include <string.h>

#include "trace/base/testing.h"

/* The seal of the one row that a query gives. */
static struct seal of(const char *sql)
{
    struct err err = {""};
    sqlite3 *db;
    sqlite3_stmt *stmt;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
    struct sealing *sealing = seal_begin(&err);
    ck_assert_ptr_nonnull(sealing);
    seal_values(sealing, stmt, 0, sqlite3_column_count(stmt));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return seal_end(sealing);
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
            const struct seal a = of(rows[i]), b = of(rows[j]);
            ck_assert_msg(seal_equal(&a, &b) == (i == j), "%s and %s", rows[i], rows[j]);
        }
}
END_TEST

START_TEST(a_sum_has_no_order_and_gives_back)
{
    const struct seal a = seal_text("a"), b = seal_text("b");
    struct seal ab = {0}, ba = {0};
    seal_add(&ab, &a);
    seal_add(&ab, &b);
    seal_add(&ba, &b);
    seal_add(&ba, &a);
    ck_assert(seal_equal(&ab, &ba) && !seal_equal(&ab, &a));
    seal_subtract(&ab, &b);
    ck_assert(seal_equal(&ab, &a));
}
END_TEST

START_TEST(a_run_is_its_content_key_and_position)
{
    const struct seal content = seal_text("x"), other = seal_text("y");
    const struct seal a = seal_run(&content, "key", 1), b = seal_run(&other, "key", 1),
                      c = seal_run(&content, "key2", 1), d = seal_run(&content, "key", 2);
    ck_assert(!seal_equal(&a, &b) && !seal_equal(&a, &c) && !seal_equal(&a, &d));
}
END_TEST

START_TEST(texts_come_back_and_only_those)
{
    char text[SEAL_TEXT];
    const struct seal seal = {0x0123456789abcdef, 7};
    struct seal again;
    ck_assert_str_eq(seal_format(&seal, text), "0123456789abcdef0000000000000007");
    ck_assert_int_eq(seal_parse(text, &again), 0);
    ck_assert(seal_equal(&seal, &again));
    static const char *const bad[] = {"",
                                      "0123456789abcdef",
                                      "0123456789ABCDEF0000000000000007",
                                      "0123456789abcdef00000000000000070",
                                      " 123456789abcdef0000000000000007",
                                      "x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(seal_parse(bad[i], &again) == -1, "'%s'", bad[i]);
    ck_assert_int_eq(seal_parse(NULL, &again), -1);
}
END_TEST

TEST_MAIN("seal", values_are_told_apart_by_type_place_and_length, a_sum_has_no_order_and_gives_back,
          a_run_is_its_content_key_and_position, texts_come_back_and_only_those)
