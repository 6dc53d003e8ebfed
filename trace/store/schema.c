#include "trace/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/embedded.h"
#include "trace/base/mem.h"

/* The longest text or blob that SQLite may hand us: a chunk of incompressible columns is just over 6 MiB. */
enum { LENGTH_MAX = 16 << 20 };

static enum schema_type type_of(const char *declared)
{
    if (declared && strcmp(declared, "INTEGER") == 0)
        return SCHEMA_INTEGER;
    if (declared && strcmp(declared, "REAL") == 0)
        return SCHEMA_REAL;
    return declared && strcmp(declared, "BLOB") == 0 ? SCHEMA_BLOB : SCHEMA_TEXT;
}

static void copy_name(char to[40], const char *from)
{
    (void)snprintf(to, 40, "%s", from ? from : "");
}

/* The first row of what `sql` asks of `name` (NULL: of nothing): SQLITE_ROW, SQLITE_DONE or an error. *stmt is to be
 * finalized. */
static int first_row(sqlite3 *db, const char *sql, const char *name, sqlite3_stmt **stmt)
{
    int rc = sqlite3_prepare_v2(db, sql, -1, stmt, NULL);
    if (rc == SQLITE_OK && name)
        rc = sqlite3_bind_text(*stmt, 1, name, -1, SQLITE_STATIC);
    return rc == SQLITE_OK ? sqlite3_step(*stmt) : rc;
}

/* A hash of how db declares a table; 0 if it cannot be read. */
static uint64_t declaration(sqlite3 *db, const char *name)
{
    sqlite3_stmt *stmt = NULL;
    uint64_t hash = 0;
    if (first_row(db, "SELECT sql FROM sqlite_schema WHERE name = ?1", name, &stmt) == SQLITE_ROW) {
        const void *text = sqlite3_column_blob(stmt, 0);
        hash = text ? XXH3_64bits(text, (size_t)sqlite3_column_bytes(stmt, 0)) : 0;
    }
    sqlite3_finalize(stmt);
    return hash;
}

/* The columns of a table as db has them. Returns their number, -1 with *err set. */
static int read_columns(sqlite3 *db, const char *name, struct schema_table *table, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    static const char sql[] = "SELECT name, type, \"notnull\" OR pk, hidden FROM pragma_table_xinfo(?1)";
    int rc = first_row(db, sql, name, &stmt);
    for (table->columns = 0; rc == SQLITE_ROW && table->columns < SCHEMA_COLUMNS; rc = sqlite3_step(stmt)) {
        struct schema_column *column = &table->column[table->columns++];
        copy_name(column->name, (const char *)sqlite3_column_text(stmt, 0));
        column->type = type_of((const char *)sqlite3_column_text(stmt, 1));
        column->required = sqlite3_column_int(stmt, 2) != 0;
        if (sqlite3_column_int(stmt, 3)) /* a generated or virtual column is no stored fact */
            column->name[0] = 0;
    }
    copy_name(table->name, name);
    table->declared = declaration(db, name);
    int failed = rc != SQLITE_DONE && rc != SQLITE_ROW ? err_set(err, "%s", sqlite3_errmsg(db)) : 0;
    sqlite3_finalize(stmt);
    return failed ? -1 : table->columns;
}

static int read_tables(struct schema *schema, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_exec(db, schema->sql, NULL, NULL, NULL) ||
        sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid", -1, &stmt, NULL))
        return err_set(err, "the embedded schema is wrong: %s", sqlite3_errmsg(db));
    int failed = 0, rc = SQLITE_DONE;
    while (!failed && schema->count < SCHEMA_TABLES && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        failed = read_columns(db, (const char *)sqlite3_column_text(stmt, 0), &schema->table[schema->count++], err) < 0;
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        failed = err_set(err, "the embedded schema cannot be read: %s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return failed ? -1 : 0;
}

/* The tables of the embedded file `path` ("trace/store/schema.sql"). NULL with *err set on failure. `what` is kept by
 * reference. */
static struct schema *schema_load(const char *path, int32_t application_id, int version, const char *what,
                                  struct err *err)
{
    struct schema *schema = mem_zalloc(1, sizeof *schema, err);
    if (!schema)
        return NULL;
    schema->application_id = application_id;
    schema->version = version;
    schema->what = what;
    schema->sql = embedded_text(path);
    sqlite3 *db = NULL;
    int failed;
    if (!schema->sql)
        failed = err_set(err, "the program lacks '%s'", path);
    else if (sqlite3_open(":memory:", &db))
        failed = err_set(err, "out of memory");
    else
        failed = read_tables(schema, db, err);
    sqlite3_close(db);
    if (!failed)
        return schema;
    free(schema);
    return NULL;
}

struct schema *schema_trace(struct err *err)
{
    return schema_load("trace/store/schema.sql", SCHEMA_TRACE_ID, SCHEMA_TRACE_VERSION, "an offchip trace", err);
}

struct schema *schema_results(struct err *err)
{
    struct schema *schema = schema_load("replay/results/results.sql", SCHEMA_RESULTS_ID, SCHEMA_RESULTS_VERSION,
                                        "an offchip results file", err);
    if (schema)
        schema->exact = true;
    return schema;
}

struct schema_table *schema_find(struct schema *schema, const char *name)
{
    for (int i = 0; i < schema->count; i++)
        if (strcmp(schema->table[i].name, name) == 0)
            return &schema->table[i];
    return NULL;
}

int schema_create(const struct schema *schema, sqlite3 *db, struct err *err)
{
    char pragmas[100];
    (void)snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                   (int)schema->application_id, schema->version);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) || sqlite3_exec(db, schema->sql, NULL, NULL, NULL) ||
        sqlite3_exec(db, pragmas, NULL, NULL, NULL) || sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) {
        err_set(err, "%s", sqlite3_errmsg(db));
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    return 0;
}

