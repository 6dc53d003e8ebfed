/* zerocopy_uvm: unified memory beside zero-copy: the program itself, by the uvm engine (replay/uvm/uvm_managed.h). */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_UVM_H
#define REPLAY_ZEROCOPY_ZEROCOPY_UVM_H

#include "replay/zerocopy/zerocopy_run.h"

extern const struct zerocopy_baseline zerocopy_uvm;

#endif
