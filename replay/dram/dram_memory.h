/* dram_memory: everything between multiprocessors and DRAM, all channels in one simulation: interconnect, L2 slices,
 * memory partitions (replay/dram/dram_partition.h), the way back.
 *
 * The way of a packet, in core cycles; each step moves one packet of each place a cycle:
 *
 *   multiprocessor's input buffer -> crossbar (models/gpu/crossbar.h) -> output buffer of its sub-partition
 *     (noc_queue) -> MEM: raster delay (rop_latency) -> L2 queue (noc_l2_queue; the interconnect asks for 4 places) ->
 *     L2 front -> hit or write: reply; read miss, write-back, PIM: L2 to DRAM queue -> partition -> DRAM to L2 queue
 *   reply: L2 to interconnect queue (l2_noc_queue) -> its input buffer (noc_queue) -> crossbar -> multiprocessor,
 *     one each cycle
 *
 * Two virtual channels halve the output buffer, the L2 queue and the L2 to DRAM queue, one half for MEM and one for
 * PIM; each place then takes turns between them, PIM first at the start. A sub-partition is channel x 2 + lowest bit of
 * the bank and has a slice of L2 (models/gpu/l2.h). The L2 front asks for room behind it even for a hit. A write is
 * acknowledged by L2, a PIM request by DRAM. PIM requests pass L2 by.
 * Unloaded, in core cycles from the pop: PIM 2 + DRAM, read hit 2 + rop_latency + 1, each + 1 for the reply.
 *
 * Source: gupta-2025-f3fs section IV; GPGPU-Sim-4.0.1 branch ISPASS_2025 commit 1eea352: gpu-sim.cc (order of clocks),
 * l2cache.cc, local_interconnect.cc, read as data.
 * Differs: the reply network has no output buffers (it would never hold more than the one packet that leaves in the
 * same cycle); a multiprocessor's input buffer has the packets of one class only, see crossbar.h; L2: see l2.h. */
#pragma once

#include "models/gpu/crossbar.h"
#include "models/gpu/gpu.h"
#include "models/gpu/l2.h"
#include "models/gpu/sms.h"
#include "models/gpu/wheel.h"
#include "replay/dram/dram_partition.h"
#include "trace/event/dram_map.h"
#include "trace/program/program.h"

/* The L2 slices of all sub-partitions (models/gpu/l2.h), and the map that says where an address is.
 *
 * A sub-partition is channel x 2 + lowest bit of the bank; PIM requests are of the first. Here nothing takes time. */
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

/* Who sends packets and takes replies: multiprocessors side by side. */
struct dram_port {
    void *ctx;
    uint32_t sms;
    uint64_t offset;       /* added to its addresses: two programs' memory lies apart */
    const uint64_t *heads; /* bit sm: head() is a packet; changes with pop() */
    const struct sms_packet *(*head)(const void *ctx, uint32_t sm);
    void (*pop)(void *ctx, uint32_t sm, int64_t t);
    void (*prefetch_reply)(const void *ctx, uint32_t sm, uint32_t token); /* of one that comes soon; may be NULL */
    void (*reply)(void *ctx, uint32_t sm, uint32_t token, int64_t t);
};

enum { DRAM_PORTS = 2, DRAM_CAMP = 8192 /* MEM requests to DRAM of one stretch */ };

/* A packet in flight, until its reply. */
struct dram_inflight {
    int64_t since; /* DRAM cycle in which it left its multiprocessor */
    uint32_t token;
    uint16_t input; /* multiprocessor, over both ports */
    bool pim;
};

enum dram_kind { DRAM_KIND_READ, DRAM_KIND_WRITE, DRAM_KIND_ATOMIC, DRAM_KIND_PIM };

/* A packet where it waits: everything that its way needs, so that nothing else is looked at on it. */
struct dram_packet {
    uint64_t addr;
    uint32_t flight;
    uint32_t row : 24, bank : 5, kind : 2, whole : 1;
};

/* The id of a request in a partition: whose it is, which of the channel's sub-partitions, and which: of a fetch the
 * entry of L2's table of misses, of a PIM request its flight. */
enum { DRAM_ID_FETCH, DRAM_ID_PIM, DRAM_ID_WRITE_BACK };

static inline uint32_t dram_id(uint32_t what, uint32_t sub, uint32_t which)
{
    return which << 3 | what << 1 | sub % DRAM_SUBS;
}

