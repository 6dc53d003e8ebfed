#include "replay/uvm/uvm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "replay/uvm/actor_input.h"
#include "replay/uvm/uvm_answer.h"
#include "replay/uvm/uvm_fault_log.h"
#include "trace/base/csv_text.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/derived/recording.h"
#include "trace/store/output.h"
#include "trace/workloads/micro/launch_touch.h"

static const struct param settings[] = {
    UVM_MANAGED_ROWS(uvm_settings),
    PARAM_INT_ROW(uvm_settings, traced, "", 0, 1, 0, "1: kernel times as under unified-memory tracing by CUPTI"),
    PARAM_CHOICE_ROW(uvm_settings, mode, "demand|legacy", UVM_DEMAND,
                     "demand paging, or managed memory before it (workload launch-touch)"),
    PARAM_REAL_ROW(uvm_settings, stop_ratio, "", 0, 1e9, 0,
                   "a simulated run stops, and is n/a, at so many times the baseline's time; 0: all run to their ends"),
    PARAM_INT_ROW(uvm_settings, process, "", RECORDING_ANY, INT32_MAX, RECORDING_ANY,
                  "the process to replay of a trace that holds several; -1: the only one"),
    PARAM_INT_ROW(uvm_settings, gpu, "", RECORDING_ANY, INT32_MAX, RECORDING_ANY,
                  "the GPU to replay of a trace that holds several; -1: the only one"),
    {0}};

/* --- the batches, one line each, for --requests --- */

struct batch_log {
    FILE *to; /* a temporary file: runs go on in parallel, their lines stand policy after policy */
    char label[128];
    uint64_t count;
};

static void log_batch(void *ctx, const struct uvm_finished_batch *seen)
{
    struct batch_log *log = ctx;
    size_t n = seen->batch->block_count;
    long long first = n ? (long long)seen->batch->blocks[0].number : -1;
    long long last = n ? (long long)seen->batch->blocks[n - 1].number : -1;
    csv_text_put(log->to, log->label, true);
    (void)fprintf(log->to, ",%llu,%lld,%lld,%u,", (unsigned long long)log->count++, (long long)seen->fetch_ns,
                  (long long)seen->end_ns, seen->launch);
    csv_text_put(log->to, seen->kernel, true);
    (void)fprintf(log->to, ",%u,%u,%u,%zu,%lld,%lld,%llu\n", seen->raw, seen->faults, seen->moved, n, first, last,
                  (unsigned long long)seen->batch->evictions);
}

/* Put the runs' lines into the file asked for. */
static int join_logs(const struct replay_job *job, struct batch_log *logs, struct err *err)
{
    (void)fputs(
        "policy,batch,fetch_ns,end_ns,launch,kernel,raw_faults,faults,pages,blocks,block_first,block_last,evictions\n",
        job->requests);
    char buf[65536];
    bool failed = false;
    for (size_t i = 0; i < job->policy_count; i++) {
        failed |= fseek(logs[i].to, 0, SEEK_SET) != 0;
        for (size_t n; (n = fread(buf, 1, sizeof buf, logs[i].to)) > 0;)
            failed |= fwrite(buf, 1, n, job->requests) != n;
        failed |= ferror(logs[i].to) != 0;
    }
    return failed ? err_set(err, "cannot write all of the batches") : 0;
}

/* --- managed memory before demand paging --- */

static void report_legacy(const struct legacy_cost *cost, const struct launch_touch *w, bool mapped,
                          struct outcome *out)
{
    const uint64_t launches = (uint64_t)w->launches, structure = (uint64_t)w->pages * 4096;
    const struct uvm_value none = uvm_count(0, true);
    struct uvm_numbers n = {.time_ns = uvm_value(round(cost->time_ns * (double)launches), true),
                            .h2d_bytes = uvm_count((uint64_t)cost->h2d_bytes * launches, true),
                            .d2h_bytes = uvm_count((uint64_t)cost->d2h_bytes * launches, true),
                            .structure_bytes = uvm_count(structure, true),
                            .touched_bytes = w->touch == LEGACY_NONE ? none : uvm_count(structure, true)};
    n.faults = n.batches = n.fault_handler_runs = n.services = n.prefetched_bytes = n.evictions = none;
    uvm_numbers_report(n, out);
    outcome_real(out, "overfetch_ratio", NAN); /* whole allocations are copied, each launch anew */
    if (mapped)
        outcome_note(
            out, "mapped pinned memory: nothing is copied and nothing faults; the kernel reads %lld bytes over the bus",
            (long long)w->gpu_bytes);
    else
        outcome_note(out,
                     "legacy: %lld CPU faults a launch; %.4g us to copy in, %.4g us in faults, %.4g us to copy back",
                     (long long)cost->faults, cost->copy_in_ns / 1e3, cost->fault_ns / 1e3, cost->copy_back_ns / 1e3);
}

