#include "replay/verify/verify_block.h"

#include <string.h>

#include "models/uvm/block.h"
#include "models/uvm/uvm_policy.h"

/* How many events a CPU fault's migration may lie behind it: other threads fault meanwhile. */
enum { LOOK_AHEAD = 8 };

/* The stretch as it stands between two events. */
struct play {
    const struct verify_block *block;
    const struct verify_edges *edges;
    struct verify_counts *counts;
    struct page_mask gpu, cpu;                    /* where pages are, as far as the records say */
    struct page_mask silent;                      /* on the GPU by the rules, zeroed there without a record */
    struct page_mask before_gpu;                  /* was_cpu when the GPU first took a page */
    struct page_mask was_cpu;                     /* ever populated on the CPU */
    struct page_mask moves;                       /* moved to the GPU anywhere in the recording */
    struct page_mask waiting_read, waiting_write; /* CPU faults without a migration back so far */
    struct page_mask named;                       /* by a fault batch that is over, and not moved so far */
    int64_t named_ns;
    int64_t waiting_ns;
    bool cpu_known;   /* CPU faults of this stretch are recorded */
    bool gpu_began;   /* before_gpu is set */
    bool cpu_repeats; /* the CPU faulted on pages it held by the rules: it did not, so an edge lies between */
    bool held_back;
    bool duplicated;
};

/* --- the tree on one VA block of the stretch --- */

/* The VA block that holds `page`: [*first, *end). */
static void segment_of(const struct verify_edges *edges, unsigned page, unsigned *first, unsigned *end)
{
    *first = 0;
    *end = UVM_BLOCK_PAGES;
    for (unsigned i = 0; i < edges->count; i++) {
        if (edges->page[i] <= page)
            *first = edges->page[i];
        else if (edges->page[i] < *end)
            *end = edges->page[i];
    }
}

/* What the tree adds to `faulted`, all in one VA block, `resident` being on the destination. */
static void predict(const struct play *p, const struct page_mask *resident, const struct page_mask *faulted,
                    struct page_mask *plan)
{
    unsigned first, end, page = page_mask_next(faulted, 0);
    page_mask_zero(plan);
    if (page == PAGE_MASK_PAGES || p->block->threshold > 100)
        return;
    segment_of(p->edges, page, &first, &end);
    struct uvm_block b;
    uvm_block_init(&b, (uint64_t)first * UVM_PAGE_BYTES, (uint64_t)end * UVM_PAGE_BYTES);
    struct page_mask in = {0}, f;
    page_mask_set_region(&in, first, end);
    page_mask_and(&b.resident, resident, &in);
    page_mask_and(&f, faulted, &in);
    page_mask_down(&b.resident, &b.resident, b.offset);
    page_mask_down(&f, &f, b.offset);
    uvm_tree_plan(&b, &f, p->block->threshold, plan);
    page_mask_up(plan, plan, b.offset);
}

/* --- what contradicts the rules --- */

static void add_violation(struct play *p, enum verify_violation kind, uint64_t n, const struct verify_event *e,
                          unsigned page)
{
    bool moves = kind != VERIFY_MISMATCH && kind != VERIFY_MISMATCH_OPEN && kind != VERIFY_UNPOPULATED;
    if (n == 0 || (moves && p->duplicated))
        return;
    if (p->counts->violations[kind] == 0)
        p->counts->place[kind] =
            (struct verify_place){.time_ns = e->time_ns, .addr = e->block + (uint64_t)page * UVM_PAGE_BYTES};
    p->counts->violations[kind] += n;
}

static void add_violation_pages(struct play *p, enum verify_violation kind, const struct page_mask *pages,
                                const struct verify_event *e)
{
    add_violation(p, kind, page_mask_count(pages), e, page_mask_next(pages, 0));
}

/* --- events --- */

