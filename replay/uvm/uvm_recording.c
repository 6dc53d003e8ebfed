#include "replay/uvm/uvm_recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/link.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"

/* Source: driver 545.23.06, uvm_perf_fault_max_batches_per_service; gap within a routine: measured on an H200. */
enum { ROUTINE_BATCHES = 20, ROUTINE_GAP_NS = 150000 };

/* User addresses end here (x86-64 with five-level page tables); what lies above is no memory of a program. */
#define ADDR_END (1ull << 57)

/* Memory that hostile sizes may ask for: VA blocks of all moves, and different ones (1 TiB of managed memory). */
enum { MOVED_BLOCKS_MAX = 1 << 23, BLOCKS_MAX = 1 << 19 };

void uvm_recording_init(struct uvm_recording *r)
{
    memset(r, 0, sizeof *r);
    batches_init(&r->batches);
    services_init(&r->back, RECORD_MIGRATE_D2H);
}

void uvm_recording_release(struct uvm_recording *r)
{
    batches_release(&r->batches);
    services_release(&r->back);
    free(r->moves);
    free(r->move_kinds);
    free(r->cpu_faults);
    free(r->kernel_ids);
    range_map_release(&r->spans);
    free(r->allocations);
    free(r->pieces);
    free(r->visits);
    free(r->events);
    uvm_recording_init(r);
}

static int add_move(struct uvm_recording *r, const struct record *record, enum uvm_event_kind kind, struct err *err)
{
    if (mem_grow((void **)&r->move_kinds, &r->move_kind_cap, r->move_count + 1, 1, err))
        return -1;
    r->move_kinds[r->move_count] = (uint8_t)kind;
    return MEM_ADD(r->moves, r->move_count, r->move_cap, err,
                   (struct migration){record->time, record->time + record->duration, record->addr, record->bytes,
                                      r->move_count, record->flags});
}

static int add_allocation(struct uvm_recording *r, const struct record *record, struct err *err)
{
    const uint64_t addr = record->addr, bytes = record->bytes;
    const size_t order = r->managed++;
    uint64_t end;
    if (!bytes || __builtin_add_overflow(addr, bytes, &end) || end > ADDR_END)
        return 0;
    return MEM_ADD(r->allocations, r->allocation_count, r->allocation_cap, err,
                   (struct uvm_allocation){addr / UVM_PAGE_BYTES * UVM_PAGE_BYTES,
                                           (end + UVM_PAGE_BYTES - 1) / UVM_PAGE_BYTES * UVM_PAGE_BYTES, bytes,
                                           record->time, order});
}

static int add_one(struct uvm_recording *r, const struct record *record, struct err *err)
{
    uint64_t end;
    bool sized = record->bytes && !__builtin_add_overflow(record->addr, record->bytes, &end) && end <= ADDR_END;
    switch (record->kind) {
    case RECORD_MIGRATE_H2D:
        if (sized && record->flags == RECORD_CAUSE_USER)
            return add_move(r, record, UVM_EVENT_USER_IN, err);
        r->advised |= record->flags == RECORD_CAUSE_ACCESS_COUNTERS;
        return 0;
    case RECORD_ADVISE:
    case RECORD_THRASH:
    case RECORD_THROTTLE:
    case RECORD_REMOTE_MAP:
        r->advised = true;
        return 0;
    case RECORD_MIGRATE_D2H:
        if (sized && record->flags == RECORD_CAUSE_EVICTION)
            return add_move(r, record, UVM_EVENT_EVICT, err);
        if (sized && record->flags == RECORD_CAUSE_USER)
            return add_move(r, record, UVM_EVENT_USER_OUT, err);
        return 0;
    case RECORD_CPU_FAULT:
        if (record->addr >= ADDR_END)
            return 0;
        return MEM_ADD(r->cpu_faults, r->cpu_fault_count, r->cpu_fault_cap, err,
                       (struct uvm_cpu_fault){record->time, record->addr, r->cpu_fault_count});
    case RECORD_ALLOC:
        return record->flags == RECORD_ALLOC_MANAGED ? add_allocation(r, record, err) : 0;
    case RECORD_KERNEL:
        if (MEM_ADD(r->kernel_ids, r->kernels, r->kernel_cap, err, record->id))
            return -1;
        return range_map_add(&r->spans, record->time, record->time + record->duration, 0, err);
    default:
        return 0;
    }
}

