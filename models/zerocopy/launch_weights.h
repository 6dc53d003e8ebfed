/* launch_weights: the tallies of a program's launches (launch_tally.h), kept for all that ask for its weights.
 *
 * Who goes over all bodies of a program anyway counts them meanwhile; simulations of its reads (host_reads.h), wherever
 * its memory lies, then need not go over them once more each. Launches whose tallies would take more than 128 MiB
 * together have none. Of programs with another kernel, weights are kept that somebody has worked out. */
#ifndef MODELS_ZEROCOPY_LAUNCH_WEIGHTS_H
#define MODELS_ZEROCOPY_LAUNCH_WEIGHTS_H

#include "models/zerocopy/launch_tally.h"

struct launch_weights;

/* Of a GPU of so many multiprocessors. The program must outlive them. NULL with *err set. */
struct launch_weights *launch_weights_open(const struct program *program, uint32_t sms, struct err *err);
void launch_weights_close(struct launch_weights *weights); /* NULL: nothing */

/* A tally to count with, which tells allocations apart; the caller frees it. NULL with *err set. */
struct launch_tally *launch_weights_tally(const struct launch_weights *weights, struct err *err);
/* What was counted of a launch, or of some of its warps, by one thread at a time. */
void launch_weights_add(struct launch_weights *weights, uint32_t launch, const struct launch_tally *tally);

/* Whether they are this program's. */
bool launch_weights_are_of(const struct launch_weights *weights, const struct program *program);
/* Of a launch with these allocations, the program's but for which are on the GPU: its own ones are. False: not known.
 */
bool launch_weights_get(const struct launch_weights *weights, uint32_t launch, uint32_t sms,
                        const struct program_alloc *allocs, struct launch_weight *weight);

/* Of another program that reads the same memory, by a name for it: who has gone over a launch of it keeps the weight
 * for whoever simulates it next. Any thread. False: nobody has, or not for that GPU. */
bool launch_weights_kept(const struct launch_weights *weights, const char *name, uint32_t launch, uint32_t sms,
                         struct launch_weight *weight);
/* Without memory for it, or beyond 128 MiB, it is not kept. */
void launch_weights_keep(const struct launch_weights *weights, const char *name, uint32_t launch, uint32_t sms,
                         const struct launch_weight *weight);

#endif
