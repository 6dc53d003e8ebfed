#include "replay/derive/derive_scans.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"

static int note_reads(void *ctx, const struct program_op *op, struct err *err)
{
    struct derive_scans *s = ctx;
    if (op->access != RECORD_READ)
        return 0;
    if (op->bytes < 8)
        s->element = 4;
    for (int i = 0; i < op->lines; i++) {
        uint64_t page = op->line[i].addr / ACTOR_PAGE_BYTES;
        if (s->last_page == page + 1)
            continue;
        s->last_page = page + 1;
        if (derive_space_touch(&s->space, page, true, err))
            return -1;
    }
    return 0;
}

int derive_scans_open(struct derive_scans *s, const struct derive_source *source, struct store *out,
                      const struct derive_options *options, struct err *err)
{
    static const struct program_taker taker = {.op = note_reads};
    s->element = 8;
    if (derive_walk(source, options, &taker, s, NULL, err) || derive_space_merge(&s->space, NULL, NULL, err))
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
    s->recent = mem_zalloc(DERIVE_SCANS_RECENT, sizeof *s->recent, err);
    return stream < 0 || !s->recent ? -1 : writer_open(&s->writer, out, stream, 0, err);
}

static int by_first(const void *a, const void *b)
{
    const struct derive_run *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* In order of address, without what an earlier one holds already. */
static void tidy(struct derive_scans *s)
{
    uint64_t done = 0;
    size_t to = 0;
    qsort(s->runs, s->count, sizeof *s->runs, by_first);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t first = s->runs[i].first > done ? s->runs[i].first : done;
        if (s->runs[i].end <= first)
            continue;
        done = s->runs[i].end;
        s->runs[to++] = (struct derive_run){first, done};
    }
    s->count = to;
}

static int add_run(struct derive_scans *s, uint64_t first, uint64_t bytes, struct err *err)
{
    struct derive_run *recent = &s->recent[first / ACCESS_SECTOR % DERIVE_SCANS_RECENT];
    void *runs = s->runs;
    if (recent->first == first && recent->end >= first + bytes)
        return 0; /* the same words again */
    if (s->count >= DERIVE_SCANS_KEPT && s->count >= s->tidy_at) {
        tidy(s);
        s->tidy_at = 2 * s->count;
    }
    if (mem_grow(&runs, &s->cap, s->count + 1, sizeof *s->runs, err))
        return -1;
    s->runs = runs;
    s->runs[s->count++] = *recent = (struct derive_run){first, first + bytes};
    return 0;
}

int derive_scans_op(struct derive_scans *s, const struct program_op *op, struct err *err)
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

int derive_scans_end(struct derive_scans *s, uint32_t launch, struct err *err)
{
    if (!s->writer.records)
        return 0;
    tidy(s);
    for (size_t i = 0; i < s->count; i++) {
        struct record r = {.kind = RECORD_SCAN,
                           .addr = s->base + s->runs[i].first,
                           .bytes = s->runs[i].end - s->runs[i].first,
                           .id = i,
                           .group = launch};
        if (writer_add(&s->writer, &r, NULL, err))
            return -1;
    }
    s->lists += s->count;
    s->count = s->tidy_at = 0;
    memset(s->recent, 0, DERIVE_SCANS_RECENT * sizeof *s->recent);
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
    free(s->recent);
    *s = (struct derive_scans){0};
}

/* --- lists alone --- */

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    return derive_scans_op(ctx, op, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    return derive_scans_end(ctx, launch, err);
}

int derive_lists(const struct derive_source *source, struct store *out, const struct derive_options *options,
                 struct err *err)
{
    static const struct program_taker taker = {.op = take_op, .end = end_launch};
    struct derive_options o = *options;
    struct derive_scans scans = {0};
    o.offloadable = true;
    int rc = derive_scans_open(&scans, source, out, &o, err);
    if (rc == 0 && !scans.writer.records)
        rc = err_set(err, "%s: nothing is read", source->name);
    if (rc == 0)
        rc = derive_walk(source, &o, &taker, &scans, NULL, err);
    if (rc == 0)
        rc = derive_scans_flush(&scans, err);
    derive_scans_close(&scans);
    return rc;
}
