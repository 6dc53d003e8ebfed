/* uvm_driver: what the driver does with one batch of faults, and with a CPU fault, and how long that takes.
 *
 * A batch is sorted by address; the entries of one VA block are one service, blocks in ascending order. A service asks
 * the policy for the pages to move besides the faulted ones, takes memory (evicting whom the eviction policy picks if
 * none is free, and beginning anew after each), unmaps, copies and maps. The copy engine works behind the CPU: the
 * copies of a service start when its CPU part and the copies before it are done; the batch ends when both are. With two
 * engines what goes out has one of its own, and a copy in waits for the eviction that made its room; an eviction that
 * began before the batch needed it (before_batch(), keep_free() of models/uvm/uvm_evict.h) always has it. Source:
 * driver 545.23.06, uvm_gpu_replayable_faults.c and uvm_va_block.c; the times: models/uvm/uvm_platform.h. */
#pragma once

#include <stdint.h>

#include "models/gpu/launch.h"
#include "models/uvm/block.h"
#include "models/uvm/thrashing.h"
#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "replay/uvm/fault_buffer.h"
#include "replay/uvm/uvm_memory.h"
#include "trace/event/record.h"

/* What costs time, besides batches, services and faults. */
struct uvm_work {
    uint64_t new_blocks;
    uint64_t moved_pages, moved_runs;       /* made resident; contiguous runs of them */
    uint64_t unmapped_pages, unmapped_runs; /* of those, mapped by the CPU */
    uint64_t copied_runs;
    uint64_t copied_services, copied_faults; /* that a recording shows; faulted pages of their records */
    uint64_t empty_batches;                  /* without a service */
};

/* A move in a simulated run. Pages are in their block's own numbering; nothing that is pointed at outlives the call. */
struct uvm_move {
    uint32_t kind; /* RECORD_MIGRATE_H2D or RECORD_MIGRATE_D2H */
    const struct uvm_block *block;
    const struct page_mask *pages; /* copied, for `cause` */
    enum record_cause cause;
    const struct page_mask *besides; /* also copied, as RECORD_CAUSE_PREFETCH; disjoint; NULL: none */
    double start_ns, end_ns;         /* of the copies, ns since the first launch */
};

/* Gets what a recorder of the run would see, and more, as it happens. Calls come from one thread. */
struct uvm_observer {
    void (*moved)(void *ctx, const struct uvm_move *move);
    /* The CPU faults on a page. */
    void (*cpu_fault)(void *ctx, int64_t time_ns, uint64_t addr, enum record_access access);
    /* A launch of the GPU that began at start_ns is over. */
    void (*kernel)(void *ctx, const char *kernel, int64_t start_ns, int64_t end_ns);
    /* Called at the end of a batch. start_ns: its first fault, as far as known; end_ns: its replay; addr: of a page. */
    void (*batch)(void *ctx, int64_t start_ns, int64_t end_ns, uint64_t addr, uint64_t faults_of_page);
    /* The program prefetches an allocation to the GPU: the call alone. */
    void (*prefetch)(void *ctx, int64_t start_ns, int64_t end_ns, size_t alloc);
    void *ctx;
};

/* When the driver replays waiting accesses: uvm_perf_fault_replay_policy 2, 0, 1, 3. */
enum uvm_replay {
    UVM_REPLAY_BATCH_FLUSH, /* behind each batch, the fault buffer emptied; the driver waits for it */
    UVM_REPLAY_BLOCK,       /* behind what a batch has of each VA block, served or not */
    UVM_REPLAY_BATCH,       /* behind each batch */
    UVM_REPLAY_ONCE         /* behind the last batch of a routine */
};

/* Memory that an early eviction frees when its copy out is done. */
struct uvm_early {
    double ready_ns;
    uint32_t pieces;
};

/* A page pinned to the CPU, which the GPU maps until then. */
struct uvm_pinned {
    int64_t until_ns;
    uint32_t block;
    uint16_t page;
};

/* Pages of a service of the current batch, and when the GPU can access them: their copies are done. */
struct uvm_arrival {
    int64_t time_ns;
    uint32_t block;
    struct page_mask pages; /* flat */
};

