/* store_facts: plain tables of a trace, written row by row and read back checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/store/store_file.h"

/* How many bytes a valid UTF-8 character at s has, 0: none is there. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
        (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

char *store_utf8(const char *text, struct err *err)
{
    size_t n = strlen(text), used = 0;
    char *copy = mem_zalloc(n * 3 + 1, 1, err);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length((const unsigned char *)text + i);
        memcpy(copy + used, length ? text + i : "\xEF\xBF\xBD", length ? length : 3);
        used += length ? length : 3;
        i += length ? length : 1;
    }
    return copy;
}

/* --- writing --- */

static int bind(struct store *store, sqlite3_stmt *stmt, int at, const struct store_value *v, struct err *err)
{
    int rc;
    switch (v->type) {
    case STORE_INT:
        rc = sqlite3_bind_int64(stmt, at, v->i);
        break;
    case STORE_REAL:
        rc = sqlite3_bind_double(stmt, at, v->r);
        break;
    case STORE_TEXT: {
        char *text = v->s ? store_utf8(v->s, err) : NULL;
        if (v->s && !text)
            return -1;
        rc = text ? sqlite3_bind_text(stmt, at, text, -1, free) : sqlite3_bind_null(stmt, at);
        break;
    }
    default:
        rc = sqlite3_bind_null(stmt, at);
    }
    return rc ? store_sqlite_failed(store, "cannot write", err) : 0;
}

/* Step a prepared statement that writes; breaks the store on failure. */
static int write_row(struct store *store, sqlite3_stmt *stmt, const struct store_value *values, size_t n,
                     struct err *err)
{
    if (store_begin(store, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (bind(store, stmt, (int)i + 1, &values[i], err))
            return -1;
    int rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_DONE ? store_sqlite_failed(store, "cannot write", err) : 0;
    (void)sqlite3_reset(stmt);
    (void)sqlite3_clear_bindings(stmt);
    /* A row that breaks a constraint leaves the rest as it is; a full disk does not. */
    if (failed)
        return rc == SQLITE_CONSTRAINT ? -1 : store_break(store);
    return store_wrote_row(store, err);
}

static sqlite3_stmt *prepare(struct store *store, sqlite3_stmt **stmt, const char *sql, struct err *err)
{
    if (!*stmt && sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL))
        (void)store_sqlite_failed(store, "cannot write", err);
    return *stmt;
}

int store_row(struct store *store, const char *name, const struct store_value *values, size_t n, struct err *err)
{
    if (store_writable(store, err))
        return -1;
    struct schema_table *table = schema_find(store->schema, name);
    if (!table || strcmp(name, "streams") == 0 || strcmp(name, "chunks") == 0 || strcmp(name, "origin") == 0)
        return err_set(err, "'%s': '%.60s' is not a table of facts", store->path, name);
    if (n != (size_t)table->columns)
        return err_set(err, "'%s': %zu values for table %s, which has %d columns", store->path, n, name,
                       table->columns);
    for (size_t i = 0; i < n; i++)
        if (table->column[i].required &&
            (values[i].type == STORE_NULL || (values[i].type == STORE_TEXT && !values[i].s)))
            return err_set(err, "'%s': no value for %s.%s, which must have one", store->path, name,
                           table->column[i].name);
    sqlite3_stmt **stmt = &store->insert[table - store->schema->table];
    if (!*stmt) {
        char sql[200];
        int used = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table->name);
        for (size_t i = 1; i < n; i++)
            used += snprintf(sql + used, sizeof sql - (size_t)used, ",?");
        (void)snprintf(sql + used, sizeof sql - (size_t)used, ")");
        if (!prepare(store, stmt, sql, err))
            return -1;
    }
    return write_row(store, *stmt, values, n, err) ? err_at(err, "table %s", name) : 0;
}

int store_put_origin(struct store *store, const char *key, const char *value, struct err *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.origin VALUES(?1, ?2)";
    struct store_value values[] = {STORE_V_TEXT(key), STORE_V_TEXT(value)};
    sqlite3_stmt *stmt = prepare(store, &store->set_origin, sql, err);
    if (!stmt || write_row(store, stmt, values, 2, err))
        return -1;
    return store_remember(store, key, value, err);
}

int store_origin(struct store *store, const char *key, const char *value, struct err *err)
{
    if (store_writable(store, err))
        return -1;
    if (strcmp(key, "state") == 0)
        return err_set(err, "'%s': origin's key 'state' is the store's own", store->path);
    return store_put_origin(store, key, value, err);
}

