#include "replay/uvm/uvm_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/uvm.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/units.h"
#include "trace/derived/attribution.h"
#include "trace/derived/limits.h"

/* --- owners --- */

static void owners_release(struct uvm_owners *p)
{
    for (int by = 0; by < OUTCOME_BYS; by++) {
        for (size_t i = 0; i < p->count[by]; i++)
            free(p->items[by][i].name);
        free(p->items[by]);
    }
    free(p->kernel);
    free(p->allocation);
    memset(p, 0, sizeof *p);
}

static int add(struct uvm_owners *p, enum outcome_by by, const char *name, struct err *err)
{
    if (mem_grow((void **)&p->items[by], &p->cap[by], p->count[by] + 1, sizeof *p->items[by], err))
        return -1;
    char *copy = mem_strdup(name, err);
    if (!copy)
        return -1;
    p->items[by][p->count[by]++] = (struct uvm_owner){.name = copy};
    return 0;
}

static int add_all(struct uvm_owners *p, enum outcome_by by, const struct attribution *owners, const char *none,
                   struct err *err)
{
    for (size_t i = 0; i < owners->count; i++)
        if (add(p, by, owners->items[i].name, err))
            return -1;
    return owners->count ? 0 : add(p, by, none, err);
}

static void add_moved(struct uvm_moved *to, const struct uvm_moved *what)
{
    to->fault_bytes += what->fault_bytes;
    to->prefetch_bytes += what->prefetch_bytes;
    to->user_bytes += what->user_bytes;
    to->back_bytes += what->back_bytes;
    to->evictions += what->evictions;
}

static int find_kernels(struct uvm_owners *p, const struct uvm_recording *r, struct store *store, struct err *err)
{
    struct attribution owners;
    if (attribution_init(&owners, store, ATTRIBUTION_KERNEL, r->kernel_ids, r->kernels, err))
        return -1;
    int rc = add_all(p, OUTCOME_BY_KERNEL, &owners, "(outside kernels)", err);
    for (size_t e = 0; rc == 0 && e < r->event_count; e++) {
        p->kernel[e] = owners.count ? attribution_find(&owners, r->events[e].start_ns) : 0;
        add_moved(&p->items[OUTCOME_BY_KERNEL][p->kernel[e]].moved, &r->events[e].moved);
    }
    for (size_t i = 0; rc == 0 && owners.count && i < owners.spans.count; i++)
        p->items[OUTCOME_BY_KERNEL][attribution_find(&owners, owners.spans.items[i].lo)].time_ns +=
            owners.spans.items[i].hi - owners.spans.items[i].lo;
    attribution_release(&owners);
    return rc;
}

/* Pieces that touch are one allocation. */
static int infer_allocations(struct uvm_owners *p, const struct uvm_recording *r, struct err *err)
{
    for (size_t i = 0; i < r->piece_count;) {
        size_t end = i + 1;
        while (end < r->piece_count && r->pieces[end].start == r->pieces[end - 1].end)
            end++;
        char size[32], name[96];
        uint64_t bytes = r->pieces[end - 1].end - r->pieces[i].start;
        (void)snprintf(name, sizeof name, "0x%llx, %s (inferred)", (unsigned long long)r->pieces[i].start,
                       units_human_bytes((double)bytes, size, sizeof size));
        if (add(p, OUTCOME_BY_ALLOCATION, name, err))
            return -1;
        for (; i < end; i++)
            p->allocation[i] = p->count[OUTCOME_BY_ALLOCATION] - 1;
    }
    return add(p, OUTCOME_BY_ALLOCATION, "(outside known allocations)", err);
}

static int name_allocations(struct uvm_owners *p, const struct uvm_recording *r, struct store *store, struct err *err)
{
    struct attribution owners;
    if (attribution_init(&owners, store, ATTRIBUTION_ALLOCATION, NULL, 0, err))
        return -1;
    int rc = add_all(p, OUTCOME_BY_ALLOCATION, &owners, "(outside known allocations)", err);
    for (size_t i = 0; rc == 0 && i < r->piece_count; i++)
        p->allocation[i] = owners.count ? attribution_find(&owners, (int64_t)r->pieces[i].start) : 0;
    attribution_release(&owners);
    return rc;
}

/* What the pages of a visit come to. */
static struct uvm_moved visit_moved(const struct uvm_recording *r, const struct uvm_event *event,
                                    const struct uvm_visit *visit)
{
    struct page_mask faulted, prefetched;
    uvm_visit_pages(r, visit, &faulted, &prefetched);
    uint64_t a = (uint64_t)page_mask_count(&faulted) * UVM_PAGE_BYTES;
    uint64_t b = (uint64_t)page_mask_count(&prefetched) * UVM_PAGE_BYTES;
    switch (event->kind) {
    case UVM_EVENT_BATCH:
        return (struct uvm_moved){.fault_bytes = a, .prefetch_bytes = b};
    case UVM_EVENT_USER_IN:
        return (struct uvm_moved){.user_bytes = a + b};
    case UVM_EVENT_BACK:
    case UVM_EVENT_EVICT:
        return (struct uvm_moved){.back_bytes = a + b};
    default:
        return (struct uvm_moved){0};
    }
}

