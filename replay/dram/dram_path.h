/* dram_path: the way of the requests of one or two sources to one channel: interconnect, L2 front, L2 to DRAM queues,
 * latency queue, controller; one packet per DRAM cycle and stage.
 *
 *   MEM source  -> output buffer of its sub-partition (bank mod 2) -> raster delay -> L2 queue -> L2 front
 *   PIM source  -> output buffer of sub-partition 0 ---------------------------> L2 queue -> L2 front
 *   L2 front: an L2 hit is answered reply_latency later; a miss, its write-back and a PIM request go on
 *   -> L2 to DRAM queue -> latency queue (a credit each) -> MEM-Q or PIM-Q
 * With one virtual channel both classes share every queue up to the latency queue; with two each has half of it, and
 * stages take turns, PIM first. In front of an output buffer PIM has one turn per sweep over the waiting MEM heads, at
 * most one per multiprocessor. A queue that is full stops what is behind it.
 * Source: gupta-2025-f3fs table I and section IV; queue sizes and turns as in the artifact (l2cache.cc, local
 * interconnect). Differs: stages run at the DRAM clock, latencies are converted; the crossbar's inputs are not kept
 * apart; four channels that share an issuing SM, and channels among each other, are independent. */
#ifndef REPLAY_DRAM_DRAM_PATH_H
#define REPLAY_DRAM_DRAM_PATH_H

#include "replay/dram/dram_source.h"

enum { DRAM_SUBS = 2, DRAM_SOURCES = 2 };

/* A bounded or growing ring of requests: handle and the cycle from which it may go on. */
struct dram_ring {
    uint32_t *ids;
    int64_t *times;
    uint32_t head, tail, mask, room;
};

struct dram_path {
    struct dram_source *source; /* [sources] */
    int sources, vcs;
    const struct dram_loops *loops;
    struct dram_channel *channel;
    void *state;
    int32_t sweep;                     /* multiprocessors whose heads a sweep passes, at most */
    int64_t rop, wait, reply;          /* DRAM cycles */
    struct dram_ring input[DRAM_SUBS]; /* MEM requests that wait for the interconnect */
    struct dram_ring pim_input;
    struct dram_ring noc[DRAM_SUBS][2], delay[DRAM_SUBS], l2[DRAM_SUBS][2], out[DRAM_SUBS][2], latency[2], answers;
    int32_t since_pim; /* MEM turns since PIM's last one */
    int last_noc[DRAM_SUBS], last_l2[DRAM_SUBS], last_out[DRAM_SUBS], last_sub, last_latency;
    int32_t private_used[DRAM_SUBS], shared_used, shared;
    int64_t packets;            /* into the interconnect */
    struct dram_latency *stats; /* [2]: answer - issue */
    struct dram_fate first;     /* of the first passes, by handle; NULL: not wanted. Else channel->fate is set too */
    bool kept[DRAM_SOURCES];
};

int dram_path_init(struct dram_path *path, const struct replay_job *job, int vcs, struct err *err);
void dram_path_release(struct dram_path *path);

/* Run until every source has finished a pass, or `limit` cycles, or nothing can happen. Returns the cycles run. */
int64_t dram_path_run(struct dram_path *path, int64_t limit);

/* After the run: what is left of the first passes is kept too. */
void dram_path_keep(struct dram_path *path);

#endif
