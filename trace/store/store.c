/* store: a trace in an SQLite file: a full chunk is written and committed at once, facts now and then. */
#define XXH_INLINE_ALL
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <xxhash.h>

#include "trace/base/clock.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/version.h"
#include "trace/store/chunk.h"
#include "trace/store/dbfile.h"
#include "trace/store/directory.h"
#include "trace/store/schema.h"
#include "trace/store/store.h"

/* 16 KiB pages: a chunk takes a dozen writes rather than fifty, an empty trace half a MiB. */
static const char page_size_sql[] = "PRAGMA page_size = 16384";

/* Tables a file must have to be readable at all: the first ones of the schema. */
enum { STORE_REQUIRED_TABLES = 5 };

/* One value of table origin; a list with the newest first. */
struct store_fact {
    struct store_fact *next;
    char *key, *value;
};

/* Kept statements: one that inserts into each table of facts, and these. */
enum { ADD_SKIPPED = SCHEMA_TABLES, ADD_DROPPED, SET_ORIGIN, INSERT_CHUNK, STATEMENTS };

struct store {
    char *path; /* as given */
    sqlite3 *db;
    struct output file; /* being made, without its name yet; else empty */
    struct schema *schema;
    struct directory directory;
    struct store_fact *facts;
    bool writing, complete;
    struct chunk_builder *builders; /* one per stream */
    size_t builder_cap;
    bool in_transaction;
    unsigned rows;                       /* in the transaction */
    int64_t transaction_ms;              /* when it began */
    bool broken;                         /* a write failed: nothing more is written */
    sqlite3_stmt *statement[STATEMENTS]; /* prepared at first need */
};

static int sqlite_failed(struct store *store, const char *doing, struct err *err)
{
    err_set(err, "%s: %s", doing, sqlite3_errmsg(store->db));
    return err_at(err, "'%s'", store->path);
}

/* --- transactions --- */

/* Facts are committed after so many rows, or when the oldest waits this long. */
enum { COMMIT_ROWS = 4096, COMMIT_MS = 1000 };

static int writable(const struct store *store, struct err *err)
{
    if (!store->writing)
        return err_set(err, "'%s' is open for reading", store->path);
    if (store->complete)
        return err_set(err, "'%s' is finished: nothing can be added", store->path);
    return store->broken ? err_set(err, "'%s': an earlier write failed, nothing more is written", store->path) : 0;
}

static int break_off(struct store *store)
{
    (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
    store->broken = true;
    return -1;
}

static int begin(struct store *store, struct err *err)
{
    if (store->in_transaction)
        return 0;
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) {
        (void)sqlite_failed(store, "cannot write", err);
        return break_off(store);
    }
    store->in_transaction = true;
    store->rows = 0;
    store->transaction_ms = clock_ms(CLOCK_MONOTONIC_COARSE);
    return 0;
}

static int commit(struct store *store, struct err *err)
{
    if (!store->in_transaction)
        return 0;
    if (sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL)) {
        (void)sqlite_failed(store, "cannot write", err);
        return break_off(store);
    }
    store->in_transaction = false;
    return 0;
}

static int wrote_row(struct store *store, struct err *err)
{
    if (++store->rows < COMMIT_ROWS && clock_ms(CLOCK_MONOTONIC_COARSE) - store->transaction_ms < COMMIT_MS)
        return 0;
    return commit(store, err);
}

/* --- facts --- */

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

static char *utf8_copy(const char *text, struct err *err)
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

static int bind_value(struct store *store, sqlite3_stmt *stmt, int at, const struct store_value *v, struct err *err)
{
    char *text = v->type == STORE_TEXT && v->s ? utf8_copy(v->s, err) : NULL;
    if (v->type == STORE_TEXT && v->s && !text)
        return -1;
    int rc = text                    ? sqlite3_bind_text(stmt, at, text, -1, free)
             : v->type == STORE_INT  ? sqlite3_bind_int64(stmt, at, v->i)
             : v->type == STORE_REAL ? sqlite3_bind_double(stmt, at, v->r)
                                     : sqlite3_bind_null(stmt, at);
    return rc ? sqlite_failed(store, "cannot write", err) : 0;
}