int uvm_recording_add(struct uvm_recording *r, const struct record *records, size_t n, struct err *err)
{
    if (batches_add(&r->batches, records, n, err) || services_add(&r->back, records, n, err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (add_one(r, &records[i], err))
            return -1;
    return 0;
}

/* --- pieces --- */

/* The piece that holds `addr`, or NULL. */
struct uvm_piece *uvm_recording_piece(const struct uvm_recording *r, uint64_t addr)
{
    size_t lo = 0;
    SORTED_FIRST(lo, r->piece_count, i, r->pieces[i].end <= addr);
    return lo < r->piece_count && r->pieces[lo].start <= addr ? &r->pieces[lo] : NULL;
}

static void reshape(struct uvm_piece *piece, uint64_t start, uint64_t end)
{
    piece->start = start;
    piece->end = end;
    uvm_block_init(&piece->shape, start, end);
}

static int add_piece(struct uvm_recording *r, uint64_t start, uint64_t end, struct err *err)
{
    if (mem_grow((void **)&r->pieces, &r->piece_cap, r->piece_count + 1, sizeof *r->pieces, err))
        return -1;
    struct uvm_piece *piece = &r->pieces[r->piece_count++];
    memset(piece, 0, sizeof *piece);
    reshape(piece, start, end);
    return 0;
}

/* VA blocks of the allocations, if they do not overlap and are not too many. */
static size_t allocated_blocks(struct uvm_recording *r)
{
    size_t n = 0;
    sort_items(r->allocations, r->allocation_count, sizeof *r->allocations, sorted_by_u64);
    for (size_t a = 0; a < r->allocation_count && !r->more_memory; a++) {
        n += uvm_block_number(r->allocations[a].end - 1) - uvm_block_number(r->allocations[a].start) + 1;
        r->more_memory = n > BLOCKS_MAX || (a && r->allocations[a].start < r->allocations[a - 1].end);
    }
    return r->more_memory ? 0 : n;
}

/* Block numbers of everything seen and of all allocations, sorted, each once. */
static int seen_blocks(struct uvm_recording *r, uint64_t **blocks, size_t *count, struct err *err)
{
    const struct services *sets[2] = {&r->batches.services, &r->back};
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < r->move_count; i++) {
        n += (r->moves[i].bytes - 1) / UVM_BLOCK_BYTES + 2;
        if (n > MOVED_BLOCKS_MAX)
            return err_set(err,
                           "a record moves %llu bytes at 0x%llx; the recording spans more VA blocks than can be "
                           "replayed (%d)",
                           (unsigned long long)r->moves[i].bytes, (unsigned long long)r->moves[i].addr,
                           MOVED_BLOCKS_MAX);
    }
    n += r->cpu_fault_count + sets[0]->count + sets[1]->count + allocated_blocks(r);
    *blocks = NULL;
    if (mem_grow((void **)blocks, &cap, n + 1, sizeof **blocks, err))
        return -1;
    n = 0;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < sets[s]->count; i++)
            (*blocks)[n++] = uvm_block_number(sets[s]->items[i].block_addr);
    for (size_t i = 0; i < r->cpu_fault_count; i++)
        (*blocks)[n++] = uvm_block_number(r->cpu_faults[i].addr);
    for (size_t i = 0; i < r->move_count; i++)
        for (uint64_t b = uvm_block_number(r->moves[i].addr);
             b <= uvm_block_number(r->moves[i].addr + r->moves[i].bytes - 1); b++)
            (*blocks)[n++] = b;
    for (size_t a = 0; a < r->allocation_count && !r->more_memory; a++)
        for (uint64_t b = uvm_block_number(r->allocations[a].start); b <= uvm_block_number(r->allocations[a].end - 1);
             b++)
            (*blocks)[n++] = b;
    sort_items(*blocks, n, sizeof **blocks, sorted_by_u64);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || (*blocks)[kept - 1] != (*blocks)[i])
            (*blocks)[kept++] = (*blocks)[i];
    *count = kept;
    if (kept <= BLOCKS_MAX)
        return 0;
    free(*blocks);
    return err_set(err, "the recording touches %zu VA blocks of 2 MiB; at most %d can be replayed", kept, BLOCKS_MAX);
}

