/* uvm_driver: what the driver does with one batch of faults, and with a CPU fault, and how long that takes.
 *
 * A batch is sorted by address; the entries of one VA block are one service, blocks in ascending order. A service asks
 * the policy for the pages to move besides the faulted ones, takes a chunk (evicting the least recently serviced block
 * if none is free), unmaps, copies and maps. The copy engine works behind the CPU: the copies of a service start when
 * its CPU part and the copies before it are done; the batch ends when both are.
 * Source: driver 545.23.06, uvm_gpu_replayable_faults.c and uvm_va_block.c; the times: models/uvm/uvm_platform.h. */
#ifndef REPLAY_UVM_UVM_DRIVER_H
#define REPLAY_UVM_UVM_DRIVER_H

#include "models/uvm/uvm_platform.h"
#include "models/uvm/uvm_policy.h"
#include "replay/uvm/uvm_memory.h"
#include "replay/uvm/uvm_work.h"

struct uvm_driver {
    struct uvm_memory *memory;
    const struct uvm_platform *platform;
    const struct uvm_policy *policy;
    void *policy_state;
    bool traced;
    double copies_free_ns; /* when the copy engine falls idle */
    uint32_t *sorted;      /* scratch: the pages of the batch in hand, twice */
    struct uvm_batch_block *blocks;
    /* The batch just serviced. */
    struct uvm_batch batch;
    uint32_t raw, faults, moved;
    /* Totals. */
    uint64_t batches, services, raw_faults, records, cpu_faults;
    struct uvm_work work;
};

/* policy_params: head.state_size bytes with the parameters stored, or NULL for the defaults; copied. */
int uvm_driver_init(struct uvm_driver *d, struct uvm_memory *memory, const struct uvm_platform *platform,
                    const struct uvm_policy *policy, const void *policy_params, bool traced, struct err *err);
void uvm_driver_release(struct uvm_driver *d);

/* Service a batch of n > 0 raw faults fetched at `fetch_ns`. *end_ns gets the time at which its replay arrives. */
int uvm_driver_batch(struct uvm_driver *d, const uint32_t *pages, uint32_t n, int64_t fetch_ns, int64_t *end_ns,
                     struct err *err);

/* Tell the policy that the batch is over; afterwards, as only the caller knows whether the routine ends with it. */
void uvm_driver_learn(struct uvm_driver *d, bool routine_end);

/* The CPU touches a page at `time_ns`: nothing if it has it mapped, else one fault, served with the stock tree whatever
 * the policy. *end_ns gets the time the CPU goes on. */
void uvm_driver_cpu_touch(struct uvm_driver *d, uint32_t page, int64_t time_ns, int64_t *end_ns);

#endif
