#include "replay/dram/dram_memory.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE4_2__)
#include <immintrin.h>
#endif

#include "trace/base/mem.h"

/* Find the address bits that select the slice. With XORs no bits are the slice's alone: the whole line number selects
 * the set. */
static void slice_of_map(const struct dram_l2 *l, struct l2_shape *shape)
{
    const struct dram_map *map = &l->map;
    const uint64_t channel = dram_map_encode(map, (struct dram_addr){.channel = 1});
    const uint64_t sub = dram_map_encode(map, (struct dram_addr){.bank = DRAM_SUBS - 1});
    if (map->xors)
        return;
    if (!map->mod) {
        shape->slice_bits = dram_map_encode(map, (struct dram_addr){.channel = l->channels - 1, .bank = DRAM_SUBS - 1});
        return;
    }
    shape->mod = map->mod;
    shape->mod_shift = __builtin_ctzll(channel);
    shape->slice_bits = sub > channel ? sub / map->mod : sub;
}

/* The map must give as many channels as there are, and put a line into one slice. */
static int map_init(struct dram_l2 *l, const struct dram_platform *dram, struct err *err)
{
    if (dram_map_init(&l->map, dram->map, err))
        return -1;
    const struct dram_map *map = &l->map;
    const uint32_t mapped = map->mod ? map->mod : 1u << map->bits[DRAM_FIELD_CHANNEL];
    if (mapped != l->channels)
        return err_set(err, "[dram] has %u channels, its address map has %u; expected as many", l->channels, mapped);
    if (INT64_C(1) << map->bits[DRAM_FIELD_BANK] > dram->banks)
        return err_set(err, "[dram] has %lld banks, its address map has %lld; expected at most as many",
                       (long long)dram->banks, (long long)(INT64_C(1) << map->bits[DRAM_FIELD_BANK]));
    if (l->hash_channels && l->channels & (l->channels - 1))
        return err_set(err, "[dram] channel_hash is xor and there are %u channels; expected a power of two",
                       l->channels);
    for (uint64_t at = 0; at < L2_LINE; at += L2_SECTOR)
        if (dram_l2_sub(dram_map_decode(map, at), false) != dram_l2_sub(dram_map_decode(map, 0), false))
            return err_set(err, "[dram] map: a line of %d bytes lies on several channels or sub-partitions", L2_LINE);
    return 0;
}

/* Parts of the map that are looked at: not the byte, nor the column. */
static void leave_out(struct dram_map *map)
{
    int n = 0;
    for (int i = 0; i < map->parts; i++)
        if (map->part[i].field != DRAM_FIELD_BYTE && map->part[i].field != DRAM_FIELD_COLUMN)
            map->part[n++] = map->part[i];
    map->parts = n;
}

int dram_l2_init(struct dram_l2 *l, const struct dram_platform *dram, const struct gpu *gpu, struct err *err)
{
    *l = (struct dram_l2){.hash_channels = dram->channel_hash, .channels = (uint32_t)dram->channels};
    if (map_init(l, dram, err))
        return -1;
    l->wanted = l->map;
    leave_out(&l->wanted);
    dram_map_table_init(&l->table, &l->wanted);
    struct l2_shape shape = {.bytes = gpu->l2_bytes,
                             .ways = gpu->l2_ways,
                             .slices = l->channels * DRAM_SUBS,
                             .hash = gpu->l2_bytes ? dram->l2_set_hash : L2_HASH_NONE,
                             .misses = (uint32_t)dram->l2_misses,
                             .merges = (uint32_t)dram->l2_merges};
    slice_of_map(l, &shape);
    l->cache = l2_open(&shape, err);
    return l->cache ? 0 : -1;
}

void dram_l2_release(struct dram_l2 *l)
{
    l2_free(l->cache);
    l->cache = NULL;
}

void dram_l2_put(struct dram_l2 *l, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    l2_put(l->cache, dram_l2_sub(dram_l2_decode(l, addr, false), false), addr, valid, dirty);
}