/* Step a prepared statement that writes; breaks the store on failure. */
static int write_row(struct store *store, sqlite3_stmt *stmt, const struct store_value *values, size_t n,
                     struct err *err)
{
    if (begin(store, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (bind_value(store, stmt, (int)i + 1, &values[i], err))
            return -1;
    int rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_DONE ? sqlite_failed(store, "cannot write", err) : 0;
    (void)sqlite3_reset(stmt);
    (void)sqlite3_clear_bindings(stmt);
    /* A row that breaks a constraint leaves the rest as it is; a full disk does not. */
    if (failed)
        return rc == SQLITE_CONSTRAINT ? -1 : break_off(store);
    return wrote_row(store, err);
}

static sqlite3_stmt *prepare(struct store *store, int which, const char *sql, struct err *err)
{
    sqlite3_stmt **stmt = &store->statement[which];
    if (!*stmt && sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL))
        (void)sqlite_failed(store, "cannot write", err);
    return *stmt;
}

int store_row(struct store *store, const char *name, const struct store_value *values, size_t n, struct err *err)
{
    if (writable(store, err))
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
    const int which = (int)(table - store->schema->table);
    if (!store->statement[which]) {
        char sql[200];
        int used = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES(?", table->name);
        for (size_t i = 1; i < n; i++)
            used += snprintf(sql + used, sizeof sql - (size_t)used, ",?");
        (void)snprintf(sql + used, sizeof sql - (size_t)used, ")");
        if (!prepare(store, which, sql, err))
            return -1;
    }
    return write_row(store, store->statement[which], values, n, err) ? err_at(err, "table %s", name) : 0;
}

static int remember(struct store *store, const char *key, const char *value, struct err *err)
{
    struct store_fact *fact = mem_zalloc(1, sizeof *fact, err);
    if (!fact)
        return -1;
    fact->key = mem_strdup(key, err);
    fact->value = fact->key ? mem_strdup(value, err) : NULL;
    fact->next = store->facts;
    store->facts = fact;
    return fact->value ? 0 : -1;
}

static int put_origin(struct store *store, const char *key, const char *value, struct err *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO main.origin VALUES(?1, ?2)";
    struct store_value values[] = {STORE_V_TEXT(key), STORE_V_TEXT(value)};
    sqlite3_stmt *stmt = prepare(store, SET_ORIGIN, sql, err);
    if (!stmt || write_row(store, stmt, values, 2, err))
        return -1;
    return remember(store, key, value, err);
}

int store_origin(struct store *store, const char *key, const char *value, struct err *err)
{
    if (writable(store, err))
        return -1;
    if (strcmp(key, "state") == 0)
        return err_set(err, "'%s': origin's key 'state' is the store's own", store->path);
    return put_origin(store, key, value, err);
}

/* A sum ends at the largest count: a real number would be no count. */
#define ADD_TO(TABLE)                                                                                                  \
    "INSERT INTO main." TABLE " VALUES(?1, ?2) "                                                                       \
    "ON CONFLICT(reason) DO UPDATE SET count = min(count + ?2, 9223372036854775807)"

static int add(struct store *store, int which, const char *sql, const char *reason, uint64_t n, struct err *err)
{
    if (writable(store, err))
        return -1;
    struct store_value values[] = {STORE_V_TEXT(reason), STORE_V_INT(n)};
    sqlite3_stmt *stmt = prepare(store, which, sql, err);
    return stmt ? write_row(store, stmt, values, 2, err) : -1;
}

int store_skip(struct store *store, const char *reason, uint64_t n, struct err *err)
{
    return add(store, ADD_SKIPPED, ADD_TO("skipped"), reason, n, err);
}

int store_drop(struct store *store, const char *reason, uint64_t n, struct err *err)
{
    return add(store, ADD_DROPPED, ADD_TO("dropped"), reason, n, err);
}

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
        return sqlite_failed(store, name, err);
    bool stopped = false;
    int said = each_row(stmt, table, fn, ctx, &stopped, err);
    sqlite3_finalize(stmt);
    return said && !stopped ? err_at(err, "'%s': table %s", store->path, name) : said;
}

static int count_row(void *count, const struct store_value *values, size_t n)
{
    (void)values, (void)n;
    ++*(int64_t *)count;
    return 0;
}

int store_row_count(struct store *store, const char *table, int64_t *count, struct err *err)
{
    return store_rows(store, table, count_row, count, err);
}

struct copying {
    struct store *to;
    const char *table;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    return store_row(c->to, c->table, values, n, c->err);
}

int store_copy_table(struct store *from, struct store *to, const char *table, struct err *err)
{
    struct copying c = {to, table, err};
    return store_rows(from, table, copy_row, &c, err) ? -1 : 0;
}

/* --- streams: writing --- */

static int insert_stream(struct store *store, const struct stream *s, struct err *err)
{
    static const char sql[] = "INSERT INTO main.streams VALUES(?,?,?,?,?,?,?,?,?,?,?)";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL))
        return sqlite_failed(store, "cannot write", err);
    const char *texts[] = {s->name,
                           time_unit_name(s->unit),
                           s->clock,
                           NULL,
                           addr_space_name(s->space),
                           s->addr_layout,
                           s->extra[0],
                           s->extra[1],
                           s->extra[2],
                           s->extra[3]};
    int rc = sqlite3_bind_int64(stmt, 1, (int64_t)store->directory.count);
    for (int i = 0; i < 10 && !rc; i++)
        rc = texts[i] ? sqlite3_bind_text(stmt, i + 2, texts[i], -1, SQLITE_STATIC)
                      : sqlite3_bind_int64(stmt, i + 2, s->clock_hz);
    if (!rc)
        rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_DONE ? sqlite_failed(store, "cannot write", err) : 0;
    sqlite3_finalize(stmt);
    return failed;
}

