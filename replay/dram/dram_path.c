#include "replay/dram/dram_path.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* A handle is a position in the first source's requests, then in the second's. */
static inline uint32_t handle_of(const struct dram_path *p, int source, uint32_t i)
{
    return source ? p->source[0].count + i : i;
}

static inline int source_of(const struct dram_path *p, uint32_t handle)
{
    return handle >= p->source[0].count;
}

static inline uint32_t position_of(const struct dram_path *p, uint32_t handle)
{
    return source_of(p, handle) ? handle - p->source[0].count : handle;
}

enum { NOC_FREE = 4 }; /* free places of the L2 queue that the interconnect asks for (artifact: SECTOR_CHUNCK_SIZE) */

static int ring_init(struct dram_ring *r, int64_t room, struct err *err)
{
    uint32_t n = 1;
    while (n < room)
        n *= 2;
    r->room = (uint32_t)room;
    r->mask = n - 1;
    r->ids = mem_zalloc(n, sizeof *r->ids, err);
    r->times = mem_zalloc(n, sizeof *r->times, err);
    return r->ids && r->times ? 0 : -1;
}

static void ring_release(struct dram_ring *r)
{
    free(r->ids);
    free(r->times);
}

static inline uint32_t ring_count(const struct dram_ring *r)
{
    return r->tail - r->head;
}

static inline uint32_t ring_free(const struct dram_ring *r)
{
    return r->room - ring_count(r);
}

static inline void ring_push(struct dram_ring *r, uint32_t id, int64_t time)
{
    r->ids[r->tail & r->mask] = id;
    r->times[r->tail++ & r->mask] = time;
}

static inline uint32_t ring_first(const struct dram_ring *r)
{
    return r->ids[r->head & r->mask];
}

static inline bool ring_due(const struct dram_ring *r, int64_t t)
{
    return r->head != r->tail && r->times[r->head & r->mask] <= t;
}

static const struct dram_request *request_of(const struct dram_path *p, uint32_t handle)
{
    return &p->source[source_of(p, handle)].requests[position_of(p, handle)];
}

/* Core cycles in DRAM cycles, rounded. */
static int64_t dram_cycles(int64_t core, const struct dram_platform *dram, const struct gpu *gpu)
{
    return (int64_t)((double)core * (double)dram->clock_hz / (double)gpu->clock_hz + 0.5);
}

int dram_path_init(struct dram_path *p, const struct replay_job *job, int vcs, struct err *err)
{
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    p->vcs = vcs;
    p->sweep = (int32_t)(gpu->sms > dram->pim_sms ? gpu->sms - dram->pim_sms : 1);
    p->rop = dram_cycles(dram->rop_latency, dram, gpu);
    p->wait = dram_cycles(dram->dram_latency, dram, gpu);
    p->reply = dram->reply_latency;
    p->shared = (int32_t)(2 * dram->queue + dram->return_queue - 1);
    p->last_sub = DRAM_SUBS - 1;
    int64_t flying = 2; /* MEM requests that can be anywhere */
    for (int s = 0; s < p->sources; s++) {
        const int64_t most = p->source[s].window < p->source[s].count ? p->source[s].window : p->source[s].count;
        flying += p->source[s].class == DRAM_MEM ? 2 * most : p->shared + DRAM_SUBS;
    }
    int rc = ring_init(&p->pim_input, dram->input_queue, err) || ring_init(&p->answers, flying, err);
    for (int v = 0; v < 2 && !rc; v++)
        rc = ring_init(&p->latency[v], p->shared + DRAM_SUBS, err);
    for (int s = 0; s < DRAM_SUBS && !rc; s++) {
        rc = ring_init(&p->input[s], flying, err) || ring_init(&p->delay[s], flying, err);
        for (int v = 0; v < 2 && !rc; v++)
            rc = ring_init(&p->noc[s][v], dram->noc_queue / vcs, err) ||
                 ring_init(&p->l2[s][v], dram->noc_l2_queue / vcs, err) ||
                 ring_init(&p->out[s][v], dram->l2_queue / vcs, err);
    }
    return rc ? -1 : 0;
}

void dram_path_release(struct dram_path *p)
{
    ring_release(&p->pim_input);
    ring_release(&p->answers);
    for (int v = 0; v < 2; v++)
        ring_release(&p->latency[v]);
    for (int s = 0; s < DRAM_SUBS; s++) {
        ring_release(&p->input[s]);
        ring_release(&p->delay[s]);
        for (int v = 0; v < 2; v++) {
            ring_release(&p->noc[s][v]);
            ring_release(&p->l2[s][v]);
            ring_release(&p->out[s][v]);
        }
    }
}

/* --- from the sources to the interconnect --- */

/* What is ready becomes a packet at an input. */
static bool issue(struct dram_path *p, int64_t t)
{
    bool moved = false;
    for (int s = 0; s < p->sources; s++) {
        struct dram_source *src = &p->source[s];
        while (dram_source_ready(src) <= t) {
            if (src->class == DRAM_PIM && !ring_free(&p->pim_input))
                break;
            const uint32_t i = dram_source_issue(src, t);
            struct dram_ring *to =
                src->class == DRAM_PIM ? &p->pim_input : &p->input[src->requests[i].bank % DRAM_SUBS];
            ring_push(to, handle_of(p, s, i), t);
            moved = true;
        }
    }
    return moved;
}

