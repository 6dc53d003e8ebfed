/* verify_silence: stretches in which kernels ran and nothing was recorded, although records came steadily before.
 *
 * Kernels that overlap are one stretch of work. In it, the gaps between the records (services, fault batches) are
 * sorted; a gap is a silence if it is over 10 times their 95th percentile, over 1 ms and over 2 % of the stretch. With
 * fewer than 8 records nothing is said. The three numbers are ours. Measured: H200, driver 580.159.04, 2026-11
 * (fixtures/ traces): in two complete recordings the longest gap is 2.5 and 3.0 times the percentile, in one that lost
 * its tail the silence is 209 times as long. */
#ifndef REPLAY_VERIFY_VERIFY_SILENCE_H
#define REPLAY_VERIFY_VERIFY_SILENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

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
