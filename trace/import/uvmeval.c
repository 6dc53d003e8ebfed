/* uvmeval: logs of the patched NVIDIA drivers of the SC'21 study of unified memory (repository uvm-eval): every fault
 * and every batch as the driver saw it.
 *
 * Lines may be raw /dev/kmsg ("prio,seq,usec,flags;TEXT"), dmesg ("[  sec.usec] TEXT") or cleaned (TEXT alone). The
 * same letter means different things in different drivers; fields decide (without the letter; "faults" is drivers
 * 460.27.04 and 525.60.13, "batchd" 460.27.04, "ac" access counters 525.60.13): s,                 a batch begins s,N
 * the same (ac) f, 14 fields       one coalesced fault: address (hex), GPU time in ns, fault type, access type, access
 * mask, instances, client type, mmu engine type, client, mmu engine, uTLB, GPC, channel, ve b,                 the
 * batch ends            b,NS,STATUS  the same, its duration b, 30 fields       a whole batch (batchd)    e, 31 fields a
 * failed one e,ADDR             evicted: a 4 KiB page (460) or a VA block (525); p,ADDR  a prefetched page; d  a
 * discarded fault vrange,0xA,N       a managed range; also "uvm range destroy ... : 0xA, N" and a bare "0xA, N" a, 12
 * fields       an access counter's notification: left out
 *
 * Becomes, for faults: stream "faults" (ns of the GPU's clock; FAULT: bytes = instances, group = batch; EVICT;
 * MIGRATE_H2D for prefetched pages; extra columns utlb, gpc, client, fault_type), in each batch in the order of
 * arrival, which the log has lost (it is sorted by address) and the time stamps (32 ns steps) tell; tables batches and
 * services; and stream "touches" for replay: the actors are the uTLBs, a step is what one of them had outstanding in
 * one batch, at most 64 pages. Sound with prefetching off (the study's logs): a touch that a prefetch satisfied is not
 * in a log. For batchd: a FAULT record and a row of table batches per batch, counters summed. A gap in kmsg's numbers
 * inside a batch is counted as dropped lines; a batch without its end makes one dropped. Source: print statements of
 * uvm-eval 632b47b; logs of a TITAN V, driver 460.27.04. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/import/reader.h"
#include "trace/import/uvmeval.h"

/* A batch is 256 faults, by module parameter a few thousand; more than this is no batch. */
enum { ITEMS_MAX = 1 << 20 };

struct options {
    int64_t evicted;
};
static const struct param options[] = {
    PARAM_CHOICE_ROW(options, evicted, "auto|page|block", 0, "what an e line stands for: a 4 KiB page or a VA block"),
    {0}};

/* Fields of a line of driver batchd: b has 30, e one more. */
static const struct {
    const char *name, *unit;
} totals[] = {
    {NULL, ""}, /* start */
    {"time", "ns"},
    {"faults_cached", ""},
    {"faults_coalesced", ""},
    {"faults_duplicate", ""},
    {"pages_active", ""},
    {"pages_not_resident", ""},
    {"va_blocks", ""},
    {"pages_prefetched", ""}, /* the driver's own count is unreliable: about twice the last block's */
    {"evictions", ""},
    {"evict_operations", ""},
    {"transfers", ""},
    {"transfer", "bytes"},
    {"pages_mapped", ""},
    {"map_operations", ""},
    {"root_chunk_allocations", ""},
    {"transfer_time", "ns"},
    {"map_time", "ns"},
    {"unmap_time", "ns"},
    {"service_time", "ns"},
    {"make_resident_time", "ns"},
    {"resident_pages_time", "ns"},
    {"populate_time", "ns"},
    {"unmap_resident_time", "ns"},
    {"unmap_read_duplicate_time", "ns"},
    {"residency_mask_time", "ns"},
    {"block_gpu_state_time", "ns"},
    {"new_va_blocks", ""},
    {"unmap_resident", ""},
    {"replays", ""},
};
enum {
    TOTALS = sizeof totals / sizeof *totals,
    B_START = 0,
    B_TIME,
    B_CACHED,
    B_COALESCED,
    B_DUPLICATE,
    B_ACTIVE,
    B_NOT_RESIDENT
};
_Static_assert(TOTALS == 30, "fields of a batchd line");

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    int faults; /* stream, -1: none yet */
    int whole;  /* stream of batchd's batches, -1: none yet */
    bool open;  /* inside a batch */
    bool numbered;
    uint64_t sequence; /* of the last line, if numbered */
    struct uvmeval_batch batch;
    struct uvmeval_spans spans;
    double sums[TOTALS];
    uint64_t whole_batches;
};

static int skip(struct reading *g, const char *reason, struct err *err)
{
    char place[SOURCE_PLACE];
    return reader_skip(g->context, reason, input_stream_place(g->source, place), err);
}

