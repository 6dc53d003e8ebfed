/* Front end `partition`: the artifact's memory partition before one channel, two clocks, event by event.
 *
 * Core cycle c and DRAM cycle k tick at c and at k * core_hz / dram_hz core cycles; both at 0; DRAM first in a tie. In
 * each core cycle each of the two sub-partitions (bank modulo 2) takes at most one request from its source FIFOs into
 * its L2 to DRAM queues, virtual channels round robin, PIM first. After each DRAM cycle one request goes from these
 * queues into the latency queue (sub-partitions round robin, then virtual channels): it needs a credit, one private to
 * the sub-partition and the others shared, and room in its class's controller queue. The head of a latency queue enters
 * the controller when it is old enough and its class has room. A credit returns when the reply leaves the return queue,
 * in the DRAM cycle after completion; of a posted write-back at its completion.
 * Source: GPGPU-Sim-4.0.1 branch ISPASS_2025, l2cache.cc (memory_partition_unit::dram_cycle, arbitration_metadata). */
#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram.h"
#include "trace/base/mem.h"

enum { SUBS = 2 };

/* A queue of positions; never shrinks, `tail - head` wait. */
struct fifo {
    uint32_t *ids;
    int64_t *times; /* latency queues: core cycle from which an entry may go on */
    uint32_t head, tail, mask;
};

struct partition {
    const struct dram_stream_channel *requests;
    const struct dram_loops *loops;
    struct dram_channel *channel;
    void *state;
    int vcs;
    int64_t latency;
    /* Source FIFOs: positions by sub-partition and virtual channel, and how many were taken. */
    uint32_t *source[SUBS][2];
    uint32_t source_count[SUBS][2], source_head[SUBS][2];
    struct fifo l2[SUBS][2], wait[2];
    uint32_t l2_room;
    int last_vc_in[SUBS], last_vc_out[SUBS], last_sub, last_vc_wait;
    int32_t private_used[SUBS], shared_used, shared;
    struct dram_latency *latency_stats;
    struct dram_fate *fate;
    int64_t core, dram;          /* next cycle of each clock */
    double core_time, dram_time; /* their times, added up in double as the artifact does: it decides ties */
    double core_period, dram_period;
    int64_t core_before; /* core cycle counter in the DRAM cycle before this one */
    int64_t *core_of;    /* by DRAM cycle, for per-request output; NULL: not wanted */
    size_t core_of_cap;
    bool out_of_memory;
    int64_t last_done[2]; /* core cycles */
};

static int vc_of(const struct partition *p, uint8_t flags)
{
    return p->vcs == 2 && flags & DRAM_IS_PIM;
}

static int fifo_init(struct fifo *f, size_t room, bool times, struct err *err)
{
    uint32_t n = 1;
    while (n < room)
        n *= 2;
    f->mask = n - 1;
    f->ids = mem_zalloc(n, sizeof *f->ids, err);
    f->times = times ? mem_zalloc(n, sizeof *f->times, err) : NULL;
    return f->ids && (!times || f->times) ? 0 : -1;
}

static int partition_init(struct partition *p, const struct replay_job *job, struct err *err)
{
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    p->core_period = 1.0 / (double)gpu->clock_hz;
    p->dram_period = 1.0 / (double)dram->clock_hz;
    p->latency = dram->dram_latency;
    p->shared = (int32_t)(2 * dram->queue + dram->return_queue - 1);
    p->l2_room = (uint32_t)(dram->l2_queue / p->vcs);
    p->last_sub = SUBS - 1;
    p->last_done[0] = p->last_done[1] = -1;
    for (int s = 0; s < SUBS; s++)
        for (int v = 0; v < p->vcs; v++) {
            p->source[s][v] = mem_zalloc(p->requests->count, sizeof **p->source[s], err);
            if (!p->source[s][v] || fifo_init(&p->l2[s][v], p->l2_room, false, err))
                return -1;
        }
    for (int v = 0; v < p->vcs; v++)
        if (fifo_init(&p->wait[v], (size_t)p->shared + SUBS, true, err))
            return -1;
    for (size_t i = 0; i < p->requests->count; i++) {
        const struct dram_request *r = &p->requests->requests[i];
        if (r->flags & DRAM_L2_HIT)
            continue;
        const int s = r->bank % SUBS, v = vc_of(p, r->flags);
        p->source[s][v][p->source_count[s][v]++] = (uint32_t)i;
    }
    return dram_channel_init(p->channel, dram, err);
}

static void partition_release(struct partition *p)
{
    for (int s = 0; s < SUBS; s++)
        for (int v = 0; v < 2; v++) {
            free(p->source[s][v]);
            free(p->l2[s][v].ids);
        }
    for (int v = 0; v < 2; v++) {
        free(p->wait[v].ids);
        free(p->wait[v].times);
    }
    free(p->core_of);
}

/* --- a core cycle --- */

