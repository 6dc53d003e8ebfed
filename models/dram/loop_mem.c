#include "models/dram/loop_mem.h"

#include "models/dram/loop_cycle.h"

enum { SHORTEST = 16 }; /* cycles and requests for which taking the state over is worth it */

/* The local state: the fields of struct dram_channel of the same names, unless said. No pointer to it leaves this
 * file's inlined functions, so that the compiler may keep it where it likes. */
struct mem {
    int32_t prio, waiting;
    unsigned occupied, active, pending, due;
    unsigned want_rd, want_wr, want_act, want_pre;
    unsigned streak;
    unsigned asked; /* banks that a scan of idle banks asked */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int32_t stop;                  /* the cycle not to be visited here */
    uint32_t seq, head;            /* head: position of the next MEM request, as in struct dram_feed_heads */
    int64_t slot_sum, slot_cycles; /* as if what is in the slots had been filled at offset 0 */
    int64_t in, out, columns_in, columns, hits, writes, write_hits, activates, precharges, visits, served;
    int32_t last_out; /* offset; -1: none in this run */
};

/* --- the wheel: which slots become ready at which cycle, modulo its size --- */

struct wheel {
    uint64_t ahead[DRAM_WHEEL / 64]; /* entries that hold banks */
    uint16_t banks[DRAM_WHEEL];
};

DRAM_INLINE void wheel_add(struct wheel *w, int32_t at, unsigned bank_bit)
{
    const unsigned i = (unsigned)at % DRAM_WHEEL;
    w->banks[i] |= (uint16_t)bank_bit;
    w->ahead[i / 64] |= UINT64_C(1) << i % 64;
}

DRAM_INLINE unsigned wheel_take(struct wheel *w, int32_t t)
{
    const unsigned i = (unsigned)t % DRAM_WHEEL, banks = w->banks[i];
    w->banks[i] = 0;
    w->ahead[i / 64] &= ~(UINT64_C(1) << i % 64);
    return banks;
}

/* The next cycle after t with an entry; INT32_MAX: none. */
DRAM_INLINE int32_t wheel_next(const struct wheel *w, int32_t t)
{
    const unsigned from = (unsigned)(t + 1) % DRAM_WHEEL;
    const uint64_t first = w->ahead[from / 64] >> from % 64;
    if (first)
        return t + 1 + __builtin_ctzll(first);
    for (unsigned k = 1; k <= DRAM_WHEEL / 64; k++) {
        const uint64_t word = w->ahead[(from / 64 + k) % (DRAM_WHEEL / 64)];
        if (word)
            return t + 1 - (int32_t)(from % 64) + (int32_t)(64 * k) + __builtin_ctzll(word);
    }
    return INT32_MAX;
}

/* Slot b may go on from cycle `at` as far as its bank is concerned; t is now. */
DRAM_INLINE void mem_ready(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t, int b, int32_t at)
{
    ch->ready[b] = at;
    if (at <= t) {
        m->due |= 1u << b;
        return;
    }
    m->due &= ~(1u << b);
    wheel_add(w, at, 1u << b);
}

/* The first of `banks` from `prio` on. */
DRAM_INLINE int mem_first(unsigned banks, int prio)
{
    return (prio + __builtin_ctz(dram_rotate(banks, prio))) & 15;
}

/* --- entering --- */

DRAM_INLINE void mem_enter(struct dram_channel *ch, struct mem *m, int32_t t, const struct dram_request *r, uint32_t id)
{
    struct dram_bank_queue *q = &ch->bank[r->bank];
    if (__builtin_expect(ch->stats.first_in[DRAM_MEM] < 0, 0))
        ch->stats.first_in[DRAM_MEM] = ch->base + t;
    if (__builtin_expect(ch->fate.enter != NULL, 0))
        ch->fate.enter[id] = ch->base + t;
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    q->rows[i] = r->row;
    q->ids[i] = id;
    q->seqs[i] = m->seq++;
    q->flags[i] = r->flags;
    q->live |= UINT64_C(1) << i;
    q->same |= (uint64_t)(r->row == q->last_row) << i;
    m->pending |= 1u << r->bank;
    m->waiting++;
    m->in++;
    m->columns_in += r->flags & DRAM_COLUMNS;
}

