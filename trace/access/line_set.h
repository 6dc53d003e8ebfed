/* line_set: the 128 B lines of one memory instruction, put together lane by lane, in order of first touch.
 *
 * A line is mostly the one touched last, else mostly a new one: a filter of 256 bits tells new ones, so that 32 lanes
 * on 32 lines are not compared with each other. */
#ifndef TRACE_ACCESS_LINE_SET_H
#define TRACE_ACCESS_LINE_SET_H

#include "trace/access/access.h"

struct line_set {
    struct access_line *line; /* the caller's: room for 2 * ACCESS_LANES */
    int n;
    uint64_t seen[4]; /* by a hash of the line */
};

/* Sectors first..last of a line. */
static inline uint32_t line_sectors(uint64_t first, uint64_t last)
{
    return (2u << last) - (1u << first);
}

static inline void line_set_mark(struct line_set *s, uint64_t line, uint32_t sectors)
{
    if (s->n && s->line[s->n - 1].addr == line) {
        s->line[s->n - 1].sectors |= sectors;
        return;
    }
    uint64_t hash = line * 0x9E3779B97F4A7C15u; /* of pages, too, whose lines have low bits in common */
    uint64_t bit = 1ull << (hash >> 58), *word = &s->seen[hash >> 56 & 3];
    for (int i = *word & bit ? s->n - 2 : -1; i >= 0; i--)
        if (s->line[i].addr == line) {
            s->line[i].sectors |= sectors;
            return;
        }
    *word |= bit;
    s->line[s->n++] = (struct access_line){line, sectors};
}

/* A lane's bytes, at most ACCESS_MOST_BYTES: one line or two; cut at the end of the address space. */
static inline void line_set_add(struct line_set *s, uint64_t first, uint32_t bytes)
{
    uint64_t in = first % ACCESS_LINE, line = first - in, last = in + bytes - 1;
    if (last < ACCESS_LINE || line > UINT64_MAX - ACCESS_LINE) {
        line_set_mark(s, line, line_sectors(in / ACCESS_SECTOR, last < ACCESS_LINE ? last / ACCESS_SECTOR : 3));
        return;
    }
    line_set_mark(s, line, line_sectors(in / ACCESS_SECTOR, 3));
    line_set_mark(s, line + ACCESS_LINE, line_sectors(0, (last - ACCESS_LINE) / ACCESS_SECTOR));
}

#endif
