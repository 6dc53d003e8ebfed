/* link: how long a launch's requests take, and what limits them.
 *
 *   wire  = (payload + completion_bytes x n) / (efficiency x raw)      down;  up: request_bytes x n, the larger counts
 *   tags  = n x round_trip / tags
 *   host  = (lines^s + translations^s)^(1/s): 64 B x host lines / host_bytes_per_s + jumps x jump_ns, walks x walk_ns
 *   walks = jumps x (1 - reach_bytes / span), 0 where the span is within the reach
 *   issue = (warp loads x load_ns + (n - warp loads) x further_ns) / resident warps, no further requests below 0
 *   transfer = (wire^s + tags^s + host^s)^(1/s);  joined with issue by issue_sharpness, then with the longest list
 *   (its dependent loads one after the other) by chain_sharpness; plus vertex_ns x vertices. Launching
 *   it takes [launch] besides (models/gpu/launch.h).
 * A bound without numbers in the platform is left out. A jump is a read that does not begin where another ended, at a
 * random place of the span. It changes the page of host memory's banks. It hits a translation cache with the share of
 * the span that the cache reaches.
 * Worked example, H200, 128 B requests alone: wire 148 B / 59.23 GB/s = 2.50 ns, host 2 lines 2.17 ns: 50.5 GB/s.
 * Source: PCIe framing as in [pcie]; the form and its constants: platform files. Differs: a smooth maximum joins the
 * bounds, which no measurement identifies; sharpness 8 and infinity differ by 3 %. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/gpu.h"
#include "models/zerocopy/warp.h"

/* Numbers of a GPU's link to host memory; section [pcie] of a platform file.
 *
 * 0 means "no such bound known" where a key says so. Times here and in lane.h are made from these alone. */
struct pcie {
    /* The wire. */
    double gigatransfers;     /* GT/s of a lane: 8, 16, 32 */
    int64_t lanes;            /* 1..32 */
    double efficiency;        /* what DLLPs, SKP ordered sets and the host leave of the raw rate */
    int64_t completion_bytes; /* overhead of a completion: 12 header + 4 STP token + 4 LCRC */
    int64_t request_bytes;    /* a read request on the wire: 16 header + 4 + 4 */
    int64_t request;          /* enum request_rule (warp.h) */
    /* Outstanding requests. */
    int64_t tags;         /* 0: no such bound */
    double round_trip_ns; /* tags / round trip is one constant: requests/s */
    /* Host memory. */
    double host_bytes_per_s; /* in whole 64 B lines; 0: no such bound */
    double jump_ns;          /* host memory's time for a jump; 0: not modelled */
    double walk_ns;          /* of a jump beyond the reach: between fetched translations; 0: not modelled */
    double reach_bytes;      /* host memory whose translations the GPU keeps */
    double sharpness;        /* exponent that joins the bounds; large: the largest alone counts */
    /* The GPU's ability to issue. */
    double load_ns;         /* a load's latency, unloaded link; 0: not modelled */
    double further_ns;      /* a load's further requests, each so much behind the one before; 0: not modelled */
    double issue_sharpness; /* exponent for too few warps */
    double visit_ns;        /* reading a label in GPU memory, waited for; added to each dependent load */
    double chain_sharpness; /* exponent that joins a launch's longest list with its transfer */
    double vertex_ns;       /* per vertex and launch: a warp that finds its vertex inactive; 0: not modelled */
    /* Block copies. */
    int64_t copy_payload_bytes;   /* of one completion */
    double copy_setup_ns;         /* of one asynchronous copy */
    double cpu_rows_bytes_per_s;  /* the CPU copies scattered rows into a staging buffer */
    double cpu_lists_bytes_per_s; /* the CPU finds and copies the lists of active vertices */
    double peer_bytes_per_s;      /* from other GPUs (NVLink), all links together; 0: no such link */
    int64_t uvm_reserve_bytes;    /* GPU memory that managed data cannot have */
    /* L1 (lane.h); l1_shared_block 0 with l1_steady 0: not measured. */
    int64_t l1_block_bytes; /* shared memory that the system takes for each resident block */
    double l1_together;     /* re-fetch strength while blocks run in step (the first wave) */
    double l1_steady;       /* later; 0: no L1 model for this platform */
    double l1_group;        /* between loads that were issued together */
};

/* Raw rate, bytes/s in one direction: GT/s x lanes x 128/130 / 8. */
double pcie_raw_bytes_per_s(const struct pcie *p);

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

