#include "trace/store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
