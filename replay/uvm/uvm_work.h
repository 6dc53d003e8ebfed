/* uvm_work: counts of what the driver's costs are paid for; the columns of a fit of those costs to measured times. */
#ifndef REPLAY_UVM_UVM_WORK_H
#define REPLAY_UVM_UVM_WORK_H

#include <stdint.h>

/* What the costs are paid for, besides batches, services and faults. */
struct uvm_work {
    uint64_t new_blocks;
    uint64_t moved_pages, moved_runs;       /* made resident; contiguous runs of them */
    uint64_t unmapped_pages, unmapped_runs; /* of those, mapped by the CPU */
    uint64_t copied_runs;
    uint64_t copied_services,
        copied_faults;      /* services that a recording shows, and the faulted pages of their records */
    uint64_t empty_batches; /* that served nothing */
};

#endif
