#include "replay/uvm/uvm_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/quantile.h"
#include "trace/base/sorted.h"

struct uvm_part *breakdown_add(struct breakdown *parts, enum outcome_by by, const char *name, struct err *err)
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
    return breakdown_add(parts, OUTCOME_BY_KERNEL, name, err);
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
            return err_set(err, "check violated: what moved by %s does not add up to what moved", outcome_by_names[by]);
    if (batches || time_ns)
        return err_set(err, "check violated: the kernels' batches and times do not add up to the run's");
    return 0;
}

/* --- the metrics --- */

static const struct uvm_value unknown;

/* What either of the two leaves unknown is unknown, what either estimates is an estimate. */
static struct uvm_value ratio(struct uvm_value over, struct uvm_value under)
{
    return over.known && under.known ? uvm_value(over.value / under.value, !over.estimate && !under.estimate) : unknown;
}

/* The metrics; a count, which runs sum up, is the number of its name. The speed-up waits for the baseline's time. */
#define ROWS(COUNT, ROW)                                                                                               \
    COUNT(time_ns, "from the first launch to the end of the last, phases of the CPU left out")                         \
    ROW(speedup_ratio, REAL, GEOMEAN, "time of the baseline / time", unknown)                                          \
    COUNT(faults, "pages serviced as faulted; a page counts again when it faults again")                               \
    COUNT(batches, "fault batches")                                                                                    \
    COUNT(fault_handler_runs, "runs of the fault-handling routine, of 20 batches at most")                             \
    COUNT(services, "VA blocks serviced, summed over batches")                                                         \
    COUNT(h2d_bytes, "bytes copied from the host to the GPU")                                                          \
    COUNT(d2h_bytes, "bytes copied from the GPU to the host")                                                          \
    COUNT(prefetched_bytes, "bytes made resident besides the faulted pages")                                           \
    ROW(prefetched_used_ratio, REAL, MEAN, "prefetched pages touched before they left / prefetched pages",             \
        ratio(n.prefetched_used_bytes, n.prefetched_bytes))                                                            \
    COUNT(evictions, "VA blocks evicted; with capacity=piece also parts of them")                                      \
    COUNT(structure_bytes, "bytes of the allocations touched")                                                         \
    COUNT(touched_bytes, "4 KiB x distinct pages touched")                                                             \
    ROW(read_amplification_ratio, REAL, MEAN, "h2d_bytes / structure_bytes", ratio(n.h2d_bytes, n.structure_bytes))    \
    ROW(overfetch_ratio, REAL, MEAN, "h2d_bytes / touched_bytes", ratio(n.h2d_bytes, n.touched_bytes))                 \
    ROW(blocks_per_batch_median, REAL, MEAN, "median over windows of 20 batches of distinct VA blocks / batches",      \
        n.blocks_per_batch_median)                                                                                     \
    ROW(blocks_per_batch_p25, REAL, MEAN, "first quartile of the same", n.blocks_per_batch_p25)                        \
    ROW(blocks_per_batch_p75, REAL, MEAN, "third quartile of the same", n.blocks_per_batch_p75)                        \
    ROW(granularity_final_bytes, INT, MEAN, "granularity of the policy at the end", n.granularity_final_bytes)         \
    COUNT(migration_records, "migration records that CUPTI would give: contiguous pages of one service and one cause") \
    COUNT(evicted_bytes, "of d2h_bytes, copied back by evictions")                                                     \
    COUNT(refetched_bytes, "of evicted_bytes, of pages that came again within 20 batches")                             \
    ROW(evicted_unused_ratio, REAL, MEAN, "of the pages that evictions sent away, those prefetched and never touched", \
        n.evicted_unused_ratio)                                                                                        \
    COUNT(remote_bytes, "payload of the GPU's accesses to pages that lie with the CPU")                                \
    COUNT(counter_notifications, "notifications of access counters")                                                   \
    COUNT(throttles, "faults on thrashing pages put off, once for each page and period")                               \
    COUNT(pinned_pages, "thrashing pages pinned to a processor")                                                       \
    COUNT(mapped_faults, "of faults, those that mapped a page or made it writable, and moved none")

