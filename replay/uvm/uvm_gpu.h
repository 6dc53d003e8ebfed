/* uvm_gpu: the multiprocessors: actors that run until they touch a page out of reach, and the fault buffer.
 *
 * Pages come within reach only when the driver says so. Between two such moments each actor runs by itself until it
 * faults or the time is up: a calendar of 1 us buckets orders the actors; stalled ones cost nothing.
 *
 * A micro-TLB finds missing pages one by one, `fault_gap_ns` apart. It reports each once for every part of the
 * multiprocessor that asks, at most `utlb_faults` until the next replay. A full one reports no further miss; with
 * utlb=blocked its accesses to resident pages wait too. A replay empties the micro-TLBs, and every waiting access asks
 * again: stores first, then loads, oldest first. Actors that are `together`, a block's warps, end together; blocks
 * start one by one, gpu.block_gap_ns apart on the chip.
 *
 * Stores are not waited for until ACTOR_STORES pages are under way or the actor has no further step (assumed). A touch
 * is satisfied once its page was within reach when the actor asked. An access that finds its page after a replay goes
 * on `walk_ns` later; data that has just come lies in L2 (`fresh_ns`). In a launch that begins with all memory there,
 * loads take `fresh_ns` with the share of the memory that L2 holds, else `memory_ns`; the program's own memory stays in
 * L2 meanwhile (models/gpu/occupancy.h). Turns of a step that ask for nothing new between two batches are simulated as
 * one. A launch that begins with all memory there, its buckets counted from its start, takes what one like it took that
 * began so and was not disturbed, in this run or another of the same program on the same GPU (struct uvm_time). Source:
 * recordings of an H200, docs/uvm-engine.md; whether a full micro-TLB blocks is known of no chip. */
#pragma once

#include "models/gpu/gpu.h"
#include "models/gpu/launch.h"
#include "models/gpu/occupancy.h"
#include "models/uvm/uvm_platform.h"
#include "models/zerocopy/link.h"
#include "replay/uvm/fault_buffer.h"
#include "replay/uvm/uvm_memory.h"
#include "trace/event/actor.h"

/* --- uvm_remote: what accesses to pages that the GPU maps remotely cost, and what access counters make of them --- */

/* A turn sends its sectors over the link, split evenly over its pages, in requests of up to 128 B at the cost that
 * models/zerocopy/link.h gives requests of that size. The link serves one turn after the other; a turn takes the longer
 * of its computing and one load's latency with its share of the link. The driver's copies and these requests do not
 * wait for each other. Access counters count the requests to each 2 MiB block: the `threshold`-th makes a notification
 * that names the 64 KiB regions asked for since the last one. Example: 4 pages, one of them remote, 16 sectors: one
 * request of 128 B. Source: link.h; driver 525 to 595, uvm_gpu_access_counters.c (granularity 2 MiB, threshold 256, 32
 * regions). Differs: what the hardware counts as one access is not published; here it is a request. */
enum { UVM_REMOTE_SECTORS = 4, UVM_REMOTE_THRESHOLD = 256, UVM_REMOTE_BATCH = 256 };

/* The counter of one block. */
struct uvm_counter {
    uint32_t count;   /* requests since the last notification */
    uint32_t regions; /* bit i: one of them was to region i */
    bool pending;
};

struct uvm_remote {
    double request_ns[UVM_REMOTE_SECTORS]; /* of the link, by sectors of a request; 0 without a link's numbers */
    double latency_ns;                     /* of one load */
    double free_ns;                        /* when the link has served all so far */
    uint64_t touches, bytes;               /* pages of turns; payload */
    struct uvm_counter *counters;          /* by block; NULL: off */
    uint32_t *pending;                     /* blocks with a notification, in order; room for all */
    uint32_t pending_count;
    uint64_t notifications;
};

