#include "replay/dram/dram_ring.h"

enum { NOC_FREE = 4 }; /* free places of the L2 queue that the interconnect asks for (artifact: SECTOR_CHUNCK_SIZE) */

/* --- made and freed --- */

/* The ring takes its part of an array of *at places. */
static struct dram_room room_of(int64_t room, uint32_t *at)
{
    uint32_t size = 1;
    while (size < room)
        size *= 2;
    const struct dram_room r = {(uint32_t)room, size - 1, *at};
    *at += size;
    return r;
}

int l2_slices_init(struct dram_memory *m, const struct dram_platform *dram, struct err *err)
{
    enum { FIRST = 64 }; /* places of a ring that grows */
    uint32_t packets = 0, numbers = 0;
    for (int v = 0; v < m->vcs; v++) {
        m->noc[v] = room_of(dram->noc_queue / m->vcs, &packets);
        m->to_l2[v] = room_of(dram->noc_l2_queue / m->vcs, &packets);
    }
    m->back = room_of(dram->dram_l2_queue, &numbers);
    m->reply = room_of(dram->l2_noc_queue, &numbers);
    m->away = room_of(dram->noc_queue, &numbers);
    m->sub = aligned_alloc(64, m->subs * sizeof *m->sub);
    if (!m->sub)
        return err_set(err, "out of memory");
    memset(m->sub, 0, m->subs * sizeof *m->sub);
    for (uint32_t i = 0; i < m->subs; i++) {
        struct dram_sub *s = &m->sub[i];
        s->delay_due = INT64_MAX;
        s->filled_mask = s->delay_mask = FIRST - 1;
        s->packets = mem_zalloc(packets, sizeof *s->packets, err);
        s->numbers = s->packets ? mem_zalloc(numbers, sizeof *s->numbers, err) : NULL;
        s->fills = s->numbers ? mem_zalloc(FIRST, sizeof *s->fills, err) : NULL;
        s->delayed = s->fills ? mem_zalloc(FIRST, sizeof *s->delayed, err) : NULL;
        if (!s->delayed)
            return -1;
    }
    return 0;
}

void l2_slices_release(struct dram_memory *m)
{
    for (uint32_t i = 0; m->sub && i < m->subs; i++) {
        free(m->sub[i].packets);
        free(m->sub[i].numbers);
        free(m->sub[i].fills);
        free(m->sub[i].delayed);
    }
    free(m->sub);
    m->sub = NULL;
}

/* --- a cycle --- */

void l2_slice_room(struct dram_memory *m, uint32_t sub, int v, bool room)
{
    crossbar_set_room(&m->to, sub, (uint32_t)v, room);
    if (m->vcs == 1) /* of both classes */
        crossbar_set_room(&m->to, sub, 1, room);
}

/* One packet leaves the interconnect: MEM into the raster delay, PIM into its L2 queue. */
static bool leave_noc(struct dram_memory *m, struct dram_sub *s, uint32_t sub, int64_t t)
{
    unsigned able = s->some & OF_NOC;
    for (int v = 0; v < DRAM_VCS; v++)
        if (able >> v & 1 && ring_count(&s->l2[v]) + NOC_FREE > m->to_l2[v].room)
            able &= ~(1u << v);
    if (!able)
        return false;
    const int v = ring_turn(able, s->last_noc);
    struct dram_ring *from = &s->noc[v];
    const struct dram_packet *packet = packet_first(s, from, &m->noc[v]);
    if (packet->kind == DRAM_KIND_PIM)
        packet_push(s, &s->l2[v], &m->to_l2[v], DRAM_VCS + (unsigned)v, packet);
    else
        m->out_of_memory |= !delay_push(s, packet, t + m->rop);
    if (ring_full(from, &m->noc[v]))
        l2_slice_room(m, sub, v, true);
    packet_pop(s, from, (unsigned)v);
    s->last_noc = (uint8_t)v;
    return true;
}

/* The raster delay ends: one goes into the L2 queue. */
static bool leave_delay(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    if (ring_full(&s->l2[0], &m->to_l2[0]))
        return false;
    const struct dram_packet *packet = delay_first(s);
    packet_push(s, &s->l2[0], &m->to_l2[0], DRAM_VCS, packet);
    if (ring_count(&s->l2[0]) <= 2)
        l2_expect(m->l2.cache, sub, packet->addr);
    delay_pop(s);
    return true;
}