/* Faulted and prefetched pages of a service, clipped to the stretch. */
static void service_pages(const struct services *services, const struct verify_event *e, struct page_mask *faulted,
                          struct page_mask *prefetched)
{
    const struct service *s = &services->items[e->service];
    page_mask_zero(faulted);
    page_mask_zero(prefetched);
    for (uint32_t i = 0; i < s->records; i++) {
        const struct migration *m = &services->migrations[s->first + i];
        if (m->addr < e->block || m->addr - e->block >= UVM_BLOCK_BYTES)
            continue;
        uint64_t last = m->addr - e->block + m->bytes - 1;
        unsigned from = (unsigned)((m->addr - e->block) / UVM_PAGE_BYTES);
        unsigned to = last >= UVM_BLOCK_BYTES ? UVM_BLOCK_PAGES : (unsigned)(last / UVM_PAGE_BYTES) + 1;
        page_mask_set_region(m->cause == RECORD_CAUSE_FAULT ? faulted : prefetched, from, to);
    }
}

/* First touch on the CPU. */
static void populate(struct play *p, unsigned page)
{
    struct page_mask fault = {0}, plan;
    page_mask_set(&fault, page);
    predict(p, &p->cpu, &fault, &plan);
    page_mask_or(&plan, &plan, &fault);
    page_mask_andnot(&plan, &plan, &p->gpu);
    page_mask_andnot(&plan, &plan, &p->silent);
    page_mask_or(&p->cpu, &p->cpu, &plan);
    page_mask_or(&p->was_cpu, &p->was_cpu, &plan);
}

static void forget(struct play *p, unsigned first, unsigned end)
{
    struct page_mask *const masks[] = {&p->gpu, &p->silent, &p->cpu, &p->waiting_read, &p->waiting_write, &p->named};
    p->gpu_began = false;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        page_mask_clear_region(masks[i], first, end);
}

/* A CPU fault on a page of which nothing is known: where a record right behind it moves the page back, the page had
 * been populated on the GPU, without a record, and so had what moves with it. */
static void reveal(struct play *p, const struct verify_event *e)
{
    const struct verify_event *end = p->block->events + p->block->count;
    for (const struct verify_event *next = e + 1; next < end && next - e <= LOOK_AHEAD; next++) {
        struct page_mask faulted, moved;
        if (next->type == VERIFY_H2D || next->type == VERIFY_H2D_OTHER || next->type == VERIFY_ALLOC)
            return;
        if (next->type != VERIFY_D2H)
            continue;
        service_pages(p->block->d2h, next, &faulted, &moved);
        page_mask_or(&moved, &moved, &faulted);
        if (!page_mask_test(&moved, e->first))
            continue;
        page_mask_andnot(&moved, &moved, &p->cpu);
        page_mask_or(&p->gpu, &p->gpu, &moved);
        page_mask_andnot(&p->silent, &p->silent, &moved);
        return;
    }
}

static void cpu_fault(struct play *p, const struct verify_event *e)
{
    if (!page_mask_test(&p->gpu, e->first) && !page_mask_test(&p->cpu, e->first))
        reveal(p, e);
    bool write = e->type == VERIFY_CPU_WRITE;
    p->counts->cpu_faults++;
    if (page_mask_test(&p->gpu, e->first) && write && p->block->renewed) {
        unsigned first, end;
        segment_of(p->edges, e->first, &first, &end);
        forget(p, first, end);
    }
    if (page_mask_test(&p->gpu, e->first)) {
        page_mask_set(write ? &p->waiting_write : &p->waiting_read, e->first);
        p->waiting_ns = e->time_ns;
    } else if (!page_mask_test(&p->cpu, e->first)) {
        page_mask_clear(&p->silent, e->first);
        populate(p, e->first);
    } else {
        p->cpu_repeats = true;
    }
}

/* Faults still waiting on these pages will not be answered: the page went to the GPU again, or the recording ends. */
static void unanswered(struct play *p, const struct page_mask *pages, const struct verify_event *e)
{
    struct page_mask lost;
    page_mask_and(&lost, &p->waiting_read, pages);
    add_violation_pages(p, VERIFY_CPU_READ_LOST, &lost, e);
    page_mask_and(&lost, &p->waiting_write, pages);
    add_violation_pages(p, VERIFY_CPU_WRITE_LOST, &lost, e);
    page_mask_andnot(&p->waiting_read, &p->waiting_read, pages);
    page_mask_andnot(&p->waiting_write, &p->waiting_write, pages);
}

