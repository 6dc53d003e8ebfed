#include "replay/uvm/recording/uvm_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"

/* --- the evidence --- */

static void note_moves(struct uvm_known *known)
{
    const struct uvm_recording *r = known->recording;
    for (size_t e = 0; e < r->event_count; e++) {
        const struct uvm_event *event = &r->events[e];
        for (size_t v = event->first; v < event->first + event->count; v++) {
            struct uvm_evidence *piece = &known->pieces[r->visits[v].piece];
            struct page_mask faulted, besides;
            uvm_visit_pages(r, &r->visits[v], &faulted, &besides);
            if (event->kind == UVM_EVENT_BATCH)
                page_mask_or(&piece->touched, &piece->touched, &faulted);
            page_mask_or(&piece->maybe, &piece->maybe, &faulted);
            page_mask_or(&piece->maybe, &piece->maybe, &besides);
            if (event->kind == UVM_EVENT_BATCH || event->kind == UVM_EVENT_USER_IN) {
                page_mask_or(&piece->data, &piece->data, &faulted);
                page_mask_or(&piece->data, &piece->data, &besides);
            }
        }
    }
}

/* Whether the CPU takes pages back while the GPU is still at work, or the program moves them itself. */
static bool is_quiet(const struct uvm_recording *r)
{
    if (r->advised || r->user_bytes)
        return false;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind == UVM_EVENT_BATCH) {
            first = r->events[e].start_ns < first ? r->events[e].start_ns : first;
            last = r->events[e].end_ns > last ? r->events[e].end_ns : last;
        }
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind != UVM_EVENT_BATCH && r->events[e].kind != UVM_EVENT_USER_IN &&
            r->events[e].start_ns < last)
            return false;
    for (size_t i = 0; i < r->cpu_fault_count; i++)
        if (r->cpu_faults[i].time_ns > first && r->cpu_faults[i].time_ns < last)
            return false;
    return true;
}

int uvm_known_init(struct uvm_known *known, const struct uvm_recording *r, struct err *err)
{
    *known = (struct uvm_known){.recording = r,
                                .closed = r->known_sizes && r->known_data && !r->more_memory,
                                .quiet = is_quiet(r),
                                .pieces = mem_zalloc(r->piece_count, sizeof *known->pieces, err)};
    if (!known->pieces)
        return -1;
    note_moves(known);
    known->whole = known->whole_data = known->closed;
    for (size_t p = 0; p < r->piece_count; p++) {
        struct uvm_evidence *piece = &known->pieces[p];
        struct page_mask dark = {{0}};
        if (!known->quiet) /* what came back later had data by then, but not at first */
            page_mask_zero(&piece->data);
        if (known->closed) /* the CPU's faults tell which pages hold data: the others may come without a record */
            page_mask_or(&piece->data, &piece->data, &r->pieces[p].written);
        page_mask_set_region(&dark, r->pieces[p].shape.first, r->pieces[p].shape.end);
        piece->maybe_data = known->closed ? piece->data : dark;
        page_mask_andnot(&dark, &dark, &piece->data);
        page_mask_or(&piece->maybe, &piece->maybe, &dark);
        known->whole_data &= !page_mask_any(&dark);
        known->whole &= page_mask_equal(&piece->touched, &piece->maybe);
    }
    return 0;
}

void uvm_known_release(struct uvm_known *known)
{
    free(known->pieces);
    *known = (struct uvm_known){0};
}

/* --- regions --- */

/* What surely comes when `pages` of an empty piece are touched; of a regional policy all that does. */
static struct page_mask least_hull(const struct uvm_block *shape, const struct page_mask *pages,
                                   const struct uvm_policy *policy, const void *state)
{
    struct page_mask hull = {{0}};
    if (!page_mask_any(pages))
        return hull;
    if (policy->regional) {
        policy->plan(state, shape, pages, &hull);
        page_mask_or(&hull, &hull, pages);
        return hull;
    }
    unsigned size = policy->least ? (unsigned)(policy->least(state) / UVM_PAGE_BYTES) : 1;
    PAGE_MASK_EACH(page, pages)
    page_mask_set_region(&hull, page / size * size, page / size * size + size);
    if (shape->one_region && size > 1)
        page_mask_set_region(&hull, shape->first, shape->end);
    if (shape->first)
        page_mask_clear_region(&hull, 0, shape->first);
    if (shape->end < UVM_BLOCK_PAGES)
        page_mask_clear_region(&hull, shape->end, UVM_BLOCK_PAGES);
    return hull;
}

/* How many such regions hold a page. */
static unsigned regions(const struct uvm_block *shape, const struct page_mask *pages, const struct uvm_policy *policy,
                        const void *state)
{
    struct page_mask rest = *pages;
    unsigned n = 0;
    for (unsigned page = page_mask_next(&rest, 0); page < PAGE_MASK_PAGES; page = page_mask_next(&rest, page)) {
        struct page_mask one = {{0}};
        page_mask_set(&one, page);
        one = least_hull(shape, &one, policy, state);
        page_mask_andnot(&rest, &rest, &one);
        n++;
    }
    return n;
}

static unsigned common(const struct page_mask *a, const struct page_mask *b)
{
    struct page_mask both;
    page_mask_and(&both, a, b);
    return page_mask_count(&both);
}

static void grow(struct uvm_range *range, double lo, double hi)
{
    range->lo += lo;
    range->hi += hi;
}