/* Managed memory before demand paging: decisions at launches and CPU faults, none for policies of fault batches. */
static int legacy_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct input *input = &job->inputs[0];
    if (job->engine_options)
        return err_set(err, "--recording: managed memory before demand paging has no faults to record");
    for (size_t i = 0; i < job->policy_count; i++)
        if (job->policies[i].second)
            return err_set(err, "+%s: managed memory before demand paging evicts nothing",
                           job->policies[i].second->name);
    if (!input->workload.type || input->workload.type->produces != WORKLOAD_LAUNCHES)
        return err_set(err, "legacy mode replays the workload launch-touch; '%.100s' is none", input->spec);
    if (!platform_has(job->platform, "legacy"))
        return err_set(err, "platform %s has no [legacy] numbers; try gm200 or gp100", job->platform->name);
    const struct legacy_platform *hw = platform_section_get(job->platform, "legacy");
    const struct launch_touch *w = input->workload.state;
    for (size_t i = 0; i < job->policy_count; i++) {
        bool mapped = job->policies[i].head->baseline;
        struct legacy_cost cost;
        if (mapped)
            legacy_mapped(hw, w->gpu_bytes, &cost);
        else
            legacy_launch(hw, w->pages, (enum legacy_touch)w->touch, &cost);
        report_legacy(&cost, w, mapped, &runs[i]);
        if (!mapped)
            outcome_note(&runs[i], "%s decides nothing here: before demand paging a launch moves what the CPU dirtied",
                         job->policies[i].head->name);
    }
    return 0;
}

/* --- the closed loop --- */

struct closed_loop {
    const struct replay_job *job;
    struct actor_input touching;
    struct batch_log *logs;             /* one per policy; NULL: none wanted */
    const struct uvm_fault_log *faults; /* the actors are of such a log; NULL: they are whole */
    const struct replay_job *beside;    /* whose recording is of the same program; NULL: none */
    bool first_only;                    /* of each launch's touches only the first of each page are known */
    bool short_of_memory;               /* there is less than the touches' memory */
    int64_t stop_ns;                    /* a run that is proved to take longer stops; 0: none does */
};

static bool has_hints(const struct uvm_managed_settings *set)
{
    return set->advise || set->prefetch || set->discard || set->access_counters;
}

/* Whether first touches, or a log of faults, cannot answer for a policy. Notes say why, or how the log was made. */
static bool refused(const struct closed_loop *loop, size_t i, struct outcome *outcome)
{
    const struct uvm_fault_log *log = loop->faults;
    if (loop->first_only && loop->short_of_memory)
        outcome_note(outcome, "refused: with less memory pages are evicted and touched again, which each launch's "
                              "first touches do not show; use a program or accesses");
    if (!log)
        return loop->first_only && loop->short_of_memory;
    bool hidden = log->prefetch == UVM_LOG_PREFETCH_ON && !uvm_policy_of(loop->job->policies[i].head)->stock;
    const struct uvm_settings *set = loop->job->settings;
    bool advised = has_hints(&set->managed);
    if (advised)
        outcome_note(outcome, "refused: advice, prefetches and discards change what faults; a log of faults does not "
                              "show touches of resident pages");
    else if (loop->short_of_memory)
        outcome_note(outcome, "refused: with less memory than the log's pages are evicted and touched again; a log of "
                              "faults does not show touches of resident pages");
    else if (hidden)
        outcome_note(outcome, "refused: touches of prefetched pages are not in the log, and under this policy they may "
                              "fault; record with uvm_perf_prefetch_enable=0");
    else if (log->prefetch == UVM_LOG_PREFETCH_ON)
        outcome_note(outcome,
                     "the log was made under the stock prefetcher: it does not show what faults under another policy");
    uvm_fault_log_note(log, outcome);
    return loop->short_of_memory || hidden || advised;
}

