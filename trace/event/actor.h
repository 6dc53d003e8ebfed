/* actor: who waits for whom; the closed loop that a stream of records cannot say.
 *
 * A workload is a row of launches; a launch is a number of actors, of which so many at once are resident on a
 * multiprocessor; an actor is a row of steps; a step is the set of pages that must be touched before the actor goes
 * on, and the compute time after the last of them. A launch starts when the one before it has finished. A touch is
 * satisfied once its page has been resident at a moment the actor asked (the load has returned; the page may go again
 * afterwards). Actors start in ascending order, each on the first slot that falls free.
 *
 * Pages are numbered over all allocations together: actor_space_init() gives every allocation whole VA blocks of 512
 * pages, so that page / 512 is the block and page % 512 the page in the 2 MiB-aligned stretch of address space.
 *
 * Hot workloads answer step() in closed form and are never stored. actor_writer turns any of them into records, and
 * replay/uvm/actor_trace.h turns those records into actors again. */
#ifndef TRACE_EVENT_ACTOR_H
#define TRACE_EVENT_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/event/record.h"

enum {
    ACTOR_TOUCHES = 64,          /* pages of one step, at most */
    ACTOR_PAGE_BYTES = 4096,     /* x86-64 page */
    ACTOR_BLOCK_PAGES = 512,     /* pages of a 2 MiB VA block */
    ACTOR_BLOCK_BYTES = 2097152, /* a VA block */
    ACTOR_ALLOCS = 4096,         /* allocations, at most */
};

/* Bits of actor_alloc.advice: 1 << enum record_advice. */
enum actor_advice {
    ACTOR_READ_MOSTLY = 1 << RECORD_ADVISE_READ_MOSTLY,           /* copied, not moved; dropped on eviction */
    ACTOR_PREFERRED_HOST = 1 << RECORD_ADVISE_PREFERRED_LOCATION, /* stays with the CPU; the GPU maps it remotely */
    ACTOR_ACCESSED_BY = 1 << RECORD_ADVISE_ACCESSED_BY,           /* mapped remotely by the GPU: no faults */
};

struct actor_alloc {
    char name[24];
    uint64_t addr;       /* page-aligned */
    uint64_t bytes;      /* > 0 */
    uint32_t advice;     /* enum actor_advice */
    bool host;           /* the CPU has written all of it before the first launch: its pages must be copied */
    uint32_t first_page; /* its number in the space; filled by actor_space_init() */
};

struct actor_launch {
    const char *kernel; /* "conv2d"; valid as long as the state */
    uint32_t actors;    /* >= 1 */
    uint32_t per_sm;    /* actors resident on one multiprocessor at once, at most; >= 1 */
    uint32_t together;  /* so many consecutive actors share a multiprocessor (warps of one block); >= 1 */
    bool cpu;           /* not a kernel: the CPU touches these pages, one actor after the other */
};

struct actor_step {
    uint32_t count;      /* pages, 0 to ACTOR_TOUCHES; the same page may stand twice */
    uint32_t accesses;   /* page touches of warps that these stand for; statistics only */
    uint32_t compute_ns; /* after the last touch is satisfied */
    uint64_t writes;     /* bit i: touch i writes */
    uint32_t page[ACTOR_TOUCHES];
};

/* What produces actors. `state` is shared by runs in parallel; `run` is one run's own cursor. */
struct actor_ops {
    /* All allocations touched, laid out. *n of them; they stay valid as long as the state. */
    const struct actor_alloc *(*allocs)(const void *state, size_t *n);
    uint32_t (*launches)(const void *state);
    void (*launch)(const void *state, uint32_t launch, struct actor_launch *out);
    /* Fill step number `index` of `actor`. Returns 1, 0 if the actor has no such step (it is done), or -1 with *err
     * set. Within a run launches ascend, and so do the steps of an actor; the step just asked for is not asked again.
     */
    int (*step)(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step, struct err *err);
    /* A cursor for one run, and its end; both NULL where step() needs none and takes the state itself. */
    void *(*run_open)(const void *state, struct err *err);
    void (*run_close)(void *run);
};

/* Give n allocations addresses one after the other, each on a 2 MiB boundary, as the CUDA driver does for large ones.
 */
void actor_space_place(struct actor_alloc *allocs, size_t n);

/* Number the pages of n allocations: sets first_page of each. Fails if one is empty, not page-aligned, or if together
 * they have more than 2^31 pages. */
int actor_space_init(struct actor_alloc *allocs, size_t n, struct err *err);

/* Pages numbered so far: one past the last page of the last block. */
uint32_t actor_space_pages(const struct actor_alloc *allocs, size_t n);

/* VA blocks that hold pages of allocation `a`. */
uint32_t actor_alloc_blocks(const struct actor_alloc *a);

/* The page of byte `offset` of an allocation. */
static inline uint32_t actor_page(const struct actor_alloc *a, uint64_t offset)
{
    return a->first_page + (uint32_t)(offset / ACTOR_PAGE_BYTES);
}

/* Add a page to a step unless it is the one added last. */
static inline void actor_touch(struct actor_step *step, uint32_t page)
{
    if (step->count && step->page[step->count - 1] == page)
        return;
    step->page[step->count++] = page;
}

/* Turns actors into records, in order: the allocations (ALLOC, with ADVISE), then for each launch KERNEL, the TOUCHes
 * of actor 0, of actor 1, ... and KERNEL_END. Which field means what stands in record_kinds[]. */
struct actor_writer {
    void *run;
    uint32_t stage, launch, actor, index, touch;
    size_t alloc;
    bool advised, opened, loaded;
    struct actor_launch current;
    struct actor_step step;
};

/* As workload_type.next: at most cap records, *n = 0 at the end. Start with a zeroed writer. */
int actor_writer_next(struct actor_writer *writer, const struct actor_ops *ops, const void *state,
                      struct record *records, size_t cap, size_t *n, struct err *err);

#endif
