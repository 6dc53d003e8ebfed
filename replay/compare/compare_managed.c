#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "replay/compare/compare_rows.h"
#include "replay/run/measured.h"
#include "replay/run/platform_use.h"
#include "replay/uvm/uvm_gpu.h"
#include "trace/base/mem.h"

/* Prefetchers: the driver's options and the rule of lee-2026; evictions where memory is short; then all. */
const char compare_prefetchers[] = "tree,none,fixed:granularity=64KiB,fixed:granularity=2MiB,adaptive";
static const char evictions[] = "tree+random,tree+tbn,tree+lfu";

enum { RUNS_MOST = 128, HINTS = 640 };

/* One run of the closed loop. */
struct managed_run {
    char policy[96];
    char advise[HINTS]; /* "": none */
    uint64_t advised;   /* the same as bits */
    const char *said;   /* of the hints, "read-mostly"; NULL: none */
    size_t other;       /* a run behind this one, of a prefetcher that may decide alike; 0: none */
    bool done;          /* or will be with the run that names it */
    bool prefetched;
    int64_t stop_ns;        /* as in struct uvm_run */
    struct uvm_time *times; /* as there, the same in all */
    int64_t tree_ns; /* what the closed loop says of the program as it is, where a recording says it too; else 0 */
    size_t order;    /* among all, as compare_row has it */
    struct uvm_metrics metrics;
    struct err err; /* why there is no answer */
    bool failed;
    struct err unkept; /* why it could not be written; "" */
};

struct managed_runs {
    struct managed_run *items;
    size_t count;
};

static struct managed_run *add(struct managed_runs *runs, const char *policy)
{
    struct managed_run *run = &runs->items[runs->count++];
    (void)snprintf(run->policy, sizeof run->policy, "%s", policy);
    return run;
}

static void add_list(struct managed_runs *runs, const char *policies)
{
    char policy[96];
    while (compare_next_policy(&policies, policy, sizeof policy))
        (void)add(runs, policy);
}

/* Replace a policy by its label, so that equal ones are found. */
static void label(char *policy, size_t size)
{
    struct policy_list list;
    struct err err = {""};
    if (uvm_managed_policy(&list, policy, &err) == 0)
        (void)replay_policy_label(&list.policies[0], policy, size);
    policy_list_release(&list);
}

/* Every prefetcher with every eviction that is not there yet. */
static void add_all(struct managed_runs *runs, const struct engine *uvm)
{
    for (const struct policy_head *const *p = uvm->policies; *p; p++)
        for (const struct policy_head *const *e = uvm->second; *e && runs->count + 8 < RUNS_MOST; e++) {
            char policy[96];
            if (*p == &uvm_pinned) /* of memory before demand paging */
                continue;
            (void)snprintf(policy, sizeof policy, strcmp((*e)->name, "lru") == 0 ? "%s" : "%s+%s", (*p)->name,
                           (*e)->name);
            label(policy, sizeof policy);
            size_t i = 0;
            while (i < runs->count && strcmp(runs->items[i].policy, policy) != 0)
                i++;
            if (i == runs->count)
                (void)add(runs, policy);
        }
}

/* Whether no kernel writes allocation i of f->allocs, nor the CPU once one has touched it; false where that is not
 * known. */
static bool read_only(const struct compare_program *f, size_t i)
{
    const size_t a = compare_totals_place(f, i), known = f->totals.alloc_count;
    bool touched = false;
    for (uint32_t l = 0; a < known && l < f->totals.launches; l++) {
        const struct launch_totals *launch = &f->totals.launch[l];
        touched |= !launch->cpu && launch->touched >> a & 1;
        if ((touched || !launch->cpu) && launch->modified >> a & 1)
            return false;
    }
    return a < known;
}

