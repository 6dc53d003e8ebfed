#include "models/dram/loop_mem.h"

#include "models/dram/loop_cycle.h"

enum { CALM = 8 }; /* visits with nothing but reads after which only such are expected */

enum { SHORTEST = 16 }; /* cycles and requests for which taking the state over is worth it */

/* Keeps the compiler from computing an address anew for each use of it: measured, a tenth of the time. */
#define ONCE(pointer) __asm__("" : "+r"(pointer))

/* The local state: the fields of struct dram_channel of the same names, unless said. No pointer to it leaves this
 * file's inlined functions, so that the compiler may keep it where it likes. */
struct mem {
    int32_t prio, waiting;
    unsigned occupied, active, pending, due, streak;
    unsigned want_rd, want_wr, want_act, want_pre;
    unsigned writes; /* slots that hold a write */
    unsigned longer; /* slots that need more than one column command */
    unsigned asked;  /* banks that a scan of idle banks asked */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int32_t stop;                  /* the cycle not to be visited here */
    int32_t last_out;              /* offset; -1: none in this run */
    uint32_t head;                 /* position of the next MEM request, as in struct dram_feed_heads */
    uint32_t id;                   /* of it */
    int64_t arrival;               /* of it, an offset; INT64_MAX: there is none for this run */
    int64_t slot_sum, slot_cycles; /* as if what is in the slots had been filled at offset 0 */
    int64_t columns_in, columns, out, activates, precharges, visits;
    int64_t served[4]; /* MEM requests selected: + 1 for a hit, + 2 for a write */
    int64_t latency_sum, latency_largest;
    int calm; /* visits since the last command that is no read */
};

