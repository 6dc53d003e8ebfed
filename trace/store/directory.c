#include "trace/store/directory.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/store/chunk.h"

static const char streams_sql[] =
    "SELECT stream, name, time_unit, clock, clock_hz, addr_space, addr_layout, extra_1, extra_2, extra_3, extra_4"
    " FROM main.streams ORDER BY stream";
static const char chunks_sql[] = "SELECT chunk, stream, first_record, records, time_min, time_max, kinds, content_hash"
                                 " FROM main.chunks ORDER BY chunk";
static const char data_sql[] = "SELECT data FROM main.chunks WHERE chunk = ?1";

int directory_add_stream(struct directory *directory, const struct stream *stream, struct err *err)
{
    if (directory->count >= DIRECTORY_STREAMS_MAX)
        return err_set(err, "more than %d streams", DIRECTORY_STREAMS_MAX);
    if (MEM_ADD(directory->streams, directory->count, directory->cap, err, (struct directory_stream){.info = *stream}))
        return -1;
    struct directory_stream *s = &directory->streams[directory->count - 1];
    s->info.records = 0;
    s->info.time_first = s->info.time_last = 0;
    s->info.kinds = 0;
    while (s->extras < STORE_EXTRAS && stream->extra[s->extras][0])
        s->extras++;
    return 0;
}

int directory_add_chunk(struct directory *directory, size_t stream, const struct directory_chunk *chunk,
                        struct err *err)
{
    struct directory_stream *s = &directory->streams[stream];
    if (MEM_ADD(s->chunks, s->count, s->cap, err, *chunk))
        return -1;
    if (s->info.records == 0 || chunk->time_min < s->info.time_first)
        s->info.time_first = chunk->time_min;
    if (s->info.records == 0 || chunk->time_max > s->info.time_last)
        s->info.time_last = chunk->time_max;
    s->info.records += chunk->records;
    s->info.kinds |= chunk->kinds;
    directory->next_chunk = chunk->chunk + 1;
    return 0;
}

int directory_find(const struct directory *directory, const char *name)
{
    for (size_t i = 0; i < directory->count; i++)
        if (strcmp(directory->streams[i].info.name, name) == 0)
            return (int)i;
    return -1;
}

/* A text column into a field of `size` bytes; must be text and fit. */
static int take_text(sqlite3_stmt *stmt, int column, char *to, size_t size, struct err *err)
{
    const char *text =
        sqlite3_column_type(stmt, column) == SQLITE_TEXT ? (const char *)sqlite3_column_text(stmt, column) : NULL;
    if (!text)
        return err_set(err, "table streams: %s is not a text", sqlite3_column_name(stmt, column));
    if (strlen(text) >= size)
        return err_set(err, "table streams: %s is longer than %zu bytes", sqlite3_column_name(stmt, column), size - 1);
    memcpy(to, text, strlen(text) + 1);
    return 0;
}

static int read_stream(struct directory *directory, sqlite3_stmt *stmt, struct err *err)
{
    struct stream s = {.clock_hz = sqlite3_column_int64(stmt, 4)};
    char unit[16], space[16];
    if (sqlite3_column_int64(stmt, 0) != (int64_t)directory->count)
        return err_set(err, "table streams: stream %lld stands where %zu is expected",
                       (long long)sqlite3_column_int64(stmt, 0), directory->count);
    if (take_text(stmt, 1, s.name, sizeof s.name, err) || take_text(stmt, 2, unit, sizeof unit, err) ||
        take_text(stmt, 3, s.clock, sizeof s.clock, err) || take_text(stmt, 5, space, sizeof space, err) ||
        take_text(stmt, 6, s.addr_layout, sizeof s.addr_layout, err))
        return -1;
    for (int i = 0; i < STORE_EXTRAS; i++)
        if (take_text(stmt, 7 + i, s.extra[i], sizeof s.extra[i], err))
            return -1;
    s.unit = TIME_NONE;
    while (s.unit <= TIME_CYCLES && strcmp(unit, time_unit_name(s.unit)) != 0)
        s.unit++;
    s.space = strcmp(space, addr_space_name(ADDR_BYTES)) == 0 ? ADDR_BYTES : ADDR_DRAM_PACKED;
    if (s.unit > TIME_CYCLES)
        return err_set(err, "table streams: time_unit is '%s'; expected none, ns or cycles", unit);
    if (strcmp(space, addr_space_name(s.space)) != 0)
        return err_set(err, "table streams: addr_space is '%s'; expected bytes or dram-packed", space);
    if (s.clock_hz < 0)
        return err_set(err, "table streams: clock_hz is %lld; expected 0 or more", (long long)s.clock_hz);
    return directory_add_stream(directory, &s, err);
}

