#include "replay/uvm/uvm_owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/uvm/attribution.h"

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
