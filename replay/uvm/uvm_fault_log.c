#include "replay/uvm/uvm_fault_log.h"

#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm_driver.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

enum { OFF_SHARE = 20, BATCH_FAULTS = 256 };

struct reading {
    struct uvm_fault_log *log;
    struct uvm_memory memory;
    struct uvm_driver driver; /* the stock prefetcher, with memory without end */
    uint32_t *pages;          /* of the open batch */
    size_t count, cap;
    uint32_t batch;
    bool open;
    struct err *err;
};

bool uvm_fault_log_stream(const struct stream *stream)
{
    return stream->unit == TIME_NS && strcmp(stream->extra[0], "utlb") == 0;
}

/* Serve the batch as the stock driver would, in as many of its own as it takes. */
static int end_batch(struct reading *g)
{
    size_t distinct = 0, max = (size_t)g->driver.platform->batch_faults;
    if (!g->open)
        return 0;
    g->open = false;
    g->log->batches++;
    sort_items(g->pages, g->count, sizeof *g->pages, sorted_by_u32);
    for (size_t i = 0; i < g->count; i++)
        if (i == 0 || g->pages[i] != g->pages[i - 1])
            g->pages[distinct++] = g->pages[i];
    g->log->faults += distinct;
    /* Against the prefetcher is what was there before the batch: the parts of a long one do not count. */
    for (size_t i = 0; i < distinct; i++) {
        const struct uvm_memory_block *b = &g->memory.blocks[g->pages[i] / ACTOR_BLOCK_PAGES];
        g->log->against += page_mask_test(&b->prefetched, uvm_memory_page(b, g->pages[i]));
    }
    for (size_t i = 0; i < distinct; i += max) {
        int64_t end;
        size_t n = distinct - i < max ? distinct - i : max;
        if (uvm_driver_batch(&g->driver, g->pages + i, (uint32_t)n, 0, &end, g->err))
            return -1;
    }
    g->count = 0;
    return 0;
}

/* The page of an address, or false: no allocation holds it. */
static bool page_of(const struct uvm_memory *m, uint64_t addr, uint32_t *page)
{
    size_t lo = 0;
    SORTED_FIRST(lo, m->alloc_count, i, m->allocs[i].addr <= addr);
    if (lo == 0 || addr - m->allocs[lo - 1].addr >= m->allocs[lo - 1].bytes)
        return false;
    *page = actor_page(&m->allocs[lo - 1], addr - m->allocs[lo - 1].addr);
    return true;
}

static int take(struct reading *g, const struct record *r)
{
    uint32_t page;
    g->log->evictions += r->kind == RECORD_EVICT;
    g->log->prefetched += r->kind == RECORD_MIGRATE_H2D;
    if (r->kind != RECORD_FAULT)
        return 0;
    if ((!g->open || r->group != g->batch) && end_batch(g))
        return -1;
    g->open = true;
    g->batch = r->group;
    if (!page_of(&g->memory, r->addr, &page))
        return 0;
    return MEM_ADD(g->pages, g->count, g->cap, g->err, page);
}

static int read_stream(struct reading *g, struct store *store, int stream)
{
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, g->err))
        w.failed = take(g, w.r);
    return store_walk_end(&w) ? -1 : end_batch(g);
}

static void judge(struct uvm_fault_log *log, const struct uvm_account *total)
{
    log->would_bring = total->prefetched;
    if (log->prefetched)
        log->prefetch = UVM_LOG_PREFETCH_ON;
    else if (log->would_bring == 0 || log->against * OFF_SHARE >= log->faults)
        log->prefetch = UVM_LOG_PREFETCH_OFF; /* or it makes no difference */
    else
        log->prefetch = UVM_LOG_PREFETCH_OPEN;
}

int uvm_fault_log_read(struct uvm_fault_log *log, struct store *store, const struct actor_alloc *allocs, size_t n,
                       struct err *err)
{
    /* What is brought does not depend on how long it takes. */
    static const struct uvm_platform no_costs = {
        .batch_faults = BATCH_FAULTS, .h2d_bytes_per_s = 1e9, .d2h_bytes_per_s = 1e9};
    *log = (struct uvm_fault_log){0};
    struct reading g = {.log = log, .err = err};
    int rc = uvm_memory_init(&g.memory, allocs, n, 0, err) ||
                     uvm_driver_init(&g.driver, &g.memory, &no_costs, uvm_policy_stock(), NULL, false, err)
                 ? -1
                 : 0;
    for (int s = 0; s < store_stream_count(store) && rc == 0; s++)
        if (uvm_fault_log_stream(store_stream(store, s)))
            rc = read_stream(&g, store, s);
    if (rc == 0)
        judge(log, &g.memory.total);
    free(g.pages);
    uvm_driver_release(&g.driver);
    uvm_memory_release(&g.memory);
    return rc;
}

void uvm_fault_log_note(const struct uvm_fault_log *log, struct outcome *o)
{
    unsigned long long faults = log->faults, against = log->against, would = log->would_bring;
    if (log->prefetched)
        outcome_note(o, "the log was made with prefetching on: it names %llu prefetched pages",
                     (unsigned long long)log->prefetched);
    else if (log->prefetch == UVM_LOG_PREFETCH_OPEN)
        outcome_note(o,
                     "the log does not show whether prefetching was off: the stock prefetcher would have brought %llu "
                     "pages, and %llu of %llu faults are on such pages; if it was on, touches are missing",
                     would, against, faults);
    else if (would)
        outcome_note(o,
                     "the log was made with prefetching off: %llu of %llu faults are on pages that the stock "
                     "prefetcher would have brought before",
                     against, faults);
    if (log->evictions)
        outcome_note(o, "the log holds %llu evictions; where memory suffices only each page's first fault counts",
                     (unsigned long long)log->evictions);
}