void dram_l2_copy_in(struct dram_l2 *l, const struct program *program, uint64_t offset, int64_t l2_bytes)
{
    size_t n;
    const struct program_alloc *a = program->ops->allocs(program->state, &n);
    uint64_t left = (uint64_t)l2_bytes, skip[PROGRAM_ALLOCS] = {0};
    for (size_t i = n; i-- > 0;) {
        skip[i] = !a[i].host || !left ? a[i].bytes : a[i].bytes > left ? a[i].bytes - left : 0;
        left -= a[i].bytes - skip[i];
    }
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = (a[i].addr + skip[i]) & ~(uint64_t)(L2_LINE - 1); at < a[i].addr + a[i].bytes; at += L2_LINE)
            if (skip[i] < a[i].bytes)
                dram_l2_put(l, at + offset, L2_WHOLE, 0);
}

/* --- rings --- */

static inline uint32_t ring_count(const struct dram_ring *r)
{
    return r->tail - r->head;
}

static inline bool ring_full(const struct dram_ring *r, const struct dram_room *room)
{
    return r->tail - r->head == room->room;
}

static inline void ring_pop(struct dram_ring *r)
{
    if (++r->head == r->tail)
        r->head = r->tail = 0;
}

enum { OF_NOC = (1 << DRAM_VCS) - 1, OF_L2 = OF_NOC << DRAM_VCS }; /* of dram_subpartition.some */

/* Of two virtual channels that can be served, bits 0 and 1, the one that has not been served last. */
static inline int ring_turn(unsigned able, int last)
{
    return able == 3 ? !last : able == 2;
}

/* Packets of noc[] and l2[]. */
static inline const struct dram_packet *packet_first(const struct dram_subpartition *s, const struct dram_ring *r,
                                                     const struct dram_room *room)
{
    return &s->packets[room->at + (r->head & room->mask)];
}

static inline void packet_push(struct dram_subpartition *s, struct dram_ring *r, const struct dram_room *room,
                               unsigned bit, const struct dram_packet *packet)
{
    s->some |= (uint8_t)(1u << bit);
    s->packets[room->at + (r->tail++ & room->mask)] = *packet;
}

static inline void packet_pop(struct dram_subpartition *s, struct dram_ring *r, unsigned bit)
{
    if (++r->head != r->tail)
        return;
    r->head = r->tail = 0;
    s->some &= (uint8_t) ~(1u << bit);
}

/* Numbers of back, reply and away. */
static inline uint32_t number_first(const struct dram_subpartition *s, const struct dram_ring *r,
                                    const struct dram_room *room)
{
    return s->numbers[room->at + (r->head & room->mask)];
}

static inline void number_push(struct dram_subpartition *s, struct dram_ring *r, const struct dram_room *room,
                               uint32_t number)
{
    s->numbers[room->at + (r->tail++ & room->mask)] = number;
}

/* --- those that grow --- */

/* Twice the room of a ring of elements of `size` bytes. False: no memory. */
static inline bool ring_grow(void **at, struct dram_ring *r, uint32_t *mask, size_t size)
{
    const uint32_t n = ring_count(r);
    char *to = mem_zalloc(2 * ((size_t)*mask + 1), size, NULL);
    if (!to)
        return false;
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + i * size, (char *)*at + ((r->head + i) & *mask) * size, size);
    free(*at);
    *at = to;
    *mask = 2 * *mask + 1;
    r->head = 0;
    r->tail = n;
    return true;
}

/* False: no memory. */
static inline bool filled_push(struct dram_subpartition *s, uint32_t flight)
{
    if (ring_count(&s->filled) > s->filled_mask &&
        !ring_grow((void **)&s->fills, &s->filled, &s->filled_mask, sizeof *s->fills))
        return false;
    s->fills[s->filled.tail++ & s->filled_mask] = flight;
    return true;
}

