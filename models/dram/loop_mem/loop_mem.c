#include "models/dram/loop.h"

#include "models/dram/loop_cycle.h"
#include "models/dram/loop_mem/cycle.h"
#include "models/dram/loop_mem/stream.h"

enum { SHORTEST = 16 }; /* cycles and requests for which taking the state over is worth it */

/* Take the state over; `now` is the first cycle to visit. */
DRAM_INLINE void mem_begin(struct dram_channel *ch, struct dram_mem *m, struct mem_wheel *w, int32_t now)
{
    if (now > ch->last + 1)
        dram_count(ch, now - ch->last - 1);
    if (ch->uniform)
        dram_channel_settle(ch);
    dram_find_matches(ch, DRAM_ALL);
    m->scan = mem_scan_from(ch->prio);
    m->in.waiting = ch->waiting[DRAM_MEM];
    m->occupied = (unsigned)ch->occupied;
    m->active = (unsigned)ch->active;
    m->in.pending = (unsigned)ch->pending;
    m->streak = (unsigned)ch->streak;
    m->ccd_ok = ch->ccd_ok;
    m->rrd_ok = ch->rrd_ok;
    m->rtw_ok = ch->rtw_ok;
    m->wtr_ok = ch->wtr_ok;
    m->slot_sum = -(int64_t)now * __builtin_popcount(m->occupied);
    for (int g = 0; g <= ch->group_mask; g++)
        ch->ccdl_ok[g] = dram_later(ch->ccdl_ok[g], ch->ccdl_all);
    for (int b = 0; b < DRAM_NARROW; b++) {
        const unsigned bit = 1u << b;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], ch->pim_wtp);
        if (!(m->occupied & bit)) {
            ch->bank[b].last_row = ch->open_row[b];
            ch->bank[b].same = ch->bank[b].match;
            continue;
        }
        m->longer |= ch->slot_columns[b] > 1 ? bit : 0;
        if (ch->want_act & bit)
            mem_ready_to_act(m, w, now - 1, b, ch->ready[b]);
        else
            mem_ready(m, w, now - 1,
                      mem_slot(ch->want_pre & bit  ? MEM_PRE
                               : ch->want_wr & bit ? MEM_WR
                                                   : MEM_RD,
                               b),
                      ch->ready[b]);
    }
}

DRAM_INLINE void mem_end_stats(struct dram_channel *ch, const struct dram_mem *m, int32_t begin, int32_t now)
{
    struct dram_stats *s = &ch->stats;
    s->slot_sum += m->slot_sum + (int64_t)now * __builtin_popcount(m->occupied);
    s->slot_cycles += now - begin - m->empty;
    s->accesses[DRAM_MEM] += m->served;
    s->hits[DRAM_MEM] += m->hits;
    s->activates += m->activates;
    s->precharges += m->precharges;
    s->columns += m->columns;
    s->columns_in += m->in.columns_in;
    s->out[DRAM_MEM] += m->out.count;
    s->answered[DRAM_MEM] += m->out.count;
    s->answer_cycles[DRAM_MEM] += m->out.latency_sum;
    if (m->out.last >= 0)
        s->last_out[DRAM_MEM] = ch->base + m->out.last;
}

/* Requests that entered in this run get their numbers: ids ascend as they entered. */
DRAM_INLINE void mem_end_queues(struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from)
{
    for (unsigned banks = m->in.pending; banks; banks &= banks - 1) {
        struct dram_bank_queue *q = &ch->bank[__builtin_ctz(banks)];
        for (uint64_t live = q->live; live; live &= live - 1) {
            const int i = __builtin_ctzll(live);
            if (q->ids[i] >= from->first)
                q->seqs[i] = ch->seq + (q->ids[i] - from->first);
        }
        ch->head_seq[__builtin_ctz(banks)] = q->seqs[__builtin_ctzll(q->live)];
    }
    if (from->first != UINT32_MAX)
        ch->seq += (m->in.head == from->count ? mem_id(from, from->count - 1) + 1 : m->in.id) - from->first;
}

