/* store_write: appending to a trace. A full chunk is written and committed at once. */
#include <string.h>
#include <time.h>

#include "trace/base/mem.h"
#include "trace/store/dbfile.h"
#include "trace/store/store_file.h"

/* Facts are committed after so many rows, or when the oldest waits this long. */
enum { COMMIT_ROWS = 4096, COMMIT_MS = 1000 };

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int store_writable(const struct store *store, struct err *err)
{
    if (!store->writing)
        return err_set(err, "'%s' is open for reading", store->path);
    if (store->complete)
        return err_set(err, "'%s' is finished: nothing can be added", store->path);
    return store->broken ? err_set(err, "'%s': an earlier write failed, nothing more is written", store->path) : 0;
}

int store_break(struct store *store)
{
    (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    store->in_transaction = false;
    store->broken = true;
    return -1;
}

int store_begin(struct store *store, struct err *err)
{
    if (store->in_transaction)
        return 0;
    if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) {
        (void)store_sqlite_failed(store, "cannot write", err);
        return store_break(store);
    }
    store->in_transaction = true;
    store->rows = 0;
    store->transaction_ms = now_ms();
    return 0;
}

int store_commit(struct store *store, struct err *err)
{
    if (!store->in_transaction)
        return 0;
    if (sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL)) {
        (void)store_sqlite_failed(store, "cannot write", err);
        return store_break(store);
    }
    store->in_transaction = false;
    return 0;
}

int store_wrote_row(struct store *store, struct err *err)
{
    if (++store->rows < COMMIT_ROWS && now_ms() - store->transaction_ms < COMMIT_MS)
        return 0;
    return store_commit(store, err);
}

static int insert_stream(struct store *store, const struct stream *s, struct err *err)
{
    static const char sql[] = "INSERT INTO main.streams VALUES(?,?,?,?,?,?,?,?,?,?,?)";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL))
        return store_sqlite_failed(store, "cannot write", err);
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
    int failed = rc != SQLITE_DONE ? store_sqlite_failed(store, "cannot write", err) : 0;
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
    if (store_writable(store, err) || check_stream(store, stream, err))
        return -1;
    size_t n = store->directory.count;
    if (mem_grow((void **)&store->builders, &store->builder_cap, n + 1, sizeof *store->builders, err))
        return -1;
    int extras = 0;
    while (extras < STORE_EXTRAS && stream->extra[extras][0])
        extras++;
    if (chunk_builder_init(&store->builders[n], extras, err))
        return -1;
    if (store_begin(store, err) || insert_stream(store, stream, err) ||
        directory_add_stream(&store->directory, stream, err)) {
        chunk_builder_release(&store->builders[n]);
        return store_break(store);
    }
    *index = (int)n;
    return store_commit(store, err);
}

static int insert_chunk(struct store *store, size_t stream, const struct directory_chunk *c, const unsigned char *data,
                        size_t bytes, struct err *err)
{
    static const char sql[] = "INSERT INTO main.chunks VALUES(?,?,?,?,?,?,?,?,?)";
    sqlite3_stmt **stmt = &store->insert_chunk;
    if (!*stmt && sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL))
        return store_sqlite_failed(store, "cannot write", err);
    const int64_t numbers[] = {c->chunk,    (int64_t)stream, (int64_t)c->first_record, c->records,
                               c->time_min, c->time_max,     (int64_t)c->kinds,        (int64_t)c->content_hash};
    int rc = 0;
    for (int i = 0; i < 8 && !rc; i++)
        rc = sqlite3_bind_int64(*stmt, i + 1, numbers[i]);
    if (!rc)
        rc = sqlite3_bind_blob64(*stmt, 9, data, bytes, SQLITE_STATIC);
    if (!rc)
        rc = sqlite3_step(*stmt);
    int failed = rc != SQLITE_DONE ? store_sqlite_failed(store, "cannot write", err) : 0;
    (void)sqlite3_reset(*stmt);
    return failed;
}

int store_write_chunk(struct store *store, size_t stream, struct err *err)
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
    if (store_begin(store, err))
        return -1;
    if (insert_chunk(store, stream, &chunk, data, bytes, err))
        return store_break(store);
    if (store_commit(store, err))
        return -1;
    chunk_builder_reset(builder);
    return directory_add_chunk(&store->directory, stream, &chunk, err);
}

int store_append(struct store *store, int stream, const struct record *records, const int64_t *extra, size_t n,
                 struct err *err)
{
    if (store_writable(store, err))
        return -1;
    if (stream < 0 || (size_t)stream >= store->directory.count)
        return err_set(err, "'%s' has no stream %d", store->path, stream);
    struct chunk_builder *builder = &store->builders[stream];
    for (size_t from = 0, taken; from < n; from += taken) {
        if (chunk_builder_add(builder, records + from, extra ? extra + from : NULL, n, n - from, &taken, err))
            return err_at(err, "'%s'", store->path);
        if (builder->records == CHUNK_RECORDS && store_write_chunk(store, (size_t)stream, err))
            return -1;
    }
    return 0;
}

int store_flush(struct store *store, struct err *err)
{
    if (store_writable(store, err))
        return -1;
    for (size_t i = 0; i < store->directory.count; i++)
        if (store_write_chunk(store, i, err))
            return -1;
    return store_commit(store, err);
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
        return store_sqlite_failed(store, "cannot finish", err);
    if (store_put_origin(store, "state", "complete", err) || store_commit(store, err) ||
        dbfile_close(&store->file, 0, err))
        return -1;
    store->complete = true;
    return 0;
}
