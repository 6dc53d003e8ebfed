#include "replay/derive/derive_scans.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

static int note_reads(void *ctx, const struct derive_op *op, struct err *err)
{
    struct derive_scans *s = ctx;
    if (op->access != RECORD_READ)
        return 0;
    if (op->bytes < 8)
        s->element = 4;
    for (int i = 0; i < op->lines; i++)
        if (derive_space_touch(&s->space, op->line[i].addr / ACTOR_PAGE_BYTES, true, err))
            return -1;
    return 0;
}

int derive_scans_open(struct derive_scans *s, struct store *in, struct store *out, const struct derive_options *options,
                      struct err *err)
{
    static const struct derive_taker taker = {.op = note_reads};
    s->element = 8;
    if (derive_walk(in, options, &taker, s, NULL, err) || derive_space_merge(&s->space, NULL, err))
        return -1;
    if (s->space.count == 0)
        return 0;
    s->base = s->space.rows[0].first * ACTOR_PAGE_BYTES;
    struct store_value row[] = {STORE_V_INT(0),
                                STORE_V_TEXT("read"),
                                STORE_V_INT(s->base),
                                STORE_V_INT(s->element),
                                STORE_V_INT(derive_space_bytes(&s->space) / s->element),
                                STORE_V_NULL};
    if (store_row(out, "structures", row, 6, err))
        return -1;
    int stream = writer_stream(out, "scans", TIME_NONE, NULL, 0, err);
    return stream < 0 ? -1 : writer_open(&s->writer, out, stream, 0, err);
}

static int add_run(struct derive_scans *s, uint64_t first, uint64_t bytes, struct err *err)
{
    struct derive_run *last = s->count ? &s->runs[s->count - 1] : NULL;
    void *runs = s->runs;
    if (last && last->first == first && last->end >= first + bytes)
        return 0; /* the same words again */
    if (s->count == DERIVE_SCANS_MOST) {
        s->full = true;
        return 0;
    }
    if (mem_grow(&runs, &s->cap, s->count + 1, sizeof *s->runs, err))
        return -1;
    s->runs = runs;
    s->runs[s->count++] = (struct derive_run){first, first + bytes};
    return 0;
}

int derive_scans_op(struct derive_scans *s, const struct derive_op *op, struct err *err)
{
    uint64_t first = 0, bytes = 0;
    if (op->access != RECORD_READ || !s->writer.records)
        return 0;
    for (int i = 0; i < op->lines; i++)
        for (uint32_t b = 0; b < 4; b++) {
            if (!(op->line[i].sectors >> b & 1))
                continue;
            uint64_t at = derive_space_offset(&s->space, op->line[i].addr) + b * (uint64_t)ACCESS_SECTOR;
            if (bytes && at == first + bytes) {
                bytes += ACCESS_SECTOR;
                continue;
            }
            if (bytes && add_run(s, first, bytes, err))
                return -1;
            first = at;
            bytes = ACCESS_SECTOR;
        }
    return bytes ? add_run(s, first, bytes, err) : 0;
}

static int by_first(const void *a, const void *b)
{
    const struct derive_run *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

int derive_scans_end(struct derive_scans *s, uint32_t launch, struct err *err)
{
    uint64_t done = 0, lane = 0;
    if (!s->writer.records)
        return 0;
    if (s->full) {
        s->dropped++;
        s->count = 0;
    }
    qsort(s->runs, s->count, sizeof *s->runs, by_first);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t first = s->runs[i].first > done ? s->runs[i].first : done;
        if (s->runs[i].end <= first)
            continue;
        done = s->runs[i].end;
        struct record r = {
            .kind = RECORD_SCAN, .addr = s->base + first, .bytes = done - first, .id = lane++, .group = launch};
        if (writer_add(&s->writer, &r, NULL, err))
            return -1;
    }
    s->lists += lane;
    s->count = 0;
    s->full = false;
    struct record end = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&s->writer, &end, NULL, err);
}

int derive_scans_flush(struct derive_scans *s, struct err *err)
{
    return s->writer.records ? writer_flush(&s->writer, err) : 0;
}

void derive_scans_close(struct derive_scans *s)
{
    derive_space_release(&s->space);
    writer_close(&s->writer);
    free(s->runs);
    *s = (struct derive_scans){0};
}
