/* verify_collect: what verify reads from a trace: the events of every 2 MiB stretch, batches, kernels, losses. */
#ifndef REPLAY_VERIFY_VERIFY_COLLECT_H
#define REPLAY_VERIFY_VERIFY_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/verify/verify_block.h"
#include "trace/base/err.h"
#include "trace/derived/batches.h"

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

/* --- verify_silence: stretches in which kernels ran and nothing was recorded, although records came steadily --- */

/* Kernels that overlap are one stretch of work. In it, the gaps between the records (services, fault batches) are
 * sorted; a gap is a silence if it is over 10 times their 95th percentile, over 1 ms and over 2 % of the stretch. With
 * fewer than 8 records nothing is said. The three numbers are ours. Measured: H200, driver 580.159.04, 2026-11
 * (fixtures/ traces): in two complete recordings the longest gap is 2.5 and 3.0 times the percentile, in one that lost
 * its tail the silence is 209 times as long. */

struct verify_interval {
    int64_t start_ns, end_ns;
    uint64_t bytes; /* moved */
};

struct verify_silence {
    size_t count;           /* silences found */
    int64_t longest_ns;     /* the longest, */
    int64_t from_ns, to_ns; /* where it is, */
    int64_t usual_ns;       /* the 95th percentile of the gaps of its stretch, */
    int64_t stretch_ns;     /* and how long that stretch of work is */
    double lost_bytes;      /* what the silences would have moved at the pace of the rest of their stretches */
    bool tail;              /* it reaches to the end of the work */
};

/* kernels and activity are sorted by start in place. */
int verify_silence_find(struct verify_silence *silence, struct verify_interval *kernels, size_t kernel_count,
                        struct verify_interval *activity, size_t activity_count, struct err *err);

#endif
