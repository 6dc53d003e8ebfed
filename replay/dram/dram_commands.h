/* dram_commands: for --commands FILE, every command that the controllers gave in the run of the one policy:
 *
 *     cycle,channel,command,bank,bank_mask,row,request
 *
 * Commands are ACT, PRE, RD, WR, PIM (the column command of a PIM request to all banks), REF (of all banks) and REFB
 * (of one). A command to several banks at once is one row; its bank is empty. row is of ACT, RD, WR and PIM. request is
 * the input's id (as in --requests) where a stream is replayed open loop; else it is empty. Cycles are of the DRAM
 * clock; rows of a channel stand in their order. */
#ifndef REPLAY_DRAM_DRAM_COMMANDS_H
#define REPLAY_DRAM_DRAM_COMMANDS_H

#include "replay/dram/dram.h"

/* What one channel's rows are written with; lives as long as the channel runs. */
struct dram_commands {
    FILE *file;
    uint32_t channel;
    const struct dram_stream_channel *requests; /* NULL: of no input's stream */
};

void dram_commands_head(FILE *file);

/* Every command of a channel that has not begun is written; nothing without --commands. Fill *log's channel and
 * requests first. */
void dram_commands_attach(struct dram_commands *log, struct dram_channel *channel, const struct replay_job *job);

#endif
