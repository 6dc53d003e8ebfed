#include "replay/dram/dram_partition.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* --- sources --- */

/* The class's requests in an array of their own. A write-back goes with the request right before it, as L2 makes it
 * when that misses. One that follows another, or is the first (of a stream behind an L2 whose victims lie on other
 * channels), is a write by itself: it takes a place in the window until it is done. What L2 still has after the last
 * launch goes out right behind it: that is no further launch. */
static int take_class(struct dram_source *s, const struct dram_stream_channel *c, struct err *err)
{
    const bool pim = s->class == DRAM_PIM;
    struct dram_request *own = mem_zalloc(c->class_count[pim] + 1, sizeof *own, err);
    if (!own)
        return -1;
    bool attaches = false; /* the request before is one that a write-back can go with */
    uint32_t last = 0;     /* that is no write-back */
    s->count = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (((c->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
            continue;
        const bool posted = c->requests[i].flags & DRAM_IS_POSTED;
        own[s->count] = c->requests[i];
        if (posted && !attaches)
            own[s->count].flags &= (uint8_t)~DRAM_IS_POSTED;
        if (!posted)
            last = s->count;
        s->count++;
        attaches = !posted;
    }
    for (uint32_t i = last; i < s->count; i++)
        own[i].flags &= (uint8_t)~DRAM_LAUNCH_END;
    s->requests = own;
    return 0;
}

int dram_source_init(struct dram_source *s, const struct dram_stream *stream, uint32_t c, enum dram_class class,
                     struct err *err)
{
    memset(s, 0, sizeof *s);
    s->class = class;
    s->window = INT64_MAX;
    s->period = 1;
    s->first_done = -1;
    if (take_class(s, &stream->channel[c], err))
        return -1;
    for (uint32_t i = 0; i < s->count; i++)
        s->work += !(s->requests[i].flags & DRAM_IS_POSTED);
    s->issued = mem_zalloc(s->count + 1, sizeof *s->issued, err);
    return s->issued ? 0 : -1;
}

void dram_source_release(struct dram_source *s)
{
    free((void *)(uintptr_t)s->requests);
    free(s->issued);
}

/* The cycle from which the next request may be issued, if nothing else stands in the way; INT64_MAX: not before
 * something in flight is done. */
static int64_t source_ready(const struct dram_source *s)
{
    if (s->next == s->count || s->drains || s->in_flight >= s->window)
        return INT64_MAX;
    const int64_t at = s->base + s->requests[s->next].arrival - s->offset;
    return at > s->earliest ? at : s->earliest;
}

/* Whether a write-back stands behind request i. */
static bool source_evicts(const struct dram_source *s, uint32_t i)
{
    return i + 1 < s->count && s->requests[i + 1].flags & DRAM_IS_POSTED;
}

/* Request `next` is issued at cycle t (it must be ready); its write-back, if it has one, goes with it. Returns its
 * position. */
static uint32_t source_issue(struct dram_source *s, int64_t t)
{
    const uint32_t i = s->next++;
    s->issued[i] = t;
    s->in_flight++;
    s->earliest = t + s->period;
    bool end = s->requests[i].flags & DRAM_LAUNCH_END;
    if (s->next < s->count && s->requests[s->next].flags & DRAM_IS_POSTED)
        end |= (s->requests[s->next++].flags & DRAM_LAUNCH_END) != 0;
    s->drains = end;
    return i;
}

/* A request (not a write-back) is answered at cycle t. */
static void source_answer(struct dram_source *s, int64_t t)
{
    s->in_flight--;
    s->done++;
    if (s->done == s->work) {
        s->again = true;
        if (s->first_done < 0)
            s->first_done = t;
        s->drains = false;
        s->done = 0;
        s->next = s->repeat ? 0 : s->count;
        s->offset = 0;
        s->base = t + 1 + s->relaunch_gap;
    } else if (s->drains && !s->in_flight) {
        s->drains = false;
        s->base = t + 1 + s->launch_gap;
        s->offset = s->next < s->count ? s->requests[s->next].arrival : 0;
    }
}

/* --- handles: the partition's ids --- */

static uint32_t handle_of(const struct dram_window *w, int source, uint32_t i)
{
    const struct dram_source *s = &w->source[source];
    return (source ? w->source[0].count + i : i) + (s->again ? w->total : 0);
}

/* The request, and whose it is. */
static uint32_t position_of(const struct dram_window *w, uint32_t handle, int *source)
{
    const uint32_t at = handle >= w->total ? handle - w->total : handle, first = w->source[0].count;
    *source = at >= first;
    return at >= first ? at - first : at;
}

int dram_window_init(struct dram_window *w, const struct replay_job *job, const struct replay_policy *policy, int vcs,
                     struct err *err)
{
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    w->core_cycles = (double)gpu->clock_hz / (double)dram->clock_hz;
    w->most_pim = (uint32_t)dram->l2_queue;
    int64_t flying = w->most_pim; /* of a sub-partition and class, at most */
    for (int s = 0; s < w->sources; s++) {
        const int64_t most = w->source[s].window < w->source[s].count ? w->source[s].window : w->source[s].count;
        w->total += w->source[s].count;
        flying = w->source[s].class == DRAM_MEM && most > flying ? most : flying;
    }
    uint32_t n = 1;
    while (n < 2 * flying)
        n *= 2;
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int class = 0; class < 2; class ++) {
            w->issued[s][class].mask = n - 1;
            if (!(w->issued[s][class].at = mem_zalloc(n, sizeof(uint32_t), err)))
                return -1;
        }
    return dram_partition_init(&w->part, job->platform, policy, vcs, err);
}

void dram_window_release(struct dram_window *w)
{
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int class = 0; class < 2; class ++)
            free(w->issued[s][class].at);
    dram_partition_release(&w->part);
}

