/* dram_slice: a core cycle of one sub-partition of replay/dram/dram_memory.h: from the interconnect's output buffer
 * through the slice of L2 to the L2 to DRAM queues, and from DRAM back to the replies. */
#ifndef REPLAY_DRAM_DRAM_SLICE_H
#define REPLAY_DRAM_DRAM_SLICE_H

#include "replay/dram/dram_memory.h"

/* Every sub-partition of m, empty; rooms are of [dram]. Released after failure too. */
int dram_slices_init(struct dram_memory *m, const struct dram_platform *dram, struct err *err);
void dram_slices_release(struct dram_memory *m);

/* Cycle m->clocks.core. Returns the cycle in which it may move something again if nothing comes: INT64_MAX: none. */
int64_t dram_slice_cycle(struct dram_memory *m, uint32_t sub);

/* Whether the interconnect has room for packets of virtual channel v from now on. */
void dram_slice_room(struct dram_memory *m, uint32_t sub, int v, bool room);

/* A request has come back from DRAM: what the next cycle will need of it is fetched from this machine's memory. */
void dram_slice_expect(const struct dram_memory *m, uint32_t sub, uint32_t id);

#endif