static int add(struct store *store, sqlite3_stmt **stmt, const char *sql, const char *reason, uint64_t n,
               struct err *err)
{
    if (store_writable(store, err))
        return -1;
    struct store_value values[] = {STORE_V_TEXT(reason), STORE_V_INT(n)};
    return prepare(store, stmt, sql, err) ? write_row(store, *stmt, values, 2, err) : -1;
}

int store_skip(struct store *store, const char *reason, uint64_t n, struct err *err)
{
    return add(store, &store->add_skipped,
               "INSERT INTO main.skipped VALUES(?1, ?2) ON CONFLICT(reason) DO UPDATE SET count = count + ?2", reason,
               n, err);
}

int store_drop(struct store *store, const char *reason, uint64_t n, struct err *err)
{
    return add(store, &store->add_dropped,
               "INSERT INTO main.dropped VALUES(?1, ?2) ON CONFLICT(reason) DO UPDATE SET count = count + ?2", reason,
               n, err);
}

/* --- reading --- */

/* A value as the schema wants it; texts are never NULL pointers, so that nobody trips over one. */
static int take(sqlite3_stmt *stmt, int at, const struct schema_table *table, struct store_value *v, struct err *err)
{
    const struct schema_column *column = &table->column[at];
    int type = sqlite3_column_type(stmt, at + 1);
    *v = (struct store_value){STORE_NULL, 0, 0, ""};
    if (type == SQLITE_INTEGER && column->type != SCHEMA_TEXT) {
        v->type = column->type == SCHEMA_REAL ? STORE_REAL : STORE_INT;
        v->i = sqlite3_column_int64(stmt, at + 1);
        v->r = (double)v->i;
    } else if (type == SQLITE_FLOAT && column->type == SCHEMA_REAL) {
        v->type = STORE_REAL;
        v->r = sqlite3_column_double(stmt, at + 1);
        v->i = fabs(v->r) < 0x1p63 ? (int64_t)v->r : 0;
    } else if (type == SQLITE_TEXT && column->type == SCHEMA_TEXT) {
        v->type = STORE_TEXT;
        v->s = (const char *)sqlite3_column_text(stmt, at + 1);
        if (!v->s)
            return err_set(err, "out of memory");
        for (const unsigned char *s = (const unsigned char *)v->s; *s; s += utf8_length(s))
            if (!utf8_length(s))
                return err_set(err, "column %s is not UTF-8", column->name);
    } else if (type != SQLITE_NULL || column->required) {
        static const char *const names[] = {"an integer", "a number", "a text", "a blob"};
        return err_set(err, "column %s is not %s", column->name, names[column->type]);
    }
    return 0;
}

static int each_row(sqlite3_stmt *stmt, const struct schema_table *table,
                    int (*fn)(void *ctx, const struct store_value *values, size_t n), void *ctx, bool *stopped,
                    struct err *err)
{
    int rc;
    bool first = true;
    int64_t last = 0;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct store_value values[SCHEMA_COLUMNS];
        int64_t rowid = sqlite3_column_int64(stmt, 0);
        /* A damaged tree may lead round and round. */
        if (!first && rowid <= last)
            return err_set(err, "row %lld follows row %lld: the file is damaged", (long long)rowid, (long long)last);
        first = false;
        last = rowid;
        for (int c = 0; c < table->columns; c++)
            if (take(stmt, c, table, &values[c], err))
                return err_at(err, "row %lld", (long long)rowid);
        int said = fn(ctx, values, (size_t)table->columns);
        if (said) {
            *stopped = true;
            return said;
        }
    }
    return rc == SQLITE_DONE ? 0 : err_set(err, "%s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
}

int store_rows(struct store *store, const char *name, int (*fn)(void *ctx, const struct store_value *values, size_t n),
               void *ctx, struct err *err)
{
    struct schema_table *table = schema_find(store->schema, name);
    if (!table || strcmp(name, "chunks") == 0)
        return err_set(err, "'%s': '%.60s' is not a table of facts", store->path, name);
    if (!table->present)
        return 0;
    char sql[1200];
    int used = snprintf(sql, sizeof sql, "SELECT rowid");
    for (int c = 0; c < table->columns; c++)
        used += snprintf(sql + used, sizeof sql - (size_t)used, ", %s", table->column[c].name);
    (void)snprintf(sql + used, sizeof sql - (size_t)used, " FROM main.%s ORDER BY rowid", table->name);
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL))
        return store_sqlite_failed(store, name, err);
    bool stopped = false;
    int said = each_row(stmt, table, fn, ctx, &stopped, err);
    sqlite3_finalize(stmt);
    return said && !stopped ? err_at(err, "'%s': table %s", store->path, name) : said;
}