/* By allocation; what lies in no piece is the last owner's. */
static void share_moves(struct uvm_owners *p, const struct uvm_recording *r)
{
    struct uvm_owner *owners = p->items[OUTCOME_BY_ALLOCATION];
    size_t n = p->count[OUTCOME_BY_ALLOCATION];
    struct uvm_moved total = {0}, shared = {0};
    for (size_t e = 0; e < r->event_count; e++) {
        const struct uvm_event *event = &r->events[e];
        add_moved(&total, &event->moved);
        for (size_t v = event->first; v < event->first + event->count; v++) {
            struct uvm_moved moved = visit_moved(r, event, &r->visits[v]);
            moved.evictions = v == event->first ? event->moved.evictions : 0;
            add_moved(&shared, &moved);
            add_moved(&owners[p->allocation[r->visits[v].piece]].moved, &moved);
        }
    }
    struct uvm_moved *rest = &owners[n - 1].moved;
    rest->fault_bytes += total.fault_bytes - shared.fault_bytes;
    rest->prefetch_bytes += total.prefetch_bytes - shared.prefetch_bytes;
    rest->user_bytes += total.user_bytes - shared.user_bytes;
    rest->back_bytes += total.back_bytes - shared.back_bytes;
    rest->evictions += total.evictions - shared.evictions;
}

/* Bytes of the allocations that were migrated from, as uvm_recording.structure_bytes adds them up; what is unseen. */
static void size_structures(struct uvm_owners *p, const struct uvm_recording *r)
{
    struct uvm_owner *owners = p->items[OUTCOME_BY_ALLOCATION];
    for (size_t i = 0; i < r->piece_count; i++) {
        struct uvm_owner *o = &owners[p->allocation[i]];
        o->unrecorded |= r->pieces[i].unrecorded;
        if (!r->pieces[i].migrated || o->structure_bytes)
            continue;
        if (!r->known_sizes)
            for (size_t k = 0; k < r->piece_count; k++)
                o->structure_bytes += p->allocation[k] == p->allocation[i] ? r->pieces[k].end - r->pieces[k].start : 0;
        for (size_t a = 0; r->known_sizes && a < r->allocation_count; a++)
            if (r->allocations[a].start <= r->pieces[i].start && r->pieces[i].start < r->allocations[a].end)
                o->structure_bytes = r->allocations[a].bytes;
    }
}

/* The recording is one of the store's. On failure nothing is to be released. */
static int owners_init(struct uvm_owners *p, const struct uvm_recording *r, struct store *store, struct err *err)
{
    memset(p, 0, sizeof *p);
    p->kernel = mem_zalloc(r->event_count, sizeof *p->kernel, err);
    p->allocation = mem_zalloc(r->piece_count, sizeof *p->allocation, err);
    int rc = p->kernel && p->allocation ? find_kernels(p, r, store, err) : -1;
    if (rc == 0)
        rc = r->known_sizes ? name_allocations(p, r, store, err) : infer_allocations(p, r, err);
    if (rc) {
        owners_release(p);
        return -1;
    }
    share_moves(p, r);
    size_structures(p, r);
    return 0;
}

/* --- the open loop --- */

/* Source: driver 545.23.06, uvm_perf_fault_batch_count. */
enum { BATCH_PAGES = 256 };

/* A piece while the run goes on. */
struct place {
    struct uvm_block block;      /* resident under the policy */
    struct page_mask recorded;   /* resident in the recording */
    struct page_mask prefetched; /* brought besides faults and not touched since */
    struct page_mask mapped;     /* data the CPU has mapped */
    bool used;                   /* by the GPU */
};

struct loop {
    const struct uvm_open_loop_run *run;
    struct uvm_open_loop *out;
    void *state;
    struct place *places;
    struct locality_windows windows;
    struct uvm_batch_block *served; /* of the open batch */
    size_t served_count, served_cap;
    uint64_t open_pages;
    double cpu_ns, copy_ns;           /* of the open batch: work so far, when the copy engine is done */
    double time_ns, wait_ns;          /* so far; until the next batch is fetched */
    struct uvm_tally nobody, *kernel; /* of the event in hand */
};

static struct uvm_tally *allocation(struct loop *l, uint32_t piece)
{
    const struct uvm_owners *o = l->run->owners;
    return o ? &l->run->tallies[OUTCOME_BY_ALLOCATION][o->allocation[piece]] : &l->nobody;
}

/* Add to the whole, to the kernel and to the allocation. */
static void tally(struct loop *l, uint32_t piece, const struct uvm_tally *what)
{
    struct uvm_tally *const to[] = {&l->out->all, l->kernel, allocation(l, piece)};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        to[i]->faults += what->faults;
        to[i]->services += what->services;
        to[i]->blocks += what->blocks;
        to[i]->h2d_bytes += what->h2d_bytes;
        to[i]->user_bytes += what->user_bytes;
        to[i]->prefetched_bytes += what->prefetched_bytes;
        to[i]->used_bytes += what->used_bytes;
        to[i]->back_bytes += what->back_bytes;
    }
}

static void open_batch(struct loop *l)
{
    l->served_count = 0;
    l->open_pages = 0;
    l->cpu_ns = l->run->platform->batch_before_ns;
    l->copy_ns = 0;
}

