/* dram_files: what --requests, --commands and --latencies write, and what --explain prints. What fails to be written is
 * found by whoever opened the file.
 *
 * --requests: what became of every request: policy,id,enter,sched,col,done. Rows stand in the order of the policies,
 * then of the channels, then of arrival; id is the input's, -1 stands for "never". Cycles are those of the front end's
 * clock (partition: core cycles). Of a co-run, whose sides repeat, it is the first pass of each side; requests served
 * by L2 never enter.
 *
 * --commands: every command that the controllers gave in the run of the one policy:
 *
 *     cycle,channel,command,bank,bank_mask,row,request
 *
 * Commands are ACT, PRE, RD, WR, PIM (the column command of a PIM request to all banks), REF (of all banks) and REFB
 * (of one). A command to several banks at once is one row; its bank is empty. row is of ACT, RD, WR and PIM. request is
 * the input's id where a stream is replayed open loop; else it is empty. Cycles are of the DRAM clock; rows of a
 * channel stand in their order.
 *
 * --latencies: how long requests took, by what they are:
 *
 *     policy,kind,from_cycles,below_cycles,requests
 *
 * A row is a bin that is not empty: `requests` of them took from_cycles or more and less than below_cycles. Up to 16
 * cycles a bin is one cycle wide, above an eighth of its power of two. Kinds are mem-read (loads, atomics), mem-write
 * (stores, write-backs), pim, and l2-hit: reads that L2 answered, where L2 is in the run. They are the requests and the
 * cycles of mem_latency_mean_cycles and pim_latency_mean_cycles. */
#ifndef REPLAY_DRAM_DRAM_FILES_H
#define REPLAY_DRAM_DRAM_FILES_H

#include "replay/dram/dram.h"

/* Per-request output, by channel: cycles, -1 never. */
struct dram_fates {
    struct dram_fate *channel; /* NULL: not asked for */
    uint32_t channels;
};

int dram_fates_init(struct dram_fates *fates, const struct dram_stream *stream, struct err *err);
void dram_fates_release(struct dram_fates *fates);
void dram_fates_clear(struct dram_fates *fates, const struct dram_stream *stream);

void dram_requests_head(FILE *file);
int dram_requests_write(FILE *file, const struct replay_policy *policy, const struct dram_stream *stream,
                        const struct dram_fates *fates, struct err *err);

/* What one channel's commands are written with; lives as long as the channel runs. */
struct dram_commands {
    FILE *file;
    uint32_t channel;
    const struct dram_stream_channel *requests; /* NULL: of no input's stream */
};

void dram_commands_head(FILE *file);

/* Every command of a channel that has not begun is written; nothing without --commands. Fill *log's channel and
 * requests first. */
void dram_commands_attach(struct dram_commands *log, struct dram_channel *channel, const struct replay_job *job);

/* Attach --explain to channel 0 of a run. requests: NULL if they have no numbers. */
void dram_explain_attach(struct dram_channel *channel, const struct replay_job *job, const struct replay_policy *policy,
                         const struct dram_stream_channel *requests);

void dram_latencies_head(FILE *file);

/* kinds: DRAM_TOOK of them. */
void dram_latencies_write(FILE *file, const struct replay_policy *policy, const struct dram_latency *kinds);

/* Add those of an open loop's requests that were done; cycles are done - arrival. */
void dram_latencies_add(struct dram_latency *kinds, const struct dram_stream *stream, const struct dram_fates *fates);

#endif
