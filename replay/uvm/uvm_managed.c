#include "replay/uvm/uvm_managed.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_policy.h"
#include "replay/uvm/uvm.h"
#include "replay/uvm/uvm_export.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

/* --- versions of the driver --- */

enum { ADAPTS = 590, LEAST = 100, MOST = 9999 };

int64_t uvm_version_in(const char *text)
{
    for (const char *at = text; at && *at; at += strcspn(at, " \t\n")) {
        at += strspn(at, " \t\n");
        char *end;
        if (!isdigit((unsigned char)*at))
            continue;
        long major = strtol(at, &end, 10);
        if (*end == '.' && isdigit((unsigned char)end[1]) && major >= LEAST && major <= MOST)
            return major;
    }
    return 0;
}

enum uvm_lapse uvm_version_lapse(int64_t driver)
{
    return driver >= ADAPTS ? UVM_LAPSE_CODE : UVM_LAPSE_FIXED;
}

bool uvm_version_discards(int64_t driver)
{
    return driver >= UVM_VERSION_DISCARDS;
}

/* --- what the program tells the driver --- */

static const struct {
    const char *name;
    uint32_t advice;
} advices[] = {{"read-mostly", ACTOR_READ_MOSTLY},
               {"read-mostly-first", ACTOR_READ_MOSTLY | ACTOR_ADVISED_FIRST},
               {"preferred-host", ACTOR_PREFERRED_HOST},
               {"accessed-by", ACTOR_ACCESSED_BY}};

static bool names(const char *text, size_t n, const struct actor_alloc *a)
{
    return (n == 3 && memcmp(text, "all", 3) == 0) || (strlen(a->name) == n && memcmp(a->name, text, n) == 0);
}

/* One of the settings: where what it says of an allocation goes. */
struct hint {
    const char *name;
    uint32_t *advice; /* NULL: it takes names alone, and sets */
    bool *yes;
};

/* "A" or "A:read-mostly", n characters. */
static int add_one(const struct hint *h, const struct actor_alloc *allocs, size_t count, const char *text, size_t n,
                   struct err *err)
{
    bool advise = h->advice != NULL;
    const char *colon = advise ? memchr(text, ':', n) : NULL;
    size_t name = colon ? (size_t)(colon - text) : n, found = 0;
    uint32_t advice = 0;
    for (size_t i = 0; colon && i < sizeof advices / sizeof *advices; i++)
        if (strlen(advices[i].name) == n - name - 1 && memcmp(advices[i].name, colon + 1, n - name - 1) == 0)
            advice = advices[i].advice;
    if (advise && !advice)
        return err_set(
            err, "advise: '%.*s'; expected ALLOCATION:read-mostly, :read-mostly-first, :preferred-host or :accessed-by",
            (int)n, text);
    for (size_t i = 0; i < count; i++)
        if (names(text, name, &allocs[i])) {
            found++;
            if (advise)
                h->advice[i] |= advice;
            else
                h->yes[i] = true;
        }
    if (found)
        return 0;
    char known[200] = "";
    for (size_t i = 0; i < count; i++)
        (void)mem_add_text(known, sizeof known, "%s%s", i ? ", " : "", allocs[i].name);
    return err_set(err, "%s: no allocation is called '%.*s'; expected all, %s", h->name, (int)name, text, known);
}

/* "[A,B]" or "A", item by item. */
static int add_all(const struct hint *h, const struct actor_alloc *allocs, size_t n, const char *text, struct err *err)
{
    size_t end = strlen(text);
    if (end > 1 && text[0] == '[' && text[end - 1] == ']') {
        text++;
        end -= 2;
    }
    for (size_t at = 0; at <= end;) {
        const char *comma = memchr(text + at, ',', end - at);
        size_t length = comma ? (size_t)(comma - text) - at : end - at;
        if (add_one(h, allocs, n, text + at, length, err))
            return -1;
        at += length + 1;
    }
    return 0;
}

int uvm_hints_init(struct uvm_hints *h, const struct actor_alloc *allocs, size_t n, const char *advise,
                   const char *prefetch, const char *discard, struct err *err)
{
    *h = (struct uvm_hints){0};
    if (advise && (!(h->advice = mem_zalloc(n, sizeof *h->advice, err)) ||
                   add_all(&(struct hint){"advise", h->advice, NULL}, allocs, n, advise, err)))
        return -1;
    if (prefetch && (!(h->prefetch = mem_zalloc(n, sizeof *h->prefetch, err)) ||
                     add_all(&(struct hint){"prefetch", NULL, h->prefetch}, allocs, n, prefetch, err)))
        return -1;
    if (discard && (!(h->discard = mem_zalloc(n, sizeof *h->discard, err)) ||
                    add_all(&(struct hint){"discard", NULL, h->discard}, allocs, n, discard, err)))
        return -1;
    return 0;
}

