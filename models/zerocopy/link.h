/* link: how long a launch's requests take, and what held them up.
 *
 *   wire  = (payload + completion_bytes x n) / (efficiency x raw)      down;  up: request_bytes x n, the larger counts
 *   tags  = n x round_trip / tags
 *   host  = 64 B x host lines / host_bytes_per_s + jumps x jump_ns + walks x walk_ns
 *   walks = jumps x (1 - reach_bytes / span), 0 where the span is within the reach
 *   issue = (warp loads x load_ns + (n - warp loads) x further_ns) / resident warps, no further requests below 0
 *   transfer = (wire^s + tags^s + host^s)^(1/s);  joined with issue by issue_sharpness, then with the longest list
 *   (its dependent loads one after the other) by chain_sharpness; plus launch_ns and vertex_ns x vertices.
 * Bounds without numbers in the platform are left out. A jump is a read that begins where none ended, at a place of
 * the span that nothing foretells: another page of host memory's banks, and, of a translation cache of whatever
 * replacement but the best, a hit with the share of the span that it reaches.
 * Worked example, H200, 128 B requests alone: wire 148 B / 59.23 GB/s = 2.50 ns, host 2 lines 2.17 ns: 50.5 GB/s.
 * Source: PCIe framing as in pcie.h; the form and its constants: platform files. Differs: bounds are joined by a
 * smooth maximum, which no measurement identifies; sharpness 8 and infinity differ by 3 %. */
#ifndef MODELS_ZEROCOPY_LINK_H
#define MODELS_ZEROCOPY_LINK_H

#include "models/gpu/gpu.h"
#include "models/zerocopy/pcie.h"
#include "models/zerocopy/warp.h"

enum link_bound { LINK_WIRE, LINK_TAGS, LINK_HOST, LINK_ISSUE, LINK_BOUNDS };

/* What one launch asks of the link. */
struct link_launch {
    struct request_mix mix;
    double loads;          /* warp loads */
    double loads_at_once;  /* of one warp before it waits */
    double resident_warps; /* on the whole GPU; 0: as many as fit */
    double chain_ns;       /* the longest list's dependent loads */
    double vertices;       /* actors started */
    double jumps;          /* reads that begin where none ended; 0: one behind the other, or not known */
    double span;           /* bytes that they jump about in */
};

/* Time in ns; *bound gets the largest of its parts. */
double link_time_ns(const struct pcie *p, const struct gpu *gpu, const struct link_launch *launch,
                    enum link_bound *bound);

/* Time that the requests alone take, wire, tags and host lines joined: `transfer` above. */
double link_service_ns(const struct pcie *p, const struct request_mix *mix);

/* Its parts, each alone: t[LINK_WIRE], t[LINK_TAGS], t[LINK_HOST]. */
void link_bounds_ns(const struct pcie *p, const struct request_mix *mix, double t[LINK_ISSUE]);

/* (sum of x^s)^(1/s), safe for large s. */
double link_join(const double *x, int n, double s);

/* A block copy of `bytes` in `copies` pieces, ns. */
double link_copy_ns(const struct pcie *p, double bytes, double copies);

/* Bytes on the link as hardware counters see them (headers, no framing): 16 B up for each request, payload and 12 B
 * down. Measured: H200, driver 580.159.04, 2026-11, to four digits. */
static inline uint64_t link_up_bytes(const struct request_mix *mix)
{
    return 16 * mix_requests(mix);
}

static inline uint64_t link_down_bytes(const struct request_mix *mix)
{
    return mix_payload(mix) + 12 * mix_requests(mix);
}

#endif
