#include "replay/uvm/locality_windows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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

static int add(struct uvm_locality *w, const struct uvm_batch *batch, struct uvm_window_values *to, struct err *err)
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
    return add(w->all, batch, &w->values, err) || add(w->one, batch, kernel_values(w), err) ? -1 : 0;
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
