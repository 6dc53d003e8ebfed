/* loop_mem_cycle: cycles of a channel in MEM mode while no PIM request waits; a part of
 * models/dram/loop_mem/loop_mem.c.
 *
 * An optimisation, proven equal by tests (loop_test.c against every cycle stepped, loop_mem_test.c with and without
 * fates, reference_test.c): without it everything gives the same answers. Off by DRAM_LOOP_MEM (loop.h).
 *
 * Then no policy changes the mode and only the channel's own cycles decide what happens next. Each cycle is that of
 * models/dram/loop_cycle.h; what is left out is its cost: the state is local, a cycle in which nothing can change is
 * not visited, requests enter in between without a visit, and what is counted by the cycle is added when a slot fills
 * and when it empties (filled at f, its last column at c: c + 1 - f cycles). The times at which slots become ready
 * stand in a wheel of cycles. Before and after, the channel is what the general loop would have made of it. */
#ifndef MODELS_DRAM_LOOP_MEM_CYCLE_H
#define MODELS_DRAM_LOOP_MEM_CYCLE_H

#include "models/dram/dram_policy.h"
#include "models/dram/loop_device.h"
#include "models/dram/loop_select.h"

/* Keeps the compiler from computing an address anew for each use of it: measured, a tenth of the time. */
#define ONCE(pointer) __asm__("" : "+r"(pointer))

/* Requests that come, and how many wait: the fields of struct dram_channel of the same names, unless said. */
struct mem_line {
    uint32_t head;   /* position of the next MEM request, as in struct dram_feed_heads */
    uint32_t id;     /* of it */
    int64_t arrival; /* of it, an offset; INT64_MAX: there is none for this run */
    int64_t columns_in;
    int32_t stop; /* the cycle not to be visited here */
    int32_t waiting;
    unsigned pending;
};

/* Requests that are done. */
struct mem_out {
    int64_t count, latency_sum;
    int32_t last; /* offset; -1: none in this run */
};

/* What a slot needs next. Slots stand in one word by what they need, sixteen banks each: mem_slot(), mem_banks(). */
enum mem_need { MEM_RD, MEM_WR, MEM_ACT, MEM_PRE };

/* The local state: the fields of struct dram_channel of the same names, unless said. No pointer to it leaves this
 * file's inlined functions, so that the compiler may keep it where it likes. */
struct dram_mem {
    struct mem_line in;
    struct mem_out out;
    uint64_t due;  /* slots whose own time has come */
    unsigned scan; /* prio: mem_first() */
    unsigned occupied, active, streak;
    unsigned longer;  /* slots that need more than one column command; only theirs is slot_columns kept */
    unsigned unasked; /* banks that no scan of idle banks asked yet */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int64_t slot_sum; /* as if what is in the slots had been filled at offset 0 */
    int64_t empty;    /* cycles with nothing in the slots */
    int64_t columns, activates, precharges;
    int64_t served, hits; /* MEM requests selected */
    unsigned calm;        /* how likely reads of open rows are to come: MEM_CALM */
    int32_t stopped;      /* where the last run of them ended */
};

/* What stays the same in a run. */
struct mem_source {
    const struct dram_request *requests;
    const uint32_t *ids; /* NULL: the position is the id */
    uint32_t count;
    int32_t queue;
    int64_t base;
    uint32_t first; /* id of the first request that enters in this run; UINT32_MAX: none is left */
    bool one;       /* one virtual channel: PIM requests stand in the same line */
    int bank_mask;
    unsigned all_banks;
    bool fates;  /* the channel has some of struct dram_fate */
    bool device; /* and its device has `rules` (models/dram/device.h) */
};

DRAM_INLINE uint64_t mem_slot(enum mem_need need, int bank)
{
    return UINT64_C(1) << (DRAM_NARROW * (int)need + bank);
}

DRAM_INLINE unsigned mem_banks(uint64_t slots, enum mem_need need)
{
    return (uint16_t)(slots >> DRAM_NARROW * (int)need);
}

/* --- the wheel: which slots become ready at which cycle, modulo its size --- */

