#include "trace/store/sql.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/store/dbfile.h"
#include "trace/store/schema.h"

static bool listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (name && strcasecmp(*list, name) == 0)
            return true;
    return false;
}

/* Pragmas that only report; those of the second list only while they are given no value. */
static bool pragma_reads(const char *name, const char *value)
{
    static const char *const reports[] = {"table_info",  "table_xinfo", "table_list",      "index_list", "index_info",
                                          "index_xinfo", "quick_check", "integrity_check", NULL};
    static const char *const settings[] = {"application_id",
                                           "user_version",
                                           "page_count",
                                           "page_size",
                                           "freelist_count",
                                           "schema_version",
                                           "database_list",
                                           "compile_options",
                                           "function_list",
                                           "encoding",
                                           NULL};
    return listed(reports, name) || (!value && listed(settings, name));
}

static int may(void *ctx, int action, const char *first, const char *second, const char *database, const char *inner)
{
    static const char *const refused[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", NULL};
    (void)ctx, (void)database, (void)inner;
    if (action == SQLITE_FUNCTION)
        return listed(refused, second) ? SQLITE_DENY : SQLITE_OK;
    if (action == SQLITE_PRAGMA)
        return pragma_reads(first, second) ? SQLITE_OK : SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ? SQLITE_OK : SQLITE_DENY;
}

/* A trace, or else a results file: which of the two is said by the application_id. */
static int check(const char *path, sqlite3 *db, struct err *err)
{
    const bool results = dbfile_application_id(path) == SCHEMA_RESULTS_ID;
    struct schema *schema = results ? schema_results(err) : schema_trace(err);
    if (!schema)
        return -1;
    if (!results)
        schema->what = "an offchip trace or results file";
    int failed = schema_check(schema, db, 2, err);
    free(schema);
    return failed;
}

/* A table or view of the file's own by that name would answer queries in place of the records. */
static int check_records(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT type FROM pragma_table_list('records')", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int failed = 0;
    if (rc == SQLITE_ROW)
        failed = err_set(err,
                         "it holds a %s 'records', which is not offchip's: offchip makes none, and it would stand for "
                         "the records; see 'sqlite3 FILE .schema'",
                         (const char *)sqlite3_column_text(stmt, 0));
    else if (rc != SQLITE_DONE)
        failed = err_set(err, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return failed;
}

/* One column for each setting that differs between runs, each number given by --set and each metric: the statement that
 * makes the view, from the names that the file has. */
static const char flat_view[] =
    "SELECT 'CREATE TEMP VIEW flat AS SELECT run, engine, input, platform, policy || coalesce((SELECT '':'' || "
    "group_concat(j.key || ''='' || j.value) FROM json_each(params) AS j), '''') AS policy, baseline' || coalesce("
    "group_concat(', (SELECT value FROM ' || source || quote(name) || ') AS \"' || replace(name, '\"', '\"\"') || "
    "'\"', "
    "''), '') || ' FROM runs' FROM ("
    "SELECT DISTINCT 'json_each(overrides) AS j WHERE j.key = ' AS source, j.key AS name "
    "FROM runs, json_each(overrides) AS j UNION ALL "
    "SELECT 'json_each(settings) AS j WHERE j.key = ', j.key FROM runs, json_each(settings) AS j "
    "GROUP BY j.key HAVING count(DISTINCT j.value) > 1 UNION ALL "
    "SELECT DISTINCT 'metrics WHERE run = runs.run AND name = ', name FROM metrics)";

/* A damaged file opens without it. */
static void add_flat(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    (void)sqlite3_prepare_v2(db, flat_view, -1, &stmt, NULL);
    if (stmt && sqlite3_step(stmt) == SQLITE_ROW)
        (void)sqlite3_exec(db, (const char *)sqlite3_column_text(stmt, 0), NULL, NULL, NULL);
    (void)sqlite3_finalize(stmt);
}

sqlite3 *sql_open(const char *path, struct err *err)
{
    sqlite3 *db;
    if (dbfile_open(path, DBFILE_READ, &db, err))
        return NULL;
    schema_distrust(db);
    int failed = check(path, db, err) || check_records(db, err) ? err_at(err, "'%s'", path) : 0;
    if (!failed && dbfile_application_id(path) == SCHEMA_RESULTS_ID)
        add_flat(db);
    /* The first use of `records` declares its columns, which is no reading any more. */
    if (!failed && (vtab_register(db) || sqlite3_exec(db, "EXPLAIN SELECT 1 FROM records", NULL, NULL, NULL) ||
                    sqlite3_set_authorizer(db, may, NULL)))
        failed = err_set(err, "'%s': %s", path, sqlite3_errmsg(db));
    if (!failed)
        return db;
    sqlite3_close(db);
    return NULL;
}
