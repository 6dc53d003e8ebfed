/* Front end `direct`: every channel fed from its file's order, one after the other or in parallel. */
#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram.h"

/* Everything one channel's run needs. */
struct run {
    const struct replay_job *job;
    const struct replay_policy *policy;
    const struct dram_stream_channel *requests;
    struct dram_timestamps *timestamps;
    struct dram_channel *channel;
    struct dram_feed feed;
    struct dram_commands commands;
};

static int run_channel(struct run *run, bool explain, struct err *err)
{
    const struct dram_settings *set = run->job->settings;
    const struct dram_policy *policy = (const struct dram_policy *)run->policy->head;
    void *state = dram_state_new(run->policy, err);
    if (!state || dram_channel_init(run->channel, platform_section_get(run->job->platform, "dram"), err)) {
        free(state);
        return -1;
    }
    if (run->timestamps)
        run->channel->timestamps = *run->timestamps;
    if (explain)
        dram_explain_attach(run->channel, run->job, run->policy, run->requests);
    dram_commands_attach(&run->commands, run->channel, run->job);
    const struct dram_stream_channel *c = run->requests;
    run->feed = (struct dram_feed){.requests = c->requests,
                                   .count = (uint32_t)c->count,
                                   .ids = {c->class_ids[0], c->class_ids[1]},
                                   .ids_count = {(uint32_t)c->class_count[0], (uint32_t)c->class_count[1]},
                                   .vcs = (int)set->vcs,
                                   .limit = set->run_limit_cycles ? set->run_limit_cycles : INT64_MAX};
    policy->loops->feed(run->channel, state, &run->feed);
    free(state);
    progress_add(run->job->progress, c->count);
    return dram_channel_check(run->channel, run->feed.finished, err);
}

int dram_direct_run(const struct replay_job *job, const struct replay_policy *policy, const struct dram_stream *stream,
                    struct dram_request_log *request_log, struct dram_totals *totals, struct err *err)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic)                                                                             \
    num_threads(job->threads) if (stream->channels > 1 && !dram_options(job)->commands)
    for (uint32_t i = 0; i < stream->channels; i++) {
        if (!stream->channel[i].count || __atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        struct err mine = {""};
        struct run run = {.job = job, .policy = policy, .requests = &stream->channel[i]};
        run.timestamps = request_log ? &request_log->channel[i] : NULL;
        run.commands = (struct dram_commands){.channel = i, .requests = run.requests};
        run.channel = aligned_alloc(64, sizeof *run.channel);
        int rc = run.channel ? run_channel(&run, i == 0, &mine) : err_set(&mine, "out of memory");
#pragma omp critical(dram_direct)
        {
            if (rc && !failed) {
                failed = 1;
                err_set(err, "channel %u: %s", i, mine.msg);
            }
            if (!rc) {
                dram_totals_add(totals, &run.channel->stats, run.feed.cycles, run.requests->class_count);
                totals->stuck |= run.feed.stuck;
            }
        }
        free(run.channel);
    }
    return failed ? -1 : 0;
}