/* Pieces of allocations that ALLOC records name, and whole blocks for what lies elsewhere. */
static int make_pieces(struct uvm_recording *r, struct err *err)
{
    uint64_t *blocks;
    size_t count = 0, a = 0;
    if (seen_blocks(r, &blocks, &count, err))
        return -1;
    r->known_sizes = r->allocation_count > 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count && blocks[i] < ADDR_END / UVM_BLOCK_BYTES; i++) {
        uint64_t lo = blocks[i] * UVM_BLOCK_BYTES, hi = lo + UVM_BLOCK_BYTES, from = lo;
        bool any = false;
        while (a < r->allocation_count && r->allocations[a].end <= lo)
            a++;
        for (size_t k = a; rc == 0 && k < r->allocation_count && r->allocations[k].start < hi; k++) {
            uint64_t start = r->allocations[k].start > from ? r->allocations[k].start : from;
            uint64_t end = r->allocations[k].end < hi ? r->allocations[k].end : hi;
            if (start < end) { /* an allocation freed and made again may overlap: the first one counts */
                rc = add_piece(r, start, end, err);
                from = end;
                any = true;
            }
        }
        if (rc == 0 && !any)
            rc = add_piece(r, lo, hi, err);
    }
    free(blocks);
    return rc;
}

/* --- visits and events --- */

static void mark(struct page_mask *m, const struct uvm_piece *piece, const struct migration *migration)
{
    uint64_t start = migration->addr, end = start + migration->bytes;
    start = start > piece->start ? start : piece->start;
    end = end < piece->end ? end : piece->end;
    if (start < end)
        page_mask_set_region(m, uvm_block_page(&piece->shape, start),
                             uvm_block_page(&piece->shape, end + UVM_PAGE_BYTES - 1));
}

void uvm_visit_pages(const struct uvm_recording *r, const struct uvm_visit *visit, struct page_mask *faulted,
                     struct page_mask *prefetched)
{
    page_mask_zero(faulted);
    page_mask_zero(prefetched);
    for (uint32_t i = 0; i < visit->count; i++)
        mark(visit->migrations[i].cause == RECORD_CAUSE_PREFETCH ? prefetched : faulted, &r->pieces[visit->piece],
             &visit->migrations[i]);
}

/* Add the visits of n migrations in address order, cut where the piece changes. */
static int add_visits(struct uvm_recording *r, const struct migration *m, size_t n, struct err *err)
{
    for (size_t i = 0; i < n;) {
        const struct uvm_piece *piece = uvm_recording_piece(r, m[i].addr);
        size_t k = i + 1;
        while (k < n && piece && m[k].addr >= piece->start && m[k].addr < piece->end)
            k++;
        if (piece && MEM_ADD(r->visits, r->visit_count, r->visit_cap, err,
                             (struct uvm_visit){(uint32_t)(piece - r->pieces), (uint32_t)(k - i), &m[i]}))
            return -1;
        i = k;
    }
    return 0;
}

/* Add an event whose visits begin at `first`. */
static int add_event(struct uvm_recording *r, enum uvm_event_kind kind, int64_t start, int64_t end, size_t first,
                     struct err *err)
{
    return MEM_ADD(
        r->events, r->event_count, r->event_cap, err,
        (struct uvm_event){
            .start_ns = start, .end_ns = end, .kind = kind, .first = first, .count = r->visit_count - first});
}

