/* access: one memory instruction of a warp, broken into the 128 B lines it touches, on its way into a trace.
 *
 * A lane that reads `bytes` bytes at an address marks the 32 B sectors that those bytes overlap; each touched line is
 * one RECORD_ACCESS (addr = line, flags = sector mask | access << 4, bytes = bytes per lane, id = block << 32 | warp in
 * block, group = launch), in the order in which the lanes touch them first. Extra columns: access (number of the
 * instruction, the same for all its lines) and pc. A launch is a RECORD_KERNEL before its accesses and a
 * RECORD_KERNEL_END behind them. The stream "accesses" has no time: its order is that of the source.
 * Example: 32 lanes read 4 B each from 0x1010 on: line 0x1000 with sectors 0 to 3 and line 0x1080 with sector 0.
 * Source: sector and line sizes: dissertation, section 2.3.3. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/store/store.h"

enum { ACCESS_LANES = 32, ACCESS_LINE = 128, ACCESS_SECTOR = 32, ACCESS_EXTRAS = 2, ACCESS_MOST_BYTES = 128 };

/* One touched line. */
struct access_line {
    uint64_t addr;
    uint32_t sectors; /* bits 0-3 */
};

/* The lines of n <= ACCESS_LANES addresses of `bytes` bytes each (1..ACCESS_MOST_BYTES), in order of first touch;
 * returns how many of lines[] (room for 2 * ACCESS_LANES) were filled. Addresses near the end of the address space are
 * cut there. */
int access_lines(const uint64_t *addrs, int n, uint32_t bytes, struct access_line *lines);

/* "X,Y,Z" or "(X,Y,Z)" to dim, whatever follows; false and dim as it was if the text is neither. */
bool access_dim(const char *text, uint32_t dim[3]);

/* What an access does, by the bits of a recording (1 reads, 2 writes, 4 atomic, 8 prefetches): enum record_access, one
 * that reads and writes being atomic; 0: it moves nothing. */
uint32_t access_of_flags(uint32_t flags);

struct access_sink {
    struct writer writer;
    int64_t accesses; /* instructions so far: number of the next */
    int64_t launch;   /* of the accesses being added */
};

struct access_op {
    const uint64_t *addrs; /* of the active lanes, in lane order */
    int lanes;
    uint32_t bytes;  /* per lane */
    uint32_t access; /* enum record_access: read, write or atomic */
    uint32_t block, warp;
    uint64_t pc;
};

/* Write to the stream "accesses" of the store, which is made if there is none. */
int access_open(struct access_sink *sink, struct store *store, struct err *err);
void access_close(struct access_sink *sink);

/* A launch begins; kernel: its row of table kernels, also the launch number. */
int access_launch(struct access_sink *sink, int64_t kernel, struct err *err);
int access_add(struct access_sink *sink, const struct access_op *op, struct err *err);
/* The same for one whose lines are known already: addrs and lanes of `op` count for nothing. */
int access_add_lines(struct access_sink *sink, const struct access_op *op, const struct access_line *lines, int n,
                     struct err *err);
int access_launch_end(struct access_sink *sink, struct err *err);

/* Store what is buffered. */
int access_flush(struct access_sink *sink, struct err *err);

/* The end of a recording whose accesses lie in order of arrival, or of what was read of it before an error: that is
 * kept, the trace stays incomplete. rc: what reading came to; *err is the first error's. Closes the sink. */
int access_finish(struct access_sink *sink, struct store *store, int rc, struct err *err);

/* --- the 128 B lines of one memory instruction, put together lane by lane, in order of first touch ---
 *
 * A line is mostly the one touched last, else mostly a new one: a filter of 256 bits tells new ones, so that 32 lanes
 * on 32 lines are not compared with each other. */

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
