#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/launch.h"
#include "replay/compare/compare_rows.h"
#include "trace/base/mem.h"
#include "trace/recorder/wire/record_pipe.h"

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
        compare_plan_say(row, "no driver does this today: it needs a changed one");
    if (row->advised)
        compare_plan_say(row,
                         "cudaMemAdvise(.., cudaMemAdviseSetReadMostly, device) of %s after the CPU has written it",
                         names_of(f, row->advised, names));
    if (row->prefetched)
        compare_plan_say(row, "cudaMemPrefetchAsync(.., device, stream) of %s before the first kernel that needs it",
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

/* --- where the calls stand --- */

/* For each allocation of f->allocs: whether a launch touches it. */
static int touched_by(const struct compare_program *f, uint32_t launch, bool *touched, struct err *err)
{
    memset(touched, 0, f->alloc_count * sizeof *touched);
    if (!f->counted)
        return actor_touched(f->ops, f->actors, launch, launch + 1, touched, err);
    for (size_t i = 0; i < f->alloc_count; i++) {
        const size_t a = compare_totals_place(f, i);
        touched[i] = a < f->totals.alloc_count && f->totals.launch[launch].touched >> a & 1;
    }
    return 0;
}

int compare_plan_calls(const struct compare_program *f, struct compare_row *row, struct err *err)
{
    const uint32_t launches = row->advised || row->prefetched ? f->ops->launches(f->actors) : 0;
    const size_t n = f->alloc_count;
    struct actor_launch launch;
    uint64_t advise = row->advised;
    uint32_t kernels = 0;
    bool *touched = mem_zalloc(2 * n, sizeof *touched, err), *there = touched + n;
    int rc = touched ? 0 : -1;
    for (uint32_t l = 0; l < launches && rc == 0; l++, kernels += !launch.cpu) {
        f->ops->launch(f->actors, l, &launch);
        rc = touched_by(f, l, touched, err);
        for (size_t i = 0; i < n && rc == 0; i++) {
            const bool kernel = touched[i] && !launch.cpu, now = kernel && i < 64 && advise >> i & 1;
            struct compare_call call = {now ? COMPARE_ADVISE : COMPARE_PREFETCH,
                                        NULL,
                                        kernels,
                                        i,
                                        (double)f->allocs[i].bytes,
                                        (double)NAN,
                                        false};
            if (now || (kernel && row->prefetched && !there[i]))
                rc = MEM_ADD(row->calls, row->call_count, row->call_cap, err, call);
            advise &= now ? ~(UINT64_C(1) << i) : advise;
            there[i] = touched[i] ? kernel : there[i];
        }
    }
    free(touched);
    return rc;
}

static void settle(const struct compare_result *result, const struct compare_row *plain, struct compare_row *row)
{
    const struct launch *launch = platform_section_get(result->platform, "launch");
    const struct metric_value *time = &plain->outcome.values[0];
    const double takes = plain->answered ? compare_time(plain) : time->lower_bound ? time->lo : (double)NAN;
    double bytes = 0, calls = 0;
    for (size_t i = 0; i < row->call_count; i++) {
        bytes += row->calls[i].bytes;
        calls += row->calls[i].what == COMPARE_PREFETCH ? launch->prefetch_call_ns : 0;
    }
    for (size_t i = 0; i < row->call_count; i++) {
        struct compare_call *call = &row->calls[i];
        const double spared = fmax(0, takes - compare_time(row) + calls) * call->bytes / bytes;
        if (!isnan(call->saves_ns) || isnan(takes))
            continue;
        call->saves_ns = spared - (call->what == COMPARE_PREFETCH ? launch->prefetch_call_ns : 0);
        call->least = !plain->answered;
    }
}

void compare_plan_settle(struct compare_result *result)
{
    for (size_t p = 0; p < result->count; p++)
        for (size_t i = 0; i < result->count; i++)
            if (result->rows[i].call_count && result->rows[i].answered && strcmp(result->rows[p].policy, "tree") == 0)
                settle(result, &result->rows[p], &result->rows[i]);
}

/* --- as a plan of `record --apply` --- */

const struct compare_row *compare_plannable(const struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].answered && result->rows[i].stock)
            return &result->rows[i];
    return NULL;
}

/* Write a predicted number with its ends (NAN: unknown); `offchip diff` compares it with the measurement. */
static void write_predicted(FILE *to, const char *metric, double value, double low, double high)
{
    const char *unit = strrchr(metric, '_');
    const int name = unit ? (int)(unit - metric) : (int)strlen(metric);
    (void)fprintf(to, "predicted_%s = %.0f\n", metric, value);
    if (!isnan(low))
        (void)fprintf(to, "%.*s_lo%s = %.0f\n%.*s_hi%s = %.0f\n", name, metric, unit ? unit : "", floor(low), name,
                      metric, unit ? unit : "", ceil(high));
}

/* Whether a call is worth it: faults would take longer. */
static bool is_worth(const struct compare_call *call)
{
    return !(call->saves_ns < 0);
}

