#include "replay/uvm/uvm_open_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/uvm/locality_windows.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/units.h"
#include "trace/derived/attribution.h"

/* --- owners --- */

void uvm_owners_release(struct uvm_owners *p)
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

/* --- kernels --- */

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

/* --- allocations --- */

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
        o->unseen |= r->pieces[i].unseen;
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

int uvm_owners_init(struct uvm_owners *p, const struct uvm_recording *r, struct store *store, struct err *err)
{
    memset(p, 0, sizeof *p);
    p->kernel = mem_zalloc(r->event_count, sizeof *p->kernel, err);
    p->allocation = mem_zalloc(r->piece_count, sizeof *p->allocation, err);
    int rc = p->kernel && p->allocation ? find_kernels(p, r, store, err) : -1;
    if (rc == 0)
        rc = r->known_sizes ? name_allocations(p, r, store, err) : infer_allocations(p, r, err);
    if (rc) {
        uvm_owners_release(p);
        return -1;
    }
    share_moves(p, r);
    size_structures(p, r);
    return 0;
}

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

/* Of a piece. */
static struct uvm_tally *allocation(struct loop *l, uint32_t piece)
{
    const struct uvm_owners *o = l->run->owners;
    return o ? &l->run->tallies[OUTCOME_BY_ALLOCATION][o->allocation[piece]] : &l->nobody;
}

static void begin_event(struct loop *l, size_t event)
{
    const struct uvm_owners *o = l->run->owners;
    l->kernel = o ? &l->run->tallies[OUTCOME_BY_KERNEL][o->kernel[event]] : &l->nobody;
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
    if (l->run->policy->learn)
        l->run->policy->learn(l->state, &batch);
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
    l->cpu_ns += p->service_ns + (place->used ? 0 : p->new_block_ns) + faults * (p->raw_fault_ns + p->fault_page_ns) +
                 page_mask_count(moved) * p->moved_page_ns + page_mask_runs(moved) * p->moved_run_ns +
                 page_mask_runs(&unmap) * p->unmap_run_ns + page_mask_count(&unmap) * p->unmap_page_ns;
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
    if (mem_grow((void **)&l->served, &l->served_cap, l->served_count + 1, sizeof *l->served, err))
        return -1;
    l->served[l->served_count++] = (struct uvm_batch_block){.number = piece, .faults = faults};
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
            tally(l, r->visits[v].piece,
                  &(struct uvm_tally){.h2d_bytes = (uint64_t)page_mask_count(&come) * UVM_PAGE_BYTES,
                                      .blocks = !place->used});
            place->used = true;
        } else {
            struct page_mask known, gone;
            page_mask_and(&gone, &all, &place->block.resident);
            page_mask_and(
                &known, event->kind == UVM_EVENT_BACK && l->run->hidden != UVM_HIDDEN_FORCED ? &faulted : &all, &gone);
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
    size_t used = 0;
    text[0] = 0;
    for (const struct param *row = l->run->policy->findings; row && row->name && used < size; row++) {
        char value[32];
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", row->name,
                                 param_format(row, l->state, value, sizeof value));
    }
}

static int finish(struct loop *l, struct err *err)
{
    struct uvm_metrics metrics = {0};
    struct uvm_open_loop *out = l->out;
    if (locality_windows_close(&l->windows, &metrics, err))
        return -1;
    out->r_p25 = metrics.r.p25;
    out->r_median = metrics.r.median;
    out->r_p75 = metrics.r.p75;
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
        begin_event(&l, e);
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