/* With one virtual channel a PIM request at the head ends the run: it may enter at cycle t or later. */
DRAM_INLINE void mem_look(const struct dram_channel *ch, struct mem *m, const struct dram_feed *feed, int32_t t)
{
    if (feed->vcs == 2 || m->head == feed->count || !(feed->requests[m->head].flags & DRAM_IS_PIM))
        return;
    const int64_t arrival = feed->requests[m->head].arrival - ch->base, at = arrival > t ? arrival : t;
    m->stop = at < m->stop ? (int32_t)at : m->stop;
}

/* Requests enter after cycle t and those that follow, one a cycle, up to cycle `next`, which comes nearer when the slot
 * of one is empty. Returns the cycle to visit next. */
DRAM_INLINE int32_t mem_feed(struct dram_channel *ch, struct mem *m, const struct dram_feed *feed, int32_t t,
                             int32_t next)
{
    const uint32_t *const ids = feed->vcs == 2 ? feed->ids[DRAM_MEM] : NULL;
    const uint32_t count = ids ? feed->ids_count[DRAM_MEM] : feed->count;
    next = next < m->stop ? next : m->stop;
    while (t < next && m->waiting < ch->queue && m->head < count) {
        const uint32_t id = ids ? ids[m->head] : m->head;
        const struct dram_request *r = &feed->requests[id];
        const int64_t arrival = r->arrival - ch->base;
        if (arrival >= next)
            break;
        t = arrival > t ? (int32_t)arrival : t;
        mem_enter(ch, m, t, r, id);
        m->head++;
        t++;
        mem_look(ch, m, feed, t);
        next = m->occupied >> r->bank & 1 ? next : t;
        next = next < m->stop ? next : m->stop;
    }
    return next;
}

/* --- selection --- */

/* FR-FCFS within a bank: with an empty slot the row selected last is the open one. */
DRAM_INLINE void mem_take(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    const unsigned bit = 1u << b;
    const bool hit = q->same != 0;
    const int i = __builtin_ctzll(hit ? q->same : q->live);
    const uint32_t row = q->rows[i], id = q->ids[i];
    const uint8_t flags = q->flags[i];
    const uint64_t others = ~(UINT64_C(1) << i);
    q->live &= others;
    q->same &= others;
    if (!hit) {
        q->last_row = row;
        q->same = lanes_find(q->rows, q->tail, row) & q->live;
    }
    m->streak = q->same ? m->streak | bit : m->streak & ~bit;
    if (!q->live) {
        q->tail = 0;
        q->limit = 16;
        m->pending &= ~bit;
    }
    if (__builtin_expect(ch->fate.sched != NULL, 0))
        ch->fate.sched[id] = ch->base + t;
    const unsigned write = (flags & DRAM_IS_WRITE) != 0;
    m->waiting--;
    m->served++;
    m->hits += hit;
    m->writes += write;
    m->write_hits += write & hit;
    m->slot_cycles -= m->occupied ? 0 : t;
    m->slot_sum -= t;
    m->occupied |= bit;
    ch->slot_row[b] = row;
    ch->slot_id[b] = id;
    ch->slot_flags[b] = flags;
    ch->slot_columns[b] = flags & DRAM_COLUMNS;
    if (!(m->active & bit)) {
        m->want_act |= bit;
        mem_ready(ch, m, w, t, b, ch->act_ok[b]);
    } else if (!hit) {
        m->want_pre |= bit;
        mem_ready(ch, m, w, t, b, ch->pre_ok[b]);
    } else {
        m->want_rd |= write ? 0 : bit;
        m->want_wr |= write ? bit : 0;
        mem_ready(ch, m, w, t, b, write ? ch->wr_ok[b] : ch->rd_ok[b]);
    }
}

