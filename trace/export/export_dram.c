/* export_dram: a stream of DRAM requests as dram-csv, as a DRAMsim3 trace or as a Ramulator 2 trace.
 *
 * dram-csv keeps ids, times, kinds and places. DRAMsim3 gets "0xADDR READ|WRITE CYCLE". Ramulator gets address vectors
 * ("R 0,0,1,2,77,5", read/write trace) from packed addresses and "LD 0xADDR" (load/store trace) from byte addresses.
 * Neither has a form for PIM requests or requests served by L2, which are left out and counted; sizes and, for
 * Ramulator, times are lost.
 */
#include "trace/base/param.h"
#include "trace/export/exporter.h"

#include <inttypes.h>

#include "trace/event/dram_map.h"
#include "trace/event/record.h"

struct options {
    const char *map;
    int64_t groups, ranks;
};

/* The default map is that of the gv100 platform. */
#define MAP_ROW                                                                                                        \
    PARAM_TEXT_ROW(options, map, "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5",                                       \
                   "address bits from the top, where packed addresses meet byte addresses")

static const struct param map_options[] = {MAP_ROW, {0}};
static const struct param vector_options[] = {
    PARAM_INT_ROW(options, groups, "", 1, 256, 4, "bank groups: bank = bank within the group * groups + group"),
    PARAM_INT_ROW(options, ranks, "", 1, 256, 2, "ranks or pseudo-channels: channel = channel * ranks + rank"),
    {0}};

/* What a line is made from. */
struct line {
    const struct record *record;
    struct dram_addr place;
    uint64_t addr; /* bytes */
    uint64_t number;
    bool packed, timed;
    const struct options *o;
};

/* Write one record; a reason why it has no form, or NULL. */
typedef const char *line_writer(FILE *to, const struct line *line);

static const char *plain(const struct record *r)
{
    if (r->kind == RECORD_PIM)
        return "PIM requests have no form in this format";
    return r->flags & 1 ? "requests served by L2 do not reach DRAM" : NULL;
}

/* --- dram-csv --- */

static const char *csv_line(FILE *to, const struct line *l)
{
    const struct record *r = l->record;
    static const char *const sizes[] = {"WR32", "WR64", "WR96", "WR128"};
    if (r->flags & 1)
        return "requests served by L2 do not reach DRAM";
    const uint64_t atoms = (r->bytes + 31) / 32;
    const char *kind = r->kind == RECORD_PIM          ? "PIM"
                       : r->kind == RECORD_DRAM_READ  ? "RD"
                       : r->kind == RECORD_DRAM_WRITE ? "WR"
                                                      : sizes[atoms < 1   ? 0
                                                              : atoms > 4 ? 3
                                                                          : atoms - 1];
    (void)fprintf(to, "%" PRIu64 ",%" PRId64 ",%s,%u,%u,%u,%u\n", r->id, r->time, kind, l->place.bank, l->place.row,
                  l->place.column, l->place.channel);
    return NULL;
}

/* --- DRAMsim3 --- */

static const char *dramsim3_line(FILE *to, const struct line *l)
{
    const char *reason = plain(l->record);
    if (!reason)
        (void)fprintf(to, "0x%" PRIX64 " %s %" PRId64 "\n", l->addr,
                      l->record->kind == RECORD_DRAM_READ ? "READ" : "WRITE",
                      l->timed ? l->record->time : (int64_t)l->number);
    return reason;
}

/* --- Ramulator 2 --- */

static const char *ramulator_line(FILE *to, const struct line *l)
{
    const char *reason = plain(l->record);
    const bool read = l->record->kind == RECORD_DRAM_READ;
    if (reason)
        return reason;
    if (l->packed) {
        const uint32_t ranks = (uint32_t)l->o->ranks, groups = (uint32_t)l->o->groups;
        (void)fprintf(to, "%s %u,%u,%u,%u,%u,%u\n", read ? "R" : "W", l->place.channel / ranks,
                      l->place.channel % ranks, l->place.bank % groups, l->place.bank / groups, l->place.row,
                      l->place.column);
    } else if (l->addr > INT64_MAX) {
        return "addresses from 2^63 on have no form in this format";
    } else {
        (void)fprintf(to, "%s 0x%" PRIx64 "\n", read ? "LD" : "ST", l->addr);
    }
    return NULL;
}

/* The records of the stream, each as its line. */
static int write_lines(const struct exporter *exporter, struct exporter_context *context, struct err *err)
{
    line_writer *const write = exporter == &export_dram_csv   ? csv_line
                               : exporter == &export_dramsim3 ? dramsim3_line
                                                              : ramulator_line;
    const struct stream *stream = store_stream(context->store, context->stream);
    struct options defaults = {0};
    struct dram_map map = {0};
    param_defaults(exporter->options, &defaults);
    const struct options *o = context->options ? context->options : &defaults;
    if (o->map && dram_map_init(&map, o->map, err))
        return -1;
    if (exporter == &export_dram_csv)
        (void)fputs("id,arrival_cycle,kind,bank,row,col,channel\n", context->to);
    struct store_walk w = {0};
    struct line line = {.packed = stream->space == ADDR_DRAM_PACKED, .timed = stream->unit != TIME_NONE, .o = o};
    while (store_walk_next(&w, context->store, context->stream, err)) {
        line.record = w.r;
        const bool request = w.r->kind >= RECORD_DRAM_READ && w.r->kind <= RECORD_PIM;
        const char *reason = request ? NULL : "not a DRAM request";
        if (!reason) {
            line.place = line.packed ? dram_addr_unpack(w.r->addr) : dram_map_decode(&map, w.r->addr);
            line.addr = line.packed ? dram_map_encode(&map, line.place) : w.r->addr;
            reason = write(context->to, &line);
            line.number++;
        }
        if (reason)
            exporter_skip(context, reason);
        else
            context->written++;
    }
    return store_walk_end(&w);
}

const struct exporter export_dram_csv = {.name = "dram-csv",
                                         .summary = "DRAM requests: id,arrival_cycle,kind,bank,row,col,channel",
                                         .options = map_options,
                                         .options_size = sizeof(struct options),
                                         .carries = FACT(TIMES) | FACT(LAYOUT) | FACT(IDS),
                                         .write = write_lines};
const struct exporter export_dramsim3 = {.name = "dramsim3",
                                         .summary = "DRAMsim3 request trace: 0xADDR READ|WRITE CYCLE",
                                         .options = map_options,
                                         .options_size = sizeof(struct options),
                                         .carries = FACT(TIMES),
                                         .write = write_lines};
const struct exporter export_ramulator = {.name = "ramulator",
                                          .summary = "Ramulator 2 read/write or load/store trace",
                                          .options = vector_options,
                                          .options_size = sizeof(struct options),
                                          .carries = FACT(LAYOUT),
                                          .write = write_lines};