struct mem_wheel {
    uint64_t slots[DRAM_WHEEL];
};

DRAM_INLINE void wheel_add(struct mem_wheel *w, int32_t at, uint64_t slot)
{
    w->slots[(unsigned)at % DRAM_WHEEL] |= slot;
}

DRAM_INLINE uint64_t wheel_take(struct mem_wheel *w, int32_t t)
{
    uint64_t *entry = &w->slots[(unsigned)t % DRAM_WHEEL];
    const uint64_t slots = *entry;
    *entry = 0;
    return slots;
}

/* The first cycle after t with an entry; `end`, or where the wheel ends, if none comes before. */
DRAM_INLINE int32_t wheel_next(const struct mem_wheel *w, int32_t t, int32_t end)
{
    end = end - t < DRAM_WHEEL ? end : t + DRAM_WHEEL;
    do
        t++;
    while (t < end && !w->slots[(unsigned)t % DRAM_WHEEL]);
    return t;
}

/* A slot may go on from cycle `at` as far as its bank is concerned; t is now. */
DRAM_INLINE void mem_ready(struct dram_mem *m, struct mem_wheel *w, int32_t t, uint64_t slot, int32_t at)
{
    if (at <= t)
        m->due |= slot;
    else
        wheel_add(w, at, slot);
}

/* The same of one that needs ACT, which a refresh puts off for longer than the wheel reaches: it comes early then, see
 * mem_issue_row(). */
DRAM_INLINE void mem_ready_to_act(struct dram_mem *m, struct mem_wheel *w, int32_t t, int bank, int32_t at)
{
    mem_ready(m, w, t, mem_slot(MEM_ACT, bank), at - t < DRAM_WHEEL ? at : t + DRAM_WHEEL - 1);
}

/* --- where scans of banks begin: the banks from there on; none of them is as good as all --- */

DRAM_INLINE unsigned mem_scan_from(int bank)
{
    return ~0u << bank;
}

/* The first of `banks`. */
DRAM_INLINE int mem_first(unsigned banks, unsigned scan)
{
    return __builtin_ctz(banks & scan ? banks & scan : banks);
}

/* The scan begins a bank further on. */
DRAM_INLINE unsigned mem_scan_on(unsigned scan, const struct mem_source *from)
{
    return (scan & from->all_banks ? scan : ~0u) << 1;
}

DRAM_INLINE int32_t mem_scan_bank(unsigned scan, const struct mem_source *from)
{
    return scan & from->all_banks ? __builtin_ctz(scan) : 0;
}

/* --- entering --- */

/* The id of the request at a position of the line, below `count`. */
DRAM_INLINE uint32_t mem_id(const struct mem_source *from, uint32_t position)
{
    return from->ids ? from->ids[position] : position;
}

/* The next request enters at cycle t. Its number among all is given when the run ends: mem_end_queues(). */
DRAM_INLINE void mem_enter(struct dram_channel *ch, struct mem_line *in, const struct mem_source *from, int32_t t)
{
    const struct dram_request *r = &from->requests[in->id];
    struct dram_bank_queue *q = &ch->bank[r->bank];
    ONCE(q);
    if (from->fates && ch->fate.enter)
        ch->fate.enter[in->id] = from->base + t;
    if (__builtin_expect(q->tail == q->limit, 0))
        dram_bank_queue_compact(q);
    const int i = q->tail++;
    const uint64_t at = UINT64_C(1) << i;
    q->rows[i] = r->row;
    q->tags[i] = (uint8_t)r->row;
    q->ids[i] = in->id;
    q->flags[i] = r->flags;
    q->live |= at;
    q->same |= r->row == q->last_row ? at : 0;
    in->pending |= 1u << r->bank;
    in->waiting++;
    in->columns_in += r->flags & DRAM_COLUMNS;
}

/* Look at the request at the head, which may enter from cycle t on. With one virtual channel a PIM request ends the run
 * there. */