static int read_chunk(struct directory *directory, sqlite3_stmt *stmt, struct err *err)
{
    struct directory_chunk chunk = {
        .chunk = sqlite3_column_int64(stmt, 0),
        .first_record = (uint64_t)sqlite3_column_int64(stmt, 2),
        .time_min = sqlite3_column_int64(stmt, 4),
        .time_max = sqlite3_column_int64(stmt, 5),
        .kinds = (uint64_t)sqlite3_column_int64(stmt, 6),
        .content_hash = (uint64_t)sqlite3_column_int64(stmt, 7),
    };
    int64_t stream = sqlite3_column_int64(stmt, 1), records = sqlite3_column_int64(stmt, 3);
    long long key = chunk.chunk;
    for (int c = 0; c < 8; c++)
        if (sqlite3_column_type(stmt, c) != SQLITE_INTEGER)
            return err_set(err, "chunk %lld: %s is not an integer", key, sqlite3_column_name(stmt, c));
    if (chunk.chunk != directory->next_chunk)
        return err_set(err, "chunk %lld stands where chunk %lld is expected", key, (long long)directory->next_chunk);
    if (stream < 0 || (uint64_t)stream >= directory->count)
        return err_set(err, "chunk %lld is of stream %lld; there are %zu", key, (long long)stream, directory->count);
    if (records < 1 || records > CHUNK_RECORDS)
        return err_set(err, "chunk %lld claims %lld records; expected 1 to %d", key, (long long)records, CHUNK_RECORDS);
    if (chunk.first_record != directory->streams[stream].info.records)
        return err_set(err, "chunk %lld claims to start at record %llu; expected %llu", key,
                       (unsigned long long)chunk.first_record,
                       (unsigned long long)directory->streams[stream].info.records);
    if (chunk.time_min > chunk.time_max)
        return err_set(err, "chunk %lld claims times from %lld to %lld", key, (long long)chunk.time_min,
                       (long long)chunk.time_max);
    chunk.records = (uint32_t)records;
    return directory_add_chunk(directory, (size_t)stream, &chunk, err);
}

static int read_all(struct directory *directory, sqlite3 *db, const char *sql,
                    int (*row)(struct directory *, sqlite3_stmt *, struct err *), struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL))
        return err_set(err, "%s", sqlite3_errmsg(db));
    int rc, failed = 0;
    while (!failed && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        failed = rc == SQLITE_ROW ? row(directory, stmt, err) : err_set(err, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return failed;
}

int directory_read(struct directory *directory, sqlite3 *db, struct err *err)
{
    if (read_all(directory, db, streams_sql, read_stream, err))
        return -1;
    return read_all(directory, db, chunks_sql, read_chunk, err);
}

void directory_release(struct directory *directory)
{
    for (size_t i = 0; i < directory->count; i++)
        free(directory->streams[i].chunks);
    free(directory->streams);
    *directory = (struct directory){0};
}

static int copy_data(sqlite3_stmt *stmt, struct directory_bytes *bytes, struct err *err)
{
    if (sqlite3_column_type(stmt, 0) != SQLITE_BLOB)
        return err_set(err, "its data is not a blob");
    size_t n = (size_t)sqlite3_column_bytes(stmt, 0);
    if (n > CHUNK_BYTES_MAX)
        return err_set(err, "it has %zu bytes of data; expected at most %d", n, CHUNK_BYTES_MAX);
    const void *data = sqlite3_column_blob(stmt, 0);
    if (n == 0 || !data)
        return err_set(err, "it has no data");
    if (mem_grow((void **)&bytes->data, &bytes->cap, n, 1, err))
        return -1;
    memcpy(bytes->data, data, n);
    bytes->bytes = n;
    return 0;
}

int directory_fetch(sqlite3 *db, sqlite3_stmt **stmt, int64_t chunk, struct directory_bytes *bytes, struct err *err)
{
    if (!*stmt && sqlite3_prepare_v3(db, data_sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL))
        return err_set(err, "%s", sqlite3_errmsg(db));
    if (sqlite3_bind_int64(*stmt, 1, chunk))
        return err_set(err, "%s", sqlite3_errmsg(db));
    int rc = sqlite3_step(*stmt);
    int failed;
    if (rc == SQLITE_ROW)
        failed = copy_data(*stmt, bytes, err);
    else
        failed = err_set(err, "%s", rc == SQLITE_DONE ? "it is gone" : sqlite3_errmsg(db));
    (void)sqlite3_reset(*stmt);
    return failed;
}
