#include "replay/uvm/uvm_export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_policy.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/derived/allocations.h"
#include "trace/derived/batches.h"
#include "trace/store/store.h"

static void add(struct uvm_export *x, const struct record *record)
{
    x->failed = x->failed || MEM_ADD(x->records, x->count, x->cap, &x->err, *record) != 0;
}

/* --- what is told --- */

/* The stretches of one service, in address order, each with its share of the time. */
static void moved(void *ctx, const struct uvm_move *move)
{
    struct uvm_export *x = ctx;
    static const struct page_mask none;
    const struct page_mask *besides = move->besides ? move->besides : &none;
    struct page_mask all;
    page_mask_or(&all, move->pages, besides);
    double pages = page_mask_count(&all), done = 0, length = move->end_ns - move->start_ns;
    for (unsigned p = page_mask_next(&all, 0); p < PAGE_MASK_PAGES;) {
        bool first = page_mask_test(move->pages, p);
        unsigned end = page_mask_next_clear(first ? move->pages : besides, p);
        int64_t from = x->zero_ns + llround(move->start_ns + length * done / pages);
        done += end - p;
        int64_t until = x->zero_ns + llround(move->start_ns + length * done / pages);
        add(x, &(struct record){.kind = move->kind,
                                .time = from,
                                .duration = until - from,
                                .addr = uvm_block_addr(move->block, p),
                                .bytes = (uint64_t)(end - p) * UVM_PAGE_BYTES,
                                .flags = first ? move->cause : RECORD_CAUSE_PREFETCH});
        p = page_mask_next(&all, end);
    }
}

static void cpu_fault(void *ctx, int64_t time_ns, uint64_t addr, enum record_access access)
{
    struct uvm_export *x = ctx;
    add(x, &(struct record){.kind = RECORD_CPU_FAULT, .time = x->zero_ns + time_ns, .addr = addr, .flags = access});
}

static void kernel(void *ctx, const char *name, int64_t start_ns, int64_t end_ns)
{
    struct uvm_export *x = ctx;
    size_t i = 0;
    while (i < x->names.count && strcmp(x->names.items[i], name) != 0)
        i++;
    if (i == x->names.count && !mem_keep(&x->names, name, &x->err)) {
        x->failed = true;
        return;
    }
    add(x,
        &(struct record){.kind = RECORD_KERNEL, .time = x->zero_ns + start_ns, .duration = end_ns - start_ns, .id = i});
}

static void batch(void *ctx, int64_t start_ns, int64_t end_ns, uint64_t addr, uint64_t faults_of_page)
{
    struct uvm_export *x = ctx;
    add(x, &(struct record){.kind = RECORD_FAULT,
                            .time = x->zero_ns + start_ns,
                            .duration = end_ns - start_ns,
                            .addr = addr,
                            .bytes = faults_of_page,
                            .flags = RECORD_READ});
}

static void prefetch(void *ctx, int64_t start_ns, int64_t end_ns, size_t alloc)
{
    struct uvm_export *x = ctx;
    add(x, &(struct record){.kind = RECORD_PREFETCH,
                            .time = x->zero_ns + start_ns,
                            .duration = end_ns - start_ns,
                            .addr = x->allocs[alloc].addr,
                            .bytes = x->allocs[alloc].bytes});
}

struct uvm_observer uvm_export_observer(struct uvm_export *x)
{
    return (struct uvm_observer){moved, cpu_fault, kernel, batch, prefetch, x};
}

/* --- the CPU's writes before the first launch --- */

