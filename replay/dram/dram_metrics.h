/* dram_metrics: the dram engine's metrics and how they follow from what was counted. */
#ifndef REPLAY_DRAM_DRAM_METRICS_H
#define REPLAY_DRAM_DRAM_METRICS_H

#include "replay/dram/dram_simulation.h"

extern const struct metric dram_metrics[];

/* stream: NULL if the inputs were run as programs; simulation: NULL if they were not. */
void dram_metrics_fill(struct outcome *run, const struct replay_job *job, const struct dram_stream *stream,
                       const struct dram_simulation *simulation, const struct dram_totals *totals);

#endif