/* False: no memory. */
static inline bool delay_push(struct dram_subpartition *s, const struct dram_packet *packet, int64_t due)
{
    if (ring_count(&s->delay) > s->delay_mask &&
        !ring_grow((void **)&s->delayed, &s->delay, &s->delay_mask, sizeof *s->delayed))
        return false;
    if (s->delay_due == INT64_MAX)
        s->delay_due = due;
    s->delayed[s->delay.tail++ & s->delay_mask] = (struct dram_delayed){*packet, due};
    return true;
}

static inline const struct dram_packet *delay_first(const struct dram_subpartition *s)
{
    return &s->delayed[s->delay.head & s->delay_mask].packet;
}

static inline void delay_pop(struct dram_subpartition *s)
{
    ring_pop(&s->delay);
    s->delay_due = ring_count(&s->delay) ? s->delayed[s->delay.head & s->delay_mask].due : INT64_MAX;
}

/* --- made and freed --- */

/* The ring takes its part of an array of *at places. */
static struct dram_room room_of(int64_t room, uint32_t *at)
{
    const uint32_t size = dram_ring_size((size_t)room);
    const struct dram_room r = {(uint32_t)room, size - 1, *at};
    *at += size;
    return r;
}

/* Every sub-partition of m, empty. Released after failure too. */
static int slices_init(struct dram_memory *m, const struct dram_platform *dram, struct err *err)
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
        struct dram_subpartition *s = &m->sub[i];
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

static void slices_release(struct dram_memory *m)
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

static int ports_init(struct dram_memory *m, const struct dram_port *ports, uint32_t count, struct err *err)
{
    m->ports = count;
    for (uint32_t p = 0; p < count; p++) {
        m->port[p] = ports[p];
        m->first[p] = m->sms;
        m->sms += ports[p].sms;
        m->shown[p] = mem_zalloc((ports[p].sms + 63) / 64, sizeof *m->shown[p], err);
        if (!m->shown[p])
            return -1;
    }
    m->head = mem_zalloc(m->sms, sizeof *m->head, err);
    return m->head && !crossbar_init(&m->to, m->sms, m->subs, err) && !crossbar_init(&m->from, m->subs, m->sms, err)
               ? 0
               : -1;
}

int dram_memory_init(struct dram_memory *m, const struct platform *platform, const struct replay_policy *policy,
                     int vcs, const struct dram_port *ports, uint32_t count, struct err *err)
{
    const struct dram_platform *dram = platform_section_get(platform, "dram");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    memset(m, 0, sizeof *m);
    m->vcs = vcs;
    m->channels = (uint32_t)dram->channels;
    m->subs = m->channels * DRAM_SUBS;
    m->rop = dram->rop_latency;
    dram_clocks_init(&m->clocks, gpu->clock_hz, dram->clock_hz);
    if (dram_l2_init(&m->l2, dram, gpu, err) || ports_init(m, ports, count, err))
        return -1;
    m->awake = mem_zalloc((m->subs + 63) / 64, sizeof *m->awake, err);
    m->due = mem_zalloc((m->subs + 63) / 64, sizeof *m->due, err);
    m->replying = mem_zalloc((m->subs + 63) / 64, sizeof *m->replying, err);
    m->part = mem_zalloc(m->channels, sizeof *m->part, err);
    m->due_dram = mem_zalloc(m->channels + 1, sizeof *m->due_dram, err);
    m->due_core = mem_zalloc(m->channels + 1, sizeof *m->due_core, err);
    m->waiting = mem_zalloc((m->channels + 63) / 64, sizeof *m->waiting, err);
    m->camp = mem_zalloc(m->channels, sizeof *m->camp, err);
    if (!m->awake || !m->due || !m->replying || !m->part || !m->due_dram || !m->due_core || !m->waiting || !m->camp ||
        slices_init(m, dram, err) || wheel_init(&m->delays, m->subs, err))
        return -1;
    wheel_reset(&m->delays, 0);
    for (uint32_t c = 0; c < m->channels; c++)
        if (dram_partition_init(&m->part[c], platform, policy, vcs, err))
            return -1;
    return 0;
}

