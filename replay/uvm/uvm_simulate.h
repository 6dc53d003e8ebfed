/* uvm_simulate: unified memory as a function: actors, a platform and a policy in, metrics out.
 *
 * The closed loop: actors run on the multiprocessors until they touch a page that is not resident; faults wait in the
 * buffer; the driver fetches batches, services VA block after VA block, evicts, copies and replays; docs/uvm-engine.md
 * tells it in full. Deterministic: the same run gives the same metrics, whatever else goes on. Several runs may go on
 * in parallel over one workload; nothing is shared but constants. */
#ifndef REPLAY_UVM_UVM_SIMULATE_H
#define REPLAY_UVM_UVM_SIMULATE_H

#include "models/gpu/gpu.h"
#include "models/uvm/thrashing.h"
#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/link.h"
#include "replay/run/sweep_cache.h"
#include "replay/uvm/breakdown.h"
#include "replay/uvm/fault_buffer.h"
#include "replay/uvm/uvm_driver.h"
#include "trace/event/actor.h"

/* One finished batch, for observers. All times in ns since the first launch. */
struct uvm_batch_seen {
    int64_t fetch_ns, end_ns; /* from the fetch to the end of the replay; of its work if it has none */
    uint32_t raw;             /* fault-buffer entries taken */
    uint32_t faults;          /* distinct pages serviced as faulted */
    uint32_t moved;           /* pages made resident, faulted ones included */
    uint32_t launch;
    const char *kernel;
    const struct uvm_batch *batch; /* the blocks, in order of service */
    uint32_t distinct;             /* pages among the entries */
    struct uvm_fetched fetched;    /* what a kind-4 record tells of it */
    uint64_t records;              /* migration records so far */
};

struct uvm_run {
    const struct actor_ops *ops; /* the workload */
    const void *state;
    const struct gpu *gpu;
    const struct uvm_platform *platform;
    const struct uvm_policy *policy;
    const void *policy_params; /* head.state_size bytes with the parameters stored; NULL: the defaults */
    const struct pcie *pcie;   /* what remote accesses cost; NULL: nothing */
    const uint32_t *advice;    /* of each allocation, beside its own; NULL: none (enum actor_advice) */
    const bool *prefetch;      /* of each allocation: the program prefetches it before its first launch; NULL: none */
    const bool *discard;       /* of each allocation: the program discards it behind each kernel; NULL: none */
    bool thrashing;            /* pages that CPU and GPU fight for are throttled and pinned */
    enum uvm_lapse lapse;      /* how what counts as fighting adapts, by the driver's version */
    bool access_counters;      /* pages that the GPU reaches remotely come by notification */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const void *evict_params;             /* as policy_params */
    int64_t oversubscription_pct;         /* footprint / available memory x 100; 0: memory is sufficient */
    int64_t gpu_memory_bytes;             /* memory for managed data; 0: by oversubscription_pct. Both 0: unlimited */
    bool traced;               /* as under CUPTI's unified-memory tracing: every migration record costs time */
    bool two_engines;          /* copies out run beside copies in */
    enum uvm_replay replay;    /* 0: behind each batch, the fault buffer emptied */
    int64_t most_ns;           /* a run that is proved to take longer stops; 0: none does */
    struct progress *progress; /* may be NULL */
    struct breakdown *parts;   /* zeroed; gets the run by kernel and allocation; NULL: not wanted */
    void (*on_batch)(void *ctx, const struct uvm_batch_seen *seen); /* NULL: nobody looks */
    void *ctx;
    const struct uvm_watch *watch; /* told of what moves; NULL: nobody */
};

struct uvm_quartiles {
    double p25, median, p75; /* NAN: no window */
};

/* R of one kernel (all launches of one name). */
struct uvm_kernel_r {
    char kernel[32];
    uint64_t windows;
    struct uvm_quartiles r;
};

enum { UVM_KERNELS = 16 };

struct uvm_metrics {
    bool stopped;        /* time_ns is more than the run's most_ns; nothing else is known */
    int64_t time_ns;     /* from the first launch to the end of the last, CPU phases left out */
    int64_t cpu_ns;      /* of CPU phases */
    int64_t prefetch_ns; /* of time_ns, the program's own prefetches before its first launch */
    uint64_t faults;     /* pages serviced as faulted; a page counts again when it faults again */
    uint64_t raw_faults; /* fault-buffer entries taken */
    uint64_t cpu_faults;
    uint64_t batches, routines;
    uint64_t services; /* VA blocks serviced, summed over batches */
    uint64_t h2d_bytes, d2h_bytes;
    uint64_t prefetched_bytes; /* made resident besides the faulted pages */
    uint64_t prefetched_used_bytes;
    uint64_t evictions;          /* VA blocks evicted */
    uint64_t evicted_bytes;      /* copied back by evictions; d2h_bytes has the CPU's faults besides */
    uint64_t returned_bytes;     /* of them, of pages that came again within UVM_RETURN_BATCHES batches */
    double evicted_unused_ratio; /* of the pages that evictions sent away, prefetched and never touched; NAN: none */
    uint64_t dropped_bytes;      /* read-mostly pages evicted without a copy */
    uint64_t remote_touches;     /* page touches of turns that went over the link */
    uint64_t remote_bytes;       /* their payload */
    uint64_t throttles, pins;    /* of thrashing pages: faults put off, once a period; pages pinned */
    uint64_t notifications;      /* of access counters */
    uint64_t mapped;             /* of faults: only mapped remotely, or made writable */
    uint64_t structure_bytes;    /* allocations touched */
    uint64_t touched_bytes;      /* 4 KiB x distinct pages touched */
    uint64_t touches;            /* page touches of warps, re-tries included */
    uint64_t chunks;             /* 2 MiB chunks of GPU memory for managed data; 0: unlimited */
    uint64_t unheard;            /* pages that the policy asked for beyond UVM_ASKS of a batch */
    uint64_t records;            /* migration records that CUPTI would give */
    struct uvm_work work;        /* what the time of the driver went into */
    struct uvm_quartiles r;      /* distinct VA blocks / batches over windows of 20 batches */
    struct uvm_kernel_r kernels[UVM_KERNELS];
    size_t kernel_count;
    int64_t granularity_final_bytes; /* of the policy; 0: it has none */
};

/* Run. Returns 0, or -1 with *err set: a bad input, no memory, cancelled, or a violated check (bytes in and out do not
 * add up, a page resident twice: a fault of the program, never of the input). */
int uvm_simulate(const struct uvm_run *run, struct uvm_metrics *metrics, struct err *err);

/* Memory for managed data in 2 MiB chunks for a footprint of `blocks` VA blocks; 0: unlimited. */
uint64_t uvm_simulate_chunks(const struct uvm_run *run, uint64_t blocks);

#endif
