#include "trace/store/sql.h"

#include "trace/base/testing.h"
#include "trace/store/store.h"

enum { N = 150000 };

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static struct record made[N];
static int64_t extra[N];

/* Two streams: all of made[] with an extra column, and ten marks. */
static const char *make_trace(void)
{
    static const uint64_t extremes[] = {0, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN};
    const char *path = testing_file("vtab.db");
    struct store *store = GIVES(store_create(path, true, "", &err));
    struct stream a = {.name = "uvm", .unit = TIME_NS, .extra = {"serial"}}, b = {.name = "it's; marks"};
    int ia, ib;
    WORKS(store_stream_add(store, &a, &ia, &err));
    WORKS(store_stream_add(store, &b, &ib, &err));
    for (int i = 0; i < N; i++) {
        made[i] = (struct record){.time = i * 10,
                                  .duration = (int64_t)(draw() % 100),
                                  .addr = draw() % 50 ? draw() : extremes[draw() % 4],
                                  .bytes = draw() % 50 ? draw() % 5000 : extremes[draw() % 4],
                                  .id = draw() % 100,
                                  .group = (uint32_t)draw(),
                                  .flags = (uint32_t)draw(),
                                  .kind = 1 + (uint32_t)(draw() % (RECORD_SKIPPED - 1))};
        extra[i] = (int64_t)draw();
    }
    WORKS(store_append(store, ia, made, extra, N, &err));
    struct record mark = {.kind = RECORD_BARRIER};
    for (int i = 0; i < 10; i++)
        WORKS(store_append(store, ib, &mark, NULL, 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return path;
}

static sqlite3 *open_db(const char *path)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(vtab_register(db), SQLITE_OK);
    return db;
}

/* The single number that a query gives. */
static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

START_TEST(every_field_comes_out_of_sql_as_it_went_in)
{
    sqlite3 *db = open_db(make_trace());
    sqlite3_stmt *stmt;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT * FROM records WHERE stream = 'uvm'", -1, &stmt, NULL), SQLITE_OK);
    for (int i = 0; i < N; i++) {
        const struct record *r = &made[i];
        ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
        ck_assert_int_eq(sqlite3_column_int64(stmt, 1), i);
        ck_assert_int_eq(sqlite3_column_int64(stmt, 2), r->time);
        ck_assert_int_eq(sqlite3_column_int64(stmt, 3), r->duration);
        ck_assert_str_eq((const char *)sqlite3_column_text(stmt, 4), record_kinds[r->kind].name);
        ck_assert_uint_eq((uint64_t)sqlite3_column_int64(stmt, 5), r->addr);
        ck_assert_uint_eq((uint64_t)sqlite3_column_int64(stmt, 6), r->bytes);
        ck_assert_uint_eq((uint64_t)sqlite3_column_int64(stmt, 7), r->flags);
        ck_assert_uint_eq((uint64_t)sqlite3_column_int64(stmt, 8), r->id);
        ck_assert_uint_eq((uint64_t)sqlite3_column_int64(stmt, 9), r->group);
        ck_assert_int_eq(sqlite3_column_int64(stmt, 10), extra[i]);
        ck_assert_int_eq(sqlite3_column_type(stmt, 11), SQLITE_NULL);
    }
    ck_assert_int_eq(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}
END_TEST

/* Conditions with a + before the column are not handed to the table: SQLite answers them by itself. */
START_TEST(conditions_pushed_down_select_what_plain_ones_do)
{
    static const char *const conditions[] = {"%stime >= 500000 AND %stime < 500100",
                                             "%stime = 700000",
                                             "%stime > 1499990",
                                             "%stime BETWEEN 12.5 AND 77.5",

                                             "%stime < -1",
                                             "%stime > NULL",
                                             "%skind = 'TLP'",
                                             "%skind IN ('TLP', 'PIM', 'none such')",
                                             "%skind = 'tlp' COLLATE NOCASE",
                                             "%srecord = 66000",
                                             "%srecord > 131071 AND %srecord <= 131073",
                                             "%sstream = 'uvm' AND %skind = 'EVICT'",
                                             "%sstream = 'nothing'",
                                             "%sstream = 'it''s; marks'",
                                             "%sstream IN ('uvm', 'it''s; marks') AND %srecord < 20",
                                             "%stime = 10 OR %skind = 'COPY'",
                                             "%stime < 9223372036854775807 AND %stime > -9223372036854775808",
                                             "%stime < 1e300",
                                             "%skind = 5",
                                             "%sstream = 'uvm' AND %sstream = 'it''s; marks'"};
    sqlite3 *db = open_db(make_trace());
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char where[2][300], sql[2][800];
        for (int plain = 0; plain < 2; plain++) {
            char *out = where[plain];
            for (const char *p = conditions[i]; *p; p++)
                if (p[0] == '%' && p[1] == 's') {
                    if (plain)
                        *out++ = '+';
                    p++;
                } else {
                    *out++ = *p;
                }
            *out = 0;
            (void)snprintf(sql[plain], sizeof sql[plain],
                           "SELECT count(*) * 1000003 + total(record) %% 1000003 FROM records WHERE %s", where[plain]);
        }
        int64_t pushed = ask(db, sql[0]), plain = ask(db, sql[1]);
        ck_assert_msg(pushed == plain, "%s: %lld, but %lld", where[0], (long long)pushed, (long long)plain);
    }
    sqlite3_close(db);
}
END_TEST

START_TEST(counts_and_joins_work)
{
    sqlite3 *db = open_db(make_trace());
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM records"), N + 10);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT rowid) FROM records"), N + 10);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM records a JOIN records b ON b.record = a.record"
                             " WHERE a.stream = 'it''s; marks' AND b.stream = 'uvm'"),
                     10);
    sqlite3_close(db);
}
END_TEST

START_TEST(other_databases_have_no_records)
{
    sqlite3 *db = open_db(":memory:");
    ck_assert_int_eq(sqlite3_exec(db, "SELECT * FROM records", NULL, NULL, NULL), SQLITE_ERROR);
    ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(db), "not a sound offchip trace"));
    ck_assert_int_ne(sqlite3_exec(db, "INSERT INTO records(time) VALUES(1)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_damaged_chunk_is_an_error_with_its_number)
{
    const char *path = make_trace();
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(db, "UPDATE chunks SET data = zeroblob(length(data)) WHERE chunk = 1", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    db = open_db(path);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM records WHERE stream = 'uvm' AND record < 100"), 100);
    ck_assert_int_eq(sqlite3_exec(db, "SELECT sum(time) FROM records", NULL, NULL, NULL), SQLITE_ERROR);
    ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(db), "stream 'uvm', chunk 1: not a chunk of columns"));
    sqlite3_close(db);
}
END_TEST

START_TEST(the_loadable_extension_gives_the_same_table)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/offchip_records.so", testing_build());
    sqlite3 *db;
    char *message = NULL;
    ck_assert_int_eq(sqlite3_open_v2(make_trace(), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_ne(sqlite3_exec(db, "SELECT 1 FROM records", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_load_extension(db, path, NULL, &message) == SQLITE_OK, "%s", message);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM records"), N + 10);
    ck_assert_int_eq(ask(db, "SELECT sum(time) FROM records"), (int64_t)N * (N - 1) / 2 * 10);
    sqlite3_close(db);
}
END_TEST

TEST_MAIN("vtab")
