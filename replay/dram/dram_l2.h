/* dram_l2: the L2 slices of all sub-partitions (models/gpu/l2.h), and the map that says where an address is.
 *
 * A sub-partition is channel x 2 + lowest bit of the bank; PIM requests are of the first. Here nothing takes time. */
#ifndef REPLAY_DRAM_DRAM_L2_H
#define REPLAY_DRAM_DRAM_L2_H

#include "models/gpu/gpu.h"
#include "models/gpu/l2.h"
#include "replay/dram/dram_partition.h"
#include "trace/event/dram_map.h"
#include "trace/program/program.h"

struct dram_l2 {
    bool hash_channels;
    uint32_t channels;
    struct dram_map map, wanted; /* wanted: without byte and column, for decoding */
    struct dram_map_table table; /* of it */
    struct l2 *cache;
};

/* Empty, of the numbers of a platform. -1 with *err set; released after failure too. */
int dram_l2_init(struct dram_l2 *l, const struct dram_platform *dram, const struct gpu *gpu, struct err *err);
void dram_l2_release(struct dram_l2 *l);

static inline uint32_t dram_l2_sub(struct dram_addr a, bool pim)
{
    return a.channel * DRAM_SUBS + (pim ? 0 : a.bank % DRAM_SUBS);
}

/* Where a byte is: channel, bank and row. */
static inline struct dram_addr dram_l2_decode(const struct dram_l2 *l, uint64_t addr, bool pim)
{
    struct dram_addr a = l->table.bytes ? dram_map_table_decode(&l->table, addr) : dram_map_decode(&l->wanted, addr);
    if (l->hash_channels && !pim)
        a.channel ^= a.row & (l->channels - 1);
    return a;
}

/* The line at addr is there with these sectors (masks); see l2_put(). */
void dram_l2_put(struct dram_l2 *l, uint64_t addr, uint32_t valid, uint32_t dirty);

/* What a program's copies to the GPU leave: the last of what the host wrote, in order of allocation. */
void dram_l2_copy_in(struct dram_l2 *l, const struct program *program, uint64_t offset, int64_t l2_bytes);

#endif