/* "[A:read-mostly,B:read-mostly]", or "": what no kernel writes and the program does not advise itself. */
static void advise(const struct compare_program *f, struct managed_run *run)
{
    for (size_t i = 0; i < f->alloc_count && i < 64 && strlen(run->advise) + 64 < HINTS; i++)
        if (!(f->allocs[i].advice & ACTOR_READ_MOSTLY) && read_only(f, i)) {
            if (strpbrk(f->allocs[i].name, ",:"))
                run->failed = err_set(&run->err, "allocation '%s' cannot be advised: its name has a ',' or ':'",
                                      f->allocs[i].name) != 0;
            (void)mem_add_text(run->advise, HINTS, "%s%s:read-mostly", *run->advise ? "," : "[", f->allocs[i].name);
            run->advised |= UINT64_C(1) << i;
        }
    if (*run->advise)
        (void)mem_add_text(run->advise, HINTS, "]");
}

/* As docs/accuracy.md calls it. */
static const char *measured_as(const struct compare_program *f, const struct managed_run *run)
{
    bool advised = run->advised;
    for (size_t i = 0; i < f->alloc_count; i++)
        advised |= f->allocs[i].advice & ACTOR_READ_MOSTLY;
    return run->prefetched ? "prefetched" : advised ? "advised" : "managed";
}

static void add_hints(const struct compare_program *f, struct managed_runs *runs)
{
    struct managed_run *run = add(runs, "tree");
    advise(f, run);
    run->said = "read-mostly";
    runs->count -= !run->advised;
    if (!compare_fits(f))
        return;
    run = add(runs, "tree");
    run->prefetched = true;
    run->said = "prefetched";
}

static void name_of(const struct managed_run *run, char *name, size_t size)
{
    (void)snprintf(name, size, "%s%s%s", run->policy, run->said ? ", " : "", run->said ? run->said : "");
}

/* The places of all runs among each other, also of those that are rows already. */
static void set_order(struct managed_runs *runs, struct compare_result *result)
{
    for (size_t i = 0; i < runs->count; i++) {
        char name[160];
        name_of(&runs->items[i], name, sizeof name);
        runs->items[i].order = i;
        struct compare_row *row = compare_find(result, COMPARE_MANAGED, name);
        if (row)
            row->order = i;
    }
}

/* Whether a recording says it, without simulation. */
static bool is_recorded(const struct compare_program *f, const struct managed_run *run)
{
    return f->recorded_ns > 0 && strcmp(run->policy, "tree") == 0 && (!run->said || run->prefetched);
}

/* Drop unwanted runs. Copies need the kernels of the prefetched run; recordings need the run as it is. */
static void drop_unwanted(const struct compare_program *f, struct managed_runs *runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        char name[160];
        name_of(&runs->items[i], name, sizeof name);
        if (compare_wanted(f, COMPARE_MANAGED, name) ||
            (is_recorded(f, &runs->items[i]) && !runs->items[i].prefetched) ||
            (runs->items[i].prefetched &&
             (compare_wanted(f, COMPARE_COPY, "cudaMemcpy") || compare_wanted(f, COMPARE_MIXED, NULL))))
            runs->items[kept++] = runs->items[i];
    }
    runs->count = kept;
}

/* Of a row, in units of progress. */
static uint64_t work_of(const struct compare_program *f)
{
    return (f->footprint >> 20) + 1;
}