/* The head of a multiprocessor's input buffer. */
struct dram_input_head {
    struct dram_packet packet; /* without its flight */
    uint32_t token;
};

/* First in, first out: places head to tail - 1 of an array, modulo its size; both 0 when it is empty, so that few
 * places are used while few wait. */
struct dram_ring {
    uint32_t head, tail;
};

/* The raster delay: with the core cycle from which the packet may go on. */
struct dram_delayed {
    struct dram_packet packet;
    int64_t due;
};

/* The queues of a sub-partition, before and in its L2 slice. A cycle in which nothing moves reads its first 64 bytes
 * only. */
struct dram_subpartition {
    _Alignas(64) int64_t delay_due; /* core cycle from which the first of `delay` may go on; INT64_MAX: it is empty */
    struct dram_ring noc[DRAM_VCS], l2[DRAM_VCS]; /* packets */
    struct dram_ring back, reply, filled;         /* ids; flights; flights */
    struct dram_ring away, delay;                 /* flights; packets */
    uint8_t some;                                 /* noc[v] is not empty: bit v; l2[v]: bit DRAM_VCS + v */
    uint8_t last_noc, last_l2;
    uint32_t filled_mask, delay_mask; /* these two grow */
    uint32_t *fills;
    struct dram_delayed *delayed;
    struct dram_packet *packets; /* of noc[], then l2[] */
    uint32_t *numbers;           /* of back, reply, away */
};

/* Room of a ring of every sub-partition, its size less one, and where its array begins. */
struct dram_room {
    uint32_t room, mask, at;
};

struct dram_memory_stats {
    uint64_t packets[2];                   /* into the interconnect, by class */
    uint64_t reads, fetches, merges;       /* of L2: sectors asked for, sent to DRAM, joined */
    int64_t answered[2], answer_cycles[2]; /* replies, and their DRAM cycles from pop to reply, by class */
    double camp_sum;                       /* of stretches: busiest channel over mean */
    uint64_t camp_count;
};

struct dram_memory {
    int vcs;
    uint32_t channels, subs, sms;
    int64_t rop;
    struct dram_clocks clocks;
    int64_t dram_next, core_next; /* nothing happens before */
    struct dram_port port[DRAM_PORTS];
    uint32_t ports, first[DRAM_PORTS]; /* input of a port's multiprocessor 0 */
    uint64_t *shown[DRAM_PORTS];       /* heads that the crossbar has seen */
    struct dram_input_head *head;      /* by input: the head shown */
    struct crossbar to, from;
    struct dram_l2 l2;
    struct dram_subpartition *sub;
    struct dram_room noc[DRAM_VCS], to_l2[DRAM_VCS], back, reply, away; /* of their rings */
    uint64_t *awake;     /* sub-partitions that may move something in the next cycle, and when the others may */
    struct wheel delays; /* because a raster delay ends */
    uint64_t *due;       /* scratch: a mask of sub-partitions */
    int64_t *due_dram, *due_core; /* by channel: it is due from this DRAM cycle on, or from this core cycle on */
    uint64_t *waiting;            /* channels in which anything stands outside the controller */
    uint64_t *replying;           /* those with a reply that waits for the interconnect */
    struct dram_partition *part;
    struct dram_inflight *flight;
    uint32_t *unused; /* flights */
    uint32_t unused_count, flights, in_flight;
    uint32_t *camp; /* DRAM requests of this stretch, by channel */
    uint32_t camp_requests;
    struct dram_memory_stats stats;
    bool out_of_memory;
};

/* An idle memory at cycle 0. Released after failure too. */
int dram_memory_init(struct dram_memory *m, const struct platform *platform, const struct replay_policy *policy,
                     int vcs, const struct dram_port *ports, uint32_t count, struct err *err);
void dram_memory_release(struct dram_memory *m);

/* DRAM cycle m->clocks.dram. */
void dram_memory_dram(struct dram_memory *m);
/* Core cycle m->clocks.core, after the multiprocessors' step: replies go to them and packets come from them. */
void dram_memory_core(struct dram_memory *m);

/* Heads may have come: the next core cycle looks at them. */
static inline void dram_memory_wake(struct dram_memory *m)
{
    m->core_next = m->clocks.core;
}

/* After a run: packets = replies + in flight, credits, every channel's own checks. */
int dram_memory_check(const struct dram_memory *m, bool finished, struct err *err);
