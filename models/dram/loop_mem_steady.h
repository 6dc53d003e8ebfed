/* loop_mem_steady: of a run of reads, cycles that follow from one another; a part of models/dram/loop_mem.c.
 *
 * In a steady cycle a request is selected for the slot that the cycle before emptied, a column command goes, and a
 * request enters. Then who goes follows from the scan of banks alone, as far as the banks have reads of their open
 * rows, and what it does is done by the bank, not by the cycle. */
#ifndef MODELS_DRAM_LOOP_MEM_STEADY_H
#define MODELS_DRAM_LOOP_MEM_STEADY_H

#include "models/dram/loop_mem_issue.h"

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
    int64_t slot_sum, selected;
};

/* Cycles from t on of which all is known beforehand. */
struct mem_steady {
    int32_t t, n;
    int first;                /* the bank whose slot the cycle before t emptied */
    int other;                /* of two banks that go in turn, `other` first; -1: as the next two say */
    unsigned banks;           /* all that take part */
    unsigned others;          /* with an empty slot too: the run ends where the scan comes to one of them first */
    int apart;                /* cycles at least between two column commands of a group */
    uint8_t bank[DRAM_QUEUE]; /* that of the column command of each cycle */
    uint8_t when[DRAM_NARROW][DRAM_QUEUE + 1]; /* the cycles of a bank's, ascending, and an end beyond all */
};

/* The bank of the column command of cycle k. */
DRAM_INLINE int mem_steady_bank(const struct mem_steady *p, int32_t k)
{
    if (p->other < 0)
        return p->bank[k];
    return k & 1 ? p->first : p->other;
}

/* The cycles of the column commands of bank b. */
DRAM_INLINE const uint8_t *mem_steady_when(const struct mem_steady *p, int b)
{
#define SIXTEEN(k)                                                                                                     \
    k, k + 2, k + 4, k + 6, k + 8, k + 10, k + 12, k + 14, k + 16, k + 18, k + 20, k + 22, k + 24, k + 26, k + 28,     \
        k + 30
    static const uint8_t turns[2][DRAM_QUEUE / 2 + 1] = {{SIXTEEN(0), SIXTEEN(32), UINT8_MAX},
                                                         {SIXTEEN(1), SIXTEEN(33), UINT8_MAX}};
#undef SIXTEEN
    return p->other < 0 ? p->when[b] : turns[b == p->first];
}

enum { FEW = 4 }; /* cycles for which it is not worth it */

/* Whether the cycle after that of a column command to bank b (-1: there was none) is a steady one. With CCD of 1 and
 * CCDL of at most 2 only the group of that command may be closed. */
DRAM_INLINE bool mem_is_steady(const struct dram_channel *ch, const struct mem_stream *s, const struct mem_source *from,
                               int b)
{
    return b >= 0 && !from->fates && !from->device && s->reads &&
           (s->in.pending & ~(s->reads | s->asleep)) >> b & 1 && s->in.arrival <= s->t && s->wakes - s->t >= FEW &&
           s->in.stop - s->t >= FEW && ch->timing.ccd == 1 && ch->timing.ccdl <= 2;
}

/* How many single reads of the row selected last wait in bank b before anything else would be selected. */
DRAM_INLINE int mem_steady_hits(const struct dram_channel *ch, int b)
{
    const struct dram_bank_queue *q = &ch->bank[b];
    const uint64_t other = q->same & ~lanes_bytes(q->flags, 1);
    return __builtin_popcountll(q->same & ((other & -other) - 1));
}

/* Find the steady cycles, at most n: who goes follows from where the scan of banks begins, and each slot is filled
 * again while its bank has reads of the open row. */
