/* dram_line: flights in a row, first in, first out (struct dram_line of replay/dram/dram_memory.h). */
#ifndef REPLAY_DRAM_DRAM_LINE_H
#define REPLAY_DRAM_DRAM_LINE_H

#include <stdlib.h>

#include "replay/dram/dram_memory.h"
#include "trace/base/mem.h"

/* room 0: as many as come; it grows. */
static inline int line_init(struct dram_line *l, int64_t room, struct err *err)
{
    uint32_t n = 64;
    while (n < room)
        n *= 2;
    l->room = room ? (uint32_t)room : UINT32_MAX;
    l->mask = n - 1;
    l->at = mem_zalloc(n, sizeof *l->at, err);
    return l->at ? 0 : -1;
}

static inline uint32_t line_count(const struct dram_line *l)
{
    return l->tail - l->head;
}

static inline uint32_t line_free(const struct dram_line *l)
{
    return l->room - line_count(l);
}

static inline uint32_t line_first(const struct dram_line *l)
{
    return l->at[l->head & l->mask];
}

static inline void line_push(struct dram_line *l, uint32_t flight)
{
    l->at[l->tail++ & l->mask] = flight;
}

/* Twice as many. False: no memory. */
static inline bool line_grow(struct dram_line *l)
{
    const uint32_t n = line_count(l);
    uint32_t *at = mem_zalloc(2 * ((size_t)l->mask + 1), sizeof *at, NULL);
    if (!at)
        return false;
    for (uint32_t i = 0; i < n; i++)
        at[i] = l->at[(l->head + i) & l->mask];
    free(l->at);
    l->at = at;
    l->mask = 2 * l->mask + 1;
    l->head = 0;
    l->tail = n;
    return true;
}

/* Into a line without limit. False: no memory. */
static inline bool line_append(struct dram_line *l, uint32_t flight)
{
    if (line_count(l) > l->mask && !line_grow(l))
        return false;
    line_push(l, flight);
    return true;
}

#endif