static int check_stream(const struct store *store, const struct stream *s, struct err *err)
{
    bool ended = memchr(s->name, 0, sizeof s->name) && memchr(s->clock, 0, sizeof s->clock) &&
                 memchr(s->addr_layout, 0, sizeof s->addr_layout);
    for (int i = 0; i < STORE_EXTRAS; i++)
        ended = ended && memchr(s->extra[i], 0, sizeof s->extra[i]);
    if (!ended || !s->name[0])
        return err_set(err, "'%s': a stream needs a name, and texts that end", store->path);
    if (directory_find(&store->directory, s->name) >= 0)
        return err_set(err, "'%s': there is a stream '%s' already", store->path, s->name);
    return 0;
}

int store_stream_add(struct store *store, const struct stream *stream, int *index, struct err *err)
{
    if (writable(store, err) || check_stream(store, stream, err))
        return -1;
    size_t n = store->directory.count;
    if (mem_grow((void **)&store->builders, &store->builder_cap, n + 1, sizeof *store->builders, err))
        return -1;
    int extras = 0;
    while (extras < STORE_EXTRAS && stream->extra[extras][0])
        extras++;
    if (chunk_builder_init(&store->builders[n], extras, err))
        return -1;
    store->builders[n].dense = strcmp(stream->name, "accesses") == 0; /* of many warps in turn */
    if (begin(store, err) || insert_stream(store, stream, err) ||
        directory_add_stream(&store->directory, stream, err)) {
        chunk_builder_release(&store->builders[n]);
        return break_off(store);
    }
    *index = (int)n;
    return commit(store, err);
}

static int insert_chunk(struct store *store, size_t stream, const struct directory_chunk *c, const unsigned char *data,
                        size_t bytes, struct err *err)
{
    static const char sql[] = "INSERT INTO main.chunks VALUES(?,?,?,?,?,?,?,?,?)";
    sqlite3_stmt *stmt = prepare(store, INSERT_CHUNK, sql, err);
    if (!stmt)
        return -1;
    const int64_t numbers[] = {c->chunk,    (int64_t)stream, (int64_t)c->first_record, c->records,
                               c->time_min, c->time_max,     (int64_t)c->kinds,        (int64_t)c->content_hash};
    int rc = 0;
    for (int i = 0; i < 8 && !rc; i++)
        rc = sqlite3_bind_int64(stmt, i + 1, numbers[i]);
    if (!rc)
        rc = sqlite3_bind_blob64(stmt, 9, data, bytes, SQLITE_STATIC);
    if (!rc)
        rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_DONE ? sqlite_failed(store, "cannot write", err) : 0;
    (void)sqlite3_reset(stmt);
    return failed;
}

