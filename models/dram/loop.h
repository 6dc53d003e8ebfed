/* loop: the controller loop, built for one policy.
 *
 * A policy's file has the line DRAM_LOOPS with its constant hooks (struct dram_hooks, models/dram/dram_policy.h). The
 * whole loop is inlined there with the hooks, so a policy costs no call, and a missing hook costs nothing.
 * models/dram/controller.h has the cycle. Building for AVX2 too gains nothing (measured: AMD EPYC, gcc 12.2, -2 to +1
 * %), because the hot work is on 16-bit masks. */
#pragma once

#include "models/dram/controller.h"

#ifdef OFFCHIP_PLUGIN
/* A policy of one's own (models/plugin/plugin.h) is driven by the program's loop, through its hooks. */
void dram_loop_feed(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, struct dram_feed *feed)
    PLUGIN_API(dram_loop_feed);
int64_t dram_loop_step(struct dram_channel *channel, const struct dram_hooks *hooks, void *state, int64_t now)
    PLUGIN_API(dram_loop_step);
#else

/* Cycles without a PIM request go through models/dram/loop_mem/loop_mem.c. 0: through this loop, like all others. */
enum { DRAM_LOOP_MEM = 1 };

static inline bool dram_mem_may_run(const struct dram_channel *ch)
{
    return DRAM_LOOP_MEM && ch->mode == DRAM_MEM && !ch->waiting[DRAM_PIM] && !ch->pim_in_slots &&
           ch->pim_activate == INT32_MAX && ch->loop_mem_fits && !ch->device.held && ch->explain <= 0;
}

/* What a run reports to the policy. */
struct dram_mem_result {
    unsigned scanned; /* banks that a scan of idle banks reached */
    int64_t issued;   /* requests */
};

/* Visit the cycles from `now` on, with their entries, up to the one in which a PIM request may enter, a refresh falls
 * due, the limit comes near or all requests were served. Returns the cycle to go on with: `now`: nothing was done. */
int64_t dram_mem_run(struct dram_channel *channel, struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now,
                     struct dram_mem_result *result);

/* Whether a request that enters after cycle `now` can change anything before the next event: not a PIM request behind
 * another one in the slots, with no MEM request to turn the mode for. */
DRAM_INLINE bool dram_entry_matters(const struct dram_channel *ch, enum dram_class class)
{
    return class == DRAM_MEM || !ch->pim_in_slots || ch->mode == DRAM_MEM || ch->waiting[DRAM_MEM];
}

/* Requests that are done leave; their latency counts from arrival. */
DRAM_INLINE void dram_drain(struct dram_channel *ch, struct dram_feed *feed)
{
    while (ch->completion_head != ch->completion_tail) {
        const struct dram_completion *c = &ch->completions[ch->completion_head++ % DRAM_COMPLETIONS];
        dram_answered(&ch->stats, c->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM,
                      c->done - feed->requests[c->id].arrival);
    }
}

/* One request may enter after cycle `now`; returns the next cycle to visit. */
DRAM_INLINE int64_t dram_feed_one(struct dram_channel *ch, const struct dram_hooks *hooks, const struct dram_feed *feed,
                                  uint32_t *head, int64_t now, int64_t next)
{
    if (*head == feed->count)
        return next;
    const struct dram_request *r = &feed->requests[*head];
    if (r->arrival > now)
        return r->arrival < next ? r->arrival : next;
    const enum dram_class class = r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    if (!dram_channel_room(ch, class))
        return next;
    dram_enter(ch, hooks->fifo, (int32_t)(now - ch->base), r->row, r->bank, r->flags, (*head)++);
    if (dram_entry_matters(ch, class))
        return now + 1;
    if (*head == feed->count)
        return next;
    r++; /* the next one may enter in the next cycle */
    if (r->arrival <= now)
        return dram_channel_room(ch, r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM) ? now + 1 : next;
    return r->arrival < next ? r->arrival : next;
}