static int close_batch(struct loop *l, bool routine_end, struct err *err)
{
    const struct uvm_platform *p = l->run->platform;
    struct uvm_batch batch = {.blocks = l->served, .block_count = l->served_count, .routine_end = routine_end};
    l->out->all.batches++;
    l->kernel->batches++;
    int64_t before = (int64_t)l->time_ns;
    l->time_ns += l->wait_ns + fmax(l->cpu_ns, l->copy_ns) + p->batch_after_ns;
    l->kernel->time_ns += (int64_t)l->time_ns - before;
    l->wait_ns = routine_end ? p->interrupt_ns : p->poll_ns;
    if (locality_windows_add(&l->windows, "", &batch, err))
        return -1;
    if (l->run->policy->on_batch_end)
        l->run->policy->on_batch_end(l->state, &batch);
    open_batch(l);
    return 0;
}

/* The cost of one service, as models/uvm/uvm_platform.h has it. `data` are the moved pages that have to be copied. */
static void charge(struct loop *l, struct place *place, const struct page_mask *faulted, const struct page_mask *moved,
                   const struct page_mask *data)
{
    const struct uvm_platform *p = l->run->platform;
    struct page_mask unmap, rest;
    page_mask_and(&unmap, moved, &place->mapped);
    page_mask_andnot(&place->mapped, &place->mapped, moved);
    page_mask_andnot(&rest, data, faulted);
    unsigned faults = page_mask_count(faulted);
    l->cpu_ns += (place->used ? p->service_again_ns : p->service_ns + p->new_block_ns) +
                 faults * (p->raw_fault_ns + p->fault_page_ns) + page_mask_count(moved) * p->moved_page_ns +
                 page_mask_runs(moved) * p->moved_run_ns + page_mask_runs(&unmap) * p->unmap_run_ns +
                 page_mask_count(&unmap) * p->unmap_page_ns;
    double copy = page_mask_runs(data) * p->copy_run_ns +
                  page_mask_count(data) * (double)UVM_PAGE_BYTES / p->h2d_bytes_per_s * 1e9;
    if (l->run->traced) {
        page_mask_and(&unmap, data, faulted);
        copy += (page_mask_runs(&unmap) + page_mask_runs(&rest)) * p->trace_record_ns;
    }
    l->copy_ns = fmax(l->copy_ns, l->cpu_ns) + copy;
}

/* Serve `faulted` of one piece: `plan` moves with it. */
static int serve(struct loop *l, uint32_t piece, const struct page_mask *faulted, const struct page_mask *plan,
                 struct err *err)
{
    struct place *place = &l->places[piece];
    const struct page_mask *populated = &l->run->recording->pieces[piece].populated;
    struct page_mask moved, data, extra;
    page_mask_or(&moved, faulted, plan);
    page_mask_and(&data, &moved, populated);
    page_mask_andnot(&extra, &data, faulted);
    charge(l, place, faulted, &moved, &data);
    unsigned faults = page_mask_count(faulted);
    tally(l, piece,
          &(struct uvm_tally){.faults = faults,
                              .services = 1,
                              .blocks = !place->used,
                              .h2d_bytes = (uint64_t)page_mask_count(&data) * UVM_PAGE_BYTES,
                              .prefetched_bytes = (uint64_t)page_mask_count(&extra) * UVM_PAGE_BYTES});
    page_mask_or(&place->block.resident, &place->block.resident, &moved);
    page_mask_or(&place->prefetched, &place->prefetched, &extra);
    place->block.fault_pages += faults;
    place->used = true;
    if (MEM_ADD(l->served, l->served_count, l->served_cap, err,
                (struct uvm_batch_block){.number = piece, .faults = faults}))
        return -1;
    l->open_pages += faults;
    return 0;
}

/* Touch pages of a piece: what is not resident faults, in batches of at most 256 pages. */
static int touch(struct loop *l, uint32_t piece, const struct page_mask *touched, struct err *err)
{
    struct place *place = &l->places[piece];
    struct page_mask used, need, plan;
    page_mask_and(&used, touched, &place->prefetched);
    page_mask_andnot(&place->prefetched, &place->prefetched, &used);
    tally(l, piece, &(struct uvm_tally){.used_bytes = (uint64_t)page_mask_count(&used) * UVM_PAGE_BYTES});
    page_mask_andnot(&need, touched, &place->block.resident);
    while (page_mask_any(&need)) {
        struct page_mask faulted = need;
        unsigned room = BATCH_PAGES - (unsigned)l->open_pages;
        if (page_mask_count(&need) > room) {
            page_mask_zero(&faulted);
            for (unsigned page = page_mask_next(&need, 0); room; page = page_mask_next(&need, page + 1), room--)
                page_mask_set(&faulted, page);
        }
        if (uvm_policy_plan(l->run->policy, l->state, &place->block, &faulted, &plan, err) ||
            serve(l, piece, &faulted, &plan, err))
            return -1;
        if (l->open_pages == BATCH_PAGES && close_batch(l, false, err))
            return -1;
        page_mask_andnot(&need, &need, &place->block.resident);
    }
    return 0;
}

/* The recording's own service: ask the policy, compare, go on as recorded. */
static int follow(struct loop *l, uint32_t piece, const struct page_mask *faulted, const struct page_mask *prefetched,
                  struct err *err)
{
    struct place *place = &l->places[piece];
    struct page_mask plan, both;
    place->block.resident = place->recorded;
    page_mask_zero(&plan);
    if (page_mask_any(faulted) && uvm_policy_plan(l->run->policy, l->state, &place->block, faulted, &plan, err))
        return -1;
    page_mask_and(&plan, &plan, &l->run->recording->pieces[piece].populated);
    page_mask_and(&both, &plan, prefetched);
    l->out->services_exact += page_mask_equal(&plan, prefetched);
    l->out->planned_pages += page_mask_count(&plan);
    l->out->recorded_pages += page_mask_count(prefetched);
    l->out->common_pages += page_mask_count(&both);
    return serve(l, piece, faulted, &plan, err);
}