static int run_one(const struct closed_loop *loop, size_t i, struct outcome *outcome, struct err *err)
{
    const struct replay_job *job = loop->job;
    const struct uvm_settings *set = job->settings;
    struct breakdown parts = {0};
    struct uvm_metrics m;
    if (refused(loop, i, outcome))
        return 0;
    const struct uvm_managed managed = {.ops = loop->touching.ops,
                                        .state = loop->touching.state,
                                        .store = loop->touching.store,
                                        .platform = job->platform,
                                        .policy = &job->policies[i],
                                        .settings = &set->managed,
                                        .traced = set->traced,
                                        .stop_ns = loop->stop_ns,
                                        .progress = job->progress,
                                        .parts = &parts,
                                        .on_batch = loop->logs ? log_batch : NULL,
                                        .ctx = loop->logs ? &loop->logs[i] : NULL,
                                        .recording = job->engine_options};
    int rc = uvm_managed_run(&managed, &m, err);
    if (rc == 0 && m.stopped)
        outcome_note(outcome, "stopped at over %g times the baseline's time, %lld ns (stop_ratio=0 runs it to its end)",
                     set->stop_ratio, (long long)loop->stop_ns);
    else if (rc == 0) {
        rc = uvm_metrics_report(&m, &parts, outcome, err);
        uvm_managed_note(&managed, &m, outcome);
    }
    breakdown_release(&parts);
    return rc;
}

static int open_logs(struct closed_loop *loop, struct err *err)
{
    const struct replay_job *job = loop->job;
    loop->logs = mem_zalloc(job->policy_count, sizeof *loop->logs, err);
    if (!loop->logs)
        return -1;
    for (size_t i = 0; i < job->policy_count; i++) {
        (void)replay_policy_label(&job->policies[i], loop->logs[i].label, sizeof loop->logs[i].label);
        loop->logs[i].to = output_aside(false, err);
        if (!loop->logs[i].to)
            return -1;
    }
    return 0;
}

static void close_logs(struct closed_loop *loop)
{
    for (size_t i = 0; loop->logs && i < loop->job->policy_count; i++)
        if (loop->logs[i].to)
            (void)fclose(loop->logs[i].to);
    free(loop->logs);
}

/* Run the baseline first, and keep what the other runs need of it. */
static int run_baseline(struct closed_loop *loop, struct outcome *run, struct err *err)
{
    const double ratio = ((const struct uvm_settings *)loop->job->settings)->stop_ratio;
    if (run_one(loop, loop->job->baseline, run, err))
        return -1;
    const struct metric_value *time = outcome_get(run, "time_ns");
    loop->stop_ns = time->known && time->real * ratio < 0x1p62 ? (int64_t)(time->real * ratio) : 0;
    return 0;
}

/* Policies take very different times: they are handed out one by one. The first error in the list's order counts. */
static int run_policies(struct closed_loop *loop, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = loop->job;
    const size_t first = ((const struct uvm_settings *)job->settings)->stop_ratio > 0 ? job->baseline : SIZE_MAX;
    if (first != SIZE_MAX && run_baseline(loop, &runs[first], err))
        return -1;
    struct err *errors = mem_zalloc(job->policy_count, sizeof *errors, err);
    if (!errors)
        return -1;
    int threads = job->threads > 0 ? job->threads : 1, failed = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : failed)
    for (size_t i = 0; i < job->policy_count; i++)
        failed += i != first && run_one(loop, i, &runs[i], &errors[i]) != 0;
    for (size_t i = 0; failed && i < job->policy_count; i++)
        if (errors[i].msg[0]) {
            *err = errors[i];
            break;
        }
    free(errors);
    return failed ? -1 : 0;
}

/* The actors are those of a recording: all that faulted in it is touched by them. */
static int check_beside(const struct closed_loop *loop, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = loop->beside;
    const struct uvm_settings *set = job->settings;
    const char *spec = loop->job->inputs[0].spec;
    if (uvm_touches_fit(job, (struct recording){set->process, set->gpu}, &loop->touching, runs, err))
        return err_at(err, "%s", spec);
    for (size_t i = 0; i < job->policy_count; i++)
        outcome_note(&runs[i], "touches: every answer simulates %s, which touches all that faulted in %s", spec,
                     spec == job->inputs[0].spec ? "its own migrations" : job->inputs[0].spec);
    return 0;
}

