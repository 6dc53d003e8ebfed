/* l2: the L2 cache between the warps' accesses and DRAM; sectored, write-back, least recently used.
 *
 * Lines of 128 B with four sectors of 32 B. A read fetches the sectors of it that are missing; a write takes its
 * sectors as they are and fetches nothing; both make room for the line by evicting the one of its set that was used
 * longest ago, whose written sectors go back to DRAM. An atomic reads and writes. Worked example, one set of two ways:
 * read line A sectors 0-1 (fetch 2 sectors), write line B sector 3 (nothing), read line A sectors 0-3 (fetch sectors
 * 2-3), read line C (fetch; evicts B, sector 3 goes back). Source: sectored write-back L2 with write-allocate and no
 * fetch on write: Accel-Sim's L2 of Volta (Khairy et al., ISCA 2020, section IV-B; gpgpusim.config of SM7_QV100, cache
 * dl2 "S:32:128:24,L:B:m:L"). Differs: sets are chosen by line number modulo their count, where the chip hashes over
 * slices; a partial write of a sector counts as a whole one, since accesses are recorded by sector. */
#ifndef MODELS_GPU_L2_H
#define MODELS_GPU_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { L2_LINE = 128, L2_SECTOR = 32 };

struct l2;

/* What one access makes of DRAM: sector masks (bits 0-3). */
struct l2_result {
    uint32_t fetch;      /* sectors of the accessed line to be read */
    uint32_t write_back; /* sectors of `victim` to be written */
    uint64_t victim;     /* byte address of the evicted line */
};

/* bytes / (128 ways) sets, rounded down. bytes 0: no cache, every access goes to DRAM. */
struct l2 *l2_new(int64_t bytes, int64_t ways, struct err *err);
void l2_free(struct l2 *l2); /* NULL is allowed */

/* Access sectors (mask, not 0) of the line at addr (a multiple of 128). */
struct l2_result l2_access(struct l2 *l2, uint64_t addr, uint32_t sectors, bool reads, bool writes);

/* Call fn for every line with written sectors, in order of set and way, and forget that they were written. */
int l2_flush(struct l2 *l2, int (*fn)(void *ctx, uint64_t addr, uint32_t sectors), void *ctx);

#endif
