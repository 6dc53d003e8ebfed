/* warp: from the sectors that a warp's load touches to PCIe read requests.
 *
 * Sector 32 B, cache line 128 B, warp 32 lanes. The distinct sectors of one load, split into maximal runs of adjacent
 * sectors inside one line: a run of 1, 2, 3 or 4 sectors is one request of 32, 64, 96 or 128 B, which therefore never
 * crosses a line (rule run). Under rule line all of a load's sectors of one line are one request, which spans holes:
 * sectors 0 and 2 are 96 B. A load of 8-byte elements (256 B) is one unit too, not two half-warps.
 * Example: 32 lanes read 4 B each from byte 32 on: sectors 1, 2, 3 of line 0 and sector 0 of line 1: one request of
 * 96 B and one of 32 B.
 * Source: dissertation, section 2.3.3 and figure 2.4; 8-byte loads: section 2.5's request shares come out only so. Rule
 * line: measured, H200, driver 580.159.04, 2026-11: 1,110,110 loads of sectors 0 and 2 of a line made as many requests,
 * of 96 B and a 12 B header on the link.
 * Differs: on the H200, 0.16 % of such pairs were fetched as one 128 B request (two warps missing together). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/workloads/scan.h"

enum { WARP_LANES = 32, SECTOR_BYTES = 32, LINE_BYTES = 128, LINE_SECTORS = 4 };

/* What one read of a line's sectors is made of: a read for each run of adjacent ones, or one from the first to the
 * last, over those between them that nobody asked for. */
enum request_rule { REQUEST_RUN, REQUEST_LINE };

/* Requests by size, and the 64 B lines of host memory that they overlap, each request for itself. */
struct request_mix {
    uint64_t by_size[LINE_SECTORS]; /* of 32, 64, 96, 128 B */
    uint64_t host_lines;
};

static inline uint64_t mix_requests(const struct request_mix *m)
{
    return m->by_size[0] + m->by_size[1] + m->by_size[2] + m->by_size[3];
}

static inline uint64_t mix_payload(const struct request_mix *m)
{
    return 32 * m->by_size[0] + 64 * m->by_size[1] + 96 * m->by_size[2] + 128 * m->by_size[3];
}

static inline void mix_add(struct request_mix *m, const struct request_mix *more)
{
    for (int i = 0; i < LINE_SECTORS; i++)
        m->by_size[i] += more->by_size[i];
    m->host_lines += more->host_lines;
}

static inline void mix_subtract(struct request_mix *m, const struct request_mix *less)
{
    for (int i = 0; i < LINE_SECTORS; i++)
        m->by_size[i] -= less->by_size[i];
    m->host_lines -= less->host_lines;
}

/* The run of sectors first..last of one line. */
static inline void mix_run(struct request_mix *m, uint64_t first, uint64_t last)
{
    m->by_size[last - first]++;
    m->host_lines += (last >> 1) - (first >> 1) + 1;
}

/* Sectors first..last, split at lines. */
void mix_range(struct request_mix *m, uint64_t first, uint64_t last) PLUGIN_API(mix_range);

/* Called for every request. */
typedef void (*request_sink)(void *user, uint64_t addr, uint32_t bytes);

/* The exact coalescer: loads in, requests out, with memory of what a reuse rule says is still held. */
struct coalescer {
    enum scan_reuse reuse; /* none, prevwarp, warp; group4 is the caller's: it leaves lanes out */
    enum request_rule request;
    struct request_mix mix;
    request_sink sink; /* NULL: count only */
    void *user;
    uint64_t warp;  /* that the set belongs to */
    uint64_t *seen; /* sectors requested by this warp: open addressing, value + 1; cleared for each warp, asked
                       for each lane, so ours and no uthash (trace/base/id_map.h) */
    size_t seen_size, used;
    uint64_t previous[128]; /* sectors of the last load, sorted */
    size_t previous_count;
};

/* Rule run; the caller may set another. */
void coalescer_init(struct coalescer *c, enum scan_reuse reuse, request_sink sink, void *user)
    PLUGIN_API(coalescer_init);
void coalescer_release(struct coalescer *c) PLUGIN_API(coalescer_release);

/* One load: n <= 128 sectors in any order, repeated or not. warp: who loads; a change empties the warp's memory. */
int coalescer_load(struct coalescer *c, uint64_t warp, const uint64_t *sectors, size_t n, struct err *err)
    PLUGIN_API(coalescer_load);

/* Forget everything: a new launch. */
void coalescer_launch(struct coalescer *c) PLUGIN_API(coalescer_launch);
