/* testing_fuzz: any bytes through a reader, as import would read them, into a trace in memory that is emptied between
 * runs.
 */
#pragma once

#include <stdlib.h>

#include "trace/derived/batches.h"
#include "trace/import/reader.h"
#include "trace/import/testing_memory.h"
#include "trace/store/testing_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The one trace of this program, empty. */
static inline struct store *fuzzing_store(void)
{
    static struct store *store;
    struct err err = {""};
    if (!store && !(store = store_create_temporary(":memory:", &err)))
        abort();
    if (store_clear(store, &err))
        abort();
    return store;
}

/* Every record of a finished trace can be read. */
static inline void fuzzing_read_back(struct store *store)
{
    struct err err;
    for (int i = 0; i < store_stream_count(store); i++) {
        struct store_cursor *cursor = store_cursor_open(store, i, &err);
        const struct record *records;
        uint64_t left = store_stream(store, i)->records;
        size_t n;
        int rc = cursor ? 0 : -1;
        while (cursor && (rc = store_cursor_next(cursor, &records, NULL, &n, &err)) == 1)
            left -= n;
        store_cursor_close(cursor);
        if (rc || left)
            abort();
    }
}

/* Probe and read n bytes (source reading) or the file at `path` (whole_file). What is read must be a trace. */
static inline void fuzzing_read(const struct reader *reader, const char *path, const void *options, const uint8_t *data,
                                size_t n)
{
    struct err err;
    struct reader_context context = {
        .store = fuzzing_store(), .options = options ? options : testing_defaults(reader), .path = path};
    struct input_stream *source = reader->whole_file ? NULL : input_stream_from_memory(data, n, &err);
    (void)reader->probe(path, data, n < READER_PROBE_BYTES ? n : READER_PROBE_BYTES);
    if ((source || reader->whole_file) && reader_run(reader, &context, source, &err) == 0) {
        if (batches_write(context.store, NULL, NULL, &err) == 0) {
            if (store_finish(context.store, &err))
                abort();
            fuzzing_read_back(context.store);
        }
    }
    input_stream_close(source);
}

/* Any bytes through a reader with its defaults. */
#define FUZZ_READER(reader)                                                                                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)                                                          \
    {                                                                                                                  \
        fuzzing_read(&(reader), "/nowhere/fuzz", NULL, data, n);                                                       \
        return 0;                                                                                                      \
    }
