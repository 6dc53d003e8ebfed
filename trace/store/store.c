/* store: making, opening, closing, reading and naming a trace by its content. */
#define XXH_INLINE_ALL
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/base/mem.h"
#include "trace/base/version.h"
#include "trace/store/dbfile.h"
#include "trace/store/store_file.h"

/* 16 KiB pages: a chunk takes a dozen writes rather than fifty, an empty trace half a MiB. */
static const char page_size_sql[] = "PRAGMA page_size = 16384";

int store_sqlite_failed(struct store *store, const char *doing, struct err *err)
{
    err_set(err, "%s: %s", doing, sqlite3_errmsg(store->db));
    return err_at(err, "'%s'", store->path);
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

int store_remember(struct store *store, const char *key, const char *value, struct err *err)
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

const char *store_origin_get(const struct store *store, const char *key)
{
    for (const struct store_fact *f = store->facts; f; f = f->next)
        if (f->key && strcmp(f->key, key) == 0)
            return f->value;
    return NULL;
}

const char *store_sample(const struct store *store)
{
    return store_origin_get(store, "sample");
}

int store_whole(const struct store *store, struct err *err)
{
    const char *sample = store_sample(store);
    return sample ? err_set(err, "'%.300s' is a sample (%.150s), and this needs the whole", store->path, sample) : 0;
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
    return store_put_origin(store, "state", "incomplete", err) || store_origin(store, "created", now, err) ||
                   store_origin(store, "offchip_version", offchip_version, err) ||
                   store_origin(store, "host", host.nodename, err) ||
                   store_origin(store, "command_line", command_line ? command_line : "", err) ||
                   store_commit(store, err)
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
        return store_sqlite_failed(store, "cannot write", err);
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

struct store *store_create(const char *path, enum output_place place, const char *command_line, struct err *err)
{
    struct store *store = new_store(path, err);
    if (!store)
        return NULL;
    if (dbfile_create(&store->file, path, place, make_tables, store, &store->db, err) == 0 &&
        set_up_writer(store, err) == 0 && first_facts(store, command_line, err) == 0)
        return store;
    store_close(store);
    return NULL;
}

/* database: as SQLite names what is gone at its close; "": a temporary file, unlinked once it is open. */
static struct store *create_nameless(const char *name, const char *database, struct err *err)
{
    struct store *store = new_store(name, err);
    if (!store)
        return NULL;
    if (sqlite3_open(database, &store->db))
        err_set(err, "%s", store->db ? sqlite3_errmsg(store->db) : "out of memory");
    else if (make_tables(store->db, store, err) == 0 && set_up_writer(store, err) == 0 &&
             first_facts(store, "", err) == 0)
        return store;
    store_close(store);
    return NULL;
}

struct store *store_create_memory(struct err *err)
{
    return create_nameless(":memory:", ":memory:", err);
}

struct store *store_create_temporary(const char *name, struct err *err)
{
    return create_nameless(name, "", err);
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

int store_clear(struct store *store, struct err *err)
{
    char sql[80];
    assert(strcmp(store->path, ":memory:") == 0);
    if (store->in_transaction)
        (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = store->broken = store->complete = false;
    forget_streams(store);
    forget_facts(store);
    for (int i = 0; i < store->schema->count; i++) {
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s", store->schema->table[i].name);
        if (sqlite3_exec(store->db, sql, NULL, NULL, NULL))
            return store_sqlite_failed(store, "cannot be emptied", err);
    }
    return first_facts(store, "", err);
}

/* --- opening --- */

static int remember_row(void *ctx, const struct store_value *values, size_t n)
{
    (void)n;
    return store_remember(ctx, values[0].s, values[1].s, NULL);
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
        return err->msg[0] ? -1 : err_set(err, "out of memory");
    const char *state = store_origin_get(store, "state");
    store->complete = state && strcmp(state, "complete") == 0;
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

void store_finalize_statements(struct store *store)
{
    for (int i = 0; i < SCHEMA_TABLES; i++)
        sqlite3_finalize(store->insert[i]);
    sqlite3_finalize(store->insert_chunk);
    sqlite3_finalize(store->add_skipped);
    sqlite3_finalize(store->add_dropped);
    sqlite3_finalize(store->set_origin);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    if (store->writing && !store->complete && !store->broken && !store->file.path)
        (void)store_flush(store, NULL);
    forget_streams(store);
    free(store->builders);
    store_finalize_statements(store);
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

/* Facts of origin that differ between two makings of the same trace. */
static bool passing_fact(const char *key)
{
    static const char *const keys[] = {"created",      "host",   "command_line", "offchip_version",
                                       "derived_from", "source", "path",         "state"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(own_key(key), keys[i]) == 0)
            return true;
    return false;
}

static int hash_row(void *ctx, const struct store_value *values, size_t n)
{
    struct hashing *h = ctx;
    if (h->origin && passing_fact(values[0].s))
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

struct store_cursor *store_cursor_open(struct store *store, int stream, struct err *err)
{
    if (!store_stream(store, stream)) {
        err_set(err, "'%s' has no stream %d", store->path, stream);
        return NULL;
    }
    if (store->writing && !store->complete && store_write_chunk(store, (size_t)stream, err))
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
