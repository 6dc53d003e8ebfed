/* Front end `partition`: a stream of requests before the memory partition of each channel, open loop, two clocks.
 *
 * Core cycle c and DRAM cycle k tick at c and at k * core_hz / dram_hz core cycles; both at 0; DRAM first in a tie. In
 * each core cycle each of the two sub-partitions (bank modulo 2) takes at most one request from its source FIFOs into
 * its L2 to DRAM queues, virtual channels round robin, PIM first; then replay/dram/dram_partition.h.
 * Source: GPGPU-Sim-4.0.1 branch ISPASS_2025, l2cache.cc (memory_partition_unit::dram_cycle, arbitration_metadata). */
#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_partition.h"
#include "trace/base/mem.h"

struct open_loop {
    struct dram_partition part;
    const struct dram_stream_channel *requests;
    /* Source FIFOs: positions by sub-partition and virtual channel, and how many were taken. */
    uint32_t *source[DRAM_SUBS][DRAM_VCS];
    uint32_t source_count[DRAM_SUBS][DRAM_VCS], source_head[DRAM_SUBS][DRAM_VCS];
    int last_in[DRAM_SUBS];
    struct dram_timestamps *timestamps;
    struct dram_clocks clocks;
    int64_t core_before; /* core cycle counter in the DRAM cycle before this one */
    int64_t *core_of;    /* by DRAM cycle, for per-request output; NULL: not wanted */
    size_t core_of_cap;
    bool out_of_memory;
    int64_t last_done[2]; /* core cycles */
    struct dram_commands commands;
};

static int open_init(struct open_loop *p, const struct replay_job *job, const struct replay_policy *policy,
                     struct err *err)
{
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    const int vcs = (int)((const struct dram_settings *)job->settings)->vcs;
    if (dram_partition_init(&p->part, job->platform, policy, vcs, err))
        return -1;
    dram_clocks_init(&p->clocks, gpu->clock_hz, dram->clock_hz);
    p->last_done[0] = p->last_done[1] = -1;
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < vcs; v++)
            if (!(p->source[s][v] = mem_zalloc(p->requests->count, sizeof **p->source[s], err)))
                return -1;
    for (size_t i = 0; i < p->requests->count; i++) {
        const struct dram_request *r = &p->requests->requests[i];
        if (r->flags & DRAM_L2_HIT)
            continue;
        const int s = r->bank % DRAM_SUBS, v = vcs == 2 && r->flags & DRAM_IS_PIM;
        p->source[s][v][p->source_count[s][v]++] = (uint32_t)i;
    }
    return 0;
}

static void open_release(struct open_loop *p)
{
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < DRAM_VCS; v++)
            free(p->source[s][v]);
    dram_partition_release(&p->part);
    free(p->core_of);
}

/* At most one request of a sub-partition's sources goes into its L2 to DRAM queues in this core cycle. */
static void take_one(struct open_loop *p, int s)
{
    const int vcs = p->part.vcs;
    for (int k = 0; k < vcs; k++) {
        const int v = vcs == 1 ? 0 : k == 0 ? !p->last_in[s] : p->last_in[s];
        if (p->source_head[s][v] == p->source_count[s][v])
            continue;
        const uint32_t id = p->source[s][v][p->source_head[s][v]];
        const struct dram_request *r = &p->requests->requests[id];
        if (r->arrival > p->clocks.core || !dram_partition_room(&p->part, s, v))
            continue;
        dram_partition_push(&p->part, s, v,
                            (struct dram_waiting){r->row, id, r->bank, (uint8_t)(r->flags & (DRAM_L2_HIT - 1))});
        p->source_head[s][v]++;
        p->last_in[s] = v;
        return;
    }
}

/* What is done in DRAM cycle k. */
static void replies(struct open_loop *p, int64_t k, int64_t core)
{
    const struct dram_completion *c;
    while ((c = dram_partition_done(&p->part, k))) {
        const struct dram_request *r = &p->requests->requests[c->id];
        const int class = (r->flags & DRAM_IS_PIM) != 0;
        const int64_t done = c->flags & DRAM_IS_POSTED ? core : p->core_before;
        dram_answered(&p->part.channel->stats, (enum dram_class) class, done - r->arrival);
        p->last_done[class] = done;
        if (p->timestamps)
            p->timestamps->done[c->id] = done;
        dram_partition_leave(&p->part, r->bank % DRAM_SUBS);
    }
}

/* Nothing can ever happen again: the channel has no event, nothing is on its way, and whatever waits cannot go on. */
static bool is_stuck(const struct open_loop *p, int64_t core)
{
    const struct dram_partition *part = &p->part;
    if (part->next != INT64_MAX || part->channel->completion_head != part->channel->completion_tail)
        return false;
    for (int v = 0; v < part->vcs; v++)
        if (part->wait_due[v] != INT64_MAX && part->wait_due[v] > core)
            return false;
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < part->vcs; v++)
            if (p->source_head[s][v] != p->source_count[s][v] && dram_partition_room(part, s, v))
                return false;
    return true;
}

