/* loop_mem: cycles of a channel in MEM mode while no PIM request waits, run faster than models/dram/loop.h does.
 *
 * An optimisation, proven equal by tests (loop_test.c against every cycle stepped, loop_mem_test.c with and without
 * timestamps, reference_test.c): without it everything gives the same answers. Off by DRAM_LOOP_MEM (loop.h).
 *
 * Then no policy changes the mode and only the channel's own cycles decide what happens next. Each cycle is that of
 * models/dram/controller.h; what is left out is its cost: the state is local, a cycle in which nothing can change is
 * not visited, requests enter in between without a visit, and what is counted by the cycle is added when a slot fills
 * and when it empties (filled at f, its last column at c: c + 1 - f cycles). The times at which slots become ready
 * stand in a wheel of cycles. Before and after, the channel is what the general loop would have made of it.
 *
 * Runs of reads of open rows go faster still (mem_stream()). In a steady cycle of a run a request is selected for a
 * slot that is empty, a column command goes, and a request enters. Then who goes follows from the scan of banks alone,
 * as far as the banks have reads of their open rows, and what it does is done by the bank, not by the cycle. */
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

enum { MEM_ACT_CALMS = 2 }; /* see MEM_CALM */

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
    m->calm /= MEM_ACT_CALMS;
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

/* --- the watch over runs of reads (struct dram_legal) --- */

/* A run of reads, with no write, no PIM command and no ACT in between, may begin at t, as far as writes are concerned:
 * then dram_legal_rd_again() is enough for each of them. */
static inline bool dram_legal_reads_begin(const struct dram_legal *l, const struct dram_timing *tm, int32_t t)
{
    return ((t - l->any_wr - tm->wtr) | (t - l->pim - tm->ccdl) | (t - l->pim - tm->wtr)) >= 0;
}

