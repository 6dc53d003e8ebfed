/* pattern: how a kernel walks the parts of a structure that it reads; the policies of the zero-copy engine.
 *
 * A pattern counts requests by size, in closed form where one exists, and can expand the same scans into the requests
 * themselves, exactly and slowly. A counter is made for a view (a structure under a reuse rule) and fed one launch. */
#pragma once

#include <assert.h>

#include "models/base/policy.h"
#include "models/zerocopy/warp.h"

/* Which rows of a table are served without the link: the best rows by score in each GPU's local memory
 * (replicated), the next best spread over the GPUs (peers), the rest in host memory.
 *
 * Row of rank r, of N rows and g GPUs, seen from GPU 0: local while r < local N; then shared part row i = r - local N
 * of M = shared N: interleave puts it on GPU i mod g, block on GPU i div ceil(M / g); the rest crosses PCIe.
 *
 * Worked example: N = 100, local 10 %, shared 20 %, 4 GPUs: ranks 0..9 local; ranks 10, 14, 18, 22, 26 local by
 * interleave, the other 15 of 10..29 on peers; 70 cross the link. By block ranks 10..14 are local.
 *
 * Source: Min 2022 (docs/papers.md), sections 4.2.3 and 4.3, listing 4.1. Differs: the listing's index lacks the
 * brackets of (row - local) div g. */
enum residency_place { RESIDENCY_LOCAL, RESIDENCY_PEER, RESIDENCY_LINK };
enum residency_layout { RESIDENCY_INTERLEAVE, RESIDENCY_BLOCK };

struct residency {
    const uint32_t *rank; /* of each row, 0 the hottest; NULL: nothing is resident */
    bool by_lookup;       /* of each lookup instead: its depth in a cache (row_cache.h) */
    uint64_t first;       /* the launch's first lookup */
    uint64_t rows;
    uint64_t local, shared; /* rows */
    uint64_t gpus;
    enum residency_layout layout;
};

/* percents: 0..100, together at most 100 (asserted). rank is not copied. */
static inline void residency_init(struct residency *residency, const uint32_t *rank, uint64_t rows, double local_pct,
                                  double shared_pct, uint64_t gpus, enum residency_layout layout)
{
    assert(local_pct >= 0 && shared_pct >= 0 && local_pct + shared_pct <= 100 && gpus > 0);
    *residency = (struct residency){.rank = rank,
                                    .rows = rows,
                                    .local = (uint64_t)((double)rows * local_pct / 100),
                                    .shared = (uint64_t)((double)rows * shared_pct / 100),
                                    .gpus = gpus,
                                    .layout = layout};
}

static inline enum residency_place residency_of(const struct residency *r, uint64_t row)
{
    if (!r->rank || row >= r->rows)
        return RESIDENCY_LINK;
    uint64_t rank = r->rank[row];
    if (rank < r->local)
        return RESIDENCY_LOCAL;
    if (rank >= r->local + r->shared)
        return RESIDENCY_LINK;
    uint64_t i = rank - r->local, part = (r->shared + r->gpus - 1) / r->gpus;
    uint64_t gpu = r->layout == RESIDENCY_INTERLEAVE ? i % r->gpus : i / part;
    return gpu == 0 ? RESIDENCY_LOCAL : RESIDENCY_PEER;
}

/* Where a launch finds a row of so many elements. */
static inline enum residency_place residency_at(const struct residency *r, const struct scan *scan, uint64_t elements)
{
    return residency_of(r, r->by_lookup ? r->first + scan->lane : scan->first / elements);
}

/* A structure as a kernel reads it. */
struct pattern_view {
    enum scan_shape shape;
    enum scan_reuse reuse; /* not REUSE_AUTO */
    enum request_rule request;
    uint64_t base;    /* byte address of element 0 */
    uint32_t element; /* bytes: 1, 2, 4, 8 or 16 */
    uint32_t round;   /* aligned: the first index is rounded down to a multiple of this many elements */
    bool unmasked_head;
    uint64_t chunk;                    /* SCAN_ARRAY */
    uint64_t row;                      /* SCAN_ROWS: elements of a row */
    const struct residency *residency; /* SCAN_ROWS; NULL: every row is on the link. A row that is not costs no
                                          request, though the lanes that copy it keep their places in the warps */
    uint64_t block_warps;              /* warps of a thread block: what REUSE_L1 shares sectors within */
};

/* What one launch asks for. */
struct pattern_count {
    struct request_mix mix;
    uint64_t loads;        /* warp loads issued */
    uint64_t lane_loads;   /* the sum over loads of active lanes */
    uint64_t longest;      /* elements that the busiest lane reads one after the other */
    uint64_t longest_load; /* loads of the busiest warp */
};

/* Lanes of a warp that a batch of rows left unfinished. */
struct pattern_carry {
    uint64_t warp;
    uint64_t sectors[2 * WARP_LANES];
    size_t lanes, n;
};

struct pattern_counter; /* each pattern defines its own */

struct zerocopy_pattern {
    struct policy_head head;
    unsigned shapes;                  /* bit scan_shape: what it is defined for */
    enum scan_reuse default_reuse[3]; /* by shape, for REUSE_AUTO */
    /* Each lane walks a list, or a part of an array, of its own, one element after the other in a loop that the
     * compiler unrolls by four; all parts of an array are walked at once. So loads come back to the same sectors: reuse
     * among four loads (REUSE_GROUP4) and re-fetches after the L1 lost them are defined for it. False: the lanes of a
     * warp walk one list side by side, and arrays in strides of the grid. */
    bool lane_walks;
    struct pattern_counter *(*counter_new)(const struct pattern_view *view, struct err *err);
    void (*counter_free)(struct pattern_counter *counter);
    /* Scans of one launch, in order. */
    int (*count)(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *err);
    /* The launch ends: its counts; the counter begins the next one. */
    int (*finish)(struct pattern_counter *counter, struct pattern_count *count, struct err *err);
    /* The loads of whole warps, one by one, into a coalescer. Lanes of the scans as in count(); rows: `carry` is
     * zeroed before a launch's first batch, and n = 0 ends it. */
    int (*expand)(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                  struct coalescer *c, struct err *err);
};

/* Adds the sectors of the bytes [addr, addr + bytes) to sectors[]; returns the new number. */
static inline size_t pattern_add_sectors(uint64_t *sectors, size_t n, uint64_t addr, uint64_t bytes)
{
    for (uint64_t s = addr / SECTOR_BYTES; s <= (addr + bytes - 1) / SECTOR_BYTES; s++)
        sectors[n++] = s;
    return n;
}