static void write_predictions(const struct compare_row *row, FILE *to)
{
    static const char *const bytes[] = {"h2d_bytes", "d2h_bytes"};
    double less = 0;
    for (size_t i = 0; i < row->call_count; i++)
        less += is_worth(&row->calls[i]) ? 0 : row->calls[i].saves_ns;
    write_predicted(to, "time_ns", compare_time(row) + less, (compare_time_low(row) + less) / (1 + row->error_ratio),
                    (compare_time_high(row) + less) * (1 + row->error_ratio));
    const bool faultless = row->prefetched && !row->activity.faulted && less >= 0;
    /* A recording does not say what of its bytes back came before the last kernel. */
    for (size_t i = 0; i < (row->calls[0].kernel ? 1 : 2); i++) {
        const struct metric_value *v = outcome_get(&row->outcome, bytes[i]);
        if (v->interval)
            write_predicted(to, bytes[i], (v->lo + v->hi) / 2, v->lo, v->hi);
        else if (v->known)
            write_predicted(to, bytes[i], v->real, faultless ? v->real : (double)NAN, v->real);
    }
    if (faultless)
        write_predicted(to, "batches", 0, 0, 0);
}

/* Write the predicted saving of a call. */
static void write_saving(const struct compare_result *result, const struct compare_call *call, FILE *to)
{
    static const char *const done[] = {[COMPARE_ADVISE] = "copied and not moved",
                                       [COMPARE_PREFETCH] = "there before any fault",
                                       [COMPARE_BACK] = "with the CPU before it faults"};
    char text[32];
    (void)fprintf(to, "; allocation %zu (%s), %.4g MiB, %s", call->alloc, result->allocs[call->alloc].name,
                  call->bytes / 0x1p20, is_worth(call) ? done[call->what] : "left to its faults");
    if (!isnan(call->saves_ns))
        (void)fprintf(to, ": %s %s %s", is_worth(call) ? "saves" : "a call takes longer by",
                      call->least && is_worth(call) ? "at least" : "about",
                      compare_time_text(fabs(call->saves_ns), 3, text, sizeof text));
    (void)fputs("\n", to);
}

static bool same_launch(const struct compare_call *a, const struct compare_call *b)
{
    return a->launch == b->launch &&
           (a->kernel == b->kernel || (a->kernel && b->kernel && !strcmp(a->kernel, b->kernel)));
}

/* The calls [from, to) are of one launch. */
static void write_launch(const struct compare_result *result, const struct compare_row *row, size_t from, size_t end,
                         FILE *to)
{
    static const char *const keys[] = {
        [COMPARE_ADVISE] = "advise", [COMPARE_PREFETCH] = "prefetch", [COMPARE_BACK] = "back"};
    const struct compare_call *calls = row->calls;
    bool all = false;
    for (size_t i = from; i < end; i++)
        all |= is_worth(&calls[i]);
    if (all)
        (void)fprintf(to, "\n[kernel %.255s %" PRIu32 "]\n", calls[from].kernel ? calls[from].kernel : "*",
                      calls[from].launch);
    for (size_t i = from; i < end && all; i++)
        write_saving(result, &calls[i], to);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        bool any = false;
        for (size_t i = from; i < end; i++)
            if (calls[i].what == k && is_worth(&calls[i])) {
                (void)(any ? fprintf(to, ", %zu", calls[i].alloc) : fprintf(to, "%s = %zu", keys[k], calls[i].alloc));
                any = true;
            }
        (void)fputs(any ? "\n" : "", to);
    }
}

/* How many calls from `from` on go into one section. */
static size_t one_section(const struct compare_row *row, size_t from)
{
    size_t end = from + 1;
    while (end < row->call_count && end < from + PLAN_ORDERS && same_launch(&row->calls[from], &row->calls[end]))
        end++;
    return end;
}

static void write_allocations(const struct compare_result *result, const struct compare_row *row, FILE *to)
{
    for (size_t i = 0; i < result->alloc_count; i++) {
        bool called = result->alloc_count <= 64, advised = false; /* few: the others are named to be checked */
        for (size_t c = 0; c < row->call_count; c++) {
            called |= row->calls[c].alloc == i;
            advised |= row->calls[c].alloc == i && row->calls[c].what == COMPARE_ADVISE;
        }
        if (called && result->allocs[i].bytes)
            (void)fprintf(to, "\n[allocation %zu] ; %s\nbytes = %" PRIu64 "\n%s", i, result->allocs[i].name,
                          result->allocs[i].bytes, advised ? "advise = read-mostly\n" : "");
    }
}

int compare_plan_write(const struct compare_result *result, FILE *to, struct err *err)
{
    const struct compare_row *row = compare_plannable(result);
    size_t sections = 0, worth = 0;
    if (!row)
        return err_set(err, "nothing to plan: no answer is of unified memory under a stock driver");
    for (size_t i = 0; i < row->call_count; i++)
        worth += is_worth(&row->calls[i]);
    if (!worth)
        return err_set(err, "nothing to plan: no advice and no prefetch makes unified memory faster here");
    for (size_t i = 0; i < row->call_count; i = one_section(row, i))
        if (++sections > PLAN_KERNELS ||
            (one_section(row, i) < row->call_count && same_launch(&row->calls[i], &row->calls[one_section(row, i)])))
            return err_set(err,
                           "nothing to plan: calls are due before more than %d launches, or more than %d before one",
                           PLAN_KERNELS, PLAN_ORDERS);
    (void)fprintf(to, "[plan]\nversion = 1\nprogram = %s\nplatform = %s\nmechanism = %s\npolicy = %s\n",
                  result->recorded[0] ? result->recorded : result->program, result->platform->name,
                  compare_mechanisms[row->mechanism], row->policy);
    write_predictions(row, to);
    write_allocations(result, row, to);
    for (size_t i = 0; i < row->call_count; i = one_section(row, i))
        write_launch(result, row, i, one_section(row, i), to);
    return 0;
}
