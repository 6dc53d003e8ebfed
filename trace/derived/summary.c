#include "trace/derived/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"

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
        row->h2d_bytes = summary_bytes(row->h2d_bytes, r->bytes);
        if (r->flags == RECORD_CAUSE_FAULT)
            row->fault_bytes = summary_bytes(row->fault_bytes, r->bytes);
        else if (r->flags == RECORD_CAUSE_PREFETCH)
            row->prefetch_bytes = summary_bytes(row->prefetch_bytes, r->bytes);
        break;
    case RECORD_MIGRATE_D2H:
        row->d2h_bytes = summary_bytes(row->d2h_bytes, r->bytes);
        if (r->flags == RECORD_CAUSE_EVICTION)
            row->evicted_bytes = summary_bytes(row->evicted_bytes, r->bytes);
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
    int64_t end;
    if (__builtin_add_overflow(r->time, r->duration, &end))
        end = r->duration < 0 ? INT64_MIN : INT64_MAX;
    if (k->records == 0 || r->time < k->time_first)
        k->time_first = r->time;
    if (k->records == 0 || end > k->time_last)
        k->time_last = end;
    k->records++;
    k->bytes = summary_bytes(k->bytes, r->bytes);
}

static void count_record(struct summary *s, int stream, bool ns, const struct record *r)
{
    bool place = s->owners.by == ATTRIBUTION_ALLOCATION;
    count_kind(&s->streams[stream], r);
    if (!ns || r->kind == RECORD_KERNEL || r->kind == RECORD_RANGE)
        return;
    count_row(&s->total, r);
    if (s->row_count > 0)
        count_row(&s->rows[attribution_find(&s->owners, place ? (int64_t)r->addr : r->time)], r);
}

static int count_stream(struct summary *summary, struct store *store, int index, struct err *err)
{
    const bool ns = store_stream(store, index)->unit == TIME_NS;
    struct store_walk w = {0};
    while (store_walk_next(&w, store, index, err))
        count_record(summary, index, ns, w.r);
    struct summary_stream *s = &summary->streams[index];
    bool any = false;
    for (int k = 0; k < RECORD_KINDS; k++) {
        const struct summary_kind *kind = &s->kinds[k];
        if (kind->records == 0)
            continue;
        s->time_first = !any || kind->time_first < s->time_first ? kind->time_first : s->time_first;
        s->time_last = !any || kind->time_last > s->time_last ? kind->time_last : s->time_last;
        any = true;
    }
    return store_walk_end(&w);
}

int summary_init(struct summary *summary, struct store *store, enum attribution_by by, struct err *err)
{
    memset(summary, 0, sizeof *summary);
    summary->stream_count = (size_t)store_stream_count(store);
    summary->streams = mem_zalloc(summary->stream_count, sizeof *summary->streams, err);
    int rc = summary->streams ? 0 : -1;
    if (rc == 0 && by != ATTRIBUTION_NONE)
        rc = attribution_init(&summary->owners, store, by, NULL, 0, err);
    summary->row_count = summary->owners.count;
    summary->rows = rc ? NULL : mem_zalloc(summary->row_count, sizeof *summary->rows, err);
    if (!summary->rows)
        rc = -1;
    for (int i = 0; rc == 0 && i < (int)summary->stream_count; i++)
        rc = count_stream(summary, store, i, err);
    if (rc)
        summary_release(summary);
    return rc;
}

struct batch_counting {
    struct batch_rows *rows;
    struct batch_row *current; /* the batch of the last fault, NULL: none */
    uint64_t *utlbs;           /* of its faults so far */
    size_t utlb_count, utlb_cap;
    struct err *err;
};

void batch_rows_release(struct batch_rows *rows)
{
    free(rows->items);
    *rows = (struct batch_rows){0};
}

static int64_t number(const struct store_value *v)
{
    return v->type == STORE_INT ? v->i : BATCH_UNKNOWN;
}

