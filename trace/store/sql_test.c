#include "trace/store/sql.h"

#include "trace/base/testing.h"
#include "trace/store/store.h"

static sqlite3 *open_trace(void)
{
    const char *path = testing_file("sql.db");
    struct store *store = GIVES(store_create(path, true, "", &err));
    struct stream s = {.name = "uvm", .unit = TIME_NS};
    int index;
    struct record r = {.kind = RECORD_EVICT};
    WORKS(store_stream_add(store, &s, &index, &err));
    WORKS(store_append(store, index, &r, NULL, 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(sql_open(path, &err));
}

START_TEST(queries_read_facts_and_records)
{
    static const char *const queries[] = {
        "SELECT * FROM origin",
        "SELECT kind, count(*) FROM records GROUP BY kind ORDER BY 2",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
        "PRAGMA table_info(kernels)",
        "SELECT name FROM pragma_table_xinfo('chunks')",
        "PRAGMA user_version",
        "EXPLAIN QUERY PLAN SELECT * FROM records",
        "SELECT length(data) FROM chunks"};
    sqlite3 *db = open_trace();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        sqlite3_stmt *stmt;
        ck_assert_msg(sqlite3_prepare_v2(db, queries[i], -1, &stmt, NULL) == SQLITE_OK, "%s: %s", queries[i],
                      sqlite3_errmsg(db));
        ck_assert_msg(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", queries[i], sqlite3_errmsg(db));
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
}
END_TEST

START_TEST(nothing_that_writes_or_reaches_out_is_let_through)
{
    static const char *const statements[] = {"DELETE FROM origin",
                                             "INSERT INTO strings VALUES(1, 'x')",
                                             "UPDATE origin SET value = ''",
                                             "DROP TABLE origin",
                                             "CREATE TABLE t(a)",
                                             "CREATE TEMP TABLE t(a)",
                                             "CREATE TEMP VIEW v AS SELECT 1",
                                             "ATTACH ':memory:' AS m",
                                             "ATTACH '/tmp/offchip-never.db' AS m",
                                             "DETACH main",
                                             "VACUUM INTO '/tmp/offchip-never.db'",
                                             "PRAGMA writable_schema = 1",
                                             "PRAGMA journal_mode = WAL",
                                             "PRAGMA user_version = 5",
                                             "PRAGMA temp_store_directory = '/tmp'",
                                             "SELECT load_extension('x')",
                                             "BEGIN",
                                             "REINDEX",
                                             "ANALYZE",
                                             "CREATE VIRTUAL TABLE t USING records"};
    sqlite3 *db = open_trace();
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        ck_assert_msg(sqlite3_exec(db, statements[i], NULL, NULL, NULL) != SQLITE_OK, "%s", statements[i]);
    ck_assert_int_ne(access("/tmp/offchip-never.db", F_OK), 0);
    sqlite3_close(db);
}
END_TEST

START_TEST(other_databases_do_not_open)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(testing_file("other.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    GIVES_NONE(sql_open(testing_file("other.db"), &err), "not an offchip trace or results file");
}
END_TEST

/* Planted objects that would answer in the place of ours. */
START_TEST(a_file_that_plants_records_is_refused)
{
    static const char *const planted[] = {"CREATE TABLE records(kind, bytes)", "CREATE TABLE RECORDS(kind)",
                                          "CREATE VIEW records AS SELECT 1 AS kind",
                                          "DROP TABLE kernels; CREATE VIEW Kernels AS SELECT 1 AS id"};
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        struct err err = {""};
        sqlite3_close(open_trace());
        sqlite3 *db;
        ck_assert_int_eq(sqlite3_open(testing_file("sql.db"), &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db, planted[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        ck_assert_msg(!sql_open(testing_file("sql.db"), &err), "%s", planted[i]);
        ck_assert_msg(strstr(err.msg, i < 3 ? "'records', which is not offchip's" : "table kernels is missing"), "%s",
                      err.msg);
    }
    /* An index of the file's own answers nothing. */
    struct err err = {""};
    sqlite3_close(open_trace());
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(testing_file("sql.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE INDEX origin_value ON origin(value)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    db = sql_open(testing_file("sql.db"), &err);
    ck_assert_msg(db != NULL, "%s", err.msg);
    sqlite3_close(db);
}
END_TEST

TEST_MAIN("sql")
