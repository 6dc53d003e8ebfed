/* zerocopy_own: the requests that the program's own loads make, when the data that they reach is in host memory.
 *
 * No kernel is rewritten: each load of each warp asks for the sectors it touches (models/zerocopy/warp.h), in the
 * program's order, less what the reuse rule says is still held. Memory that the program keeps on the GPU itself is not
 * asked for over the link. Time is that of the link model (models/zerocopy/link.h), with what follows from the program:
 * resident warps from the shape of the launch, loads at once from what waits for what, dependent loads those of the
 * warp with the most waits.
 * Worked example: 2,048 warps that load 128 B of a and 128 B of b together, then store 128 B of c: 4,096 requests of
 * 128 B in 2,048 waits, two loads at once; 2,048 writes of 128 B besides.
 * Differs: writes are posted and cost no time; atomics over the link are counted only. Of a recording each load is
 * waited for, since what waits for what is not in it. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_OWN_H
#define REPLAY_ZEROCOPY_ZEROCOPY_OWN_H

#include "replay/zerocopy/zerocopy_run.h"

/* Asks for a program in the context; refused without one. */
extern const struct zerocopy_baseline zerocopy_own;

/* Whether a policy is that one with reuse=l1: it is simulated, and asks for no scans. */
bool zerocopy_own_simulates(const struct replay_policy *policy);

#endif
