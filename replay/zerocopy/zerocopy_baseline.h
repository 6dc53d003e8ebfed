/* zerocopy_baseline: other mechanisms for the same reads.
 *
 * copy: one block copy of the whole structure. dma: the CPU gathers what is needed into a staging buffer, then a block
 * copy. subgraph: as dma, level by level, for the lists of active vertices (Subway's way; its time to find them is in
 * cpu_lists_bytes_per_s). Unified memory stands in zerocopy_uvm.h, the program's own loads in zerocopy_own.h.
 * Source: dissertation, sections 2.5 (subgraph) and 3.5 (dma); Subway: Sabet et al., EuroSys 2020. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_BASELINE_H
#define REPLAY_ZEROCOPY_ZEROCOPY_BASELINE_H

#include "replay/zerocopy/zerocopy_run.h"

/* A new one is a line here and one in the list of zerocopy.c. */
extern const struct zerocopy_baseline zerocopy_dma, zerocopy_copy, zerocopy_subgraph;

#endif
