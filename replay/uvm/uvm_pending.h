/* uvm_pending: what the driver has set going and the GPU has not seen yet: pages that come, and replays, each at its
 * time. The GPU runs, and they happen when that has come.
 *
 * With replay_policy=batch-flush the driver waits for each replay, so nothing is left behind a batch. Otherwise it goes
 * on with the next batch while copies and replays of earlier ones are still to come. */
#ifndef REPLAY_UVM_UVM_PENDING_H
#define REPLAY_UVM_UVM_PENDING_H

#include "replay/uvm/uvm_driver.h"
#include "replay/uvm/uvm_gpu.h"

/* In an arrival's block: none comes, the GPU replays. */
#define UVM_PENDING_REPLAY UINT32_MAX

struct uvm_pending {
    struct uvm_arrival *events; /* [head, count), in order of time; what was added first, first */
    size_t head, count, cap;
};

void uvm_pending_release(struct uvm_pending *p);

/* Pages come, or with UVM_PENDING_REPLAY a replay does. 0, or -1 with *err set. */
int uvm_pending_add(struct uvm_pending *p, const struct uvm_arrival *event, struct err *err);

/* A replay at `time_ns`. */
int uvm_pending_add_replay(struct uvm_pending *p, int64_t time_ns, struct err *err);

/* The GPU runs until `until_ns`, what is pending by then included, or, with interrupts on, until it is to be answered:
 * g->stop_ns. */
int uvm_pending_run(struct uvm_pending *p, struct uvm_gpu *g, int64_t until_ns, struct err *err);

/* No actor runs: all of it happens. Returns when the last of it does, or `time_ns` if that is later. */
int64_t uvm_pending_settle(struct uvm_pending *p, struct uvm_gpu *g, int64_t time_ns);

#endif
