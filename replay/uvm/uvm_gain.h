/* uvm_gain: how much of the kernels' recorded time fault service covers, and so what a change to unified memory can
 * gain at most.
 *
 * Served is the time within kernels in which some fault batch was under way (kind-4 records: first fault to replay;
 * copies for faults alone where the recording has no such records). Whatever decides what migrates, when and where to,
 * the kernels take the rest: no change gains more than kernel_ns / (kernel_ns - served_ns). */
#ifndef REPLAY_UVM_UVM_GAIN_H
#define REPLAY_UVM_UVM_GAIN_H

#include "replay/uvm/uvm_recording.h"

struct uvm_gain {
    int64_t kernel_ns; /* in which some kernel ran; 0: none is recorded, and nothing can be said */
    int64_t served_ns; /* 0 .. kernel_ns */
    bool whole;        /* from fault records; else service is at least that, and what may be gained is not known */
};

struct uvm_gain uvm_gain_of(const struct uvm_recording *recording);

/* The largest speed-up that is left: INFINITY where service covers all. */
double uvm_gain_most(const struct uvm_gain *gain);

/* "fault service covers 47 % of the kernels' 2.1 ms: a change to unified memory gains at most 1.9x"; below 1.1x:
 * "..: leave it". "" where nothing can be said. Returns text. */
const char *uvm_gain_say(const struct uvm_gain *gain, char *text, size_t size);

#endif
