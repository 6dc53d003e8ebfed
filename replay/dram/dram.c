#include "replay/dram/dram.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"

static const struct param settings[] = {
    PARAM_CHOICE_ROW(dram_settings, front, "corun|direct", DRAM_FRONT_CORUN, "what brings the requests"),
    PARAM_INT_ROW(dram_settings, vcs, "", 1, 2, 2, "virtual channels: 1 shared, 2 one per class"),
    PARAM_INT_ROW(dram_settings, run_limit_cycles, "cycles", 0, 1e15, 0, "end of a run that makes no end; 0: none"),
    PARAM_INT_ROW(dram_settings, run_limit_factor, "", 0, 1e6, 20,
                  "corun: limit as a multiple of the time alone; 0: none"),
    PARAM_INT_ROW(dram_settings, launch_gap, "cycles", -1, 1e12, -1,
                  "corun: idle cycles between launches; -1: the platform's launch latency"),
    PARAM_CHOICE_ROW(dram_settings, loop, "no|yes|auto", 2, "corun: repeat a side until both are done once"),
    PARAM_INT_ROW(dram_settings, mem2_sms, "", 1, 1024, 8, "programs: multiprocessors of a second GPU program"),
    PARAM_TEXT_ROW(dram_settings, cut, "300000", "programs: requests that each is cut to, about; none: whole"),
    {0}};

static const char *const roles[] = {"mem", "pim", NULL};

void *dram_state_new(const struct replay_policy *policy, struct err *err)
{
    const struct dram_policy *p = (const struct dram_policy *)policy->head;
    if (p->check && p->check(policy->params, err))
        return NULL;
    void *state = mem_zalloc(1, policy->head->state_size, err);
    if (state)
        memcpy(state, policy->params, policy->head->state_size);
    return state;
}

void dram_stats_add(struct dram_stats *sum, const struct dram_stats *s)
{
    const int64_t *from = (const int64_t *)s;
    int64_t *to = (int64_t *)sum;
    const size_t sums = offsetof(struct dram_stats, last_out) / sizeof *from;
    for (size_t i = 0; i < sums; i++)
        to[i] += from[i];
    for (int c = 0; c < 2; c++)
        if (s->last_out[c] > sum->last_out[c])
            sum->last_out[c] = s->last_out[c];
}

void dram_totals_add(struct dram_totals *t, const struct dram_stats *stats, int64_t cycles, const size_t requests[2])
{
    dram_stats_add(&t->stats, stats);
    t->channels++;
    t->cycles = cycles > t->cycles ? cycles : t->cycles;
    for (int c = 0; c < 2; c++)
        if ((size_t)stats->out[c] < requests[c])
            t->starved[c] = true;
        else if (requests[c] && stats->last_out[c] + 1 > t->class_cycles[c])
            t->class_cycles[c] = stats->last_out[c] + 1;
}

struct dram_totals dram_totals_new(void)
{
    return (struct dram_totals){.stats.last_out = {-1, -1},
                                .class_cycles = {-1, -1},
                                .alone_cycles = {-1, -1},
                                .simulated = {-1, -1},
                                .mem_arrival_ratio = -1};
}

int64_t dram_run_limit(const struct dram_settings *set, int64_t alone)
{
    int64_t limit;
    if (set->run_limit_cycles)
        return set->run_limit_cycles;
    return set->run_limit_factor && !__builtin_mul_overflow(alone, set->run_limit_factor, &limit) ? limit : INT64_MAX;
}

/* --- open loop: one stream, every policy --- */

static int replay_open(const struct replay_job *job, const struct dram_stream *stream, struct outcome *runs,
                       struct err *err)
{
    struct dram_request_log request_log = {0};
    int rc = 0;
    if (job->requests) {
        rc = dram_request_log_init(&request_log, stream, err);
        dram_requests_head(job->requests);
    }
    for (size_t i = 0; i < job->policy_count && !rc; i++) {
        struct dram_totals totals = dram_totals_new();
        memcpy(totals.requests, stream->class_count, sizeof totals.requests);
        if (request_log.channel)
            dram_request_log_clear(&request_log, stream);
        rc = dram_direct_run(job, &job->policies[i], stream, request_log.channel ? &request_log : NULL, &totals, err);
        if (rc)
            err_at(err, "%s", job->policies[i].head->name);
        else
            dram_metrics_fill(&runs[i], job, stream, NULL, &totals);
        if (!rc && job->requests && i < job->listed_count)
            rc = dram_requests_write(job->requests, &job->policies[i], stream, &request_log, err);
    }
    dram_request_log_release(&request_log);
    return rc;
}

static int replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct dram_settings *set = job->settings;
    for (size_t i = 0; i < job->policy_count; i++) {
        const struct dram_policy *p = (const struct dram_policy *)job->policies[i].head;
        if (p->check && p->check(job->policies[i].params, err))
            return -1;
    }
    dram_commands_head(dram_options(job)->commands);
    if (set->front == DRAM_FRONT_CORUN) {
        const int programs = dram_inputs_are_programs(job, err);
        return programs < 0 ? -1 : (programs ? dram_corun_programs_replay : dram_corun_streams_replay)(job, runs, err);
    }
    struct dram_stream stream;
    if (dram_stream_load(&stream, job->inputs, job->input_count, UINT64_MAX, job->platform, job->progress, err))
        return -1;
    int rc = 0;
    if (!stream.count)
        rc = err_set(err, "%s holds no DRAM requests", job->inputs[0].spec);
    if (!rc && job->progress)
        atomic_store(&job->progress->total, stream.count * job->policy_count);
    if (!rc && set->vcs == 2)
        rc = dram_stream_split(&stream, err);
    if (!rc)
        rc = replay_open(job, &stream, runs, err);
    dram_stream_release(&stream);
    return rc;
}

static const char *const *sections(const struct replay_job *job)
{
    static const char *const all[] = {"dram", "gpu", NULL};
    (void)job;
    return all;
}

const struct engine engine_dram = {
    .name = "dram",
    .summary = "MEM and PIM requests through one memory controller",
    .default_platform = "gv100",
    .view = VIEW_DRAM,
    .default_policies = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,gather-issue,f3fs",
    .policies = dram_policies,
    .plugin_interface = POLICY_DRAM_SCHEDULER,
    .settings = settings,
    .settings_size = sizeof(struct dram_settings),
    .metrics = dram_metrics,
    .headline = "mem_speedup_ratio,pim_speedup_ratio,fairness_index,system_throughput,mode_switches,mem_row_hit_ratio,"
                "mem_simulated_ratio,pim_simulated_ratio,mem2_simulated_ratio",
    .ranks = "+system_throughput,+fairness_index,-time_ns",
    .roles = roles,
    .controllers = true,
    .sections = sections,
    .replay = replay,
};