static void to_gpu(struct play *p, const struct page_mask *moved)
{
    page_mask_andnot(&p->named, &p->named, moved);
    page_mask_andnot(&p->silent, &p->silent, moved);
    page_mask_or(&p->gpu, &p->gpu, moved);
    page_mask_andnot(&p->cpu, &p->cpu, moved);
    page_mask_or(&p->was_cpu, &p->was_cpu, moved);
}

/* Compare one service's prefetch with the rule's. */
static void compare(struct play *p, const struct verify_event *e, const struct page_mask *faulted,
                    const struct page_mask *prefetched, const struct page_mask *plan)
{
    struct verify_counts *c = p->counts;
    struct page_mask both, surplus, missing, block = {0};
    page_mask_and(&both, plan, prefetched);
    page_mask_andnot(&surplus, plan, prefetched);
    page_mask_andnot(&missing, prefetched, plan);
    c->services++;
    c->predicted_pages += page_mask_count(plan);
    c->prefetched_pages += page_mask_count(prefetched);
    c->agreed_pages += page_mask_count(&both);
    bool exact = !page_mask_any(&surplus) && !page_mask_any(&missing);
    c->exact += exact;
    if (exact)
        return;
    unsigned first, end, page = page_mask_next(page_mask_any(faulted) ? faulted : prefetched, 0);
    segment_of(p->edges, page, &first, &end);
    page_mask_set_region(&block, first, end);
    /* A proof of loss only if nothing can have been populated on the GPU unseen, and no unknown edge explains it: pages
     * behind an edge are predicted and never move. */
    bool known = p->cpu_known && !p->cpu_repeats && !p->duplicated && page_mask_contains(&p->before_gpu, &block);
    bool behind_edge = !page_mask_any(&missing) && !page_mask_intersects(&surplus, &p->moves);
    enum verify_violation kind = known && !behind_edge ? VERIFY_MISMATCH : VERIFY_MISMATCH_OPEN;
    bool new = c->violations[kind] == 0;
    add_violation(p, kind, 1, e, page);
    if (new) {
        c->place[kind].surplus = page_mask_count(&surplus);
        c->place[kind].missing = page_mask_count(&missing);
    }
}

static void begin_gpu(struct play *p)
{
    if (!p->gpu_began)
        p->before_gpu = p->was_cpu;
    p->gpu_began = true;
}

static void h2d(struct play *p, const struct verify_event *e)
{
    struct page_mask faulted, prefetched, moved, twice, waiting, before, plan, unseen;
    service_pages(p->block->h2d, e, &faulted, &prefetched);
    begin_gpu(p);
    page_mask_or(&moved, &faulted, &prefetched);
    page_mask_or(&waiting, &p->waiting_read, &p->waiting_write);
    page_mask_and(&twice, &moved, &p->gpu);
    page_mask_andnot(&twice, &twice, &waiting);
    add_violation_pages(p, VERIFY_TWICE, &twice, e);
    unanswered(p, &moved, e);
    page_mask_or(&before, &p->gpu, &p->silent);
    page_mask_andnot(&before, &before, &moved);
    predict(p, &before, &faulted, &plan);
    if (p->cpu_known) {
        /* Pages the CPU never held are zeroed on the GPU without a record. */
        struct page_mask held;
        page_mask_or(&held, &p->was_cpu, &p->moves);
        page_mask_andnot(&unseen, &plan, &held);
        page_mask_and(&plan, &plan, &held);
        struct page_mask unpopulated;
        page_mask_andnot(&unpopulated, &moved, &p->was_cpu);
        add_violation_pages(p, VERIFY_UNPOPULATED, &unpopulated, e);
    } else {
        page_mask_zero(&unseen);
    }
    compare(p, e, &faulted, &prefetched, &plan);
    to_gpu(p, &moved);
    page_mask_andnot(&unseen, &unseen, &p->gpu);
    page_mask_or(&p->silent, &p->silent, &unseen);
}