DRAM_INLINE void mem_steady_plan(const struct dram_channel *ch, const struct mem_stream *s,
                                 const struct mem_source *from, struct mem_steady *p, int32_t n)
{
    const unsigned closes = ch->timing.ccdl > 1 ? DRAM_ALL : 0;
    int left[DRAM_NARROW], served[DRAM_NARROW], b = p->first;
    for (unsigned banks = p->banks; banks; banks &= banks - 1) {
        left[__builtin_ctz(banks)] = mem_steady_hits(ch, __builtin_ctz(banks));
        served[__builtin_ctz(banks)] = 0;
    }
    unsigned reads = s->reads, scan = s->scan;
    int32_t k = 0;
    for (; k < n && left[b]-- > 0; k++) {
        const unsigned columns = (reads | 1u << b) & ~(ch->group_banks[b & ch->group_mask] & closes);
        if (!columns)
            break;
        scan = mem_scan_on(scan, from);
        reads |= 1u << b;
        b = mem_first(columns, scan);
        reads &= ~(1u << b);
        p->bank[k] = (uint8_t)b;
        p->when[b][served[b]++] = (uint8_t)k;
    }
    for (unsigned banks = p->banks; banks; banks &= banks - 1)
        p->when[__builtin_ctz(banks)][served[__builtin_ctz(banks)]] = UINT8_MAX;
    p->n = k;
    p->apart = 2;
    for (k = 1; k < p->n; k++)
        p->apart = ((p->bank[k] ^ p->bank[k - 1]) & ch->group_mask) ? p->apart : 1;
}

/* The same of two banks of two groups when CCDL closes a group for two cycles: they go in turn. */
DRAM_INLINE void mem_steady_turns(const struct dram_channel *ch, struct mem_steady *p, int32_t n)
{
    const int a = 2 * mem_steady_hits(ch, p->first), b = 2 * mem_steady_hits(ch, p->other) + 1;
    n = a < n ? a : n;
    p->n = b < n ? b : n;
    p->apart = 2;
}

/* End before the cycle from k on in which the scan, at `scan` in the first, comes to one of the other banks first. */
DRAM_INLINE void mem_steady_until(struct mem_steady *p, const struct mem_source *from, unsigned scan, int32_t k)
{
    scan = mem_scan_from((mem_scan_bank(scan, from) + k) & from->bank_mask);
    for (; k < p->n; k++, scan = mem_scan_on(scan, from)) {
        const int next = k ? mem_steady_bank(p, k - 1) : p->first;
        if (mem_first(p->others | 1u << next, scan) != next)
            p->n = k;
    }
}

/* The requests from the head on that stand behind one another for bank b, at most n, single reads: into the bank's
 * queue, as far as there is room where it stands. Returns how many. `ids`: from->ids. */