static int read_number(sqlite3 *db, const char *sql, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = first_row(db, sql, NULL, &stmt);
    *value = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    int failed = rc != SQLITE_ROW ? err_set(err, "%s", sqlite3_errmsg(db)) : 0;
    sqlite3_finalize(stmt);
    return failed;
}

/* What a table of that name is: *type is "table", another text, or "" if there is none. */
static int read_type(sqlite3 *db, const char *name, char type[40], struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    static const char sql[] =
        "SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type <> 'index' AND type <> 'trigger'";
    int rc = first_row(db, sql, name, &stmt);
    copy_name(type, rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : "");
    int failed = rc != SQLITE_ROW && rc != SQLITE_DONE ? err_set(err, "%s", sqlite3_errmsg(db)) : 0;
    sqlite3_finalize(stmt);
    return failed;
}

static int check_columns(const struct schema *schema, const struct schema_table *ours,
                         const struct schema_table *theirs, struct err *err)
{
    bool older = schema->found_version < schema->version; /* a trace */
    int columns = older && theirs->columns < ours->columns ? theirs->columns : ours->columns;
    for (int c = 0; c < columns; c++)
        if (c >= theirs->columns || strcmp(theirs->column[c].name, ours->column[c].name) != 0)
            return err_set(err, "table %s has no column %s at position %d", ours->name, ours->column[c].name, c + 1);
    if (theirs->columns != columns)
        return err_set(err, "table %s has %d columns; expected %d", ours->name, theirs->columns, columns);
    if (schema->exact && theirs->declared != ours->declared)
        return err_set(err, "table %s is not declared as this version declares it", ours->name);
    return 0;
}

static int check_table(const struct schema *schema, struct schema_table *ours, sqlite3 *db, bool required,
                       struct err *err)
{
    char type[40];
    if (read_type(db, ours->name, type, err))
        return -1;
    ours->present = strcmp(type, "table") == 0;
    if ((type[0] || required) && !ours->present)
        return err_set(err, "table %s is missing", ours->name);
    if (!ours->present)
        return 0;
    struct schema_table theirs;
    return read_columns(db, ours->name, &theirs, err) < 0 ? -1 : check_columns(schema, ours, &theirs, err);
}

int schema_check(struct schema *schema, sqlite3 *db, int required, struct err *err)
{
    int64_t id, version;
    if (read_number(db, "PRAGMA application_id", &id, err) || read_number(db, "PRAGMA user_version", &version, err))
        return -1;
    static const struct {
        int32_t id;
        const char *what;
    } ours[] = {{SCHEMA_TRACE_ID, "a trace ('offchip info' reads it)"},
                {SCHEMA_RESULTS_ID, "a results file ('offchip report' reads it)"}};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (id == ours[i].id && id != schema->application_id)
            return err_set(err, "this is %s; expected %s", ours[i].what, schema->what);
    if (id != schema->application_id)
        return err_set(err,
                       "an SQLite database, but not %s; 'offchip import' makes a trace of what nsys or nvprof export",
                       schema->what);
    if (version > schema->version)
        return err_set(err, "%s of version %lld; this offchip reads versions up to %d", schema->what,
                       (long long)version, schema->version);
    if (schema->exact && version < schema->version)
        return err_set(err, "%s of version %lld; this offchip reads version %d: run again what it holds", schema->what,
                       (long long)version, schema->version);
    if (version < 1)
        return err_set(err, "%s of version %lld; expected 1 to %d", schema->what, (long long)version, schema->version);
    schema->found_version = (int)version;
    if (schema->exact)
        required = schema->count;
    for (int i = 0; i < schema->count; i++)
        if (check_table(schema, &schema->table[i], db, i < required, err))
            return -1;
    return 0;
}

void schema_distrust(sqlite3 *db)
{
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
}