static int add_batch_events(struct uvm_recording *r, struct err *err)
{
    const struct services *in = &r->batches.services;
    uint32_t of_routine = 0;
    for (size_t b = 0; b < r->batches.count; b++) {
        const struct batch *batch = &r->batches.items[b];
        struct uvm_moved moved = {0};
        size_t first = r->visit_count;
        for (size_t s = batch->first; s < batch->first + batch->count; s++) {
            const struct service *service = &in->items[s];
            if (add_visits(r, &in->migrations[service->first], service->records, err))
                return -1;
            r->fault_pages += service->fault_pages;
            r->prefetch_pages += service->prefetch_pages;
            moved.fault_bytes += (uint64_t)service->fault_pages * UVM_PAGE_BYTES;
            moved.prefetch_bytes += (uint64_t)service->prefetch_pages * UVM_PAGE_BYTES;
        }
        if (add_event(r, UVM_EVENT_BATCH, batch->start_ns, batch->end_ns, first, err))
            return -1;
        r->events[r->event_count - 1].moved = moved;
        bool last = b + 1 == r->batches.count || ++of_routine == ROUTINE_BATCHES ||
                    r->batches.items[b + 1].start_ns - batch->end_ns > ROUTINE_GAP_NS;
        r->events[r->event_count - 1].routine_end = last;
        of_routine = last ? 0 : of_routine;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct uvm_event *x = a, *y = b;
    return ORDER_OF(x->start_ns, y->start_ns) ?: ORDER_OF(x->first, y->first); /* the order of making */
}

/* Whether something came to a VA block: what was evicted before is over. */
static bool came_between(const struct services *in, uint64_t block, int64_t from_ns, int64_t until_ns)
{
    size_t lo = 0;
    SORTED_FIRST(lo, in->count, i, in->items[i].start_ns < from_ns);
    for (; lo < in->count && in->items[lo].start_ns < until_ns; lo++)
        if (uvm_block_number(in->items[lo].block_addr) == block)
            return true;
    return false;
}

static int make_events(struct uvm_recording *r, struct err *err)
{
    if (add_batch_events(r, err))
        return -1;
    for (size_t s = 0; s < r->back.count; s++) {
        const struct service *service = &r->back.items[s];
        size_t first = r->visit_count;
        if (add_visits(r, &r->back.migrations[service->first], service->records, err) ||
            add_event(r, UVM_EVENT_BACK, service->start_ns, service->end_ns, first, err))
            return -1;
        r->events[r->event_count - 1].moved.back_bytes = service->fault_bytes + service->prefetch_bytes;
        r->back_bytes += service->fault_bytes + service->prefetch_bytes;
    }
    const struct migration *before = NULL; /* the eviction's record before, if it has one */
    for (size_t i = 0; i < r->move_count; i++) {
        size_t first = r->visit_count;
        const struct migration *m = &r->moves[i];
        uint64_t block = uvm_block_number(m->addr);
        for (uint64_t at = m->addr; at < m->addr + m->bytes; at = (uvm_block_number(at) + 1) * UVM_BLOCK_BYTES) {
            const struct uvm_piece *piece = uvm_recording_piece(r, at);
            if (piece && MEM_ADD(r->visits, r->visit_count, r->visit_cap, err,
                                 (struct uvm_visit){(uint32_t)(piece - r->pieces), 1, m}))
                return -1;
        }
        if (add_event(r, r->move_kinds[i], m->start_ns, m->end_ns, first, err))
            return -1;
        struct uvm_moved *moved = &r->events[r->event_count - 1].moved;
        if (r->move_kinds[i] == UVM_EVENT_EVICT) {
            moved->evictions = !before || uvm_block_number(before->addr) != block || before->addr > m->addr ||
                               uvm_recording_piece(r, before->addr) != uvm_recording_piece(r, m->addr) ||
                               came_between(&r->batches.services, block, before->end_ns, m->start_ns);
            const struct uvm_piece *piece = uvm_recording_piece(r, m->addr);
            bool cut = piece && piece->shape.end - piece->shape.first < UVM_BLOCK_PAGES; /* may lie in several chunks */
            r->evictions_joined += !moved->evictions && (before->end_ns != m->start_ns || cut);
            before = m;
            moved->back_bytes = m->bytes;
        } else if (r->move_kinds[i] == UVM_EVENT_USER_IN) {
            moved->user_bytes = m->bytes;
        }
        r->evictions += moved->evictions;
        r->back_bytes += moved->back_bytes;
        r->user_bytes += moved->user_bytes;
    }
    sort_items(r->events, r->event_count, sizeof *r->events, by_time);
    return 0;
}

/* Whether nothing but faults of the GPU moved pages before the last batch. */
static bool has_gpu_faults_only(const struct uvm_recording *r)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind == UVM_EVENT_BATCH) {
            first = r->events[e].start_ns < first ? r->events[e].start_ns : first;
            last = r->events[e].end_ns > last ? r->events[e].end_ns : last;
        }
    bool quiet = !r->advised && !r->user_bytes;
    for (size_t e = 0; e < r->event_count; e++)
        quiet &= r->events[e].kind == UVM_EVENT_BATCH || r->events[e].kind == UVM_EVENT_USER_IN ||
                 r->events[e].start_ns >= last;
    for (size_t i = 0; i < r->cpu_fault_count; i++)
        quiet &= r->cpu_faults[i].time_ns <= first || r->cpu_faults[i].time_ns >= last;
    return quiet;
}

/* --- what a recording does not say of its memory: where allocations begin and end, which pages held data --- */

/* Visits in order of time, piece by piece. */
struct index {
    size_t *first; /* of each piece; one more at the end */
    struct entry {
        const struct uvm_visit *visit;
        bool batch, in; /* part of a fault batch; towards the GPU */
    } * entries;
};

