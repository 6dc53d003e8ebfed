#include "replay/dram/dram_window.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* A handle is a position in the first source's requests, then in the second's. */
static uint32_t handle_of(const struct dram_window *w, int source, uint32_t i)
{
    return source ? w->source[0].count + i : i;
}

static int source_of(const struct dram_window *w, uint32_t handle)
{
    return handle >= w->source[0].count;
}

static uint32_t position_of(const struct dram_window *w, uint32_t handle)
{
    return source_of(w, handle) ? handle - w->source[0].count : handle;
}

static const struct dram_request *request_of(const struct dram_window *w, uint32_t handle)
{
    return &w->source[source_of(w, handle)].requests[position_of(w, handle)];
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
    dram_latency_add(&w->stats[s->class], t - s->issued[i]);
    if (w->took) {
        const uint8_t flags = s->requests[i].flags;
        dram_latency_add(&w->took[flags & DRAM_L2_HIT ? DRAM_TOOK_L2_HIT : dram_took_of(flags)], t - s->issued[i]);
    }
    dram_source_answer(s, t);
}

/* What is ready is issued. */
static bool issue(struct dram_window *w, int64_t t)
{
    bool moved = false;
    for (int s = 0; s < w->sources; s++) {
        struct dram_source *src = &w->source[s];
        while (dram_source_ready(src) <= t) {
            const struct dram_request *r = &src->requests[src->next];
            struct dram_issued *to = &w->issued[sub_of(r)][src->class];
            if (src->class == DRAM_PIM && waiting(to) == w->most_pim)
                break;
            const uint32_t i = dram_source_issue(src, t);
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
    const struct dram_request *r = request_of(w, handle);
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
        const bool evicts =
            class == DRAM_MEM && dram_source_evicts(&w->source[source_of(w, handle)], position_of(w, handle));
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
        /* A write-back left L2 through its read's sub-partition. */
        const int sub = sub_of(request_of(w, posted ? handle - 1 : handle));
        dram_partition_leave(&w->part, sub);
        if (!posted)
            answer(w, source_of(w, handle), position_of(w, handle), t);
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
        const int64_t ready = dram_source_ready(&w->source[s]);
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

/* Keep what became of a first pass before the second one writes over it. */
static void keep_first_pass(struct dram_window *w, bool at_end)
{
    const struct dram_fate *fate = &w->part.channel->fate;
    for (int s = 0; s < w->sources; s++) {
        const struct dram_source *src = &w->source[s];
        if (w->kept[s] || !(at_end || (src->passes && src->next)))
            continue;
        const size_t from = s ? w->source[0].count : 0, n = src->count;
        memcpy(w->first.enter + from, fate->enter + from, n * sizeof(int64_t));
        memcpy(w->first.sched + from, fate->sched + from, n * sizeof(int64_t));
        memcpy(w->first.column + from, fate->column + from, n * sizeof(int64_t));
        memcpy(w->first.done + from, fate->done + from, n * sizeof(int64_t));
        w->kept[s] = true;
    }
}

void dram_window_keep(struct dram_window *w)
{
    keep_first_pass(w, true);
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
        if (w->first.enter)
            keep_first_pass(w, false);
        const int64_t next = moved ? t + 1 : next_event(w, t);
        if (next == INT64_MAX)
            return t + 1;
        t = next;
    }
    return limit;
}
