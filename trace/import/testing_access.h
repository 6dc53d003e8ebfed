/* testing_access: import a file through one reader and take its ACCESS records back, for tests. */
#pragma once

#include "trace/base/testing.h"
#include "trace/import/reader.h"

static struct reader_context testing_context;
static struct err testing_err;

/* The trace made of `path`, opened for reading. With good, reading must succeed; else testing_err says why not. */
static inline struct store *testing_import(const struct reader *reader, const char *path, bool good)
{
    const char *trace = testing_file("imported.db");
    testing_err.msg[0] = 0;
    testing_context = (struct reader_context){.path = path};
    testing_context.store = store_create(trace, true, "test", &testing_err);
    ck_assert_msg(testing_context.store != NULL, "%s", testing_err.msg);
    struct input_stream *source = input_stream_open(path, &testing_err);
    int rc = reader_run(reader, &testing_context, source, &testing_err);
    ck_assert_msg(rc == 0 || !good, "%s", testing_err.msg);
    input_stream_close(source);
    bool whole = rc == 0 && !testing_context.incomplete[0];
    WORKS((whole ? store_finish : store_keep)(testing_context.store, &err));
    store_close(testing_context.store);
    return GIVES(store_open(trace, &err));
}

struct testing_accesses {
    struct record *records; /* RECORD_ACCESS only */
    int64_t *access;        /* instruction of each */
    int n, launches, ends;
    int64_t instructions;
};

static inline struct testing_accesses testing_read_accesses(struct store *store)
{
    struct testing_accesses a = {0};
    int stream = store_stream_find(store, "accesses");
    ck_assert_int_ge(stream, 0);
    size_t total = (size_t)store_stream(store, stream)->records + 1;
    a.records = calloc(total, sizeof *a.records);
    a.access = calloc(total, sizeof *a.access);
    struct store_cursor *cursor = store_cursor_open(store, stream, NULL);
    const struct record *r;
    const int64_t *extra;
    size_t n;
    int64_t last = -1;
    while (store_cursor_next(cursor, &r, &extra, &n, NULL) == 1)
        for (size_t i = 0; i < n; i++) {
            a.launches += r[i].kind == RECORD_KERNEL;
            a.ends += r[i].kind == RECORD_KERNEL_END;
            if (r[i].kind != RECORD_ACCESS)
                continue;
            a.instructions += extra[i] != last;
            last = extra[i];
            a.access[a.n] = extra[i];
            a.records[a.n++] = r[i];
        }
    store_cursor_close(cursor);
    return a;
}

static inline void testing_release(struct testing_accesses *a, struct store *store)
{
    free(a->records);
    free(a->access);
    store_close(store);
}