static inline void dram_legal_rd_again(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                       uint32_t row)
{
    const int32_t slack =
        (t - l->act[b] - tm->rcd) | (t - l->any_rd - tm->ccd) | (t - l->group_column[group] - tm->ccdl);
    if (__builtin_expect((l->row[b] != row) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "RD");
    l->rd[b] = l->any_rd = l->group_rd[group] = l->group_column[group] = t;
}

/* A run of such reads, one a cycle, `apart` cycles at least between two of a group, the first of all at t: as good as
 * each of them, with dram_legal_run_bank() of each bank. */
static inline void dram_legal_run(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                  int apart)
{
    const int32_t slack =
        (t - l->any_rd - tm->ccd) | (t - l->group_column[group] - tm->ccdl) | (1 - tm->ccd) | (apart - tm->ccdl);
    if (__builtin_expect(slack < 0, 0))
        dram_legal_blame(l, t, b, "RD");
}

/* The bank's reads in it: the first, the last, their row; `differs`: bits in which one's row is another. */
static inline void dram_legal_run_bank(struct dram_legal *l, const struct dram_timing *tm, int32_t first, int32_t last,
                                       int b, int group, uint32_t row, uint32_t differs)
{
    if (__builtin_expect((l->row[b] != row) | (differs != 0) | (first - l->act[b] - tm->rcd < 0), 0))
        dram_legal_blame(l, first, b, "RD");
    l->rd[b] = last;
    l->any_rd = dram_later(l->any_rd, last);
    l->group_rd[group] = dram_later(l->group_rd[group], last);
    l->group_column[group] = dram_later(l->group_column[group], last);
}

/* --- runs of reads of open rows --- */

/* What a run of reads needs of struct dram_mem, apart from it so that neither loop costs the other registers. */
struct mem_stream {
    struct mem_line in;
    struct mem_out out;
    int32_t t;     /* the next cycle */
    int32_t wakes; /* the first at which one of the slots asleep does */
    int32_t ccd_ok;
    unsigned scan;
    unsigned reads;  /* slots that hold one */
    unsigned asleep; /* slots that hold something else, or a read whose bank's time has not come */
    unsigned single; /* banks whose slots need but one column command, if they are asleep */
    unsigned taken;  /* banks of which a request was selected */
    unsigned active; /* banks with a row open */
    int64_t slot_sum, selected;
};

/* Single reads wake at cycle t and join the run. */
DRAM_INLINE void mem_stream_wake(struct mem_stream *s, struct mem_wheel *w, int32_t t)
{
    const unsigned banks = (unsigned)wheel_take(w, t);
    s->reads |= banks;
    s->asleep &= ~banks;
    s->wakes = s->asleep ? wheel_next(w, t, INT32_MAX) : INT32_MAX;
}

/* Cycles from t on of which all is known beforehand. */
struct mem_steady {
    int32_t t, n;
    int first;                     /* the bank of the column command of the cycle before t */
    int other;                     /* of two banks that go in turn, `other` first; -1: as the arrays say */
    unsigned banks;                /* all that take part */
    int apart;                     /* cycles at least between two column commands of a group */
    uint64_t columns[DRAM_NARROW]; /* by bank: bit k: a column command of its goes in cycle k */
    uint8_t selected[DRAM_QUEUE];  /* by cycle: the bank of which a request is selected, unless two go in turn */
    uint16_t reads[DRAM_QUEUE];    /* slots that hold one after it, likewise */
};

_Static_assert(DRAM_QUEUE == 64, "as many cycles as a word has bits");

enum { MEM_STEADY_FEW = 4 }; /* cycles for which it is not worth it */

/* The slots that wake at the cycle, if all are single reads, else 0. */
DRAM_INLINE unsigned mem_steady_wakes(const struct mem_stream *s, const struct mem_wheel *w, int32_t at)
{
    const uint64_t slots = w->slots[(unsigned)at % DRAM_WHEEL];
    return slots & ~(uint64_t)s->single ? 0 : (unsigned)slots;
}

/* Whether the cycle after that of a column command to bank b (-1: there was none) is a steady one. With CCD of 1 and
 * CCDL of at most 2 only the group of that command may be closed. */
DRAM_INLINE bool mem_is_steady(const struct dram_channel *ch, const struct mem_stream *s, const struct mem_source *from,
                               const struct mem_wheel *w, int b)
{
    return b >= 0 && !from->timestamps && !from->device && s->reads && s->in.pending & ~(s->reads | s->asleep) &&
           s->in.arrival <= s->t && s->in.stop - s->t >= MEM_STEADY_FEW &&
           (s->wakes - s->t >= MEM_STEADY_FEW || mem_steady_wakes(s, w, s->wakes)) && ch->timing.ccd == 1 &&
           ch->timing.ccdl <= 2;
}

/* How many single reads of the row selected last wait in bank b before anything else would be selected. */
DRAM_INLINE int mem_steady_hits(const struct dram_channel *ch, int b)
{
    const struct dram_bank_queue *q = &ch->bank[b];
    const uint64_t other = q->same & ~lanes_bytes(q->flags, 1);
    return __builtin_popcountll(q->same & ((other & -other) - 1));
}

/* Banks that take part from cycle `at` on, and what waits for their slots then. */
DRAM_INLINE void mem_steady_count(const struct dram_channel *ch, const struct mem_stream *s, struct mem_steady *p,
                                  unsigned banks, int32_t at, int left[DRAM_NARROW])
{
    p->banks |= banks;
    for (; banks; banks &= banks - 1) {
        const int b = __builtin_ctz(banks);
        left[b] = s->active >> b & 1 && ch->rd_ok[b] <= at ? mem_steady_hits(ch, b) : 0;
        p->columns[b] = 0;
    }
}

/* Find the steady cycles, at most n: who goes follows from where the scan of banks begins, until it comes to an empty
 * slot whose bank has no read of the open row that may go, or a slot wakes that holds no single read. */
DRAM_INLINE void mem_steady_plan(const struct dram_channel *ch, const struct mem_stream *s, const struct mem_source *of,
                                 const struct mem_wheel *w, struct mem_steady *p, int32_t n)
{
    const unsigned closes = ch->timing.ccdl > 1 ? DRAM_ALL : 0, mask = (unsigned)ch->group_mask;
    const struct mem_source from = *of;
    int left[DRAM_NARROW];
    mem_steady_count(ch, s, p, p->banks, p->t, left);
    unsigned reads = s->reads, empty = p->banks & ~reads, scan = s->scan, clash = 0, group = 0;
    unsigned closed = (unsigned)ch->group_banks[(unsigned)p->first & mask] & closes;
    uint64_t bit = 1;
    int32_t k = 0, wakes = s->wakes - p->t;
    for (unsigned asleep = s->asleep; k < n; k++, bit += bit) {
        if (k == wakes) {
            const unsigned woken = mem_steady_wakes(s, w, p->t + k);
            if (!woken)
                break;
            mem_steady_count(ch, s, p, woken, p->t + k, left);
            reads |= woken;
            asleep &= ~woken;
            wakes = asleep ? wheel_next(w, p->t + k, INT32_MAX) - p->t : INT32_MAX;
        }
        const unsigned take = empty & scan ? empty & scan : empty, taken = take & -take;
        const int next = __builtin_ctz(take);
        const unsigned can = (reads | taken) & ~closed;
        if (left[next] <= 0 || !can)
            break;
        left[next]--;
        scan = mem_scan_on(scan, &from);
        const unsigned go = can & scan ? can & scan : can, gone = go & -go;
        const int b = __builtin_ctz(go);
        clash |= group & gone;
        group = (unsigned)ch->group_banks[(unsigned)b & mask];
        closed = group & closes;
        reads = (reads | taken) ^ gone;
        empty = (empty ^ taken) | gone;
        p->columns[b] |= bit;
        p->selected[k] = (uint8_t)next;
        p->reads[k] = (uint16_t)reads;
    }
    p->n = k;
    p->apart = clash ? 1 : 2;
}

/* The same of two banks of two groups when CCDL closes a group for two cycles: they go in turn. */
DRAM_INLINE void mem_steady_turns(const struct dram_channel *ch, struct mem_steady *p, int32_t n)
{
    const int a = 2 * mem_steady_hits(ch, p->first), b = 2 * mem_steady_hits(ch, p->other) + 1;
    n = a < n ? a : n;
    p->n = b < n ? b : n;
    p->apart = 2;
    p->columns[p->other] = UINT64_C(0x5555555555555555);
    p->columns[p->first] = UINT64_C(0xaaaaaaaaaaaaaaaa);
}

/* Bank b has something to select from cycle k on: end before the one in which the scan comes to it first. */
DRAM_INLINE void mem_steady_until(struct mem_steady *p, const struct mem_source *from, unsigned scan, int b, int32_t k)
{
    scan = mem_scan_from((mem_scan_bank(scan, from) + k) & from->bank_mask);
    for (; k < p->n; k++, scan = mem_scan_on(scan, from)) {
        const int next = p->other < 0 ? p->selected[k] : k & 1 ? p->other : p->first;
        if (mem_first(1u << b | 1u << next, scan) == b)
            p->n = k;
    }
}

/* A request's row, bank and flags as one word. */
DRAM_INLINE uint64_t mem_steady_word(const struct dram_request *r)
{
    const struct dram_request mask = {.row = UINT32_MAX, .bank = UINT8_MAX, .flags = UINT8_MAX};
    uint64_t word, kept;
    _Static_assert(sizeof *r == offsetof(struct dram_request, row) + sizeof word, "as it stands in memory");
    memcpy(&word, &r->row, sizeof word);
    memcpy(&kept, &mask.row, sizeof kept);
    return word & kept;
}

/* How many of n requests from position `head` on are as r, the first: of its bank, row and flags. `ids`: from->ids. */
DRAM_INLINE int32_t mem_steady_alike(const struct mem_source *from, const uint32_t *ids, uint32_t head,
                                     const struct dram_request *r, int32_t n)
{
    const struct dram_request *const requests = from->requests;
    const uint64_t word = mem_steady_word(r);
    int32_t k = 1;
    while (k < n && mem_steady_word(&requests[ids ? ids[head + (uint32_t)k] : head + (uint32_t)k]) == word)
        k++;
    return k;
}

/* k single reads of a row from position `head` on, to the end of a bank's queue; there is room. */
DRAM_INLINE void mem_steady_push(struct dram_bank_queue *q, const uint32_t *ids, uint32_t head, uint32_t row, int32_t k)
{
    enum { STEP = 8 }; /* as vectors are wide; positions behind the tail may be written */
    const int first = q->tail;
    const int32_t whole = first + k + STEP > DRAM_QUEUE ? 0 : (k + STEP - 1) / STEP * STEP;
    for (int32_t i = 0; i < whole; i += STEP) {
        for (int j = 0; j < STEP; j++)
            q->rows[first + i + j] = row;
        for (int j = 0; j < STEP; j++)
            q->tags[first + i + j] = (uint8_t)row;
        for (int j = 0; j < STEP; j++)
            q->flags[first + i + j] = 1;
        for (int j = 0; j < STEP && !ids; j++)
            q->ids[first + i + j] = head + (uint32_t)(i + j);
    }
    for (int32_t i = ids ? 0 : whole; i < k; i++)
        q->ids[first + i] = ids ? ids[head + (uint32_t)i] : head + (uint32_t)i;
    for (int32_t i = whole; i < k; i++) {
        q->rows[first + i] = row;
        q->tags[first + i] = (uint8_t)row;
        q->flags[first + i] = 1;
    }
    const uint64_t bits = UINT64_MAX >> (64 - k) << first;
    q->live |= bits;
    q->same |= row == q->last_row ? bits : 0;
    q->tail = first + k;
}

/* Of n requests from the head on, one a cycle from t on, those that will have arrived. */
DRAM_INLINE int32_t mem_steady_arrived(const struct mem_line *in, const struct mem_source *from, int32_t t, int32_t n)
{
    const int64_t now = from->base + t;
    n = (uint32_t)n < from->count - in->head ? n : (int32_t)(from->count - in->head);
    if (from->requests[mem_id(from, in->head + (uint32_t)n - 1)].arrival <= now)
        return n;
    for (int32_t k = 0; k < n; k++)
        if (from->requests[mem_id(from, in->head + (uint32_t)k)].arrival > now + k)
            return k;
    return n;
}

/* Let a request enter after each of the cycles; p->n becomes how many of them there are for which this is known. */
DRAM_INLINE void mem_steady_enter(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                  struct mem_steady *p)
{
    struct mem_line *in = &s->in;
    p->n = mem_steady_arrived(in, from, p->t, p->n);
    unsigned known = p->banks | s->asleep;
    int32_t k = 0;
    while (k < p->n) {
        const uint32_t head = in->head + (uint32_t)k;
        const struct dram_request *r = &from->requests[mem_id(from, head)];
        const int b = r->bank;
        struct dram_bank_queue *q = &ch->bank[b];
        ONCE(q);
        if (!k && q->tail == q->limit)
            dram_bank_queue_compact(q); /* later there might be no room: what is selected is still in it */
        const bool new = !(known >> b & 1);
        const int32_t room = q->limit - q->tail, most = new ? 1 : p->n - k;
        if (!room || r->flags != 1)
            break;
        const int32_t n = from->ids ? mem_steady_alike(from, from->ids, head, r, room < most ? room : most)
                                    : mem_steady_alike(from, NULL, head, r, room < most ? room : most);
        mem_steady_push(q, from->ids, head, r->row, n);
        k += n;
        in->pending |= 1u << b;
        known |= 1u << b;
        if (new)
            mem_steady_until(p, from, s->scan, b, k);
    }
    p->n = k;
    in->columns_in += k;
    in->head += (uint32_t)k;
}

/* Bank b had the first and the last of its column commands; `differs`: see dram_legal_run_bank(). */
DRAM_INLINE void mem_steady_leave(struct dram_channel *ch, int32_t first, int32_t last, int b, uint32_t differs)
{
    const struct dram_timing *tm = &ch->timing;
    const int g = b & ch->group_mask;
    dram_legal_run_bank(&ch->legal, tm, first, last, b, g, ch->open_row[b], differs);
    ch->pre_ok[b] = dram_later(ch->pre_ok[b], last + tm->rtp);
    ch->ccdl_ok[g] = dram_later(ch->ccdl_ok[g], last + tm->ccdl);
    ch->rtpl_ok[g] = dram_later(ch->rtpl_ok[g], last + tm->rtpl);
}

/* Bank b's part: what is in its slot, if it is filled, and what is selected after it have their column commands in
 * `columns`; if a read `stays`, it is the one selected last. */
DRAM_INLINE void mem_steady_serve(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                  const struct mem_steady *p, int b, uint64_t columns, bool stays)
{
    const bool filled = s->reads >> b & 1;
    if (!columns && (filled || !stays))
        return;
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const struct dram_request *const requests = from->requests;
    const int64_t done = from->base + p->t + ch->timing.cl;
    const uint32_t row = ch->open_row[b];
    struct mem_out out = s->out;
    uint64_t same = q->same, left = columns;
    uint32_t id = ch->slot_id[b], differs = ch->slot_row[b] ^ row;
    if (!filled) {
        const int i = __builtin_ctzll(same);
        same &= same - 1;
        id = q->ids[i];
        differs = q->rows[i] ^ row;
    }
    for (int takes = __builtin_popcountll(columns) - !stays; takes > 0; takes--) {
        out.latency_sum += done + __builtin_ctzll(left) - requests[id].arrival;
        left &= left - 1;
        const int i = __builtin_ctzll(same);
        same &= same - 1;
        id = q->ids[i];
        differs |= q->rows[i] ^ row;
    }
    if (left) /* nothing is selected after it */
        out.latency_sum += done + __builtin_ctzll(left) - requests[id].arrival;
    s->out = out;
    ch->slot_id[b] = id;
    ch->slot_row[b] = row ^ differs;
    if (q->same != same) {
        q->live ^= q->same ^ same;
        q->same = same;
        s->taken |= 1u << b;
        if (!q->live) {
            q->tail = 0;
            s->in.pending &= ~(1u << b);
        }
    }
    if (columns)
        mem_steady_leave(ch, p->t + __builtin_ctzll(columns), p->t + 63 - __builtin_clzll(columns), b, differs);
}

/* What the cycles leave behind for the channel; `reads`: slots that hold one. */
DRAM_INLINE void mem_steady_end(const struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                const struct mem_steady *p, unsigned reads)
{
    s->t += p->n;
    s->out.count += p->n;
    s->out.last = s->t - 1 + ch->timing.cl;
    s->reads = reads;
    s->ccd_ok = s->t - 1 + ch->timing.ccd;
    s->scan = mem_scan_from((mem_scan_bank(s->scan, from) + p->n) & from->bank_mask);
    s->selected += p->n;
    s->slot_sum += p->n;
    mem_look(&s->in, from, s->t);
}

/* The steady cycles after that of a column command to bank b, if a request enters after each of them. Returns the bank
 * of the last; -1: there were none. */
static __attribute__((noinline)) int mem_stream_steady(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, struct mem_wheel *w, int b)
{
    const int32_t most = s->in.stop - s->t < DRAM_QUEUE ? s->in.stop - s->t : DRAM_QUEUE;
    const unsigned empty = s->in.pending & ~(s->reads | s->asleep);
    struct mem_steady p;
    p.t = s->t;
    p.first = b;
    p.other = __builtin_ctz(s->reads);
    p.banks = s->reads | empty;
    if (s->wakes - s->t >= most && empty == 1u << b && !(s->reads & (s->reads - 1)) && (b ^ p.other) & ch->group_mask &&
        ch->timing.ccdl == 2) {
        mem_steady_turns(ch, &p, most);
    } else {
        p.other = -1;
        mem_steady_plan(ch, s, from, w, &p, most);
    }
    if (p.n < MEM_STEADY_FEW)
        return -1;
    mem_steady_enter(ch, s, from, &p);
    if (!p.n)
        return -1;
    while (s->wakes - p.t < p.n)
        mem_stream_wake(s, w, s->wakes);
    const uint64_t done = UINT64_MAX >> (64 - p.n);
    const unsigned reads = p.other < 0 ? p.reads[p.n - 1] : 1u << (p.n & 1 ? b : p.other);
    int begin = 0, last = 0;
    for (unsigned banks = p.banks; banks; banks &= banks - 1) {
        const int k = __builtin_ctz(banks);
        begin = p.columns[k] & 1 ? k : begin;
        last = p.columns[k] >> (p.n - 1) & 1 ? k : last;
    }
    dram_legal_run(&ch->legal, &ch->timing, p.t, begin, begin & ch->group_mask, p.apart);
    for (unsigned banks = p.banks; banks; banks &= banks - 1) {
        const int k = __builtin_ctz(banks);
        mem_steady_serve(ch, s, from, &p, k, p.columns[k] & done, reads >> k & 1);
    }
    mem_steady_end(ch, s, from, &p, reads);
    return last;
}

/* dram_mem.calm: runs of reads are looked for from MEM_CALM on. It grows by the cycle while there are any; an ACT
 * leaves one MEM_ACT_CALMS-th of it, a run of no cycles half, a write nothing. */
enum { MEM_CALM = 8, MEM_CALMEST = 64 };

/* Of a device: nothing that a read of an open row would have to wait for but other reads, by the rules it has. */
DRAM_INLINE bool mem_device_streams(const struct dram_channel *ch, int32_t t)
{
    const struct dram_device *d = &ch->device;
    return t >= d->wtrl_last && t >= d->column_bus_ok && ch->timing.column_bus <= ch->timing.ccd;
}

/* Whether mem_stream() may go on from here: what is due are single reads of open rows, the other slots sleep. */
DRAM_INLINE bool mem_may_stream(const struct dram_channel *ch, const struct dram_mem *m, const struct mem_source *from,
                                int32_t t)
{
    return t != m->stopped && !(m->due >> DRAM_NARROW * MEM_WR) && !(m->due & m->longer) && !m->unscanned &&
           t >= m->wtr_ok && m->due | (m->in.pending & ~m->occupied) && (!from->device || mem_device_streams(ch, t));
}

/* Select bank b's next request; false, and nothing is done, if it is no single read of the open row. */
DRAM_INLINE bool mem_stream_take(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const uint64_t same = q->same;
    const int i = __builtin_ctzll(same | UINT64_C(1) << 63);
    if (!same || q->flags[i] != 1 || ch->rd_ok[b] > s->t || !(s->active >> b & 1))
        return false;
    const unsigned bit = 1u << b;
    const uint64_t rest = same & (same - 1), live = q->live ^ same ^ rest;
    q->same = rest;
    q->live = live;
    if (!live) {
        q->tail = 0;
        s->in.pending &= ~bit;
    }
    ch->slot_id[b] = q->ids[i];
    ch->slot_row[b] = q->rows[i];
    if (from->timestamps && ch->timestamps.sched)
        ch->timestamps.sched[q->ids[i]] = from->base + s->t;
    s->scan = mem_scan_on(s->scan, from);
    s->reads |= bit;
    s->taken |= bit;
    s->selected++;
    s->slot_sum -= s->t;
    s->in.waiting--;
    return true;
}

/* The column command of cycle t to one of the reads, if a group allows one; returns its bank, else -1. */
DRAM_INLINE int mem_stream_column(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from)
{
    const struct dram_timing *tm = &ch->timing;
    const int32_t t = s->t;
    unsigned columns = t < s->ccd_ok ? 0 : s->reads;
    while (columns) {
        const int b = mem_first(columns, s->scan), g = b & ch->group_mask;
        if (ch->ccdl_ok[g] > t) {
            columns &= ~(unsigned)ch->group_banks[g];
            continue;
        }
        dram_legal_rd_again(&ch->legal, tm, t, b, g, ch->slot_row[b]);
        if (from->device)
            (void)dram_device_gave_one(ch, DRAM_RD, b, ch->slot_row[b], t);
        s->ccd_ok = t + tm->ccd;
        ch->ccdl_ok[g] = t + tm->ccdl;
        ch->rtpl_ok[g] = t + tm->rtpl;
        ch->pre_ok[b] = dram_later(ch->pre_ok[b], t + tm->rtp);
        s->reads &= ~(1u << b);
        s->slot_sum += t + 1;
        mem_done(ch, &s->out, from, ch->slot_id[b], t, t + tm->cl);
        return b;
    }
    return -1;
}

/* Slots wake at cycle t: single reads join the run; false, and nothing is done, if there is another among them. */
DRAM_INLINE bool mem_stream_join(struct mem_stream *s, struct mem_wheel *w)
{
    if (w->slots[(unsigned)s->t % DRAM_WHEEL] & ~(uint64_t)s->single)
        return false;
    mem_stream_wake(s, w, s->t);
    return true;
}

/* The cycles from t on, for as long as each request that is selected is a single read of its bank's open row and no
 * slot wakes that holds something else: then no row command and no turnaround comes in between. */
DRAM_INLINE void mem_stream_run(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                struct mem_wheel *w)
{
    while (s->t < s->in.stop && (s->t < s->wakes || mem_stream_join(s, w))) {
        const unsigned can = s->in.pending & ~(s->reads | s->asleep);
        if (can && !mem_stream_take(ch, s, from, mem_first(can, s->scan)))
            break;
        if (!s->reads)
            break;
        int b = mem_stream_column(ch, s, from);
        if (s->in.arrival <= s->t && s->in.waiting < from->queue) {
            mem_enter(ch, &s->in, from, s->t);
            s->in.head++;
            mem_look(&s->in, from, s->t + 1);
        }
        s->t++;
        while (mem_is_steady(ch, s, from, w, b))
            b = mem_stream_steady(ch, s, from, w, b);
    }
}

/* The same on copies. Built once for each of the ways in which a run goes. */
DRAM_INLINE void mem_stream_as(struct dram_channel *ch, struct mem_stream *of, const struct mem_source *source,
                               struct mem_wheel *w, bool timestamps, bool device)
{
    struct mem_stream s = *of;
    struct mem_source from = *source;
    from.timestamps = timestamps;
    from.device = device;
    mem_stream_run(ch, &s, &from, w);
    *of = s;
}

static __attribute__((noinline)) void mem_stream_plain(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, false, false);
}