static int write_chunk(struct store *store, size_t stream, struct err *err)
{
    struct chunk_builder *builder = &store->builders[stream];
    if (builder->records == 0)
        return 0;
    const unsigned char *data;
    size_t bytes;
    chunk_builder_encode(builder, &data, &bytes);
    struct directory_chunk chunk = {
        .chunk = store->directory.next_chunk,
        .first_record = store->directory.streams[stream].info.records,
        .records = (uint32_t)builder->records,
        .time_min = builder->time_min,
        .time_max = builder->time_max,
        .kinds = builder->kinds,
        .content_hash = builder->content_hash,
    };
    if (begin(store, err))
        return -1;
    if (insert_chunk(store, stream, &chunk, data, bytes, err))
        return break_off(store);
    if (commit(store, err))
        return -1;
    chunk_builder_reset(builder);
    return directory_add_chunk(&store->directory, stream, &chunk, err);
}

int store_append(struct store *store, int stream, const struct record *records, const int64_t *extra, size_t n,
                 struct err *err)
{
    if (writable(store, err))
        return -1;
    if (stream < 0 || (size_t)stream >= store->directory.count)
        return err_set(err, "'%s' has no stream %d", store->path, stream);
    struct chunk_builder *builder = &store->builders[stream];
    for (size_t from = 0, taken; from < n; from += taken) {
        if (chunk_builder_add(builder, records + from, extra ? extra + from : NULL, n, n - from, &taken, err))
            return err_at(err, "'%s'", store->path);
        if (builder->records == CHUNK_RECORDS && write_chunk(store, (size_t)stream, err))
            return -1;
    }
    return 0;
}

int store_flush(struct store *store, struct err *err)
{
    if (writable(store, err))
        return -1;
    for (size_t i = 0; i < store->directory.count; i++)
        if (write_chunk(store, i, err))
            return -1;
    return commit(store, err);
}

int store_keep(struct store *store, struct err *err)
{
    if (store_flush(store, err))
        return -1;
    store->broken = true; /* of a file with its name nothing is written any more */
    return dbfile_close(&store->file, 0, err);
}

int store_finish(struct store *store, struct err *err)
{
    if (store_flush(store, err))
        return -1;
    /* Until here a crash of the machine, not of the program, may cost the file; from here on it is on the disk. The
     * last step is to remove the journal: a failure before it undoes the mark, after it nothing is left that can fail.
     * (A machine that crashes in the next moments may bring the journal back: the trace is then whole but unmarked.) */
    static const char sql[] = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL";
    if (!store->file.path && sqlite3_exec(store->db, sql, NULL, NULL, NULL))
        return sqlite_failed(store, "cannot finish", err);
    if (put_origin(store, "state", "complete", err) || commit(store, err) || dbfile_close(&store->file, 0, err))
        return -1;
    store->complete = true;
    return 0;
}

static struct store *new_store(const char *path, struct err *err)
{
    struct store *store = mem_zalloc(1, sizeof *store, err);
    if (!store)
        return NULL;
    store->path = mem_strdup(path, err);
    store->schema = store->path ? schema_trace(err) : NULL;
    if (store->schema)
        return store;
    store_close(store);
    return NULL;
}

const char *store_origin_get(const struct store *store, const char *key)
{
    for (const struct store_fact *f = store->facts; f; f = f->next)
        if (f->key && strcmp(f->key, key) == 0)
            return f->value;
    return NULL;
}

/* --- creating --- */