static int index_make(const struct uvm_recording *r, struct index *index, struct err *err)
{
    size_t *at = mem_zalloc(r->piece_count + 1, sizeof *at, err);
    index->first = at ? mem_zalloc(r->piece_count + 2, sizeof *index->first, err) : NULL;
    index->entries = index->first ? mem_zalloc(r->visit_count, sizeof *index->entries, err) : NULL;
    if (!index->entries) {
        free(at);
        free(index->first);
        return -1;
    }
    for (size_t v = 0; v < r->visit_count; v++)
        index->first[r->visits[v].piece + 1]++;
    for (size_t p = 0; p < r->piece_count; p++) {
        index->first[p + 1] += index->first[p];
        at[p] = index->first[p];
    }
    for (size_t e = 0; e < r->event_count; e++) {
        const struct uvm_event *event = &r->events[e];
        bool batch = event->kind == UVM_EVENT_BATCH, in = batch || event->kind == UVM_EVENT_USER_IN;
        for (size_t v = event->first; v < event->first + event->count; v++)
            index->entries[at[r->visits[v].piece]++] = (struct entry){&r->visits[v], batch, in};
    }
    free(at);
    return 0;
}

/* Pages that ever moved to the GPU; *touched gets those that faulted. */
static struct page_mask moved_pages(const struct uvm_recording *r, const struct index *index, size_t piece,
                                    struct page_mask *touched)
{
    struct page_mask all = {{0}}, faulted, prefetched;
    page_mask_zero(touched);
    for (size_t i = index->first[piece]; i < index->first[piece + 1]; i++)
        if (index->entries[i].in) {
            uvm_visit_pages(r, index->entries[i].visit, &faulted, &prefetched);
            page_mask_or(&all, &all, &faulted);
            page_mask_or(&all, &all, &prefetched);
            if (index->entries[i].batch)
                page_mask_or(touched, touched, &faulted);
        }
    return all;
}

/* How many services of a piece the stock prefetcher explains, as the piece stands. */
static size_t explained(const struct uvm_recording *r, const struct index *index, size_t piece)
{
    struct uvm_block block = r->pieces[piece].shape;
    struct page_mask faulted, prefetched, plan;
    size_t exact = 0;
    for (size_t i = index->first[piece]; i < index->first[piece + 1]; i++) {
        const struct entry *entry = &index->entries[i];
        uvm_visit_pages(r, entry->visit, &faulted, &prefetched);
        if (entry->batch && page_mask_any(&faulted)) {
            uvm_tree_plan(&block, &faulted, UVM_TREE_THRESHOLD, &plan);
            exact += page_mask_equal(&plan, &prefetched);
        }
        page_mask_or(&faulted, &faulted, &prefetched);
        if (entry->in)
            page_mask_or(&block.resident, &block.resident, &faulted);
        else
            page_mask_andnot(&block.resident, &block.resident, &faulted);
    }
    return exact;
}

/* End a piece where its pages end, below (`low`) or above, if that explains more of its services. */
static void cut_edge(struct uvm_recording *r, const struct index *index, size_t p, bool low, bool high)
{
    struct uvm_piece *piece = &r->pieces[p];
    struct page_mask touched, pages = moved_pages(r, index, p, &touched);
    if (!page_mask_any(&pages))
        return;
    unsigned first = page_mask_next(&pages, 0), last = first;
    PAGE_MASK_EACH(page, &pages)
    last = page;
    uint64_t start = low ? uvm_block_addr(&piece->shape, first) : piece->start;
    uint64_t end = high ? uvm_block_addr(&piece->shape, last + 1) : piece->end;
    if (start == piece->start && end == piece->end)
        return;
    uint64_t old_start = piece->start, old_end = piece->end;
    size_t whole = explained(r, index, p);
    reshape(piece, start, end);
    if (explained(r, index, p) > whole)
        r->edges_cut++;
    else
        reshape(piece, old_start, old_end);
}

/* Whether the recording is the stock prefetcher's at all: it explains nine of ten services. */
static bool is_stock(const struct uvm_recording *r, const struct index *index)
{
    size_t exact = 0, services = 0;
    for (size_t p = 0; p < r->piece_count; p++)
        exact += explained(r, index, p);
    for (size_t v = 0; v < r->visit_count; v++)
        services += index->entries[v].batch;
    return r->prefetch_pages && exact * 10 >= services * 9;
}

/* Without sizes, pieces that touch are one allocation. */
static void cut_edges(struct uvm_recording *r, const struct index *index)
{
    if (!is_stock(r, index))
        return;
    for (size_t p = 0; p < r->piece_count; p++) {
        bool low = p == 0 || r->pieces[p - 1].end != r->pieces[p].start;
        bool high = p + 1 == r->piece_count || r->pieces[p + 1].start != r->pieces[p].end;
        if (low || high)
            cut_edge(r, index, p, low, high);
    }
}

SORTED_AS(cpu_fault_by_time, struct uvm_cpu_fault, ORDER_OF(x->time_ns, y->time_ns) ?: ORDER_OF(x->order, y->order))