#define DEFINE_COUNT(name, help) {#name, METRIC_INT, METRIC_SUM, help},

const struct metric uvm_metric_table[] = {ROWS(DEFINE_COUNT, METRIC_ROW){0}};

static void put(struct outcome *o, const char *name, struct uvm_value v)
{
    if (v.known)
        outcome_set(o, name, v.value);
    if (v.known && v.estimate)
        outcome_unbound(o, name);
}

void uvm_numbers_report(struct uvm_numbers n, struct outcome *o)
{
#define PUT_COUNT(name, help)                   put(o, #name, n.name);
#define PUT(name, type, aggregate, help, value) put(o, #name, value);
    ROWS(PUT_COUNT, PUT)
}

/* --- a simulated run --- */

static struct uvm_value sure(uint64_t count)
{
    return uvm_count(count, true);
}

/* Its counts are of the metrics' names. */
static struct uvm_numbers whole_numbers(const struct uvm_metrics *m)
{
    const int64_t granularity = m->granularity_final_bytes;
    struct uvm_numbers n = {.prefetched_used_bytes = sure(m->prefetched_used_bytes),
                            .blocks_per_batch_median = uvm_value(m->r.median, true),
                            .blocks_per_batch_p25 = uvm_value(m->r.p25, true),
                            .blocks_per_batch_p75 = uvm_value(m->r.p75, true),
                            .evicted_unused_ratio = uvm_value(m->evicted_unused_ratio, true),
                            .granularity_final_bytes = granularity ? sure(granularity) : unknown};
#define COPY(name, help) n.name = sure(m->name);
#define LEAVE(name, type, aggregate, help, value)
    ROWS(COPY, LEAVE)
    return n;
}

static void note_whole(const struct uvm_metrics *m, struct outcome *o)
{
    if (m->dropped_requests)
        outcome_note(o,
                     "%llu of the pages asked for in advance were beyond the first %d of a batch: they were left out",
                     (unsigned long long)m->dropped_requests, UVM_PREFETCH_REQUESTS_MAX);
    for (size_t k = 0; m->kernel_count > 1 && k < m->kernel_count; k++)
        if (m->kernels[k].windows)
            outcome_note(o,
                         "VA blocks per batch (R) of kernel %s: median %.2f, quartiles %.2f and %.2f, over %llu "
                         "windows of 20 batches",
                         m->kernels[k].kernel, m->kernels[k].r.median, m->kernels[k].r.p25, m->kernels[k].r.p75,
                         (unsigned long long)m->kernels[k].windows);
}

static struct uvm_numbers part_numbers(const struct uvm_part *part, enum outcome_by by)
{
    const struct uvm_account *a = &part->account;
    struct uvm_numbers n = {.faults = sure(a->faults + a->mapped),
                            .services = sure(a->services),
                            .h2d_bytes = sure(a->h2d * UVM_PAGE_BYTES),
                            .d2h_bytes = sure(a->d2h * UVM_PAGE_BYTES),
                            .prefetched_bytes = sure(a->prefetched * UVM_PAGE_BYTES),
                            .evictions = sure(a->evictions)};
    if (by == OUTCOME_BY_KERNEL) {
        n.time_ns = sure(part->time_ns);
        n.batches = sure(part->batches);
    } else {
        n.prefetched_used_bytes = sure(a->prefetched_used * UVM_PAGE_BYTES);
        n.structure_bytes = sure(part->structure_bytes);
        n.touched_bytes = sure(part->touched_pages * UVM_PAGE_BYTES);
    }
    return n;
}

