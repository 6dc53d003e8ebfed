/* uvm_legacy: the uvm engine's mode for managed memory before demand paging: decisions at launches and at CPU faults,
 * so that policies of fault batches have nothing to decide. */
#ifndef REPLAY_UVM_UVM_LEGACY_H
#define REPLAY_UVM_UVM_LEGACY_H

#include "replay/run/engine.h"

int uvm_legacy_replay(const struct replay_job *job, struct outcome *runs, struct err *err);

#endif