/* What stays the same in a run. */
struct source {
    const struct dram_request *requests;
    const uint32_t *ids; /* NULL: the position is the id */
    uint32_t count;
    int32_t queue;
    int64_t base;
    int64_t *buckets; /* of the latency */
    uint32_t first;   /* id of the first request that enters in this run */
    bool one;         /* one virtual channel: PIM requests stand in the same line */
    bool fates;       /* the channel has some of struct dram_fate */
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

/* A slot may go on from cycle `at` as far as its bank is concerned; t is now. */
DRAM_INLINE void mem_ready(struct mem *m, struct wheel *w, int32_t t, unsigned bit, int32_t at)
{
    if (at <= t) {
        m->due |= bit;
        return;
    }
    m->due &= ~bit;
    wheel_add(w, at, bit);
}

/* The first of `banks` from `prio` on. */
DRAM_INLINE int mem_first(unsigned banks, int prio)
{
    return (prio + __builtin_ctz((banks | banks << 16) >> prio)) & 15;
}

/* --- entering --- */

/* The next request enters at cycle t. Its number among all is given when the run ends: mem_end_queues(). */
DRAM_INLINE void mem_enter(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t)
{
    const struct dram_request *r = &from->requests[m->id];
    struct dram_bank_queue *q = &ch->bank[r->bank];
    ONCE(q);
    if (from->fates && ch->fate.enter)
        ch->fate.enter[m->id] = from->base + t;
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    const uint64_t at = UINT64_C(1) << i;
    q->rows[i] = r->row;
    q->ids[i] = m->id;
    q->flags[i] = r->flags;
    q->live |= at;
    q->same |= r->row == q->last_row ? at : 0;
    m->pending |= 1u << r->bank;
    m->waiting++;
    m->columns_in += r->flags & DRAM_COLUMNS;
}

/* Look at the request at the head, which may enter from cycle t on. With one virtual channel a PIM request ends the run
 * there. */
DRAM_INLINE void mem_look(struct mem *m, const struct source *from, int32_t t)
{
    m->arrival = INT64_MAX;
    if (m->head == from->count)
        return;
    m->id = from->ids ? from->ids[m->head] : m->head;
    const struct dram_request *r = &from->requests[m->id];
    m->arrival = r->arrival - from->base;
    if (__builtin_expect(from->one && r->flags & DRAM_IS_PIM, 0)) {
        const int64_t at = m->arrival > t ? m->arrival : t;
        m->stop = at < m->stop ? (int32_t)at : m->stop;
        m->arrival = INT64_MAX;
    }
}

/* Requests enter after cycle t and those that follow, one a cycle, up to cycle `next`, which comes nearer when the slot
 * of one is empty. Returns the cycle to visit next. */
DRAM_INLINE int32_t mem_feed(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t, int32_t next)
{
    next = next < m->stop ? next : m->stop;
    while (m->waiting < from->queue && m->arrival < next && t < next) {
        t = m->arrival > t ? (int32_t)m->arrival : t;
        const unsigned bit = 1u << from->requests[m->id].bank;
        mem_enter(ch, m, from, t);
        m->head++;
        t++;
        mem_look(m, from, t);
        next = m->occupied & bit ? next : t;
        next = next < m->stop ? next : m->stop;
    }
    return next;
}

/* --- selection --- */

/* FR-FCFS within a bank: with an empty slot the row selected last is the open one. */
DRAM_INLINE void mem_take(struct dram_channel *ch, struct mem *m, const struct source *from, struct wheel *w, int32_t t,
                          int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const unsigned bit = 1u << b;
    const uint64_t was = q->same;
    const bool hit = was != 0;
    const int i = __builtin_ctzll(hit ? was : q->live);
    const uint64_t at = UINT64_C(1) << i, live = q->live & ~at;
    const uint32_t row = q->rows[i], id = q->ids[i];
    const uint8_t flags = q->flags[i];
    const unsigned write = (flags & DRAM_IS_WRITE) != 0;
    uint64_t same = was & ~at;
    ch->slot_row[b] = row;
    ch->slot_id[b] = id;
    ch->slot_flags[b] = flags;
    ch->slot_columns[b] = flags & DRAM_COLUMNS;
    if (hit) {
        m->want_rd |= write ? 0 : bit;
        m->want_wr |= write ? bit : 0;
        mem_ready(m, w, t, bit, write ? ch->wr_ok[b] : ch->rd_ok[b]);
    } else {
        q->last_row = row;
        same = live ? lanes_find(q->rows, q->tail <= 32 ? 32 : DRAM_QUEUE, row) & live : 0;
        m->want_pre |= m->active & bit;
        m->want_act |= ~m->active & bit;
        mem_ready(m, w, t, bit, m->active & bit ? ch->pre_ok[b] : ch->act_ok[b]);
    }
    q->same = same;
    q->live = live;
    m->streak = same ? m->streak | bit : m->streak & ~bit;
    if (!live) {
        q->tail = 0;
        q->limit = DRAM_QUEUE / 2;
        m->pending &= ~bit;
    }
    if (from->fates && ch->fate.sched)
        ch->fate.sched[id] = from->base + t;
    m->waiting--;
    m->served[hit + 2 * write]++;
    m->slot_cycles -= m->occupied ? 0 : t;
    m->slot_sum -= t;
    m->occupied |= bit;
    m->writes = (m->writes & ~bit) | (write ? bit : 0);
    m->longer |= (flags & DRAM_COLUMNS) > 1 ? bit : 0;
}

DRAM_INLINE void mem_select(struct dram_channel *ch, struct mem *m, const struct source *from, struct wheel *w,
                            int32_t t)
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
    mem_take(ch, m, from, w, t, b);
}

/* --- commands --- */

/* A request had its last column command at t. */
DRAM_INLINE void mem_done(struct dram_channel *ch, struct mem *m, const struct source *from, uint32_t id, int32_t t,
                          int32_t done)
{
    m->out++;
    m->last_out = done;
    if (from->fates && ch->fate.column)
        ch->fate.column[id] = from->base + t;
    if (from->fates && ch->fate.done)
        ch->fate.done[id] = from->base + done;
    const int64_t latency = from->base + done - from->requests[id].arrival;
    m->latency_sum += latency;
    if (__builtin_expect(latency > m->latency_largest, 0))
        m->latency_largest = latency;
    from->buckets[(uint64_t)latency < LATENCY_EXACT ? (uint32_t)latency : dram_latency_bucket(latency)]++;
}

/* A column command to bank b at t, for the row of its slot; returns when its data end. */
DRAM_INLINE int32_t mem_column(struct dram_channel *ch, struct mem *m, bool write, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const int g = b & ch->group_mask;
    m->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = t + tm->ccdl;
    m->columns++;
    if (write) {
        dram_legal_wr(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        m->wtr_ok = t + tm->wtr;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->wtp);
        return t + tm->wl;
    }
    dram_legal_rd(&ch->legal, tm, t, b, g, ch->slot_row[b]);
    m->rtw_ok = t + tm->rtw;
    ch->rtpl_ok[g] = t + tm->rtpl;
    ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
    return t + tm->cl;
}

