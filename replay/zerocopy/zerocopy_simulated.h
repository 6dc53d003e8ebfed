/* zerocopy_simulated: a run whose requests and times are those of its program's warps, L1s and link, simulated
 * (models/zerocopy/host_reads.h). */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_SIMULATED_H
#define REPLAY_ZEROCOPY_ZEROCOPY_SIMULATED_H

#include "replay/zerocopy/zerocopy_run.h"

/* All launches of the program into the run's totals, and its metrics and notes into *out. */
int zerocopy_simulate(struct zerocopy_run *run, const struct program *program, uint64_t runs, struct outcome *out,
                      struct err *err);

#endif