/* The same with two virtual channels. */
DRAM_INLINE int64_t dram_feed_two(struct dram_channel *ch, const struct dram_hooks *hooks, const struct dram_feed *feed,
                                  struct dram_feed_heads *h, int64_t now, int64_t next)
{
    enum dram_class class = !h->last;
    if (h->arrival[class] > now || !dram_channel_room(ch, class)) {
        class = h->last;
        if (h->arrival[class] > now || !dram_channel_room(ch, class)) {
            for (int k = 0; k < 2; k++)
                next = h->arrival[k] > now && h->arrival[k] < next ? h->arrival[k] : next;
            return next;
        }
    }
    const uint32_t id = feed->ids[class][h->head[class]++];
    const struct dram_request *r = &feed->requests[id];
    dram_enter(ch, hooks->fifo, (int32_t)(now - ch->base), r->row, r->bank, r->flags, id);
    h->last = class;
    h->arrival[class] = dram_feed_arrival(feed, class, h->head[class]);
    if (dram_entry_matters(ch, class))
        return now + 1;
    for (int k = 0; k < 2; k++) { /* the next one may enter in the next cycle */
        if (h->arrival[k] <= now + 1 && dram_channel_room(ch, (enum dram_class)k))
            return now + 1;
        next = h->arrival[k] > now && h->arrival[k] < next ? h->arrival[k] : next;
    }
    return next;
}

/* The cycles from `now` on in which no PIM request waits; returns the cycle to go on with. */
DRAM_INLINE int64_t dram_loop_mem(struct dram_channel *ch, const struct dram_hooks *hooks, void *state,
                                  struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now)
{
    struct dram_mem_result result = {0, 0};
    const int64_t next = dram_mem_run(ch, feed, heads, now, &result);
    if (hooks->on_scan && result.scanned)
        (void)hooks->on_scan(state, result.scanned);
    if (hooks->on_mem_only && result.issued)
        hooks->on_mem_only(state, result.issued);
    return next;
}

/* Run a whole feed through a fresh channel. */
DRAM_INLINE void dram_loop_feed(struct dram_channel *ch, const struct dram_hooks *hooks, void *state,
                                struct dram_feed *feed)
{
    struct dram_feed_heads heads = {{0, 0}, {INT64_MAX, INT64_MAX}, DRAM_MEM};
    for (int k = 0; k < 2 && feed->vcs == 2; k++)
        heads.arrival[k] = dram_feed_arrival(feed, k, 0);
    int64_t now = 0;
    while (ch->stats.out[DRAM_MEM] + ch->stats.out[DRAM_PIM] < feed->count) {
        if (hooks->skip_mem_only && dram_mem_may_run(ch)) {
            const int64_t from = now;
            now = dram_loop_mem(ch, hooks, state, feed, &heads, now);
            if (now != from)
                continue;
        }
        int64_t next = dram_visit(ch, hooks, state, now);
        dram_drain(ch, feed);
        if (feed->vcs == 1)
            next = dram_feed_one(ch, hooks, feed, &heads.head[0], now, next);
        else
            next = dram_feed_two(ch, hooks, feed, &heads, now, next);
        if (__builtin_expect(next >= feed->limit, 0)) {
            const int64_t left = feed->limit == INT64_MAX ? 0 : feed->limit - now - 1;
            if (ch->stats.out[DRAM_MEM] + ch->stats.out[DRAM_PIM] < feed->count) {
                dram_count(ch, left);
                feed->stuck = next == INT64_MAX;
            }
            break;
        }
        now = next;
    }
    dram_feed_end(ch, feed, now);
}

/* Cycle `now` of a channel whose requests come from elsewhere: enter them by push() after it. */
DRAM_INLINE int64_t dram_loop_step(struct dram_channel *ch, const struct dram_hooks *hooks, void *state, int64_t now)
{
    return dram_visit(ch, hooks, state, now);
}

#endif

/* Defines a policy's `name`_hooks, as `.fifo = true, .switch_mode = f`, and `name`_loops: the loop built for them. */
#define DRAM_LOOPS(name, ...)                                                                                          \
    static const struct dram_hooks name##_hooks = {__VA_ARGS__};                                                       \
    DRAM_LOOPS_OF(name##_loops, name##_hooks)

/* The struct dram_loops `name` of hooks that are there. */
#define DRAM_LOOPS_OF(name, hooks)                                                                                     \
    static void name##_feed(struct dram_channel *channel, void *state, struct dram_feed *feed)                         \
    {                                                                                                                  \
        dram_loop_feed(channel, &(hooks), state, feed);                                                                \
    }                                                                                                                  \
    static int64_t name##_step(struct dram_channel *channel, void *state, int64_t now)                                 \
    {                                                                                                                  \
        return dram_loop_step(channel, &(hooks), state, now);                                                          \
    }                                                                                                                  \
    static void name##_push(struct dram_channel *channel, int64_t now, uint32_t row, uint32_t bank, uint8_t flags,     \
                            uint32_t id)                                                                               \
    {                                                                                                                  \
        dram_enter(channel, (hooks).fifo, (int32_t)(now - channel->base), row, bank, flags, id);                       \
    }                                                                                                                  \
    static const struct dram_loops name = {name##_feed, name##_step, name##_push};
