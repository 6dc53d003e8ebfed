/* l1: one multiprocessor's L1 data cache: which sectors of which lines are valid, and which misses are pending.
 *
 * Lines of 128 B have four sectors of 32 B. For each sector a load hits, joins a pending miss, or fetches. A line is
 * allocated
 *     on fill: when its first sector arrives ("streaming": any number of misses may be pending);
 *     on miss: when it is first fetched; it stays while pending; in a set that is all pending no value is kept;
 *     by tag:  when it is fetched; the next line may replace it while it is pending, and its value is then not kept.
 *
 * For lines of another memory (join_cycles; all but `local`) another warp's load joins only while the miss has not left
 * L1; later it fetches the sector itself (models/zerocopy/host_reads.h). Stores write through: they take no place, and
 * drop a sector that is there. A line without sectors gives up its place. The line used longest ago, or a random one,
 * is replaced.
 *
 * Worked example, two lines, fully associative, on fill, lru: read A sector 0: miss, fill; B 0 the same; read A 0: hit;
 * C 0 fills and evicts B; read A 1: miss, although line A is valid.
 *
 * A line's number is its byte address / 128; the number or a hash of it selects the set. The caller numbers loads,
 * below 65,536. Source: sectored L1 of Volta as in Khairy et al., ISCA 2020, section III-A; GPGPU-Sim 4.0.1,
 * gpu-cache.cc, read as data. Differs: our own hash; a store that hits does not count as use. */
#pragma once

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
    uint32_t lines; /* 0: nothing is kept, but loads still merge with pending misses */
    uint32_t ways;  /* lines of a set; 0: fully associative */
    enum l1_replacement replacement;
    enum l1_allocate allocate;
    bool hashed;                  /* sets are chosen by a hash of the line's number, else by its low bits */
    uint64_t seed;                /* of random replacement */
    uint32_t join_cycles;         /* so long after a miss other warps' loads merge with it; 0: until it is filled */
    uint32_t warp_loads;          /* where there are join_cycles: loads of warp w are numbers from w x this on; */
    const struct l1_lines *local; /* lines whose pending misses any load merges with; must outlive */
    uint32_t local_count;
};

struct l1;

/* Empty. lines is the most that l1_resize() may ask for. */
struct l1 *l1_new(const struct l1_shape *shape, struct err *err);
void l1_free(struct l1 *l1); /* NULL is allowed */

/* Empties it, forgets pending misses, and gives it this many lines (up to those of l1_new()). */
void l1_resize(struct l1 *l1, uint32_t lines);

/* Sets the cycle and the load of the lookups and fetches to come; needed where there are join_cycles. */
void l1_set_load(struct l1 *l1, int64_t t, uint32_t load);

/* What a load finds of sectors (mask) of a line; entry: the line's, for l1_merge() and l1_fetch(), L1_NONE: none. */
struct l1_found {
    uint32_t hit, pending, entry;
};
struct l1_found l1_lookup(struct l1 *l1, uint64_t line, uint32_t sectors);

/* Prefetches the hash slot of a line that will be looked up soon from the host's memory. */
void l1_prefetch(const struct l1 *l1, uint64_t line);

/* Prefetches the entry that the slot names; call it some time after l1_prefetch(). */
void l1_prefetch_entry(const struct l1 *l1, uint64_t line);

/* Prefetches the entry of a sector that l1_fill() will get soon. */
void l1_prefetch_fill(const struct l1 *l1, uint32_t token);

/* Merges a load with the pending miss of a sector. -1: no memory. */
int l1_merge(struct l1 *l1, uint32_t entry, uint32_t sector, uint32_t load);

/* Fetches sectors (mask, not 0) that are neither valid nor pending. A pending one is fetched again, and answers come in
 * the order of fetches. Returns the token of sector 0 for l1_fill(), below 2^28, others follow; L1_NONE: no memory. */
uint32_t l1_fetch(struct l1 *l1, uint64_t line, uint32_t entry, uint32_t sectors, uint32_t load);

/* Fills a sector. Returns the load that fetched it; then l1_next_waiter() returns the merged loads in their order, one
 * a call, L1_NONE after the last. Nothing else may be called in between. */
uint32_t l1_fill(struct l1 *l1, uint32_t token);
uint32_t l1_next_waiter(struct l1 *l1);

/* Writes sectors (mask). */
void l1_write(struct l1 *l1, uint64_t line, uint32_t sectors);
