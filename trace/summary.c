#include "trace/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "trace/mem.h"
#include "trace/spans.h"

/* A kernel's name and its row. */
struct named {
    UT_hash_handle hh;
    size_t row;
    char name[];
};

struct counting {
    struct summary *summary;
    enum summary_by by;
    struct spans spans;
    struct named *names;
    struct err *err;
};

void summary_release(struct summary *s)
{
    for (size_t i = 0; i < s->row_count; i++)
        free(s->rows[i].name);
    free(s->rows);
    free(s->streams);
    memset(s, 0, sizeof *s);
}

static struct summary_row *add_row(struct counting *c, const char *name)
{
    struct summary *s = c->summary;
    char *copy = mem_strdup(name, c->err);
    if (!copy || mem_grow((void **)&s->rows, &s->row_cap, s->row_count + 1, sizeof *s->rows, c->err)) {
        free(copy);
        return NULL;
    }
    s->rows[s->row_count] = (struct summary_row){.name = copy};
    return &s->rows[s->row_count++];
}

/* --- the rows: kernels by name, allocations one by one --- */

static int64_t int_of(const struct store_value *values, size_t n, size_t i, int64_t otherwise)
{
    return i < n && values[i].type == STORE_INT ? values[i].i : otherwise;
}

static const char *text_of(const struct store_value *values, size_t n, size_t i)
{
    return i < n && values[i].type == STORE_TEXT && values[i].s ? values[i].s : "";
}

/* The row of kernels called `name`, made at first need. */
static struct summary_row *kernel_row(struct counting *c, const char *name)
{
    struct named *found = NULL;
    size_t length = strlen(name);
    HASH_FIND(hh, c->names, name, length, found);
    if (found)
        return &c->summary->rows[found->row];
    found = mem_zalloc(1, sizeof *found + length + 1, c->err);
    if (!found)
        return NULL;
    memcpy(found->name, name, length + 1);
    found->row = c->summary->row_count;
    HASH_ADD_KEYPTR(hh, c->names, found->name, length, found);
    return add_row(c, name);
}

static void forget_names(struct counting *c)
{
    struct named *entry, *next;
    HASH_ITER(hh, c->names, entry, next)
    {
        HASH_DEL(c->names, entry);
        free(entry);
    }
}

/* kernels(id, name, launch, start_ns, duration_ns, ...) */
static int take_kernel(void *ctx, const struct store_value *values, size_t n)
{
    struct counting *c = ctx;
    struct summary_row *row = kernel_row(c, text_of(values, n, 1));
    if (!row)
        return -1;
    row->launches++;
    int64_t start = int_of(values, n, 3, 0), duration = int_of(values, n, 4, 0), end;
    if (start == 0 || duration <= 0 || __builtin_add_overflow(start, duration, &end))
        return 0;
    row->time_ns += duration;
    return spans_add(&c->spans, start, end, row - c->summary->rows, c->err);
}

/* allocations(id, addr, bytes, kind, name, alloc_ns, free_ns) */
static int take_allocation(void *ctx, const struct store_value *values, size_t n)
{
    struct counting *c = ctx;
    char name[160];
    int64_t addr = int_of(values, n, 1, 0), bytes = int_of(values, n, 2, 0), end;
    (void)snprintf(name, sizeof name, "%lld %.60s%s%.60s", (long long)int_of(values, n, 0, 0), text_of(values, n, 3),
                   *text_of(values, n, 4) ? " " : "", text_of(values, n, 4));
    struct summary_row *row = add_row(c, name);
    if (!row)
        return -1;
    row->addr = (uint64_t)addr;
    row->size_bytes = (uint64_t)bytes;
    if (bytes <= 0 || __builtin_add_overflow(addr, bytes, &end))
        return 0;
    return spans_add(&c->spans, addr, end, row - c->summary->rows, c->err);
}

static int make_rows(struct counting *c, struct store *store)
{
    if (c->by == SUMMARY_BY_NONE)
        return 0;
    bool kernels = c->by == SUMMARY_BY_KERNEL;
    if (store_rows(store, kernels ? "kernels" : "allocations", kernels ? take_kernel : take_allocation, c, c->err))
        return -1;
    if (c->summary->row_count == 0)
        return 0;
    return add_row(c, kernels ? "(several kernels at once)" : "(several allocations)") &&
                   add_row(c, kernels ? "(outside kernels)" : "(outside known allocations)")
               ? spans_build(&c->spans, c->err)
               : -1;
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
    int64_t end;
    if (__builtin_add_overflow(r->time, r->duration, &end))
        end = INT64_MAX;
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
        if (s->row_count == 0 || !ns || r->kind == RECORD_KERNEL)
            continue;
        int64_t row = spans_find(&c->spans, c->by == SUMMARY_BY_KERNEL ? r->time : (int64_t)r->addr);
        size_t at = row >= 0 ? (size_t)row : s->row_count - (row == SPANS_SEVERAL ? 2 : 1);
        count_row(&s->rows[at], r);
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
    struct counting c = {.summary = summary, .by = by, .err = err};
    summary->stream_count = (size_t)store_stream_count(store);
    summary->streams = mem_zalloc(summary->stream_count, sizeof *summary->streams, err);
    int rc = summary->streams ? make_rows(&c, store) : -1;
    for (int i = 0; rc == 0 && i < (int)summary->stream_count; i++)
        rc = count_stream(&c, store, i);
    spans_release(&c.spans);
    forget_names(&c);
    if (rc)
        summary_release(summary);
    return rc;
}
