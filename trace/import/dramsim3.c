/* dramsim3: request traces of DRAMsim3 ("0xADDR READ|WRITE CYCLE") and DRAMSim2 (P_MEM_RD, P_MEM_WR, P_FETCH, IFETCH,
 * BOFF). The address is hexadecimal with or without 0x; the cycle is that of the memory controller's clock.
 *
 * Differs from DRAMsim3 on purpose: an unknown operation is an error with its line, not a read; a trailing newline
 * makes no extra request; nothing is cut off. */
#include <string.h>
#include <strings.h>

#include "trace/base/param.h"
#include "trace/import/dram_requests.h"
#include "trace/import/reader.h"

struct options {
    int64_t bytes;
};

static const struct param options[] = {
    PARAM_BYTES_ROW(options, bytes, 1, 128, 64, "bytes of one request; the format does not say"), {0}};

static bool kind_of(const char *word, struct record *r)
{
    static const char *const reads[] = {"READ", "P_MEM_RD", "P_FETCH", "IFETCH"};
    static const char *const writes[] = {"WRITE", "P_MEM_WR", "BOFF"};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        if (strcasecmp(word, reads[i]) == 0) {
            r->kind = RECORD_DRAM_READ;
            return true;
        }
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        if (strcasecmp(word, writes[i]) == 0) {
            r->kind = RECORD_DRAM_WRITE;
            return true;
        }
    return false;
}

static const char *parse(void *ctx, char *line, struct record *r)
{
    (void)ctx;
    char *words[DRAM_WORDS + 1];
    uint64_t time;
    if (dram_words(line, ' ', words) != 3)
        return "not three words: address, operation, cycle";
    if (!dram_hexadecimal(words[0], &r->addr))
        return "the address is not hexadecimal";
    if (!kind_of(words[1], r))
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
    return dram_requests_read(context, source, false, o ? (uint64_t)o->bytes : 64, parse, NULL, err);
}

const struct reader read_dramsim3 = {
    .name = "dramsim3",
    .summary = "DRAMsim3 and DRAMSim2 request traces: 0xADDR READ|WRITE CYCLE",
    .options = options,
    .options_size = sizeof(struct options),
    .fills = FACT(SKIPPED) | FACT(TIMES) | FACT(BYTES) | FACT(IDS),
    .probe = probe,
    .read = read,
};
