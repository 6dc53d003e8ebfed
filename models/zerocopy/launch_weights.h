/* launch_weights: what a launch reads of host memory, by multiprocessor, counted body by body as its warps go by.
 *
 * Blocks go to the multiprocessors in turn. Counted are the lines that loads touch, without caches, and how often each
 * warp waits for host memory; the block of the warp that waits most is remembered, since a launch may last as long.
 * Which memory is the host's may be said afterwards: then lines are counted by allocation, and waits by which
 * allocations a body reads; of two warps one is forgotten if the other waits at least as often whatever is on the GPU.
 * Worked example: warp 0 reads A 3 times, warp 1 A and B in one body twice. With both in host memory warp 0 is the
 * heaviest, with A on the GPU warp 1. Threads may each count warps into a tally of their own, added in any order. */
#pragma once

#include "trace/program/program.h"

enum { PART_SMS = 1024 }; /* multiprocessors, at most */

struct launch_weight {
    uint64_t loads;           /* of warps, of all memory */
    uint64_t lines;           /* of host memory */
    uint64_t of_sm[PART_SMS]; /* lines, by multiprocessor */
    uint64_t heaviest;        /* block */
};

struct launch_tally;

/* apart: allocations are told apart; else host memory is what is not kept on the GPU. NULL with *err set. */
struct launch_tally *launch_tally_new(const struct program *program, uint32_t sms, bool apart, struct err *err);
void launch_tally_free(struct launch_tally *tally); /* NULL: nothing */

/* Forget all, and count a launch whose blocks have so many warps. */
void launch_tally_begin(struct launch_tally *tally, uint32_t warps_of_block);
/* A body of a warp, those of a warp one behind the other; and the warp's end. */
void launch_tally_body(struct launch_tally *tally, uint64_t warp, const struct program_body *body);
void launch_tally_end(struct launch_tally *tally, uint64_t warp);

/* What another tally of the same program and launch has counted comes to this one. */
void launch_tally_add(struct launch_tally *tally, const struct launch_tally *other);

/* Of the program with these allocations on the GPU, its own among them. False: too much was to be told apart. */
bool launch_tally_get(const struct launch_tally *tally, const struct program_alloc *allocs,
                      struct launch_weight *weight);

/* All of a launch; run: of the program, at this launch or before; the tally is not `apart`. -1 with *err set. */
int launch_weigh(const struct program *program, void *run, uint32_t launch, struct launch_tally *tally,
                 struct launch_weight *weight, struct err *err);

/* What some of a GPU's multiprocessors get of a launch, as a program of that one launch.
 *
 * Blocks go to the multiprocessors in turn, so of n multiprocessors number r gets blocks r, r + n, r + 2 n, ..; a part
 * is the blocks of some r, in their order. So neighbours of a block are the blocks that run beside it on the whole GPU.
 * Worked example: 300 blocks, 132 multiprocessors, parts 0 and 40: blocks 0, 40, 132, 172, 264.
 * Source: systematic sampling in clusters. Differs: on a real GPU later blocks go to whichever multiprocessor is done
 * first; within a part they do. */
struct launch_part {
    const struct program *whole;
    void *run; /* of the whole, not closed here */
    uint32_t launch, sms;
    struct program_launch shape; /* of the whole launch */
    uint32_t kept;               /* multiprocessors of the part */
    uint32_t of[PART_SMS];       /* ascending */
    struct program program;      /* the part: valid while the struct stays where it is */
};

/* `kept` of `sms` multiprocessors, sms / kept apart, from `first` < sms / kept on; the caller may change of[]. */
void launch_part_init(struct launch_part *part, const struct program *whole, void *run, uint32_t launch, uint32_t sms,
                      uint32_t kept, uint32_t first);

/* Cache of a program's per-launch tallies, shared by callers.
 *
 * Code that walks all bodies anyway fills it; simulations of host reads (host_reads.h) then need no walk of their own,
 * whatever memory is on the GPU. It holds nothing for launches whose tallies would exceed 128 MiB together, nor for
 * other kernels' weights that nobody has computed. */
struct launch_weights;

/* Of a GPU of so many multiprocessors. The program must outlive them. NULL with *err set. */
struct launch_weights *launch_weights_open(const struct program *program, uint32_t sms, struct err *err);
void launch_weights_close(struct launch_weights *weights); /* NULL: nothing */

/* A tally to count with, which tells allocations apart; the caller frees it. NULL with *err set. */
struct launch_tally *launch_weights_tally(const struct launch_weights *weights, struct err *err);
/* What was counted of a launch, or of some of its warps, by one thread at a time. */
void launch_weights_add(struct launch_weights *weights, uint32_t launch, const struct launch_tally *tally);

/* Of a launch what two parts of it have counted, the second more: it goes on `by` times as from the one to the other.
 */
void launch_weights_continue(struct launch_weights *weights, uint32_t launch, const struct launch_weights *first,
                             const struct launch_weights *second, double by);

/* Whether they are this program's. */
bool launch_weights_are_of(const struct launch_weights *weights, const struct program *program);
/* Of a launch with the program's allocations, more of which may be on the GPU. False: not known. */
bool launch_weights_get(const struct launch_weights *weights, uint32_t launch, uint32_t sms,
                        const struct program_alloc *allocs, struct launch_weight *weight);

/* Of another program that reads the same memory, by a name for it: who has gone over a launch of it keeps the weight
 * for whoever simulates it next. Any thread. False: nobody has, or not for that GPU. */
bool launch_weights_kept(const struct launch_weights *weights, const char *name, uint32_t launch, uint32_t sms,
                         struct launch_weight *weight);
/* Without memory for it, or beyond 128 MiB, it is not kept. */
void launch_weights_keep(const struct launch_weights *weights, const char *name, uint32_t launch, uint32_t sms,
                         const struct launch_weight *weight);
