/* counter_model: what hardware counters say of a kernel's reads of host memory.
 *
 * Counters at L2 give requests n and sectors s. A request is 1 to 4 sectors, so the mean size is 32 s / n; how many
 * requests have which size follows only where one combination is possible (s = n: all of 32 B; s = 4 n: all of 128 B;
 * s = n + 1: one of 64 B, the others of 32 B). Otherwise each size has a lower and an upper bound, and both are
 * reached. Example: 3 requests, 6 sectors: three of 64 B, or 32 + 64 + 96 B, or 32 + 32 + 128 B: of 32 B there are 0 to
 * 2, of 64 B 0 to 3, of 96 B 0 or 1, of 128 B 0 or 1. Counters of the link give bytes: 16 go up for each read request,
 * payload and 12 B for each completion come down, if the kernel only reads host memory (what it writes goes up too).
 * Source: measured on an H200 (driver 580.159.04, 2026-11), to four digits; sizes: dissertation, section 2.3.3.
 * Differs: on the H200 the counters see 0.16 % of the pairs that share a line as one request (warp.h). */
#ifndef MODELS_ZEROCOPY_COUNTER_MODEL_H
#define MODELS_ZEROCOPY_COUNTER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "models/zerocopy/warp.h"

/* Requests of 32, 64, 96 and 128 B: at least and at most. */
struct counter_sizes {
    uint64_t least[LINE_SECTORS], most[LINE_SECTORS];
};

/* The bounds for one launch; those of several launches may be added. False (and nothing written) if no sizes give these
 * counters. */
bool counter_sizes(uint64_t requests, uint64_t sectors, struct counter_sizes *bounds);

/* Requests, from the bytes sent up the link. */
static inline double counter_link_requests(double up_bytes)
{
    return up_bytes / 16;
}

/* Bytes of data that came down, from the bytes of both directions. */
static inline double counter_link_payload(double up_bytes, double down_bytes)
{
    return down_bytes - 12 * counter_link_requests(up_bytes);
}

#endif
