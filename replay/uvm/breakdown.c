#include "replay/uvm/breakdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static struct uvm_part *add(struct breakdown *parts, enum outcome_by by, const char *name, struct err *err)
{
    struct uvm_part_list *list = &parts->by[by];
    if (mem_grow((void **)&list->items, &list->cap, list->count + 1, sizeof *list->items, err))
        return NULL;
    struct uvm_part *part = &list->items[list->count];
    *part = (struct uvm_part){.name = mem_strdup(name, err)};
    if (!part->name)
        return NULL;
    list->count++;
    return part;
}

struct uvm_part *breakdown_kernel(struct breakdown *parts, const char *name, struct err *err)
{
    struct uvm_part_list *list = &parts->by[OUTCOME_BY_KERNEL];
    if (parts->last < list->count && strcmp(list->items[parts->last].name, name) == 0)
        return &list->items[parts->last];
    for (parts->last = 0; parts->last < list->count; parts->last++)
        if (strcmp(list->items[parts->last].name, name) == 0)
            return &list->items[parts->last];
    return add(parts, OUTCOME_BY_KERNEL, name, err);
}

struct uvm_part *breakdown_allocation(struct breakdown *parts, const char *name, struct err *err)
{
    return add(parts, OUTCOME_BY_ALLOCATION, name, err);
}

void breakdown_release(struct breakdown *parts)
{
    for (int by = 0; by < OUTCOME_BYS; by++) {
        for (size_t i = 0; i < parts->by[by].count; i++)
            free(parts->by[by].items[i].name);
        free(parts->by[by].items);
    }
    *parts = (struct breakdown){0};
}

int breakdown_check(const struct breakdown *parts, const struct uvm_account *total, uint64_t batches, int64_t time_ns,
                    struct err *err)
{
    static const struct uvm_account nothing;
    struct uvm_account sum[OUTCOME_BYS] = {0};
    for (int by = 0; by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < parts->by[by].count; i++) {
            const struct uvm_part *part = &parts->by[by].items[i];
            uvm_account_add(&sum[by], &part->account, &nothing);
            batches -= part->batches;
            time_ns -= part->time_ns;
        }
    sum[OUTCOME_BY_KERNEL].prefetched_used = total->prefetched_used;
    for (int by = 0; by < OUTCOME_BYS; by++)
        if (memcmp(&sum[by], total, sizeof *total) != 0)
            return err_set(err, "check violated: what moved by %s does not add up to what moved",
                           outcome_by_name((enum outcome_by)by));
    if (batches || time_ns)
        return err_set(err, "check violated: the kernels' batches and times do not add up to the run's");
    return 0;
}

static void put_ratio(struct outcome *o, const char *name, uint64_t a, uint64_t b)
{
    outcome_real(o, name, b ? (double)a / (double)b : NAN);
}

static int report_one(const struct uvm_part *part, enum outcome_by by, struct outcome *run, struct err *err)
{
    const struct uvm_account *a = &part->account;
    struct outcome *o = outcome_add_part(run, by, part->name, err);
    if (!o)
        return -1;
    outcome_int(o, "faults", (int64_t)(a->faults + a->mapped));
    outcome_int(o, "services", (int64_t)a->services);
    outcome_int(o, "h2d_bytes", (int64_t)(a->h2d * UVM_PAGE_BYTES));
    outcome_int(o, "d2h_bytes", (int64_t)(a->d2h * UVM_PAGE_BYTES));
    outcome_int(o, "prefetched_bytes", (int64_t)(a->prefetched * UVM_PAGE_BYTES));
    outcome_int(o, "evictions", (int64_t)a->evictions);
    if (by == OUTCOME_BY_KERNEL) {
        outcome_int(o, "time_ns", part->time_ns);
        outcome_int(o, "batches", (int64_t)part->batches);
        return 0;
    }
    put_ratio(o, "prefetched_used_ratio", a->prefetched_used, a->prefetched);
    outcome_int(o, "structure_bytes", (int64_t)part->structure_bytes);
    outcome_int(o, "touched_bytes", (int64_t)(part->touched_pages * UVM_PAGE_BYTES));
    put_ratio(o, "read_amplification_ratio", a->h2d * UVM_PAGE_BYTES, part->structure_bytes);
    put_ratio(o, "overfetch_ratio", a->h2d, part->touched_pages);
    return 0;
}

int breakdown_report(const struct breakdown *parts, struct outcome *outcome, struct err *err)
{
    for (int by = 0; by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < parts->by[by].count; i++)
            if (report_one(&parts->by[by].items[i], (enum outcome_by)by, outcome, err))
                return -1;
    return 0;
}
