/* zerocopy_uvm: the uvm engine run on the scans of a workload: a warp for each list touches its pages. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_UVM_H
#define REPLAY_ZEROCOPY_ZEROCOPY_UVM_H

#include "models/gpu/gpu.h"
#include "models/uvm/uvm_platform.h"
#include "replay/run/progress.h"
#include "trace/workloads/scan.h"

struct zerocopy_uvm;

/* Keeps every scan until it runs: 16 bytes each. NULL with *err set on failure. */
struct zerocopy_uvm *zerocopy_uvm_new(const struct scan_setup *setup, struct err *err);
void zerocopy_uvm_free(struct zerocopy_uvm *uvm);

int zerocopy_uvm_add(struct zerocopy_uvm *uvm, const struct scan *scans, size_t n, struct err *err);
int zerocopy_uvm_launch(struct zerocopy_uvm *uvm, struct err *err);

/* Run all launches, read-mostly, with the driver's tree policy and `chunks` 2 MiB chunks of memory (0: unlimited). */
int zerocopy_uvm_run(struct zerocopy_uvm *uvm, const struct gpu *gpu, const struct uvm_platform *platform,
                     uint64_t chunks, double *time_ns, double *moved_bytes, struct err *err);

#endif
