/* store_read: cursors, which decode a stream chunk by chunk. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/store/store_parts.h"

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