static void write_block(struct uvm_export *x, struct uvm_block *block)
{
    for (unsigned p = block->first; p < block->end; p++) {
        struct page_mask faulted = {{0}}, plan;
        if (page_mask_test(&block->resident, p))
            continue;
        page_mask_set(&faulted, p);
        uvm_tree_plan(block, &faulted, UVM_TREE_THRESHOLD, &plan);
        page_mask_or(&block->resident, &block->resident, &faulted);
        page_mask_or(&block->resident, &block->resident, &plan);
        add(x, &(struct record){.kind = RECORD_CPU_FAULT,
                                .time = UVM_EXPORT_START_NS + (int64_t)x->count * UVM_EXPORT_CPU_FAULT_NS,
                                .addr = uvm_block_addr(block, p),
                                .flags = RECORD_WRITE});
    }
}

int uvm_export_init(struct uvm_export *x, const struct actor_alloc *allocs, size_t n, struct err *err)
{
    *x = (struct uvm_export){.allocs = allocs, .alloc_count = n};
    for (size_t a = 0; a < n && !x->failed; a++) {
        uint64_t end = (allocs[a].addr + allocs[a].bytes + UVM_PAGE_BYTES - 1) / UVM_PAGE_BYTES * UVM_PAGE_BYTES;
        for (uint64_t at = allocs[a].addr; allocs[a].host && at < end;) {
            uint64_t next = (at / UVM_BLOCK_BYTES + 1) * UVM_BLOCK_BYTES;
            struct uvm_block block;
            uvm_block_init(&block, at, next < end ? next : end);
            write_block(x, &block);
            at = next;
        }
    }
    x->zero_ns = UVM_EXPORT_START_NS + ((int64_t)x->count + 1) * UVM_EXPORT_CPU_FAULT_NS;
    if (x->failed && err)
        *err = x->err;
    return x->failed ? -1 : 0;
}

void uvm_export_release(struct uvm_export *x)
{
    mem_texts_release(&x->names);
    free(x->records);
    *x = (struct uvm_export){0};
}

/* --- writing --- */

/* A kernel stands before what starts with it. Records of one time stay in the order of telling: `reserved` has it. */
static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return ORDER_OF(x->time, y->time) ?: (y->kind == RECORD_KERNEL) - (x->kind == RECORD_KERNEL) ?: ORDER_OF(x->reserved, y->reserved);
}

static int sort(struct uvm_export *x, struct err *err)
{
    if (x->failed) {
        *err = x->err;
        return -1;
    }
    if (x->count > UINT32_MAX)
        return err_set(err, "the run has %zu records; a recording of it can hold %u", x->count, UINT32_MAX);
    for (size_t i = 0; i < x->count; i++)
        x->records[i].reserved = (uint32_t)i;
    sort_items(x->records, x->count, sizeof *x->records, by_time);
    for (size_t i = 0; i < x->count; i++)
        x->records[i].reserved = 0;
    return 0;
}

/* Whether something else than faults and the CPU decides where pages lie. */
static bool advised(const struct uvm_export *x, const struct uvm_export_facts *facts)
{
    bool some = facts->counters || facts->discards;
    for (size_t a = 0; a < x->alloc_count; a++)
        some |= x->allocs[a].advice || (facts->advice && facts->advice[a]);
    return some;
}

int uvm_export_csv(struct uvm_export *x, const struct uvm_export_facts *facts, FILE *to, struct err *err)
{
    if (sort(x, err))
        return -1;
    (void)fprintf(to, "# simulated.policy=%s\n# simulated.traced=%d\n", facts->policy, facts->traced);
    if (advised(x, facts))
        (void)fputs("# simulated.advised=1\n", to);
    (void)fputs("counterKind,start,end,address,value,srcId,dstId,streamId,processId,flags\n", to);
    for (size_t i = 0; i < x->count; i++) {
        const struct record *r = &x->records[i];
        int64_t end = r->kind == RECORD_CPU_FAULT ? 0 : r->time + r->duration;
        if (r->kind == RECORD_PREFETCH) /* CUPTI tells it by a callback */
            continue;
        if (r->kind == RECORD_KERNEL) {
            (void)fprintf(to, "K,%" PRId64 ",%" PRId64 ",%s\n", r->time, end, x->names.items[r->id]);
            continue;
        }
        int kind = r->kind == RECORD_MIGRATE_H2D   ? 1
                   : r->kind == RECORD_MIGRATE_D2H ? 2
                   : r->kind == RECORD_FAULT       ? 4
                                                   : 3;
        (void)fprintf(to, "%d,%" PRId64 ",%" PRId64 ",%" PRIx64 ",%" PRIu64 ",0,0,0,0,%u\n", kind, r->time, end,
                      r->addr, r->bytes, r->flags);
    }
    return ferror(to) ? err_set(err, "cannot write the recording") : 0;
}

