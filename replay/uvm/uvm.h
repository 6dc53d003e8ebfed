/* uvm: the unified-memory engine as `offchip replay uvm` has it: settings, metrics, and the choice between the closed
 * loop (workloads and traces of touches) and recordings of migrations. */
#pragma once

#include "replay/run/engine.h"
#include "replay/uvm/uvm_managed.h"

enum uvm_mode { UVM_DEMAND, UVM_LEGACY };

struct uvm_settings {
    struct uvm_managed_settings managed;
    int64_t traced;       /* 1: as under CUPTI's tracing */
    int64_t mode;         /* enum uvm_mode */
    double stop_ratio;    /* a run stops at so many times the baseline's time; 0: none does */
    int64_t process, gpu; /* of a trace with several recordings; RECORDING_ANY: the only one */
};

extern const struct engine engine_uvm;