int uvm_metrics_report(const struct uvm_metrics *metrics, const struct breakdown *parts, struct outcome *outcome,
                       struct err *err)
{
    uvm_numbers_report(whole_numbers(metrics), outcome);
    outcome->outside_bytes[1] = (double)(metrics->d2h_bytes - metrics->evicted_bytes); /* in phases of the CPU */
    note_whole(metrics, outcome);
    for (int by = 0; by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < parts->by[by].count; i++) {
            const struct uvm_part *part = &parts->by[by].items[i];
            struct outcome *o = outcome_add_part(outcome, (enum outcome_by)by, part->name, err);
            if (!o)
                return -1;
            uvm_numbers_report(part_numbers(part, (enum outcome_by)by), o);
        }
    return 0;
}

/* --- locality windows --- */

int locality_windows_init(struct locality_windows *w, struct err *err)
{
    memset(w, 0, sizeof *w);
    w->current = UVM_KERNELS;
    w->all = mem_zalloc(1, sizeof *w->all, err);
    w->one = mem_zalloc(1, sizeof *w->one, err);
    return w->all && w->one ? 0 : -1;
}

void locality_windows_release(struct locality_windows *w)
{
    free(w->all);
    free(w->one);
    free(w->values.values);
    for (size_t k = 0; k < UVM_KERNELS; k++)
        free(w->by_kernel[k].values);
    memset(w, 0, sizeof *w);
}

/* End a window: its R goes to `to` (NULL: nowhere), if it is whole or `to` has none yet. */
static int end_window(struct uvm_locality *w, struct uvm_window_values *to, struct err *err)
{
    bool keep = to && w->batches && (w->batches == UVM_WINDOW_BATCHES || to->count == 0);
    if (keep && MEM_ADD(to->values, to->count, to->cap, err, uvm_locality_r(w)))
        return -1;
    uvm_locality_next(w);
    return 0;
}

static int add_batch(struct uvm_locality *w, const struct uvm_batch *batch, struct uvm_window_values *to,
                     struct err *err)
{
    uvm_locality_add(w, batch);
    return w->batches == UVM_WINDOW_BATCHES ? end_window(w, to, err) : 0;
}

static struct uvm_window_values *kernel_values(struct locality_windows *w)
{
    return w->current < UVM_KERNELS ? &w->by_kernel[w->current] : NULL;
}

int locality_windows_add(struct locality_windows *w, const char *kernel, const struct uvm_batch *batch, struct err *err)
{
    if (w->current >= UVM_KERNELS || w->kernels[w->current] != kernel) {
        size_t k = 0;
        while (k < w->kernel_count && strcmp(w->kernels[k], kernel) != 0)
            k++;
        if (k != w->current && end_window(w->one, kernel_values(w), err))
            return -1;
        if (k == w->kernel_count && k < UVM_KERNELS)
            w->kernels[w->kernel_count++] = kernel;
        w->current = k;
    }
    return add_batch(w->all, batch, &w->values, err) || add_batch(w->one, batch, kernel_values(w), err) ? -1 : 0;
}

struct uvm_quartiles locality_windows_quartiles(double *values, size_t n)
{
    if (n == 0)
        return (struct uvm_quartiles){NAN, NAN, NAN};
    sort_items(values, n, sizeof *values, sorted_by_f64);
    return (struct uvm_quartiles){quantile_between(values, n, 0.25), quantile_between(values, n, 0.5),
                                  quantile_between(values, n, 0.75)};
}

int locality_windows_close(struct locality_windows *w, struct uvm_metrics *metrics, struct err *err)
{
    if (end_window(w->all, &w->values, err) || end_window(w->one, kernel_values(w), err))
        return -1;
    metrics->r = locality_windows_quartiles(w->values.values, w->values.count);
    metrics->kernel_count = w->kernel_count;
    for (size_t k = 0; k < w->kernel_count; k++) {
        struct uvm_kernel_r *row = &metrics->kernels[k];
        (void)snprintf(row->kernel, sizeof row->kernel, "%s", w->kernels[k]);
        row->windows = w->by_kernel[k].count;
        row->r = locality_windows_quartiles(w->by_kernel[k].values, w->by_kernel[k].count);
    }
    return 0;
}