/* The CPU's first touches, before anything went to the GPU, each with what the prefetcher brought. */
static int fill_populated(struct uvm_recording *r, const struct index *index, struct err *err)
{
    struct uvm_block *cpu = mem_zalloc(r->piece_count, sizeof *cpu, err);
    if (!cpu)
        return -1;
    for (size_t p = 0; p < r->piece_count; p++) {
        cpu[p] = r->pieces[p].shape;
        r->pieces[p].populated = moved_pages(r, index, p, &r->pieces[p].touched);
        r->pieces[p].migrated = page_mask_any(&r->pieces[p].populated);
        r->moved_pages += page_mask_count(&r->pieces[p].populated);
        r->touched_pages += page_mask_count(&r->pieces[p].touched);
    }
    int64_t begin = r->event_count ? r->events[0].start_ns : INT64_MAX;
    sort_items(r->cpu_faults, r->cpu_fault_count, sizeof *r->cpu_faults, cpu_fault_by_time);
    for (size_t i = 0; i < r->cpu_fault_count && r->cpu_faults[i].time_ns < begin; i++) {
        const struct uvm_piece *piece = uvm_recording_piece(r, r->cpu_faults[i].addr);
        if (!piece)
            continue;
        r->known_data = true;
        struct uvm_block *block = &cpu[piece - r->pieces];
        struct page_mask faulted = {{0}}, plan;
        page_mask_set(&faulted, uvm_block_page(block, r->cpu_faults[i].addr));
        if (page_mask_intersects(&faulted, &block->resident))
            continue;
        uvm_tree_plan(block, &faulted, UVM_TREE_THRESHOLD, &plan);
        page_mask_or(&plan, &plan, &faulted);
        page_mask_or(&block->resident, &block->resident, &plan);
    }
    r->all_recorded = r->known_sizes && r->known_data && !r->more_memory;
    r->unrecorded = !r->all_recorded;
    for (size_t p = 0; p < r->piece_count; p++) {
        struct uvm_piece *piece = &r->pieces[p];
        struct page_mask seen = cpu[p].resident, whole = {{0}};
        if (r->gpu_faults_only) /* else what came later may have had no data at first */
            page_mask_or(&seen, &seen, &piece->populated);
        page_mask_set_region(&whole, piece->shape.first, piece->shape.end);
        piece->unrecorded = !r->all_recorded || !page_mask_contains(&seen, &whole);
        r->unrecorded |= piece->unrecorded;
        if (r->known_data)
            page_mask_or(&piece->populated, &piece->populated, &cpu[p].resident);
        else
            page_mask_set_region(&piece->populated, piece->shape.first, piece->shape.end);
    }
    free(cpu);
    return 0;
}

static void sum_structures(struct uvm_recording *r)
{
    r->sizes_certain = r->all_recorded;
    if (r->known_sizes) {
        for (size_t a = 0, p = 0; a < r->allocation_count; a++) {
            bool migrated = false, faulted = false, unseen = false;
            while (p < r->piece_count && r->pieces[p].end <= r->allocations[a].start)
                p++;
            for (size_t k = p; k < r->piece_count && r->pieces[k].start < r->allocations[a].end; k++) {
                migrated |= r->pieces[k].migrated;
                faulted |= page_mask_any(&r->pieces[k].touched);
                unseen |= r->pieces[k].unrecorded;
            }
            r->sizes_certain &= faulted || (!migrated && !unseen);
            if (migrated)
                r->structure_bytes += r->allocations[a].bytes;
        }
        return;
    }
    for (size_t p = 0; p < r->piece_count;) { /* pieces that touch are one allocation */
        uint64_t bytes = 0;
        bool migrated = false;
        do {
            bytes += r->pieces[p].end - r->pieces[p].start;
            migrated |= r->pieces[p].migrated;
            p++;
        } while (p < r->piece_count && r->pieces[p].start == r->pieces[p - 1].end);
        r->structure_bytes += migrated ? bytes : 0;
    }
}

static int infer_extent(struct uvm_recording *r, struct err *err)
{
    struct index index;
    if (index_make(r, &index, err))
        return -1;
    if (!r->known_sizes)
        cut_edges(r, &index);
    int rc = fill_populated(r, &index, err);
    free(index.first);
    free(index.entries);
    if (rc == 0)
        sum_structures(r);
    return rc;
}