void uvm_hints_release(struct uvm_hints *h)
{
    free(h->advice);
    free(h->prefetch);
    free(h->discard);
    *h = (struct uvm_hints){0};
}

static const struct uvm_managed_settings *settings_of(const struct uvm_managed *m)
{
    static const struct uvm_managed_settings defaults = {.thrashing = UVM_THRASHING_DRIVER};
    return m->settings ? m->settings : &defaults;
}

/* The version of the driver: the user's, else the recording's own, else the platform's. */
static int64_t version_of(const struct uvm_managed *m)
{
    const struct platform_number *number = platform_number(m->platform, "uvm", "driver");
    int64_t own = !m->store || (number && number->given) ? 0 : uvm_version_in(store_origin_get(m->store, "driver"));
    const struct uvm_platform *p = platform_section_get(m->platform, "uvm");
    return own ? own : p->driver;
}

/* As told, or by the version of the driver. */
static enum uvm_lapse lapse_of(const struct uvm_managed *m)
{
    int64_t mode = settings_of(m)->thrashing;
    if (mode < UVM_THRASHING_DRIVER)
        return mode > UVM_THRASHING_FIXED ? (enum uvm_lapse)(mode - UVM_THRASHING_FIXED) : UVM_LAPSE_FIXED;
    return uvm_version_lapse(version_of(m));
}

static const struct pcie *link_of(const struct uvm_managed *m)
{
    return platform_has(m->platform, "pcie") ? platform_section_get(m->platform, "pcie") : NULL;
}

static int64_t memory_there(const struct uvm_managed *m)
{
    const struct gpu *gpu = platform_section_get(m->platform, "gpu");
    const struct pcie *link = link_of(m);
    return gpu->memory_bytes - (link ? link->uvm_reserve_bytes : 0) - settings_of(m)->ballast;
}

int64_t uvm_managed_memory(const struct uvm_managed *m, uint64_t bytes)
{
    const struct uvm_managed_settings *set = settings_of(m);
    int64_t there = memory_there(m);
    if (set->gpu_memory_bytes || set->oversubscription_pct)
        return set->gpu_memory_bytes;
    return bytes > (uint64_t)there ? there : 0;
}

int uvm_managed_check(const struct uvm_managed *m, struct err *err)
{
    const struct uvm_managed_settings *set = settings_of(m);
    char bytes[32], kept[32];
    if (set->gpu_memory_bytes && set->gpu_memory_bytes < ACTOR_BLOCK_BYTES)
        return err_set(
            err, "gpu_memory_bytes is %s, and managed data takes GPU memory by blocks of 2 MiB: give 2MiB or more",
            units_format_bytes(set->gpu_memory_bytes, bytes, sizeof bytes));
    if (set->gpu_memory_bytes || set->oversubscription_pct || memory_there(m) >= ACTOR_BLOCK_BYTES)
        return 0;
    const struct gpu *gpu = platform_section_get(m->platform, "gpu");
    return err_set(err,
                   "memory_bytes is %s, of which managed data cannot have %s (uvm_reserve_bytes, ballast): no block of "
                   "2 MiB is left; give more memory_bytes, or gpu_memory_bytes",
                   units_format_bytes(gpu->memory_bytes, bytes, sizeof bytes),
                   units_human_bytes((double)(gpu->memory_bytes - memory_there(m)), kept, sizeof kept));
}

/* Run, and write what a recorder would have seen. */
static int record(const struct uvm_managed *m, struct uvm_run *run, struct uvm_metrics *metrics, struct err *err)
{
    char label[256], gpu[128];
    const char *gpus = m->platform->gpus;
    (void)snprintf(gpu, sizeof gpu, "%.*s", (int)strcspn(gpus, ","), gpus);
    size_t n;
    const struct actor_alloc *allocs = m->ops->allocs(m->state, &n);
    struct uvm_export x;
    const struct uvm_export_facts facts = {.policy = replay_policy_label(m->policy, label, sizeof label),
                                           .gpu = gpu,
                                           .traced = run->traced,
                                           .counters = run->access_counters,
                                           .discards = run->discard != NULL,
                                           .advice = run->advice};
    int rc = uvm_export_init(&x, allocs, n, err);
    struct uvm_observer observer = uvm_export_observer(&x);
    run->observer = &observer;
    if (rc == 0)
        rc = uvm_simulate(run, metrics, err);
    run->observer = NULL;
    if (rc == 0)
        rc = m->recording->csv ? uvm_export_csv(&x, &facts, m->recording->csv, err)
                               : uvm_export_store(&x, &facts, m->recording->store, err);
    uvm_export_release(&x);
    return rc;
}

