/* cupti_csv: the raw rows of CUPTI's unified-memory counters as text, one activity record a line, and kernels.
 *
 *     counterKind,start_ns,end_ns,address(hex),value,srcId,dstId,streamId,processId,flags
 *     K,start_ns,end_ns,kernel name
 *
 * Stored as stream "uvm" (ns, byte addresses; extra columns process_id, src_id, dst_id). The kinds become
 *     1 MIGRATE_H2D  2 MIGRATE_D2H  8 MIGRATE_D2D   bytes = value, flags = migration cause
 *     3 CPU_FAULT    id = value (a program counter), flags = access; it has no end
 *     4 FAULT        bytes = value (fault groups of that page), flags = access; one record is one batch
 *     5 THRASH       6 THROTTLE       7 REMOTE_MAP  flags = cause
 *     K KERNEL       and a row of table kernels
 * streamId is not kept: CUPTI documents it as invalid for these records.
 *
 * A line that is no such row is an error with its number. Left out and counted: what uvm_event.h does not believe.
 * Source: CUpti_ActivityUnifiedMemoryCounter2/3 (CUPTI 12, 13); measured: H200, driver 580.159.04, 2026-11. */
#include <inttypes.h>
#include <string.h>

#include "trace/event/uvm_event.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/store/store.h"

/* One row as it stands in the file. */
struct row {
    struct uvm_event event;
    uint64_t src, dst, stream, process;
};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct writer writer;
};

/* --- one line --- */

static bool comma(const char **p)
{
    return *(*p)++ == ',';
}

/* kind,start,end,addr,value,src,dst,stream,process,flags and nothing after it. */
static bool parse_row(const char *p, struct row *r)
{
    struct uvm_event *e = &r->event;
    return field_digits(&p, &e->kind) && comma(&p) && field_digits(&p, &e->start) && comma(&p) &&
           field_digits(&p, &e->end) && comma(&p) && field_hex_digits(&p, &e->addr) && comma(&p) &&
           field_digits(&p, &e->value) && comma(&p) && field_digits(&p, &r->src) && comma(&p) &&
           field_digits(&p, &r->dst) && comma(&p) && field_digits(&p, &r->stream) && comma(&p) &&
           field_digits(&p, &r->process) && comma(&p) && field_digits(&p, &e->flags) && *p == 0;
}

static bool parse_kernel(const char *p, uint64_t *start, uint64_t *end, const char **name)
{
    if (p[0] != 'K' || p[1] != ',')
        return false;
    p += 2;
    if (!field_digits(&p, start) || !comma(&p) || !field_digits(&p, end) || !comma(&p))
        return false;
    *name = p;
    return *p != 0;
}

/* A header, comment or empty line. */
static bool is_note(const char *line)
{
    return line[0] == 0 || line[0] == '#' || strncmp(line, "counterKind,", 12) == 0;
}

/* A comment of `offchip replay uvm --recording`: "# simulated.policy=tree" is a fact of the origin. */
static int take_note(struct reading *g, const char *line, struct err *err)
{
    static const char *const keys[] = {"simulated.policy", "simulated.traced", "simulated.advised"};
    for (size_t i = 0; line[0] == '#' && line[1] == ' ' && i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(line + 2, keys[i], n) == 0 && line[2 + n] == '=')
            return store_origin(g->context->store, keys[i], line + 3 + n, err);
    }
    return 0;
}

static int take_row(struct reading *g, const struct row *r, struct err *err)
{
    struct record record;
    const int64_t extra[] = {(int64_t)r->process, (int64_t)r->src, (int64_t)r->dst};
    const char *reason = uvm_event_record(&r->event, &record);
    return reason ? reader_skip_line(g->context, reason, g->source, err) : writer_add(&g->writer, &record, extra, err);
}

static int take_kernel(struct reading *g, uint64_t start, uint64_t end, const char *name, struct err *err)
{
    static const int64_t none[3];
    int64_t id;
    if (start > RECORD_TIME_MAX || end > RECORD_TIME_MAX)
        return reader_skip_line(g->context, "time out of range", g->source, err);
    if (end < start)
        return reader_skip_line(g->context, "kernel ends before it starts", g->source, err);
    if (reader_kernel(g->context, name, (int64_t)start, (int64_t)(end - start), NULL, &id, err))
        return -1;
    const struct record record = {.time = (int64_t)start,
                                  .duration = (int64_t)(end - start),
                                  .id = (uint64_t)id,
                                  .group = (uint32_t)id,
                                  .kind = RECORD_KERNEL};
    return writer_add(&g->writer, &record, none, err);
}

static int bad_line(const struct reading *g, const char *line, struct err *err)
{
    size_t columns = 1;
    for (const char *p = line; *p; p++)
        columns += *p == ',';
    const char *expected = line[0] == 'K' ? "K,start_ns,end_ns,name"
                                          : "counterKind,start_ns,end_ns,address,value,srcId,dstId,streamId,processId,"
                                            "flags";
    return err_set(err, "line %" PRIu64 ": '%.80s' (%zu columns) is no CUPTI row; expected %s",
                   input_stream_line_number(g->source), line, columns, expected);
}

static int take_line(struct reading *g, const char *line, size_t length, struct err *err)
{
    struct row r;
    uint64_t start, end;
    const char *name;
    if (parse_row(line, &r))
        return take_row(g, &r, err);
    if (strlen(line) != length)
        return err_set(err, "line %" PRIu64 ": a zero byte in the text", input_stream_line_number(g->source));
    if (parse_kernel(line, &start, &end, &name))
        return take_kernel(g, start, end, name, err);
    return is_note(line) ? take_note(g, line, err) : bad_line(g, line, err);
}

static int read_all(struct reader_context *context, struct input_stream *source, struct err *err)
{
    static const struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
    struct reading g = {.context = context, .source = source};
    char *line;
    size_t length;
    int index;
    if (reader_stream(context, &stream, &index, err) || writer_open(&g.writer, context->store, index, 3, err))
        return -1;
    int rc = store_origin(context->store, "kinds.uvm",
                          "KERNEL FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H THRASH THROTTLE REMOTE_MAP MIGRATE_D2D", err);
    while (rc == 0 && (rc = input_stream_line(source, &line, &length, err)) == 1)
        rc = take_line(&g, line, length, err);
    /* What was read before an error is kept: the trace stays incomplete. */
    if (writer_flush(&g.writer, rc ? NULL : err))
        rc = -1;
    writer_close(&g.writer);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head, *end = p + n, *name;
    char line[512];
    while (reader_head_line(&p, end, line, sizeof line)) {
        struct row r;
        uint64_t a, b;
        if (strncmp(line, "counterKind,", 12) == 0)
            return PROBE_YES;
        if (!is_note(line))
            return parse_row(line, &r) || parse_kernel(line, &a, &b, &name) ? PROBE_YES : PROBE_NO;
    }
    return PROBE_NO;
}

const struct reader read_cupti_csv = {
    .name = "cupti-csv",
    .summary = "raw CUPTI unified-memory rows (counterKind,start,end,address,...) and K lines for kernels",
    .probe = probe,
    .read = read_all,
};