DRAM_INLINE void mem_select(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t)
{
    const unsigned empty = ~m->occupied & DRAM_ALL, can = empty & m->pending;
    if (!can) {
        m->asked |= empty;
        return;
    }
    const int step = __builtin_ctz(dram_rotate(can, m->prio)), b = (m->prio + step) & 15;
    if (m->asked != DRAM_ALL)
        m->asked |= dram_rotate(dram_rotate(empty, m->prio) & ((2u << step) - 1), (16 - m->prio) & 15);
    m->prio = (m->prio + 1) & 15;
    mem_take(ch, m, w, t, b);
}

/* --- commands --- */

DRAM_INLINE void mem_column(struct dram_channel *ch, struct mem *m, struct dram_feed *feed, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const int g = b & ch->group_mask;
    int32_t done;
    m->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = t + tm->ccdl;
    m->columns++;
    if (m->want_rd & bit) {
        dram_legal_rd(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        m->rtw_ok = t + tm->rtw;
        ch->rtpl_ok[g] = t + tm->rtpl;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
        done = t + tm->cl;
    } else {
        dram_legal_wr(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        m->wtr_ok = t + tm->wtr;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->wtp);
        done = t + tm->wl;
    }
    if (--ch->slot_columns[b])
        return;
    m->occupied &= ~bit;
    m->want_rd &= ~bit;
    m->want_wr &= ~bit;
    m->due &= ~bit;
    m->slot_sum += t + 1;
    m->slot_cycles += m->occupied ? 0 : t + 1;
    m->out++;
    m->last_out = done;
    ch->ready[b] = INT32_MAX;
    const uint32_t id = ch->slot_id[b];
    if (__builtin_expect(ch->fate.column != NULL, 0))
        ch->fate.column[id] = ch->base + t;
    if (__builtin_expect(ch->fate.done != NULL, 0))
        ch->fate.done[id] = ch->base + done;
    dram_latency_add(&feed->latency[DRAM_MEM], ch->base + done - feed->requests[id].arrival);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const bool write = ch->slot_flags[b] & DRAM_IS_WRITE;
    dram_legal_act(&ch->legal, tm, t, b, ch->slot_row[b]);
    m->active |= bit;
    m->want_act &= ~bit;
    m->want_rd |= write ? 0 : bit;
    m->want_wr |= write ? bit : 0;
    m->rrd_ok = t + tm->rrd;
    ch->open_row[b] = ch->slot_row[b];
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
    mem_ready(ch, m, w, t, b, write ? t + tm->rcdwr : t + tm->rcd);
    m->activates++;
    m->prio = (b + 1) & 15;
}

DRAM_INLINE void mem_precharge(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    dram_legal_pre(&ch->legal, &ch->timing, t, b, b & ch->group_mask);
    m->active &= ~bit;
    m->want_pre &= ~bit;
    m->want_act |= bit;
    ch->act_ok[b] = dram_later(ch->act_ok[b], t + ch->timing.rp);
    mem_ready(ch, m, w, t, b, ch->act_ok[b]);
    m->precharges++;
    m->prio = (b + 1) & 15;
}

/* Column scan, then row scan: the first bank whose group allows it gets the command. */
DRAM_INLINE void mem_issue(struct dram_channel *ch, struct mem *m, struct wheel *w, struct dram_feed *feed, int32_t t)
{
    const int prio = m->prio;
    unsigned columns = m->due & ((t >= m->wtr_ok ? m->want_rd : 0) | (t >= m->rtw_ok ? m->want_wr : 0));
    unsigned rows = m->due & (m->want_pre | (t >= m->rrd_ok ? m->want_act : 0));
    if (t < m->ccd_ok)
        columns = 0;
    while (columns) {
        const int b = mem_first(columns, prio), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] <= t) {
            mem_column(ch, m, feed, t, b);
            break;
        }
        columns &= ~(unsigned)ch->group_banks[g];
    }
    while (rows) {
        const int b = mem_first(rows, prio), g = b & ch->group_mask;
        if (m->want_act >> b & 1) {
            mem_activate(ch, m, w, t, b);
            break;
        }
        if (ch->rtpl_ok[g] <= t) {
            mem_precharge(ch, m, w, t, b);
            break;
        }
        rows &= ~(m->want_pre & ch->group_banks[g]);
    }
}