/* The column command of the slot of bank b; it empties with its last. */
DRAM_INLINE void mem_serve(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    const bool write = m->want_wr & bit;
    const int32_t done = mem_column(ch, m, write, t, b);
    if (write)
        m->calm = 0;
    if (m->longer & bit) {
        if (--ch->slot_columns[b])
            return;
        m->longer &= ~bit;
    }
    m->occupied &= ~bit;
    m->want_rd &= ~bit;
    m->want_wr &= ~bit;
    m->due &= ~bit;
    m->slot_sum += t + 1;
    m->slot_cycles += m->occupied ? 0 : t + 1;
    mem_done(ch, m, from, ch->slot_id[b], t, done);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const unsigned bit = 1u << b;
    const bool write = m->writes & bit;
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
    mem_ready(m, w, t, bit, write ? t + tm->rcdwr : t + tm->rcd);
    m->activates++;
    m->calm = 0;
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
    mem_ready(m, w, t, bit, ch->act_ok[b]);
    m->precharges++;
    m->prio = (b + 1) & 15;
}

/* Column scan, then row scan: the first bank whose group allows it gets the command. */
DRAM_INLINE void mem_issue(struct dram_channel *ch, struct mem *m, const struct source *from, struct wheel *w,
                           int32_t t)
{
    const int prio = m->prio;
    unsigned columns = m->due & ((t >= m->wtr_ok ? m->want_rd : 0) | (t >= m->rtw_ok ? m->want_wr : 0));
    unsigned rows = m->due & (m->want_pre | (t >= m->rrd_ok ? m->want_act : 0));
    if (t < m->ccd_ok)
        columns = 0;
    while (columns) {
        const int b = mem_first(columns, prio), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] <= t) {
            mem_serve(ch, m, from, t, b);
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
    if (m->due) {
        const int32_t rd = dram_later(m->wtr_ok, m->ccd_ok), wr = dram_later(m->rtw_ok, m->ccd_ok);
        next = m->due & m->want_act ? m->rrd_ok : INT32_MAX;
        next = m->due & m->want_rd && rd < next ? rd : next;
        next = m->due & m->want_wr && wr < next ? wr : next;
        if (next <= t + 1)
            return t + 1;
    }
    const int32_t at = wheel_next(w, t);
    return at < next ? at : next;
}

/* --- reads of open rows --- */

/* Whether mem_stream() may go on from here: nothing but single reads of open rows stands in the slots. */
DRAM_INLINE bool mem_may_stream(const struct mem *m, int32_t t)
{
    return m->calm >= CALM && !(m->want_act | m->want_pre | m->want_wr | m->longer) && m->due == m->occupied &&
           m->asked == DRAM_ALL && t >= m->wtr_ok && m->occupied | m->pending;
}

/* Select bank b's next request at t; false, and nothing is done, if it is no single read of the open row. */
DRAM_INLINE bool mem_stream_take(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const uint64_t same = q->same;
    const int i = __builtin_ctzll(same | UINT64_C(1) << 63);
    if (!same || q->flags[i] != 1 || ch->rd_ok[b] > t)
        return false;
    const unsigned bit = 1u << b;
    const uint64_t at = UINT64_C(1) << i, live = q->live ^ at;
    q->same = same ^ at;
    q->live = live;
    m->streak = same == at ? m->streak & ~bit : m->streak | bit;
    if (!live) {
        q->tail = 0;
        m->pending &= ~bit;
    }
    ch->slot_id[b] = q->ids[i];
    ch->slot_row[b] = q->rows[i];
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + t;
    m->prio = (m->prio + 1) & 15;
    m->occupied |= bit;
    m->slot_sum -= t;
    m->waiting--;
    m->served[1]++;
    return true;
}

/* The column command of cycle t, if a group allows one. */
DRAM_INLINE void mem_stream_column(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t)
{
    unsigned columns = t < m->ccd_ok ? 0 : m->occupied;
    while (columns) {
        const int b = mem_first(columns, m->prio), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] > t) {
            columns &= ~(unsigned)ch->group_banks[g];
            continue;
        }
        const int32_t done = mem_column(ch, m, false, t, b);
        m->occupied &= ~(1u << b);
        m->slot_sum += t + 1;
        mem_done(ch, m, from, ch->slot_id[b], t, done);
        return;
    }
}