DRAM_INLINE void mem_look(struct mem_line *in, const struct mem_source *from, int32_t t)
{
    in->arrival = INT64_MAX;
    if (in->head == from->count)
        return;
    in->id = mem_id(from, in->head);
    const struct dram_request *r = &from->requests[in->id];
    in->arrival = r->arrival - from->base;
    if (__builtin_expect(from->one && r->flags & DRAM_IS_PIM, 0)) {
        const int64_t at = in->arrival > t ? in->arrival : t;
        in->stop = at < in->stop ? (int32_t)at : in->stop;
        in->arrival = INT64_MAX;
    }
}

/* The next request enters at cycle t, and the one behind it is looked at. */
DRAM_INLINE void mem_enter_next(struct dram_channel *ch, struct mem_line *in, const struct mem_source *from, int32_t t)
{
    mem_enter(ch, in, from, t);
    in->head++;
    mem_look(in, from, t + 1);
}

/* Requests enter after cycle t and those that follow, one a cycle, up to cycle `next`, which comes nearer when the slot
 * of one is empty. Returns the cycle to visit next. */
DRAM_INLINE int32_t mem_feed(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                             int32_t next)
{
    next = next < m->in.stop ? next : m->in.stop;
    while (m->in.waiting < from->queue && m->in.arrival < next && t < next) {
        t = m->in.arrival > t ? (int32_t)m->in.arrival : t;
        const bool empty = !(m->occupied >> from->requests[m->in.id].bank & 1);
        mem_enter_next(ch, &m->in, from, t);
        t++;
        next = empty ? t : next;
        next = next < m->in.stop ? next : m->in.stop;
    }
    return next;
}

/* --- selection --- */

/* What bank b's slot needs for the request selected at t: of the row selected last (hit) or of another. */
DRAM_INLINE void mem_need(const struct dram_channel *ch, struct dram_mem *m, struct mem_wheel *w, int32_t t, int b,
                          bool hit, bool write)
{
    if (!(m->active >> b & 1)) /* never opened, or closed by a refresh: that row stays the one that hits */
        mem_ready_to_act(m, w, t, b, ch->act_ok[b]);
    else if (!hit)
        mem_ready(m, w, t, mem_slot(MEM_PRE, b), ch->pre_ok[b]);
    else
        mem_ready(m, w, t, mem_slot(write ? MEM_WR : MEM_RD, b), write ? ch->wr_ok[b] : ch->rd_ok[b]);
}

/* FR-FCFS within a bank: with an empty slot the row selected last is the open one. */
DRAM_INLINE void mem_take(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                          struct mem_wheel *w, int32_t t, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const unsigned bit = 1u << b;
    const uint64_t was = q->same;
    const int i = __builtin_ctzll(was ? was : q->live);
    const uint64_t live = q->live & ~(UINT64_C(1) << i);
    const uint32_t row = q->rows[i];
    const uint8_t flags = q->flags[i];
    const bool write = flags & DRAM_IS_WRITE;
    uint64_t same = was & (was - 1);
    if (was) {
        m->hits++;
    } else {
        q->last_row = row;
        same = dram_bank_find(q, live, row);
    }
    mem_need(ch, m, w, t, b, was, write);
    ch->slot_row[b] = row;
    ch->slot_id[b] = q->ids[i];
    ch->slot_flags[b] = flags;
    if (__builtin_expect((flags & DRAM_COLUMNS) != 1, 0)) {
        ch->slot_columns[b] = flags & DRAM_COLUMNS;
        m->longer |= bit;
    }
    q->same = same;
    q->live = live;
    m->streak &= ~bit;
    if (__builtin_expect(same != 0, 0))
        m->streak |= bit;
    if (!live) {
        q->tail = 0;
        q->limit = DRAM_QUEUE / 2;
        m->in.pending &= ~bit;
    }
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + t;
    m->in.waiting--;
    m->served++;
    m->slot_sum -= t;
    m->occupied |= bit;
}

/* The banks that a scan asks that ends at bank b. */
DRAM_INLINE unsigned mem_asked(unsigned scan, int b)
{
    const unsigned up_to = (2u << b) - 1;
    return scan >> b & 1 ? scan & up_to : scan | up_to;
}

