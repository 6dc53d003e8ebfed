#include "trace/derived/recording.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

struct recording_cursor {
    struct store *store;
    struct recording recording;
    int stream; /* of the open cursor, -1 before the first */
    struct store_cursor *cursor;
    int process, src, dst; /* the extra columns of the stream, -1: none */
    struct record kept[STORE_BATCH];
};

static int column(const struct stream *stream, const char *name)
{
    for (int i = 0; i < STORE_EXTRAS; i++)
        if (strcmp(stream->extra[i], name) == 0)
            return i;
    return -1;
}

struct recording_cursor *recording_open(struct store *store, struct recording recording, struct err *err)
{
    struct recording_cursor *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->store = store;
    c->recording = recording;
    c->stream = -1;
    return c;
}

void recording_close(struct recording_cursor *c)
{
    if (!c)
        return;
    store_cursor_close(c->cursor);
    free(c);
}

const struct stream *recording_stream(const struct recording_cursor *c)
{
    return store_stream(c->store, c->stream);
}

/* The next batch of any stream in ns, not yet sorted out. */
static int next_batch(struct recording_cursor *c, const struct record **records, const int64_t **extra, size_t *n,
                      struct err *err)
{
    for (;;) {
        int more = c->cursor ? store_cursor_next(c->cursor, records, extra, n, err) : 0;
        if (more)
            return more;
        store_cursor_close(c->cursor);
        c->cursor = NULL;
        do
            c->stream++;
        while (c->stream < store_stream_count(c->store) && store_stream(c->store, c->stream)->unit != TIME_NS);
        if (c->stream == store_stream_count(c->store))
            return 0;
        const struct stream *stream = store_stream(c->store, c->stream);
        c->process = column(stream, "process_id");
        c->src = column(stream, "src_id");
        c->dst = column(stream, "dst_id");
        c->cursor = store_cursor_open(c->store, c->stream, err);
        if (!c->cursor)
            return -1;
    }
}

/* Whose record i of a batch of n is; RECORDING_ANY where it does not say. */
static struct recording owner(const struct recording_cursor *c, const struct record *record, const int64_t *extra,
                              size_t n, size_t i)
{
    struct recording o = {RECORDING_ANY, RECORDING_ANY};
    if (c->process >= 0 && extra[(size_t)c->process * n + i] != 0)
        o.process = extra[(size_t)c->process * n + i];
    int side = record->kind == RECORD_MIGRATE_H2D                                   ? c->dst
               : record->kind == RECORD_MIGRATE_D2H || record->kind == RECORD_FAULT ? c->src
                                                                                    : -1;
    if (side >= 0)
        o.gpu = extra[(size_t)side * n + i];
    return o;
}

static bool fits(int64_t mine, int64_t wanted)
{
    return mine == RECORDING_ANY || wanted == RECORDING_ANY || mine == wanted;
}

static bool is_in(struct recording mine, struct recording wanted)
{
    return fits(mine.process, wanted.process) && fits(mine.gpu, wanted.gpu);
}

int recording_next(struct recording_cursor *c, const struct record **records, size_t *n, struct err *err)
{
    const struct record *all;
    const int64_t *extra;
    size_t count;
    int more;
    while ((more = next_batch(c, &all, &extra, &count, err)) > 0) {
        *records = all;
        *n = count;
        size_t same = 0;
        while (same < count && is_in(owner(c, &all[same], extra, count, same), c->recording))
            same++;
        if (same == count)
            return 1;
        memcpy(c->kept, all, same * sizeof *all);
        *records = c->kept;
        *n = same;
        for (size_t i = same; i < count; i++)
            if (is_in(owner(c, &all[i], extra, count, i), c->recording))
                c->kept[(*n)++] = all[i];
        if (*n > 0)
            return 1;
    }
    return more;
}

static int note(struct recordings *r, size_t *last, struct recording o, struct err *err)
{
    if (*last < r->count && r->items[*last].process == o.process && r->items[*last].gpu == o.gpu)
        return 0;
    for (*last = 0; *last < r->count; ++*last)
        if (r->items[*last].process == o.process && r->items[*last].gpu == o.gpu)
            return 0;
    if (r->count == RECORDINGS_MAX)
        return err_set(err, "records of more than %d processes and GPUs", RECORDINGS_MAX);
    r->items[r->count++] = o;
    return 0;
}

/* Records of an unknown process go with every process, so they make no recording beside known ones. */
static void forget_unknown(struct recordings *r)
{
    size_t known = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].process != RECORDING_ANY)
            r->items[known++] = r->items[i];
    r->count = known ? known : r->count;
}

int recordings_find(struct recordings *r, struct store *store, struct err *err)
{
    r->count = 0;
    struct recording_cursor *c = recording_open(store, (struct recording){RECORDING_ANY, RECORDING_ANY}, err);
    if (!c)
        return -1;
    const struct record *records;
    const int64_t *extra;
    size_t n, last = 0;
    int rc = 1;
    while (rc > 0 && (rc = next_batch(c, &records, &extra, &n, err)) > 0)
        for (size_t i = 0; rc > 0 && i < n; i++) {
            struct recording o = owner(c, &records[i], extra, n, i);
            if (o.gpu != RECORDING_ANY && note(r, &last, o, err))
                rc = -1;
        }
    recording_close(c);
    forget_unknown(r);
    return rc < 0 ? err_at(err, "%s", store_path(store)) : 0;
}

const char *recordings_list(const struct recordings *r, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < r->count && i < 8 && length < size; i++)
        length += (size_t)snprintf(text + length, size - length,
                                   r->items[i].process == RECORDING_ANY ? "%sGPU %" PRId64
                                                                        : "%sGPU %" PRId64 " of process %" PRId64,
                                   i ? "; " : "", r->items[i].gpu, r->items[i].process);
    if (r->count > 8 && length < size)
        (void)snprintf(text + length, size - length, "; and %zu more", r->count - 8);
    return text;
}

int recording_choose(struct recording *chosen, struct recording wanted, struct store *store, struct err *err)
{
    struct recordings r;
    int rc = recordings_find(&r, store, err);
    size_t fitting = 0;
    *chosen = wanted;
    for (size_t i = 0; rc == 0 && i < r.count; i++)
        if (is_in(r.items[i], wanted)) {
            *chosen = r.items[i];
            fitting++;
        }
    if (rc == 0 && r.count > 0 && fitting != 1) {
        char text[512];
        rc = err_set(err, "%s holds %s: %s; choose by process and GPU", store_path(store),
                     fitting ? "several recordings" : "no such recording", recordings_list(&r, text, sizeof text));
    }
    return rc;
}