/* All that can come when some of `pages` are touched. */
static struct page_mask most_hull(const struct uvm_block *shape, const struct page_mask *pages,
                                  const struct uvm_policy *policy, const void *state)
{
    struct page_mask hull = {{0}};
    if (policy->regional)
        return least_hull(shape, pages, policy, state);
    if (page_mask_any(pages))
        page_mask_set_region(&hull, shape->first, shape->end);
    return hull;
}

/* Whether nothing comes but what faulted. */
static bool brings_nothing(const struct uvm_policy *policy, const void *state)
{
    return policy->regional && policy->granularity && policy->granularity(state) == UVM_PAGE_BYTES;
}

/* The piece is an allocation's: its regions are known. */
static void add_whole(struct uvm_bounds *b, const struct uvm_known *known, size_t p, const struct uvm_policy *policy,
                      const void *state)
{
    const struct uvm_evidence *piece = &known->pieces[p];
    const struct uvm_block *shape = &known->recording->pieces[p].shape;
    struct page_mask lo = least_hull(shape, &piece->touched, policy, state),
                     hi = most_hull(shape, &piece->maybe, policy, state), sure;
    unsigned touched = page_mask_count(&piece->touched), maybe = page_mask_count(&piece->maybe);
    unsigned most = regions(shape, &piece->maybe, policy, state), once = policy->regional ? most : maybe > 0;
    page_mask_andnot(&sure, &lo, &piece->maybe);
    grow(&b->faults, policy->regional ? regions(shape, &piece->touched, policy, state) : touched > 0,
         known->quiet ? maybe : INFINITY);
    grow(&b->services, touched > 0, known->quiet ? most : INFINITY);
    grow(&b->touched, touched, maybe);
    grow(&b->prefetched, page_mask_count(&sure), known->quiet ? page_mask_count(&hi) - once : INFINITY);
    grow(&b->moved, common(&lo, &piece->data), known->quiet ? common(&hi, &piece->maybe_data) : INFINITY);
}

/* The piece is a VA block that was seen: whose parts are whose, and what else is in it, is not known. */
static void add_seen(struct uvm_bounds *b, const struct uvm_known *known, size_t p, const struct uvm_policy *policy,
                     const void *state)
{
    const struct uvm_evidence *piece = &known->pieces[p];
    unsigned touched = page_mask_count(&piece->touched), maybe = page_mask_count(&piece->maybe);
    bool nothing = brings_nothing(policy, state);
    double moved = nothing ? page_mask_count(&piece->data) : known->recording->known_data ? UVM_BLOCK_PAGES : INFINITY;
    grow(&b->faults, touched > 0, known->complete && known->quiet ? maybe : INFINITY);
    grow(&b->services, touched > 0, known->complete && known->quiet ? maybe : INFINITY);
    grow(&b->touched, touched, known->complete ? maybe : INFINITY);
    grow(&b->prefetched, 0, nothing ? 0 : INFINITY);
    grow(&b->moved, common(&piece->touched, &piece->data), known->quiet ? moved : INFINITY);
}

/* The policy brings pages of any block: no piece has to fault, and all of each may come, a service for each page. */
static void add_any(struct uvm_bounds *b, const struct uvm_known *known, size_t p)
{
    const struct uvm_evidence *piece = &known->pieces[p];
    const struct uvm_block *shape = &known->recording->pieces[p].shape;
    bool all = known->closed || known->complete, bounded = known->closed && known->quiet;
    double maybe = page_mask_count(&piece->maybe), pages = shape->end - shape->first;
    grow(&b->faults, 0, all && known->quiet ? maybe : INFINITY);
    grow(&b->services, 0, bounded ? pages : INFINITY);
    grow(&b->touched, page_mask_count(&piece->touched), all ? maybe : INFINITY);
    grow(&b->prefetched, 0, bounded ? pages : INFINITY);
    grow(&b->moved, common(&piece->touched, &piece->data), bounded ? page_mask_count(&piece->maybe_data) : INFINITY);
}

void uvm_bounds_add(struct uvm_bounds *b, const struct uvm_known *known, size_t p, const struct uvm_policy *policy,
                    const void *state)
{
    if (policy->ahead)
        add_any(b, known, p);
    else
        (known->closed ? add_whole : add_seen)(b, known, p, policy, state);
}

void uvm_bounds_add_unseen(struct uvm_bounds *b, const struct uvm_known *known, size_t p,
                           const struct uvm_policy *policy, const void *state)
{
    const struct uvm_evidence *piece = &known->pieces[p];
    const struct uvm_block *shape = &known->recording->pieces[p].shape;
    struct page_mask dark;
    page_mask_andnot(&dark, &piece->maybe, &piece->data);
    unsigned pages = page_mask_count(&dark), touched = page_mask_count(&piece->touched);
    bool all = known->closed || known->complete;
    unsigned most = known->closed ? regions(shape, &dark, policy, state) : pages;
    grow(&b->faults, 0, all ? pages : INFINITY);
    grow(&b->services, 0, all ? most : INFINITY);
    struct page_mask empty = {{0}}; /* what comes besides need not be touched */
    page_mask_set_region(&empty, shape->first, shape->end);
    page_mask_andnot(&empty, &empty, &piece->data);
    grow(&b->prefetched, 0, known->closed ? page_mask_count(&empty) : INFINITY);
    grow(&b->touched, touched, all ? page_mask_count(&piece->maybe) : INFINITY);
}

struct uvm_range uvm_bounds_batches(const struct uvm_bounds *whole, int64_t batch_faults)
{
    return (struct uvm_range){ceil(whole->faults.lo / (double)batch_faults), 2 * whole->services.hi + 1};
}