void dram_memory_release(struct dram_memory *m)
{
    slices_release(m);
    for (uint32_t c = 0; m->part && c < m->channels; c++)
        dram_partition_release(&m->part[c]);
    for (uint32_t p = 0; p < DRAM_PORTS; p++)
        free(m->shown[p]);
    crossbar_release(&m->to);
    crossbar_release(&m->from);
    dram_l2_release(&m->l2);
    free(m->head);
    wheel_release(&m->delays);
    free(m->awake);
    free(m->due);
    free(m->replying);
    free(m->part);
    free(m->due_dram);
    free(m->due_core);
    free(m->waiting);
    free(m->flight);
    free(m->unused);
    free(m->camp);
    memset(m, 0, sizeof *m);
}

enum { NOC_FREE = 4 }; /* free places of the L2 queue that the interconnect asks for (artifact: SECTOR_CHUNCK_SIZE) */

/* --- a cycle of one sub-partition: from the output buffer through its slice of L2 to the L2 to DRAM queues, and from
 * DRAM back to the replies --- */

/* Whether the interconnect has room for packets of virtual channel v from now on. */
static void set_room(struct dram_memory *m, uint32_t sub, int v, bool room)
{
    crossbar_set_room(&m->to, sub, (uint32_t)v, room);
    if (m->vcs == 1) /* of both classes */
        crossbar_set_room(&m->to, sub, 1, room);
}

/* One packet leaves the interconnect: MEM into the raster delay, PIM into its L2 queue. */
static bool leave_noc(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub, int64_t t)
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
        set_room(m, sub, v, true);
    packet_pop(s, from, (unsigned)v);
    s->last_noc = (uint8_t)v;
    return true;
}

/* The raster delay ends: one goes into the L2 queue. */
static bool leave_delay(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub)
{
    if (ring_full(&s->l2[0], &m->to_l2[0]))
        return false;
    const struct dram_packet *packet = delay_first(s);
    packet_push(s, &s->l2[0], &m->to_l2[0], DRAM_VCS, packet);
    if (ring_count(&s->l2[0]) <= 2)
        l2_prefetch(m->l2.cache, sub, packet->addr);
    delay_pop(s);
    return true;
}

static void answer(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub, uint32_t flight)
{
    number_push(s, &s->reply, &m->reply, flight);
    m->replying[sub / 64] |= UINT64_C(1) << sub % 64;
    __builtin_prefetch(&m->flight[flight]);
}

/* Answer one read whose sector has arrived. */
static bool leave_filled(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub)
{
    if (ring_full(&s->reply, &m->reply))
        return false;
    answer(m, s, sub, s->fills[s->filled.head & s->filled_mask]);
    ring_pop(&s->filled);
    return true;
}

/* The next that comes from DRAM. */
static void prefetch_back(const struct dram_memory *m, const struct dram_subpartition *s, uint32_t sub)
{
    const uint32_t id = number_first(s, &s->back, &m->back);
    if ((id >> 1 & 3) == DRAM_ID_FETCH)
        l2_prefetch_way(m->l2.cache, sub, id >> 3);
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
static bool take_back(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub)
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
        prefetch_back(m, s, sub);
    return true;
}

