/* dram_partition: what stands between L2 and one channel's controller, and the controller: two L2 to DRAM queues for
 * each of two sub-partitions, credits, the latency queue, the way back.
 *
 * Whoever feeds it (a stream of requests: replay/dram/front_partition.c; L2 slices behind an interconnect:
 * replay/dram/dram_memory.c) ticks it once each DRAM cycle k, while the core clock stands at cycle `core`:
 *
 *     dram_partition_step(p, k);                      the controller's cycle, if one is due
 *     while ((c = dram_partition_done(p, k))) ...     what is done; each must be released
 *     dram_partition_move(p, k, core);                one request into the latency queue, one out of it
 *
 * and in core cycles pushes requests where dram_partition_room() says so. A DRAM cycle moves one request from the L2 to
 * DRAM queues into the latency queue (sub-partitions round robin, then virtual channels): it needs a credit, one
 * private to the sub-partition and the others shared, and room in its class's controller queue. The head of a latency
 * queue enters the controller when it is old enough and its class has room. A credit returns when the reply leaves the
 * return queue, in the DRAM cycle after completion; of a posted write-back at its completion. A full return queue (its
 * replies find no room) stops the controller.
 * Source: GPGPU-Sim-4.0.1 branch ISPASS_2025, l2cache.cc (memory_partition_unit::dram_cycle, arbitration_metadata). */
#pragma once

#include "replay/dram/dram.h"

enum { DRAM_SUBS = 2, DRAM_VCS = 2 };

/* The core clock and the DRAM clock, side by side: core cycle c ticks at c / core_hz, DRAM cycle k at k / dram_hz, both
 * at 0, and DRAM first in a tie. The times are added up in double, period by period, as the artifact does: it decides
 * which of two nearly equal ones comes first. */
struct dram_clocks {
    int64_t core, dram; /* next cycle of each clock: whoever does a cycle counts it */
    double core_time, dram_time, core_period, dram_period;
};

enum { DRAM_TICK_DRAM = 1, DRAM_TICK_CORE = 2 };

static inline void dram_clocks_init(struct dram_clocks *c, int64_t core_hz, int64_t dram_hz)
{
    *c = (struct dram_clocks){.core_period = 1.0 / (double)core_hz, .dram_period = 1.0 / (double)dram_hz};
}

/* The clocks that tick next: one, or both. */
static inline unsigned dram_clocks_tick(struct dram_clocks *c)
{
    const double now = c->core_time < c->dram_time ? c->core_time : c->dram_time;
    unsigned ticks = 0;
    if (c->dram_time <= now) {
        c->dram_time += c->dram_period;
        ticks |= DRAM_TICK_DRAM;
    }
    if (c->core_time <= now) {
        c->core_time += c->core_period;
        ticks |= DRAM_TICK_CORE;
    }
    return ticks;
}

/* A request on its way to the controller. */
struct dram_waiting {
    uint32_t row, id;
    uint8_t bank, flags;
};

/* In a latency queue: with the core cycle from which it may go on. */
struct dram_delayed_request {
    struct dram_waiting request;
    int64_t due;
};

/* Places of a ring with that much room: a power of two. */
static inline uint32_t dram_ring_size(size_t room)
{
    uint32_t n = 1;
    while (n < room)
        n *= 2;
    return n;
}

/* Rings; `tail - head` wait; both are 0 when none does. */
struct dram_fifo {
    struct dram_waiting *at;
    uint32_t head, tail, mask;
};

struct dram_latency_queue {
    struct dram_delayed_request *at;
    uint32_t head, tail, mask;
};

struct dram_partition {
    /* What a cycle looks at first. */
    int64_t next;               /* DRAM cycle at which the controller is due */
    int64_t done_next;          /* DRAM cycle in which the first completion is seen; INT64_MAX: there is none */
    int64_t move_at;            /* core cycle before which dram_partition_move() can move nothing */
    int64_t wait_due[DRAM_VCS]; /* core cycle from which a latency queue's head may go on; INT64_MAX: it is empty */
    uint32_t queued;            /* in l2[][] */
    unsigned some;              /* l2[s][v] is not empty: bit s x DRAM_VCS + v */
    int vcs;
    bool full[DRAM_SUBS]; /* set by the feeder: no room for replies, nothing of this sub-partition goes on */
    uint8_t last_out[DRAM_SUBS], last_sub, last_wait;
    int32_t private_used[DRAM_SUBS], shared_used, shared;
    struct dram_channel *channel;
    const struct dram_loops *loops;
    void *state;
    int64_t latency;
    uint32_t room;    /* of an L2 to DRAM queue */
    uint32_t returns; /* return queue */
    uint32_t entered; /* id of the request that the last move put into the controller */
    struct dram_fifo l2[DRAM_SUBS][DRAM_VCS];
    struct dram_latency_queue wait[DRAM_VCS];
};