/* Reads of `requests` requests that take `read_ns` alone, beside stores of `stored` bytes in pieces of `piece` B. A
 * link sends both ways at once: requests and stores go up while answers come down, and the two times are joined as
 * bounds are. Example, H200: 1 MiB read by lines takes 20.8 us; 1 MiB of stores of 128 B goes up in 24.3 us, 24.6
 * together. */
double link_beside_ns(const struct pcie *p, double read_ns, double requests, double stored, double piece);

/* Reads that take read_ns with all translations cached; `jumps` of them go to random places of `span` bytes. */
double link_walked_ns(const struct pcie *p, double read_ns, double jumps, double span);

/* A block copy of `bytes` in `copies` pieces, ns. */
double link_copy_ns(const struct pcie *p, double bytes, double copies);

/* Blocks copied by one call (cudaMemcpyBatchAsync()); section [batch]. Each takes the copy engine's time for its bytes,
 * and its descriptor's. Short blocks take another, longer one, as if by another way: the cliff. The call itself takes
 * [pcie] copy_setup_ns.
 * Worked example, h100, 10,000 blocks of 28 KiB: 2.6 us + 10,000 x (515 + 518) ns = 10.3 ms, 27.7 GB/s. */
struct link_batch {
    double block_ns, small_ns; /* of a block, besides its bytes; of one below small_bytes */
    double small_bytes;
};

double link_batch_ns(const struct pcie *p, const struct link_batch *batch, double blocks, double block_bytes);

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

/* The link as a queue: how long each request occupies it.
 *
 * Wire, tags and host memory work side by side, so a request costs what it adds to the time of the requests before it:
 * between half as many as there are tags and as many (no tags: 256). With W, T, H the sums of their
 * bounds and f = (W^s + T^s + H^s)^(1/s) the joined time, it adds (W/f)^(s-1) w + (T/f)^(s-1) t + (H/f)^(s-1) h of its
 * own bounds w, t, h. These add up to f (Euler): a steady mix takes its link_service_ns() in whatever order.
 * Worked example, H200: requests of 96 B (2.0 ns of wire, 2.2 of host memory) and of 32 B (0.9, 1.1) in turn take
 * 3.3 ns a pair, 38.5 GB/s; each for itself would take longer. Differs: weights are renewed every 64th request. */
struct link_queue {
    double of[LINE_SECTORS][LINE_SECTORS][LINK_ISSUE]; /* a request's bounds in ns, by its first and last sector */
    double weight[LINK_ISSUE];
    double now[LINK_ISSUE], before[LINK_ISSUE]; /* sums: of the half of the window that fills, and of the one before */
    double sharpness;
    uint32_t half;    /* requests of half a window */
    uint32_t n, look; /* requests in `now`; the weights are looked up when there are so many */
};

void link_queue_init(struct link_queue *q, const struct pcie *p);

/* What a request from sector `from` to sector `to` of a line adds, in ns. */
double link_queue_add(struct link_queue *q, uint32_t from, uint32_t to);

/* A request, added a while ago, grows to from..to: what that adds. */
double link_queue_grow(struct link_queue *q, uint32_t had_from, uint32_t had_to, uint32_t from, uint32_t to);

/* What hardware counters say of a kernel's reads of host memory.
 *
 * Counters at L2 give requests n and sectors s. A request is 1 to 4 sectors, so the mean size is 32 s / n. How many
 * have which size follows only where one combination is possible (s = n: all of 32 B; s = 4 n: all of 128 B; s = n + 1:
 * one of 64 B, the others of 32 B); else each size has a lower and an upper bound, both of which are reached. Example:
 * 3 requests, 6 sectors (three of 64 B, or 32 + 64 + 96 B, or 32 + 32 + 128 B): of 32 B there are 0 to 2, of 64 B 0 to
 * 3, of 96 B and of 128 B 0 or 1. Counters of the link give bytes: 16 go up for each read request, payload and 12 B for
 * each completion come down, if the kernel only reads host memory (what it writes goes up too).
 * Source: measured on an H200 (driver 580.159.04, 2026-11), to four digits; sizes: dissertation, section 2.3.3.
 * Differs: on the H200 the counters see 0.16 % of the pairs that share a line as one request (warp.h). */

/* Requests of 32, 64, 96 and 128 B: at least and at most. */
struct counter_sizes {
    uint64_t least[LINE_SECTORS], most[LINE_SECTORS];
};

/* The bounds for one launch; they may be added. False, and nothing is written: no sizes give these counters. */
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