/* Pages that the CPU had populated in memory that went to the GPU, and that never did. */
static uint64_t left_behind(const struct uvm_recording *r)
{
    uint64_t populated = 0;
    for (size_t a = 0, p = 0; a < r->allocation_count && r->known_data; a++) {
        uint64_t pages = 0;
        bool migrated = false;
        for (; p < r->piece_count && r->pieces[p].start < r->allocations[a].end; p++)
            if (r->pieces[p].end > r->allocations[a].start) {
                pages += page_mask_count(&r->pieces[p].populated);
                migrated |= r->pieces[p].migrated;
            }
        populated += migrated ? pages : 0;
    }
    return populated > r->moved_pages ? populated - r->moved_pages : 0;
}

/* When the last batch ended; INT64_MIN: there is none. */
static int64_t last_batch(const struct uvm_recording *r, size_t *batches)
{
    int64_t last = INT64_MIN;
    *batches = 0;
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind == UVM_EVENT_BATCH && ++*batches && r->events[e].end_ns > last)
            last = r->events[e].end_ns;
    return last;
}

/* Whether the end is lost: the kernel of the last batch ran on in silence, for over 1 ms and 2 % of its time, and what
 * never moved is a third at least of what that time moves at its pace (as replay/verify has it). */
static bool ends_early(const struct uvm_recording *r)
{
    enum { LEAST = 8, SILENCE_NS = 1000000, SHARE = 50 };
    size_t at = 0, batches;
    const int64_t last = last_batch(r, &batches);
    if (r->open_end && (!r->spans.count || last > r->spans.items[r->spans.count - 1].hi))
        return true; /* of a kernel that is not recorded */
    SORTED_FIRST(at, r->spans.count, i, r->spans.items[i].hi <= last);
    if (batches < LEAST || at == r->spans.count || r->spans.items[at].lo >= last)
        return false;
    const double all = (double)(r->spans.items[at].hi - r->spans.items[at].lo),
                 silent = (double)(r->spans.items[at].hi - last),
                 lost = silent / (all - silent) * (double)r->moved_pages;
    const double left = (double)left_behind(r);
    return silent > SILENCE_NS && silent > all / SHARE && left >= UVM_BIG_PAGES && 3 * left >= lost;
}

int uvm_recording_finish(struct uvm_recording *r, struct err *err)
{
    if (range_map_build(&r->spans, err))
        return -1;
    for (size_t i = 0; i < r->spans.count; i++)
        if (__builtin_add_overflow(r->kernel_ns, r->spans.items[i].hi - r->spans.items[i].lo, &r->kernel_ns))
            r->kernel_ns = INT64_MAX;
    if (batches_rebuild(&r->batches, err) || services_rebuild(&r->back, err) || make_pieces(r, err) ||
        make_events(r, err))
        return -1;
    r->gpu_faults_only = has_gpu_faults_only(r);
    if (infer_extent(r, err))
        return -1;
    r->cut |= ends_early(r);
    return 0;
}

static void is_cut(void *recording, const char *sentence)
{
    struct uvm_recording *r = recording;
    const size_t n = strlen(sentence), end = sizeof LIMITS_NO_END - 1;
    const bool open_end = n > end && strcmp(sentence + n - end, LIMITS_NO_END) == 0;
    r->open_end |= open_end;
    r->cut |= !open_end;
}

static int add_all(struct uvm_recording *r, struct store *store, struct recording of, struct err *err)
{
    struct recording_walk w = {0};
    while (recording_walk_next(&w, store, of, err))
        w.at.failed = uvm_recording_add(r, w.at.r, 1, err);
    return store_walk_end(&w.at) || uvm_recording_finish(r, err) ? -1 : 0;
}

int uvm_recording_load(struct uvm_recording *r, struct store *store, struct recording wanted, struct err *err)
{
    uvm_recording_init(r);
    struct recording of;
    if (recording_choose(&of, wanted, store, err))
        return -1;
    const char *policy = store_origin_get(store, "simulated.policy"),
               *traced = store_origin_get(store, "simulated.traced");
    r->simulated = policy != NULL;
    r->traced = !traced || strcmp(traced, "0") != 0;
    r->advised = store_origin_get(store, "simulated.advised") != NULL;
    (void)snprintf(r->policy, sizeof r->policy, "%s", policy ? policy : "");
    if (limits_tell(store, "", is_cut, r, err))
        return -1;
    const int rc = add_all(r, store, of, err);
    if (rc)
        uvm_recording_release(r);
    return rc;
}

bool uvm_recording_ends_early(struct store *store)
{
    struct uvm_recording r;
    struct recording of;
    struct err err;
    uvm_recording_init(&r);
    const bool early = recording_choose(&of, (struct recording){RECORDING_ANY, RECORDING_ANY}, store, &err) == 0 &&
                       add_all(&r, store, of, &err) == 0 && r.cut;
    uvm_recording_release(&r);
    return early;
}