/* Run one; other: in lockstep with it (NULL: none), *diverged: whether that needs a separate run. */
static int ask(const struct compare_program *f, struct managed_run *run, const struct managed_run *other,
               bool *diverged)
{
    struct uvm_managed_settings settings = f->set->managed;
    struct policy_list list, others = {0};
    settings.advise = run->advise[0] ? run->advise : NULL;
    settings.prefetch = run->prefetched ? "all" : NULL;
    int rc = uvm_managed_policy(&list, run->policy, &run->err);
    if (rc == 0 && other)
        rc = uvm_managed_policy(&others, other->policy, &run->err);
    const struct uvm_managed asked = {.ops = f->ops,
                                      .state = f->actors,
                                      .store = f->touching.store,
                                      .platform = f->platform,
                                      .policy = list.count ? &list.policies[0] : NULL,
                                      .other = others.count ? &others.policies[0] : NULL,
                                      .diverged = diverged,
                                      .later = run->prefetched ? NULL : f->later,
                                      .stop_ns = run->stop_ns,
                                      .times = run->times,
                                      .settings = &settings};
    if (rc == 0)
        rc = uvm_managed_run(&asked, &run->metrics, &run->err);
    policy_list_release(&others);
    policy_list_release(&list);
    progress_add(f->request->progress, work_of(f));
    return rc;
}

/* Fill in the policy's parameters by name, and the settings. */
static int fill_params(const struct managed_run *run, struct compare_row *row, struct err *err)
{
    struct policy_list list;
    int rc = uvm_managed_policy(&list, run->policy, err);
    json_t *params = rc == 0 && list.count ? replay_policy_params_json(&list.policies[0]) : json_object();
    policy_list_release(&list);
    if (rc == 0 && params && run->said)
        rc = json_object_set_new(params, run->prefetched ? "prefetch" : "advise",
                                 json_string(run->prefetched ? "all" : run->advise));
    if (rc || !params) {
        json_decref(params);
        return err_set(err, "out of memory");
    }
    json_decref(row->params);
    row->params = params;
    return 0;
}

/* Scale a time to the recording: add what the recording took more than the closed loop, or shrink in proportion if it
 * took less. */
static void put_recorded(const struct compare_program *f, double time, double tree, struct compare_row *row)
{
    const double recorded[] = {f->recorded_low_ns, f->recorded_ns};
    double ends[2];
    for (int i = 0; i < 2; i++)
        ends[i] = recorded[i] > tree ? time + recorded[i] - tree : time * recorded[i] / tree;
    compare_put(&row->outcome, "time_ns", ends[0], ends[1]);
    row->common_ns = row->outcome.values[0].interval ? ends[1] - ends[0] : 0;
}

static int fill(const struct compare_program *f, const struct managed_run *run, struct compare_row *row,
                struct err *err)
{
    const struct uvm_metrics *m = &run->metrics;
    struct outcome *out = &row->outcome;
    if (run->failed) {
        if (err_pass_memory(&run->err, err))
            return -1;
        outcome_note(out, "%s", run->err.msg);
        return 0;
    }
    if (m->stopped) {
        compare_stop_row(row, (double)run->stop_ns);
        return fill_params(run, row, err);
    }
    const double tree = (double)run->tree_ns, time = (double)m->time_ns;
    uint64_t held = f->memory && f->memory < f->footprint ? f->memory : f->footprint;
    if (tree > 0)
        put_recorded(f, time, tree, row);
    else
        outcome_real(out, "time_ns", time);
    outcome_real(out, "h2d_bytes", (double)(m->h2d_bytes + m->remote_bytes));
    outcome_real(out, "d2h_bytes", (double)m->d2h_bytes);
    out->outside_bytes[1] = (double)(m->d2h_bytes - m->evicted_bytes); /* in phases of the CPU */
    outcome_real(out, "gpu_bytes", (double)((m->h2d_bytes ? held : 0) + f->device_bytes));
    outcome_real(out, "read_amplification_ratio",
                 m->structure_bytes ? (double)(m->h2d_bytes + m->remote_bytes) / (double)m->structure_bytes : NAN);
    if (m->chunks)
        outcome_note(out, "memory is short: %llu VA blocks of 2 MiB are evicted, for which %.4g MiB are copied back",
                     (unsigned long long)m->evictions, (double)m->evicted_bytes / 0x1p20);
    uvm_managed_note_blocks(&(struct uvm_managed){.ops = f->ops, .state = f->actors, .settings = &f->set->managed}, m,
                            out);
    platform_use_note_borrowed(f->platform, (const char *const[]){"uvm", NULL}, out);
    if (tree > 0)
        outcome_note(out, "time_ns is that of the simulated touches, shifted or scaled so that the driver as it is has "
                          "its recorded time: touches do not hold what kernels compute");
    row->stock = strcmp(run->policy, "tree") == 0;
    row->advised = run->advised;
    row->prefetched = run->prefetched;
    row->activity = uvm_managed_activity(m);
    row->error_ratio = measured_error(measured_as(f, run), f->platform->name);
    compare_calls_error(f, row);
    compare_plan_managed(f, row, run->policy);
    return (row->stock && compare_plan_calls(f, row, err)) || fill_params(run, row, err) ? -1 : 0;
}