static int first_facts(struct store *store, const char *command_line, struct err *err)
{
    char now[32];
    time_t t = time(NULL);
    struct tm tm;
    struct utsname host;
    if (!gmtime_r(&t, &tm) || strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        now[0] = 0;
    if (uname(&host))
        memset(&host, 0, sizeof host);
    return put_origin(store, "state", "incomplete", err) || store_origin(store, "created", now, err) ||
                   store_origin(store, "offchip_version", offchip_version, err) ||
                   store_origin(store, "host", host.nodename, err) ||
                   store_origin(store, "command_line", command_line ? command_line : "", err) || commit(store, err)
               ? -1
               : 0;
}

/* Readers may come at any time; the data is on the disk at store_finish(). */
static int set_up_writer(struct store *store, struct err *err)
{
    static const char sql[] = "PRAGMA synchronous = OFF; PRAGMA cache_size = -4096";
    static const char journal[] = "PRAGMA journal_mode = TRUNCATE"; /* of a file with its name; else as it was made */
    (void)sqlite3_busy_timeout(store->db, DBFILE_BUSY_MS);
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) ||
        (!store->file.path && sqlite3_exec(store->db, journal, NULL, NULL, NULL)))
        return sqlite_failed(store, "cannot write", err);
    for (int i = 0; i < store->schema->count; i++)
        store->schema->table[i].present = true;
    store->writing = true;
    return 0;
}

static int make_tables(sqlite3 *db, void *ctx, struct err *err)
{
    struct store *store = ctx;
    if (sqlite3_exec(db, page_size_sql, NULL, NULL, NULL))
        return err_set(err, "%s", sqlite3_errmsg(db));
    return schema_create(store->schema, db, err);
}

/* `failed`: its tables could not be made. */
static struct store *start(struct store *store, int failed, const char *command_line, struct err *err)
{
    if (!failed && set_up_writer(store, err) == 0 && first_facts(store, command_line, err) == 0)
        return store;
    store_close(store);
    return NULL;
}

struct store *store_create(const char *path, enum output_place place, const char *command_line, struct err *err)
{
    struct store *store = new_store(path, err);
    if (!store)
        return NULL;
    int failed = dbfile_create(&store->file, path, place, make_tables, store, &store->db, err);
    return start(store, failed, command_line, err);
}

struct store *store_create_temporary(const char *name, struct err *err)
{
    struct store *store = new_store(name, err);
    if (!store)
        return NULL;
    /* As SQLite names what is gone at its close; "": a file, unlinked once it is open. */
    int failed = sqlite3_open(strcmp(name, ":memory:") == 0 ? name : "", &store->db)
                     ? err_set(err, "%s", store->db ? sqlite3_errmsg(store->db) : "out of memory")
                     : make_tables(store->db, store, err);
    return start(store, failed, "", err);
}

static void forget_facts(struct store *store)
{
    while (store->facts) {
        struct store_fact *next = store->facts->next;
        free(store->facts->key);
        free(store->facts->value);
        free(store->facts);
        store->facts = next;
    }
}

static void forget_streams(struct store *store)
{
    for (size_t i = 0; store->writing && i < store->directory.count; i++)
        chunk_builder_release(&store->builders[i]);
    directory_release(&store->directory);
}

/* --- opening --- */

static int remember_row(void *ctx, const struct store_value *values, size_t n)
{
    (void)n;
    return remember(ctx, values[0].s, values[1].s, NULL);
}

static int read_store(struct store *store, struct err *err)
{
    if (dbfile_open(store->path, DBFILE_READ, &store->db, err))
        return -1;
    schema_distrust(store->db);
    if (schema_check(store->schema, store->db, STORE_REQUIRED_TABLES, err) ||
        directory_read(&store->directory, store->db, err))
        return err_at(err, "'%s'", store->path);
    if (store_rows(store, "origin", remember_row, store, err))
        return err && err->msg[0] ? -1 : err_set(err, "out of memory");
    const char *state = store_origin_get(store, "state");
    /* 0.3 could make samples of traces, which are no whole ones. */
    store->complete = state && strcmp(state, "complete") == 0 && !store_origin_get(store, "sample");
    return 0;
}

struct store *store_open(const char *path, struct err *err)
{
    struct err own = {""};
    struct store *store = new_store(path, err);
    if (!store || read_store(store, &own) == 0)
        return store;
    store_close(store);
    err_set(err, "%s", own.msg);
    return NULL;
}

/* --- closing --- */

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->writing && !store->complete && !store->broken && !store->file.path)
        (void)store_flush(store, NULL);
    forget_streams(store);
    free(store->builders);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->statement[i]);
    if (store->writing) /* removes the empty journal */
        (void)sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close(store->db);
    (void)dbfile_close(&store->file, -1, NULL);
    forget_facts(store);
    free(store->schema);
    free(store->path);
    free(store);
}