/* The first cycle after t at which something may happen if nothing enters; INT32_MAX: none. */
DRAM_INLINE int32_t mem_next(const struct mem *m, const struct wheel *w, int32_t t)
{
    if (m->pending & ~m->occupied || m->due & m->want_pre)
        return t + 1;
    int32_t next = INT32_MAX;
    if (m->due & m->want_act)
        next = m->rrd_ok;
    if (m->due & m->want_rd) {
        const int32_t at = dram_later(m->wtr_ok, m->ccd_ok);
        next = at < next ? at : next;
    }
    if (m->due & m->want_wr) {
        const int32_t at = dram_later(m->rtw_ok, m->ccd_ok);
        next = at < next ? at : next;
    }
    if (next <= t + 1)
        return t + 1;
    const int32_t at = wheel_next(w, t);
    return at < next ? at : next;
}

/* --- the run --- */

/* Take the state over; `now` is the first cycle to visit. */
DRAM_INLINE struct mem mem_begin(struct dram_channel *ch, struct wheel *w, uint32_t head, int32_t now, int32_t stop)
{
    if (now > ch->last + 1)
        dram_count(ch, now - ch->last - 1);
    if (ch->uniform)
        dram_channel_settle(ch);
    dram_find_matches(ch, DRAM_ALL);
    struct mem m = {.prio = ch->prio,
                    .waiting = ch->waiting[DRAM_MEM],
                    .occupied = ch->occupied,
                    .active = ch->active,
                    .pending = ch->pending,
                    .streak = ch->streak,
                    .want_rd = ch->want_rd,
                    .want_wr = ch->want_wr,
                    .want_act = ch->want_act,
                    .want_pre = ch->want_pre,
                    .ccd_ok = ch->ccd_ok,
                    .rrd_ok = ch->rrd_ok,
                    .rtw_ok = ch->rtw_ok,
                    .wtr_ok = ch->wtr_ok,
                    .stop = stop,
                    .seq = ch->seq,
                    .head = head,
                    .last_out = -1};
    m.slot_sum = -(int64_t)now * __builtin_popcount(m.occupied);
    m.slot_cycles = m.occupied ? -(int64_t)now : 0;
    for (int g = 0; g <= ch->group_mask; g++)
        ch->ccdl_ok[g] = dram_later(ch->ccdl_ok[g], ch->ccdl_all);
    for (int b = 0; b < DRAM_BANKS; b++) {
        const unsigned bit = 1u << b;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], ch->pim_wtp);
        if (!(m.occupied & bit)) {
            ch->bank[b].last_row = ch->open_row[b];
            ch->bank[b].same = ch->bank[b].match;
        } else if (ch->ready[b] < now) {
            m.due |= bit;
        } else {
            wheel_add(w, ch->ready[b], bit);
        }
    }
    return m;
}

DRAM_INLINE void mem_end_stats(struct dram_channel *ch, const struct mem *m, int32_t now)
{
    struct dram_stats *s = &ch->stats;
    const int64_t sum = m->slot_sum + (int64_t)now * __builtin_popcount(m->occupied);
    const int64_t cycles = m->slot_cycles + (m->occupied ? now : 0);
    s->slot_sum += sum;
    s->mem_slot_sum += sum;
    s->slot_cycles += cycles;
    s->mem_slot_cycles += cycles;
    s->accesses[DRAM_MEM] += m->served;
    s->hits[DRAM_MEM] += m->hits;
    s->writes += m->writes;
    s->write_hits += m->write_hits;
    s->activates += m->activates;
    s->precharges += m->precharges;
    s->columns += m->columns;
    s->columns_in += m->columns_in;
    s->in[DRAM_MEM] += m->in;
    s->out[DRAM_MEM] += m->out;
    s->visits += m->visits;
    if (m->last_out >= 0)
        s->last_out[DRAM_MEM] = ch->base + m->last_out;
}

