#include "trace/import/uvmeval.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

#define PAGE_BYTES  4096u
#define BLOCK_BYTES (2u << 20)

static int add(struct uvmeval_batch *b, const struct uvmeval_item *item, struct err *err)
{
    if (mem_grow((void **)&b->items, &b->cap, b->count + 1, sizeof *b->items, err))
        return -1;
    b->items[b->count] = *item;
    b->items[b->count].position = b->count;
    b->count++;
    return 0;
}

int uvmeval_batch_fault(struct uvmeval_batch *b, const uint64_t *f, struct err *err)
{
    /* The driver's access types: 0 prefetch, 1 read, 2 write, 3 weak atomic, 4 strong atomic. */
    static const uint32_t access[] = {RECORD_PREFETCH_ACCESS, RECORD_READ, RECORD_WRITE, RECORD_ATOMIC, RECORD_ATOMIC};
    struct uvmeval_item item = {
        .record = {.time = (int64_t)f[F_TIME],
                   .addr = f[F_ADDR],
                   .bytes = f[F_INSTANCES],
                   .id = f[F_UTLB] | f[F_GPC] << 16,
                   .group = (uint32_t)b->number,
                   .flags = access[f[F_ACCESS]],
                   .kind = RECORD_FAULT},
        .extra = {(int64_t)f[F_UTLB], (int64_t)f[F_GPC], (int64_t)f[F_CLIENT], (int64_t)f[F_TYPE]},
    };
    b->last_time = item.record.time;
    return add(b, &item, err);
}

int uvmeval_batch_page(struct uvmeval_batch *b, enum record_kind kind, uint64_t addr, struct err *err)
{
    struct uvmeval_item item = {
        .record = {.time = b->last_time,
                   .addr = addr,
                   .bytes = PAGE_BYTES,
                   .group = (uint32_t)b->number,
                   .flags = kind == RECORD_EVICT ? RECORD_CAUSE_EVICTION : RECORD_CAUSE_PREFETCH,
                   .kind = kind},
        .extra = {-1, -1, -1, -1},
    };
    return add(b, &item, err);
}

/* Arrival: the GPU's time stamp, in steps of 32 ns; equal ones as in the log. */
static int by_arrival(const void *a, const void *b)
{
    const struct uvmeval_item *x = a, *y = b;
    if (x->record.time != y->record.time)
        return x->record.time < y->record.time ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static int by_address(const void *a, const void *b)
{
    const struct uvmeval_item *x = a, *y = b;
    if (x->record.addr != y->record.addr)
        return x->record.addr < y->record.addr ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* One line per 4 KiB page (driver 460) or per VA block (525)? A page that is no block's first settles it. */
static void size_evictions(struct uvmeval_batch *b)
{
    uint64_t bytes = b->evict_bytes ? b->evict_bytes : BLOCK_BYTES;
    for (size_t i = 0; i < b->count && !b->evict_bytes; i++)
        if (b->items[i].record.kind == RECORD_EVICT && b->items[i].record.addr % BLOCK_BYTES)
            bytes = PAGE_BYTES;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].record.kind == RECORD_EVICT)
            b->items[i].record.bytes = bytes;
}

static int write_service(struct uvmeval_batch *b, struct store *store, uint64_t block, uint64_t faults,
                         uint64_t prefetched, size_t records, struct err *err)
{
    const struct store_value row[] = {
        STORE_V_INT(b->services),
        STORE_V_INT(b->number),
        STORE_V_INT(block),
        STORE_V_NULL,
        STORE_V_NULL,
        STORE_V_INT(faults),
        STORE_V_INT(prefetched),
        STORE_V_INT(faults * PAGE_BYTES),
        STORE_V_INT(prefetched * PAGE_BYTES),
        STORE_V_INT(records),
        STORE_V_TEXT("driver-log"),
        STORE_V_REAL(1.0),
    };
    b->services++;
    return store_row(store, "services", row, sizeof row / sizeof *row, err);
}