static int replay_loop(struct closed_loop *loop, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = loop->job;
    if (loop->beside && check_beside(loop, runs, err))
        return -1;
    int rc = job->requests ? open_logs(loop, err) : 0;
    if (rc == 0)
        rc = run_policies(loop, runs, err);
    if (rc == 0 && loop->logs)
        rc = join_logs(job, loop->logs, err);
    close_logs(loop);
    return rc;
}

/* Find which questions first touches and logs of faults cannot answer. */
static int look_for_gaps(struct closed_loop *loop, struct uvm_fault_log *log, struct store *store, struct err *err)
{
    const struct uvm_managed_settings *set = &((const struct uvm_settings *)loop->job->settings)->managed;
    size_t n;
    const struct actor_alloc *allocs = loop->touching.ops->allocs(loop->touching.state, &n);
    uint64_t blocks = actor_space_pages(allocs, n) / ACTOR_BLOCK_PAGES;
    loop->first_only = loop->beside && store && store_origin_get(store, "touches"); /* record --touches */
    const struct uvm_managed asked = {.platform = loop->job->platform, .settings = set};
    const int64_t memory = uvm_managed_memory(&asked, blocks * ACTOR_BLOCK_BYTES);
    loop->short_of_memory = memory ? (uint64_t)memory / ACTOR_BLOCK_BYTES < blocks : set->oversubscription_pct > 100;
    if (loop->touching.kind != UVM_INPUT_FAULT_LOG)
        return 0;
    loop->faults = log;
    return uvm_fault_log_read(log, store, allocs, n, err);
}

/* What touches pages: a program, accesses or touches. `beside`: the job of a recording of it, or NULL. */
static int replay_touching(const struct replay_job *job, const struct replay_job *beside, struct outcome *runs,
                           struct err *err)
{
    const struct input *input = &job->inputs[0];
    struct closed_loop loop = {.job = job, .beside = beside};
    struct uvm_fault_log log;
    if (actor_input_open(&loop.touching, input, err))
        return -1;
    int rc = look_for_gaps(&loop, &log, input->store, err);
    if (rc == 0)
        actor_input_keep(&loop.touching, job->policy_count, job->threads);
    if (rc == 0)
        rc = replay_loop(&loop, runs, err);
    for (size_t i = 0; i < job->policy_count && rc == 0 && loop.touching.view; i++)
        derive_notes(&loop.touching.accesses.source, VIEW_UVM, &runs[i]);
    actor_input_close(&loop.touching);
    return rc;
}

/* A recording with touches of its program beside it. */
static int replay_beside(const struct replay_job *job, enum uvm_input kind, const struct input *touches,
                         struct outcome *runs, struct err *err)
{
    struct replay_job loop = *job;
    if (kind != UVM_INPUT_RECORDING)
        return err_set(err, "--touches stands beside a recording of migrations; %s is none", job->inputs[0].spec);
    if (uvm_input_of(touches) == UVM_INPUT_FAULT_LOG || !actor_input_is(touches))
        return err_set(err, "--touches %s: expected page touches of the program, or its accesses", touches->spec);
    loop.inputs = touches;
    loop.input_count = 1;
    return replay_touching(&loop, job, runs, err);
}

/* Settings of simulated runs, asked of a recording. */
static int refuse_recorded(const struct replay_job *job, struct err *err)
{
    const struct uvm_settings *set = job->settings;
    if (set->managed.gpu_memory_bytes && uvm_managed_check(&(struct uvm_managed){.settings = &set->managed}, err))
        return -1;
    if (has_hints(&set->managed))
        return err_set(
            err, "advise, prefetch, discard and access_counters change what faults; a recording of migrations does not "
                 "show what would have been touched instead: use a program or a trace of page touches");
    if (set->managed.replay_policy != UVM_REPLAY_BATCH_FLUSH)
        return err_set(err,
                       "replay_policy: recordings are of the driver's default, batch-flush; what they would be under "
                       "another is not known: use a program or a trace of page touches");
    if (set->stop_ratio > 0)
        return err_set(err, "stop_ratio stops simulated runs; a recording is not simulated");
    return 0;
}

/* Launches in closed form: by the setting, and where the platform has numbers of managed memory before demand paging;
 * elsewhere they are a program like others. */