/* An idle partition at cycle 0. The policy must outlive it. Released after failure too. */
int dram_partition_init(struct dram_partition *p, const struct platform *platform, const struct replay_policy *policy,
                        int vcs, struct err *err);
void dram_partition_release(struct dram_partition *p);

/* Free places of an L2 to DRAM queue. */
static inline uint32_t dram_partition_room(const struct dram_partition *p, int sub, int vc)
{
    return p->room - (p->l2[sub][vc].tail - p->l2[sub][vc].head);
}

static inline void dram_partition_push(struct dram_partition *p, int sub, int vc, struct dram_waiting request)
{
    struct dram_fifo *q = &p->l2[sub][vc];
    q->at[q->tail++ & q->mask] = request;
    p->queued++;
    p->move_at = 0;
    p->some |= 1u << (sub * DRAM_VCS + vc);
}

/* `full` may be another: what kept a request from moving is looked at again only when something of this partition has
 * changed, by a visit, a push or this. */
static inline void dram_partition_wake(struct dram_partition *p)
{
    p->move_at = 0;
}

/* Whether anything stands in it outside the controller. */
static inline bool dram_partition_waits(const struct dram_partition *p)
{
    return p->queued || p->done_next != INT64_MAX || p->wait_due[0] != INT64_MAX || p->wait_due[1] != INT64_MAX;
}

/* The first completion may be another one. */
static inline void dram_partition_look(struct dram_partition *p)
{
    const struct dram_channel *ch = p->channel;
    const struct dram_completion *c = &ch->completions[ch->completion_head % DRAM_COMPLETIONS];
    const bool none = ch->completion_head == ch->completion_tail;
    p->done_next = none ? INT64_MAX : c->done + !(c->flags & DRAM_IS_POSTED);
}

static inline void dram_partition_step(struct dram_partition *p, int64_t k)
{
    if (k < p->next || p->channel->completion_tail - p->channel->completion_head >= p->returns)
        return;
    p->next = p->loops->step(p->channel, p->state, k);
    if (p->done_next == INT64_MAX)
        dram_partition_look(p);
}

/* What is done and seen in DRAM cycle k: posted ones in their cycle, others in the next one; NULL: nothing more. It
 * stays the first until it is released. */
static inline const struct dram_completion *dram_partition_done(const struct dram_partition *p, int64_t k)
{
    const struct dram_channel *ch = p->channel;
    return p->done_next > k ? NULL : &ch->completions[ch->completion_head % DRAM_COMPLETIONS];
}

/* The first of them leaves; its credit, held by its sub-partition, returns. */
static inline void dram_partition_leave(struct dram_partition *p, int sub)
{
    p->channel->completion_head++;
    dram_partition_look(p);
    if (p->private_used[sub] > 0)
        p->private_used[sub]--;
    else
        p->shared_used--;
}

enum { DRAM_MOVED_IN = 1, DRAM_MOVED_ON = 2 };

/* One request from the L2 to DRAM queues into the latency queue; one from there into the controller. */
bool dram_partition_arbitrate(struct dram_partition *p, int64_t core);
bool dram_partition_deliver(struct dram_partition *p, int64_t k, int64_t core);

/* When something may move if nothing changes: what stood still in this core cycle goes on standing. */
static inline int64_t dram_partition_next_move(const struct dram_partition *p, bool moved, int64_t core)
{
    if (moved && p->queued)
        return 0;
    int64_t next = INT64_MAX;
    for (int v = 0; v < DRAM_VCS; v++)
        if (p->wait_due[v] < next && (moved || p->wait_due[v] > core))
            next = p->wait_due[v];
    return next;
}

/* The moves of DRAM cycle k, behind everything else of it. Returns DRAM_MOVED_IN: one came into the latency queue,
 * DRAM_MOVED_ON: one (`entered`) into the controller. */
static inline int dram_partition_move(struct dram_partition *p, int64_t k, int64_t core)
{
    int moved = p->queued && dram_partition_arbitrate(p, core) ? DRAM_MOVED_IN : 0;
    if ((p->wait_due[0] <= core || p->wait_due[1] <= core) && dram_partition_deliver(p, k, core))
        moved |= DRAM_MOVED_ON;
    p->move_at = dram_partition_next_move(p, moved, core);
    return moved;
}

/* Requests in it that hold a credit, and in the L2 to DRAM queues. */
int32_t dram_partition_credits(const struct dram_partition *p);