/* The cycles from t on, for as long as each request that is selected is a single read of its bank's open row: then no
 * row command and no turnaround comes in between. Returns the first cycle that is not done. */
DRAM_INLINE int32_t mem_stream(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t)
{
    m->visits -= t;
    m->slot_cycles += m->occupied ? t : 0;
    for (; t < m->stop && m->occupied | m->pending; t++) {
        const unsigned can = m->pending & ~m->occupied;
        if (can && !mem_stream_take(ch, m, from, t, mem_first(can, m->prio)))
            break;
        m->slot_cycles += m->occupied != 0;
        mem_stream_column(ch, m, from, t);
        if (m->arrival <= t && m->waiting < from->queue) {
            mem_enter(ch, m, from, t);
            m->head++;
            mem_look(m, from, t + 1);
        }
    }
    m->visits += t;
    m->slot_cycles -= m->occupied ? t : 0;
    m->calm = 0;
    m->want_rd = m->due = m->occupied;
    m->writes &= ~m->occupied;
    for (unsigned banks = m->occupied; banks; banks &= banks - 1)
        ch->slot_flags[__builtin_ctz(banks)] = ch->slot_columns[__builtin_ctz(banks)] = 1;
    return t;
}

/* --- a request alone --- */

/* The cycles of the commands that bring bank b to the row of its slot, from t on; returns the earliest of a column. */
DRAM_INLINE int32_t mem_single_open(const struct dram_channel *ch, const struct mem *m, int32_t t, int b, bool hit,
                                    int32_t *precharge, int32_t *activate)
{
    const struct dram_timing *tm = &ch->timing;
    *precharge = *activate = -1;
    if (hit)
        return t;
    int32_t at = t;
    if (m->active >> b & 1) {
        *precharge = dram_later(t, dram_later(ch->pre_ok[b], ch->rtpl_ok[b & ch->group_mask]));
        at = *precharge + tm->rp;
    }
    *activate = dram_later(at, dram_later(ch->act_ok[b], m->rrd_ok));
    return *activate;
}

/* All of the only request of the channel, selected at t, if nothing else can enter before its column command. Returns
 * the cycle after that command, or t if this is not so. */
DRAM_INLINE int32_t mem_single(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t)
{
    const struct dram_timing *tm = &ch->timing;
    const int b = __builtin_ctz(m->pending), g = b & ch->group_mask;
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const int i = __builtin_ctzll(q->live);
    const bool hit = q->same != 0, write = q->flags[i] & DRAM_IS_WRITE;
    int32_t precharge, activate;
    int32_t column = mem_single_open(ch, m, t, b, hit, &precharge, &activate);
    if (hit)
        column = dram_later(column, write ? ch->wr_ok[b] : ch->rd_ok[b]);
    else
        column += write ? tm->rcdwr : tm->rcd;
    column = dram_later(column, dram_later(m->ccd_ok, ch->ccdl_ok[g]));
    column = dram_later(column, write ? m->rtw_ok : m->wtr_ok);
    if (m->arrival < column || column >= m->stop || (q->flags[i] & DRAM_COLUMNS) != 1)
        return t;
    const uint32_t row = q->rows[i], id = q->ids[i];
    q->live = q->same = 0;
    q->last_row = row;
    q->tail = 0;
    m->streak &= ~m->pending;
    m->pending = 0;
    m->waiting = 0;
    m->prio = (m->prio + 1) & 15;
    m->served[hit + 2 * write]++;
    m->slot_sum += column + 1 - t;
    m->slot_cycles += column + 1 - t;
    if (from->fates && ch->fate.sched)
        ch->fate.sched[id] = from->base + t;
    if (!hit) {
        if (precharge >= 0) {
            dram_legal_pre(&ch->legal, tm, precharge, b, g);
            m->precharges++;
        }
        dram_legal_act(&ch->legal, tm, activate, b, row);
        m->active |= 1u << b;
        m->rrd_ok = activate + tm->rrd;
        ch->open_row[b] = row;
        ch->rd_ok[b] = activate + tm->rcd;
        ch->wr_ok[b] = activate + tm->rcdwr;
        ch->pre_ok[b] = activate + tm->ras;
        ch->act_ok[b] = activate + tm->rc;
        m->activates++;
        m->prio = (b + 1) & 15;
    }
    ch->slot_row[b] = row;
    const int32_t done = mem_column(ch, m, write, column, b);
    mem_done(ch, m, from, id, column, done);
    return column + 1;
}