/* Prefetch, into this machine's caches, the data that the next cycle needs for a completed request. */
static void prefetch_fill(const struct dram_memory *m, uint32_t sub, uint32_t id)
{
    if ((id >> 1 & 3) == DRAM_ID_FETCH)
        l2_prefetch_fill(m->l2.cache, sub, id >> 3);
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

/* Write back an evicted line: one request of as many columns as it has written sectors. It belongs to the slice of its
 * successor. */
static void write_back(struct dram_memory *m, uint32_t sub, int v, const struct l2_result *r)
{
    const struct dram_addr a = dram_l2_decode(&m->l2, r->victim, false);
    const int sectors = __builtin_popcount(r->write_back);
    to_dram(m, sub, v,
            (struct dram_waiting){a.row, dram_id(DRAM_ID_WRITE_BACK, sub, 0), (uint8_t)a.bank,
                                  (uint8_t)(sectors | DRAM_IS_WRITE | DRAM_IS_POSTED)});
}

static void count_answer(struct dram_memory *m, const struct l2_request *q, enum l2_answer answer)
{
    m->stats.reads += q->reads;
    m->stats.fetches += answer == L2_FETCH;
    m->stats.merges += answer == L2_MERGED;
}

/* A MEM packet at the front; false: it stays. */
static bool ask(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub, int v,
                const struct dram_packet *packet)
{
    if (ring_full(&s->reply, &m->reply))
        return false;
    const struct l2_request q = {.addr = packet->addr,
                                 .slice = sub,
                                 .waiter = packet->flight,
                                 .room = dram_partition_room(&m->part[sub / DRAM_SUBS], (int)(sub % DRAM_SUBS), v),
                                 .reads = packet->kind != DRAM_KIND_WRITE,
                                 .writes = packet->kind != DRAM_KIND_READ,
                                 .whole = packet->whole && packet->kind == DRAM_KIND_WRITE};
    struct l2_result r;
    uint32_t miss;
    const enum l2_answer got = l2_lookup(m->l2.cache, &q, &r, &miss);
    if (got == L2_WAIT)
        return false;
    count_answer(m, &q, got);
    if (got == L2_HIT)
        answer(m, s, sub, packet->flight);
    if (got == L2_FETCH)
        to_dram(m, sub, v,
                (struct dram_waiting){packet->row, dram_id(DRAM_ID_FETCH, sub, miss), (uint8_t)packet->bank, 1});
    if (r.write_back)
        write_back(m, sub, v, &r);
    return true;
}

/* The packet that is at the front now is asked about in the next cycle or later, the one behind it after that. */
static void prefetch_front(const struct dram_memory *m, const struct dram_subpartition *s, uint32_t sub, int v)
{
    const struct dram_ring *line = &s->l2[v];
    const struct dram_room *room = &m->to_l2[v];
    const struct dram_packet *first = packet_first(s, line, room);
    if (first->kind != DRAM_KIND_PIM)
        l2_prefetch_line(m->l2.cache, sub, first->addr);
    if (ring_count(line) < 2)
        return;
    const struct dram_packet *second = &s->packets[room->at + ((line->head + 1) & room->mask)];
    if (second->kind != DRAM_KIND_PIM)
        l2_prefetch(m->l2.cache, sub, second->addr);
}

static bool front(struct dram_memory *m, struct dram_subpartition *s, uint32_t sub)
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
            prefetch_front(m, s, sub, v);
        return true;
    }
    return false;
}

/* Whether a sub-partition holds anything besides the raster delay and the replies. */
static bool holds(const struct dram_subpartition *s)
{
    return s->some || ring_count(&s->filled) || ring_count(&s->back);
}