static void answer(struct dram_memory *m, struct dram_sub *s, uint32_t sub, uint32_t flight)
{
    number_push(s, &s->reply, &m->reply, flight);
    m->replying[sub / 64] |= UINT64_C(1) << sub % 64;
    __builtin_prefetch(&m->flight[flight]);
}

/* One read whose sector has come is answered. */
static bool leave_filled(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    if (ring_full(&s->reply, &m->reply))
        return false;
    answer(m, s, sub, s->fills[s->filled.head & s->filled_mask]);
    ring_pop(&s->filled);
    return true;
}

/* The next that comes from DRAM. */
static void expect_back(const struct dram_memory *m, const struct dram_sub *s, uint32_t sub)
{
    const uint32_t id = number_first(s, &s->back, &m->back);
    if ((id >> 1 & 3) == DRAM_ID_FETCH)
        l2_expect_way(m->l2.cache, sub, id >> 3);
}

/* The queue back from the partition has room again. */
static void wake_partition(struct dram_memory *m, uint32_t sub)
{
    const uint32_t channel = sub / DRAM_SUBS;
    m->part[channel].full[sub % DRAM_SUBS] = false;
    dram_partition_wake(&m->part[channel]);
    m->due_core[channel] = 0;
}

/* What comes from DRAM: a sector fills its line, a PIM request is acknowledged. */
static bool take_back(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    const uint32_t id = number_first(s, &s->back, &m->back), which = id >> 3;
    if ((id >> 1 & 3) == DRAM_ID_PIM) {
        if (ring_full(&s->reply, &m->reply))
            return false;
        answer(m, s, sub, which);
    } else {
        const uint32_t *waiters;
        const uint32_t n = l2_fill(m->l2.cache, sub, which, &waiters);
        for (uint32_t i = 0; i < n; i++)
            m->out_of_memory |= !filled_push(s, waiters[i]);
    }
    if (ring_full(&s->back, &m->back))
        wake_partition(m, sub);
    ring_pop(&s->back);
    if (ring_count(&s->back))
        expect_back(m, s, sub);
    return true;
}

void l2_slice_expect(const struct dram_memory *m, uint32_t sub, uint32_t id)
{
    if ((id >> 1 & 3) == DRAM_ID_FETCH)
        l2_expect_fill(m->l2.cache, sub, id >> 3);
}

/* --- the L2 front --- */

/* Of stretches of DRAM_CAMP requests to DRAM: the busiest channel over the mean. */
static void note_camp(struct dram_memory *m, uint32_t channel)
{
    m->camp[channel]++;
    if (++m->camp_requests < DRAM_CAMP)
        return;
    uint32_t most = 0;
    for (uint32_t c = 0; c < m->channels; c++) {
        most = m->camp[c] > most ? m->camp[c] : most;
        m->camp[c] = 0;
    }
    m->stats.camp_sum += (double)most * m->channels / DRAM_CAMP;
    m->stats.camp_count++;
    m->camp_requests = 0;
}

static void to_dram(struct dram_memory *m, uint32_t sub, int v, struct dram_waiting request)
{
    const uint32_t channel = sub / DRAM_SUBS;
    dram_partition_push(&m->part[channel], (int)(sub % DRAM_SUBS), v, request);
    m->due_core[channel] = 0;
    m->waiting[channel / 64] |= UINT64_C(1) << channel % 64;
    m->dram_next = m->clocks.dram;
    if (!(request.flags & DRAM_IS_PIM))
        note_camp(m, channel);
}

/* What L2 evicts: one request of as many columns as the line has written sectors. It lies in the slice of the line
 * that takes its place. */
static void write_back(struct dram_memory *m, uint32_t sub, int v, const struct l2_result *r)
{
    const struct dram_addr a = dram_l2_decode(&m->l2, r->victim, false);
    const int sectors = __builtin_popcount(r->write_back);
    to_dram(m, sub, v,
            (struct dram_waiting){a.row, dram_id(DRAM_ID_WRITE_BACK, sub, 0), (uint8_t)a.bank,
                                  (uint8_t)(sectors | DRAM_IS_WRITE | DRAM_IS_POSTED)});
}

static void count(struct dram_memory *m, const struct l2_question *q, enum l2_answer answer)
{
    m->stats.reads += q->reads;
    m->stats.fetches += answer == L2_FETCH;
    m->stats.merges += answer == L2_MERGED;
}