/* The recording's residency after a move, and how the policy's compares. */
static void compare(struct loop *l, uint32_t piece, const struct page_mask *pages, bool in)
{
    struct place *place = &l->places[piece];
    if (in)
        page_mask_or(&place->recorded, &place->recorded, pages);
    else
        page_mask_andnot(&place->recorded, &place->recorded, pages);
    if (l->run->hidden == UVM_HIDDEN_FORCED)
        place->block.resident = place->recorded;
    l->out->covers &= page_mask_contains(&place->block.resident, &place->recorded);
}

/* Touch the faulted pages of a batch, or those that came with them. */
static int touch_batch(struct loop *l, const struct uvm_event *event, bool hidden, struct err *err)
{
    const struct uvm_recording *r = l->run->recording;
    for (size_t v = event->first; v < event->first + event->count; v++) {
        struct page_mask faulted, prefetched;
        uvm_visit_pages(r, &r->visits[v], &faulted, &prefetched);
        if (touch(l, r->visits[v].piece, hidden ? &prefetched : &faulted, err))
            return -1;
    }
    return l->served_count ? close_batch(l, event->routine_end, err) : 0;
}

static int batch_event(struct loop *l, const struct uvm_event *event, struct err *err)
{
    const struct uvm_recording *r = l->run->recording;
    bool forced = l->run->hidden == UVM_HIDDEN_FORCED;
    if (!forced && touch_batch(l, event, false, err))
        return -1;
    if (l->run->hidden == UVM_HIDDEN_TOUCHED && touch_batch(l, event, true, err))
        return -1;
    for (size_t v = event->first; v < event->first + event->count; v++) {
        struct page_mask faulted, prefetched;
        uvm_visit_pages(r, &r->visits[v], &faulted, &prefetched);
        if (forced && follow(l, r->visits[v].piece, &faulted, &prefetched, err))
            return -1;
        page_mask_or(&faulted, &faulted, &prefetched);
        compare(l, r->visits[v].piece, &faulted, true);
    }
    return forced ? close_batch(l, event->routine_end, err) : 0;
}

static void move_event(struct loop *l, const struct uvm_event *event)
{
    const struct uvm_recording *r = l->run->recording;
    for (size_t v = event->first; v < event->first + event->count; v++) {
        struct place *place = &l->places[r->visits[v].piece];
        struct page_mask faulted, all;
        uvm_visit_pages(r, &r->visits[v], &faulted, &all);
        page_mask_or(&all, &faulted, &all);
        bool in = event->kind == UVM_EVENT_USER_IN;
        if (in) {
            struct page_mask come;
            page_mask_andnot(&come, &all, &place->block.resident);
            page_mask_or(&place->block.resident, &place->block.resident, &all);
            page_mask_andnot(&place->mapped, &place->mapped, &all);
            const uint64_t bytes = (uint64_t)page_mask_count(&come) * UVM_PAGE_BYTES;
            tally(l, r->visits[v].piece,
                  &(struct uvm_tally){.h2d_bytes = bytes, .user_bytes = bytes, .blocks = !place->used});
            place->used = true;
        } else {
            struct page_mask known, gone;
            page_mask_and(&gone, &all, &place->block.resident);
            page_mask_andnot(&known, &all, &place->recorded); /* came without a record, under any policy */
            page_mask_or(&known, &known, &gone);
            page_mask_andnot(&place->block.resident, &place->block.resident, &gone);
            page_mask_andnot(&place->prefetched, &place->prefetched, &gone);
            page_mask_or(&place->mapped, &place->mapped, &gone);
            tally(l, r->visits[v].piece,
                  &(struct uvm_tally){.back_bytes = (uint64_t)page_mask_count(&known) * UVM_PAGE_BYTES});
            place->block.fault_pages = 0;
        }
        compare(l, r->visits[v].piece, &all, in);
    }
}

static void write_findings(const struct loop *l, char *text, size_t size)
{
    char value[32];
    text[0] = 0;
    for (const struct param *row = l->run->policy->findings; row && row->name; row++)
        (void)mem_add_text(text, size, "%s%s=%s", *text ? " " : "", row->name,
                           param_format(row, l->state, value, sizeof value));
}

static int finish(struct loop *l, struct err *err)
{
    struct uvm_metrics metrics = {0};
    struct uvm_open_loop *out = l->out;
    if (locality_windows_close(&l->windows, &metrics, err))
        return -1;
    out->r = metrics.r;
    out->all.time_ns = (int64_t)l->time_ns;
    if (l->run->policy->granularity)
        out->granularity_bytes = l->run->policy->granularity(l->state);
    write_findings(l, out->findings, sizeof out->findings);
    return 0;
}

