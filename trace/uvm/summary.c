#include "trace/uvm/summary.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

struct counting {
    struct summary *summary;
    struct err *err;
};

void summary_release(struct summary *s)
{
    free(s->rows);
    attribution_release(&s->owners);
    free(s->streams);
    memset(s, 0, sizeof *s);
}

/* --- counting --- */

static void count_row(struct summary_row *row, const struct record *r)
{
    row->records++;
    switch (r->kind) {
    case RECORD_MIGRATE_H2D:
        row->h2d_bytes += r->bytes;
        if (r->flags == RECORD_CAUSE_FAULT)
            row->fault_bytes += r->bytes;
        else if (r->flags == RECORD_CAUSE_PREFETCH)
            row->prefetch_bytes += r->bytes;
        break;
    case RECORD_MIGRATE_D2H:
        row->d2h_bytes += r->bytes;
        if (r->flags == RECORD_CAUSE_EVICTION)
            row->evicted_bytes += r->bytes;
        break;
    case RECORD_FAULT:
        row->fault_records++;
        break;
    case RECORD_CPU_FAULT:
        row->cpu_faults++;
        break;
    default:
        break;
    }
}

static void count_kind(struct summary_stream *stream, const struct record *r)
{
    struct summary_kind *k = &stream->kinds[r->kind < RECORD_KINDS ? r->kind : RECORD_NONE];
    const int64_t end = r->time + r->duration;
    if (k->records == 0 || r->time < k->time_first)
        k->time_first = r->time;
    if (k->records == 0 || end > k->time_last)
        k->time_last = end;
    k->records++;
    k->bytes += r->bytes;
}

static void count_batch(struct counting *c, size_t stream, bool ns, const struct record *records, size_t n)
{
    struct summary *s = c->summary;
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        count_kind(&s->streams[stream], r);
        if (s->row_count == 0 || !ns || r->kind == RECORD_KERNEL || r->kind == RECORD_RANGE)
            continue;
        bool place = s->owners.by == ATTRIBUTION_ALLOCATION;
        count_row(&s->rows[attribution_find(&s->owners, place ? (int64_t)r->addr : r->time)], r);
    }
}

static int count_stream(struct counting *c, struct store *store, int index)
{
    struct store_cursor *cursor = store_cursor_open(store, index, c->err);
    if (!cursor)
        return -1;
    const struct record *records;
    size_t n;
    int more;
    while ((more = store_cursor_next(cursor, &records, NULL, &n, c->err)) > 0)
        count_batch(c, (size_t)index, store_stream(store, index)->unit == TIME_NS, records, n);
    store_cursor_close(cursor);
    struct summary_stream *s = &c->summary->streams[index];
    bool any = false;
    for (int k = 0; k < RECORD_KINDS; k++) {
        const struct summary_kind *kind = &s->kinds[k];
        if (kind->records == 0)
            continue;
        s->time_first = !any || kind->time_first < s->time_first ? kind->time_first : s->time_first;
        s->time_last = !any || kind->time_last > s->time_last ? kind->time_last : s->time_last;
        any = true;
    }
    return more;
}

int summary_init(struct summary *summary, struct store *store, enum summary_by by, struct err *err)
{
    memset(summary, 0, sizeof *summary);
    struct counting c = {.summary = summary, .err = err};
    summary->stream_count = (size_t)store_stream_count(store);
    summary->streams = mem_zalloc(summary->stream_count, sizeof *summary->streams, err);
    int rc = summary->streams ? 0 : -1;
    static const enum attribution_by owners[] = {[SUMMARY_BY_KERNEL] = ATTRIBUTION_KERNEL,
                                                 [SUMMARY_BY_ALLOCATION] = ATTRIBUTION_ALLOCATION,
                                                 [SUMMARY_BY_RANGE] = ATTRIBUTION_RANGE};
    if (rc == 0 && by != SUMMARY_BY_NONE)
        rc = attribution_init(&summary->owners, store, owners[by], NULL, 0, err);
    summary->row_count = summary->owners.count;
    summary->rows = rc ? NULL : mem_zalloc(summary->row_count, sizeof *summary->rows, err);
    if (!summary->rows)
        rc = -1;
    for (int i = 0; rc == 0 && i < (int)summary->stream_count; i++)
        rc = count_stream(&c, store, i);
    if (rc)
        summary_release(summary);
    return rc;
}