/* At most one request of a sub-partition's sources goes into its L2 to DRAM queues. */
static void l2_cycle(struct partition *p, int s)
{
    for (int k = 0; k < p->vcs; k++) {
        const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_vc_in[s] : p->last_vc_in[s];
        if (p->source_head[s][v] == p->source_count[s][v])
            continue;
        const uint32_t id = p->source[s][v][p->source_head[s][v]];
        if (p->requests->requests[id].arrival > p->core)
            continue;
        struct fifo *q = &p->l2[s][v];
        if (q->tail - q->head == p->l2_room)
            continue;
        q->ids[q->tail++ & q->mask] = id;
        p->source_head[s][v]++;
        p->last_vc_in[s] = v;
        return;
    }
}

/* --- a DRAM cycle --- */

static bool has_credit(const struct partition *p, int s)
{
    return p->private_used[s] < 1 || p->shared_used < p->shared;
}

static void take_credit(struct partition *p, int s)
{
    if (p->private_used[s] < 1)
        p->private_used[s]++;
    else
        p->shared_used++;
}

static void return_credit(struct partition *p, int s)
{
    if (p->private_used[s] > 0)
        p->private_used[s]--;
    else
        p->shared_used--;
}

/* Completions seen in DRAM cycle k: the credits of posted ones return in their cycle, of the others in the next one. */
static void replies(struct partition *p, int64_t k, int64_t core)
{
    struct dram_channel *ch = p->channel;
    while (ch->completion_head != ch->completion_tail) {
        const struct dram_completion *c = &ch->completions[ch->completion_head % DRAM_COMPLETIONS];
        const bool posted = c->flags & DRAM_IS_POSTED;
        if (c->done + !posted > k)
            return;
        const struct dram_request *r = &p->requests->requests[c->id];
        const int class = (r->flags & DRAM_IS_PIM) != 0;
        const int64_t done = posted ? core : p->core_before;
        dram_latency_add(&p->latency_stats[class], done - r->arrival);
        p->last_done[class] = done;
        if (p->fate)
            p->fate->done[c->id] = done;
        return_credit(p, r->bank % SUBS);
        ch->completion_head++;
    }
}

/* One request from the L2 to DRAM queues into the latency queue. */
static bool arbitrate(struct partition *p, int64_t core)
{
    for (int i = 1; i <= SUBS; i++) {
        const int s = (p->last_sub + i) % SUBS;
        for (int k = 0; k < p->vcs; k++) {
            const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_vc_out[s] : p->last_vc_out[s];
            struct fifo *q = &p->l2[s][v];
            if (q->head == q->tail)
                continue;
            const uint32_t id = q->ids[q->head & q->mask];
            const enum dram_class class = p->requests->requests[id].flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
            if (!has_credit(p, s) || !dram_channel_room(p->channel, class))
                continue;
            q->head++;
            take_credit(p, s);
            p->last_sub = s;
            p->last_vc_out[s] = v;
            struct fifo *w = &p->wait[v];
            w->ids[w->tail & w->mask] = id;
            w->times[w->tail++ & w->mask] = core + p->latency;
            return true;
        }
    }
    return false;
}

/* One request from the latency queues into the controller. */
static bool deliver(struct partition *p, int64_t k, int64_t core)
{
    for (int i = 0; i < p->vcs; i++) {
        const int v = p->vcs == 1 ? 0 : i == 0 ? !p->last_vc_wait : p->last_vc_wait;
        struct fifo *w = &p->wait[v];
        if (w->head == w->tail || w->times[w->head & w->mask] > core)
            continue;
        const uint32_t id = w->ids[w->head & w->mask];
        const struct dram_request *r = &p->requests->requests[id];
        if (!dram_channel_room(p->channel, r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM))
            continue;
        w->head++;
        p->last_vc_wait = v;
        p->loops->push(p->channel, k, r->row, r->bank, r->flags & (DRAM_L2_HIT - 1), id);
        if (p->fate)
            p->fate->enter[id] = core;
        return true;
    }
    return false;
}

/* Nothing can ever happen again: the channel has no event, nothing is on its way, and whatever waits cannot go on. */
static bool is_stuck(const struct partition *p, int64_t channel_next, int64_t core)
{
    if (channel_next != INT64_MAX || p->channel->completion_head != p->channel->completion_tail)
        return false;
    for (int v = 0; v < p->vcs; v++)
        if (p->wait[v].head != p->wait[v].tail && p->wait[v].times[p->wait[v].head & p->wait[v].mask] > core)
            return false;
    for (int s = 0; s < SUBS; s++)
        for (int v = 0; v < p->vcs; v++)
            if (p->source_head[s][v] != p->source_count[s][v] && p->l2[s][v].tail - p->l2[s][v].head < p->l2_room)
                return false;
    return true;
}

