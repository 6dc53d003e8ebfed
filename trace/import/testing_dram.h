/* testing_dram: read text with one reader into a trace and look at it; for the tests of the DRAM readers. */
#pragma once

#include "trace/base/testing.h"
#include "trace/import/reader.h"
#include "trace/import/testing_memory.h"

/* What the last dram_read_text() gave. */
static struct record dram_got[64];
static size_t dram_got_count;
static struct stream dram_got_stream;
static struct err dram_got_err;
static uint64_t dram_got_skips;
static char dram_got_note[256];

/* Returns read()'s result. options NULL: the reader's defaults. */
static inline int dram_read_text(const struct reader *reader, const char *text, const void *options, bool strict)
{
    struct err err = {""};
    const char *path = testing_file("read.offchip");
    struct store *store = store_create(path, true, "test", &err);
    struct input_stream *source = input_stream_from_memory(text, strlen(text), &err);
    struct reader_context context = {
        .store = store, .path = "text", .strict = strict, .options = options ? options : testing_defaults(reader)};
    ck_assert_ptr_nonnull(store);
    dram_got_count = 0;
    memset(&dram_got_err, 0, sizeof dram_got_err);
    const int rc = reader->read(&context, source, &dram_got_err);
    dram_got_skips = context.skips.total;
    memcpy(dram_got_note, context.note, sizeof dram_got_note);
    input_stream_close(source);
    if (rc == 0)
        ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    if (rc)
        return rc;
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    if (!store_stream_count(store)) {
        store_close(store);
        return 0;
    }
    dram_got_stream = *store_stream(store, 0);
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    const struct record *records;
    size_t n;
    while (store_cursor_next(cursor, &records, NULL, &n, &err) == 1)
        for (size_t i = 0; i < n && dram_got_count < 64; i++)
            dram_got[dram_got_count++] = records[i];
    store_cursor_close(cursor);
    store_close(store);
    return 0;
}

static inline enum probe dram_probe_text(const struct reader *reader, const char *text)
{
    return reader->probe("text", (const unsigned char *)text, strlen(text));
}
