/* residency: which rows of a table are served without the link: the best rows by score in each GPU's own memory
 * (replicated), the next best spread over the GPUs (peers), the rest in host memory.
 *
 * Row of rank r, of N rows and g GPUs, seen from GPU 0: own while r < local N; then shared part row i = r - local N of
 * M = shared N: interleave puts it on GPU i mod g, block on GPU i div ceil(M / g); the rest crosses PCIe.
 *
 * Worked example: N = 100, local 10 %, shared 20 %, 4 GPUs: ranks 0..9 own; ranks 10, 14, 18, 22, 26 own by interleave,
 * the other 15 of 10..29 on peers; 70 cross the link. By block ranks 10..14 are own.
 *
 * Source: Min 2022 (docs/papers.md), sections 4.2.3 and 4.3, listing 4.1. Differs: the listing's index lacks the
 * brackets of (row - local) div g. */
#ifndef MODELS_ZEROCOPY_RESIDENCY_H
#define MODELS_ZEROCOPY_RESIDENCY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum residency_place { RESIDENCY_OWN, RESIDENCY_PEER, RESIDENCY_LINK };
enum residency_layout { RESIDENCY_INTERLEAVE, RESIDENCY_BLOCK };

struct residency {
    const uint32_t *rank; /* of each row, 0 the hottest; NULL: nothing is resident */
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
        return RESIDENCY_OWN;
    if (rank >= r->local + r->shared)
        return RESIDENCY_LINK;
    uint64_t i = rank - r->local, part = (r->shared + r->gpus - 1) / r->gpus;
    uint64_t gpu = r->layout == RESIDENCY_INTERLEAVE ? i % r->gpus : i / part;
    return gpu == 0 ? RESIDENCY_OWN : RESIDENCY_PEER;
}

#endif