static int loop_init(struct loop *l, const struct uvm_open_loop_run *run, struct uvm_open_loop *out, struct err *err)
{
    const struct uvm_recording *r = run->recording;
    *l = (struct loop){.run = run, .out = out};
    l->kernel = &l->nobody;
    *out = (struct uvm_open_loop){.covers = true};
    l->state = mem_zalloc(1, run->policy->head.state_size, err);
    l->places = l->state ? mem_zalloc(r->piece_count, sizeof *l->places, err) : NULL;
    if (!l->places || locality_windows_init(&l->windows, err))
        return -1;
    if (run->policy->head.state_size && run->params)
        memcpy(l->state, run->params, run->policy->head.state_size);
    else
        param_defaults(run->policy->head.params, l->state);
    for (size_t p = 0; p < r->piece_count; p++) {
        l->places[p].block = r->pieces[p].shape;
        l->places[p].mapped = r->pieces[p].populated;
    }
    open_batch(l);
    return run->policy->init ? run->policy->init(l->state, err) : 0;
}

int uvm_open_loop_run(const struct uvm_open_loop_run *run, struct uvm_open_loop *result, struct err *err)
{
    const struct uvm_recording *r = run->recording;
    struct loop l;
    int rc = loop_init(&l, run, result, err);
    l.wait_ns = run->platform->interrupt_ns;
    for (size_t e = 0; rc == 0 && e < r->event_count; e++) {
        if (run->owners)
            l.kernel = &run->tallies[OUTCOME_BY_KERNEL][run->owners->kernel[e]];
        if (run->progress && run->progress->cancelled)
            rc = err_set(err, "cancelled after %zu of %zu events", e, r->event_count);
        else if (r->events[e].kind == UVM_EVENT_BATCH)
            rc = batch_event(&l, &r->events[e], err);
        else
            move_event(&l, &r->events[e]);
        progress_add(run->progress, 1);
    }
    if (rc == 0)
        rc = finish(&l, err);
    free(l.state);
    free(l.places);
    locality_windows_release(&l.windows);
    free(l.served);
    return rc;
}

/* --- one answer --- */

/* A recording that does not say its policy is a policy's own if at least this share of its services is decided as
 * recorded, no fewer than the stock prefetcher explains, and if at least this share of the prefetched pages agrees. The
 * rest are services that a loss cut off, or blocks whose edges are not known. */
#define OWN_SHARE 0.95

/* One run of the open loop, with its tallies by owner. */
struct looped {
    struct uvm_open_loop out;
    struct uvm_tally *tallies[OUTCOME_BYS];
};

/* One answer being made. */
struct answered {
    const struct uvm_answer_run *run;
    bool exact;
    struct looped own, other; /* forced along the recording; in recorded order, if not exact */
    bool as_recorded;         /* its time is, though the cost model has more */
    bool by_services;         /* its time is that of the services, and parts have none */
    bool touched;             /* the other loop takes pages that came without a fault for touched */
};

static void looped_release(struct looped *looped)
{
    for (int by = 0; by < OUTCOME_BYS; by++)
        free(looped->tallies[by]);
    *looped = (struct looped){0};
}

static int loop_once(const struct uvm_answer_run *run, enum uvm_hidden hidden, struct looped *looped, struct err *err)
{
    struct uvm_open_loop_run loop = run->loop;
    loop.hidden = hidden;
    loop.traced |= loop.recording->traced;
    for (int by = 0; loop.owners && by < OUTCOME_BYS; by++) {
        loop.tallies[by] = looped->tallies[by] = mem_zalloc(loop.owners->count[by], sizeof *looped->tallies[by], err);
        if (!looped->tallies[by])
            return -1;
    }
    return uvm_open_loop_run(&loop, &looped->out, err);
}

/* --- which answer --- */

/* Whether memory would be short, by the settings, for the VA blocks that were migrated. */
static bool short_of_memory(const struct uvm_answer_run *run, uint64_t blocks)
{
    if (run->gpu_memory_bytes)
        return (uint64_t)run->gpu_memory_bytes / UVM_BLOCK_BYTES < blocks;
    return run->oversubscription_pct > 100;
}

/* Without the eviction that is the driver's anyway. */
static size_t bare(const char *label)
{
    size_t n = strlen(label);
    return n > 4 && strcmp(label + n - 4, "+lru") == 0 ? n - 4 : n;
}

/* Whether the recording is a run of the policy, given what forcing it along gave. */
static int is_own(const struct answered *a, bool *yes, struct err *err)
{
    const struct uvm_answer_run *run = a->run;
    const struct uvm_recording *r = run->loop.recording;
    const struct uvm_open_loop *own = &a->own.out;
    *yes = false;
    if (r->policy[0] && run->label) {
        size_t n = bare(r->policy);
        *yes = n == bare(run->label) && strncmp(r->policy, run->label, n) == 0;
        return 0;
    }
    if (run->loop.policy->prefetch_batch || (r->evictions && run->evict && !run->evict->stock))
        return 0;
    *yes = own->all.services && (double)own->services_exact >= OWN_SHARE * (double)own->all.services &&
           (double)own->common_pages >= OWN_SHARE * (double)own->planned_pages &&
           (double)own->common_pages >= OWN_SHARE * (double)own->recorded_pages;
    if (!*yes || run->loop.policy->stock)
        return 0;
    struct uvm_open_loop_run stock = {.recording = r,
                                      .policy = uvm_policy_stock(),
                                      .platform = run->loop.platform,
                                      .hidden = UVM_HIDDEN_FORCED,
                                      .progress = run->loop.progress};
    struct uvm_open_loop tree;
    if (uvm_open_loop_run(&stock, &tree, err))
        return -1;
    *yes = own->services_exact >= tree.services_exact;
    return 0;
}