/* Returns the cycle in which it may move something again if nothing comes: INT64_MAX: none. */
static int64_t slice_cycle(struct dram_memory *m, uint32_t sub)
{
    struct dram_subpartition *s = &m->sub[sub];
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

/* A sub-partition may move something in the next core cycle that is looked at. */
static inline void wake_sub(struct dram_memory *m, uint32_t sub)
{
    m->awake[sub / 64] |= UINT64_C(1) << sub % 64;
}

/* --- flights --- */

static bool more_flights(struct dram_memory *m)
{
    const uint32_t n = m->flights ? 2 * m->flights : 4096;
    struct dram_inflight *flight = realloc(m->flight, n * sizeof *flight);
    if (flight)
        m->flight = flight;
    uint32_t *unused = realloc(m->unused, n * sizeof *unused);
    if (unused)
        m->unused = unused;
    if (!flight || !unused)
        return false;
    for (uint32_t i = n; i-- > m->flights;)
        m->unused[m->unused_count++] = i;
    m->flights = n;
    return true;
}

/* --- from and to the multiprocessors --- */

static uint32_t port_of(const struct dram_memory *m, uint32_t input)
{
    return m->ports == 2 && input >= m->first[1];
}

static enum dram_kind kind_of(const struct sms_packet *packet)
{
    if (packet->kind == PROGRAM_PIM)
        return DRAM_KIND_PIM;
    if (packet->kind == RECORD_READ)
        return DRAM_KIND_READ;
    return packet->kind == RECORD_WRITE ? DRAM_KIND_WRITE : DRAM_KIND_ATOMIC;
}

/* The packet at the head of an input is shown to the crossbar. */
static void show(struct dram_memory *m, uint32_t p, uint32_t sm)
{
    const struct dram_port *port = &m->port[p];
    const struct sms_packet *packet = port->head(port->ctx, sm);
    const uint32_t input = m->first[p] + sm;
    const enum dram_kind kind = kind_of(packet);
    const bool pim = kind == DRAM_KIND_PIM;
    const uint64_t addr = packet->addr + port->offset;
    const struct dram_addr at = dram_l2_decode(&m->l2, addr, pim);
    m->head[input] = (struct dram_input_head){
        {.addr = addr, .row = at.row & 0xffffff, .bank = at.bank & 31, .kind = kind & 3, .whole = packet->whole},
        packet->token};
    m->shown[p][sm / 64] |= UINT64_C(1) << sm % 64;
    crossbar_show(&m->to, input, dram_l2_sub(at, pim), pim);
}

static void show_new(struct dram_memory *m)
{
    for (uint32_t p = 0; p < m->ports; p++)
        for (uint32_t w = 0; w < (m->port[p].sms + 63) / 64; w++)
            for (uint64_t new = m->port[p].heads[w] & ~m->shown[p][w]; new; new &= new - 1)
                show(m, p, w * 64 + (uint32_t)__builtin_ctzll(new));
}

/* The head of an input enters the interconnect. */
static void send(struct dram_memory *m, uint32_t input, uint32_t sub)
{
    if (!m->unused_count && !more_flights(m)) {
        m->out_of_memory = true;
        return;
    }
    const uint32_t p = port_of(m, input), sm = input - m->first[p], flight = m->unused[--m->unused_count];
    struct dram_packet packet = m->head[input].packet;
    const bool pim = packet.kind == DRAM_KIND_PIM;
    const int v = m->vcs == 2 && pim;
    struct dram_subpartition *s = &m->sub[sub];
    packet.flight = flight;
    m->flight[flight] = (struct dram_inflight){m->clocks.dram, m->head[input].token, (uint16_t)input, pim};
    if (!ring_count(&s->noc[v])) /* else it waits behind another */
        wake_sub(m, sub);
    packet_push(s, &s->noc[v], &m->noc[v], (unsigned)v, &packet);
    if (ring_full(&s->noc[v], &m->noc[v]))
        set_room(m, sub, v, false);
    m->stats.packets[pim]++;
    m->in_flight++;
    m->port[p].pop(m->port[p].ctx, sm, m->clocks.core);
    if (m->port[p].heads[sm / 64] >> sm % 64 & 1)
        show(m, p, sm);
    else
        m->shown[p][sm / 64] &= ~(UINT64_C(1) << sm % 64);
}

static void requests_move(struct dram_memory *m)
{
    for (int32_t o = crossbar_next(&m->to, 0); o >= 0; o = crossbar_next(&m->to, (uint32_t)o + 1)) {
        const int32_t input = crossbar_take(&m->to, (uint32_t)o);
        if (input >= 0)
            send(m, (uint32_t)input, (uint32_t)o);
    }
}

static void show_reply(struct dram_memory *m, uint32_t sub)
{
    const struct dram_subpartition *s = &m->sub[sub];
    if (!ring_count(&s->away))
        return;
    const struct dram_inflight *f = &m->flight[number_first(s, &s->away, &m->away)];
    const uint32_t p = port_of(m, f->input);
    crossbar_show(&m->from, sub, f->input, 0);
    if (m->port[p].prefetch_reply)
        m->port[p].prefetch_reply(m->port[p].ctx, f->input - m->first[p], f->token);
}

/* A reply from each sub-partition's queue enters the interconnect. */
static void replies_enter(struct dram_memory *m)
{
    for (uint32_t w = 0; w < (m->subs + 63) / 64; w++)
        for (uint64_t some = m->replying[w]; some; some &= some - 1) {
            const uint32_t sub = w * 64 + (uint32_t)__builtin_ctzll(some);
            struct dram_subpartition *s = &m->sub[sub];
            if (ring_full(&s->away, &m->away))
                continue;
            number_push(s, &s->away, &m->away, number_first(s, &s->reply, &m->reply));
            if (ring_full(&s->reply, &m->reply))
                wake_sub(m, sub);
            ring_pop(&s->reply);
            if (ring_count(&s->away) == 1)
                show_reply(m, sub);
            if (!ring_count(&s->reply))
                m->replying[w] &= ~(UINT64_C(1) << sub % 64);
        }
}

/* Each multiprocessor takes one. */
static void replies_leave(struct dram_memory *m)
{
    for (int32_t o = crossbar_next(&m->from, 0); o >= 0; o = crossbar_next(&m->from, (uint32_t)o + 1)) {
        const int32_t sub = crossbar_take(&m->from, (uint32_t)o);
        if (sub < 0)
            continue;
        struct dram_subpartition *s = &m->sub[sub];
        const uint32_t flight = number_first(s, &s->away, &m->away), p = port_of(m, (uint32_t)o);
        const struct dram_inflight *f = &m->flight[flight];
        ring_pop(&s->away);
        m->stats.answered[f->pim]++;
        m->stats.answer_cycles[f->pim] += m->clocks.dram - f->since;
        m->in_flight--;
        m->port[p].reply(m->port[p].ctx, (uint32_t)o - m->first[p], f->token, m->clocks.core);
        m->unused[m->unused_count++] = flight;
        show_reply(m, (uint32_t)sub);
    }
}

/* --- cycles --- */

/* The sub-partitions that may move something do. */
static void slices_cycle(struct dram_memory *m, int64_t t)
{
    const bool ends = wheel_take(&m->delays, t, m->due);
    for (uint32_t w = 0; w < (m->subs + 63) / 64; w++) {
        const uint64_t some = m->awake[w] | (ends ? m->due[w] : 0);
        m->awake[w] = 0;
        for (uint64_t rest = some; rest; rest &= rest - 1) {
            const uint32_t sub = w * 64 + (uint32_t)__builtin_ctzll(rest);
            const int64_t next = slice_cycle(m, sub);
            if (next == t + 1)
                wake_sub(m, sub);
            else if (next != INT64_MAX)
                wheel_set(&m->delays, sub, next);
        }
    }
}

void dram_memory_core(struct dram_memory *m)
{
    const int64_t t = m->clocks.core;
    if (t < m->core_next)
        return;
    replies_enter(m);
    slices_cycle(m, t);
    show_new(m);
    requests_move(m);
    replies_leave(m);
    bool more = !crossbar_empty(&m->to) || !crossbar_empty(&m->from);
    for (uint32_t w = 0; w < (m->subs + 63) / 64; w++)
        more |= (m->replying[w] | m->awake[w]) != 0;
    m->core_next = more ? t + 1 : m->delays.next;
}

/* Move completed requests out of the channel while the queue to L2 has room. */
static void leave(struct dram_memory *m, uint32_t c, int64_t k)
{
    struct dram_partition *part = &m->part[c];
    const struct dram_completion *done = dram_partition_done(part, k);
    for (; done; done = dram_partition_done(part, k)) {
        const uint32_t sub = c * DRAM_SUBS + done->id % DRAM_SUBS;
        if (!(done->flags & DRAM_IS_POSTED)) {
            struct dram_subpartition *s = &m->sub[sub];
            if (ring_full(&s->back, &m->back))
                return;
            number_push(s, &s->back, &m->back, done->id);
            m->core_next = m->clocks.core;
            wake_sub(m, sub);
            prefetch_fill(m, sub, done->id);
            part->full[sub % DRAM_SUBS] = ring_full(&s->back, &m->back);
        }
        dram_partition_leave(part, (int)(sub % DRAM_SUBS));
    }
}

/* DRAM cycle k of a channel that is due. */
static void channel_cycle(struct dram_memory *m, uint32_t c, int64_t k)
{
    struct dram_partition *part = &m->part[c];
    const int64_t core = m->clocks.core;
    dram_partition_step(part, k);
    if (part->done_next <= k)
        leave(m, c, k);
    if (dram_partition_move(part, k, core) & DRAM_MOVED_IN) {
        const uint32_t sub = c * DRAM_SUBS + part->last_sub; /* it has room again */
        if (m->sub[sub].some & OF_L2) {
            wake_sub(m, sub);
            m->core_next = core;
        }
    }
    m->due_dram[c] = part->next < part->done_next ? part->next : part->done_next;
    m->due_core[c] = part->move_at;
    const uint64_t bit = UINT64_C(1) << c % 64;
    m->waiting[c / 64] = dram_partition_waits(part) ? m->waiting[c / 64] | bit : m->waiting[c / 64] & ~bit;
}

/* The DRAM cycle behind k in which anything may happen. */
static int64_t dram_next(const struct dram_memory *m, int64_t k)
{
    for (uint32_t w = 0; w < (m->channels + 63) / 64; w++)
        if (m->waiting[w])
            return k + 1;
    int64_t next = INT64_MAX;
    for (uint32_t c = 0; c < m->channels; c++)
        next = m->part[c].next < next ? m->part[c].next : next;
    return next > k ? next : k + 1;
}

static uint64_t channels_due(const struct dram_memory *m, uint32_t first, int64_t k, int64_t core)
{
    const uint32_t n = m->channels - first < 64 ? m->channels - first : 64;
    uint64_t due = 0;
#if defined(__SSE4_2__)
    for (uint32_t i = 0; i < n; i += 2) {
        const __m128i d = _mm_loadu_si128((const __m128i *)&m->due_dram[first + i]);
        const __m128i c = _mm_loadu_si128((const __m128i *)&m->due_core[first + i]);
        const __m128i later =
            _mm_and_si128(_mm_cmpgt_epi64(d, _mm_set1_epi64x(k)), _mm_cmpgt_epi64(c, _mm_set1_epi64x(core)));
        due |= (uint64_t)(~_mm_movemask_pd(_mm_castsi128_pd(later)) & 3) << i;
    }
    return n < 64 ? due & ((UINT64_C(1) << n) - 1) : due;
#else
    for (uint32_t i = 0; i < n; i++)
        due |= (uint64_t)(m->due_dram[first + i] <= k || m->due_core[first + i] <= core) << i;
    return due;
#endif
}

void dram_memory_dram(struct dram_memory *m)
{
    const int64_t k = m->clocks.dram, core = m->clocks.core;
    if (k < m->dram_next)
        return;
    for (uint32_t first = 0; first < m->channels; first += 64)
        for (uint64_t due = channels_due(m, first, k, core); due; due &= due - 1)
            channel_cycle(m, first + (uint32_t)__builtin_ctzll(due), k);
    m->dram_next = dram_next(m, k);
}

int dram_memory_check(const struct dram_memory *m, bool finished, struct err *err)
{
    const uint64_t sent = m->stats.packets[0] + m->stats.packets[1];
    if (m->out_of_memory)
        return err_set(err, "out of memory");
    const uint64_t replies = (uint64_t)(m->stats.answered[0] + m->stats.answered[1]);
    if (sent != replies + m->in_flight || (finished && m->in_flight))
        return err_set(err, "packet conservation check failed: %llu packets sent, %llu replies, %u on their way",
                       (unsigned long long)sent, (unsigned long long)replies, m->in_flight);
    for (uint32_t c = 0; c < m->channels; c++) {
        if (dram_channel_check(m->part[c].channel, false, err))
            return err_at(err, "channel %u", c);
        const int32_t credits = dram_partition_credits(&m->part[c]);
        if (credits < 0 || credits > m->part[c].shared + DRAM_SUBS)
            return err_set(err, "credit check failed: channel %u holds %d", c, credits);
    }
    return 0;
}
