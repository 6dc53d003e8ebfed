#include "replay/dram/dram.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* --- --requests --- */

int dram_request_log_init(struct dram_request_log *request_log, const struct dram_stream *stream, struct err *err)
{
    request_log->channels = stream->channels;
    request_log->channel = mem_zalloc(stream->channels, sizeof *request_log->channel, err);
    if (!request_log->channel)
        return -1;
    for (uint32_t i = 0; i < stream->channels; i++) {
        int64_t *all = mem_zalloc(stream->channel[i].count, 4 * sizeof *all, err);
        if (!all)
            return -1;
        const size_t n = stream->channel[i].count;
        request_log->channel[i] = (struct dram_timestamps){all, all + n, all + 2 * n, all + 3 * n};
    }
    return 0;
}

void dram_request_log_clear(struct dram_request_log *request_log, const struct dram_stream *stream)
{
    for (uint32_t i = 0; i < request_log->channels; i++)
        memset(request_log->channel[i].enter, 0xff, stream->channel[i].count * 4 * sizeof(int64_t));
}

void dram_request_log_release(struct dram_request_log *request_log)
{
    for (uint32_t i = 0; request_log->channel && i < request_log->channels; i++)
        free(request_log->channel[i].enter);
    free(request_log->channel);
    memset(request_log, 0, sizeof *request_log);
}

void dram_requests_head(FILE *file)
{
    (void)fputs("policy,id,enter,sched,col,done\n", file);
}

static char *put(char *p, int64_t v)
{
    char digits[24];
    int n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        digits[n++] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0)
        *p++ = '-';
    while (n)
        *p++ = digits[--n];
    return p;
}

int dram_requests_write(FILE *file, const struct replay_policy *policy, const struct dram_stream *stream,
                        const struct dram_request_log *request_log, struct err *err)
{
    char label[256], line[512];
    replay_policy_label(policy, label, sizeof label);
    const bool quote = strchr(label, ',') != NULL;
    const int head = snprintf(line, sizeof line, quote ? "\"%s\"," : "%s,", label);
    for (uint32_t c = 0; c < stream->channels; c++) {
        const struct dram_timestamps *f = &request_log->channel[c];
        for (size_t i = 0; i < stream->channel[c].count; i++) {
            char *p = put(line + head, (int64_t)(stream->channel[c].ids ? stream->channel[c].ids[i] : i));
            const int64_t *const columns[] = {f->enter, f->sched, f->column, f->done};
            for (int k = 0; k < 4; k++) {
                *p++ = ',';
                p = put(p, columns[k][i]);
            }
            *p++ = '\n';
            if (fwrite(line, 1, (size_t)(p - line), file) != (size_t)(p - line))
                return err_set(err, "cannot write the requests: %s", strerror(errno));
        }
    }
    return 0;
}

/* --- --commands --- */

void dram_commands_head(FILE *commands)
{
    if (commands)
        (void)fputs("cycle,channel,command,bank,bank_mask,row,request\n", commands);
}

static void write_command(void *ctx, const struct dram_channel *ch, int64_t cycle, const char *command,
                          dram_banks banks, uint32_t row, uint32_t id)
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
    if (!dram_options(job)->commands)
        return;
    log->file = dram_options(job)->commands;
    ch->explain = INT64_MAX;
    ch->every = true;
    ch->on_command = write_command;
    ch->on_command_ctx = log;
}

/* --- --explain --- */

struct explain {
    FILE *file;
    const char *policy;
    const struct dram_stream_channel *requests; /* NULL: they have no numbers */
    const char *whose;                          /* then */
};

/* Why now; each rule of the platform's has run out. */
static const char *why_of(const struct dram_channel *ch, const char *command, dram_banks banks, uint32_t id)
{
    const bool pim = ch->pim_in_slots || (banks == DRAM_ALL && id != DRAM_NO_REQUEST) || strcmp(command, "PIM") == 0;
    if (id == DRAM_NO_REQUEST)
        return strcmp(command, "PRE") == 0 ? "a refresh is due and its banks close together" : "its banks are closed";
    if (strcmp(command, "ACT") == 0)
        return pim ? "all banks of the PIM request that are closed open its row together"
                   : "its bank is closed; tRP, tRC and tRRD have run out";
    if (strcmp(command, "PRE") == 0)
        return pim ? "all banks open on another row than the PIM request's close together"
                   : "its bank is open on another row; tRAS, tRTP, tRTPL and tWTP have run out";
    return strcmp(command, "PIM") == 0
               ? "all banks are open on its row and every column rule has run out"
               : "its bank's row is open and every column rule has run out; first from the scan's start";
}

static void explain_command(void *ctx, const struct dram_channel *ch, int64_t cycle, const char *command,
                            dram_banks banks, uint32_t row, uint32_t id)
{
    const struct explain *e = ctx;
    char where[32];
    if (banks & (banks - 1))
        (void)snprintf(where, sizeof where, "banks %04llx", (unsigned long long)banks);
    else
        (void)snprintf(where, sizeof where, "bank %d", __builtin_ctzll(banks));
    char whose[48];
    (void)snprintf(whose, sizeof whose, "%s", e->whose);
    if (id == DRAM_NO_REQUEST)
        (void)snprintf(whose, sizeof whose, "a refresh");
    else if (e->requests)
        (void)snprintf(whose, sizeof whose, "request %llu",
                       (unsigned long long)(e->requests->ids ? e->requests->ids[id] : id));
    (void)fprintf(e->file, "%s: cycle %lld: %s %s row %u for %s: %s mode, %d MEM and %d PIM waiting; %s\n", e->policy,
                  (long long)cycle, command, where, row, whose, ch->mode == DRAM_PIM ? "PIM" : "MEM",
                  ch->waiting[DRAM_MEM], ch->waiting[DRAM_PIM], why_of(ch, command, banks, id));
}

void dram_explain_attach(struct dram_channel *ch, const struct replay_job *job, const struct replay_policy *policy,
                         const struct dram_stream_channel *requests)
{
    static _Thread_local struct explain e;
    if (!dram_options(job)->explain || !dram_options(job)->explain_file)
        return;
    e = (struct explain){dram_options(job)->explain_file, policy->head->name, requests,
                         dram_inputs_are_programs(job, NULL) > 0 ? "a program" : "a request"};
    ch->explain = dram_options(job)->explain;
    ch->on_command = explain_command;
    ch->on_command_ctx = &e;
}
