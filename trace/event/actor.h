/* actor: who waits for whom; the closed loop that a stream of records cannot say.
 *
 * A program, seen by the pages it touches, is a row of launches; a launch is a number of actors (warps), of which so
 * many at once are resident on a multiprocessor; an actor is a row of steps. A step: the pages that are loaded together
 * and must all be there before the actor goes on; computing; pages that are stored to behind it, for which the actor
 * waits no sooner than at its end. A launch starts when the one before it has finished. A touch is satisfied once its
 * page has been resident at a moment the actor asked (the load has returned; the page may go again afterwards). Actors
 * start in ascending order, those that are `together` when a place for all of them falls free.
 *
 * Pages are numbered over all allocations together: actor_space_init() gives every allocation whole VA blocks of 512
 * pages, so that page / 512 is the block and page % 512 the page in the 2 MiB-aligned stretch of address space.
 *
 * Programs answer step() in closed form (trace/program/pages.h) and are never stored. actor_writer turns any of them
 * into records, and replay/uvm/actor_input.h turns those records into actors again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/event/record.h"

enum {
    ACTOR_LOADS = 64,            /* pages loaded by one step, at most */
    ACTOR_STORES = 64,           /* pages stored to by one step, at most; and those of one actor that are under way */
    ACTOR_PAGE_BYTES = 4096,     /* x86-64 page */
    ACTOR_BLOCK_PAGES = 512,     /* pages of a 2 MiB VA block */
    ACTOR_BLOCK_BYTES = 2097152, /* a VA block */
    ACTOR_ALLOCS = 4096,         /* allocations, at most */
    ACTOR_EXTRAS = 4,            /* extra columns of a stream of touches */
};

/* Bits of actor_alloc.advice: 1 << enum record_advice. */
enum actor_advice {
    ACTOR_ADVISED_FIRST = 1, /* read-mostly before the CPU wrote it, which may write on; no record says so */
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
    const char *kernel;   /* "conv2d"; valid as long as the state */
    uint32_t actors;      /* >= 1 */
    uint32_t per_sm;      /* actors resident on one multiprocessor at once, at most; 0: what the numbers below allow */
    uint32_t together;    /* so many consecutive actors share a multiprocessor (warps of one block); >= 1 */
    uint32_t threads;     /* of a thread block; 0: not known */
    uint32_t registers;   /* of a thread; 0: not known */
    uint32_t shared;      /* bytes of shared memory of a block */
    uint32_t blocks_most; /* blocks resident on one multiprocessor, at most; 0: as many as fit */
    bool cpu;             /* not a kernel: the CPU touches these pages, one actor after the other */
    bool waited;          /* the CPU waits for its end before it goes on */
};

/* actor_step.compute_ns: the platform says, by instructions and sectors. */
#define ACTOR_COMPUTE_AUTO UINT32_MAX

struct actor_step {
    uint32_t count;        /* pages loaded, 0 to ACTOR_LOADS: page[0 .. count); the same page may stand twice */
    uint32_t stores;       /* pages stored to, 0 to ACTOR_STORES: page[count .. count + stores) */
    uint32_t accesses;     /* page touches of warps that a turn stands for; statistics only */
    uint32_t instructions; /* that a turn issues, memory instructions included */
    uint32_t sectors;      /* of 32 B that a turn moves */
    uint32_t compute_ns;   /* of a turn, from its last load to the next turn; or ACTOR_COMPUTE_AUTO */
    uint32_t waits;  /* > 0: a turn waits for loads from so many KiB of memory that is the GPU's in any case; it has
                        no page */
    uint32_t turns;  /* >= 1: all of this so often, one turn after the other */
    uint64_t writes; /* bit i: loaded page i is written as well (an atomic) */
    uint32_t page[ACTOR_LOADS + ACTOR_STORES];
};

/* Where an actor stands; zeroed for a new one. */
struct actor_at {
    uint64_t turn;
    uint32_t body, access; /* what they number is the producer's business */
};

/* What produces actors. `state` is shared by runs in parallel; `run` is one run's own cursor. */
struct actor_ops {
    /* All allocations touched, laid out. *n of them; they stay valid as long as the state. */
    const struct actor_alloc *(*allocs)(const void *state, size_t *n);
    uint32_t (*launches)(const void *state);
    void (*launch)(const void *state, uint32_t launch, struct actor_launch *out);
    /* Fill the step where `actor` stands, and move *at on to the next. Returns 1, 0 if the actor has no further step
     * (it is done), or -1 with *err set. Within a run launches ascend. */
    int (*step)(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                struct err *err);
    /* The next step is asked for soon: have the cache fetch it; NULL: there is nothing to fetch. */
    void (*expect)(const void *run, uint32_t launch, uint32_t actor, const struct actor_at *at);
    /* A cursor for one run, and its end; both NULL where step() needs none and takes the state itself. */
    void *(*run_open)(const void *state, struct err *err);
    void (*run_close)(void *run);
    /* The first launch whose actors take the same steps, or the launch itself; NULL: no two do. */
    uint32_t (*like)(const void *state, uint32_t launch);
};

/* Give n allocations addresses one after the other, each on a 2 MiB boundary, as the CUDA driver does for large ones.
 */
void actor_space_place(struct actor_alloc *allocs, size_t n);

/* Number the pages of n allocations: sets first_page of each. Fails if one is empty, not page-aligned, or if together
 * they have more than 2^31 pages. */
int actor_space_init(struct actor_alloc *allocs, size_t n, struct err *err);

/* Pages numbered so far: one past the last page of the last block. */
uint64_t actor_space_pages(const struct actor_alloc *allocs, size_t n);

/* VA blocks that hold pages of allocation `a`. */
uint32_t actor_alloc_blocks(const struct actor_alloc *a);

/* The page of byte `offset` of an allocation. */
static inline uint32_t actor_page(const struct actor_alloc *a, uint64_t offset)
{
    return a->first_page + (uint32_t)(offset / ACTOR_PAGE_BYTES);
}

/* Which allocations the steps of launches [first, end) touch: sets touched[] of them, by allocation. -1 with *err set.
 */
int actor_touched(const struct actor_ops *ops, const void *state, uint32_t first, uint32_t end, bool *touched,
                  struct err *err);

/* Turns actors into records, in order: the allocations (ALLOC, with ADVISE), then for each launch KERNEL, the TOUCHes
 * of actor 0, of actor 1, ... and KERNEL_END. Fields: record_kinds[]; extra columns: actor_extras[]. */
struct actor_writer {
    void *run;
    uint32_t stage, launch, actor, index, touch;
    size_t alloc;
    bool advised, opened, loaded;
    struct actor_launch current;
    struct actor_at at;
    struct actor_step step;
};

/* "instructions", "sectors", "turns", "waits": of a step, with its first touch; 0 in every other record. */
extern const char *const actor_extras[ACTOR_EXTRAS];

/* At most cap records, with ACTOR_EXTRAS numbers each in extras; *n = 0 at the end. Start with a zeroed writer. */
int actor_writer_next(struct actor_writer *writer, const struct actor_ops *ops, const void *state,
                      struct record *records, int64_t *extras, size_t cap, size_t *n, struct err *err);
/* Must be called after the last actor_writer_next(). */
void actor_writer_close(struct actor_writer *writer, const struct actor_ops *ops);