static bool before_demand_paging(const struct replay_job *job)
{
    const struct workload_type *type = job->inputs[0].workload.type;
    return ((const struct uvm_settings *)job->settings)->mode == UVM_LEGACY ||
           (type && type->produces == WORKLOAD_LAUNCHES && platform_has(job->platform, "legacy"));
}

/* Beside a recording, or in it; NULL: there are none. */
static const struct input *touches_of(const struct replay_job *job)
{
    const struct input *beside = uvm_touches_input(job), *first = &job->inputs[0];
    const bool own = uvm_input_of(first) == UVM_INPUT_RECORDING && actor_input_is(first);
    return !beside && own ? first : beside;
}

/* Recordings need no GPU to be run again. */
static const char *const *uvm_sections(const struct replay_job *job)
{
    static const char *const legacy[] = {"legacy", NULL}, *const recorded[] = {"uvm", NULL},
                             *const closed[] = {"uvm", "gpu", "launch", NULL};
    if (touches_of(job))
        return closed;
    if (before_demand_paging(job))
        return legacy;
    return uvm_input_of(&job->inputs[0]) == UVM_INPUT_RECORDING ? recorded : closed;
}

/* The memory that managed data has, and pages that stay with the CPU (uvm_remote_init()). */
static const char *const *uvm_besides(const struct replay_job *job)
{
    static const char *const none[] = {NULL},
                             *const link[] = {
                                 "pcie.uvm_reserve_bytes", "pcie.gigatransfers", "pcie.lanes",   "pcie.efficiency",
                                 "pcie.completion_bytes",  "pcie.request_bytes", "pcie.tags",    "pcie.round_trip_ns",
                                 "pcie.host_bytes_per_s",  "pcie.sharpness",     "pcie.load_ns", NULL};
    return strcmp(uvm_sections(job)[0], "legacy") != 0 && uvm_sections(job)[1] ? link : none;
}

static int refuse_to_record(const struct replay_job *job, struct err *err)
{
    if (!job->engine_options)
        return 0;
    return err_set(err, "--recording writes what a recorder would have seen of a simulated run; %s is a recording",
                   job->inputs[0].spec);
}

static int uvm_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct input *touches = touches_of(job);
    if (job->input_count != 1u + (uvm_touches_input(job) != NULL))
        return err_set(err, "the uvm engine replays one input; %zu were given", job->input_count);
    const enum uvm_input kind = uvm_input_of(&job->inputs[0]);
    if (touches)
        return replay_beside(job, kind, touches, runs, err);
    if (before_demand_paging(job))
        return legacy_replay(job, runs, err);
    for (size_t i = 0; i < job->policy_count; i++)
        if (job->policies[i].head->baseline)
            return err_set(err, "%s is for legacy mode; see 'offchip list policies'", job->policies[i].head->name);
    switch (kind) {
    case UVM_INPUT_RECORDING:
        if (refuse_recorded(job, err) || refuse_to_record(job, err))
            return -1;
        return uvm_answer_replay(job, runs, err);
    case UVM_INPUT_FAULT_LOG:
        if (refuse_to_record(job, err))
            return -1;
        break;
    case UVM_INPUT_PROGRAM:
    case UVM_INPUT_ACCESSES:
    case UVM_INPUT_TOUCHES:
    case UVM_INPUT_OTHER: /* says what there is instead */
        break;
    }
    return replay_touching(job, NULL, runs, err);
}

const struct engine engine_uvm = {
    .name = "uvm",
    .summary = "unified memory: page faults, prefetch, eviction",
    .default_platform = "titanv",
    .view = VIEW_UVM,
    .default_policies = "tree,fixed:granularity=4KiB,fixed:granularity=64KiB,fixed:granularity=2MiB,adaptive",
    .policies = uvm_policies,
    .second = uvm_evict_policies,
    .second_key = "evict",
    .plugin_interface = POLICY_UVM_PREFETCH,
    .second_plugin_interface = POLICY_UVM_EVICT,
    .settings = settings,
    .settings_size = sizeof(struct uvm_settings),
    .metrics = uvm_metric_table,
    .headline = "time_ns,speedup_ratio,faults,batches,h2d_bytes,d2h_bytes,evictions,read_amplification_ratio",
    .ranks = "-time_ns,-h2d_bytes,-faults",
    .measured = "managed",
    .measured_of = "tree",
    .sections = uvm_sections,
    .besides = uvm_besides,
    .recordings = true,
    .replay = uvm_replay,
};
