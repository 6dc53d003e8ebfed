/* program_counting: what the counts of program_totals.h are made of, body by body.
 *
 * Several threads may count the bodies of one launch, each into totals of its own: what is touched or modified for the
 * first time is found by one of them, whichever, so that the sums are the same. */
#ifndef REPLAY_PLACEMENT_PROGRAM_COUNTING_H
#define REPLAY_PLACEMENT_PROGRAM_COUNTING_H

#include "models/gpu/occupancy.h"
#include "replay/placement/program_totals.h"
#include "trace/program/pages.h"

struct counting {
    const struct program *program;
    const struct program_pages *pages; /* of it */
    const struct gpu *gpu;
    const struct program_alloc *allocs;
    size_t alloc_count;
    uint64_t *page_bits;   /* touched in this launch, by page of the page view */
    uint64_t *sector_bits; /* modified in this launch */
    uint64_t first_sector[PROGRAM_ALLOCS];
    size_t page_words, sector_words;
    uint8_t origin[PROGRAM_ALLOCS]; /* by managed allocation: its number in the program */
    /* The launch that is counted. */
    uint32_t launch;
    uint64_t warps, per_sm; /* per_sm: resident */
    struct issue issue;
};

/* Closed after a failure too. */
int counting_open(struct counting *c, const struct program_pages *pages, const struct gpu *gpu, struct err *err);
void counting_close(struct counting *c);

/* The launch comes: sets `cpu` and `resident` of zeroed totals. -1: it does not fit. */
int counting_begin(struct counting *c, uint32_t launch, struct launch_totals *t, struct err *err);

/* One body of a warp of it, but for its time. */
void counting_body(struct counting *c, const struct program_body *body, struct launch_totals *t);

/* A step, alone. */
double counting_step_ns(const struct actor_step *step, const struct issue *issue);

/* It has ended: its longest warp, and all warps one after the other, ns. */
void counting_end(const struct counting *c, double longest, double all, struct launch_totals *t);

/* What is modified of a counted launch, by allocation, goes to all launches'; the row is zeroed. */
void program_totals_modified(struct program_totals *totals, uint32_t launch, uint64_t *modified_of);

/* Totals without a launch counted; and when those are that no other is like. */
int program_totals_open(struct program_totals *totals, const struct program *program, struct err *err);
void program_totals_finish(struct program_totals *totals, const struct program *program);

#endif
