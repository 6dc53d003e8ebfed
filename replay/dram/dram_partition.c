#include "replay/dram/dram_partition.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* Of the ring of completions: a visit of the controller adds less than the rest. */
enum { MOST_RETURNS = DRAM_COMPLETIONS - 32 };

static int rings_init(struct dram_partition *p, int v, struct err *err)
{
    struct dram_latency_queue *w = &p->wait[v];
    w->mask = dram_ring_size((size_t)p->shared + DRAM_SUBS) - 1;
    w->at = mem_zalloc(w->mask + (size_t)1, sizeof *w->at, err);
    for (int s = 0; w->at && s < DRAM_SUBS; s++) {
        struct dram_fifo *q = &p->l2[s][v];
        q->mask = dram_ring_size(p->room) - 1;
        q->at = mem_zalloc(q->mask + (size_t)1, sizeof *q->at, err);
        if (!q->at)
            return -1;
    }
    return w->at ? 0 : -1;
}

int dram_partition_init(struct dram_partition *p, const struct platform *platform, const struct replay_policy *policy,
                        int vcs, struct err *err)
{
    const struct dram_platform *dram = platform_section_get(platform, "dram");
    memset(p, 0, sizeof *p);
    p->vcs = vcs;
    p->latency = dram->dram_latency;
    p->shared = (int32_t)(2 * dram->queue + dram->return_queue - 1);
    p->returns = (uint32_t)(dram->return_queue < MOST_RETURNS ? dram->return_queue : MOST_RETURNS);
    p->room = (uint32_t)(dram->l2_queue / vcs);
    p->last_sub = DRAM_SUBS - 1;
    p->done_next = p->move_at = p->wait_due[0] = p->wait_due[1] = INT64_MAX;
    p->loops = ((const struct dram_policy *)policy->head)->loops;
    p->state = dram_state_new(policy, err);
    p->channel = aligned_alloc(64, sizeof *p->channel);
    if (!p->state || !p->channel)
        return p->state ? err_set(err, "out of memory") : -1;
    for (int v = 0; v < vcs; v++)
        if (rings_init(p, v, err))
            return -1;
    return dram_channel_init(p->channel, dram, err);
}

void dram_partition_release(struct dram_partition *p)
{
    for (int v = 0; v < DRAM_VCS; v++) {
        free(p->wait[v].at);
        for (int s = 0; s < DRAM_SUBS; s++)
            free(p->l2[s][v].at);
    }
    free(p->channel);
    free(p->state);
    memset(p, 0, sizeof *p);
}

static bool has_credit(const struct dram_partition *p, int s)
{
    return p->private_used[s] < 1 || p->shared_used < p->shared;
}

static void take_credit(struct dram_partition *p, int s)
{
    if (p->private_used[s] < 1)
        p->private_used[s]++;
    else
        p->shared_used++;
}

static enum dram_class class_of(const struct dram_waiting *r)
{
    return r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
}

/* The L2 to DRAM queues whose head may go on, as in `some`; with one virtual channel its class is not known yet. */
static unsigned able(const struct dram_partition *p)
{
    enum { OF_SUB = (1 << DRAM_VCS) - 1, OF_MEM = 1 | 1 << DRAM_VCS };
    unsigned some = p->some;
    for (int s = 0; s < DRAM_SUBS; s++)
        if (p->full[s] || !has_credit(p, s))
            some &= ~((unsigned)OF_SUB << s * DRAM_VCS);
    if (p->vcs == 1)
        return some;
    if (!dram_channel_room(p->channel, DRAM_MEM))
        some &= ~(unsigned)OF_MEM;
    return dram_channel_room(p->channel, DRAM_PIM) ? some : some & OF_MEM;
}

bool dram_partition_arbitrate(struct dram_partition *p, int64_t core)
{
    const unsigned some = able(p);
    for (int i = 1; i <= DRAM_SUBS && some; i++) {
        const int s = (p->last_sub + i) % DRAM_SUBS;
        const unsigned of_sub = some >> s * DRAM_VCS & 3;
        if (!of_sub)
            continue;
        const int v = of_sub == 3 ? !p->last_out[s] : of_sub == 2;
        struct dram_fifo *q = &p->l2[s][v];
        const struct dram_waiting *r = &q->at[q->head & q->mask];
        if (p->vcs == 1 && !dram_channel_room(p->channel, class_of(r)))
            continue;
        take_credit(p, s);
        p->last_sub = (uint8_t)s;
        p->last_out[s] = (uint8_t)v;
        struct dram_latency_queue *w = &p->wait[v];
        w->at[w->tail++ & w->mask] = (struct dram_delayed_request){*r, core + p->latency};
        p->queued--;
        if (++q->head == q->tail) {
            q->head = q->tail = 0;
            p->some &= ~(1u << (s * DRAM_VCS + v));
        }
        if (p->wait_due[v] == INT64_MAX)
            p->wait_due[v] = core + p->latency;
        return true;
    }
    return false;
}

bool dram_partition_deliver(struct dram_partition *p, int64_t k, int64_t core)
{
    unsigned able = (unsigned)(p->wait_due[0] <= core) | (unsigned)(p->wait_due[1] <= core) << 1;
    for (int v = 0; v < DRAM_VCS && p->vcs == 2; v++)
        if (!dram_channel_room(p->channel, (enum dram_class)v))
            able &= ~(1u << v);
    if (!able)
        return false;
    const int v = able == 3 ? !p->last_wait : able == 2;
    struct dram_latency_queue *w = &p->wait[v];
    const struct dram_waiting *r = &w->at[w->head & w->mask].request;
    if (p->vcs == 1 && !dram_channel_room(p->channel, class_of(r)))
        return false;
    if (++w->head == w->tail)
        w->head = w->tail = 0;
    p->wait_due[v] = w->head != w->tail ? w->at[w->head & w->mask].due : INT64_MAX;
    p->last_wait = (uint8_t)v;
    p->loops->push(p->channel, k, r->row, r->bank, r->flags, r->id);
    p->next = k + 1;
    p->entered = r->id;
    return true;
}

int32_t dram_partition_credits(const struct dram_partition *p)
{
    return p->private_used[0] + p->private_used[1] + p->shared_used;
}
