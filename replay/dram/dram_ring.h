/* dram_line: the rings of a sub-partition of replay/dram/dram_memory.h. */
#ifndef REPLAY_DRAM_DRAM_RING_H
#define REPLAY_DRAM_DRAM_RING_H

#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_memory.h"
#include "trace/base/mem.h"

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

enum { OF_NOC = (1 << DRAM_VCS) - 1, OF_L2 = OF_NOC << DRAM_VCS }; /* of dram_sub.some */

/* Of two virtual channels that can be served, bits 0 and 1, the one that has not been served last. */
static inline int ring_turn(unsigned able, int last)
{
    return able == 3 ? !last : able == 2;
}

/* Packets of noc[] and l2[]. */
static inline const struct dram_packet *packet_first(const struct dram_sub *s, const struct dram_ring *r,
                                                     const struct dram_room *room)
{
    return &s->packets[room->at + (r->head & room->mask)];
}

static inline void packet_push(struct dram_sub *s, struct dram_ring *r, const struct dram_room *room, unsigned bit,
                               const struct dram_packet *packet)
{
    s->some |= (uint8_t)(1u << bit);
    s->packets[room->at + (r->tail++ & room->mask)] = *packet;
}

static inline void packet_pop(struct dram_sub *s, struct dram_ring *r, unsigned bit)
{
    if (++r->head != r->tail)
        return;
    r->head = r->tail = 0;
    s->some &= (uint8_t) ~(1u << bit);
}

/* Numbers of back, reply and away. */
static inline uint32_t number_first(const struct dram_sub *s, const struct dram_ring *r, const struct dram_room *room)
{
    return s->numbers[room->at + (r->head & room->mask)];
}

static inline void number_push(struct dram_sub *s, struct dram_ring *r, const struct dram_room *room, uint32_t number)
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
static inline bool filled_push(struct dram_sub *s, uint32_t flight)
{
    if (ring_count(&s->filled) > s->filled_mask &&
        !ring_grow((void **)&s->fills, &s->filled, &s->filled_mask, sizeof *s->fills))
        return false;
    s->fills[s->filled.tail++ & s->filled_mask] = flight;
    return true;
}

/* False: no memory. */
static inline bool delay_push(struct dram_sub *s, const struct dram_packet *packet, int64_t due)
{
    if (ring_count(&s->delay) > s->delay_mask &&
        !ring_grow((void **)&s->delayed, &s->delay, &s->delay_mask, sizeof *s->delayed))
        return false;
    if (s->delay_due == INT64_MAX)
        s->delay_due = due;
    s->delayed[s->delay.tail++ & s->delay_mask] = (struct dram_delayed){*packet, due};
    return true;
}

static inline const struct dram_packet *delay_first(const struct dram_sub *s)
{
    return &s->delayed[s->delay.head & s->delay_mask].packet;
}

static inline void delay_pop(struct dram_sub *s)
{
    ring_pop(&s->delay);
    s->delay_due = ring_count(&s->delay) ? s->delayed[s->delay.head & s->delay_mask].due : INT64_MAX;
}

#endif