static __attribute__((noinline)) void mem_stream_device(struct dram_channel *ch, struct mem_stream *s,
                                                        const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, false, true);
}

static __attribute__((noinline)) void mem_stream_fates(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, struct mem_wheel *w)
{
    mem_stream_as(ch, s, from, w, true, from->device);
}

/* What is the same for all reads of a run that began at cycle `begin`. */
DRAM_INLINE void mem_stream_end(struct dram_channel *ch, struct dram_mem *m, const struct mem_stream *s, int32_t begin)
{
    const int64_t n = s->out.count - m->out.count;
    if (n) {
        m->columns += n;
        m->ccd_ok = s->ccd_ok;
        m->rtw_ok = s->ccd_ok - ch->timing.ccd + ch->timing.rtw;
    }
    m->in = s->in;
    m->out = s->out;
    m->scan = s->scan;
    m->slot_sum = s->slot_sum;
    m->issued += s->selected;
    m->hits += s->selected;
    m->due = s->reads;
    m->occupied = s->reads | s->asleep;
    for (unsigned banks = s->reads; banks; banks &= banks - 1)
        ch->slot_flags[__builtin_ctz(banks)] = 1;
    for (unsigned banks = s->taken; banks; banks &= banks - 1)
        m->streak = ch->bank[__builtin_ctz(banks)].same ? m->streak | (banks & -banks) : m->streak & ~(banks & -banks);
    const unsigned calm = s->t == begin ? m->calm / 2 : m->calm + (unsigned)(s->t - begin);
    m->calm = calm < MEM_CALMEST ? calm : MEM_CALMEST;
    m->stopped = s->t;
}