/* Give the state back; `now` is the next cycle to visit. */
DRAM_INLINE void mem_end(struct dram_channel *ch, const struct mem *m, int32_t now)
{
    mem_end_stats(ch, m, now);
    ch->last = now - 1;
    ch->prio = m->prio;
    ch->waiting[DRAM_MEM] = m->waiting;
    ch->occupied = m->occupied;
    ch->active = m->active;
    ch->pending = m->pending;
    ch->streak = m->streak;
    ch->want_rd = m->want_rd;
    ch->want_wr = m->want_wr;
    ch->want_act = m->want_act;
    ch->want_pre = m->want_pre;
    ch->ccd_ok = m->ccd_ok;
    ch->rrd_ok = m->rrd_ok;
    ch->rtw_ok = m->rtw_ok;
    ch->wtr_ok = m->wtr_ok;
    ch->seq = m->seq;
    ch->due = lanes_le(ch->ready, now - 1);
    ch->next_due = lanes_next(ch->ready, now - 1);
    for (int g = 0; g <= ch->group_mask; g++) {
        ch->ccdl_last = dram_later(ch->ccdl_last, ch->ccdl_ok[g]);
        ch->rtpl_last = dram_later(ch->rtpl_last, ch->rtpl_ok[g]);
    }
    ch->stale = DRAM_ALL;
    for (int b = 0; b < DRAM_BANKS; b++) {
        const struct dram_bank_queue *q = &ch->bank[b];
        if (q->live)
            ch->head_seq[b] = q->seqs[__builtin_ctzll(q->live)];
    }
}

/* With one virtual channel: whether one of the next requests is a PIM request. */
static bool pim_is_near(const struct dram_feed *feed, uint32_t head)
{
    for (uint32_t i = head; feed->vcs == 1 && i < feed->count && i < head + SHORTEST; i++)
        if (feed->requests[i].flags & DRAM_IS_PIM)
            return true;
    return false;
}

int64_t dram_mem_run(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now,
                     struct dram_mem_result *result)
{
    enum { MARGIN = 2 * DRAM_WHEEL }; /* more than the time from a visit to the end of what it starts */
    int64_t stop = 1 << 29;
    if (feed->limit - ch->base - MARGIN < stop)
        stop = feed->limit - ch->base - MARGIN;
    if (feed->vcs == 2 && heads->arrival[DRAM_PIM] - ch->base < stop)
        stop = heads->arrival[DRAM_PIM] - ch->base;
    if (stop - (now - ch->base) < SHORTEST || pim_is_near(feed, heads->head[0]))
        return now;
    struct wheel w = {{0}, {0}};
    int32_t t = (int32_t)(now - ch->base);
    struct mem m = mem_begin(ch, &w, heads->head[DRAM_MEM], t, (int32_t)stop);
    mem_look(ch, &m, feed, t);
    while (t < m.stop) {
        m.visits++;
        m.due |= wheel_take(&w, t);
        mem_select(ch, &m, &w, t);
        mem_issue(ch, &m, &w, feed, t);
        const int32_t next = mem_feed(ch, &m, feed, t, mem_next(&m, &w, t));
        if (next > t + 1)
            m.asked |= ~m.occupied & DRAM_ALL;
        t = next;
    }
    mem_end(ch, &m, t);
    heads->head[DRAM_MEM] = m.head;
    if (m.in) {
        heads->last = DRAM_MEM;
        if (feed->vcs == 2)
            heads->arrival[DRAM_MEM] = dram_feed_arrival(feed, DRAM_MEM, m.head);
    }
    *result = (struct dram_mem_result){m.asked, m.served};
    return ch->base + t;
}
