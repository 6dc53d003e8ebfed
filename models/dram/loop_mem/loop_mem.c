/* loop_mem: cycles of a channel in MEM mode while no PIM request waits, run faster than models/dram/loop.h does.
 *
 * An optimisation, proven equal by tests (loop_test.c against every cycle stepped, loop_mem_test.c with and without
 * timestamps, reference_test.c): without it everything gives the same answers. Off by DRAM_LOOP_MEM (loop.h).
 *
 * Then no policy changes the mode and only the channel's own cycles decide what happens next. Each cycle is that of
 * models/dram/controller.h; what is left out is its cost: the state is local, a cycle in which nothing can change is
 * not visited, requests enter in between without a visit, and what is counted by the cycle is added when a slot fills
 * and when it empties (filled at f, its last column at c: c + 1 - f cycles). The times at which slots become ready
 * stand in a wheel of cycles. Before and after, the channel is what the general loop would have made of it. */
#include "models/dram/dram_platform.h"
#include "models/dram/loop.h"

bool dram_loop_mem_fits(const struct dram_platform *platform)
{
    struct dram_rule rules[DRAM_RULES_MAX];
    const size_t n = dram_rules(platform, rules);
    bool fits = platform->cl < DRAM_WHEEL && platform->wl < DRAM_WHEEL && platform->queue <= DRAM_QUEUE &&
                platform->banks <= DRAM_NARROW && platform->sids == 1;
    for (size_t i = 0; i < n; i++)
        fits &= rules[i].cycles < DRAM_WHEEL || rules[i].before == DRAM_REF || rules[i].before == DRAM_REFB;
    return fits;
}

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
    unsigned longer;    /* slots that need more than one column command; only theirs is slot_columns kept */
    unsigned unscanned; /* banks that no scan of idle banks reached yet */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int64_t slot_sum; /* as if what is in the slots had been filled at offset 0 */
    int64_t empty;    /* cycles with nothing in the slots */
    int64_t columns, activates, precharges;
    int64_t issued, hits; /* MEM requests selected */
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
    unsigned all_banks;
    bool timestamps; /* the channel has some of struct dram_timestamps */
    bool device;     /* and its device has `rules` (models/dram/channel.h) */
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
        w->slots[(unsigned)at % DRAM_WHEEL] |= slot;
}

/* The same for ACT, which a refresh may put off beyond the wheel: it comes early then, see mem_issue_row(). */
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
    if (from->timestamps && ch->timestamps.enter)
        ch->timestamps.enter[in->id] = from->base + t;
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

/* Look at the head, which may enter from cycle t on. With one virtual channel a PIM request ends the run there. */
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
    if (from->timestamps && ch->timestamps.sched)
        ch->timestamps.sched[q->ids[i]] = from->base + t;
    m->in.waiting--;
    m->issued++;
    m->slot_sum -= t;
    m->occupied |= bit;
}

/* The banks that a scan asks that ends at bank b. */
DRAM_INLINE unsigned mem_scanned(unsigned scan, int b)
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
        m->unscanned &= m->occupied;
        return false;
    }
    const int b = mem_first(can, m->scan);
    if (__builtin_expect(m->unscanned != 0, 0))
        m->unscanned &= m->occupied | ~mem_scanned(m->scan, b);
    m->scan = mem_scan_on(m->scan, from);
    mem_take(ch, m, from, w, t, b);
    return true;
}

/* --- commands --- */

