/* verify_testing: recordings made up for the tests of verify; a small driver, page by page and naive on purpose.
 *
 * Programs are calls of touch_cpu() and gpu_batch() over allocations; the driver populates, prefetches, migrates and
 * evicts by the rules of uvm_perf_prefetch.c (driver 545.23.06) and emits what CUPTI would show. Only for tests. */
#pragma once

#include "replay/verify/verify.h"
#include "trace/base/testing.h"

enum { PAGE = 4096, PAGES = 512, MAX_RECORDS = 400000, MAX_BLOCKS = 1024 };
enum where { NOWHERE, ON_CPU, ON_GPU };

/* A VA block: the pages of one allocation in one 2 MiB stretch. */
struct made_block {
    uint64_t start;        /* address of its first page */
    int pages;             /* it has */
    int lead;              /* pages between the 64 KiB boundary below and its start */
    bool populated[PAGES]; /* ever held data */
    enum where where[PAGES];
};

struct made {
    struct record *records;
    size_t count;
    struct made_block *blocks;
    int block_count;
    int64_t now;
    bool fault_records; /* emit kind 4 */
};

static inline void made_init(struct made *m)
{
    memset(m, 0, sizeof *m);
    m->records = calloc(MAX_RECORDS, sizeof *m->records);
    m->blocks = calloc(MAX_BLOCKS, sizeof *m->blocks);
    ck_assert(m->records && m->blocks);
    m->now = 1000000000;
    m->fault_records = true;
}

static inline void made_release(struct made *m)
{
    free(m->records);
    free(m->blocks);
}

static inline struct record *emit(struct made *m, enum record_kind kind, int64_t start, int64_t end, uint64_t addr,
                                  uint64_t bytes, uint32_t flags)
{
    ck_assert_uint_lt(m->count, MAX_RECORDS);
    struct record *r = &m->records[m->count++];
    *r = (struct record){
        .time = start, .duration = end - start, .addr = addr, .bytes = bytes, .flags = flags, .kind = (uint32_t)kind};
    return r;
}

static inline void allocate(struct made *m, uint64_t addr, uint64_t bytes)
{
    uint64_t end = (addr + bytes + PAGE - 1) / PAGE * PAGE;
    while (addr < end) {
        uint64_t stop = (addr / (PAGES * PAGE) + 1) * (PAGES * PAGE);
        stop = stop < end ? stop : end;
        ck_assert_int_lt(m->block_count, MAX_BLOCKS);
        struct made_block *b = &m->blocks[m->block_count++];
        *b = (struct made_block){.start = addr, .pages = (int)((stop - addr) / PAGE), .lead = (int)(addr / PAGE % 16)};
        /* No whole 64 KiB region: the tree starts at the block. */
        if ((addr + 65535) / 65536 >= stop / 65536)
            b->lead = -1;
        addr = stop;
    }
}

static inline void free_all(struct made *m)
{
    for (int i = 0; i < m->block_count; i++) {
        memset(m->blocks[i].populated, 0, sizeof m->blocks[i].populated);
        memset(m->blocks[i].where, 0, sizeof m->blocks[i].where);
    }
}

static inline struct made_block *block_at(struct made *m, uint64_t addr)
{
    for (int i = 0; i < m->block_count; i++)
        if (addr >= m->blocks[i].start && addr < m->blocks[i].start + (uint64_t)m->blocks[i].pages * PAGE)
            return &m->blocks[i];
    ck_abort_msg("address outside the allocations");
    return NULL;
}

/* The driver's choice, leaf by leaf: add[] gets the pages to move besides fault[]. */
static inline void naive_tree(const struct made_block *b, enum where to, const bool fault[PAGES], bool add[PAGES])
{
    int lead = b->lead < 0 ? 0 : b->lead, leaves = lead + b->pages;
    bool full[PAGES + 16] = {false};
    for (int p = 0; p < b->pages; p++) {
        if (b->where[p] == to)
            full[lead + p] = true;
        if (!fault[p])
            continue;
        int from = b->lead < 0 ? 0 : (lead + p) / 16 * 16, end = b->lead < 0 ? leaves : from + 16;
        for (int q = from < lead ? lead : from; q < end && q < leaves; q++)
            full[q] = true;
    }
    memset(add, 0, PAGES * sizeof *add);
    for (int p = 0; p < b->pages; p++) {
        if (!fault[p])
            continue;
        int best_from = 0, best_end = 0;
        for (int size = 1; size / 2 < leaves; size *= 2) {
            int from = (lead + p) / size * size, end = from + size < leaves ? from + size : leaves, n = 0;
            for (int q = from; q < end; q++)
                n += full[q];
            if (100 * n > 51 * (end - from)) {
                best_from = from;
                best_end = end;
            }
        }
        for (int q = best_from; q < best_end; q++)
            if (q >= lead && b->where[q - lead] != to && !fault[q - lead])
                add[q - lead] = true;
    }
}

