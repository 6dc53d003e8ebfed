/* uvm_simulate: simulates unified memory for one program, platform and policy.
 *
 * The closed loop: actors run on the multiprocessors until they touch a page that is not resident; faults wait in the
 * buffer; the driver fetches batches, services one VA block after the other, evicts, copies and replays
 * (docs/uvm-engine.md). Deterministic. Several runs over one workload may go in parallel; they share only constants. */
#pragma once

#include "models/gpu/gpu.h"
#include "models/uvm/thrashing.h"
#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/link.h"
#include "replay/run/sweep_cache.h"
#include "replay/uvm/fault_buffer.h"
#include "replay/uvm/uvm_metrics.h"
#include "trace/event/actor.h"

/* One finished batch, for observers. All times in ns since the first launch. */
struct uvm_finished_batch {
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

struct uvm_time;

/* Pages first .. end - 1 of the 512 of a VA block. */
struct uvm_later {
    uint16_t first, end;
};

struct uvm_run {
    const struct actor_ops *ops; /* the workload */
    const void *state;
    const struct gpu *gpu;
    const struct uvm_platform *platform;
    const struct launch *calls; /* what launches and prefetches take besides; NULL: nothing */
    const struct uvm_policy *policy;
    const void *policy_params; /* head.state_size bytes with the parameters stored; NULL: the defaults */
    const struct pcie *pcie;   /* what remote accesses cost; NULL: nothing */
    const uint32_t *advice;    /* of each allocation, beside its own; NULL: none (enum actor_advice) */
    const bool *prefetch;      /* of each allocation: the program prefetches it before its first launch; where the CPU
                                  works between kernels, what they touch, before the first and again behind the CPU's
                                  work; NULL: none */
    const struct uvm_later
        *later;           /* of each VA block: all else of it the GPU has from the first launch on; NULL: none */
    const bool *discard;  /* of each allocation: the program discards it behind each kernel; NULL: none */
    bool thrashing;       /* pages that CPU and GPU fight for are throttled and pinned */
    enum uvm_lapse lapse; /* how what counts as fighting adapts, by the driver's version */
    bool access_counters; /* pages that the GPU reaches remotely come by notification */
    const struct uvm_evict_policy *evict; /* NULL: the driver's */
    const void *evict_params;             /* as policy_params */
    int64_t oversubscription_pct;         /* footprint / available memory x 100; 0: memory is sufficient */
    int64_t gpu_memory_bytes;             /* memory for managed data; 0: by oversubscription_pct. Both 0: unlimited */
    bool traced;            /* as under CUPTI's unified-memory tracing: every migration record costs time */
    bool two_engines;       /* copies out run beside copies in */
    enum uvm_replay replay; /* 0: behind each batch, the fault buffer emptied */
    struct uvm_time *times; /* of each launch (uvm_gpu.h), zeroed, or of runs of the same program on the same GPU; NULL:
                               the run's own */
    int64_t stop_ns;        /* stop a run that is proved to take longer; 0: never */
    struct progress *progress; /* may be NULL */
    struct breakdown *parts;   /* zeroed; gets the run by kernel and allocation; NULL: not wanted */
    void (*on_batch)(void *ctx, const struct uvm_finished_batch *batch); /* NULL: none */
    void *ctx;
    const struct uvm_observer *observer; /* NULL: none */
};

/* Run. Returns 0, or -1 with *err set: a bad input, no memory, cancelled, or a violated check (bytes in and out do not
 * add up, a page resident twice: a fault of the program, never of the input). */
int uvm_simulate(const struct uvm_run *run, struct uvm_metrics *metrics, struct err *err);