/* Why a policy gets no answer, or NULL. */
static const char *refusal(const struct answered *a)
{
    const struct uvm_answer_run *run = a->run;
    if (short_of_memory(run, a->own.out.all.blocks))
        return "with less memory than the recording's footprint pages are evicted and touched again, and the recording "
               "does not show touches of pages that were resident; use a workload or a trace of page touches";
    if (!a->exact && run->loop.recording->advised)
        return "advice, discards, access counters or thrashing decided where pages lie, and the recording does not "
               "show what the "
               "GPU reached without a fault";
    if (!a->exact && run->loop.recording->evictions)
        return "the recording evicted under another policy; with this one other blocks would leave, and the touches "
               "that bring them back are hidden";
    return NULL;
}

/* --- the numbers --- */

/* The time that was recorded: of the kernels, else from the first batch to the last. */
static double recorded_time(const struct uvm_recording *r)
{
    double first = INFINITY, last = -INFINITY;
    if (r->kernels)
        return (double)r->kernel_ns;
    for (size_t e = 0; e < r->event_count; e++)
        if (r->events[e].kind == UVM_EVENT_BATCH) {
            first = fmin(first, (double)r->events[e].start_ns);
            last = fmax(last, (double)r->events[e].end_ns);
        }
    return last - first;
}

/* One eviction of a block that the CPU had emptied leaves no record; two in a row may look like one, as do those of two
 * allocations in one VA block. */
static bool sure_evictions(const struct uvm_recording *r)
{
    return !r->evictions || (r->known_sizes && !r->back.count && !r->evictions_joined);
}

/* What belongs to an owner, or to the whole run (by: OUTCOME_BYS); `now` is what the policy made of it. */
static struct uvm_numbers owner_numbers(const struct answered *a, int by, const struct uvm_owner *owner,
                                        const struct uvm_tally *now, double time_ns)
{
    const struct uvm_recording *r = a->run->loop.recording;
    const struct uvm_moved *moved = &owner->moved;
    const bool exact = a->exact, seen = exact && !owner->unrecorded;
    const uint64_t came = moved->fault_bytes + moved->prefetch_bytes + moved->user_bytes;
    struct uvm_numbers n = {.faults = uvm_count(now->faults, seen),
                            .services = uvm_count(now->services, seen),
                            .h2d_bytes = uvm_count(exact ? came : now->h2d_bytes, exact),
                            .d2h_bytes = uvm_count(exact ? moved->back_bytes : now->back_bytes, exact),
                            .evictions = uvm_count(exact ? moved->evictions : 0, exact && sure_evictions(r)),
                            .prefetched_bytes = uvm_count(exact ? moved->prefetch_bytes : now->prefetched_bytes, seen)};
    if (by != OUTCOME_BY_ALLOCATION) {
        n.batches = uvm_count(now->batches, exact && r->batches.record_count);
        n.time_ns =
            uvm_value(time_ns, exact && r->kernels && r->gpu_faults_only && !(r->simulated && r->spans.count > 1));
    }
    if (by != OUTCOME_BY_KERNEL && owner->structure_bytes)
        n.structure_bytes =
            uvm_count(owner->structure_bytes, exact && (by == OUTCOME_BYS ? r->sizes_certain : r->all_recorded));
    return n;
}

/* Of the whole run alone: what the batches, the pages and the policy itself say. */
static void add_whole(const struct answered *a, const struct uvm_owner *whole, struct uvm_numbers *n)
{
    const struct uvm_recording *r = a->run->loop.recording;
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    if (whole->structure_bytes)
        n->touched_bytes = uvm_count(r->touched_pages * UVM_PAGE_BYTES,
                                     a->exact && !r->unrecorded && r->touched_pages == r->moved_pages);
    n->blocks_per_batch_median = uvm_value(loop->r.median, false);
    n->blocks_per_batch_p25 = uvm_value(loop->r.p25, false);
    n->blocks_per_batch_p75 = uvm_value(loop->r.p75, false);
    if (!a->exact)
        n->prefetched_used_bytes = uvm_count(loop->all.used_bytes, false);
    if (loop->granularity_bytes)
        n->granularity_final_bytes =
            uvm_count((uint64_t)loop->granularity_bytes, a->exact && !a->run->loop.policy->on_batch_end);
}

/* What copies for faults take at the link's rate. */
static double fault_copies_ns(const struct answered *a, const struct uvm_tally *now)
{
    return (double)(now->h2d_bytes - now->user_bytes) / a->run->loop.platform->h2d_bytes_per_s * 1e9;
}

/* Owners of which nothing is known to have moved are left out, kernels that the trace names are not. */
static int put_parts(const struct answered *a, struct outcome *o, struct err *err)
{
    static const struct uvm_tally nothing;
    static const struct uvm_moved still;
    const struct uvm_owners *owners = a->run->loop.owners;
    for (int by = 0; owners && by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < owners->count[by]; i++) {
            struct uvm_owner owner = owners->items[by][i];
            const struct uvm_tally *was = &a->own.tallies[by][i], *now = a->exact ? was : &a->other.tallies[by][i];
            if (owner.name[0] == '(' && !memcmp(was, &nothing, sizeof nothing) &&
                !memcmp(now, &nothing, sizeof nothing) && !memcmp(&owner.moved, &still, sizeof still))
                continue;
            struct outcome *part = outcome_add_part(o, (enum outcome_by)by, owner.name, err);
            if (!part)
                return -1;
            owner.unrecorded |= by == OUTCOME_BY_KERNEL && a->run->loop.recording->unrecorded;
            const double time_ns = (double)(owner.time_ns + (a->as_recorded ? 0 : now->time_ns - was->time_ns));
            const bool fits =
                a->exact || (!a->by_services && outcome_get(o, "time_ns")->known && time_ns >= fault_copies_ns(a, now));
            uvm_numbers_report(owner_numbers(a, by, &owner, now, fits ? time_ns : NAN), part);
        }
    return 0;
}