struct uvm_driver {
    struct uvm_memory *memory;
    const struct uvm_platform *platform;
    const struct launch *calls; /* what a prefetch takes besides its work; NULL: nothing; set after uvm_driver_init() */
    const struct uvm_policy *policy;
    void *policy_state;
    bool traced;
    bool two_engines;       /* copies out run beside copies in; set after uvm_driver_init() */
    bool detects_thrashing; /* set by uvm_driver_detect_thrashing() */
    struct uvm_thrashing thrashing;
    struct uvm_pinned *pinned; /* pages pinned to the CPU, by the end of their pins: a queue */
    size_t pinned_head, pinned_count, pinned_cap;
    bool throttled;          /* a page of the current batch is */
    double copies_free_ns;   /* when the copy engine falls idle */
    double out_free_ns;      /* when that of the copies out does, where it is another */
    struct uvm_early *early; /* queue of freed memory that is not taken yet, oldest first */
    size_t early_head, early_count, early_cap;
    uint64_t early_pieces;
    uint32_t *sorted; /* scratch: the pages of the current batch, twice */
    struct uvm_batch_block *blocks;
    uint32_t *written; /* of the pages of the current batch, those with UVM_FAULT_WRITE */
    uint32_t written_count;
    struct uvm_prefetch_requests requests; /* of the policy for the current batch; pages NULL: it has no such hook */
    const uint32_t *sorted_requests;       /* its pages in order */
    struct uvm_batch batch;
    uint32_t raw, faults, moved;
    uint32_t distinct;            /* pages among the entries of the current batch */
    struct uvm_arrival *arrivals; /* of the current batch, in order of time */
    size_t arrival_count, arrival_cap;
    int64_t arrived_ns;     /* the last of them, of this batch or an earlier one */
    enum uvm_replay replay; /* set after uvm_driver_init() */
    int64_t *replays;       /* UVM_REPLAY_BLOCK: those of the current batch */
    size_t replay_count;
    bool defers;      /* what a batch brings is within reach at its arrival only; set after uvm_driver_init() */
    bool in_batch;    /* that is so of the current service */
    int64_t flush_ns; /* when the CPU's part of the batch is done: the fault buffer is flushed */
    /* Totals; `batches` counts the current one. */
    uint64_t batches, services, raw_faults, records, cpu_faults;
    const struct uvm_observer *observer; /* NULL: none; set after uvm_driver_init() */
    enum record_access cpu_access;       /* of the CPU's touches to come, for it */
    struct uvm_work work;
};

/* policy_params: head.state_size bytes with the parameters stored, or NULL for the defaults; copied. The eviction
 * policy is the memory's. */
int uvm_driver_init(struct uvm_driver *d, struct uvm_memory *memory, const struct uvm_platform *platform,
                    const struct uvm_policy *policy, const void *policy_params, bool traced, struct err *err);
void uvm_driver_release(struct uvm_driver *d);

/* Service a batch of n > 0 raw faults fetched at `fetch_ns`. *end_ns gets the time at which its replay, the last one of
 * them, arrives; with UVM_REPLAY_ONCE, which has none, when its work is done. */
int uvm_driver_batch(struct uvm_driver *d, const uint32_t *pages, uint32_t n, int64_t fetch_ns, int64_t *end_ns,
                     struct err *err);

/* Detects thrashing pages from now on. */
int uvm_driver_detect_thrashing(struct uvm_driver *d, enum uvm_lapse lapse, struct err *err);

/* Ends the pins that are over at `time_ns`. Returns when the next one ends; INT64_MAX: never. */
int64_t uvm_driver_unpin(struct uvm_driver *d, int64_t time_ns);

/* Serves an access counter notification: migrates the CPU's pages in `regions` (64 KiB each, from the block's 2 MiB
 * boundary) and what the policy adds. No batch and no replay; *end_ns: when they are on the GPU. */
int uvm_driver_notification(struct uvm_driver *d, uint32_t number, uint32_t regions, int64_t time_ns, int64_t *end_ns,
                            struct err *err);

/* The program prefetches the allocations that are `wanted` whole, before its first launch, by a call of
 * cudaMemPrefetchAsync() each: no fault, no batch. The calls follow each other (models/gpu/launch.h); in one, the CPU
 * works on a block while another is copied or zeroed. Source: driver 545.23.06, uvm_migrate.c. */
int uvm_driver_prefetch(struct uvm_driver *d, const bool *wanted, int64_t time_ns, int64_t *end_ns, struct err *err);

/* The CPU touches a page at `time_ns`: nothing if it has it mapped, else one fault, served with the stock tree whatever
 * the policy. *end_ns gets the time the CPU goes on. */
void uvm_driver_cpu_touch(struct uvm_driver *d, uint32_t page, int64_t time_ns, int64_t *end_ns);