static int fault_stream(struct reading *g, struct err *err)
{
    static const struct stream stream = {
        .name = "faults", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"utlb", "gpc", "client", "fault_type"}};
    if (g->faults >= 0)
        return 0;
    return reader_stream(g->context, &stream, &g->faults, err) ||
                   store_origin(g->context->store, "kinds.faults", "FAULT EVICT MIGRATE_H2D", err)
               ? -1
               : 0;
}

/* --- faults --- */

static int end_batch(struct reading *g, int64_t duration_ns, bool ended, struct err *err)
{
    if (!g->open)
        return 0;
    g->open = false;
    if (!ended && store_drop(g->context->store, "end of a batch", 1, err))
        return -1;
    return uvmeval_batch_write(&g->batch, g->context->store, g->faults, duration_ns, ended, err);
}

static int begin_batch(struct reading *g, struct err *err)
{
    if (end_batch(g, -1, false, err) || fault_stream(g, err))
        return -1;
    g->open = true;
    return 0;
}

static int take_fault(struct reading *g, const struct uvmeval_line *line, struct err *err)
{
    const uint64_t *f = line->values;
    if (f[F_ACCESS] > 4)
        return skip(g, "unknown access type", err);
    if (f[F_TIME] > RECORD_TIME_MAX || f[F_UTLB] > UINT16_MAX || f[F_GPC] > UINT16_MAX || f[F_INSTANCES] > UINT32_MAX ||
        f[F_CLIENT] > UINT32_MAX || f[F_TYPE] > UINT32_MAX)
        return skip(g, "field out of range", err);
    if (!g->open && begin_batch(g, err)) /* a log that begins inside a batch */
        return -1;
    if (g->batch.count == ITEMS_MAX)
        return err_set(err, "line %" PRIu64 ": more than %d lines in one batch", input_stream_line_number(g->source),
                       ITEMS_MAX);
    return uvmeval_batch_fault(&g->batch, f, err) || uvmeval_spans_fault(&g->spans, f[F_ADDR], err) ? -1 : 0;
}

static int take_page(struct reading *g, enum record_kind kind, uint64_t addr, struct err *err)
{
    if (!g->open)
        return skip(g, kind == RECORD_EVICT ? "eviction outside a batch" : "prefetched page outside a batch", err);
    if (g->batch.count == ITEMS_MAX)
        return err_set(err, "line %" PRIu64 ": more than %d lines in one batch", input_stream_line_number(g->source),
                       ITEMS_MAX);
    return uvmeval_batch_page(&g->batch, kind, addr, err);
}

static int take_range(struct reading *g, uint64_t start, uint64_t bytes, struct err *err)
{
    if (bytes == 0 || bytes > (uint64_t)1 << 52 || start > UINT64_MAX - bytes - (2u << 20))
        return skip(g, "impossible range", err);
    return uvmeval_spans_range(&g->spans, start, bytes, err);
}

/* --- batchd: a batch in a line --- */

static int take_whole(struct reading *g, const struct uvmeval_line *line, struct err *err)
{
    static const struct stream stream = {.name = "batches",
                                         .unit = TIME_NS,
                                         .space = ADDR_BYTES,
                                         .extra = {"va_blocks", "transfer_bytes", "evictions", "duplicate_faults"}};
    const uint64_t *v = line->values;
    struct store *store = g->context->store;
    for (int i = 0; i < 2; i++)
        if (v[i] > RECORD_TIME_MAX)
            return skip(g, "time out of range", err);
    if (g->whole < 0 && reader_stream(g->context, &stream, &g->whole, err))
        return -1;
    const struct record record = {.time = (int64_t)v[B_START],
                                  .duration = (int64_t)v[B_TIME],
                                  .bytes = v[B_ACTIVE],
                                  .group = (uint32_t)g->batch.number,
                                  .kind = RECORD_FAULT};
    const int64_t extra[] = {(int64_t)v[7], (int64_t)v[12], (int64_t)v[9], (int64_t)v[B_DUPLICATE]};
    const struct store_value row[] = {
        STORE_V_INT(g->batch.number),
        STORE_V_INT(g->batch.services),
        STORE_V_INT(0),
        STORE_V_INT(v[B_START]),
        STORE_V_INT(v[B_START] + v[B_TIME]),
        STORE_V_INT(v[B_ACTIVE]),
        STORE_V_INT(v[B_CACHED]),
        STORE_V_TEXT("driver-log"),
        STORE_V_REAL(line->kind == UVMEVAL_BATCH ? 1.0 : 0.5),
    };
    g->batch.number++;
    g->whole_batches++;
    for (int i = 0; i < TOTALS; i++)
        g->sums[i] += (double)v[i];
    if (line->kind == UVMEVAL_FAILED && skip(g, "batch that the driver could not finish (kept)", err))
        return -1;
    return store_append(store, g->whole, &record, extra, 1, err) ||
                   store_row(store, "batches", row, sizeof row / sizeof *row, err)
               ? -1
               : 0;
}