/* --- notes --- */

static void describe(const struct answered *a, struct outcome *o)
{
    const struct uvm_recording *r = a->run->loop.recording;
    const struct uvm_open_loop *loop = a->exact ? &a->own.out : &a->other.out;
    char text[64], whole[64];
    if (!r->kernels)
        outcome_note(o, "no kernel is recorded: time_ns is from the first fault batch to the end of the last");
    if (r->spans.count > 1)
        outcome_note(o, "time_ns is that of the kernels as recorded, without what lies between them");
    if (!r->known_sizes)
        outcome_note(o,
                     "the recording names no managed allocation: neighbouring VA blocks count as one allocation (%zu "
                     "edges were found inside a VA block), and memory that the GPU touched first is missing",
                     r->edges_cut);
    if (r->moved_pages * UVM_PAGE_BYTES < r->structure_bytes)
        outcome_note(o,
                     "the recording shows %s of %s going to the GPU: the rest was not touched, or its records are lost",
                     units_human_bytes((double)r->moved_pages * UVM_PAGE_BYTES, text, sizeof text),
                     units_human_bytes((double)r->structure_bytes, whole, sizeof whole));
    if (!r->known_data)
        outcome_note(o, "all pages are taken to hold data: no CPU fault before the first batch tells which do");
    if (loop->findings[0])
        outcome_note(o, "what the policy itself counts, in recorded order: %s", loop->findings);
}

static void say_exact(const struct answered *a, struct outcome *o)
{
    const struct uvm_open_loop *own = &a->own.out;
    outcome_note(o,
                 "exact: the policy decides %llu of %llu services as recorded (precision %.4f, recall %.4f); faults, "
                 "batches, services, bytes and time are the recording's",
                 (unsigned long long)own->services_exact, (unsigned long long)own->all.services,
                 own->planned_pages ? (double)own->common_pages / (double)own->planned_pages : 1.0,
                 own->recorded_pages ? (double)own->common_pages / (double)own->recorded_pages : 1.0);
    if (a->run->loop.recording->unrecorded)
        outcome_note(o, "marked ~: memory without data reaches the GPU without a record");
}

static void say_estimate(const struct answered *a, struct outcome *o)
{
    const struct uvm_recording *r = a->run->loop.recording;
    outcome_note(o,
                 "estimate: the recorded faults in their order under this policy; %llu pages came without a fault, and "
                 "are taken %s",
                 (unsigned long long)(r->moved_pages - r->touched_pages),
                 a->touched ? "to be touched as they come" : "not to be touched");
}

/* Whether it is the stock driver's policy, and nothing says that the recording is of another. */
static bool is_drivers(const struct answered *a)
{
    const char *label = a->run->label, *name = a->run->loop.policy->head.name;
    return a->run->loop.policy->stock && !a->run->loop.recording->simulated && label && bare(label) == strlen(name);
}

/* The recorded time and what the cost model adds; the driver's own policy takes no longer than the driver did. */
static double estimated_time(struct answered *a, struct outcome *o)
{
    const double recorded = recorded_time(a->run->loop.recording);
    const double time = recorded + (double)a->other.out.all.time_ns - (double)a->own.out.all.time_ns;
    char text[48];
    a->as_recorded = is_drivers(a) && time > recorded;
    if (!a->as_recorded)
        return round(time);
    outcome_note(o, "time_ns is as recorded under the driver's own policy; the cost model gives %s",
                 units_human_ns(time, text, sizeof text));
    return recorded;
}

/* The difference of two models is below what is proved: the kernels without fault service and the other policy's
 * services, one behind the other, stand for it. Below that there is no estimate, only the bound. */
static void keep_bounds(struct answered *a, struct outcome *o)
{
    const struct metric_value *time = outcome_get(o, "time_ns");
    const struct uvm_gain gain = uvm_gain_of(a->run->loop.recording, NULL);
    const double rest = gain.records && !gain.cut ? (double)(gain.kernel_ns - gain.served_ns) : 0,
                 copies = fault_copies_ns(a, &a->other.out.all), bound = fmax(copies, rest);
    char text[48];
    if (a->exact || !time->known || time->real >= bound)
        return;
    const double services = rest + (double)a->other.out.all.time_ns;
    a->by_services = services >= bound;
    if (a->by_services) {
        outcome_int(o, "time_ns", (int64_t)(services + 0.5));
        outcome_unbound(o, "time_ns");
        outcome_note(o, "time_ns is what the kernels take without fault service, %s, plus the cost model's services",
                     units_human_ns(rest, text, sizeof text));
        return;
    }
    outcome_at_least(o, "time_ns", bound);
    outcome_note(o, "time_ns has no estimate: the cost model gives less than the %s that %s take",
                 units_human_ns(bound, text, sizeof text),
                 copies > rest ? "the copies for faults alone" : "the kernels without fault service");
}

