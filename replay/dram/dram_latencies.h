/* dram_latencies: for --latencies FILE, how long requests took, by what they are:
 *
 *     policy,kind,from_cycles,below_cycles,requests
 *
 * A row is a bin that is not empty: `requests` of them took from_cycles or more and less than below_cycles. Up to 16
 * cycles a bin is one cycle wide, above an eighth of its power of two. Kinds are mem-read (loads, atomics), mem-write
 * (stores, write-backs), pim, and l2-hit: reads that L2 answered, where L2 is in the run. They are the requests and the
 * cycles of mem_latency_mean_cycles and pim_latency_mean_cycles. */
#ifndef REPLAY_DRAM_DRAM_LATENCIES_H
#define REPLAY_DRAM_DRAM_LATENCIES_H

#include "replay/dram/dram.h"

void dram_latencies_head(FILE *file);

/* kinds: DRAM_TOOK of them. */
void dram_latencies_write(FILE *file, const struct replay_policy *policy, const struct dram_latency *kinds);

/* Add those of an open loop's requests that were done; cycles are done - arrival. */
void dram_latencies_add(struct dram_latency *kinds, const struct dram_stream *stream, const struct dram_fates *fates);

#endif
