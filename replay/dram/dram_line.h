/* dram_line: rings of replay/dram/dram_memory.h, first in, first out: struct dram_line of packets, struct dram_queue of
 * numbers, struct dram_delay of packets that wait for their time. `tail - head` wait. */
#ifndef REPLAY_DRAM_DRAM_LINE_H
#define REPLAY_DRAM_DRAM_LINE_H

#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_memory.h"
#include "trace/base/mem.h"

static inline uint32_t line_size(int64_t room)
{
    uint32_t n = 64;
    while (n < room)
        n *= 2;
    return n;
}

static inline int line_init(struct dram_line *l, int64_t room, struct err *err)
{
    const uint32_t n = line_size(room);
    *l = (struct dram_line){.at = mem_zalloc(n, sizeof *l->at, err), .mask = n - 1, .room = (uint32_t)room};
    return l->at ? 0 : -1;
}

/* room 0: as many as come; it grows. */
static inline int queue_init(struct dram_queue *q, int64_t room, struct err *err)
{
    const uint32_t n = line_size(room);
    *q = (struct dram_queue){.at = mem_zalloc(n, sizeof *q->at, err), .mask = n - 1, .room = (uint32_t)room};
    return q->at ? 0 : -1;
}

static inline int delay_init(struct dram_delay *d, struct err *err)
{
    const uint32_t n = line_size(256);
    *d = (struct dram_delay){.at = mem_zalloc(n, sizeof *d->at, err), .mask = n - 1};
    return d->at ? 0 : -1;
}

static inline uint32_t line_count(const struct dram_line *l)
{
    return l->tail - l->head;
}

static inline uint32_t line_free(const struct dram_line *l)
{
    return l->room - (l->tail - l->head);
}

static inline const struct dram_packet *line_first(const struct dram_line *l)
{
    return &l->at[l->head & l->mask];
}

static inline void line_push(struct dram_line *l, const struct dram_packet *packet)
{
    l->at[l->tail++ & l->mask] = *packet;
}

static inline uint32_t queue_count(const struct dram_queue *q)
{
    return q->tail - q->head;
}

static inline uint32_t queue_free(const struct dram_queue *q)
{
    return q->room - (q->tail - q->head);
}

static inline uint32_t queue_first(const struct dram_queue *q)
{
    return q->at[q->head & q->mask];
}

static inline void queue_push(struct dram_queue *q, uint32_t number)
{
    q->at[q->tail++ & q->mask] = number;
}

/* Twice the room of a ring of elements of `size` bytes. False: no memory. */
static inline bool ring_grow(void **at, uint32_t *head, uint32_t *tail, uint32_t *mask, size_t size)
{
    const uint32_t n = *tail - *head;
    char *to = mem_zalloc(2 * ((size_t)*mask + 1), size, NULL);
    if (!to)
        return false;
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + i * size, (char *)*at + ((*head + i) & *mask) * size, size);
    free(*at);
    *at = to;
    *mask = 2 * *mask + 1;
    *head = 0;
    *tail = n;
    return true;
}

/* Into a queue without limit. False: no memory. */
static inline bool queue_append(struct dram_queue *q, uint32_t number)
{
    if (q->tail - q->head > q->mask && !ring_grow((void **)&q->at, &q->head, &q->tail, &q->mask, sizeof *q->at))
        return false;
    queue_push(q, number);
    return true;
}

static inline bool delay_append(struct dram_delay *d, const struct dram_packet *packet, int64_t due)
{
    if (d->tail - d->head > d->mask && !ring_grow((void **)&d->at, &d->head, &d->tail, &d->mask, sizeof *d->at))
        return false;
    d->at[d->tail & d->mask].packet = *packet;
    d->at[d->tail++ & d->mask].due = due;
    return true;
}

/* When the first of them may go on; INT64_MAX: there is none. */
static inline int64_t delay_due(const struct dram_delay *d)
{
    return d->head != d->tail ? d->at[d->head & d->mask].due : INT64_MAX;
}

#endif
