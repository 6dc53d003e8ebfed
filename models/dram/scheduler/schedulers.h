/* schedulers: the policies of the memory controller, one file each. */
#ifndef MODELS_DRAM_SCHEDULER_SCHEDULERS_H
#define MODELS_DRAM_SCHEDULER_SCHEDULERS_H

#include "models/dram/dram_policy.h"

extern const struct dram_policy dram_fcfs, dram_mem_first, dram_pim_first, dram_frfcfs, dram_frfcfs_cap,
    dram_frfcfs_modecap, dram_bliss, dram_frrr_fcfs, dram_gather_issue, dram_f3fs;

#endif