/* Move fault[] and what the tree adds; records only for pages that hold data on the other side. */
static inline void service(struct made *m, struct made_block *b, enum where to, const bool fault[PAGES])
{
    bool add[PAGES];
    naive_tree(b, to, fault, add);
    int64_t at = m->now;
    enum where from = to == ON_GPU ? ON_CPU : ON_GPU;
    for (int p = 0, q; p < b->pages; p = q) {
        for (q = p + 1; q < b->pages && fault[q] == fault[p] && add[q] == add[p] && b->where[q] == b->where[p];)
            q++;
        if ((!fault[p] && !add[p]) || b->where[p] != from)
            continue;
        int64_t end = at + 2500 + (q - p) * 80;
        emit(m, to == ON_GPU ? RECORD_MIGRATE_H2D : RECORD_MIGRATE_D2H, at, end, b->start + (uint64_t)p * PAGE,
             (uint64_t)(q - p) * PAGE, fault[p] ? RECORD_CAUSE_FAULT : RECORD_CAUSE_PREFETCH);
        at = end;
    }
    for (int p = 0; p < b->pages; p++)
        if (fault[p] || add[p]) {
            b->where[p] = to;
            b->populated[p] = true;
        }
    m->now = at + 1700;
}

static inline void touch_cpu(struct made *m, uint64_t addr, bool write)
{
    struct made_block *b = block_at(m, addr);
    int p = (int)((addr - b->start) / PAGE);
    if (b->where[p] == ON_CPU)
        return;
    bool fault[PAGES] = {false};
    fault[p] = true;
    emit(m, RECORD_CPU_FAULT, m->now, m->now, addr / PAGE * PAGE, 0, write ? RECORD_WRITE : RECORD_READ)->id = 42;
    m->now += 16000;
    service(m, b, ON_CPU, fault);
}

static inline void write_cpu(struct made *m, uint64_t addr, uint64_t bytes)
{
    for (uint64_t a = addr; a < addr + bytes; a += PAGE)
        touch_cpu(m, a, true);
}

static inline int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* One batch of faults. The addresses are sorted in place. */
static inline void gpu_batch(struct made *m, uint64_t *addrs, size_t n)
{
    qsort(addrs, n, sizeof *addrs, by_address);
    int64_t begin = m->now;
    m->now += 20000;
    for (size_t i = 0, k; i < n; i = k) {
        struct made_block *b = block_at(m, addrs[i]);
        bool fault[PAGES] = {false}, any = false;
        for (k = i; k < n && block_at(m, addrs[k]) == b; k++) {
            int p = (int)((addrs[k] - b->start) / PAGE);
            fault[p] = b->where[p] != ON_GPU;
            any |= fault[p];
        }
        if (any)
            service(m, b, ON_GPU, fault);
    }
    m->now += 10000;
    if (m->fault_records)
        emit(m, RECORD_FAULT, begin, m->now, addrs[0] / PAGE * PAGE, 1, RECORD_READ);
    m->now += 250000;
}

static inline void evict(struct made *m, struct made_block *b)
{
    for (int p = 0, q; p < b->pages; p = q) {
        for (q = p + 1; q < b->pages && b->where[q] == b->where[p];)
            q++;
        if (b->where[p] != ON_GPU)
            continue;
        emit(m, RECORD_MIGRATE_D2H, m->now, m->now + 2000 + (q - p) * 80, b->start + (uint64_t)p * PAGE,
             (uint64_t)(q - p) * PAGE, RECORD_CAUSE_EVICTION);
        m->now += 2000 + (q - p) * 80;
    }
    for (int p = 0; p < b->pages; p++)
        b->where[p] = b->where[p] == ON_GPU ? ON_CPU : b->where[p];
}

static inline void kernel(struct made *m, int64_t start)
{
    emit(m, RECORD_KERNEL, start, m->now, 0, 0, 0);
}

/* Read [addr, addr + bytes) on the GPU, `wide` pages a batch. */
static inline void read_gpu(struct made *m, uint64_t addr, uint64_t bytes, size_t wide)
{
    uint64_t batch[256];
    size_t n = 0;
    for (uint64_t a = addr; a < addr + bytes; a += PAGE) {
        struct made_block *b = block_at(m, a);
        if (b->where[(a - b->start) / PAGE] == ON_GPU)
            continue;
        batch[n++] = a;
        if (n == wide) {
            gpu_batch(m, batch, n);
            n = 0;
        }
    }
    if (n > 0)
        gpu_batch(m, batch, n);
}

/* Verify what is recorded so far; keep[i] false leaves record i out (NULL: keep all). */
static inline void check_made(const struct made *m, const bool *keep, struct verify *verify)
{
    const char *path = testing_file("made.db");
    static const struct stream uvm = {.name = "uvm", .unit = TIME_NS};
    struct store *store = GIVES(store_create(path, true, "test", &err));
    int stream;
    WORKS(store_stream_add(store, &uvm, &stream, &err));
    for (size_t i = 0; i < m->count; i++)
        if (!keep || keep[i])
            WORKS(store_append(store, stream, &m->records[i], NULL, 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    WORKS(verify_run(verify, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &err));
    store_close(store);
}

static inline int64_t number(const struct verify *v, const char *name)
{
    const struct metric_value *value = outcome_get(&v->outcome, name);
    ck_assert_msg(value && value->known, "%s", name);
    return value->whole;
}

static inline const char *notes(const struct verify *v)
{
    static char text[4096];
    text[0] = 0;
    for (size_t i = 0, used = 0; i < v->outcome.note_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", v->outcome.notes[i]);
    return text;
}