/* `own` gets its numbers. */
static struct uvm_run run_of(const struct uvm_managed *m, uint64_t footprint, struct uvm_platform *own)
{
    const struct uvm_managed_settings *set = settings_of(m);
    const struct replay_policy *policy = m->policy;
    *own = uvm_platform_on_host(platform_section_get(m->platform, "uvm"));
    return (struct uvm_run){
        .ops = m->ops,
        .state = m->state,
        .gpu = m->gpu ? m->gpu : platform_section_get(m->platform, "gpu"),
        .platform = own,
        .calls = platform_section_get(m->platform, "launch"),
        .policy = policy ? uvm_policy_of(policy->head) : uvm_policy_stock(),
        .policy_params = policy ? policy->params : NULL,
        .evict = policy && policy->second ? uvm_evict_of(policy->second) : NULL,
        .evict_params = policy ? policy->second_params : NULL,
        .oversubscription_pct = set->oversubscription_pct,
        .gpu_memory_bytes = uvm_managed_memory(m, footprint),
        .traced = m->traced,
        .two_engines = own->copy_engines == 2,
        .replay = (enum uvm_replay)set->replay_policy,
        .thrashing = set->thrashing != UVM_THRASHING_OFF,
        .lapse = lapse_of(m),
        .access_counters = set->access_counters,
        .pcie = link_of(m),
        .stop_ns = m->stop_ns,
        .later = m->later,
        .times = m->times,
        .progress = m->progress,
        .parts = m->parts,
        .on_batch = m->on_batch,
        .ctx = m->ctx,
    };
}

int uvm_managed_run(const struct uvm_managed *m, struct uvm_metrics *metrics, struct err *err)
{
    const struct uvm_managed_settings *set = settings_of(m);
    struct uvm_hints hints;
    size_t n;
    const struct actor_alloc *allocs = m->ops->allocs(m->state, &n);
    struct uvm_platform own;
    struct uvm_run run = run_of(m, actor_space_pages(allocs, n) * ACTOR_PAGE_BYTES, &own);
    if (uvm_managed_check(m, err))
        return -1;
    int rc = uvm_hints_init(&hints, allocs, n, set->advise, set->prefetch, set->discard, err);
    struct uvm_lockstep both;
    if (m->other) {
        both = (struct uvm_lockstep){.policy = {run.policy, uvm_policy_of(m->other->head)},
                                     .params = {run.policy_params, m->other->params},
                                     .diverged = m->diverged};
        run.policy = &uvm_lockstep;
        run.policy_params = &both;
    }
    run.advice = hints.advice;
    run.prefetch = hints.prefetch;
    run.discard = hints.discard;
    if (rc == 0 && set->discard && !uvm_version_discards(version_of(m)))
        rc = err_set(err, "discard: drivers from %d on have it, this one is %lld", UVM_VERSION_DISCARDS,
                     (long long)version_of(m));
    if (rc == 0 && m->recording && run.replay != UVM_REPLAY_BATCH_FLUSH)
        rc = err_set(err, "--recording: what a recorder sees of another replay_policy than batch-flush is not known");
    if (rc == 0)
        rc = m->recording ? record(m, &run, metrics, err) : uvm_simulate(&run, metrics, err);
    uvm_hints_release(&hints);
    if (rc == 0 && !run.pcie && metrics->remote_bytes)
        rc = err_set(err, "platform %s has no section [pcie]: what remote accesses cost is not known",
                     m->platform->name);
    return rc;
}

struct uvm_managed_activity uvm_managed_activity(const struct uvm_metrics *m)
{
    return (struct uvm_managed_activity){.known = !m->stopped,
                                         .faulted = m->batches || m->cpu_faults,
                                         .evicted = m->evictions > 0,
                                         .remote = m->remote_bytes || m->counter_notifications,
                                         .prefetched = m->prefetch_ns > 0};
}