/* The row of a run, unless only a copy needed it. */
static int add_row(const struct compare_program *f, const struct managed_run *run, struct compare_result *result,
                   struct err *err)
{
    char policy[160];
    name_of(run, policy, sizeof policy);
    if (is_recorded(f, run) || (!f->only && !compare_wanted(f, COMPARE_MANAGED, policy)))
        return 0;
    struct compare_row *row = compare_add(result, COMPARE_MANAGED, policy, err);
    if (!row || fill(f, run, row, err))
        return -1;
    row->order = run->order;
    return 0;
}

/* Write a run that is done. */
static int keep(const struct compare_program *f, const struct managed_run *run, struct err *err)
{
    struct compare_result one = {.limits = json_incref(f->input->limits)};
    int rc = f->keep ? add_row(f, run, &one, err) : 0;
    if (rc == 0 && one.count)
        rc = compare_file_row(f->keep, &one, &one.rows[0], err);
    compare_release(&one);
    return rc;
}

static void run_one(const struct compare_program *f, struct managed_run *run, const struct managed_run *other,
                    bool *diverged)
{
    run->failed = ask(f, run, other, diverged) != 0;
    if (!run->failed && !run->metrics.stopped && !f->request->part && !f->only)
        progress_best(f->request->progress, COMPARE_MANAGED, (double)run->metrics.time_ns);
    if (f->keep && !run->failed)
        (void)keep(f, run, &run->unkept);
}

/* Runs one; then the other, unless it was the same in lockstep. */
static void run_both(const struct compare_program *f, struct managed_run *run, struct managed_run *other)
{
    bool diverged = false;
    run_one(f, run, other, &diverged);
    if (!other)
        return;
    if (diverged || run->failed) {
        run_one(f, other, NULL, NULL);
        return;
    }
    other->metrics = run->metrics;
    if (f->keep)
        (void)keep(f, other, &other->unkept);
    progress_add(f->request->progress, work_of(f));
}

/* adaptive begins as fixed 2 MiB, and mostly stays that. */
static void pair(struct managed_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        for (size_t k = i + 1; k < runs->count && strcmp(runs->items[i].policy, "fixed:granularity=2MiB") == 0; k++)
            if (strcmp(runs->items[k].policy, "adaptive") == 0) {
                runs->items[i].other = k;
                runs->items[k].done = true;
            }
}

/* When the others of a draw may stop: by the rows that are as they were, the prefetched one and the copy. */
static double drawn_stop_ns(const struct compare_program *f, const struct managed_run *prefetched)
{
    struct compare_result rows = {0};
    struct err none = {""};
    int rc = prefetched
                 ? add_row(f, prefetched, &rows, &none) || compare_copy_row(f, &rows, &prefetched->metrics, &none)
                 : 0;
    double most = rc ? 0 : compare_stop_drawn_ns(f, COMPARE_MANAGED, &rows);
    compare_release(&rows);
    return most;
}

