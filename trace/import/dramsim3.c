/* dramsim3: request traces of DRAMsim3 ("0xADDR READ|WRITE CYCLE") and DRAMSim2 (P_MEM_RD, P_MEM_WR, P_FETCH, IFETCH,
 * BOFF). The address is hexadecimal with or without 0x; the cycle is that of the memory controller's clock.
 *
 * Differs from DRAMsim3 on purpose: an unknown operation is an error with its line, not a read; a trailing newline
 * makes no extra request; nothing is cut off. */
#include "trace/base/param.h"
#include "trace/import/dram_requests.h"
#include "trace/import/reader.h"

struct options {
    int64_t bytes;
};

static const struct param options[] = {
    PARAM_BYTES_ROW(options, bytes, 1, 128, 64, "bytes of one request; the format does not say"), {0}};

static const char *parse(void *ctx, char *line, struct record *r)
{
    (void)ctx;
    char *words[DRAM_WORDS + 1];
    uint64_t time;
    if (dram_words(line, ' ', words) != 3)
        return "not three words: address, operation, cycle";
    if (!dram_hexadecimal(words[0], &r->addr))
        return "the address is not hexadecimal";
    if (!dram_kind(words[1], "READ P_MEM_RD P_FETCH IFETCH", "WRITE P_MEM_WR BOFF", r))
        return "unknown operation; expected READ, WRITE, P_MEM_RD, P_MEM_WR, P_FETCH, IFETCH or BOFF";
    if (!dram_decimal(words[2], RECORD_TIME_MAX, &time))
        return "the cycle is not a number below 2^62";
    r->time = (int64_t)time;
    return NULL;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return dram_requests_probe(head, n, parse);
}

static int read(struct reader_context *context, struct input_stream *source, struct err *err)
{
    const struct options *o = context->options;
    const struct dram_form form = {.clock = "dram", .bytes = (uint64_t)o->bytes, .parse = parse};
    return dram_requests_read(context, source, &form, err);
}

const struct reader read_dramsim3 = {
    .name = "dramsim3",
    .summary = "DRAMsim3 and DRAMSim2 request traces: 0xADDR READ|WRITE CYCLE",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read,
};