/* pcie NULL: accesses are counted and cost no time. blocks: how many have a counter; 0: counters are off. */
int uvm_remote_init(struct uvm_remote *r, const struct pcie *pcie, const struct gpu *gpu, uint32_t blocks,
                    struct err *err);
void uvm_remote_release(struct uvm_remote *r);

/* What `pages` remote pages of a turn ask of the link that sends `sectors` for `all` pages; requests of one page into
 * *requests, its payload into *bytes. */
double uvm_remote_turn_ns(const struct uvm_remote *r, uint32_t pages, uint32_t all, uint32_t sectors,
                          uint32_t *requests, uint32_t *bytes);

/* `turns` turns in a row, each with compute_ns and link_ns of the link, which is booked; when the last has ended. */
int64_t uvm_remote_turns(struct uvm_remote *r, int64_t time, uint32_t compute_ns, double link_ns, uint32_t turns);

/* Requests went to a region of a block; true if they make the `threshold`-th, and with it a notification. */
bool uvm_remote_count(struct uvm_remote *r, uint32_t block, uint32_t region, uint64_t requests, uint32_t threshold);

/* Take the oldest notification: its block and regions; false if there is none. The counter starts anew. */
bool uvm_remote_take(struct uvm_remote *r, uint32_t *block, uint32_t *regions);

/* --- the GPU --- */

/* What a launch took that began with all memory there; of one that others are like. */
struct uvm_time {
    _Atomic uint64_t ns; /* plus one; 0: it is not known */
    _Atomic uint64_t touches;
    _Atomic uint64_t readonly; /* which pages were mapped for reading, a number for each such set */
};

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
    int64_t now, phase; /* nothing is earlier; where a bucket begins */
    uint32_t queued;
    /* The launch that runs. */
    uint32_t launch, launch_count;
    struct actor_launch current;
    uint32_t per_sm;     /* actors of it resident on a multiprocessor */
    uint32_t resident;   /* on all, at most */
    uint32_t waited_kib; /* actor_step.waits of the step before, */
    double waited_ns;    /* and how long one without pages waits for them */
    struct issue issue;
    uint32_t next_actor, actors_done;
    struct uvm_time *times; /* of each launch; of other runs, too */
    uint64_t events;        /* replays and work of the CPU */
    uint64_t *quiet;        /* of each launch: `events` + 1 when one like it was not disturbed; 0: none was */
    uint64_t timed;         /* `events` + 1 when the launch began that goes into `times`; 0: it does not */
    uint64_t touches_before;
    uint64_t readonly;   /* as in struct uvm_time, when the launch began */
    double block_gap_ns; /* 0 of a launch whose blocks are not known */
    uint64_t blocks_started;
    int64_t launch_start_ns;
    int64_t launch_end_ns;      /* when its last actor so far ended; then when the CPU goes on, if that waits for it */
    const struct launch *calls; /* what launches take; NULL: nothing */
    double host_ns;             /* when the CPU makes its next call */
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

/* The link of g->remote and g->times are the caller's to prepare. */
int uvm_gpu_init(struct uvm_gpu *g, const struct actor_ops *ops, const void *state, const struct gpu *gpu,
                 const struct uvm_platform *platform, struct uvm_memory *memory, struct err *err);
void uvm_gpu_release(struct uvm_gpu *g);

/* Start the next launch, what ran before it having ended at `time`; sets cpu_phase if it is the CPU's, finished if
 * there is none. */
int uvm_gpu_next_launch(struct uvm_gpu *g, int64_t time, struct err *err);

/* Run every actor up to `until`, or, with the driver idle, up to the moment it answers the first fault. */
int uvm_gpu_run(struct uvm_gpu *g, int64_t until, struct err *err);

/* Whether the first fault's interrupt reads PUT itself, top_half_ns behind it, as the driver was awake. */
bool uvm_gpu_top_half(struct uvm_gpu *g);

/* A replay at `time`: the micro-TLBs forget, every waiting access asks again. */
void uvm_gpu_replay(struct uvm_gpu *g, int64_t time);