static int write_totals(struct reading *g, struct err *err)
{
    for (int i = 1; i < TOTALS && g->whole_batches; i++) {
        const struct store_value row[] = {STORE_V_TEXT(""), STORE_V_TEXT(totals[i].name), STORE_V_REAL(g->sums[i]),
                                          STORE_V_TEXT(totals[i].unit), STORE_V_TEXT("uvm-eval batchd, all batches")};
        if (store_row(g->context->store, "counters", row, 5, err))
            return -1;
    }
    return 0;
}

/* --- lines --- */

/* A number that does not follow the last one, inside a batch: the kernel log overran. */
static int check_sequence(struct reading *g, const struct uvmeval_line *line, struct err *err)
{
    if (!line->numbered)
        return 0;
    uint64_t gap = g->numbered && line->sequence > g->sequence ? line->sequence - g->sequence - 1 : 0;
    g->numbered = true;
    g->sequence = line->sequence;
    return gap && g->open ? store_drop(g->context->store, "lines of the kernel log", gap, err) : 0;
}

static int take_line(struct reading *g, const struct uvmeval_line *line, struct err *err)
{
    switch (line->kind) {
    case UVMEVAL_START:
        return begin_batch(g, err);
    case UVMEVAL_FAULT:
        return take_fault(g, line, err);
    case UVMEVAL_END:
        if (line->count && line->values[0] > RECORD_TIME_MAX)
            return skip(g, "time out of range", err);
        return end_batch(g, line->count ? (int64_t)line->values[0] : -1, true, err);
    case UVMEVAL_BATCH:
    case UVMEVAL_FAILED:
        return take_whole(g, line, err);
    case UVMEVAL_EVICT:
        return take_page(g, RECORD_EVICT, line->values[0], err);
    case UVMEVAL_PREFETCH:
        return take_page(g, RECORD_MIGRATE_H2D, line->values[0], err);
    case UVMEVAL_RANGE:
        return take_range(g, line->values[0], line->values[1], err);
    case UVMEVAL_DISCARD:
        return skip(g, "discarded fault", err);
    case UVMEVAL_NOTICE:
        return skip(g, "access counter notification", err);
    case UVMEVAL_BAD:
        return skip(g, "line with the wrong fields", err);
    case UVMEVAL_OTHER:
        return skip(g, "other kernel message", err);
    case UVMEVAL_BLANK:
        break;
    }
    return 0;
}

static int read_lines(struct reading *g, struct err *err)
{
    char *text;
    size_t length;
    int more;
    struct uvmeval_line line;
    while ((more = input_stream_line(g->source, &text, &length, err)) > 0) {
        if (strlen(text) != length)
            return err_set(err, "line %" PRIu64 ": a zero byte in the text", input_stream_line_number(g->source));
        uvmeval_line_parse(text, &line);
        if (check_sequence(g, &line, err) || take_line(g, &line, err))
            return -1;
    }
    return more;
}

static int read_all(struct reading *g, struct err *err)
{
    struct store *store = g->context->store;
    uint64_t beside = 0;
    /* Of several logs the batches are numbered through. */
    if (store_row_count(store, "batches", &g->batch.number, err) ||
        store_row_count(store, "services", &g->batch.services, err) || read_lines(g, err) ||
        end_batch(g, -1, false, err))
        return -1;
    if (g->faults < 0 && !g->whole_batches)
        return err_set(err, "no batch and no fault in it: no log of a uvm-eval driver");
    if (g->faults >= 0 && uvmeval_touches_write(&g->spans, store, g->faults, &beside, err))
        return -1;
    if (beside && store_skip(store, "touch beside the range of its VA block", beside, err))
        return -1;
    return write_totals(g, err);
}

static int read_log(struct reader_context *context, struct input_stream *source, struct err *err)
{
    static const uint64_t sizes[] = {0, 4096, 2u << 20};
    const struct options *o = context->options;
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    g->faults = g->whole = -1;
    g->batch.evict_bytes = sizes[o ? o->evicted : 0];
    int rc = read_all(g, err);
    uvmeval_batch_release(&g->batch);
    free(g->spans.items);
    free(g);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    const char *p = (const char *)head, *end = p + n;
    bool maybe = false;
    (void)path;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        char text[512];
        struct uvmeval_line line;
        size_t length = nl ? (size_t)(nl - p) : (size_t)(end - p);
        if (length >= sizeof text || memchr(p, 0, length))
            return PROBE_NO;
        memcpy(text, p, length);
        text[length && text[length - 1] == '\r' ? length - 1 : length] = 0;
        uvmeval_line_parse(text, &line);
        if (line.kind == UVMEVAL_FAULT || line.kind == UVMEVAL_BATCH || line.kind == UVMEVAL_FAILED)
            return PROBE_YES;
        maybe |= line.kind == UVMEVAL_START || line.kind == UVMEVAL_RANGE;
        p = nl ? nl + 1 : end;
    }
    return maybe ? PROBE_MAYBE : PROBE_NO;
}

const struct reader read_uvmeval = {
    .name = "uvmeval",
    .summary = "logs of the patched drivers of the uvm-eval study: every fault, or every batch",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read_log,
};