/* Select a request at t, if a slot is empty for one; whether it was. */
DRAM_INLINE bool mem_select(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                            struct mem_wheel *w, int32_t t)
{
    const unsigned can = ~m->occupied & m->in.pending;
    if (!can) {
        m->unasked &= m->occupied;
        return false;
    }
    const int b = mem_first(can, m->scan);
    if (__builtin_expect(m->unasked != 0, 0))
        m->unasked &= m->occupied | ~mem_asked(m->scan, b);
    m->scan = mem_scan_on(m->scan, from);
    mem_take(ch, m, from, w, t, b);
    return true;
}

enum { MEM_ACT_CALMS = 2 }; /* see MEM_CALM */

/* --- commands --- */

/* A request had its last column command at t. */
DRAM_INLINE void mem_done(struct dram_channel *ch, struct mem_out *out, const struct mem_source *from, uint32_t id,
                          int32_t t, int32_t done)
{
    out->count++;
    out->last = done;
    if (from->fates && ch->fate.column)
        ch->fate.column[id] = from->base + t;
    if (from->fates && ch->fate.done)
        ch->fate.done[id] = from->base + done;
    out->latency_sum += from->base + done - from->requests[id].arrival;
}

/* A column command to bank b at t, for the row of its slot; returns when its data end. */
DRAM_INLINE int32_t mem_column(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, bool write,
                               int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const int g = b & ch->group_mask;
    m->ccd_ok = t + tm->ccd;
    ch->ccdl_ok[g] = t + tm->ccdl;
    m->columns++;
    if (from->device)
        (void)dram_device_gave_one(ch, write ? DRAM_WR : DRAM_RD, b, ch->slot_row[b], t);
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
DRAM_INLINE void mem_serve(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t, int b)
{
    const unsigned bit = 1u << b;
    const bool write = ch->slot_flags[b] & DRAM_IS_WRITE;
    const int32_t done = mem_column(ch, m, from, write, t, b);
    if (write)
        m->calm = 0;
    if (__builtin_expect(m->longer & bit, 0)) {
        if (--ch->slot_columns[b])
            return;
        m->longer &= ~bit;
    }
    m->due &= ~((mem_slot(MEM_RD, 0) | mem_slot(MEM_WR, 0)) << b);
    m->occupied &= ~bit;
    m->slot_sum += t + 1;
    mem_done(ch, &m->out, from, ch->slot_id[b], t, done);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                              struct mem_wheel *w, int32_t t, int b)
{
    const struct dram_timing *tm = &ch->timing;
    const uint32_t row = ch->slot_row[b];
    dram_legal_act(&ch->legal, tm, t, b, row);
    m->active |= 1u << b;
    m->due ^= mem_slot(MEM_ACT, b);
    m->rrd_ok = t + tm->rrd;
    if (from->device)
        m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, t));
    ch->open_row[b] = row;
    ch->rd_ok[b] = t + tm->rcd;
    ch->wr_ok[b] = t + tm->rcdwr;
    ch->pre_ok[b] = t + tm->ras;
    ch->act_ok[b] = t + tm->rc;
    if (ch->slot_flags[b] & DRAM_IS_WRITE)
        mem_ready(m, w, t, mem_slot(MEM_WR, b), t + tm->rcdwr);
    else
        mem_ready(m, w, t, mem_slot(MEM_RD, b), t + tm->rcd);
    m->activates++;
    m->calm /= MEM_ACT_CALMS;
    m->scan = mem_scan_from(b + 1);
}

DRAM_INLINE void mem_precharge(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               struct mem_wheel *w, int32_t t, int b)
{
    dram_legal_pre(&ch->legal, &ch->timing, t, b, b & ch->group_mask);
    if (from->device)
        (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, t);
    m->active &= ~(1u << b);
    m->due ^= mem_slot(MEM_PRE, b);
    ch->act_ok[b] = dram_later(ch->act_ok[b], t + ch->timing.rp);
    mem_ready(m, w, t, mem_slot(MEM_ACT, b), ch->act_ok[b]);
    m->precharges++;
    m->scan = mem_scan_from(b + 1);
}

