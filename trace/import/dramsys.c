/* dramsys: request traces of DRAMSys (.stl, of .rstl the times are steps) and of SST's Prospero, told apart by the
 * first line that is no comment:
 *   31: read 0x400140 | 33: (s16) write 0x40 0x00ff    cycle, perhaps bytes, operation, address, perhaps data
 *   1 R 140737488355328 8                              cycle, operation, address, bytes
 * Addresses of DRAMSys are hexadecimal with or without 0x, those of Prospero decimal. What does not fit is left out.
 * Source: DRAMSys 4 and 5, README; SST elements, prospero's text reader. */
#include <string.h>

#include "trace/base/param.h"
#include "trace/import/dram_requests.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"

struct options {
    int64_t bytes;
};

static const struct param options[] = {
    PARAM_BYTES_ROW(options, bytes, 1, 128, 64, "bytes of a request where the line does not say"), {0}};

/* "(16)" or "(s16)" */
static bool bytes_of(const char *word, uint64_t *bytes)
{
    const char *p = word + 1 + (word[1] == 's');
    return field_digits(&p, bytes) && strcmp(p, ")") == 0 && *bytes > 0 && *bytes <= 4096;
}

static const char *parse_stl(char *line, struct record *r)
{
    char *words[DRAM_WORDS + 1], *colon = strchr(line, ':');
    uint64_t time;
    if (!colon)
        return "no colon behind the cycle";
    *colon = 0;
    if (dram_words(line, ' ', words) != 1 || !dram_decimal(words[0], RECORD_TIME_MAX, &time))
        return "the cycle is not a number below 2^62";
    const int n = dram_words(colon + 1, ' ', words), at = n > 0 && *words[0] == '(';
    if (at && !bytes_of(words[0], &r->bytes))
        return "the bytes in brackets are no number from 1 to 4096";
    if (n < at + 2 || !dram_kind(words[at], "read r", "write w", r))
        return "no operation and address behind the cycle; expected read or write";
    r->time = (int64_t)time;
    return dram_hexadecimal(words[at + 1], &r->addr) ? NULL : "the address is not hexadecimal";
}

static const char *parse_prospero(char *line, struct record *r)
{
    char *words[DRAM_WORDS + 1];
    uint64_t time;
    if (dram_words(line, ' ', words) != 4)
        return "not four words: cycle, operation, address, bytes";
    if (!dram_decimal(words[0], RECORD_TIME_MAX, &time) || !dram_number(words[2], &r->addr) ||
        !dram_decimal(words[3], 1 << 20, &r->bytes))
        return "cycle, address and bytes are not all numbers";
    r->time = (int64_t)time;
    return dram_kind(words[1], "R", "W", r) ? NULL : "unknown operation; expected R or W";
}

/* Where times are steps, ctx is the time so far. */
static const char *parse(void *ctx, char *line, struct record *r)
{
    int64_t *now = ctx;
    if (*line == '#')
        return "";
    const char *wrong = strchr(line, ':') ? parse_stl(line, r) : parse_prospero(line, r);
    if (wrong || !now)
        return wrong;
    if (r->time > RECORD_TIME_MAX - *now)
        return "the cycle is not a number below 2^62";
    r->time = *now += r->time;
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
    const size_t n = strlen(context->path);
    int64_t now = 0;
    const bool steps = n > 5 && strcmp(context->path + n - 5, ".rstl") == 0;
    const struct dram_form form = {
        .clock = "dram", .bytes = (uint64_t)o->bytes, .parse = parse, .ctx = steps ? &now : NULL};
    return dram_requests_read(context, source, &form, err);
}

const struct reader read_dramsys = {
    .name = "dramsys",
    .summary = "request traces of DRAMSys (31: read 0x400140) and of SST's Prospero (1 R 4096 8)",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read,
};