static uint32_t waiting(const struct dram_issued *q)
{
    return q->tail - q->head;
}

static int sub_of(const struct dram_request *r)
{
    return r->flags & DRAM_IS_PIM ? 0 : r->bank % DRAM_SUBS;
}

/* A source's request i is answered in cycle t. */
static void answer(struct dram_window *w, int source, uint32_t i, int64_t t)
{
    struct dram_source *s = &w->source[source];
    dram_answered(&w->part.channel->stats, s->class, t - s->issued[i]);
    if (w->took) {
        const uint8_t flags = s->requests[i].flags;
        dram_latency_add(&w->took[flags & DRAM_L2_HIT ? DRAM_TOOK_L2_HIT : dram_took_of(flags)], t - s->issued[i]);
    }
    source_answer(s, t);
}

/* What is ready is issued. */
static bool issue(struct dram_window *w, int64_t t)
{
    bool moved = false;
    for (int s = 0; s < w->sources; s++) {
        struct dram_source *src = &w->source[s];
        while (source_ready(src) <= t) {
            const struct dram_request *r = &src->requests[src->next];
            struct dram_issued *to = &w->issued[sub_of(r)][src->class];
            if (src->class == DRAM_PIM && waiting(to) == w->most_pim)
                break;
            const uint32_t i = source_issue(src, t);
            moved = true;
            if (r->flags & DRAM_L2_HIT)
                answer(w, s, i, t);
            else
                to->at[to->tail++ & to->mask] = handle_of(w, s, i);
        }
    }
    return moved;
}

static void push(struct dram_window *w, int sub, int vc, uint32_t handle)
{
    int source;
    const uint32_t i = position_of(w, handle, &source);
    const struct dram_request *r = &w->source[source].requests[i];
    dram_partition_push(&w->part, sub, vc,
                        (struct dram_waiting){r->row, handle, r->bank, (uint8_t)(r->flags & (DRAM_L2_HIT - 1))});
}

/* One request of a sub-partition enters its L2 to DRAM queue, with its write-back if it has one. */
static bool enter(struct dram_window *w, int sub)
{
    for (int k = 0; k < 2; k++) {
        const int class = k == 0 ? !w->last_in[sub] : w->last_in[sub], vc = w->part.vcs == 2 ? class : 0;
        struct dram_issued *from = &w->issued[sub][class];
        if (!waiting(from))
            continue;
        const uint32_t handle = from->at[from->head & from->mask];
        int source;
        const uint32_t i = position_of(w, handle, &source);
        const bool evicts = class == DRAM_MEM && source_evicts(&w->source[source], i);
        if (dram_partition_room(&w->part, sub, vc) < 1u + evicts)
            continue;
        from->head++;
        w->last_in[sub] = class;
        push(w, sub, vc, handle);
        if (evicts)
            push(w, sub, vc, handle + 1);
        return true;
    }
    return false;
}

/* What is done gives its credit back and is answered. */
static bool finish(struct dram_window *w, int64_t t)
{
    bool moved = false;
    const struct dram_completion *c;
    while ((c = dram_partition_done(&w->part, t))) {
        const uint32_t handle = c->id;
        const bool posted = c->flags & DRAM_IS_POSTED;
        int source;
        const uint32_t i = position_of(w, handle, &source);
        /* A write-back left L2 through its read's sub-partition. */
        dram_partition_leave(&w->part, sub_of(&w->source[source].requests[i - posted]));
        if (!posted)
            answer(w, source, i, t);
        moved = true;
    }
    return moved;
}

/* --- the loop --- */

/* The next cycle at which something can happen after a cycle in which nothing moved. */
static int64_t next_event(const struct dram_window *w, int64_t t)
{
    const struct dram_partition *p = &w->part;
    int64_t next = p->next;
    for (int s = 0; s < w->sources; s++) {
        const int64_t ready = source_ready(&w->source[s]);
        if (ready > t && ready < next)
            next = ready;
    }
    for (int v = 0; v < DRAM_VCS; v++)
        if (p->wait_due[v] != INT64_MAX) {
            int64_t at = (int64_t)((double)p->wait_due[v] / w->core_cycles);
            at = at > t ? at : t + 1; /* rounded down: the cycle itself or the one before */
            next = at < next && p->wait_due[v] > (int64_t)((double)t * w->core_cycles) ? at : next;
        }
    if (p->done_next != INT64_MAX)
        next = p->done_next > t && p->done_next < next ? p->done_next : next;
    return next;
}

static bool all_done(const struct dram_window *w)
{
    for (int s = 0; s < w->sources; s++)
        if (w->source[s].first_done < 0)
            return false;
    return true;
}

int64_t dram_window_run(struct dram_window *w, int64_t limit)
{
    int64_t t = 0;
    while (t < limit) {
        const int64_t core = (int64_t)((double)t * w->core_cycles);
        dram_partition_step(&w->part, t);
        bool moved = finish(w, t);
        if (all_done(w))
            return t + 1;
        moved |= dram_partition_move(&w->part, t, core) != 0;
        for (int s = 0; s < DRAM_SUBS; s++)
            moved |= enter(w, s);
        moved |= issue(w, t);
        const int64_t next = moved ? t + 1 : next_event(w, t);
        if (next == INT64_MAX)
            return t + 1;
        t = next;
    }
    return limit;
}
