/* l1: one multiprocessor's L1 data cache: which sectors of which lines are there, and which are on their way.
 *
 * Lines of 128 B with four sectors of 32 B. Of the sectors that a load looks up some are there; for some that are on
 * their way it waits with those that asked first; for the rest it asks. A line gets its place
 *   on fill: when its first sector arrives (a "streaming" cache: any number of misses may be under way);
 *   on miss: when it is first asked for, and keeps it while it waits; where all of a set wait, a value is not kept;
 *   by tag: when it is asked for, and loses it to the next line whether it waits or not: what comes then is not kept.
 * Of lines of another memory (join_cycles; all but `own`) another warp's load joins only while the miss has not left
 * L1, and asks for itself later (models/zerocopy/host_reads.h). Stores write through: they take no place, and drop a
 * sector that is there. A line without sectors gives its place up. Replaced: the line used longest ago, or one at
 * random. Worked example, two lines, fully associative, on fill, lru: read A sector 0: asked for; it comes; B 0 the
 * same; read A 0: there; C 0 comes and pushes out B; read A 1: asked for, although line A is there. A line's number is
 * its byte address / 128; sets are chosen by it, or by a hash of it. Loads are the caller's numbers, below 65,536.
 * Source: sectored L1 of Volta as in Khairy et al., ISCA 2020, section III-A; GPGPU-Sim 4.0.1, gpu-cache.cc, read as
 * data. Differs: the hash is ours; a store that is found does not count as use. */
#ifndef MODELS_GPU_L1_H
#define MODELS_GPU_L1_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { L1_LINE = 128, L1_SECTORS = 4 };
#define L1_NONE UINT32_MAX
enum l1_replacement { L1_LRU, L1_RANDOM };
enum l1_allocate { L1_ON_FILL, L1_ON_MISS, L1_BY_TAG };

/* Lines first to end - 1. */
struct l1_lines {
    uint64_t first, end;
};

struct l1_shape {
    uint32_t lines; /* 0: nothing is kept, but sectors on their way still merge */
    uint32_t ways;  /* lines of a set; 0: fully associative */
    enum l1_replacement replacement;
    enum l1_allocate allocate;
    bool hashed;          /* sets are chosen by a hash of the line's number, else by its low bits */
    uint64_t seed;        /* of random replacement */
    uint32_t join_cycles; /* so long after a sector is asked for, other warps wait with who asked; 0: until it comes */
    uint32_t warp_loads;  /* where there are join_cycles: loads of warp w are numbers from w x this on; */
    const struct l1_lines *own; /* loads of these lines wait with who asked whenever it was; must outlive */
    uint32_t owns;
};

struct l1;

/* Empty. lines is the most that l1_resize() may ask for. */
struct l1 *l1_new(const struct l1_shape *shape, struct err *err);
void l1_free(struct l1 *l1); /* NULL is allowed */

/* Empty it, forget what is on its way, and give it this many lines (up to those of l1_new()). */
void l1_resize(struct l1 *l1, uint32_t lines);

/* What is looked up and asked for next is so in cycle t, by this load; needed where there are join_cycles. */
void l1_for(struct l1 *l1, int64_t t, uint32_t load);

/* What a load finds of sectors (mask) of a line; entry: the line's, for the two calls below, L1_NONE: it has none. */
struct l1_found {
    uint32_t there, coming, entry;
};
struct l1_found l1_look(struct l1 *l1, uint64_t line, uint32_t sectors);

/* The line will be looked up soon: where that begins is fetched from this machine's memory. */
void l1_expect(const struct l1 *l1, uint64_t line);

/* The same, later: what was fetched says what to fetch next. */
void l1_expect_more(const struct l1 *l1, uint64_t line);

/* The same for an answer. */
void l1_expect_take(const struct l1 *l1, uint32_t token);

/* A load waits for a sector that is coming. -1: no memory. */
int l1_wait(struct l1 *l1, uint32_t entry, uint32_t sector, uint32_t load);

/* It asks for sectors (mask, not 0) that are neither there nor found coming; one that is on its way all the same is
 * asked for once more, and its answers come in the order of the asks. Returns the token that l1_take() wants for sector
 * 0, those of the others follow; below 2^28; L1_NONE: no memory. entry: as found. */
uint32_t l1_ask(struct l1 *l1, uint64_t line, uint32_t entry, uint32_t sectors, uint32_t load);

/* The sector has come. Returns the load that asked; then l1_next() the others, one a call, in the order in which they
 * came, L1_NONE after the last. Nothing else may be called in between. */
uint32_t l1_take(struct l1 *l1, uint32_t token);
uint32_t l1_next(struct l1 *l1);

/* Sectors (mask) are written. */
void l1_write(struct l1 *l1, uint64_t line, uint32_t sectors);

#endif
