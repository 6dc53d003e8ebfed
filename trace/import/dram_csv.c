/* dram_csv: DRAM requests as CSV: id,arrival_cycle,kind,bank,row,col[,channel].
 *
 * kind: RD, WR (32 B), WR32, WR64, WR96, WR128 (L2 write-backs) or PIM. arrival_cycle is kept as cycles of a clock that
 * the file does not name (stored as "dram", 0 Hz): the engine takes it as cycles of the front end's clock. */
#include <string.h>

#include "trace/event/dram_map.h"
#include "trace/import/dram_requests.h"
#include "trace/import/reader.h"

static const char header[] = "id,arrival_cycle,kind,bank,row,col";

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= sizeof header - 1 && memcmp(head, header, sizeof header - 1) == 0 ? PROBE_YES : PROBE_NO;
}

static bool kind_of(const char *word, struct record *r)
{
    static const struct {
        const char *name;
        enum record_kind kind;
        unsigned bytes;
    } kinds[] = {{"RD", RECORD_DRAM_READ, 32},         {"PIM", RECORD_PIM, 32},
                 {"WR", RECORD_DRAM_WRITE, 32},        {"WR32", RECORD_DRAM_WRITEBACK, 32},
                 {"WR64", RECORD_DRAM_WRITEBACK, 64},  {"WR96", RECORD_DRAM_WRITEBACK, 96},
                 {"WR128", RECORD_DRAM_WRITEBACK, 128}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].name) == 0) {
            r->kind = kinds[i].kind;
            r->bytes = kinds[i].bytes;
            return true;
        }
    return false;
}

/* ctx: how many columns there are. */
static const char *parse(void *ctx, char *line, struct record *r)
{
    const int columns = *(const int *)ctx;
    char *words[DRAM_WORDS + 1];
    uint64_t time, bank, row, column, channel = 0;
    if (dram_words(line, ',', words) != columns)
        return "not as many fields as the header";
    if (!dram_decimal(words[0], UINT64_MAX, &r->id))
        return "id is not a number";
    if (!dram_decimal(words[1], RECORD_TIME_MAX, &time))
        return "arrival_cycle is not a number below 2^62";
    if (!kind_of(words[2], r))
        return "kind is none of RD, WR, WR32, WR64, WR96, WR128, PIM";
    if (!dram_decimal(words[3], DRAM_ADDR_BANKS - 1, &bank))
        return "bank is not a number from 0 to 255";
    if (!dram_decimal(words[4], DRAM_ADDR_ROWS - 1, &row))
        return "row is not a number from 0 to 16777215";
    if (!dram_decimal(words[5], DRAM_ADDR_COLUMNS - 1, &column))
        return "col is not a number from 0 to 65535";
    if (columns == 7 && !dram_decimal(words[6], DRAM_ADDR_CHANNELS - 1, &channel))
        return "channel is not a number from 0 to 65535";
    r->time = (int64_t)time;
    r->addr = dram_addr_pack((struct dram_addr){(uint32_t)channel, (uint32_t)bank, (uint32_t)row, (uint32_t)column});
    return NULL;
}

static int read(struct reader_context *context, struct input_stream *source, struct err *err)
{
    char *line;
    size_t length;
    const int rc = input_stream_line(source, &line, &length, err);
    if (rc < 0)
        return -1;
    int columns = rc == 1 && strcmp(line, header) == 0 ? 6 : 0;
    if (rc == 1 && strncmp(line, header, sizeof header - 1) == 0 && strcmp(line + sizeof header - 1, ",channel") == 0)
        columns = 7;
    if (!columns)
        return err_set(err, "line 1: found '%.80s'; expected '%s' or '%s,channel'", rc == 1 ? line : "", header,
                       header);
    const struct dram_form form = {.clock = "dram", .packed = true, .parse = parse, .ctx = &columns};
    return dram_requests_read(context, source, &form, err);
}

const struct reader read_dram_csv = {
    .name = "dram-csv",
    .summary = "DRAM requests: id,arrival_cycle,kind,bank,row,col[,channel]",
    .probe = probe,
    .read = read,
};
