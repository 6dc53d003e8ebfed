/* uvm: the unified-memory engine as `offchip replay uvm` has it: settings, metrics, and the choice between the closed
 * loop (workloads and traces of touches) and recordings of migrations. */
#ifndef REPLAY_UVM_UVM_H
#define REPLAY_UVM_UVM_H

#include "replay/run/engine.h"
#include "replay/uvm/uvm_simulate.h"

enum uvm_mode { UVM_DEMAND, UVM_LEGACY };

/* Off, by how the lapse adapts, as enum uvm_lapse has it, or by the driver's version. */
enum uvm_thrashing_mode { UVM_THRASHING_OFF, UVM_THRASHING_FIXED, UVM_THRASHING_DRIVER = 4 };

struct uvm_settings {
    int64_t oversubscription_pct;  /* footprint / available memory x 100; 0: sufficient */
    int64_t gpu_memory_bytes;      /* memory for managed data; 0: by oversubscription_pct */
    int64_t copy_engines;          /* 2: copies out run beside copies in */
    int64_t traced;                /* 1: as under CUPTI's tracing */
    int64_t thrashing;             /* enum uvm_thrashing_mode */
    int64_t access_counters;       /* 1: notifications migrate what is mapped remotely */
    const char *advise, *prefetch; /* replay/uvm/uvm_hints.h; NULL: none */
    int64_t mode;                  /* enum uvm_mode */
    int64_t process, gpu;          /* of a trace with several recordings; RECORDING_ANY: the only one */
};

extern const struct engine engine_uvm;

#endif