/* What each slot needs next follows from its bank. */
DRAM_INLINE void mem_end_slots(struct dram_channel *ch, const struct dram_mem *m)
{
    ch->want_rd = ch->want_wr = ch->want_act = ch->want_pre = 0;
    for (int b = 0; b < DRAM_NARROW; b++) {
        const unsigned bit = 1u << b;
        ch->ready[b] = INT32_MAX;
        if (!(m->occupied & bit))
            continue;
        if (!(m->longer & bit))
            ch->slot_columns[b] = 1;
        if (!(m->active & bit)) {
            ch->want_act |= bit;
            ch->ready[b] = ch->act_ok[b];
        } else if (ch->open_row[b] != ch->slot_row[b]) {
            ch->want_pre |= bit;
            ch->ready[b] = ch->pre_ok[b];
        } else if (ch->slot_flags[b] & DRAM_IS_WRITE) {
            ch->want_wr |= bit;
            ch->ready[b] = ch->wr_ok[b];
        } else {
            ch->want_rd |= bit;
            ch->ready[b] = ch->rd_ok[b];
        }
    }
}

/* Give the state back; `begin` is the first cycle of the run, `now` the next to visit. */
DRAM_INLINE void mem_end(struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                         int32_t begin, int32_t now)
{
    mem_end_stats(ch, m, begin, now);
    ch->last = now - 1;
    ch->prio = mem_scan_bank(m->scan, from);
    ch->waiting[DRAM_MEM] = m->in.waiting;
    ch->occupied = m->occupied;
    ch->active = m->active;
    ch->pending = m->in.pending;
    ch->streak = m->streak;
    ch->ccd_ok = m->ccd_ok;
    ch->rrd_ok = m->rrd_ok;
    ch->rtw_ok = m->rtw_ok;
    ch->wtr_ok = m->wtr_ok;
    mem_end_slots(ch, m);
    ch->due = lanes_le(ch->ready, now - 1);
    ch->next_due = lanes_next(ch->ready, now - 1);
    for (int g = 0; g <= ch->group_mask; g++) {
        ch->ccdl_last = dram_later(ch->ccdl_last, ch->ccdl_ok[g]);
        ch->rtpl_last = dram_later(ch->rtpl_last, ch->rtpl_ok[g]);
    }
    ch->stale = DRAM_ALL;
    mem_end_queues(ch, m, from);
    if (ch->device.on && !from->device)
        dram_device_follow(ch);
}

/* With one virtual channel: whether one of the next requests is a PIM request. */
static bool pim_is_near(const struct dram_feed *feed, uint32_t head)
{
    for (uint32_t i = head; feed->vcs == 1 && i < feed->count && i < head + SHORTEST; i++)
        if (feed->requests[i].flags & DRAM_IS_PIM)
            return true;
    return false;
}

/* Cycle t, and the entries up to the next one to visit, which is returned: the one behind it if anything happened. */
DRAM_INLINE int32_t mem_visit(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                              struct mem_wheel *w, int32_t t)
{
    m->calm++;
    m->due |= wheel_take(w, t);
    const bool took = mem_select(ch, m, from, w, t), gave = mem_issue(ch, m, from, w, t);
    if (!took && !gave) {
        const int32_t next = mem_feed(ch, m, from, t, mem_next(ch, m, from, w, t));
        m->empty += m->occupied ? 0 : next - t;
        return next;
    }
    if (m->in.waiting < from->queue && m->in.arrival <= t)
        mem_enter_next(ch, &m->in, from, t);
    return t + 1;
}

/* The cycles from t to the one that is returned. */
DRAM_INLINE int32_t mem_run(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t)
{
    struct mem_wheel w = {{0}};
    mem_begin(ch, m, &w, t);
    mem_look(&m->in, from, t);
    while (t < m->in.stop) {
        if (__builtin_expect(m->calm >= MEM_CALM, 0) && mem_may_stream(ch, m, from, t)) {
            t = mem_stream(ch, m, from, &w, t);
            continue;
        }
        if (!m->occupied && m->in.waiting == 1 && !m->unasked) {
            const int32_t after = mem_single(ch, m, from, t);
            if (after > t) {
                t = mem_feed(ch, m, from, after - 1, INT32_MAX);
                m->empty += t - after;
                continue;
            }
        }
        t = mem_visit(ch, m, from, &w, t);
    }
    return t;
}

