/* uvm_extent: what a recording does not say of its memory, inferred: where allocations begin and end, and which pages
 * held data before the GPU touched them. replay/uvm/recording/uvm_recording.h tells the rules. */
#ifndef REPLAY_UVM_RECORDING_UVM_EXTENT_H
#define REPLAY_UVM_RECORDING_UVM_EXTENT_H

#include "replay/uvm/recording/uvm_recording.h"

/* Cut the edges of inferred allocations, fill populated, migrated and structure_bytes. Called by
 * uvm_recording_finish() once pieces, visits and events stand. */
int uvm_extent_infer(struct uvm_recording *recording, struct err *err);

#endif