static int say(struct answered *a, struct outcome *o, struct err *err)
{
    const struct uvm_recording *r = a->run->loop.recording;
    struct uvm_tally now = a->exact ? a->own.out.all : a->other.out.all;
    const struct uvm_owner whole = {.moved = {.fault_bytes = r->fault_pages * UVM_PAGE_BYTES,
                                              .prefetch_bytes = r->prefetch_pages * UVM_PAGE_BYTES,
                                              .user_bytes = r->user_bytes,
                                              .back_bytes = r->back_bytes,
                                              .evictions = r->evictions},
                                    .structure_bytes = r->structure_bytes,
                                    .unrecorded = r->unrecorded};
    if (a->exact && r->batches.record_count)
        now.batches = r->batches.record_count;
    (a->exact ? say_exact : say_estimate)(a, o);
    struct uvm_numbers numbers =
        owner_numbers(a, OUTCOME_BYS, &whole, &now, a->exact ? recorded_time(r) : estimated_time(a, o));
    add_whole(a, &whole, &numbers);
    uvm_numbers_report(numbers, o);
    o->outside_bytes[0] = a->exact ? INFINITY : (double)now.user_bytes;
    o->outside_bytes[1] = INFINITY;
    keep_bounds(a, o);
    describe(a, o);
    return put_parts(a, o, err);
}

static int answer(struct answered *a, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    const struct uvm_answer_run *run = a->run;
    if (loop_once(run, UVM_HIDDEN_FORCED, &a->own, err) || is_own(a, &a->exact, err))
        return -1;
    const char *why = refusal(a);
    if (why) {
        outcome_note(o, "refused: %s", why);
        return 0;
    }
    *kind = a->exact ? UVM_EXACT : UVM_ESTIMATE;
    if (!a->exact && loop_once(run, UVM_HIDDEN_UNTOUCHED, &a->other, err))
        return -1;
    a->touched = !a->exact && !a->other.out.covers;
    if (a->touched) {
        looped_release(&a->other);
        if (loop_once(run, UVM_HIDDEN_TOUCHED, &a->other, err))
            return -1;
    }
    return say(a, o, err);
}

int uvm_answer_run(const struct uvm_answer_run *run, struct outcome *o, enum uvm_answer *kind, struct err *err)
{
    struct answered a = {.run = run};
    *kind = UVM_REFUSED;
    int rc = answer(&a, o, kind, err);
    looped_release(&a.own);
    looped_release(&a.other);
    return rc;
}

/* --- the job --- */

/* What is said of every run: the ceiling, and what makes numbers of estimates. */
static void say_all(const struct uvm_gain *gain, bool estimated, struct outcome *o)
{
    char share[256];
    if (*uvm_gain_say(gain, share, sizeof share))
        outcome_note(o, "%s", share);
    if (gain->kernel_ns && isfinite(uvm_gain_most(gain)))
        o->speedup_most = uvm_gain_most(gain);
    if (estimated)
        outcome_note(o, "%s", UVM_ANSWER_ESTIMATES);
}

static int run_policies(const struct replay_job *job, const struct uvm_recording *r, const struct uvm_owners *owners,
                        struct outcome *runs, struct err *err)
{
    const struct uvm_settings *set = job->settings;
    const struct uvm_platform own = uvm_platform_on_host(platform_section_get(job->platform, "uvm"));
    bool estimated = false;
    for (size_t i = 0; i < job->policy_count; i++) {
        char label[256];
        struct uvm_answer_run run = {.loop = {.recording = r,
                                              .policy = uvm_policy_of(job->policies[i].head),
                                              .params = job->policies[i].params,
                                              .platform = &own,
                                              .traced = set->traced != 0,
                                              .progress = job->progress,
                                              .owners = owners},
                                     .label = replay_policy_label(&job->policies[i], label, sizeof label),
                                     .evict = job->policies[i].second ? uvm_evict_of(job->policies[i].second) : NULL,
                                     .oversubscription_pct = set->managed.oversubscription_pct,
                                     .gpu_memory_bytes = set->managed.gpu_memory_bytes};
        enum uvm_answer answer;
        if (uvm_answer_run(&run, &runs[i], &answer, err))
            return -1;
        estimated |= answer == UVM_ESTIMATE;
    }
    const struct uvm_gain gain = uvm_gain_of(r, job->assumed ? NULL : job->platform);
    json_t *limits = json_array();
    int rc = limits_tell_chosen(job->inputs[0].store, job->inputs[0].spec, (struct recording){set->process, set->gpu},
                                limits_collect, &limits, err);
    for (size_t i = 0; i < job->policy_count; i++) {
        say_all(&gain, estimated, &runs[i]);
        outcome_note_all(&runs[i], limits);
    }
    json_decref(limits);
    return rc;
}

int uvm_answer_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct uvm_settings *set = job->settings;
    struct store *store = job->inputs[0].store;
    struct uvm_recording recording;
    struct uvm_owners owners = {0};
    if (uvm_recording_load(&recording, store, (struct recording){set->process, set->gpu}, err))
        return -1;
    int rc = recording.visit_count ? owners_init(&owners, &recording, store, err)
                                   : err_set(err, "%s holds no migration to the GPU", store_path(store));
    if (rc == 0)
        rc = run_policies(job, &recording, &owners, runs, err);
    owners_release(&owners);
    uvm_recording_release(&recording);
    return rc;
}
