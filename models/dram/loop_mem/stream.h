/* loop_mem_stream: runs of reads of open rows; a part of models/dram/loop_mem/loop_mem.c.
 *
 * An optimisation, proven equal by tests (loop_mem_test.c, loop_test.c): without it everything gives the same answers.
 * Off with all of loop_mem_cycle.h.
 *
 * In a steady cycle of a run a request is selected for a slot that is empty, a column command goes, and a request
 * enters. Then who goes follows from the scan of banks alone, as far as the banks have reads of their open rows, and
 * what it does is done by the bank, not by the cycle. */
#ifndef MODELS_DRAM_LOOP_MEM_STREAM_H
#define MODELS_DRAM_LOOP_MEM_STREAM_H

#include "models/dram/loop_mem/cycle.h"

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
    return b >= 0 && !from->fates && !from->device && s->reads && s->in.pending & ~(s->reads | s->asleep) &&
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
    return t != m->stopped && !(m->due >> DRAM_NARROW * MEM_WR) && !(m->due & m->longer) && !m->unasked &&
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
    if (from->fates && ch->fate.sched)
        ch->fate.sched[q->ids[i]] = from->base + s->t;
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
                               struct mem_wheel *w, bool fates, bool device)
{
    struct mem_stream s = *of;
    struct mem_source from = *source;
    from.fates = fates;
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
    m->served += s->selected;
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
    if (of->fates)
        mem_stream_fates(ch, &s, &from, w);
    else if (of->device)
        mem_stream_device(ch, &s, &from, w);
    else
        mem_stream_plain(ch, &s, &from, w);
    mem_stream_end(ch, m, &s, t);
    return s.t;
}

#endif