bool uvm_managed_same(const struct platform *a, const struct platform *b, struct uvm_managed_activity activity)
{
    static const char *const caches[] = {
        "l2_ways", "l1_ways", "l1_sets", "l1_replacement", "l1_allocate", "l1_cycles", "l1_banks", "miss_queue", NULL};
    /* Of [uvm], by what a run did not do: evict; evict or fault. */
    static const char *const tracing[] = {"evict_ns", "copy_engines", "trace_record_ns", "trace_entry_ns", NULL};
    static const char *const faults[] = {
        "evict_ns",        "utlb",           "utlb_faults",   "utlb_merge",      "sm_parts",       "fault_gap_ns",
        "walk_gap_ns",     "walk_ns",        "interrupt_ns",  "top_half_ns",     "awake_ns",       "gpu_fault_gap_ns",
        "batch_before_ns", "batch_after_ns", "raw_fault_ns",  "fault_page_ns",   "service_ns",     "service_again_ns",
        "poll_ns",         "moved_page_ns",  "unmap_page_ns", "trace_record_ns", "trace_entry_ns", NULL};
    /* Of [launch], what is not the managed memory's; the first three are of prefetches. */
    static const char *const calls[] = {"prefetch_call_ns", "prefetch_block_ns",    "zero_bytes_per_s",
                                        "lock_bytes_per_s", "pageable_bytes_per_s", NULL};
    const bool linked = platform_has(a, "pcie") || platform_has(b, "pcie");
    const struct pcie *x = platform_section_get(a, "pcie"), *y = platform_section_get(b, "pcie");
    if (!activity.known || !platform_same(a, b, "gpu", caches))
        return false;
    if (!platform_same(a, b, "launch", activity.prefetched ? calls + 3 : calls))
        return false;
    if (linked && (activity.remote ? !platform_same(a, b, "pcie", NULL) : x->uvm_reserve_bytes != y->uvm_reserve_bytes))
        return false;
    return platform_same(a, b, "uvm", activity.evicted ? tracing + 2 : activity.faulted ? tracing : faults);
}

void uvm_managed_note(const struct uvm_managed *m, const struct uvm_metrics *metrics, struct outcome *outcome)
{
    const struct uvm_managed_settings *set = settings_of(m);
    if (metrics->chunks && !set->gpu_memory_bytes && !set->oversubscription_pct)
        outcome_note(outcome,
                     "memory is short: the GPU holds %" PRIu64
                     " chunks of 2 MiB, the platform's memory less what managed data cannot have",
                     metrics->chunks);
    uvm_managed_note_blocks(m, metrics, outcome);
}

void uvm_managed_note_blocks(const struct uvm_managed *m, const struct uvm_metrics *metrics, struct outcome *outcome)
{
    const int64_t pct = settings_of(m)->oversubscription_pct;
    size_t n;
    const struct actor_alloc *allocs = m->ops->allocs(m->state, &n);
    const uint64_t blocks = actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES;
    double bytes = 0;
    char data[32];
    for (size_t i = 0; i < n; i++)
        bytes += (double)allocs[i].bytes;
    if (pct > 100 && (double)blocks * ACTOR_BLOCK_BYTES > 1.25 * bytes)
        outcome_note(outcome,
                     "oversubscription_pct=%lld counts blocks of 2 MiB: %s of data lie in %" PRIu64
                     " of them, of which GPU memory holds %" PRIu64,
                     (long long)pct, units_human_bytes(bytes, data, sizeof data), blocks, metrics->chunks);
}

/* What stands in brackets, or all of it. NULL with *err set. */
static char *unwrapped(const char *text, struct err *err)
{
    size_t n = strlen(text);
    bool wrapped = n > 1 && text[0] == '[' && text[n - 1] == ']';
    char *copy = mem_strdup(text + wrapped, err);
    if (copy && wrapped)
        copy[n - 2] = 0;
    return copy;
}

int uvm_managed_policy(struct policy_list *list, const char *text, struct err *err)
{
    memset(list, 0, sizeof *list);
    if (!text)
        return 0;
    char *copy = unwrapped(text, err);
    int rc = copy ? policy_list_add(list, &engine_uvm, copy, err) : -1;
    free(copy);
    if (rc)
        return -1;
    if (list->count != 1)
        return err_set(err, "'%.100s' is %zu policies; expected one prefetcher, with or without '+EVICTION'", text,
                       list->count);
    return list->policies[0].head->baseline
               ? err_set(err, "%s is for managed memory before demand paging", list->policies[0].head->name)
               : 0;
}