static void d2h(struct play *p, const struct verify_event *e, const struct page_mask *moved)
{
    struct page_mask back, answered;
    page_mask_and(&back, moved, &p->cpu);
    page_mask_andnot(&back, &back, &p->gpu);
    page_mask_andnot(&back, &back, &p->silent);
    add_violation_pages(p, VERIFY_RETURNED, &back, e);
    page_mask_and(&answered, &p->waiting_write, moved);
    p->counts->cpu_writes_answered += page_mask_count(&answered);
    page_mask_andnot(&p->waiting_read, &p->waiting_read, moved);
    page_mask_andnot(&p->waiting_write, &p->waiting_write, moved);
    begin_gpu(p);
    page_mask_andnot(&p->gpu, &p->gpu, moved);
    page_mask_andnot(&p->silent, &p->silent, moved);
    page_mask_or(&p->cpu, &p->cpu, moved);
    page_mask_or(&p->was_cpu, &p->was_cpu, moved);
}

static void d2h_service(struct play *p, const struct verify_event *e)
{
    struct page_mask faulted, prefetched, moved, plan, expected, fresh, there;
    service_pages(p->block->d2h, e, &faulted, &prefetched);
    page_mask_or(&moved, &faulted, &prefetched);
    predict(p, &p->cpu, &faulted, &plan);
    page_mask_or(&there, &p->gpu, &p->silent);
    page_mask_and(&expected, &plan, &there);
    p->counts->d2h_services++;
    p->counts->d2h_exact += page_mask_equal(&expected, &prefetched);
    page_mask_andnot(&fresh, &plan, &there);
    d2h(p, e, &moved);
    page_mask_or(&p->cpu, &p->cpu, &fresh);
    page_mask_or(&p->was_cpu, &p->was_cpu, &fresh);
}

static void step(struct play *p, const struct verify_event *e)
{
    struct page_mask pages = {0};
    page_mask_set_region(&pages, e->first, e->first + e->pages);
    switch ((enum verify_event_type)e->type) {
    case VERIFY_ALLOC:
        forget(p, e->first, e->first + e->pages);
        break;
    case VERIFY_CPU_READ:
    case VERIFY_CPU_WRITE:
        cpu_fault(p, e);
        break;
    case VERIFY_H2D:
        h2d(p, e);
        break;
    case VERIFY_D2H:
        d2h_service(p, e);
        break;
    case VERIFY_H2D_OTHER:
        to_gpu(p, &pages);
        break;
    case VERIFY_D2H_OTHER:
        d2h(p, e, &pages);
        break;
    case VERIFY_FAULT_RECORD:
        /* The copies may begin after the driver is done with the batch. */
        if (page_mask_test(&p->cpu, e->first) && !p->held_back) {
            p->named_ns = page_mask_any(&p->named) ? p->named_ns : e->time_ns;
            page_mask_set(&p->named, e->first);
        }
        break;
    case VERIFY_SENT_GPU:
        page_mask_andnot(&pages, &pages, &p->gpu);
        page_mask_andnot(&pages, &pages, &p->cpu);
        page_mask_or(&p->silent, &p->silent, &pages);
        break;
    case VERIFY_SENT_CPU:
        page_mask_andnot(&pages, &pages, &p->gpu);
        page_mask_andnot(&pages, &pages, &p->silent);
        page_mask_or(&p->cpu, &p->cpu, &pages);
        page_mask_or(&p->was_cpu, &p->was_cpu, &pages);
        break;
    case VERIFY_HELD_BACK:
    case VERIFY_DUPLICATED:
        break;
    }
}