/* One packet into the output buffer of a sub-partition. */
static bool enter_noc(struct dram_path *p, int sub, int64_t t)
{
    struct dram_ring *mem = &p->input[sub], *pim = sub == 0 ? &p->pim_input : NULL;
    struct dram_ring *to_mem = &p->noc[sub][0], *to_pim = &p->noc[sub][p->vcs - 1];
    const uint32_t heads = ring_count(mem);
    const bool mem_can = heads && ring_free(to_mem), pim_can = pim && ring_count(pim) && ring_free(to_pim);
    if (!mem_can && !pim_can)
        return false;
    const uint32_t sweep = heads < (uint32_t)p->sweep ? heads : (uint32_t)p->sweep;
    const bool take_pim = pim_can && (!mem_can || (uint32_t)p->since_pim >= sweep);
    if (take_pim) {
        ring_push(to_pim, ring_first(pim), t);
        pim->head++;
        p->since_pim = 0;
    } else {
        ring_push(to_mem, ring_first(mem), t);
        mem->head++;
        p->since_pim += sub == 0;
    }
    p->packets++;
    return true;
}

/* --- interconnect to L2 --- */

static bool leave_noc(struct dram_path *p, int sub, int64_t t)
{
    for (int k = 0; k < p->vcs; k++) {
        const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_noc[sub] : p->last_noc[sub];
        struct dram_ring *from = &p->noc[sub][v];
        if (!ring_count(from) || ring_free(&p->l2[sub][v]) < NOC_FREE)
            continue;
        const uint32_t handle = ring_first(from);
        from->head++;
        p->last_noc[sub] = v;
        if (request_of(p, handle)->flags & DRAM_IS_PIM)
            ring_push(&p->l2[sub][v], handle, t);
        else
            ring_push(&p->delay[sub], handle, t + p->rop);
        return true;
    }
    return false;
}

static bool leave_delay(struct dram_path *p, int sub, int64_t t)
{
    if (!ring_due(&p->delay[sub], t) || !ring_free(&p->l2[sub][0]))
        return false;
    ring_push(&p->l2[sub][0], ring_first(&p->delay[sub]), t);
    p->delay[sub].head++;
    return true;
}

/* The L2 front: a hit needs room behind it too, a miss with a write-back room for both. */
static bool l2_front(struct dram_path *p, int sub, int64_t t)
{
    for (int k = 0; k < p->vcs; k++) {
        const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_l2[sub] : p->last_l2[sub];
        struct dram_ring *from = &p->l2[sub][v], *to = &p->out[sub][v];
        if (!ring_count(from))
            continue;
        const uint32_t handle = ring_first(from);
        const struct dram_request *r = request_of(p, handle);
        const bool evicts = !(r->flags & (DRAM_IS_PIM | DRAM_L2_HIT)) &&
                            dram_source_evicts(&p->source[source_of(p, handle)], position_of(p, handle));
        if (ring_free(to) < 1u + evicts)
            continue;
        from->head++;
        p->last_l2[sub] = v;
        if (r->flags & DRAM_L2_HIT) {
            ring_push(&p->answers, handle, t + p->reply);
            return true;
        }
        ring_push(to, handle, t);
        if (evicts)
            ring_push(to, handle + 1, t);
        return true;
    }
    return false;
}

/* --- L2 to the controller --- */

static bool enter_latency(struct dram_path *p, int64_t t)
{
    for (int i = 1; i <= DRAM_SUBS; i++) {
        const int s = (p->last_sub + i) % DRAM_SUBS;
        for (int k = 0; k < p->vcs; k++) {
            const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_out[s] : p->last_out[s];
            struct dram_ring *from = &p->out[s][v];
            if (!ring_count(from) || (p->private_used[s] && p->shared_used >= p->shared))
                continue;
            const uint32_t handle = ring_first(from);
            if (!dram_channel_room(p->channel, request_of(p, handle)->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM))
                continue;
            from->head++;
            if (p->private_used[s])
                p->shared_used++;
            else
                p->private_used[s] = 1;
            p->last_sub = s;
            p->last_out[s] = v;
            /* The queue it came from tells whose credit it holds. */
            ring_push(&p->latency[v], handle, t + p->wait);
            return true;
        }
    }
    return false;
}

static bool enter_controller(struct dram_path *p, int64_t t)
{
    for (int k = 0; k < p->vcs; k++) {
        const int v = p->vcs == 1 ? 0 : k == 0 ? !p->last_latency : p->last_latency;
        struct dram_ring *from = &p->latency[v];
        if (!ring_due(from, t))
            continue;
        const uint32_t handle = ring_first(from);
        const struct dram_request *r = request_of(p, handle);
        if (!dram_channel_room(p->channel, r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM))
            continue;
        from->head++;
        p->last_latency = v;
        p->loops->push(p->channel, t, r->row, r->bank, r->flags & (DRAM_L2_HIT - 1), handle);
        return true;
    }
    return false;
}