/* --- the run --- */

/* Take the state over; `now` is the first cycle to visit. */
DRAM_INLINE void mem_begin(struct dram_channel *ch, struct mem *m, struct wheel *w, int32_t now)
{
    if (now > ch->last + 1)
        dram_count(ch, now - ch->last - 1);
    if (ch->uniform)
        dram_channel_settle(ch);
    dram_find_matches(ch, DRAM_ALL);
    m->prio = ch->prio;
    m->waiting = ch->waiting[DRAM_MEM];
    m->occupied = ch->occupied;
    m->active = ch->active;
    m->pending = ch->pending;
    m->streak = ch->streak;
    m->want_rd = ch->want_rd;
    m->want_wr = ch->want_wr;
    m->want_act = ch->want_act;
    m->want_pre = ch->want_pre;
    m->ccd_ok = ch->ccd_ok;
    m->rrd_ok = ch->rrd_ok;
    m->rtw_ok = ch->rtw_ok;
    m->wtr_ok = ch->wtr_ok;
    m->slot_sum = -(int64_t)now * __builtin_popcount(m->occupied);
    m->slot_cycles = m->occupied ? -(int64_t)now : 0;
    for (int g = 0; g <= ch->group_mask; g++)
        ch->ccdl_ok[g] = dram_later(ch->ccdl_ok[g], ch->ccdl_all);
    for (int b = 0; b < DRAM_BANKS; b++) {
        const unsigned bit = 1u << b;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], ch->pim_wtp);
        if (!(m->occupied & bit)) {
            ch->bank[b].last_row = ch->open_row[b];
            ch->bank[b].same = ch->bank[b].match;
            continue;
        }
        m->writes |= ch->slot_flags[b] & DRAM_IS_WRITE ? bit : 0;
        m->longer |= ch->slot_columns[b] > 1 ? bit : 0;
        if (ch->ready[b] < now)
            m->due |= bit;
        else
            wheel_add(w, ch->ready[b], bit);
    }
}

DRAM_INLINE int64_t mem_served(const struct mem *m)
{
    return m->served[0] + m->served[1] + m->served[2] + m->served[3];
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
    s->accesses[DRAM_MEM] += mem_served(m);
    s->hits[DRAM_MEM] += m->served[1] + m->served[3];
    s->writes += m->served[2] + m->served[3];
    s->write_hits += m->served[3];
    s->activates += m->activates;
    s->precharges += m->precharges;
    s->columns += m->columns;
    s->columns_in += m->columns_in;
    s->out[DRAM_MEM] += m->out;
    s->visits += m->visits;
    if (m->last_out >= 0)
        s->last_out[DRAM_MEM] = ch->base + m->last_out;
}

DRAM_INLINE void mem_end_latency(struct dram_latency *latency, const struct mem *m)
{
    latency->count += m->out;
    latency->sum += m->latency_sum;
    latency->largest = m->latency_largest > latency->largest ? m->latency_largest : latency->largest;
}

/* Requests that entered in this run get their numbers: ids ascend as they entered. */
DRAM_INLINE void mem_end_queues(struct dram_channel *ch, const struct mem *m, const struct source *from)
{
    for (unsigned banks = m->pending; banks; banks &= banks - 1) {
        struct dram_bank_queue *q = &ch->bank[__builtin_ctz(banks)];
        for (uint64_t live = q->live; live; live &= live - 1) {
            const int i = __builtin_ctzll(live);
            if (q->ids[i] >= from->first)
                q->seqs[i] = ch->seq + (q->ids[i] - from->first);
        }
        ch->head_seq[__builtin_ctz(banks)] = q->seqs[__builtin_ctzll(q->live)];
    }
    ch->seq += (m->head == from->count ? m->id + 1 : m->id) - from->first;
}

