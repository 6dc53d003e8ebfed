/* verify_collect: what verify reads from a trace: the events of every 2 MiB stretch, batches, kernels, losses. */
#ifndef REPLAY_VERIFY_VERIFY_COLLECT_H
#define REPLAY_VERIFY_VERIFY_COLLECT_H

#include "replay/verify/verify_block.h"
#include "replay/verify/verify_silence.h"
#include "trace/uvm/batches.h"

/* What the program says of a range of memory: an allocation, advice, a prefetch of its own. */
struct verify_range {
    int64_t time_ns;
    uint64_t addr, bytes;
    enum verify_event_type type;
};

struct verify_input {
    struct batches batches; /* with the host-to-device services */
    struct services d2h;
    struct verify_event *events; /* in order of (block, time, order) */
    size_t event_count, event_cap;
    struct verify_range *ranges;
    size_t range_count, range_cap;
    struct verify_interval *kernels, *activity;
    size_t kernel_count, kernel_cap, activity_count, activity_cap;
    uint64_t records; /* of unified memory */
    uint64_t h2d_bytes, d2h_bytes;
    uint64_t too_large; /* migrations over 64 MiB, which are not followed */
    uint64_t dropped;   /* records the source says it lost */
    int threshold;      /* of the tree; 101: prefetching was off */
};

int verify_collect(struct verify_input *input, struct store *store, struct recording wanted, struct err *err);
void verify_input_release(struct verify_input *input);

#endif