/* Finished requests give their credit back in the cycle after completion (write-backs in it) and are answered. */
static bool finish(struct dram_path *p, int64_t t)
{
    struct dram_channel *ch = p->channel;
    bool moved = false;
    while (ch->completion_head != ch->completion_tail) {
        const struct dram_completion *c = &ch->completions[ch->completion_head % DRAM_COMPLETIONS];
        const bool posted = c->flags & DRAM_IS_POSTED;
        if (c->done + !posted > t)
            break;
        const struct dram_request *r = request_of(p, c->id);
        /* A write-back left L2 through its read's sub-partition. */
        const struct dram_request *way = posted ? request_of(p, c->id - 1) : r;
        const int s = way->flags & DRAM_IS_PIM ? 0 : way->bank % DRAM_SUBS;
        if (p->private_used[s])
            p->private_used[s] = 0;
        else
            p->shared_used--;
        if (r->flags & DRAM_IS_PIM) {
            dram_latency_add(&p->stats[DRAM_PIM], t - p->source[source_of(p, c->id)].issued[position_of(p, c->id)]);
            dram_source_answer(&p->source[source_of(p, c->id)], t);
        } else if (!posted) {
            ring_push(&p->answers, c->id, t + p->reply);
        }
        ch->completion_head++;
        moved = true;
    }
    while (ring_due(&p->answers, t)) {
        const uint32_t handle = ring_first(&p->answers);
        struct dram_source *src = &p->source[source_of(p, handle)];
        dram_latency_add(&p->stats[DRAM_MEM], t - src->issued[position_of(p, handle)]);
        p->answers.head++;
        dram_source_answer(src, t);
        moved = true;
    }
    return moved;
}

/* --- the loop --- */

static void sooner(int64_t *next, int64_t at, int64_t t)
{
    if (at > t && at < *next)
        *next = at;
}

/* The next cycle at which something can happen after a cycle in which nothing moved. */
static int64_t next_event(const struct dram_path *p, int64_t t, int64_t channel_next)
{
    int64_t next = channel_next;
    const struct dram_channel *ch = p->channel;
    for (int s = 0; s < p->sources; s++)
        sooner(&next, dram_source_ready(&p->source[s]), t);
    for (int s = 0; s < DRAM_SUBS; s++)
        if (ring_count(&p->delay[s]))
            sooner(&next, p->delay[s].times[p->delay[s].head & p->delay[s].mask], t);
    for (int v = 0; v < 2; v++)
        if (ring_count(&p->latency[v]))
            sooner(&next, p->latency[v].times[p->latency[v].head & p->latency[v].mask], t);
    if (ring_count(&p->answers))
        sooner(&next, p->answers.times[p->answers.head & p->answers.mask], t);
    if (ch->completion_head != ch->completion_tail) {
        const struct dram_completion *c = &ch->completions[ch->completion_head % DRAM_COMPLETIONS];
        sooner(&next, c->done + !(c->flags & DRAM_IS_POSTED), t);
    }
    return next;
}

/* Keep what became of a first pass before the second one writes over it. */
static void keep_first_pass(struct dram_path *p, bool at_end)
{
    for (int s = 0; s < p->sources; s++) {
        const struct dram_source *src = &p->source[s];
        if (p->kept[s] || !(at_end || (src->passes && src->next)))
            continue;
        const size_t from = s ? p->source[0].count : 0, n = src->count;
        memcpy(p->first.enter + from, p->channel->fate.enter + from, n * sizeof(int64_t));
        memcpy(p->first.sched + from, p->channel->fate.sched + from, n * sizeof(int64_t));
        memcpy(p->first.column + from, p->channel->fate.column + from, n * sizeof(int64_t));
        memcpy(p->first.done + from, p->channel->fate.done + from, n * sizeof(int64_t));
        p->kept[s] = true;
    }
}

void dram_path_keep(struct dram_path *p)
{
    keep_first_pass(p, true);
}

static bool all_done(const struct dram_path *p)
{
    for (int s = 0; s < p->sources; s++)
        if (p->source[s].first_done < 0)
            return false;
    return true;
}

int64_t dram_path_run(struct dram_path *p, int64_t limit)
{
    int64_t t = 0, channel_next = 0;
    while (t < limit) {
        bool moved = finish(p, t);
        if (moved && all_done(p))
            return t + 1;
        if (t >= channel_next)
            channel_next = p->loops->step(p->channel, p->state, t);
        moved |= enter_latency(p, t);
        if (enter_controller(p, t)) {
            moved = true;
            channel_next = t + 1;
        }
        for (int s = 0; s < DRAM_SUBS; s++) {
            moved |= l2_front(p, s, t);
            moved |= leave_delay(p, s, t);
            moved |= leave_noc(p, s, t);
            moved |= enter_noc(p, s, t);
        }
        moved |= issue(p, t);
        if (p->first.enter)
            keep_first_pass(p, false);
        const int64_t next = moved ? t + 1 : next_event(p, t, channel_next);
        if (next == INT64_MAX)
            return t + 1;
        t = next;
    }
    return limit;
}