/* The first offset that is not for a run, as far as the feed knows. */
static int64_t stop_of(const struct dram_channel *ch, const struct dram_feed *feed, const struct dram_feed_heads *heads)
{
    enum { MARGIN = 2 * DRAM_WHEEL }; /* more than the time from a visit to the end of what it starts */
    int64_t stop = 1 << 29;
    if (feed->limit - ch->base - MARGIN < stop)
        stop = feed->limit - ch->base - MARGIN;
    if (feed->vcs == 2 && heads->arrival[DRAM_PIM] - ch->base < stop)
        stop = heads->arrival[DRAM_PIM] - ch->base;
    if (ch->device.due - ch->base < stop)
        stop = ch->device.due - ch->base;
    return stop;
}

/* Built once for each of the ways a channel may be (fates: it has some of struct dram_fate; device: its device has
 * rules beyond the paper's), with a state of its own that the compiler can keep where it likes. */
DRAM_INLINE int64_t mem_run_as(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads,
                               const int32_t begin, const int32_t stop, struct dram_mem_result *result, bool fates,
                               bool device)
{
    struct mem_source from = {.requests = feed->requests,
                              .ids = feed->vcs == 2 ? feed->ids[DRAM_MEM] : NULL,
                              .count = feed->vcs == 2 ? feed->ids_count[DRAM_MEM] : feed->count,
                              .queue = ch->queue,
                              .bank_mask = ch->bank_mask,
                              .all_banks = (2u << ch->bank_mask) - 1,
                              .base = ch->base,
                              .one = feed->vcs == 1,
                              .fates = fates,
                              .device = device};
    from.first = heads->head[DRAM_MEM] == from.count ? UINT32_MAX : mem_id(&from, heads->head[DRAM_MEM]);
    struct dram_mem m = {.in = {.stop = stop, .head = heads->head[DRAM_MEM], .id = from.first},
                         .out = {.last = -1},
                         .unasked = DRAM_ALL,
                         .stopped = -1};
    const int32_t t = mem_run(ch, &m, &from, begin);
    ch->stats.in[DRAM_MEM] += m.in.head - heads->head[DRAM_MEM];
    if (m.in.head != heads->head[DRAM_MEM]) {
        heads->last = DRAM_MEM;
        heads->head[DRAM_MEM] = m.in.head;
        if (feed->vcs == 2)
            heads->arrival[DRAM_MEM] = dram_feed_arrival(feed, DRAM_MEM, m.in.head);
    }
    mem_end(ch, &m, &from, begin, t);
    *result = (struct dram_mem_result){~m.unasked & DRAM_ALL, m.served};
    return ch->base + t;
}

static int64_t run_plain(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int32_t begin,
                         int32_t stop, struct dram_mem_result *result)
{
    return mem_run_as(ch, feed, heads, begin, stop, result, false, false);
}

static int64_t run_device(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int32_t begin,
                          int32_t stop, struct dram_mem_result *result)
{
    return mem_run_as(ch, feed, heads, begin, stop, result, false, true);
}

static int64_t run_fates(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int32_t begin,
                         int32_t stop, struct dram_mem_result *result)
{
    return mem_run_as(ch, feed, heads, begin, stop, result, true, ch->device.rules);
}

int64_t dram_mem_run(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now,
                     struct dram_mem_result *result)
{
    const int64_t stop = stop_of(ch, feed, heads);
    const int32_t t = (int32_t)(now - ch->base);
    if (stop - t < SHORTEST || ch->stats.first_in[DRAM_MEM] < 0 || pim_is_near(feed, heads->head[0]))
        return now;
    if (ch->fate.enter || ch->fate.sched || ch->fate.column || ch->fate.done)
        return run_fates(ch, feed, heads, t, (int32_t)stop, result);
    return (ch->device.rules ? run_device : run_plain)(ch, feed, heads, t, (int32_t)stop, result);
}