/* A MEM packet at the front; false: it stays. */
static bool ask(struct dram_memory *m, struct dram_sub *s, uint32_t sub, int v, const struct dram_packet *packet)
{
    if (ring_full(&s->reply, &m->reply))
        return false;
    const struct l2_question q = {.addr = packet->addr,
                                  .slice = sub,
                                  .waiter = packet->flight,
                                  .room = dram_partition_room(&m->part[sub / DRAM_SUBS], (int)(sub % DRAM_SUBS), v),
                                  .reads = packet->kind != DRAM_KIND_WRITE,
                                  .writes = packet->kind != DRAM_KIND_READ,
                                  .whole = packet->whole && packet->kind == DRAM_KIND_WRITE};
    struct l2_result r;
    uint32_t miss;
    const enum l2_answer got = l2_take(m->l2.cache, &q, &r, &miss);
    if (got == L2_WAIT)
        return false;
    count(m, &q, got);
    if (got == L2_HIT)
        answer(m, s, sub, packet->flight);
    if (m->took && got == L2_HIT && q.reads)
        m->flight[packet->flight].took = DRAM_TOOK_L2_HIT;
    if (got == L2_FETCH)
        to_dram(m, sub, v,
                (struct dram_waiting){packet->row, dram_id(DRAM_ID_FETCH, sub, miss), (uint8_t)packet->bank, 1});
    if (r.write_back)
        write_back(m, sub, v, &r);
    return true;
}

/* The packet that is at the front now is asked about in the next cycle or later, the one behind it after that. */
static void expect(const struct dram_memory *m, const struct dram_sub *s, uint32_t sub, int v)
{
    const struct dram_ring *line = &s->l2[v];
    const struct dram_room *room = &m->to_l2[v];
    const struct dram_packet *first = packet_first(s, line, room);
    if (first->kind != DRAM_KIND_PIM)
        l2_expect_line(m->l2.cache, sub, first->addr);
    if (ring_count(line) < 2)
        return;
    const struct dram_packet *second = &s->packets[room->at + ((line->head + 1) & room->mask)];
    if (second->kind != DRAM_KIND_PIM)
        l2_expect(m->l2.cache, sub, second->addr);
}

static bool front(struct dram_memory *m, struct dram_sub *s, uint32_t sub)
{
    const struct dram_partition *part = &m->part[sub / DRAM_SUBS];
    unsigned able = s->some >> DRAM_VCS;
    for (int v = 0; v < DRAM_VCS; v++)
        if (able >> v & 1 && !dram_partition_room(part, (int)(sub % DRAM_SUBS), v))
            able &= ~(1u << v);
    while (able) {
        const int v = ring_turn(able, s->last_l2);
        struct dram_ring *from = &s->l2[v];
        able &= ~(1u << v);
        const struct dram_packet *packet = packet_first(s, from, &m->to_l2[v]);
        if (packet->kind == DRAM_KIND_PIM)
            to_dram(m, sub, v,
                    (struct dram_waiting){packet->row, dram_id(DRAM_ID_PIM, sub, packet->flight), (uint8_t)packet->bank,
                                          1 | DRAM_IS_WRITE | DRAM_IS_PIM});
        else if (!ask(m, s, sub, v, packet))
            continue;
        packet_pop(s, from, DRAM_VCS + (unsigned)v);
        s->last_l2 = (uint8_t)v;
        if (ring_count(from))
            expect(m, s, sub, v);
        return true;
    }
    return false;
}

/* Whether anything stands in it besides the raster delay and the replies. */
static bool holds(const struct dram_sub *s)
{
    return s->some || ring_count(&s->filled) || ring_count(&s->back);
}

int64_t l2_slice_cycle(struct dram_memory *m, uint32_t sub)
{
    struct dram_sub *s = &m->sub[sub];
    const int64_t t = m->clocks.core;
    bool moved = s->some & OF_NOC && leave_noc(m, s, sub, t);
    if (ring_count(&s->filled))
        moved |= leave_filled(m, s, sub);
    if (ring_count(&s->back))
        moved |= take_back(m, s, sub);
    if (s->some & OF_L2)
        moved |= front(m, s, sub);
    if (s->delay_due <= t)
        moved |= leave_delay(m, s, sub);
    if (moved && holds(s))
        return t + 1;
    return s->delay_due > t ? s->delay_due : INT64_MAX;
}