/* batches(batch, first_service, services, start_ns, end_ns, fault_pages, raw_faults, rule, confidence) */
static int take_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct batch_counting *c = ctx;
    struct batch_rows *rows = c->rows;
    (void)n;
    if (mem_grow((void **)&rows->items, &rows->cap, rows->count + 1, sizeof *rows->items, c->err))
        return -1;
    int64_t start = number(&v[3]), end = number(&v[4]), time, services = number(&v[2]);
    bool timed = v[3].type == STORE_INT && v[4].type == STORE_INT && !__builtin_sub_overflow(end, start, &time);
    struct batch_row *row = &rows->items[rows->count++];
    *row = (struct batch_row){.batch = number(&v[0]),
                              .start_ns = start,
                              .time_ns = timed ? time : BATCH_UNKNOWN,
                              .raw_faults = number(&v[6]),
                              .fault_pages = number(&v[5]),
                              .reads = BATCH_UNKNOWN,
                              .writes = BATCH_UNKNOWN,
                              .atomics = BATCH_UNKNOWN,
                              .blocks = services > 0 ? services : BATCH_UNKNOWN, /* one service for each block */
                              .utlbs = BATCH_UNKNOWN,
                              .confidence = v[8].type == STORE_REAL ? v[8].r : -1};
    (void)snprintf(row->rule, sizeof row->rule, "%s", v[7].s);
    return 0;
}

static struct batch_row *find(const struct batch_rows *rows, int64_t batch)
{
    return sort_find(&batch, rows->items, rows->count, sizeof *rows->items, sorted_by_i64);
}

/* The batch of the last fault is over. */
static void end_batch(struct batch_counting *c)
{
    if (!c->current)
        return;
    sort_items(c->utlbs, c->utlb_count, sizeof *c->utlbs, sorted_by_u64);
    c->current->utlbs = 0;
    for (size_t i = 0; i < c->utlb_count; i++)
        c->current->utlbs += i == 0 || c->utlbs[i] != c->utlbs[i - 1];
    c->utlb_count = 0;
    c->current = NULL;
}

/* A fault of a driver's log: batch in group, uTLB and GPC in id. */
static int take_fault(struct batch_counting *c, const struct record *r)
{
    if (!c->current || c->current->batch != r->group) {
        end_batch(c);
        c->current = find(c->rows, r->group);
        if (!c->current)
            return 0;
        c->current->reads = c->current->writes = c->current->atomics = 0;
    }
    c->current->reads += r->flags == RECORD_READ;
    c->current->writes += r->flags == RECORD_WRITE;
    c->current->atomics += r->flags == RECORD_ATOMIC;
    if (c->utlb_count && c->utlbs[c->utlb_count - 1] == r->id)
        return 0;
    return MEM_ADD(c->utlbs, c->utlb_count, c->utlb_cap, c->err, r->id);
}

static int take_stream(struct batch_counting *c, struct store *store, int stream)
{
    const char *column = store_stream(store, stream)->extra[0];
    bool faults = strcmp(column, "utlb") == 0, whole = strcmp(column, "va_blocks") == 0;
    if (!faults && !whole)
        return 0;
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, c->err)) {
        if (w.r->kind != RECORD_FAULT)
            continue;
        struct batch_row *row = whole ? find(c->rows, w.r->group) : NULL;
        if (row)
            row->blocks = store_walk_extra(&w, 0); /* a batch in a line */
        else if (faults)
            w.failed = take_fault(c, w.r);
    }
    end_batch(c);
    return store_walk_end(&w);
}

int batch_rows_init(struct batch_rows *rows, struct store *store, struct err *err)
{
    *rows = (struct batch_rows){0};
    struct batch_counting c = {.rows = rows, .err = err};
    int rc = store_rows(store, "batches", take_batch, &c, err) ? -1 : 0;
    for (int s = 0; rc == 0 && rows->count && s < store_stream_count(store); s++)
        rc = take_stream(&c, store, s);
    free(c.utlbs);
    if (rc)
        batch_rows_release(rows);
    return rc;
}