/* Below this no change to unified memory is worth its while. */
#define WORTH 1.1

/* Time within the spans that some fault batch was being serviced: events are in order of start. */
static int64_t served_ns(const struct uvm_recording *r)
{
    int64_t sum = 0, until = INT64_MIN;
    size_t s = 0;
    for (size_t e = 0; e < r->event_count; e++) {
        const struct uvm_event *event = &r->events[e];
        int64_t from = event->start_ns > until ? event->start_ns : until;
        if (event->kind != UVM_EVENT_BATCH || event->end_ns <= from)
            continue;
        until = event->end_ns;
        while (s < r->spans.count && r->spans.items[s].hi <= from)
            s++;
        for (size_t i = s; i < r->spans.count && r->spans.items[i].lo < until; i++) {
            int64_t lo = r->spans.items[i].lo > from ? r->spans.items[i].lo : from;
            int64_t hi = r->spans.items[i].hi < until ? r->spans.items[i].hi : until;
            sum += hi > lo ? hi - lo : 0;
        }
    }
    return sum;
}

/* Over the link to the GPU at best; 0: it is not known. */
static double moved_ns(const struct platform *platform, double bytes)
{
    const struct uvm_platform *uvm = platform_section_get(platform, "uvm");
    const double by_driver = platform_has(platform, "uvm") ? bytes / uvm->h2d_bytes_per_s * 1e9 : INFINITY;
    const double copied =
        platform_has(platform, "pcie") ? link_copy_ns(platform_section_get(platform, "pcie"), bytes, 0) : by_driver;
    return isfinite(copied) ? fmin(copied, by_driver) : 0;
}

struct uvm_gain uvm_gain_of(const struct uvm_recording *r, const struct platform *platform)
{
    const uint64_t pages = r->evictions ? r->moved_pages : r->fault_pages + r->prefetch_pages;
    return (struct uvm_gain){.kernel_ns = r->spans.count ? r->kernel_ns : 0,
                             .served_ns = served_ns(r),
                             .moved_ns = platform ? moved_ns(platform, (double)(pages * UVM_PAGE_BYTES)) : 0,
                             .records = r->batches.record_count > 0,
                             .cut = r->cut || r->open_end};
}

double uvm_gain_most(const struct uvm_gain *g)
{
    const double least = fmax((double)(g->kernel_ns - g->served_ns), g->moved_ns);
    return !g->records || g->cut || least <= 0 ? INFINITY : fmax(1, (double)g->kernel_ns / least);
}

/* Rounded down: a ceiling is none that is printed higher. */
static const char *ceiling_text(double most, char *text, size_t size)
{
    const double scale = most < 10 ? 100 : most < 100 ? 10 : 1;
    (void)snprintf(text, size, most < WORTH ? "at most %.4gx, leave it" : "at most %.4gx",
                   floor(most * scale * (1 + 1e-12)) / scale);
    return text;
}

bool uvm_gain_limits(const struct uvm_gain *g)
{
    const double most = uvm_gain_most(g);
    return isfinite(most) && (g->moved_ns > 0 || most < WORTH);
}

const char *uvm_gain_say(const struct uvm_gain *g, char *text, size_t size)
{
    char all[48], part[48], moved[48], gain[48];
    *text = 0;
    if (!g->kernel_ns)
        return text;
    (void)units_human_ns((double)g->kernel_ns, all, sizeof all);
    (void)units_human_ns((double)g->served_ns, part, sizeof part);
    (void)units_human_ns(g->moved_ns, moved, sizeof moved);
    if (!g->records)
        (void)snprintf(text, size,
                       "the copies for faults cover %s of the kernels' %s; without fault records the whole of "
                       "fault service is not known, nor what unified memory may gain",
                       part, all);
    else if (g->cut)
        (void)snprintf(
            text, size,
            "fault service covers %s of the kernels' %s in what is recorded; what unified memory may gain is "
            "not known of a recording that is not whole",
            part, all);
    else
        (void)snprintf(text, size, "fault service covers %s of the kernels' %s%s%s: %s", part, all,
                       g->moved_ns > 0 ? "; moving the same bytes takes at least " : "", g->moved_ns > 0 ? moved : "",
                       uvm_gain_limits(g)
                           ? ceiling_text(uvm_gain_most(g), gain, sizeof gain)
                           : "how much of that can be gained is not known without the link (replay uvm --platform)");
    return text;
}
