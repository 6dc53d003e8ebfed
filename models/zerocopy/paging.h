/* paging: which bytes unified memory moves for the same scans, by the driver's rules and without their time.
 *
 * Pages of a structure in managed, read-mostly memory: a touch of a page that is not resident makes its 64 KiB region
 * resident, then, up the tree of the 2 MiB block, every aligned part of which more than 51 % would be resident; memory
 * is had and evicted in whole 2 MiB chunks, the one longest without service first; an evicted chunk is dropped, not
 * copied back. Differs from the engine of `replay uvm`: touches come one at a time, no batches, no time.
 * Source: driver 545.23.06, uvm_perf_prefetch.c (region, tree, threshold 51), uvm_pmm_gpu.c (root chunks, LRU). */
#ifndef MODELS_ZEROCOPY_PAGING_H
#define MODELS_ZEROCOPY_PAGING_H

#include <stdint.h>

#include "trace/base/err.h"

struct paging {
    uint64_t bytes;     /* of the structure */
    uint64_t chunks;    /* of GPU memory, 0: unlimited */
    uint64_t moved;     /* bytes host to device */
    uint64_t evictions; /* chunks */
    uint64_t in_use;
    struct paging_block *blocks;
    uint64_t block_count;
    uint32_t oldest, newest; /* list of resident blocks by last service; block_count: none */
};

int paging_init(struct paging *p, uint64_t bytes, uint64_t chunks, struct err *err);
void paging_release(struct paging *p);
/* Touch the bytes [offset, offset + n) of the structure; n >= 1. */
void paging_touch(struct paging *p, uint64_t offset, uint64_t n);

#endif