/* The column scan: the first bank whose group allows it gets its command; whether one did. */
DRAM_INLINE bool mem_issue_column(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t,
                                  unsigned scan)
{
    if (__builtin_expect(t < m->ccd_ok, 0))
        return false;
    unsigned columns =
        (t >= m->wtr_ok ? mem_banks(m->due, MEM_RD) : 0) | (t >= m->rtw_ok ? mem_banks(m->due, MEM_WR) : 0);
    if (from->device)
        columns = (unsigned)dram_device_columns(ch, t, columns, mem_banks(m->due, MEM_RD));
    while (columns) {
        const int b = mem_first(columns, scan), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] <= t) {
            mem_serve(ch, m, from, t, b);
            return true;
        }
        columns &= ~(unsigned)ch->group_banks[g];
    }
    return false;
}

/* The row scan. */
DRAM_INLINE bool mem_issue_row(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                               struct mem_wheel *w, int32_t t, unsigned scan)
{
    const unsigned acts = mem_banks(m->due, MEM_ACT);
    unsigned rows = mem_banks(m->due, MEM_PRE) | (t >= m->rrd_ok ? acts : 0);
    if (from->device) /* after the column command: it may hold the pins of both */
        rows = (unsigned)dram_device_rows(ch, t, rows, acts);
    while (rows) {
        const int b = mem_first(rows, scan), g = b & ch->group_mask;
        if (acts >> b & 1) {
            if (__builtin_expect(ch->act_ok[b] <= t, 1)) {
                mem_activate(ch, m, from, w, t, b);
                return true;
            }
            m->due &= ~mem_slot(MEM_ACT, b);
            mem_ready_to_act(m, w, t, b, ch->act_ok[b]);
            rows &= ~(1u << b);
        } else if (ch->rtpl_ok[g] <= t) {
            mem_precharge(ch, m, from, w, t, b);
            return true;
        } else {
            rows &= acts | ~(unsigned)ch->group_banks[g];
        }
    }
    return false;
}

/* The commands of cycle t; whether there was one. */
DRAM_INLINE bool mem_issue(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                           struct mem_wheel *w, int32_t t)
{
    const unsigned scan = m->scan;
    bool gave = false;
    if ((uint32_t)m->due) /* a column command */
        gave = mem_issue_column(ch, m, from, t, scan);
    if (m->due >> DRAM_NARROW * MEM_ACT)
        gave |= mem_issue_row(ch, m, from, w, t, scan);
    return gave;
}

/* Nothing happened at t: the first cycle after it at which something may if nothing enters; INT32_MAX: none. */
DRAM_INLINE int32_t mem_next(const struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                             const struct mem_wheel *w, int32_t t)
{
    if (!m->occupied)
        return INT32_MAX;
    if (mem_banks(m->due, MEM_PRE))
        return t + 1;
    int32_t next = INT32_MAX;
    if (mem_banks(m->due, MEM_ACT))
        next = from->device ? dram_later(m->rrd_ok, ch->device.row_bus_ok) : m->rrd_ok;
    if ((uint32_t)m->due) {
        const int32_t ccd = from->device ? dram_later(m->ccd_ok, ch->device.column_bus_ok) : m->ccd_ok;
        const int32_t rd = dram_later(m->wtr_ok, ccd), wr = dram_later(m->rtw_ok, ccd);
        next = mem_banks(m->due, MEM_RD) && rd < next ? rd : next;
        next = mem_banks(m->due, MEM_WR) && wr < next ? wr : next;
    }
    return next > t + 1 ? wheel_next(w, t, next) : t + 1;
}

/* --- a request that is alone in its channel --- */

