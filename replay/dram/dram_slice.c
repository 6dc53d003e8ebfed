#include "replay/dram/dram_slice.h"

#include "replay/dram/dram_line.h"

enum { NOC_FREE = 4 }; /* free places of the L2 queue that the interconnect asks for (artifact: SECTOR_CHUNCK_SIZE) */

/* The virtual channel to be tried k-th: the one after the last served first. */
static int turn(int vcs, int k, int last)
{
    return vcs == 1 ? 0 : k == 0 ? !last : last;
}

/* One packet leaves the interconnect: MEM into the raster delay, PIM into its L2 queue. */
static bool leave_noc(struct dram_memory *m, struct dram_sub *s, int64_t t)
{
    for (int k = 0; k < m->vcs; k++) {
        const int v = turn(m->vcs, k, s->last_noc);
        struct dram_line *from = &s->noc[v];
        if (!line_count(from) || line_free(&s->l2[v]) < NOC_FREE)
            continue;
        const uint32_t flight = line_first(from);
        from->head++;
        s->last_noc = (uint8_t)v;
        if (m->flight[flight].kind == PROGRAM_PIM) {
            line_push(&s->l2[v], flight);
        } else {
            m->flight[flight].due = t + m->rop;
            m->out_of_memory |= !line_append(&s->delay, flight);
        }
        return true;
    }
    return false;
}

static void answer(struct dram_memory *m, uint32_t sub, uint32_t flight)
{
    line_push(&m->sub[sub].reply, flight);
    m->replying[sub / 64] |= UINT64_C(1) << sub % 64;
}

/* One read whose sector has come is answered. */
static bool leave_filled(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    if (!line_count(&s->filled) || !line_free(&s->reply))
        return false;
    answer(m, sub, line_first(&s->filled));
    s->filled.head++;
    return true;
}

/* What comes from DRAM: a sector fills its line, a PIM request is acknowledged. */
static bool take_back(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    if (!line_count(&s->back))
        return false;
    const uint32_t flight = line_first(&s->back);
    if (m->flight[flight].kind == PROGRAM_PIM) {
        if (!line_free(&s->reply))
            return false;
        answer(m, sub, flight);
    } else {
        const uint32_t *waiters;
        const uint32_t n = l2_fill(m->l2, sub, m->flight[flight].miss, &waiters);
        for (uint32_t i = 0; i < n; i++)
            m->out_of_memory |= !line_append(&s->filled, waiters[i]);
    }
    s->back.head++;
    return true;
}

/* --- the L2 front --- */

/* Of stretches of DRAM_CAMP_READS requests to DRAM: the busiest channel over the mean. */
static void note_camp(struct dram_memory *m, uint32_t channel)
{
    m->camp[channel]++;
    if (++m->camp_reads < DRAM_CAMP_READS)
        return;
    uint32_t most = 0;
    for (uint32_t c = 0; c < m->channels; c++) {
        most = m->camp[c] > most ? m->camp[c] : most;
        m->camp[c] = 0;
    }
    m->stats.camp_sum += (double)most * m->channels / DRAM_CAMP_READS;
    m->stats.camp_count++;
    m->camp_reads = 0;
}

static void to_dram(struct dram_memory *m, uint32_t sub, int v, uint32_t flight)
{
    const struct dram_flight *f = &m->flight[flight];
    const uint32_t channel = sub / DRAM_SUBS;
    struct dram_partition *part = &m->part[channel];
    dram_partition_push(part, (int)(sub % DRAM_SUBS), v, (struct dram_waiting){f->row, flight, f->bank, f->flags});
    m->dram_next = m->clocks.dram;
    if (!(f->flags & DRAM_IS_PIM))
        note_camp(m, channel);
}

/* What L2 evicts: one request of as many columns as the line has written sectors. It lies in the slice of the line
 * that takes its place. */