/* What the whole recording says of the stretch, before it is played. */
static void survey(struct play *p)
{
    for (size_t i = 0; i < p->block->count; i++) {
        const struct verify_event *e = &p->block->events[i];
        struct page_mask faulted, prefetched;
        if (e->type == VERIFY_CPU_READ || e->type == VERIFY_CPU_WRITE)
            p->cpu_known = true;
        if (e->type == VERIFY_HELD_BACK)
            p->held_back = true;
        if (e->type == VERIFY_DUPLICATED)
            p->duplicated = true;
        if (e->type == VERIFY_H2D_OTHER)
            page_mask_set_region(&p->moves, e->first, e->first + e->pages);
        if (e->type != VERIFY_H2D)
            continue;
        service_pages(p->block->h2d, e, &faulted, &prefetched);
        page_mask_or(&p->moves, &p->moves, &faulted);
        page_mask_or(&p->moves, &p->moves, &prefetched);
    }
}

void verify_block_play(const struct verify_block *block, const struct verify_edges *edges, struct verify_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    struct play p = {.block = block, .edges = edges, .counts = counts};
    survey(&p);
    for (size_t i = 0; i < block->count; i++)
        step(&p, &block->events[i]);
    if (block->count == 0)
        return;
    struct verify_event end = block->events[block->count - 1];
    end.time_ns = p.waiting_ns;
    struct page_mask all, unmoved;
    memset(&all, 0xFF, sizeof all);
    unanswered(&p, &all, &end);
    end.time_ns = p.named_ns;
    add_violation_pages(&p, VERIFY_NAMED, &p.named, &end);
    page_mask_andnot(&unmoved, &p.was_cpu, &p.moves);
    counts->cpu_pages = page_mask_count(&p.was_cpu);
    counts->moved_pages = page_mask_count(&p.moves);
    counts->unmoved_pages = page_mask_count(&unmoved);
}

void verify_counts_add(struct verify_counts *sum, const struct verify_counts *one)
{
    sum->services += one->services;
    sum->exact += one->exact;
    sum->predicted_pages += one->predicted_pages;
    sum->prefetched_pages += one->prefetched_pages;
    sum->agreed_pages += one->agreed_pages;
    sum->d2h_services += one->d2h_services;
    sum->d2h_exact += one->d2h_exact;
    sum->cpu_faults += one->cpu_faults;
    sum->cpu_writes_answered += one->cpu_writes_answered;
    sum->cpu_pages += one->cpu_pages;
    sum->moved_pages += one->moved_pages;
    sum->unmoved_pages += one->unmoved_pages;
    for (int k = 0; k < VERIFY_VIOLATIONS; k++) {
        if (one->violations[k] > 0 && (sum->violations[k] == 0 || one->place[k].time_ns < sum->place[k].time_ns))
            sum->place[k] = one->place[k];
        sum->violations[k] += one->violations[k];
    }
}

/* --- allocation edges that a recording does not name, from what they do to the prefetcher --- */

enum { CANDIDATES = 64, EVENTS = 4096 };

struct candidates {
    uint16_t page[CANDIDATES];
    unsigned count;
};

void verify_edge_add(uint16_t *pages, unsigned *count, unsigned most, uint64_t page)
{
    unsigned at = 0;
    while (at < *count && pages[at] < page)
        at++;
    if (page == 0 || page >= UVM_BLOCK_PAGES || *count == most || (at < *count && pages[at] == page))
        return;
    memmove(&pages[at + 1], &pages[at], (*count - at) * sizeof *pages);
    pages[at] = (uint16_t)page;
    ++*count;
}

static void propose(struct candidates *c, uint64_t page)
{
    verify_edge_add(c->page, &c->count, CANDIDATES, page);
}

