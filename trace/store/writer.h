/* writer: records on their way into one stream of a store, handed over STORE_BATCH at a time.
 *
 * writer_open, writer_add..., writer_flush (or writer_close, which loses what is not flushed). */
#ifndef TRACE_STORE_WRITER_H
#define TRACE_STORE_WRITER_H

#include "trace/store/store.h"

struct writer {
    struct store *store;
    int stream, extras;
    size_t n;
    struct record *records;
    int64_t *extra; /* column c of record i at extra[c * STORE_BATCH + i] until flushed */
    uint64_t total; /* ever added */
};

/* Zeroes *writer and gets its memory; the stream has `extras` extra columns. */
int writer_open(struct writer *writer, struct store *store, int stream, int extras, struct err *err);
void writer_close(struct writer *writer);

int writer_flush(struct writer *writer, struct err *err);

/* Add a record and its extra columns (NULL if there are none). */
static inline int writer_add(struct writer *b, const struct record *record, const int64_t *extra, struct err *err)
{
    size_t i = b->n++;
    b->records[i] = *record;
    for (int c = 0; extra && c < b->extras; c++)
        b->extra[(size_t)c * STORE_BATCH + i] = extra[c];
    b->total++;
    return b->n == STORE_BATCH ? writer_flush(b, err) : 0;
}

/* The stream of this name, or a new one of this time unit with these extra columns; -1 with *err set. */
int writer_stream(struct store *store, const char *name, enum time_unit unit, const char *const *extra, int extras,
                  struct err *err);

#endif
