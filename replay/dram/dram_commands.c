#include "replay/dram/dram_commands.h"

#include <string.h>

void dram_commands_head(FILE *file)
{
    (void)fputs("cycle,channel,command,bank,bank_mask,row,request\n", file);
}

/* What fails to be written is found by whoever opened the file. */
static void on_command(void *ctx, const struct dram_channel *ch, int64_t cycle, const char *command, dram_banks banks,
                       uint32_t row, uint32_t id)
{
    const struct dram_commands *log = ctx;
    const bool refresh = strcmp(command, "REF") == 0;
    (void)fprintf(log->file, "%lld,%u,%s,", (long long)cycle, log->channel,
                  refresh && !ch->timing.refresh_all ? "REFB" : command);
    if (banks & (banks - 1))
        (void)fprintf(log->file, ",%llu,", (unsigned long long)banks);
    else
        (void)fprintf(log->file, "%d,%llu,", __builtin_ctzll(banks), (unsigned long long)banks);
    if (!refresh && strcmp(command, "PRE") != 0)
        (void)fprintf(log->file, "%u", row);
    if (log->requests && id != DRAM_NO_REQUEST)
        (void)fprintf(log->file, ",%llu\n", (unsigned long long)(log->requests->ids ? log->requests->ids[id] : id));
    else
        (void)fputs(",\n", log->file);
}

void dram_commands_attach(struct dram_commands *log, struct dram_channel *ch, const struct replay_job *job)
{
    if (!job->commands)
        return;
    log->file = job->commands;
    ch->explain = INT64_MAX;
    ch->every = true;
    ch->on_command = on_command;
    ch->on_command_ctx = log;
}