/* An edge shows where a service begins or stops, and where the CPU first touches an array. */
static void collect(const struct verify_block *block, struct candidates *c)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct verify_event *e = &block->events[i];
        if (e->type != VERIFY_H2D)
            continue;
        const struct service *s = &block->h2d->items[e->service];
        const struct migration *from = &block->h2d->migrations[s->first], *to = from + s->records - 1;
        if (from->addr < e->block || to->addr < e->block)
            continue;
        propose(c, (from->addr - e->block) / UVM_PAGE_BYTES);
        propose(c, (to->addr + to->bytes - e->block + UVM_PAGE_BYTES - 1) / UVM_PAGE_BYTES);
    }
    for (size_t i = 0; i < block->count && block->events[i].type != VERIFY_H2D; i++)
        if (block->events[i].type == VERIFY_CPU_READ || block->events[i].type == VERIFY_CPU_WRITE)
            propose(c, block->events[i].first);
}

/* Programs write arrays from the start: an array whose first CPU fault lies elsewhere does not begin at this edge. */
static bool begins_at_edges(const struct verify_block *block, const struct verify_edges *edges)
{
    for (unsigned k = 0; k < edges->count; k++) {
        unsigned first = edges->page[k], end = k + 1 < edges->count ? edges->page[k + 1] : UVM_BLOCK_PAGES;
        for (size_t i = 0; i < block->count; i++) {
            const struct verify_event *e = &block->events[i];
            if ((e->type != VERIFY_CPU_READ && e->type != VERIFY_CPU_WRITE) || e->first < first || e->first >= end)
                continue;
            if (e->first != first)
                return false;
            break;
        }
    }
    return true;
}

/* No service lies across an edge. */
static bool cuts_no_service(const struct verify_block *block, const struct verify_edges *edges)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct verify_event *e = &block->events[i];
        if (e->type != VERIFY_H2D && e->type != VERIFY_D2H)
            continue;
        const struct services *services = e->type == VERIFY_H2D ? block->h2d : block->d2h;
        const struct service *s = &services->items[e->service];
        const struct migration *from = &services->migrations[s->first], *to = from + s->records - 1;
        for (unsigned k = 0; k < edges->count; k++) {
            uint64_t edge = e->block + (uint64_t)edges->page[k] * UVM_PAGE_BYTES;
            if (from->addr < edge && to->addr + to->bytes > edge)
                return false;
        }
    }
    return true;
}

/* Whether nothing contradicts the rules. */
static bool clean(const struct verify_counts *counts)
{
    for (int k = 0; k < VERIFY_VIOLATIONS; k++)
        if (counts->violations[k] > 0 && k != VERIFY_UNPOPULATED)
            return false;
    return counts->exact == counts->services;
}

/* With an edge the CPU's own faults must still populate all that moves: page 256, say, is a natural place of one. */
static bool explains(const struct verify_block *block, const struct verify_edges *edges,
                     const struct verify_counts *without, struct verify_counts *with, long *budget)
{
    if (*budget <= 0 || !cuts_no_service(block, edges) || !begins_at_edges(block, edges))
        return false;
    --*budget;
    verify_block_play(block, edges, with);
    return clean(with) && with->violations[VERIFY_UNPOPULATED] <= without->violations[VERIFY_UNPOPULATED];
}

bool verify_block_infer(const struct verify_block *block, struct verify_edges *edges, struct verify_counts *counts,
                        long *budget)
{
    struct candidates c = {.count = 0};
    struct verify_counts with;
    /* Pages that a fault batch names are too little to go by: a lost service looks the same. */
    if (block->count > EVENTS || (counts->exact == counts->services && counts->violations[VERIFY_RETURNED] == 0))
        return false;
    collect(block, &c);
    /* One edge: the end or the start of an allocation. Two: one ends, another begins behind a gap. */
    for (unsigned a = c.count; a-- > 0;) {
        struct verify_edges one = {{c.page[a]}, 1};
        if (explains(block, &one, counts, &with, budget)) {
            *edges = one;
            *counts = with;
            return true;
        }
    }
    for (unsigned a = 0; a < c.count; a++)
        for (unsigned b = a + 1; b < c.count; b++) {
            struct verify_edges two = {{c.page[a], c.page[b]}, 2};
            if (explains(block, &two, counts, &with, budget)) {
                *edges = two;
                *counts = with;
                return true;
            }
        }
    return false;
}