DRAM_INLINE int32_t mem_steady_enter_bank(struct dram_channel *ch, const struct mem_source *from, const uint32_t *ids,
                                          uint32_t head, int b, int32_t n)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const struct dram_request *const requests = from->requests;
    const int first = q->tail, room = q->limit - first;
    const uint32_t last_row = q->last_row;
    uint64_t same = 0, bit = UINT64_C(1) << first;
    int32_t k = 0;
    for (n = n < room ? n : room; k < n; k++, bit += bit) {
        const uint32_t id = ids ? ids[head + (uint32_t)k] : head + (uint32_t)k;
        const struct dram_request *r = &requests[id];
        const uint32_t row = r->row;
        if (r->bank != b || r->flags != 1)
            break;
        q->rows[first + k] = row;
        q->tags[first + k] = (uint8_t)row;
        q->ids[first + k] = id;
        q->flags[first + k] = 1;
        same |= row == last_row ? bit : 0;
    }
    if (k) {
        q->tail = first + k;
        q->live |= UINT64_MAX >> (64 - k) << first;
        q->same |= same;
    }
    return k;
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
    int32_t k = 0;
    while (k < p->n) {
        const uint32_t head = in->head + (uint32_t)k;
        const int b = from->requests[mem_id(from, head)].bank;
        if (!k && ch->bank[b].tail == ch->bank[b].limit)
            dram_bank_queue_compact(&ch->bank[b]); /* later there might be no room: what is selected is still in it */
        const bool known = (p->banks | p->others | s->asleep) >> b & 1;
        const int32_t most = known ? p->n - k : 1;
        const int32_t n = from->ids ? mem_steady_enter_bank(ch, from, from->ids, head, b, most)
                                    : mem_steady_enter_bank(ch, from, NULL, head, b, most);
        if (!n)
            break;
        k += n;
        in->pending |= 1u << b;
        p->others |= known ? 0 : 1u << b;
        if (!known)
            mem_steady_until(p, from, s->scan, k);
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

/* Bank b's part: its slot and what is selected after it go at when[], below n; what is selected last stays in the slot.
 */
DRAM_INLINE void mem_steady_serve(struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                  const struct mem_steady *p, int b)
{
    struct dram_bank_queue *q = &ch->bank[b];
    ONCE(q);
    const struct dram_request *const requests = from->requests;
    const uint8_t *when = mem_steady_when(p, b);
    const int64_t done = from->base + p->t + ch->timing.cl;
    const uint64_t was = q->same;
    const uint32_t row = ch->open_row[b];
    const int32_t last = p->n - 1;
    struct mem_out out = s->out;
    uint64_t same = was;
    uint32_t id = ch->slot_id[b], differs = ch->slot_row[b] ^ row;
    int k = 0;
    if (b == p->first) {
        const int i = __builtin_ctzll(same);
        same &= same - 1;
        id = q->ids[i];
        differs = q->rows[i] ^ row;
    }
    for (; when[k] < last; k++) {
        mem_latency(&out, from->buckets, done + when[k] - requests[id].arrival);
        const int i = __builtin_ctzll(same);
        same &= same - 1;
        id = q->ids[i];
        differs |= q->rows[i] ^ row;
    }
    if (when[k] == last) /* nothing is selected after it */
        mem_latency(&out, from->buckets, done + when[k++] - requests[id].arrival);
    s->out = out;
    ch->slot_id[b] = id;
    ch->slot_row[b] = row ^ differs;
    q->same = same;
    q->live ^= was ^ same;
    s->taken |= was != same ? 1u << b : 0;
    if (!q->live) {
        q->tail = 0;
        s->in.pending &= ~(1u << b);
    }
    ch->stats.bank_columns[b] += k;
    if (k)
        mem_steady_leave(ch, p->t + when[0], p->t + when[k - 1], b, differs);
}

/* What the cycles leave behind for the channel. */
DRAM_INLINE void mem_steady_end(const struct dram_channel *ch, struct mem_stream *s, const struct mem_source *from,
                                const struct mem_steady *p)
{
    s->t += p->n;
    s->out.count += p->n;
    s->out.last = s->t - 1 + ch->timing.cl;
    s->reads = p->banks & ~(1u << mem_steady_bank(p, p->n - 1));
    s->ccd_ok = s->t - 1 + ch->timing.ccd;
    s->scan = mem_scan_from((mem_scan_bank(s->scan, from) + p->n) & from->bank_mask);
    s->selected += p->n;
    s->slot_sum += p->n;
    mem_look(&s->in, from, s->t);
}

/* The steady cycles after that of a column command to bank b, if a request enters after each of them. Returns the bank
 * of the last; -1: there were none. */
static __attribute__((noinline)) int mem_stream_steady(struct dram_channel *ch, struct mem_stream *s,
                                                       const struct mem_source *from, int b)
{
    const int32_t end = s->wakes < s->in.stop ? s->wakes : s->in.stop;
    const int32_t most = end - s->t < DRAM_QUEUE ? end - s->t : DRAM_QUEUE;
    struct mem_steady p;
    p.t = s->t;
    p.first = b;
    p.other = __builtin_ctz(s->reads);
    p.banks = s->reads | 1u << b;
    p.others = s->in.pending & ~(p.banks | s->asleep);
    if (!(s->reads & (s->reads - 1)) && (b ^ p.other) & ch->group_mask && ch->timing.ccdl == 2) {
        mem_steady_turns(ch, &p, most);
    } else {
        p.other = -1;
        mem_steady_plan(ch, s, from, &p, most);
    }
    if (p.others)
        mem_steady_until(&p, from, s->scan, 0);
    if (p.n < FEW)
        return -1;
    mem_steady_enter(ch, s, from, &p);
    if (!p.n)
        return -1;
    const int begin = mem_steady_bank(&p, 0);
    dram_legal_run(&ch->legal, &ch->timing, p.t, begin, begin & ch->group_mask, p.apart);
    for (unsigned banks = p.banks; banks; banks &= banks - 1)
        mem_steady_serve(ch, s, from, &p, __builtin_ctz(banks));
    mem_steady_end(ch, s, from, &p);
    return mem_steady_bank(&p, p.n - 1);
}

#endif