/* DRAM cycle p->dram; the core cycle counter stands at `core`. Returns whether the run is stuck. */
static bool dram_cycle(struct partition *p, size_t count, int64_t *channel_next)
{
    struct dram_channel *ch = p->channel;
    const int64_t k = p->dram, core = p->core;
    replies(p, k, core);
    if (k >= *channel_next)
        *channel_next = p->loops->step(ch, p->state, k);
    replies(p, k, core);
    const bool moved = arbitrate(p, core);
    if (deliver(p, k, core))
        *channel_next = k + 1;
    p->core_before = core;
    if (p->fate) {
        if (mem_grow((void **)&p->core_of, &p->core_of_cap, (size_t)k + 1, sizeof *p->core_of, NULL))
            p->out_of_memory = true;
        else
            p->core_of[k] = core;
    }
    p->dram++;
    return !moved && (size_t)(ch->stats.out[0] + ch->stats.out[1]) < count && is_stuck(p, *channel_next, core);
}

/* Run until everything is back, or the limit of DRAM cycles, or nothing can happen. Returns whether all came back. */
static bool partition_run(struct partition *p, size_t count, int64_t limit)
{
    struct dram_channel *ch = p->channel;
    int64_t channel_next = 0, end = INT64_MAX;
    while (p->dram <= end && !p->out_of_memory) {
        const double now = p->core_time < p->dram_time ? p->core_time : p->dram_time;
        if (p->dram_time <= now) {
            p->dram_time += p->dram_period;
            if (p->dram >= limit || (dram_cycle(p, count, &channel_next) && limit == INT64_MAX))
                return false;
            /* The last reply leaves in the DRAM cycle after the last completion. */
            if ((size_t)(ch->stats.out[0] + ch->stats.out[1]) == count && end == INT64_MAX)
                end =
                    (ch->stats.last_out[0] > ch->stats.last_out[1] ? ch->stats.last_out[0] : ch->stats.last_out[1]) + 1;
        }
        if (p->core_time <= now) {
            p->core_time += p->core_period;
            for (int s = 0; s < SUBS; s++)
                l2_cycle(p, s);
            p->core++;
        }
    }
    return !p->out_of_memory;
}

static int run_channel(struct partition *p, const struct replay_job *job, const struct replay_policy *policy,
                       struct dram_totals *totals, bool explain, struct err *err)
{
    const struct dram_settings *set = job->settings;
    if (partition_init(p, job, err))
        return -1;
    if (p->fate) { /* done and enter are written here, in core cycles */
        p->channel->fate = *p->fate;
        p->channel->fate.enter = p->channel->fate.done = NULL;
    }
    if (explain)
        dram_explain_attach(p->channel, job, policy, p->requests);
    size_t count = 0;
    for (int s = 0; s < SUBS; s++)
        count += (size_t)p->source_count[s][0] + p->source_count[s][1];
    const bool finished = partition_run(p, count, set->run_limit_cycles ? set->run_limit_cycles : INT64_MAX);
    if (p->out_of_memory)
        return err_set(err, "out of memory");
    for (size_t i = 0; p->fate && i < p->requests->count; i++) {
        int64_t *const cycles[] = {&p->fate->sched[i], &p->fate->column[i]};
        for (int k = 0; k < 2; k++)
            *cycles[k] = *cycles[k] >= 0 && *cycles[k] < p->dram ? p->core_of[*cycles[k]] : -1;
    }
    dram_stats_add(&totals->stats, &p->channel->stats);
    totals->channels++;
    totals->stuck |= !finished;
    totals->cycles = p->dram > totals->cycles ? p->dram : totals->cycles;
    const int64_t core = finished ? p->core_before + 1 : p->core;
    totals->core_cycles = core > totals->core_cycles ? core : totals->core_cycles;
    for (int c = 0; c < 2; c++) {
        if (!p->requests->class_count[c])
            continue;
        if ((size_t)p->channel->stats.out[c] < p->requests->class_count[c])
            totals->starved[c] = true;
        else if (p->last_done[c] + 1 > totals->class_cycles[c])
            totals->class_cycles[c] = p->last_done[c] + 1;
    }
    progress_add(job->progress, p->requests->count);
    return dram_channel_check(p->channel, finished, err);
}

int dram_partition_run(const struct replay_job *job, const struct replay_policy *policy,
                       const struct dram_stream *stream, struct dram_fates *fates, struct dram_totals *totals,
                       struct err *err)
{
    const struct dram_settings *set = job->settings;
    for (uint32_t i = 0; i < stream->channels; i++) {
        if (!stream->channel[i].count)
            continue;
        struct partition p = {.requests = &stream->channel[i], .vcs = (int)set->vcs};
        p.loops = ((const struct dram_policy *)policy->head)->loops;
        p.channel = aligned_alloc(64, sizeof *p.channel);
        p.state = dram_state_new(policy, err);
        p.latency_stats = totals->latency;
        p.fate = fates ? &fates->channel[i] : NULL;
        const int rc =
            p.channel && p.state ? run_channel(&p, job, policy, totals, i == 0, err) : err_set(err, "out of memory");
        partition_release(&p);
        free(p.channel);
        free(p.state);
        if (rc)
            return err_at(err, "channel %u", i);
    }
    return 0;
}
