#include "replay/uvm/recording/uvm_extent.h"

#include <stdlib.h>

#include "models/uvm/prefetch/tree.h"
#include "trace/base/mem.h"

/* Visits in order of time, piece by piece. */
struct index {
    size_t *first; /* of each piece; one more at the end */
    struct entry {
        const struct uvm_visit *visit;
        bool batch, in; /* part of a fault batch; towards the GPU */
    } * entries;
};

static void index_release(struct index *index)
{
    free(index->first);
    free(index->entries);
}

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

static void reshape(struct uvm_piece *piece, uint64_t start, uint64_t end)
{
    piece->start = start;
    piece->end = end;
    uvm_block_init(&piece->shape, start, end);
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

static int by_time(const void *a, const void *b)
{
    const struct uvm_cpu_fault *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The CPU's first touches, before anything went to the GPU, each with what the prefetcher brought. */
static int fill_populated(struct uvm_recording *r, const struct index *index, struct err *err)
{
    struct uvm_block *cpu = mem_zalloc(r->piece_count, sizeof *cpu, err);
    if (!cpu)
        return -1;
    for (size_t p = 0; p < r->piece_count; p++) {
        struct page_mask touched;
        cpu[p] = r->pieces[p].shape;
        r->pieces[p].populated = moved_pages(r, index, p, &touched);
        r->pieces[p].migrated = page_mask_any(&r->pieces[p].populated);
        r->moved_pages += page_mask_count(&r->pieces[p].populated);
        r->touched_pages += page_mask_count(&touched);
    }
    int64_t begin = r->event_count ? r->events[0].start_ns : INT64_MAX;
    if (r->cpu_fault_count)
        qsort(r->cpu_faults, r->cpu_fault_count, sizeof *r->cpu_faults, by_time);
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
    for (size_t p = 0; p < r->piece_count; p++) {
        struct uvm_piece *piece = &r->pieces[p];
        piece->written = cpu[p].resident;
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
    if (r->known_sizes) {
        for (size_t a = 0, p = 0; a < r->allocation_count; a++) {
            bool migrated = false;
            while (p < r->piece_count && r->pieces[p].end <= r->allocations[a].start)
                p++;
            for (size_t k = p; k < r->piece_count && r->pieces[k].start < r->allocations[a].end; k++)
                migrated |= r->pieces[k].migrated;
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

int uvm_extent_infer(struct uvm_recording *r, struct err *err)
{
    struct index index;
    if (index_make(r, &index, err))
        return -1;
    if (!r->known_sizes)
        cut_edges(r, &index);
    int rc = fill_populated(r, &index, err);
    index_release(&index);
    if (rc == 0)
        sum_structures(r);
    return rc;
}
