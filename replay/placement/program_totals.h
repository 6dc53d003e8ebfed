/* program_totals: exact counts of what a program's launches touch, issue and take, without cache or cut.
 *
 * Bytes touched: distinct 4 KiB pages of managed memory, which a GPU maps. Bytes modified: distinct 32 B sectors, which
 * a cache writes back. Both are per launch. Memory that is always the GPU's (program_alloc.device) counts as neither.
 * Time of a kernel: models/gpu/occupancy.h gives each warp's steps (or program.compute_ns a turn), every turn of a body
 * as long as its first. The kernel takes as long as its longest warp, or as all of them on the resident places,
 * whichever is more. Launches themselves take no time. Worked example: 64 warps of 100 ns each on 16 places: 64 x 100 /
 * 16 = 400 ns; 3 warps on 16 places: 100 ns. */
#pragma once

#include "models/gpu/gpu.h"
#include "models/zerocopy/launch_weights.h"
#include "trace/program/pages.h"
#include "trace/program/program.h"

struct launch_totals {
    bool cpu;               /* not a kernel; what follows but `touched` and `modified` is 0 */
    bool waited;            /* the CPU waits for its end */
    uint64_t touched_bytes; /* in pages */
    uint64_t modified_bytes;
    uint64_t *modified_of;      /* by allocation, added to; while it is counted only */
    uint64_t touched, modified; /* allocations, bit by number */
    uint64_t loaded;            /* of them, those that plain loads read: an atomic's alone are not */
    uint64_t accesses;          /* memory instructions of warps */
    uint64_t instructions;      /* of them, those that access managed memory */
    uint64_t loads, waits;      /* of all memory: loads, and how often a warp stopped for those before */
    uint64_t storing;           /* turns of warps that store */
    double places;              /* warps at once on the whole GPU */
    uint64_t resident;          /* blocks at once on the whole GPU */
    double warps;               /* resident on a multiprocessor */
    double ms;
};

struct program_totals {
    const struct program_alloc *allocs; /* the program's */
    size_t alloc_count;
    struct launch_totals *launch;
    uint32_t launches;
    uint32_t kernels;                     /* launches that are no phase of the CPU */
    uint64_t modified_of[PROGRAM_ALLOCS]; /* bytes modified by all of them, by allocation */
    double last_stored; /* of what all launches modify, the share that each warp's place stores in its last turn */
    uint32_t *times;    /* of each launch: itself and those like it; 0: it is like one before it */
};

/* Count. Fails if nothing is managed, or if a launch does not fit on a multiprocessor. Released after failure too. */
int program_totals_init(struct program_totals *totals, const struct program *program, const struct gpu *gpu,
                        struct err *err);
void program_totals_release(struct program_totals *totals);

/* Extrapolate totals from two parts of a program: the first blocks of each launch, a larger number of them in the
 * second part (or all in both). Counts grow per block as from the first part to the second. Released likewise. */
struct program_totals_part {
    const struct program_totals *totals;
    const uint64_t *blocks; /* by launch */
};

int program_totals_continue(struct program_totals *totals, const struct program *program,
                            const struct program_totals_part part[2], struct err *err);

/* Copies of a program whose memory is copied: memory that the CPU has written, before the next kernel; memory that a
 * kernel has written, before the CPU touches it and at the end. Whole allocations.
 *
 * Memory that is always the GPU's is never copied; scratch is not copied back. Worked example: A written by the CPU, a
 * kernel reads A and writes B (8 bytes each): A goes in, B comes back last. */
struct program_copies {
    int64_t in_bytes, in_copies;
    int64_t back_bytes, back_copies; /* all of them */
    int64_t last_bytes, last_copies; /* of them, at the end: nobody in the program waits for those */
    int64_t dirty_kernels;           /* kernels that find memory written by the CPU since the kernel before */
    int64_t dirty_bytes;             /* pages that those touch */
    uint64_t copied;                 /* allocations that ever are, bit by number */
};

void program_copies_count(struct program_copies *copies, const struct program_totals *totals);

/* --- what the L2 serves of it --- */

struct program_hits {
    uint64_t sectors, hits; /* of managed memory */
    uint64_t instructions;  /* that were run, all memory */
    bool cut;               /* not all of them */
};

/* cut: 0: none. totals: of the same program. */
int program_hits_run(struct program_hits *hits, const struct program *program, const struct program_totals *totals,
                     const struct gpu *gpu, uint64_t cut, struct err *err);

/* --- the same, counted as runs go by --- */

struct totals_watch;

/* `pages` and `weights`, which get what is counted too (NULL: nothing does), outlive the watch. NULL with *err set. */
struct totals_watch *totals_watch_open(const struct program_pages *pages, const struct gpu *gpu,
                                       struct launch_weights *weights, struct err *err);

/* State: the watch. A launch that does not fit on a multiprocessor fails its first step. */
extern const struct actor_ops totals_watch_ops;

/* The totals, once, when all runs are closed; to be released. */
void totals_watch_end(struct totals_watch *watch, struct program_totals *totals);
void totals_watch_close(struct totals_watch *watch); /* NULL: nothing */