/* Where others may stop, the prefetched run is first, and says when. */
static void run_first(const struct compare_program *f, struct managed_runs *runs)
{
    struct managed_run *first = NULL;
    for (size_t i = 0; i < runs->count; i++)
        first = runs->items[i].prefetched ? &runs->items[i] : first;
    if (!f->only && (!first || !compare_stops(f)))
        return;
    if (first) {
        first->done = true;
        if (f->prefetched)
            first->metrics = *f->prefetched;
        else
            run_one(f, first, NULL, NULL);
        if (first->failed)
            return;
    }
    double most = f->only ? drawn_stop_ns(f, first) : compare_stop_ns(f, &first->metrics);
    for (size_t i = 0; i < runs->count; i++)
        runs->items[i].stop_ns = (int64_t)most;
}

/* What all others are held against. */
static void run_tree(const struct compare_program *f, struct managed_runs *runs, struct managed_run *tree)
{
    run_one(f, tree, NULL, NULL);
    tree->done = true;
    for (size_t i = 0; i < runs->count && !tree->failed; i++)
        runs->items[i].tree_ns = tree->metrics.time_ns;
}

static void run_all(const struct compare_program *f, struct managed_runs *runs)
{
    int threads = f->request->threads > 0 ? f->request->threads : 1;
    pair(runs);
    for (size_t i = 0; i < runs->count; i++)
        if (is_recorded(f, &runs->items[i]) && !runs->items[i].prefetched)
            run_tree(f, runs, &runs->items[i]);
    run_first(f, runs);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t i = 0; i < runs->count; i++) {
        struct managed_run *run = &runs->items[i];
        if (!run->failed && !run->done)
            run_both(f, run, run->other ? &runs->items[run->other] : NULL);
    }
}

static int report(const struct compare_program *f, const struct managed_runs *runs, struct compare_result *result,
                  struct uvm_metrics *prefetched, struct err *err)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct managed_run *run = &runs->items[i];
        if (run->unkept.msg[0])
            return err_set(err, "%s", run->unkept.msg);
        if (add_row(f, run, result, err))
            return -1;
        if (run->prefetched && !run->failed)
            *prefetched = run->metrics;
    }
    return 0;
}

/* Of a launch with all memory there. */
static double ns_of(const void *times, uint32_t launch)
{
    const uint64_t ns = atomic_load(&((const struct uvm_time *)times)[launch].ns);
    return ns ? (double)(ns - 1) : 0;
}

int compare_managed_rows(const struct compare_program *f, struct compare_result *result, struct uvm_metrics *prefetched,
                         struct err *err)
{
    struct err why;
    memset(prefetched, 0, sizeof *prefetched);
    if (f->touches && !platform_has(f->platform, "placement") &&
        (platform_whole(f->platform, "uvm", &why) || platform_whole(f->platform, "launch", &why)))
        return compare_wanted(f, COMPARE_MANAGED, "tree") ? compare_refuse(result, COMPARE_MANAGED, "tree", &why, err)
                                                          : 0;
    if (!f->touches || !platform_has(f->platform, "uvm"))
        return 0;
    struct managed_runs runs = {.items = mem_zalloc(RUNS_MOST, sizeof *runs.items, err)};
    struct uvm_time *times = mem_zalloc(f->ops->launches(f->actors) + 1, sizeof *times, err);
    if (!runs.items || !times) {
        free(runs.items);
        free(times);
        return -1;
    }
    add_list(&runs, compare_prefetchers);
    if (!compare_fits(f))
        add_list(&runs, evictions);
    if (f->request->all)
        add_all(&runs, engine_find("uvm"));
    add_hints(f, &runs);
    set_order(&runs, result);
    drop_unwanted(f, &runs);
    if (f->request->progress && !f->request->part)
        f->request->progress->total += runs.count * work_of(f);
    for (size_t i = 0; i < runs.count; i++)
        runs.items[i].times = times;
    run_all(f, &runs);
    if (f->spared)
        f->spared->off = compare_spared_off(f, ns_of, times);
    int rc = report(f, &runs, result, prefetched, err);
    free(runs.items);
    free(times);
    return rc;
}