/* A request had its last column command at t. */
DRAM_INLINE void mem_done(struct dram_channel *ch, struct mem_out *out, const struct mem_source *from, uint32_t id,
                          int32_t t, int32_t done)
{
    out->count++;
    out->last = done;
    if (from->timestamps && ch->timestamps.column)
        ch->timestamps.column[id] = from->base + t;
    if (from->timestamps && ch->timestamps.done)
        ch->timestamps.done[id] = from->base + done;
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

/* Bank b's row opens at t. */
DRAM_INLINE void mem_open(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from, int32_t t, int b,
                          uint32_t row)
{
    dram_legal_act(&ch->legal, &ch->timing, t, b, row);
    m->active |= 1u << b;
    m->rrd_ok = t + ch->timing.rrd;
    if (from->device)
        m->rrd_ok = dram_later(m->rrd_ok, dram_device_gave_one(ch, DRAM_ACT, b, row, t));
    ch->open_row[b] = row;
    dram_opened(ch, b, t);
    m->activates++;
    m->scan = mem_scan_from(b + 1);
}

DRAM_INLINE void mem_activate(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *from,
                              struct mem_wheel *w, int32_t t, int b)
{
    m->due ^= mem_slot(MEM_ACT, b);
    mem_open(ch, m, from, t, b, ch->slot_row[b]);
    if (ch->slot_flags[b] & DRAM_IS_WRITE)
        mem_ready(m, w, t, mem_slot(MEM_WR, b), t + ch->timing.rcdwr);
    else
        mem_ready(m, w, t, mem_slot(MEM_RD, b), t + ch->timing.rcd);
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

/* --- the state taken over and given back --- */

/* The watch notes the later of what it knows and cycle t of the channel. */
static void follow(struct dram_channel *ch, enum dram_command command, int b, int32_t t)
{
    if (t == DRAM_LONG_AGO)
        return;
    struct command_checker *w = &ch->device.watch;
    int64_t *at[] = {&w->at[command_checker_at(DRAM_SAME_BANK, command, b)],
                     &w->at[command_checker_at(DRAM_SAME_GROUP, command, ch->group_of[b])],
                     &w->at[command_checker_at(DRAM_SAME_CHANNEL, command, 0)]};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        *at[i] = ch->base + t > *at[i] ? ch->base + t : *at[i];
}

/* MEM requests' commands were given that only dram_legal was told of: without `rules` it knows all of those that end in
 * them. The device takes over what it noted. */
static void dram_device_follow(struct dram_channel *ch)
{
    struct dram_device *d = &ch->device;
    const struct dram_legal *l = &ch->legal;
    int32_t precharged = DRAM_LONG_AGO;
    for (int b = 0; b < ch->banks; b++) {
        follow(ch, DRAM_ACT, b, l->act[b]);
        follow(ch, DRAM_PRE, b, l->pre[b]);
        follow(ch, DRAM_RD, b, l->rd[b]);
        follow(ch, DRAM_WR, b, l->wr[b]);
        d->watch.row[b] = l->row[b];
        precharged = dram_later(precharged, l->pre[b]);
    }
    d->refresh_ok = dram_later(d->refresh_ok, l->any_act + ch->timing.rrd);
    d->precharged_ok = dram_later(d->precharged_ok, precharged + ch->timing.rp_refresh);
}

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
    s->accesses[DRAM_MEM] += m->issued;
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
    while (t < m->in.stop)
        t = mem_visit(ch, m, from, &w, t);
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

/* Built once for each of the ways a channel may be (timestamps: it has some of struct dram_timestamps; device: its
 * device has rules beyond the paper's), with a state of its own that the compiler can keep where it likes. */
DRAM_INLINE int64_t mem_run_as(struct dram_channel *ch, struct dram_feed *feed, struct dram_feed_heads *heads,
                               const int32_t begin, const int32_t stop, struct dram_mem_result *result, bool timestamps,
                               bool device)
{
    struct mem_source from = {.requests = feed->requests,
                              .ids = feed->vcs == 2 ? feed->ids[DRAM_MEM] : NULL,
                              .count = feed->vcs == 2 ? feed->ids_count[DRAM_MEM] : feed->count,
                              .queue = ch->queue,
                              .all_banks = (2u << ch->bank_mask) - 1,
                              .base = ch->base,
                              .one = feed->vcs == 1,
                              .timestamps = timestamps,
                              .device = device};
    from.first = heads->head[DRAM_MEM] == from.count ? UINT32_MAX : mem_id(&from, heads->head[DRAM_MEM]);
    struct dram_mem m = {.in = {.stop = stop, .head = heads->head[DRAM_MEM], .id = from.first},
                         .out = {.last = -1},
                         .unscanned = DRAM_ALL};
    const int32_t t = mem_run(ch, &m, &from, begin);
    ch->stats.in[DRAM_MEM] += m.in.head - heads->head[DRAM_MEM];
    if (m.in.head != heads->head[DRAM_MEM]) {
        heads->last = DRAM_MEM;
        heads->head[DRAM_MEM] = m.in.head;
        if (feed->vcs == 2)
            heads->arrival[DRAM_MEM] = dram_feed_arrival(feed, DRAM_MEM, m.in.head);
    }
    mem_end(ch, &m, &from, begin, t);
    *result = (struct dram_mem_result){~m.unscanned & DRAM_ALL, m.issued};
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
    if (ch->timestamps.enter || ch->timestamps.sched || ch->timestamps.column || ch->timestamps.done)
        return run_fates(ch, feed, heads, t, (int32_t)stop, result);
    return (ch->device.rules ? run_device : run_plain)(ch, feed, heads, t, (int32_t)stop, result);
}