bool store_complete(const struct store *store)
{
    return store->complete;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

/* --- naming by content --- */

struct hashing {
    XXH3_state_t *state;
    bool origin;
};

static void hash_text(struct hashing *h, const char *text)
{
    (void)XXH3_128bits_update(h->state, text, strlen(text) + 1);
}

/* Behind "source.N." or "input.N.", as often as it stands there: traces are made of traces. */
static const char *own_key(const char *key)
{
    for (;;) {
        size_t prefix = strncmp(key, "source.", 7) == 0 ? 7 : strncmp(key, "input.", 6) == 0 ? 6 : 0;
        size_t digits = strspn(key + prefix, "0123456789");
        if (!prefix || !digits || key[prefix + digits] != '.')
            return key;
        key += prefix + digits + 1;
    }
}

bool store_passing_fact(const char *key)
{
    const char *own = own_key(key);
    return param_position("created|host|command_line|offchip_version|derived_from|source|path|state", own) >= 0;
}

static int hash_row(void *ctx, const struct store_value *values, size_t n)
{
    struct hashing *h = ctx;
    if (h->origin && store_passing_fact(values[0].s))
        return 0;
    for (size_t i = 0; i < n; i++) {
        (void)XXH3_128bits_update(h->state, &values[i].type, sizeof values[i].type);
        (void)XXH3_128bits_update(h->state, &values[i].i, sizeof values[i].i);
        (void)XXH3_128bits_update(h->state, &values[i].r, sizeof values[i].r);
        hash_text(h, values[i].s);
    }
    return 0;
}

static int hash_content(struct store *store, struct hashing *h, struct err *err)
{
    for (size_t s = 0; s < store->directory.count; s++) {
        const struct directory_stream *stream = &store->directory.streams[s];
        for (size_t c = 0; c < stream->count; c++) {
            const struct directory_chunk *chunk = &stream->chunks[c];
            const uint64_t words[] = {s, chunk->first_record, chunk->records, chunk->content_hash};
            (void)XXH3_128bits_update(h->state, words, sizeof words);
        }
    }
    for (int t = 0; t < store->schema->count; t++) {
        const char *name = store->schema->table[t].name;
        if (strcmp(name, "chunks") == 0)
            continue;
        hash_text(h, name);
        h->origin = strcmp(name, "origin") == 0;
        if (store_rows(store, name, hash_row, h, err))
            return -1;
    }
    return 0;
}

int store_hash(struct store *store, char hash[33], struct err *err)
{
    hash[0] = 0;
    if (store->writing)
        return err_set(err, "'%s' is being written: its content has no name yet", store->path);
    struct hashing h = {XXH3_createState(), false};
    if (!h.state)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_reset(h.state);
    int failed = hash_content(store, &h, err);
    XXH128_hash_t value = XXH3_128bits_digest(h.state);
    (void)XXH3_freeState(h.state);
    if (!failed)
        (void)snprintf(hash, 33, "%016llx%016llx", (unsigned long long)value.high64, (unsigned long long)value.low64);
    return failed;
}

/* --- streams: reading --- */

struct store_cursor {
    struct store *store;
    size_t stream, next_chunk;
    sqlite3_stmt *fetch;
    struct directory_bytes bytes;
    struct chunk_reader reader;
};

int store_stream_count(const struct store *store)
{
    return (int)store->directory.count;
}

const struct stream *store_stream(const struct store *store, int index)
{
    return index < 0 || (size_t)index >= store->directory.count ? NULL : &store->directory.streams[index].info;
}

int store_stream_find(const struct store *store, const char *name)
{
    return directory_find(&store->directory, name);
}

int store_extra(const struct stream *stream, const char *name)
{
    for (int i = 0; i < STORE_EXTRAS; i++)
        if (strcmp(stream->extra[i], name) == 0)
            return i;
    return -1;
}

struct store_cursor *store_cursor_open(struct store *store, int stream, struct err *err)
{
    if (!store_stream(store, stream)) {
        err_set(err, "'%s' has no stream %d", store->path, stream);
        return NULL;
    }
    if (store->writing && !store->complete && write_chunk(store, (size_t)stream, err))
        return NULL;
    struct store_cursor *cursor = mem_zalloc(1, sizeof *cursor, err);
    if (!cursor)
        return NULL;
    cursor->store = store;
    cursor->stream = (size_t)stream;
    if (chunk_reader_init(&cursor->reader, store->directory.streams[stream].extras, err) == 0)
        return cursor;
    free(cursor);
    return NULL;
}

void store_cursor_close(struct store_cursor *cursor)
{
    if (!cursor)
        return;
    sqlite3_finalize(cursor->fetch);
    chunk_reader_release(&cursor->reader);
    free(cursor->bytes.data);
    free(cursor);
}

int store_cursor_next(struct store_cursor *cursor, const struct record **records, const int64_t **extra, size_t *n,
                      struct err *err)
{
    if (!cursor)
        return -1;
    const struct directory_stream *stream = &cursor->store->directory.streams[cursor->stream];
    for (;;) {
        int got = chunk_reader_next(&cursor->reader, records, extra, n, err);
        if (got > 0 || (got == 0 && cursor->next_chunk == stream->count))
            return got;
        if (got == 0) {
            const struct directory_chunk *next = &stream->chunks[cursor->next_chunk++];
            if (directory_fetch(cursor->store->db, &cursor->fetch, next->chunk, &cursor->bytes, err) == 0 &&
                chunk_reader_start(&cursor->reader, cursor->bytes.data, cursor->bytes.bytes, next->records, err) == 0)
                continue;
        }
        return err_at(err, "'%s': stream '%s', chunk %lld", cursor->store->path, stream->info.name,
                      (long long)stream->chunks[cursor->next_chunk - 1].chunk);
    }
}

bool store_walk_batch(struct store_walk *walk, struct store *store, int stream, struct err *err)
{
    if (walk->failed)
        return false;
    if (!walk->cursor)
        walk->cursor = store_cursor_open(store, stream, err);
    walk->at = walk->n = 0;
    int more = store_cursor_next(walk->cursor, &walk->r, &walk->extra, &walk->n, err);
    walk->failed = more < 0;
    return more > 0;
}

int store_walk_end(struct store_walk *walk)
{
    store_cursor_close(walk->cursor);
    walk->cursor = NULL;
    return walk->failed ? -1 : 0;
}

/* --- a writer --- */

int writer_open(struct writer *b, struct store *store, int stream, int extras, struct err *err)
{
    *b = (struct writer){.store = store, .stream = stream, .extras = extras};
    b->records = mem_zalloc(STORE_BATCH, sizeof *b->records, err);
    b->extra = b->records ? mem_zalloc((size_t)extras * STORE_BATCH, sizeof *b->extra, err) : NULL;
    if (b->extra)
        return 0;
    writer_close(b);
    return -1;
}

void writer_close(struct writer *b)
{
    free(b->records);
    free(b->extra);
    *b = (struct writer){0};
}

int writer_flush(struct writer *b, struct err *err)
{
    size_t n = b->n;
    b->n = 0;
    if (!n)
        return 0;
    /* The store wants columns of n values behind each other. */
    for (int c = 1; c < b->extras && n < STORE_BATCH; c++)
        memmove(b->extra + (size_t)c * n, b->extra + (size_t)c * STORE_BATCH, n * sizeof *b->extra);
    return store_append(b->store, b->stream, b->records, b->extras ? b->extra : NULL, n, err);
}

int writer_stream(struct store *store, const char *name, enum time_unit unit, const char *const *extra, int extras,
                  struct err *err)
{
    int index = store_stream_find(store, name);
    if (index >= 0) {
        const struct stream *found = store_stream(store, index);
        for (int i = 0; i < STORE_EXTRAS; i++)
            if (strcmp(found->extra[i], i < extras ? extra[i] : "") != 0 || found->unit != unit)
                return err_set(err, "the trace has a stream '%s' of another kind already", name);
        return index;
    }
    struct stream stream = {.unit = unit, .space = ADDR_BYTES};
    (void)snprintf(stream.name, sizeof stream.name, "%s", name);
    for (int i = 0; i < extras; i++)
        (void)snprintf(stream.extra[i], sizeof stream.extra[i], "%s", extra[i]);
    return store_stream_add(store, &stream, &index, err) ? -1 : index;
}
