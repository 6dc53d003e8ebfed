/* l2: the L2 cache between the multiprocessors and DRAM; sectored, write-back, least recently used, in slices.
 *
 * Lines of 128 B have four sectors of 32 B. A read fetches its missing sectors; a write takes its sectors and fetches
 * nothing. Both evict the line of the set that was used longest ago, whose written sectors go back to DRAM. An atomic
 * reads and writes. Worked example, one set of two ways: read line A sectors 0-1 (fetch 2 sectors), write line B sector
 * 3 (nothing), read line A sectors 0-3 (fetch sectors 2-3), read line C (fetch; evicts B, sector 3 goes back).
 *
 * l2_access() counts a line at a time, as if everything came at once. l2_lookup() and l2_fill() take one sector and
 * know what is pending. A line is reserved from its miss until its data arrives; a read of a pending sector joins it. A
 * read or write waits where every way of its set is reserved, the miss table is full, the sector's entry has no room to
 * join, or DRAM has no room for what it sends. A partial write to a missing sector leaves it unreadable: the next read
 * fetches it, and then it is readable and written.
 *
 * Source: Accel-Sim's L2 of Volta (Khairy et al., ISCA 2020, section IV-B; gpgpusim.config of SM7_QV100, cache dl2
 * "S:32:128:24,L:B:m:L"); GPGPU-Sim-4.0.1 branch ISPASS_2025 (gpu-cache.cc: lazy fetch on read; hashing.cc), read as
 * data. Differs: no queue of 32 misses in front of the L2 to DRAM queue, and no data and fill ports, which one request
 * a cycle never fills. l2_access() treats a partial write of a sector as a whole one, since accesses are recorded by
 * sector. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { L2_LINE = 128, L2_SECTOR = 32, L2_MERGES_MAX = 8, L2_MISSES_MAX = 255 };

/* How a line finds its set in its slice: by the low bits of its number in the slice, or by that number as a polynomial
 * over GF(2), modulo an irreducible one of as many bits (for 32 sets x^5 + x^2 + 1). */
enum l2_hash { L2_HASH_NONE, L2_HASH_IPOLY };

struct l2_shape {
    int64_t bytes, ways; /* of all slices; bytes 0: no cache, every access goes to DRAM */
    uint32_t slices;     /* that share the sets evenly; 0 as 1 */
    uint64_t slice_bits; /* address bits that say which slice: no part of a line's number in it */
    uint32_t mod;    /* not 0: of an address >> mod_shift, the remainder by mod says the slice too; what is divided */
    int mod_shift;   /* out is no part of a line's number, and slice_bits are those of the address that is left */
    int64_t hash;    /* enum l2_hash */
    uint32_t misses; /* of a slice: sectors on their way at once, at most L2_MISSES_MAX; 0: l2_lookup() is not used */
    uint32_t merges; /* reads that wait for one sector, the first included, at most L2_MERGES_MAX */
};

struct l2;

/* What one access makes of DRAM: sector masks (bits 0-3). */
struct l2_result {
    uint32_t fetch;      /* sectors of the accessed line to be read */
    uint32_t write_back; /* sectors of `victim` to be written */
    uint64_t victim;     /* byte address of the evicted line */
};

/* One slice, no hash, bytes / (128 ways) sets, rounded down. */
struct l2 *l2_new(int64_t bytes, int64_t ways, struct err *err);
/* The same for any shape. An IPOLY hash needs 4 to 1,024 sets in a slice, a power of two. */
struct l2 *l2_open(const struct l2_shape *shape, struct err *err);
void l2_free(struct l2 *l2); /* NULL is allowed */

/* Access sectors (mask, not 0) of the line at addr (a multiple of 128). Of a cache of one slice. */
struct l2_result l2_access(struct l2 *l2, uint64_t addr, uint32_t sectors, bool reads, bool writes);

/* Call fn for every line with written sectors, in order of set and way, and forget that they were written. */
int l2_flush(struct l2 *l2, int (*fn)(void *ctx, uint64_t addr, uint32_t sectors), void *ctx);

/* --- with pending misses --- */

struct l2_request {
    uint64_t addr; /* of the sector: a multiple of 32 */
    uint32_t slice;
    uint32_t waiter; /* l2_fill() returns it */
    uint32_t room;   /* requests to DRAM that can be sent */
    bool reads, writes;
    bool whole; /* a write that covers the sector */
};

enum l2_answer {
    L2_HIT,    /* done */
    L2_FETCH,  /* the sector is to be read: entry `miss`; call l2_fill() when it arrives */
    L2_MERGED, /* merged with a pending miss */
    L2_WAIT    /* not now; nothing has changed */
};

/* Looks a sector up in a slice. result->write_back may be set with every answer but L2_WAIT: one request for the
 * victim's line. *miss is set for L2_FETCH. */
enum l2_answer l2_lookup(struct l2 *l2, const struct l2_request *request, struct l2_result *result, uint32_t *miss);

/* Fills the sector of that entry. Returns the number of *waiters, in their order, valid until the next l2_lookup(). */
uint32_t l2_fill(struct l2 *l2, uint32_t slice, uint32_t miss, const uint32_t **waiters);

/* Prefetches from the host's memory what lookups and fills to come will read. */
void l2_prefetch(const struct l2 *l2, uint32_t slice, uint64_t addr);
void l2_prefetch_line(const struct l2 *l2, uint32_t slice, uint64_t addr); /* after l2_prefetch(): the line */
void l2_prefetch_fill(const struct l2 *l2, uint32_t slice, uint32_t miss);
void l2_prefetch_way(const struct l2 *l2, uint32_t slice, uint32_t miss); /* after that: the line */

/* --- what is there, whatever brought it --- */

enum { L2_WHOLE = (1 << L2_LINE / L2_SECTOR) - 1 };

/* The line at addr is there and the one used last, with these sectors besides those it had: readable, written (masks).
 * What was written of the line that makes room is forgotten. Nothing happens where all ways of the set are reserved. */
void l2_put(struct l2 *l2, uint32_t slice, uint64_t addr, uint32_t valid, uint32_t dirty);

/* Call fn for every line, by slice and set, of a set the one used longest ago first. */
void l2_each(const struct l2 *l2, void (*fn)(void *ctx, uint64_t addr, uint32_t valid, uint32_t dirty), void *ctx);

/* Empty it; nothing may be on its way. */
void l2_clear(struct l2 *l2);