/* The services: one per VA block, in order of address. *pages: distinct faulted pages. Items are sorted by address. */
static int write_services(struct uvmeval_batch *b, struct store *store, uint64_t *pages, struct err *err)
{
    *pages = 0;
    for (size_t from = 0, to; from < b->count; from = to) {
        uint64_t block = b->items[from].record.addr / BLOCK_BYTES, faults = 0, prefetched = 0, last = UINT64_MAX;
        size_t records = 0;
        for (to = from; to < b->count && b->items[to].record.addr / BLOCK_BYTES == block; to++) {
            const struct record *r = &b->items[to].record;
            if (r->kind == RECORD_MIGRATE_H2D)
                prefetched++;
            if (r->kind == RECORD_FAULT && r->addr / PAGE_BYTES != last) {
                faults++;
                last = r->addr / PAGE_BYTES;
            }
            records += r->kind != RECORD_EVICT;
        }
        *pages += faults;
        if (records && write_service(b, store, block * BLOCK_BYTES, faults, prefetched, records, err))
            return -1;
    }
    return 0;
}

static int write_batch(struct uvmeval_batch *b, struct store *store, int64_t first_service, uint64_t pages,
                       int64_t duration_ns, bool ended, struct err *err)
{
    int64_t start = INT64_MAX;
    uint64_t raw = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].record.kind == RECORD_FAULT) {
            start = b->items[i].record.time < start ? b->items[i].record.time : start;
            raw += b->items[i].record.bytes;
        }
    bool timed = start != INT64_MAX;
    const struct store_value row[] = {
        STORE_V_INT(b->number),
        STORE_V_INT(first_service),
        STORE_V_INT(b->services - first_service),
        timed ? STORE_V_INT(start) : STORE_V_NULL,
        timed && duration_ns >= 0 ? STORE_V_INT(start + duration_ns) : STORE_V_NULL,
        STORE_V_INT(pages),
        STORE_V_INT(raw),
        STORE_V_TEXT("driver-log"),
        STORE_V_REAL(ended ? 1.0 : 0.5),
    };
    return store_row(store, "batches", row, sizeof row / sizeof *row, err);
}

static int make_room(struct uvmeval_batch *b, struct err *err)
{
    if (b->room >= b->count)
        return 0;
    free(b->records);
    free(b->columns);
    b->room = 0;
    b->records = mem_zalloc(b->cap, sizeof *b->records, err);
    b->columns = mem_zalloc(b->cap, UVMEVAL_EXTRAS * sizeof *b->columns, err);
    if (!b->records || !b->columns)
        return -1;
    b->room = b->cap;
    return 0;
}

static int write_records(struct uvmeval_batch *b, struct store *store, int stream, struct err *err)
{
    if (make_room(b, err))
        return -1;
    for (size_t i = 0; i < b->count; i++) {
        b->records[i] = b->items[i].record;
        for (int e = 0; e < UVMEVAL_EXTRAS; e++)
            b->columns[(size_t)e * b->count + i] = b->items[i].extra[e];
    }
    return b->count ? store_append(store, stream, b->records, b->columns, b->count, err) : 0;
}

int uvmeval_batch_write(struct uvmeval_batch *b, struct store *store, int stream, int64_t duration_ns, bool ended,
                        struct err *err)
{
    int64_t first = b->services;
    uint64_t pages;
    size_evictions(b);
    qsort(b->items, b->count, sizeof *b->items, by_address);
    if (write_services(b, store, &pages, err) || write_batch(b, store, first, pages, duration_ns, ended, err))
        return -1;
    qsort(b->items, b->count, sizeof *b->items, by_arrival);
    if (write_records(b, store, stream, err))
        return -1;
    b->count = 0;
    b->number++;
    return 0;
}

void uvmeval_batch_release(struct uvmeval_batch *b)
{
    free(b->items);
    free(b->records);
    free(b->columns);
    *b = (struct uvmeval_batch){0};
}