/* A run of reads from cycle t on. Returns the first cycle that is not done. */
DRAM_INLINE int32_t mem_stream(struct dram_channel *ch, struct dram_mem *m, const struct mem_source *of,
                               struct mem_wheel *w, int32_t t)
{
    const unsigned reads = mem_banks(m->due, MEM_RD), asleep = m->occupied & ~reads;
    const int32_t wakes = asleep ? wheel_next(w, t - 1, INT32_MAX) : INT32_MAX;
    if (wakes <= t || !dram_legal_reads_begin(&ch->legal, &ch->timing, t)) {
        m->stopped = t;
        return t;
    }
    const struct mem_source from = *of;
    struct mem_stream s = {.in = m->in,
                           .out = m->out,
                           .t = t,
                           .wakes = wakes,
                           .scan = m->scan,
                           .ccd_ok = m->ccd_ok,
                           .reads = reads,
                           .asleep = asleep,
                           .active = m->active,
                           .single = ~m->longer & DRAM_ALL,
                           .slot_sum = m->slot_sum};
    if (of->timestamps)
        mem_stream_fates(ch, &s, &from, w);
    else if (of->device)
        mem_stream_device(ch, &s, &from, w);
    else
        mem_stream_plain(ch, &s, &from, w);
    mem_stream_end(ch, m, &s, t);
    return s.t;
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
                              .bank_mask = ch->bank_mask,
                              .all_banks = (2u << ch->bank_mask) - 1,
                              .base = ch->base,
                              .one = feed->vcs == 1,
                              .timestamps = timestamps,
                              .device = device};
    from.first = heads->head[DRAM_MEM] == from.count ? UINT32_MAX : mem_id(&from, heads->head[DRAM_MEM]);
    struct dram_mem m = {.in = {.stop = stop, .head = heads->head[DRAM_MEM], .id = from.first},
                         .out = {.last = -1},
                         .unscanned = DRAM_ALL,
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