static int store_facts(const struct uvm_export_facts *facts, struct store *to, struct err *err)
{
    if (store_origin(to, "kinds.uvm", "KERNEL ALLOC FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H", err) ||
        store_origin(to, "simulated.policy", facts->policy, err) ||
        store_origin(to, "simulated.traced", facts->traced ? "1" : "0", err))
        return -1;
    return facts->gpu && *facts->gpu ? store_origin(to, "gpu.0.name", facts->gpu, err) : 0;
}

static int store_allocations(const struct uvm_export *x, const struct uvm_export_facts *facts, struct store *to,
                             struct writer *w, struct err *err)
{
    struct allocations table = {0};
    int rc = 0;
    for (size_t a = 0; rc == 0 && a < x->alloc_count; a++) {
        struct record r = {.kind = RECORD_ALLOC,
                           .time = 1,
                           .addr = x->allocs[a].addr,
                           .bytes = x->allocs[a].bytes,
                           .flags = RECORD_ALLOC_MANAGED};
        rc = allocations_add(&table, to, &r, NULL, err) || writer_add(w, &r, NULL, err) ? -1 : 0;
        uint32_t advice = x->allocs[a].advice | (facts->advice ? facts->advice[a] : 0);
        advice &= ~(uint32_t)ACTOR_ADVISED_FIRST;
        for (uint32_t bit = 0; rc == 0 && advice; bit++, advice >>= 1)
            if (advice & 1)
                rc = writer_add(
                    w,
                    &(struct record){.kind = RECORD_ADVISE, .time = 1, .addr = r.addr, .bytes = r.bytes, .flags = bit},
                    NULL, err);
    }
    if (rc == 0)
        rc = allocations_finish(&table, to, err);
    allocations_release(&table);
    return rc;
}

static int store_kernel(const struct uvm_export *x, struct store *to, struct record *r, int64_t id, struct err *err)
{
    struct store_value row[16] = {STORE_V_INT(id), STORE_V_TEXT(x->names.items[r->id]), STORE_V_INT(id),
                                  STORE_V_INT(r->time), STORE_V_INT(r->duration)}; /* the rest is not known */
    r->id = (uint64_t)id;
    r->group = (uint32_t)id;
    return store_row(to, "kernels", row, 16, err);
}

int uvm_export_store(struct uvm_export *x, const struct uvm_export_facts *facts, struct store *to, struct err *err)
{
    struct writer w = {0};
    int stream, rc = sort(x, err);
    if (rc || store_facts(facts, to, err) || (advised(x, facts) && store_origin(to, "simulated.advised", "1", err)) ||
        (stream = writer_stream(to, "uvm", TIME_NS, NULL, 0, err)) < 0)
        return -1;
    rc = writer_open(&w, to, stream, 0, err) || store_allocations(x, facts, to, &w, err) ? -1 : 0;
    int64_t kernels = 0;
    for (size_t i = 0; rc == 0 && i < x->count; i++) {
        struct record r = x->records[i];
        if (r.kind == RECORD_KERNEL)
            rc = store_kernel(x, to, &r, kernels++, err);
        if (rc == 0)
            rc = writer_add(&w, &r, NULL, err);
    }
    if (rc == 0)
        rc = writer_flush(&w, err);
    writer_close(&w);
    return rc ? -1 : batches_write(to, NULL, NULL, err);
}