/* The cycles of the commands that bring bank b to the row of its slot, from t on; returns the earliest of a column. */
DRAM_INLINE int32_t mem_single_open(const struct dram_channel *ch, const struct dram_mem *m,
                                    const struct mem_source *from, int32_t t, int b, bool hit, int32_t *precharge,
                                    int32_t *activate)
{
    const struct dram_timing *tm = &ch->timing;
    const struct dram_device *d = &ch->device;
    const int g = b & ch->group_mask;
    *precharge = *activate = -1;
    if (hit)
        return t;
    int32_t at = from->device ? dram_later(t, d->row_bus_ok) : t;
    if (m->active >> b & 1) {
        at = dram_later(at, dram_later(ch->pre_ok[b], ch->rtpl_ok[g]));
        if (from->device)
            at = dram_later(at, d->ppd_ok);
        *precharge = at;
        at += from->device ? dram_later(tm->rp, tm->pre_bus) : tm->rp;
    }
    at = dram_later(at, dram_later(ch->act_ok[b], m->rrd_ok));
    if (from->device)
        at = dram_later(at, d->rrdl_ok[g]);
    *activate = at;
    return at;
}

/* The first cycle from `at` on at which a column of bank b may go; activate: its ACT, or -1. */
DRAM_INLINE int32_t mem_single_column(const struct dram_channel *ch, const struct dram_mem *m,
                                      const struct mem_source *from, int32_t at, int b, bool write, int32_t activate)
{
    const struct dram_timing *tm = &ch->timing;
    const struct dram_device *d = &ch->device;
    const int g = b & ch->group_mask;
    at = activate < 0 ? dram_later(at, write ? ch->wr_ok[b] : ch->rd_ok[b]) : at + (write ? tm->rcdwr : tm->rcd);
    at = dram_later(at, dram_later(m->ccd_ok, ch->ccdl_ok[g]));
    at = dram_later(at, write ? m->rtw_ok : m->wtr_ok);
    if (!from->device)
        return at;
    if (!write)
        at = dram_later(at, d->wtrl_ok[g]);
    if (tm->single_bus && activate >= 0)
        at = dram_later(at, activate + tm->act_bus);
    return dram_later(at, d->column_bus_ok);
}

/* All of the only request of the channel, selected at t, if nothing else can enter before its column command. Returns
 * the cycle after that command, or t if this is not so. */
DRAM_INLINE int32_t mem_single(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t)
{
    const struct dram_timing *tm = &ch->timing;
    const int b = __builtin_ctz(m->in.pending), g = b & ch->group_mask;
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const int i = __builtin_ctzll(q->live);
    const bool hit = q->same != 0, write = q->flags[i] & DRAM_IS_WRITE;
    int32_t precharge, activate;
    const int32_t open = mem_single_open(ch, m, from, t, b, hit && m->active & m->in.pending, &precharge, &activate);
    const int32_t column = mem_single_column(ch, m, from, open, b, write, activate);
    if (m->in.arrival < column || column >= m->in.stop || (q->flags[i] & DRAM_COLUMNS) != 1)
        return t;
    const uint32_t row = q->rows[i], id = q->ids[i];
    q->live = q->same = 0;
    q->last_row = row;
    q->tail = 0;
    m->streak &= ~m->in.pending;
    m->in.pending = 0;
    m->in.waiting = 0;
    m->scan = mem_scan_on(m->scan, from);
    m->served++;
    m->hits += hit;
    m->slot_sum += column + 1 - t;
    if (from->fates && ch->fate.sched)
        ch->fate.sched[id] = from->base + t;
    if (activate >= 0) {
        if (precharge >= 0) {
            dram_legal_pre(&ch->legal, tm, precharge, b, g);
            if (from->device)
                (void)dram_device_gave_one(ch, DRAM_PRE, b, 0, precharge);
            m->precharges++;
        }
        dram_legal_act(&ch->legal, tm, activate, b, row);
        m->active |= 1u << b;
        m->rrd_ok = activate + tm->rrd;
        if (from->device)
            m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, activate));
        ch->open_row[b] = row;
        ch->rd_ok[b] = activate + tm->rcd;
        ch->wr_ok[b] = activate + tm->rcdwr;
        ch->pre_ok[b] = activate + tm->ras;
        ch->act_ok[b] = activate + tm->rc;
        m->activates++;
        m->scan = mem_scan_from(b + 1);
    }
    ch->slot_row[b] = row;
    const int32_t done = mem_column(ch, m, from, write, column, b);
    mem_done(ch, &m->out, from, id, column, done);
    return column + 1;
}

#endif
