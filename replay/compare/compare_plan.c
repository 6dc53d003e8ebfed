#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "trace/base/mem.h"

void compare_plan_say(struct compare_row *row, const char *format, ...)
{
    char text[512];
    struct err err;
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    char *copy = mem_strdup(text, &err);
    if (copy && MEM_ADD(row->apply, row->apply_count, row->apply_cap, &err, copy) == 0)
        return;
    free(copy);
    outcome_fail(&row->outcome, &err);
}

void compare_plan_name(char names[COMPARE_NAME], const char *name)
{
    const size_t n = strlen(names);
    if (n + strlen(name) + 8 < COMPARE_NAME)
        (void)mem_add_text(names, COMPARE_NAME, "%s%s", n ? ", " : "", name);
    else if (names[n - 1] != '.')
        (void)mem_add_text(names, COMPARE_NAME, " ..");
}

static const char *names_of(const struct compare_program *f, uint64_t which, char names[COMPARE_NAME])
{
    *names = 0;
    for (size_t i = 0; i < f->alloc_count; i++)
        if (i < 64 ? which >> i & 1 : which == UINT64_MAX)
            compare_plan_name(names, f->allocs[i].name);
    return names;
}

/* How a prefetcher is had; source of the parameters: driver 545.23.06, uvm_perf_prefetch.c. */
static const struct {
    const char *policy, *how;
} prefetchers[] = {
    {"tree", "cudaMallocManaged(); the driver as it is"},
    {"none", "options nvidia-uvm uvm_perf_prefetch_enable=0 (a file in /etc/modprobe.d; for the whole machine)"},
    {"fixed:granularity=64KiB", "options nvidia-uvm uvm_perf_prefetch_threshold=99 (a file in /etc/modprobe.d; for the "
                                "whole machine): 64 KiB each, a little more where blocks fill"},
    {"fixed:granularity=2MiB",
     "options nvidia-uvm uvm_perf_prefetch_threshold=0 (a file in /etc/modprobe.d; for the whole machine)"},
};

void compare_plan_managed(const struct compare_program *f, struct compare_row *row, const char *policy)
{
    size_t i = 0, n = sizeof prefetchers / sizeof *prefetchers;
    char names[COMPARE_NAME];
    while (i < n && strcmp(policy, prefetchers[i].policy) != 0)
        i++;
    if (i < n)
        compare_plan_say(row, "%s", prefetchers[i].how);
    else
        compare_plan_say(row, "no driver does this: it needs a changed one");
    if (row->advised)
        compare_plan_say(row,
                         "cudaMemAdvise(.., cudaMemAdviseSetReadMostly, device) of %s behind its cudaMallocManaged()",
                         names_of(f, row->advised, names));
    if (row->prefetched)
        compare_plan_say(row, "cudaMemPrefetchAsync(.., device, stream) of %s before the first kernel",
                         names_of(f, UINT64_MAX, names));
}

/* What a kernel must do to read like that; docs/zerocopy-engine.md. */
static const struct {
    const char *policy, *how;
} patterns[] = {
    {"naive", "a thread for each list, or for each element of a row"},
    {"merged", "a warp for each list or row, 32 elements at a time from its start"},
    {"aligned", "a warp for each list; its first element is rounded down to a multiple of 128 bytes, lanes before the "
                "list's start do nothing"},
    {"chunk", "a warp for eight consecutive vertices, each list from a multiple of 128 bytes on"},
    {"shift", "a warp for each row, its columns rotated so that it starts on a multiple of 128 bytes"},
};

void compare_plan_zerocopy(const struct compare_program *f, struct compare_row *row, const char *policy)
{
    char names[COMPARE_NAME];
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(policy, patterns[i].policy) == 0)
            compare_plan_say(row, "kernel: %s", patterns[i].how);
    if (!row->apply_count)
        compare_plan_say(row, "the kernel as it is");
    compare_plan_say(row, "cudaHostAlloc() with cudaHostAllocMapped for %s, on a multiple of 128 bytes",
                     names_of(f, UINT64_MAX, names));
    compare_plan_say(row, "or leave it managed, with cudaMemAdviseSetPreferredLocation to the CPU and "
                          "cudaMemAdviseSetAccessedBy of the device: the same reads");
}

/* --- as a plan of `record --apply` --- */

const struct compare_row *compare_plannable(const struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].answered && result->rows[i].stock)
            return &result->rows[i];
    return NULL;
}

int compare_plan_write(const struct compare_result *result, FILE *to, struct err *err)
{
    static const char *const predicted[] = {"time_ns", "h2d_bytes", "d2h_bytes"}; /* that `offchip diff` knows */
    const struct compare_row *row = compare_plannable(result);
    if (!row)
        return err_set(err, "nothing to plan: no answer is of unified memory under the driver as it is");
    const double time = compare_time(row);
    (void)fprintf(to,
                  "[plan]\nversion = 1\nprogram = %s\nplatform = %s\nmechanism = %s\npolicy = %s\n"
                  "time_lo_ns = %.0f\ntime_hi_ns = %.0f\n",
                  result->program, result->platform->name, compare_mechanisms[row->mechanism], row->policy,
                  time / (1 + row->error_ratio), time * (1 + row->error_ratio));
    for (size_t i = 0; i < sizeof predicted / sizeof *predicted; i++) {
        const struct metric_value *v = outcome_get(&row->outcome, predicted[i]);
        if (v->known)
            (void)fprintf(to, "predicted_%s = %.0f\n", predicted[i], v->real);
    }
    for (size_t i = 0; i < result->alloc_count; i++) {
        bool advised = i < 64 && row->advised >> i & 1;
        (void)fprintf(to, "\n[allocation %zu] ; %s\nbytes = %" PRIu64 "\n", i, result->allocs[i].name,
                      result->allocs[i].bytes);
        if (advised)
            (void)fputs("; predicted for advice that is given when the CPU has written; record --apply gives it "
                        "before: slower\n"
                        "advise = read-mostly\n",
                        to);
        if (row->prefetched)
            (void)fputs("prefetch = gpu\n", to);
    }
    return 0;
}
