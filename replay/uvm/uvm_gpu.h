/* uvm_gpu: the multiprocessors: actors that run until they touch a page out of reach, and the fault buffer.
 *
 * Which pages are within reach changes only when the driver says so, at a batch; between two such moments every actor
 * runs by itself until it faults or the time is up, so there is no event per touch: a calendar of 1 us buckets orders
 * the actors, and a stalled one costs nothing until a replay.
 *
 * A micro-TLB looks for missing pages one by one, `fault_gap_ns` apart, reports each once for every part of the
 * multiprocessor that asks, and at most `utlb_faults` until the next replay; replay/uvm/fault_buffer.h has what becomes
 * of the entries. While it is full, no further miss of its multiprocessors is reported, and with utlb=blocked their
 * accesses to resident pages wait as well. A replay empties the micro-TLBs; every waiting access asks again, stores
 * first, then loads, oldest first. Actors that are `together`, a block's warps, give up their places together.
 *
 * Nobody waits for a store: its page is asked for, and the actor goes on, until ACTOR_STORES such pages are under way
 * or the actor has no further step (assumed). A touch is satisfied once its page has been within reach when the actor
 * asked: it is not repeated if the page goes again. An access that finds its page after a replay goes on `walk_ns`
 * later; data that a copy has just brought lies in L2 (`fresh_ns`). When a launch begins with all memory there, its
 * loads take `fresh_ns` with the share of the memory that L2 holds, else `memory_ns`. Turns of a step that ask for
 * nothing new between two batches are one step of the simulation.
 * Source: recordings of an H200, docs/uvm-engine.md; whether a full micro-TLB blocks is known of no chip. */
#ifndef REPLAY_UVM_UVM_GPU_H
#define REPLAY_UVM_UVM_GPU_H

#include "models/gpu/gpu.h"
#include "models/gpu/occupancy.h"
#include "models/uvm/uvm_platform.h"
#include "replay/uvm/fault_buffer.h"
#include "replay/uvm/uvm_memory.h"
#include "replay/uvm/uvm_remote.h"
#include "trace/event/actor.h"

#define UVM_GPU_NEVER  INT64_MAX
#define UVM_GPU_ASLEEP INT64_MIN

enum { UVM_GPU_BUCKETS = 4096, UVM_GPU_BUCKET_SHIFT = 10 }; /* 1,024 ns each: actors overtake by no more than that */

struct uvm_slot;
struct uvm_listed;
struct uvm_group;
struct uvm_utlb_state;

struct uvm_gpu {
    const struct actor_ops *ops;
    const void *state;
    void *run; /* the producer's cursor */
    struct uvm_memory *memory;
    const struct uvm_platform *platform;
    const struct gpu *gpu;
    uint32_t sms, slots_cap;
    struct uvm_slot *slots;
    struct uvm_utlb_state *utlbs;
    struct uvm_group *groups;
    uint32_t together, slots_used;
    uint64_t *resumed; /* a bit for each slot, for replays */
    uint32_t *waiting; /* storage of the micro-TLBs' lists of waiting slots, then of those with stores under way */
    struct uvm_listed *reported; /* storage of their tables of reported pages */
    uint32_t table_mask;         /* entries of one table, less 1 */
    uint32_t epoch;              /* counts replays */
    int64_t replay_ns;           /* the last one's time */
    bool blocked;
    /* Calendar. */
    uint32_t heads[UVM_GPU_BUCKETS], tails[UVM_GPU_BUCKETS];
    uint64_t busy[UVM_GPU_BUCKETS / 64];
    int64_t now; /* nothing is earlier */
    uint32_t queued;
    /* The launch that runs. */
    uint32_t launch, launch_count;
    struct actor_launch current;
    uint32_t per_sm;   /* actors of it resident on a multiprocessor */
    uint32_t resident; /* on all, at most */
    struct issue issue;
    uint32_t next_actor, actors_done;
    int64_t launch_end_ns;                                               /* when its last actor so far ended */
    int (*on_launch_end)(void *ctx, const char *kernel, int64_t end_ns); /* NULL: nobody looks */
    void *ctx;
    bool cpu_phase; /* the next launch is the CPU's; uvm_gpu_next_launch() goes on */
    bool finished;
    struct fault_buffer ring; /* the fault buffer */
    int64_t answer_ns;        /* the driver answers no fault as if it had been written earlier */
    int64_t awake_ns;         /* until then its processor is awake; UVM_GPU_ASLEEP: it is not */
    int64_t stop_ns;          /* run no further */
    int64_t interrupt_ns;     /* a fault stops the run so much later; UVM_GPU_NEVER while the driver is at work */
    uint64_t touches;
    struct uvm_remote remote; /* the link, for pages that lie with the CPU */
    struct err *err;
    bool failed;
};

/* The link of g->remote is the caller's to prepare. */
int uvm_gpu_init(struct uvm_gpu *g, const struct actor_ops *ops, const void *state, const struct gpu *gpu,
                 const struct uvm_platform *platform, struct uvm_memory *memory, struct err *err);
void uvm_gpu_release(struct uvm_gpu *g);

/* Start the next launch at `time`; sets cpu_phase if it is the CPU's, finished if there is none. */
int uvm_gpu_next_launch(struct uvm_gpu *g, int64_t time, struct err *err);

/* Run every actor up to `until`, or, with the driver idle, up to the moment it answers the first fault. */
int uvm_gpu_run(struct uvm_gpu *g, int64_t until, struct err *err);

/* With interrupts on: whether the first fault's interrupt reads PUT itself, top_half_ns behind it, for a driver that
 * was awake. */
bool uvm_gpu_top_half(struct uvm_gpu *g);

/* A replay at `time`: the micro-TLBs forget, every waiting access asks again. */
void uvm_gpu_replay(struct uvm_gpu *g, int64_t time);

#endif