/* Give the state back; `now` is the next cycle to visit. */
DRAM_INLINE void mem_end(struct dram_channel *ch, const struct mem *m, const struct source *from, int32_t now)
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
    for (int b = 0; b < DRAM_BANKS; b++) {
        const unsigned bit = 1u << b;
        ch->ready[b] = !(m->occupied & bit) ? INT32_MAX
                       : m->want_act & bit  ? ch->act_ok[b]
                       : m->want_pre & bit  ? ch->pre_ok[b]
                       : m->want_wr & bit   ? ch->wr_ok[b]
                                            : ch->rd_ok[b];
    }
    ch->due = lanes_le(ch->ready, now - 1);
    ch->next_due = lanes_next(ch->ready, now - 1);
    for (int g = 0; g <= ch->group_mask; g++) {
        ch->ccdl_last = dram_later(ch->ccdl_last, ch->ccdl_ok[g]);
        ch->rtpl_last = dram_later(ch->rtpl_last, ch->rtpl_ok[g]);
    }
    ch->stale = DRAM_ALL;
    mem_end_queues(ch, m, from);
}

/* With one virtual channel: whether one of the next requests is a PIM request. */
static bool pim_is_near(const struct dram_feed *feed, uint32_t head)
{
    for (uint32_t i = head; feed->vcs == 1 && i < feed->count && i < head + SHORTEST; i++)
        if (feed->requests[i].flags & DRAM_IS_PIM)
            return true;
    return false;
}

/* The cycles from t to the one that is returned. */
DRAM_INLINE int32_t mem_run(struct dram_channel *ch, struct mem *m, const struct source *from, int32_t t)
{
    struct wheel w = {{0}, {0}};
    mem_begin(ch, m, &w, t);
    mem_look(m, from, t);
    while (t < m->stop) {
        if (mem_may_stream(m, t)) {
            t = mem_stream(ch, m, from, t);
            continue;
        }
        if (m->waiting == 1 && !m->occupied && m->asked == DRAM_ALL) {
            const int32_t after = mem_single(ch, m, from, t);
            if (after > t) {
                m->visits++;
                t = mem_feed(ch, m, from, after - 1, INT32_MAX);
                continue;
            }
        }
        m->calm++;
        m->visits++;
        m->due |= wheel_take(&w, t);
        mem_select(ch, m, from, &w, t);
        mem_issue(ch, m, from, &w, t);
        const int32_t next = mem_feed(ch, m, from, t, mem_next(m, &w, t));
        if (m->asked != DRAM_ALL && next > t + 1)
            m->asked |= ~m->occupied & DRAM_ALL;
        t = next;
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
    return stop;
}

int64_t dram_mem_run(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now,
                     struct dram_mem_result *result)
{
    const int64_t stop = stop_of(ch, feed, heads);
    if (stop - (now - ch->base) < SHORTEST || ch->stats.first_in[DRAM_MEM] < 0 || pim_is_near(feed, heads->head[0]))
        return now;
    struct source from = {.requests = feed->requests,
                          .ids = feed->vcs == 2 ? feed->ids[DRAM_MEM] : NULL,
                          .count = feed->vcs == 2 ? feed->ids_count[DRAM_MEM] : feed->count,
                          .queue = ch->queue,
                          .base = ch->base,
                          .buckets = feed->latency[DRAM_MEM].buckets,
                          .one = feed->vcs == 1};
    from.first = heads->head[DRAM_MEM] == from.count ? from.count
                 : from.ids                          ? from.ids[heads->head[DRAM_MEM]]
                                                     : heads->head[DRAM_MEM];
    struct mem m = {.stop = (int32_t)stop, .head = heads->head[DRAM_MEM], .id = from.first, .last_out = -1};
    int32_t t = (int32_t)(now - ch->base);
    if (ch->fate.enter || ch->fate.sched || ch->fate.column || ch->fate.done) {
        from.fates = true;
        t = mem_run(ch, &m, &from, t);
    } else {
        from.fates = false;
        t = mem_run(ch, &m, &from, t);
    }
    ch->stats.in[DRAM_MEM] += m.head - heads->head[DRAM_MEM];
    if (m.head != heads->head[DRAM_MEM]) {
        heads->last = DRAM_MEM;
        heads->head[DRAM_MEM] = m.head;
        if (feed->vcs == 2)
            heads->arrival[DRAM_MEM] = dram_feed_arrival(feed, DRAM_MEM, m.head);
    }
    mem_end(ch, &m, &from, t);
    mem_end_latency(&feed->latency[DRAM_MEM], &m);
    *result = (struct dram_mem_result){m.asked, mem_served(&m)};
    return ch->base + t;
}
