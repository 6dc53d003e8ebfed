/* uvm_version: what of unified memory changed between versions of the driver. */
#ifndef REPLAY_UVM_UVM_VERSION_H
#define REPLAY_UVM_UVM_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "models/uvm/thrashing.h"

/* The major version in what a driver says of itself, e.g. 580 of "NVRM version: NVIDIA UNIX x86_64 Kernel Module
 * 580.159.04"; 0: there is none, as in NULL. */
int64_t uvm_version_in(const char *text);

/* How the lapse of thrashing detection adapts. Read in uvm_perf_thrashing.c of 525.60.13 to 580.126.20 (fixed),
 * 590.48.01 and 595.45.04 (adapting, as it is written). */
enum uvm_lapse uvm_version_lapse(int64_t driver);

enum { UVM_VERSION_DISCARDS = 580 };

/* Whether a program can discard memory, and discarded chunks have a list of their own. Read in 570.148.08 (no) and
 * 580.126.20 (yes). */
bool uvm_version_discards(int64_t driver);

#endif