/* DRAM cycle k; the core cycle counter stands at `core`. Returns whether the run is stuck. */
static bool dram_cycle(struct open_loop *p, size_t count)
{
    const struct dram_channel *ch = p->part.channel;
    const int64_t k = p->clocks.dram, core = p->clocks.core;
    dram_partition_step(&p->part, k);
    replies(p, k, core);
    const int moved = dram_partition_move(&p->part, k, core);
    if (moved & DRAM_MOVED_ON && p->timestamps)
        p->timestamps->enter[p->part.entered] = core;
    p->core_before = core;
    if (p->timestamps) {
        if (mem_grow((void **)&p->core_of, &p->core_of_cap, (size_t)k + 1, sizeof *p->core_of, NULL))
            p->out_of_memory = true;
        else
            p->core_of[k] = core;
    }
    return !(moved & DRAM_MOVED_IN) && (size_t)(ch->stats.out[0] + ch->stats.out[1]) < count && is_stuck(p, core);
}

/* Run until everything is back, or the limit of DRAM cycles, or nothing can happen. Returns whether all came back. */
static bool open_run(struct open_loop *p, size_t count, int64_t limit)
{
    const struct dram_stats *stats = &p->part.channel->stats;
    int64_t end = INT64_MAX;
    while (p->clocks.dram <= end && !p->out_of_memory) {
        const unsigned ticks = dram_clocks_tick(&p->clocks);
        if (ticks & DRAM_TICK_DRAM) {
            if (p->clocks.dram >= limit)
                return false;
            const bool stuck = dram_cycle(p, count);
            p->clocks.dram++;
            if (stuck && limit == INT64_MAX)
                return false;
            /* The last reply leaves in the DRAM cycle after the last completion. */
            if ((size_t)(stats->out[0] + stats->out[1]) == count && end == INT64_MAX)
                end = (stats->last_out[0] > stats->last_out[1] ? stats->last_out[0] : stats->last_out[1]) + 1;
        }
        if (ticks & DRAM_TICK_CORE) {
            for (int s = 0; s < DRAM_SUBS; s++)
                take_one(p, s);
            p->clocks.core++;
        }
    }
    return !p->out_of_memory;
}

static int run_channel(struct open_loop *p, const struct replay_job *job, const struct replay_policy *policy,
                       struct dram_totals *totals, bool explain, struct err *err)
{
    const struct dram_settings *set = job->settings;
    if (open_init(p, job, policy, err))
        return -1;
    if (p->timestamps) { /* done and enter are written here, in core cycles */
        p->part.channel->timestamps = *p->timestamps;
        p->part.channel->timestamps.enter = p->part.channel->timestamps.done = NULL;
    }
    if (explain)
        dram_explain_attach(p->part.channel, job, policy, p->requests);
    dram_commands_attach(&p->commands, p->part.channel, job);
    size_t count = 0;
    for (int s = 0; s < DRAM_SUBS; s++)
        count += (size_t)p->source_count[s][0] + p->source_count[s][1];
    const bool finished = open_run(p, count, set->run_limit_cycles ? set->run_limit_cycles : INT64_MAX);
    if (p->out_of_memory)
        return err_set(err, "out of memory");
    for (size_t i = 0; p->timestamps && i < p->requests->count; i++) {
        int64_t *const cycles[] = {&p->timestamps->sched[i], &p->timestamps->column[i]};
        for (int k = 0; k < 2; k++)
            *cycles[k] = *cycles[k] >= 0 && *cycles[k] < p->clocks.dram ? p->core_of[*cycles[k]] : -1;
    }
    dram_totals_add(totals, &p->part.channel->stats, p->clocks.dram, p->requests->class_count, p->last_done);
    totals->stuck |= !finished;
    const int64_t core = finished ? p->core_before + 1 : p->clocks.core;
    totals->core_cycles = core > totals->core_cycles ? core : totals->core_cycles;
    progress_add(job->progress, p->requests->count);
    return dram_channel_check(p->part.channel, finished, err);
}

int dram_partition_run(const struct replay_job *job, const struct replay_policy *policy,
                       const struct dram_stream *stream, struct dram_request_log *request_log,
                       struct dram_totals *totals, struct err *err)
{
    for (uint32_t i = 0; i < stream->channels; i++) {
        if (!stream->channel[i].count)
            continue;
        struct open_loop p = {.requests = &stream->channel[i]};
        p.timestamps = request_log ? &request_log->channel[i] : NULL;
        p.commands = (struct dram_commands){.channel = i, .requests = p.requests};
        const int rc = run_channel(&p, job, policy, totals, i == 0, err);
        open_release(&p);
        if (rc)
            return err_at(err, "channel %u", i);
    }
    return 0;
}