static void write_back(struct dram_memory *m, uint32_t sub, int v, const struct l2_result *r)
{
    const uint32_t flight = dram_flight_new(m);
    if (flight == UINT32_MAX)
        return;
    const struct dram_addr a = dram_map_decode(&m->map, r->victim);
    const int sectors = __builtin_popcount(r->write_back);
    m->flight[flight] = (struct dram_flight){.row = a.row,
                                             .sub = sub,
                                             .bank = (uint8_t)a.bank,
                                             .kind = RECORD_WRITE,
                                             .flags = (uint8_t)(sectors | DRAM_IS_WRITE | DRAM_IS_POSTED)};
    m->stats.write_backs++;
    to_dram(m, sub, v, flight);
}

static void count(struct dram_memory *m, const struct l2_question *q, enum l2_answer answer)
{
    m->stats.writes += !q->reads;
    m->stats.reads += q->reads;
    m->stats.fetches += answer == L2_FETCH;
    m->stats.merges += answer == L2_MERGED;
}

/* A MEM packet at the front; false: it stays. */
static bool ask(struct dram_memory *m, struct dram_sub *s, uint32_t sub, int v, uint32_t flight)
{
    struct dram_flight *f = &m->flight[flight];
    if (!line_free(&s->reply))
        return false;
    const struct l2_question q = {.addr = f->addr,
                                  .slice = sub,
                                  .waiter = flight,
                                  .room = dram_partition_room(&m->part[sub / DRAM_SUBS], (int)(sub % DRAM_SUBS), v),
                                  .reads = f->kind != RECORD_WRITE,
                                  .writes = f->kind != RECORD_READ,
                                  .whole = f->whole && f->kind == RECORD_WRITE};
    struct l2_result r;
    uint32_t miss;
    const enum l2_answer got = l2_take(m->l2, &q, &r, &miss);
    if (got == L2_WAIT)
        return false;
    count(m, &q, got);
    if (got == L2_HIT)
        answer(m, sub, flight);
    if (got == L2_FETCH) {
        f->miss = (uint8_t)miss;
        f->flags = 1;
        to_dram(m, sub, v, flight);
    }
    if (r.write_back)
        write_back(m, sub, v, &r);
    return true;
}

static bool front(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    struct dram_partition *part = &m->part[sub / DRAM_SUBS];
    for (int k = 0; k < m->vcs; k++) {
        const int v = turn(m->vcs, k, s->last_l2);
        struct dram_line *from = &s->l2[v];
        if (!line_count(from) || !dram_partition_room(part, (int)(sub % DRAM_SUBS), v))
            continue;
        const uint32_t flight = line_first(from);
        if (m->flight[flight].kind == PROGRAM_PIM) {
            m->flight[flight].flags = 1 | DRAM_IS_WRITE | DRAM_IS_PIM;
            to_dram(m, sub, v, flight);
        } else if (!ask(m, s, sub, v, flight)) {
            continue;
        }
        from->head++;
        s->last_l2 = (uint8_t)v;
        return true;
    }
    return false;
}

static bool leave_delay(struct dram_memory *m, struct dram_sub *s, int64_t t)
{
    if (!line_count(&s->delay) || m->flight[line_first(&s->delay)].due > t || !line_free(&s->l2[0]))
        return false;
    line_push(&s->l2[0], line_first(&s->delay));
    s->delay.head++;
    return true;
}

int64_t dram_slice_cycle(struct dram_memory *m, uint32_t sub)
{
    struct dram_sub *s = &m->sub[sub];
    const int64_t t = m->clocks.core;
    bool moved = leave_noc(m, s, t);
    moved |= leave_filled(m, s, sub);
    moved |= take_back(m, s, sub);
    moved |= front(m, s, sub);
    moved |= leave_delay(m, s, t);
    if (moved)
        return t + 1;
    const int64_t due = line_count(&s->delay) ? m->flight[line_first(&s->delay)].due : INT64_MAX;
    return due > t ? due : INT64_MAX;
}
