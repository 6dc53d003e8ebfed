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
 * A line that is no such row is an error with its number. Left out and counted: unknown counter kinds, migrations of
 * 0 bytes, rows that end before they start, rows without a start time.
 * Source: CUpti_ActivityUnifiedMemoryCounter2/3 (CUPTI 12, 13); measured: H200, driver 580.159.04, 2026-11. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"

enum { EXTRAS = 3, KINDS = 9 };

static const enum record_kind record_of[KINDS] = {RECORD_NONE,      RECORD_MIGRATE_H2D, RECORD_MIGRATE_D2H,
                                                  RECORD_CPU_FAULT, RECORD_FAULT,       RECORD_THRASH,
                                                  RECORD_THROTTLE,  RECORD_REMOTE_MAP,  RECORD_MIGRATE_D2D};

/* One row as it stands in the file. */
struct row {
    uint64_t kind, start, end, addr, value, src, dst, stream, process, flags;
};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    int stream;
    size_t n;
    struct record records[STORE_BATCH];
    int64_t process[STORE_BATCH], src[STORE_BATCH], dst[STORE_BATCH];
    int64_t extra[EXTRAS * STORE_BATCH];
};

/* --- one line --- */

static bool comma(const char **p)
{
    return *(*p)++ == ',';
}

/* kind,start,end,addr,value,src,dst,stream,process,flags and nothing after it. */
static bool parse_row(const char *p, struct row *r)
{
    return field_digits(&p, &r->kind) && comma(&p) && field_digits(&p, &r->start) && comma(&p) &&
           field_digits(&p, &r->end) && comma(&p) && field_hex_digits(&p, &r->addr) && comma(&p) &&
           field_digits(&p, &r->value) && comma(&p) && field_digits(&p, &r->src) && comma(&p) &&
           field_digits(&p, &r->dst) && comma(&p) && field_digits(&p, &r->stream) && comma(&p) &&
           field_digits(&p, &r->process) && comma(&p) && field_digits(&p, &r->flags) && *p == 0;
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

/* Why a well-formed row is left out, or NULL. */
static const char *reject(const struct row *r)
{
    if (r->kind == 0 || r->kind >= KINDS)
        return "unknown counter kind";
    if (r->start == 0)
        return "no start time";
    if (r->start > RECORD_TIME_MAX || r->end > RECORD_TIME_MAX)
        return "time out of range";
    if (r->kind != 3 && r->end != 0 && r->end < r->start)
        return "ends before it starts";
    if ((r->kind <= 2 || r->kind == 8) && r->value == 0)
        return "migration of 0 bytes";
    if ((r->kind <= 2 || r->kind == 8) && r->value > UINT64_MAX - r->addr)
        return "migration beyond the address space";
    if (r->flags > UINT32_MAX)
        return "flags out of range";
    return NULL;
}

/* --- batches of records --- */

static int flush(struct reading *g, struct err *err)
{
    if (g->n == 0)
        return 0;
    memcpy(g->extra, g->process, g->n * sizeof *g->extra);
    memcpy(g->extra + g->n, g->src, g->n * sizeof *g->extra);
    memcpy(g->extra + 2 * g->n, g->dst, g->n * sizeof *g->extra);
    int rc = store_append(g->context->store, g->stream, g->records, g->extra, g->n, err);
    g->n = 0;
    return rc;
}

static int push(struct reading *g, const struct record *record, const struct row *r, struct err *err)
{
    size_t i = g->n++;
    g->records[i] = *record;
    g->process[i] = (int64_t)r->process;
    g->src[i] = (int64_t)r->src;
    g->dst[i] = (int64_t)r->dst;
    return g->n == STORE_BATCH ? flush(g, err) : 0;
}

static int take_row(struct reading *g, const struct row *r, struct err *err)
{
    char where[SOURCE_PLACE];
    const char *reason = reject(r);
    if (reason)
        return reader_skip(g->context, reason, input_stream_place(g->source, where), err);
    struct record record = {
        .time = (int64_t)r->start,
        .addr = r->addr,
        .flags = (uint32_t)r->flags,
        .kind = record_of[r->kind],
    };
    if (r->kind == 3)
        record.id = r->value;
    else
        record.bytes = r->value;
    if (r->kind != 3 && r->end != 0)
        record.duration = (int64_t)(r->end - r->start);
    return push(g, &record, r, err);
}

static int take_kernel(struct reading *g, uint64_t start, uint64_t end, const char *name, struct err *err)
{
    char where[SOURCE_PLACE];
    if (start > RECORD_TIME_MAX || end > RECORD_TIME_MAX)
        return reader_skip(g->context, "time out of range", input_stream_place(g->source, where), err);
    if (end < start)
        return reader_skip(g->context, "kernel ends before it starts", input_stream_place(g->source, where), err);
    int64_t id;
    if (reader_kernel(g->context, name, (int64_t)start, (int64_t)(end - start), &id, err))
        return -1;
    struct record record = {
        .time = (int64_t)start,
        .duration = (int64_t)(end - start),
        .id = (uint64_t)id,
        .group = (uint32_t)id,
        .kind = RECORD_KERNEL,
    };
    static const struct row none;
    return push(g, &record, &none, err);
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
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    int rc = reader_stream(context, &stream, &g->stream, err);
    if (rc == 0)
        rc = store_origin(context->store, "kinds.uvm",
                          "KERNEL FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H THRASH THROTTLE REMOTE_MAP MIGRATE_D2D", err);
    char *line;
    size_t length;
    while (rc == 0) {
        int more = input_stream_line(source, &line, &length, err);
        if (more <= 0) {
            rc = more;
            break;
        }
        rc = take_line(g, line, length, err);
    }
    /* What was read before an error is kept: the trace stays incomplete. */
    struct err ignored;
    if (flush(g, rc ? &ignored : err))
        rc = -1;
    free(g);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head, *end = p + n;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        char line[512];
        size_t length = nl ? (size_t)(nl - p) : (size_t)(end - p);
        if (length >= sizeof line)
            length = sizeof line - 1;
        memcpy(line, p, length);
        while (length > 0 && line[length - 1] == '\r')
            length--;
        line[length] = 0;
        p = nl ? nl + 1 : end;
        if (strncmp(line, "counterKind,", 12) == 0)
            return PROBE_YES;
        if (is_note(line))
            continue;
        struct row r;
        uint64_t a, b;
        const char *name;
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
