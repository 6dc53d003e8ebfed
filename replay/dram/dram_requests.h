/* dram_requests: for --requests FILE, what became of every request: policy,id,enter,sched,col,done; and --explain.
 *
 * Rows stand in the order of the policies, then of the channels, then of arrival; id is the input's, -1 stands for
 * "never". Cycles are those of the front end's clock (partition: core cycles). Of a co-run, whose sides repeat, it is
 * the first pass of each side; requests served by L2 never enter. */
#ifndef REPLAY_DRAM_DRAM_REQUESTS_H
#define REPLAY_DRAM_DRAM_REQUESTS_H

#include "replay/dram/dram.h"

void dram_requests_head(FILE *file);
int dram_requests_write(FILE *file, const struct replay_policy *policy, const struct dram_stream *stream,
                        const struct dram_fates *fates, struct err *err);

#endif
