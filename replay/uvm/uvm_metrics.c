#include "replay/uvm/uvm_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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

/* --- the report --- */

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

static void report_whole(const struct uvm_metrics *m, struct outcome *o)
{
    outcome_int(o, "time_ns", m->time_ns);
    outcome_int(o, "faults", (int64_t)m->faults);
    outcome_int(o, "batches", (int64_t)m->batches);
    outcome_int(o, "routines", (int64_t)m->routines);
    outcome_int(o, "services", (int64_t)m->services);
    outcome_int(o, "h2d_bytes", (int64_t)m->h2d_bytes);
    outcome_int(o, "d2h_bytes", (int64_t)m->d2h_bytes);
    outcome_int(o, "prefetched_bytes", (int64_t)m->prefetched_bytes);
    outcome_real(o, "prefetched_used_ratio", ratio(m->prefetched_used_bytes, m->prefetched_bytes));
    outcome_int(o, "evictions", (int64_t)m->evictions);
    outcome_int(o, "evicted_bytes", (int64_t)m->evicted_bytes);
    outcome_int(o, "remote_bytes", (int64_t)m->remote_bytes);
    outcome_int(o, "counter_notifications", (int64_t)m->notifications);
    outcome_int(o, "throttles", (int64_t)m->throttles);
    outcome_int(o, "pinned_pages", (int64_t)m->pins);
    outcome_int(o, "mapped_faults", (int64_t)m->mapped);
    outcome_int(o, "returned_bytes", (int64_t)m->returned_bytes);
    outcome_real(o, "evicted_unused_ratio", m->evicted_unused_ratio);
    outcome_int(o, "structure_bytes", (int64_t)m->structure_bytes);
    outcome_int(o, "touched_bytes", (int64_t)m->touched_bytes);
    outcome_real(o, "read_amplification_ratio", ratio(m->h2d_bytes, m->structure_bytes));
    outcome_real(o, "overfetch_ratio", ratio(m->h2d_bytes, m->touched_bytes));
    outcome_real(o, "r_median", m->r.median);
    outcome_real(o, "r_p25", m->r.p25);
    outcome_real(o, "r_p75", m->r.p75);
    if (m->granularity_final_bytes)
        outcome_int(o, "granularity_final_bytes", m->granularity_final_bytes);
    outcome_int(o, "migration_records", (int64_t)m->records);
    if (m->dropped_requests)
        outcome_note(o,
                     "%llu of the pages asked for in advance were beyond the first %d of a batch: they were left out",
                     (unsigned long long)m->dropped_requests, UVM_PREFETCH_REQUESTS_MAX);
    for (size_t k = 0; m->kernel_count > 1 && k < m->kernel_count; k++)
        if (m->kernels[k].windows)
            outcome_note(o, "R of kernel %s: median %.2f, quartiles %.2f and %.2f, over %llu windows of 20 batches",
                         m->kernels[k].kernel, m->kernels[k].r.median, m->kernels[k].r.p25, m->kernels[k].r.p75,
                         (unsigned long long)m->kernels[k].windows);
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
    outcome_real(o, "prefetched_used_ratio", ratio(a->prefetched_used, a->prefetched));
    outcome_int(o, "structure_bytes", (int64_t)part->structure_bytes);
    outcome_int(o, "touched_bytes", (int64_t)(part->touched_pages * UVM_PAGE_BYTES));
    outcome_real(o, "read_amplification_ratio", ratio(a->h2d * UVM_PAGE_BYTES, part->structure_bytes));
    outcome_real(o, "overfetch_ratio", ratio(a->h2d, part->touched_pages));
    return 0;
}

int uvm_metrics_report(const struct uvm_metrics *metrics, const struct breakdown *parts, struct outcome *outcome,
                       struct err *err)
{
    report_whole(metrics, outcome);
    for (int by = 0; by < OUTCOME_BYS; by++)
        for (size_t i = 0; i < parts->by[by].count; i++)
            if (report_one(&parts->by[by].items[i], (enum outcome_by)by, outcome, err))
                return -1;
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
    if (keep) {
        if (mem_grow((void **)&to->values, &to->cap, to->count + 1, sizeof *to->values, err))
            return -1;
        to->values[to->count++] = uvm_locality_r(w);
    }
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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

struct uvm_quartiles locality_windows_quartiles(double *values, size_t n)
{
    if (n == 0)
        return (struct uvm_quartiles){NAN, NAN, NAN};
    qsort(values, n, sizeof *values, by_value);
    return (struct uvm_quartiles){quantile(values, n, 0.25), quantile(values, n, 0.5), quantile(values, n, 0.75)};
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
