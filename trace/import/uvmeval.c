/* uvmeval: logs of the patched NVIDIA drivers of the SC'21 study of unified memory (repository uvm-eval): every fault
 * and every batch as the driver saw it.
 *
 * Lines may be raw /dev/kmsg ("prio,seq,usec,flags;TEXT"), dmesg ("[  sec.usec] TEXT", with "<4>" before and
 * "[ T1234]" behind it), journalctl ("Nov 26 11:00:00 node kernel: TEXT") or cleaned (TEXT alone).
 * The same letter means different things in different drivers; fields decide (without the letter; "faults" is drivers
 * 460.27.04 and 525.60.13, "batchd" 460.27.04 without its faults, "ac" access counters 525.60.13):
 *     s, or s,N (ac)  a batch begins
 *     f, 14 fields    one coalesced fault: address (hex), GPU time in ns, fault type, access type, access mask,
 *                     instances, client type, mmu engine type, client, mmu engine, uTLB, GPC, channel, ve
 *     b, or b,NS,STATUS  the batch ends; its duration
 *     b, 30 fields    a whole batch (batchd); e, 31 fields: a failed one: left out
 *     e,ADDR          evicted: a 4 KiB page (460) or a VA block (525)
 *     p,ADDR          a prefetched page; d: a discarded fault
 *     vrange,0xA,N    a managed range; also "uvm range destroy ... : 0xA, N" and a bare "0xA, N"
 *     a, 12 fields    an access counter's notification: left out
 *
 * Becomes stream "faults" (ns of the GPU's clock; FAULT: bytes = instances, group = batch; EVICT;
 * MIGRATE_H2D for prefetched pages; extra columns utlb, gpc, client, fault_type), in each batch in the order of
 * arrival, which the log has lost (it is sorted by address) and the time stamps (32 ns steps) tell; tables batches and
 * services; and stream "touches" for replay: the actors are the uTLBs, a step is what one of them had outstanding in
 * one batch, at most 64 pages. Sound with prefetching off (the study's logs): a touch that a prefetch satisfied is not
 * in a log. A gap in kmsg's numbers inside a batch is counted as dropped lines; a batch without its end makes one
 * dropped. Source: print statements of uvm-eval 632b47b; logs of a TITAN V, driver 460.27.04. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/event/actor.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/store/store.h"

/* A batch is 256 faults, by module parameter a few thousand; more than this is no batch. */
enum { ITEMS_MAX = 1 << 20 };

/* --- one line, taken apart --- */

enum line_kind {
    LINE_OTHER, /* a message of somebody else */
    LINE_BLANK, /* empty, or a continuation line of kmsg */
    LINE_BAD,   /* one of ours by its letter, but not by its fields */
    LINE_START, /* s */
    LINE_FAULT, /* f, values[0..13] */
    LINE_END,   /* b; count 0 or 2: values[0] ns, values[1] status */
    LINE_EVICT, /* e, values[0] */
    LINE_PREFETCH,
    LINE_DISCARD,
    LINE_NOTICE, /* a */
    LINE_WHOLE,  /* b or e of batchd: a batch in a line */
    LINE_RANGE   /* values[0] start, values[1] bytes */
};

enum { FIELDS = 31 };

struct line {
    enum line_kind kind;
    bool numbered; /* from kmsg: sequence holds */
    uint64_t sequence;
    int count; /* of values */
    uint64_t values[FIELDS];
};

static const char *skip_spaces(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* What dmesg and journalctl put before a line: "<4>", "[sec.usec]", "[ T1234]", "Nov 26 11:00:00 node kernel: ", a
 * date, "kern :warn : ". */
static const char *skip_log(const char *p)
{
    static const char kernel[] = " kernel: ";
    const char *said = strstr(p, kernel), *end;
    p = said && said - p < 120 && !memchr(p, ';', (size_t)(said - p)) ? said + sizeof kernel - 1 : p;
    if (strncmp(p, "kern", 4) == 0 && (end = strchr(p, '['))) /* dmesg -x: "kern  :warn  : [sec.usec]" */
        p = end;
    if (strnlen(p, 11) == 11 && p[4] == '-' && p[10] == 'T') /* dmesg --time-format iso */
        p = skip_spaces(p + strcspn(p, " "));
    if (*p == '<' && (end = strchr(p, '>')) && end - p < 6)
        p = end + 1;
    while (*p == '[' && (end = strchr(p, ']')))
        p = skip_spaces(end + 1);
    return p;
}

/* "prio,seq,usec,flags[,...];TEXT" or what skip_log() knows or TEXT: where TEXT begins. */
static const char *skip_prefix(const char *p, struct line *line)
{
    const char *q = p;
    uint64_t priority, number, time;
    if (field_digits(&q, &priority) && *q++ == ',' && field_digits(&q, &number) && *q++ == ',' &&
        field_digits(&q, &time) && *q == ',') {
        const char *text = strchr(q, ';');
        if (text) {
            line->numbered = true;
            line->sequence = number;
            return text + 1;
        }
    }
    return skip_log(p);
}

/* Numbers between commas up to the end of the line, the first one hexadecimal if asked. False if anything else is
 * there. An empty rest is no number. A trailing "-1" (status) counts as a number too. */
static bool numbers(const char *p, bool hex_first, struct line *line)
{
    line->count = 0;
    p = skip_spaces(p);
    if (*p == 0)
        return true;
    for (;;) {
        uint64_t v;
        p = skip_spaces(p);
        bool negative = *p == '-';
        p += negative;
        if (line->count == FIELDS)
            return false;
        if (hex_first && line->count == 0 ? !field_hex_digits(&p, &v) : !field_digits(&p, &v))
            return false;
        line->values[line->count++] = negative ? -v : v;
        p = skip_spaces(p);
        if (*p == 0)
            return true;
        if (*p++ != ',')
            return false;
    }
}

/* "0x<start>,<bytes>" with or without spaces. */
static bool range(const char *p, struct line *line)
{
    p = skip_spaces(p);
    if (p[0] != '0' || (p[1] != 'x' && p[1] != 'X'))
        return false;
    p += 2;
    if (!field_hex_digits(&p, &line->values[0]))
        return false;
    p = skip_spaces(p);
    if (*p++ != ',')
        return false;
    p = skip_spaces(p);
    if (!field_digits(&p, &line->values[1]))
        return false;
    line->count = 2;
    return *skip_spaces(p) == 0;
}

/* fields: of the line, -1 where they are no numbers. */
static enum line_kind letter_kind(char letter, int fields)
{
    static const struct {
        char letter;
        int fields;
        enum line_kind kind;
    } forms[] = {{'s', 0, LINE_START},  {'s', 1, LINE_START}, {'f', 14, LINE_FAULT},
                 {'b', 0, LINE_END},    {'b', 2, LINE_END},   {'b', 30, LINE_WHOLE},
                 {'e', 31, LINE_WHOLE}, {'e', 1, LINE_EVICT}, {'p', 1, LINE_PREFETCH}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].letter == letter && forms[i].fields == fields)
            return forms[i].kind;
    return letter == 'd' ? LINE_DISCARD : letter == 'a' ? LINE_NOTICE : LINE_BAD;
}

/* Take a line apart (ended by zero, without its line end). */
static void parse_line(const char *text, struct line *line)
{
    *line = (struct line){.kind = LINE_OTHER};
    if (*text == 0 || *text == ' ') {
        line->kind = LINE_BLANK;
        return;
    }
    const char *p = skip_prefix(text, line);
    static const char destroy[] = "uvm range destroy", vrange[] = "vrange,";
    if (strncmp(p, vrange, sizeof vrange - 1) == 0) {
        line->kind = range(p + sizeof vrange - 1, line) ? LINE_RANGE : LINE_BAD;
    } else if (strncmp(p, destroy, sizeof destroy - 1) == 0) {
        const char *colon = strchr(p, ':');
        line->kind = colon && range(colon + 1, line) ? LINE_RANGE : LINE_BAD;
    } else if (p[0] == '0' && range(p, line)) {
        line->kind = LINE_RANGE;
    } else if (p[0] && p[1] == ',' && strchr("sfbepda", p[0])) {
        /* Addresses are hexadecimal; of the lines that start with e the 31 fields of a failed batch are not. */
        bool hex = strchr("fpda", p[0]) || (p[0] == 'e' && !strchr(p + 2, ','));
        line->kind = letter_kind(p[0], numbers(p + 2, hex, line) ? line->count : -1);
    }
}

/* --- one batch while it is read, and what it becomes: records in the order of arrival, and rows of tables batches and
 * services --- */

/* Fields of an f line. */
enum {
    F_ADDR,
    F_TIME,
    F_TYPE,
    F_ACCESS,
    F_MASK,
    F_INSTANCES,
    F_CLIENT_TYPE,
    F_ENGINE_TYPE,
    F_CLIENT,
    F_ENGINE,
    F_UTLB,
    F_GPC
};

enum { EXTRAS = 4 };

/* Zeroed to start. */
struct batch {
    struct item {
        struct record record;
        int64_t extra[EXTRAS]; /* utlb, gpc, client, fault type */
        uint64_t position;
    } * items; /* faults, evictions, prefetched pages */
    size_t count, cap;
    int64_t number;       /* of the batch, over the whole trace */
    int64_t services;     /* written so far */
    int64_t last_time;    /* of the last fault seen, for lines without a time of their own */
    struct writer writer; /* of stream faults */
};

static int batch_add(struct batch *b, const struct item *item, struct err *err)
{
    if (MEM_ADD(b->items, b->count, b->cap, err, *item))
        return -1;
    b->items[b->count - 1].position = b->count - 1;
    return 0;
}

static int batch_fault(struct batch *b, const uint64_t *f, struct err *err)
{
    /* The driver's access types: 0 prefetch, 1 read, 2 write, 3 weak atomic, 4 strong atomic. */
    static const uint32_t access[] = {RECORD_PREFETCH_ACCESS, RECORD_READ, RECORD_WRITE, RECORD_ATOMIC, RECORD_ATOMIC};
    struct item item = {
        .record = {.time = (int64_t)f[F_TIME],
                   .addr = f[F_ADDR],
                   .bytes = f[F_INSTANCES],
                   .id = f[F_UTLB] | f[F_GPC] << 16,
                   .group = (uint32_t)b->number,
                   .flags = access[f[F_ACCESS]],
                   .kind = RECORD_FAULT},
        .extra = {(int64_t)f[F_UTLB], (int64_t)f[F_GPC], (int64_t)f[F_CLIENT], (int64_t)f[F_TYPE]},
    };
    b->last_time = item.record.time;
    return batch_add(b, &item, err);
}

static int batch_page(struct batch *b, enum record_kind kind, uint64_t addr, struct err *err)
{
    struct item item = {
        .record = {.time = b->last_time,
                   .addr = addr,
                   .bytes = ACTOR_PAGE_BYTES,
                   .group = (uint32_t)b->number,
                   .flags = kind == RECORD_EVICT ? RECORD_CAUSE_EVICTION : RECORD_CAUSE_PREFETCH,
                   .kind = kind},
        .extra = {-1, -1, -1, -1},
    };
    return batch_add(b, &item, err);
}

/* Arrival: the GPU's time stamp, in steps of 32 ns; equal ones as in the log. */
SORTED_AS(by_arrival, struct item, ORDER_OF(x->record.time, y->record.time) ?: ORDER_OF(x->position, y->position))

SORTED_AS(by_address, struct item, ORDER_OF(x->record.addr, y->record.addr) ?: ORDER_OF(x->position, y->position))

/* One line per 4 KiB page (driver 460) or per VA block (525)? A page that is no block's first settles it. */
static void size_evictions(struct batch *b)
{
    uint64_t bytes = ACTOR_BLOCK_BYTES;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].record.kind == RECORD_EVICT && b->items[i].record.addr % ACTOR_BLOCK_BYTES)
            bytes = ACTOR_PAGE_BYTES;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].record.kind == RECORD_EVICT)
            b->items[i].record.bytes = bytes;
}

static int write_service(struct batch *b, struct store *store, uint64_t block, uint64_t faults, uint64_t prefetched,
                         size_t records, struct err *err)
{
    const int64_t number = b->services++;
    return STORE_ROW(store, "services", err, STORE_V_INT(number), STORE_V_INT(b->number), STORE_V_INT(block),
                     STORE_V_NULL, STORE_V_NULL, STORE_V_INT(faults), STORE_V_INT(prefetched),
                     STORE_V_INT(faults * ACTOR_PAGE_BYTES), STORE_V_INT(prefetched * ACTOR_PAGE_BYTES),
                     STORE_V_INT(records), STORE_V_TEXT("driver-log"), STORE_V_REAL(1.0));
}

/* The services: one per VA block, in order of address. *pages: distinct faulted pages. Items are sorted by address. */
static int write_services(struct batch *b, struct store *store, uint64_t *pages, struct err *err)
{
    *pages = 0;
    for (size_t from = 0, to; from < b->count; from = to) {
        uint64_t block = b->items[from].record.addr / ACTOR_BLOCK_BYTES, faults = 0, prefetched = 0, last = UINT64_MAX;
        size_t records = 0;
        for (to = from; to < b->count && b->items[to].record.addr / ACTOR_BLOCK_BYTES == block; to++) {
            const struct record *r = &b->items[to].record;
            if (r->kind == RECORD_MIGRATE_H2D)
                prefetched++;
            if (r->kind == RECORD_FAULT && r->addr / ACTOR_PAGE_BYTES != last) {
                faults++;
                last = r->addr / ACTOR_PAGE_BYTES;
            }
            records += r->kind != RECORD_EVICT;
        }
        *pages += faults;
        if (records && write_service(b, store, block * ACTOR_BLOCK_BYTES, faults, prefetched, records, err))
            return -1;
    }
    return 0;
}

static int write_batch(struct batch *b, struct store *store, int64_t first_service, uint64_t pages, int64_t duration_ns,
                       bool ended, struct err *err)
{
    int64_t start = INT64_MAX;
    uint64_t raw = 0;
    for (size_t i = 0; i < b->count; i++)
        if (b->items[i].record.kind == RECORD_FAULT) {
            start = b->items[i].record.time < start ? b->items[i].record.time : start;
            raw += b->items[i].record.bytes;
        }
    bool timed = start != INT64_MAX;
    return STORE_ROW(store, "batches", err, STORE_V_INT(b->number), STORE_V_INT(first_service),
                     STORE_V_INT(b->services - first_service), timed ? STORE_V_INT(start) : STORE_V_NULL,
                     timed && duration_ns >= 0 ? STORE_V_INT(start + duration_ns) : STORE_V_NULL, STORE_V_INT(pages),
                     STORE_V_INT(raw), STORE_V_TEXT("driver-log"), STORE_V_REAL(ended ? 1.0 : 0.5));
}

/* Write the batch and empty it. duration_ns < 0: the log does not say. A batch without its end has a lower confidence.
 */
static int batch_write(struct batch *b, int64_t duration_ns, bool ended, struct err *err)
{
    struct store *store = b->writer.store;
    int64_t first = b->services;
    uint64_t pages;
    size_evictions(b);
    sort_items(b->items, b->count, sizeof *b->items, by_address);
    if (write_services(b, store, &pages, err) || write_batch(b, store, first, pages, duration_ns, ended, err))
        return -1;
    sort_items(b->items, b->count, sizeof *b->items, by_arrival);
    for (size_t i = 0; i < b->count; i++)
        if (writer_add(&b->writer, &b->items[i].record, b->items[i].extra, err))
            return -1;
    if (writer_flush(&b->writer, err))
        return -1;
    b->count = 0;
    b->number++;
    return 0;
}

static void batch_release(struct batch *b)
{
    free(b->items);
    writer_close(&b->writer);
    *b = (struct batch){0};
}

/* --- the faults of a log as touches of actors, so that the uvm engine can replay them ---
 *
 * The actors are the uTLBs (a log names no warps); a step is what one of them had outstanding in one batch, at most
 * ACTOR_LOADS pages. Allocations are the log's ranges that hold a fault, joined where they overlap, and a VA block
 * each for faults outside all of them; their data is taken to be on the host, since a log does not say. */

/* Ranges, and VA blocks with faults. Zeroed to start. */
struct spans {
    struct span {
        uint64_t start, end;
        bool range; /* of the log; else a VA block with faults */
    } * items;
    size_t count, cap;
    uint64_t last_block; /* the last one added */
};

enum { SPANS_MAX = 1 << 22 };

enum { UTLBS = 1 << 16 };

static int spans_add(struct spans *s, uint64_t start, uint64_t end, bool range, struct err *err)
{
    if (s->count == SPANS_MAX)
        return err_set(err, "more than %d ranges and VA blocks", SPANS_MAX);
    return MEM_ADD(s->items, s->count, s->cap, err, (struct span){start, end, range});
}

/* Sort, and join VA blocks seen twice: a log visits few blocks many times. */
static void drop_twins(struct spans *s)
{
    size_t n = 0;
    sort_items(s->items, s->count, sizeof *s->items, sorted_by_u64);
    for (size_t i = 0; i < s->count; i++)
        if (n == 0 || s->items[i].range || s->items[n - 1].range || s->items[i].start != s->items[n - 1].start)
            s->items[n++] = s->items[i];
    s->count = n;
}

static int spans_fault(struct spans *s, uint64_t addr, struct err *err)
{
    uint64_t block = addr / ACTOR_BLOCK_BYTES * ACTOR_BLOCK_BYTES;
    if (s->last_block == block + 1)
        return 0;
    s->last_block = block + 1; /* 0: none yet */
    if (s->count >= 4096 && (s->count & (s->count - 1)) == 0)
        drop_twins(s);
    return spans_add(s, block, block + ACTOR_BLOCK_BYTES, false, err);
}

/* The allocations: ranges joined where they overlap, of those only the ones that a block with faults meets; and the
 * blocks that meet no range, neighbours joined. Sorted, without overlap. */
static int make_allocations(struct spans *s, struct spans *out, struct err *err)
{
    size_t ranges = 0, r = 0, added = 0; /* ranges [0, added) are in *out, or before every block so far */
    int rc = 0;
    drop_twins(s);
    struct span *joined = mem_zalloc(s->count, sizeof *joined, err);
    if (!joined)
        return -1;
    for (size_t i = 0; i < s->count; i++) {
        const struct span *span = &s->items[i];
        if (!span->range)
            continue;
        if (ranges && span->start < joined[ranges - 1].end)
            joined[ranges - 1].end = span->end > joined[ranges - 1].end ? span->end : joined[ranges - 1].end;
        else
            joined[ranges++] = *span;
    }
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        const struct span *block = &s->items[i];
        if (block->range)
            continue;
        while (r < ranges && joined[r].end <= block->start)
            r++;
        bool met = r < ranges && joined[r].start < block->end;
        for (size_t k = r; rc == 0 && k < ranges && joined[k].start < block->end; k++)
            if (k >= added) {
                rc = spans_add(out, joined[k].start, joined[k].end, true, err);
                added = k + 1;
            }
        struct span *last = out->count ? &out->items[out->count - 1] : NULL;
        if (!met && last && !last->range && last->end == block->start)
            last->end = block->end;
        else if (!met)
            rc = spans_add(out, block->start, block->end, false, err);
    }
    free(joined);
    return rc;
}

struct touching {
    struct writer writer;
    struct spans allocations;
    struct utlb {
        uint32_t batch; /* + 1 */
        uint32_t touches, step;
    } * utlbs;
    uint64_t beside;    /* faults in no allocation */
    int64_t allocation; /* number of the next one in the trace */
};

static bool allocated(const struct spans *a, uint64_t addr)
{
    size_t at = 0;
    SORTED_FIRST(at, a->count, i, a->items[i].start <= addr);
    return at > 0 && addr < a->items[at - 1].end;
}

static int touch(struct touching *t, const struct record *fault, struct err *err)
{
    uint64_t actor = (fault->id & 0xff) | (fault->id >> 16 & 0xff) << 8;
    struct utlb *u = &t->utlbs[actor];
    if (!allocated(&t->allocations, fault->addr)) {
        t->beside++;
        return 0;
    }
    if (u->batch && (u->batch != fault->group + 1 || u->touches == ACTOR_LOADS)) {
        u->step++;
        u->touches = 0;
    }
    u->batch = fault->group + 1;
    const struct record record = {.time = u->step,
                                  .addr = fault->addr / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES,
                                  .bytes = u->touches++ == 0 ? fault->bytes : 0,
                                  .id = actor,
                                  .flags = fault->flags == RECORD_WRITE || fault->flags == RECORD_ATOMIC ? fault->flags
                                                                                                         : RECORD_READ,
                                  .kind = RECORD_TOUCH};
    return writer_add(&t->writer, &record, NULL, err);
}

static int touch_all(struct touching *t, int faults, struct err *err)
{
    for (size_t i = 0; i < t->allocations.count; i++) {
        const struct span *a = &t->allocations.items[i];
        const struct record alloc = {.addr = a->start,
                                     .bytes = a->end - a->start,
                                     .id = i,
                                     .group = 1, /* its data is on the host */
                                     .flags = RECORD_ALLOC_MANAGED,
                                     .kind = RECORD_ALLOC};
        const struct store_value row[7] = {STORE_V_INT(t->allocation++), STORE_V_INT(a->start),
                                           STORE_V_INT(a->end - a->start), STORE_V_TEXT("managed")};
        if (writer_add(&t->writer, &alloc, NULL, err) || store_row(t->writer.store, "allocations", row, 7, err))
            return -1;
    }
    struct store_walk w = {0};
    while (store_walk_next(&w, t->writer.store, faults, err))
        w.failed = w.r->kind == RECORD_FAULT && touch(t, w.r, err);
    return store_walk_end(&w) ? -1 : writer_flush(&t->writer, err);
}

/* Write stream "touches" from the FAULT records of stream `faults`, which have been appended. Changes the spans.
 * *beside: faults that lie beside the range their VA block holds, and are left out. */
static int write_touches(struct spans *spans, struct store *store, int faults, uint64_t *beside, struct err *err)
{
    struct stream stream = {.name = "touches", .unit = TIME_NONE, .space = ADDR_BYTES};
    for (int i = 2; store_stream_find(store, stream.name) >= 0; i++) /* of several logs */
        (void)snprintf(stream.name, sizeof stream.name, "touches-%d", i);
    struct touching t = {.utlbs = mem_zalloc(UTLBS, sizeof *t.utlbs, err)};
    int index, rc = -1;
    if (t.utlbs && make_allocations(spans, &t.allocations, err) == 0 &&
        store_stream_add(store, &stream, &index, err) == 0 && writer_open(&t.writer, store, index, 0, err) == 0 &&
        store_row_count(store, "allocations", &t.allocation, err) == 0)
        rc = touch_all(&t, faults, err);
    *beside = t.beside;
    writer_close(&t.writer);
    free(t.utlbs);
    free(t.allocations.items);
    return rc;
}

/* --- the log --- */

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    int faults; /* stream, -1: none yet */
    bool open;  /* inside a batch */
    bool numbered;
    uint64_t sequence; /* of the last line, if numbered */
    struct batch batch;
    struct spans spans;
};

static int skip(struct reading *g, const char *reason, struct err *err)
{
    return reader_skip_line(g->context, reason, g->source, err);
}

static int fault_stream(struct reading *g, struct err *err)
{
    static const struct stream stream = {
        .name = "faults", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"utlb", "gpc", "client", "fault_type"}};
    if (g->faults >= 0)
        return 0;
    return reader_stream(g->context, &stream, &g->faults, err) ||
                   writer_open(&g->batch.writer, g->context->store, g->faults, EXTRAS, err) ||
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
    return batch_write(&g->batch, duration_ns, ended, err);
}

static int begin_batch(struct reading *g, struct err *err)
{
    if (end_batch(g, -1, false, err) || fault_stream(g, err))
        return -1;
    g->open = true;
    return 0;
}

static int take_fault(struct reading *g, const struct line *line, struct err *err)
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
    return batch_fault(&g->batch, f, err) || spans_fault(&g->spans, f[F_ADDR], err) ? -1 : 0;
}

static int take_page(struct reading *g, enum record_kind kind, uint64_t addr, struct err *err)
{
    if (!g->open)
        return skip(g, kind == RECORD_EVICT ? "eviction outside a batch" : "prefetched page outside a batch", err);
    if (g->batch.count == ITEMS_MAX)
        return err_set(err, "line %" PRIu64 ": more than %d lines in one batch", input_stream_line_number(g->source),
                       ITEMS_MAX);
    return batch_page(&g->batch, kind, addr, err);
}

static int take_range(struct reading *g, uint64_t start, uint64_t bytes, struct err *err)
{
    if (bytes == 0 || bytes > (uint64_t)1 << 52 || start > UINT64_MAX - bytes - (2u << 20))
        return skip(g, "impossible range", err);
    return spans_add(&g->spans, start / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES,
                     (start + bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES, true, err);
}

/* --- lines --- */

/* A number that does not follow the last one, inside a batch: the kernel log overran. */
static int check_sequence(struct reading *g, const struct line *line, struct err *err)
{
    if (!line->numbered)
        return 0;
    uint64_t gap = g->numbered && line->sequence > g->sequence ? line->sequence - g->sequence - 1 : 0;
    g->numbered = true;
    g->sequence = line->sequence;
    return gap && g->open ? store_drop(g->context->store, "lines of the kernel log", gap, err) : 0;
}

static int take_line(struct reading *g, const struct line *line, struct err *err)
{
    static const char *const skipped[] = {[LINE_DISCARD] = "discarded fault",
                                          [LINE_NOTICE] = "access counter notification",
                                          [LINE_WHOLE] = "batch in a line, without its faults",
                                          [LINE_BAD] = "line with the wrong fields",
                                          [LINE_OTHER] = "other kernel message"};
    switch (line->kind) {
    case LINE_START:
        return begin_batch(g, err);
    case LINE_FAULT:
        return take_fault(g, line, err);
    case LINE_END:
        if (line->count && line->values[0] > RECORD_TIME_MAX)
            return skip(g, "time out of range", err);
        return end_batch(g, line->count ? (int64_t)line->values[0] : -1, true, err);
    case LINE_EVICT:
        return take_page(g, RECORD_EVICT, line->values[0], err);
    case LINE_PREFETCH:
        return take_page(g, RECORD_MIGRATE_H2D, line->values[0], err);
    case LINE_RANGE:
        return take_range(g, line->values[0], line->values[1], err);
    case LINE_BLANK:
        return 0;
    default:
        return skip(g, skipped[line->kind], err);
    }
}

static int read_lines(struct reading *g, struct err *err)
{
    char *text;
    size_t length;
    int more;
    struct line line;
    while ((more = input_stream_line(g->source, &text, &length, err)) > 0) {
        if (strlen(text) != length)
            return err_set(err, "line %" PRIu64 ": a zero byte in the text", input_stream_line_number(g->source));
        parse_line(text, &line);
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
    if (g->faults < 0) {
        if (!g->context->skips.total)
            (void)snprintf(g->context->advice, sizeof g->context->advice, "no log of a uvm-eval driver");
        return reader_nothing(g->context, "batch and no fault", err);
    }
    if (write_touches(&g->spans, store, g->faults, &beside, err))
        return -1;
    return beside ? store_skip(store, "touch beside the range of its VA block", beside, err) : 0;
}

static int read_log(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    g->faults = -1;
    int rc = read_all(g, err);
    batch_release(&g->batch);
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
        struct line line;
        size_t length = nl ? (size_t)(nl - p) : (size_t)(end - p);
        if (length >= sizeof text || memchr(p, 0, length))
            return PROBE_NO;
        memcpy(text, p, length);
        text[length && text[length - 1] == '\r' ? length - 1 : length] = 0;
        parse_line(text, &line);
        if (line.kind == LINE_FAULT || line.kind == LINE_WHOLE)
            return PROBE_YES;
        maybe |= line.kind == LINE_START || line.kind == LINE_RANGE;
        p = nl ? nl + 1 : end;
    }
    return maybe ? PROBE_MAYBE : PROBE_NO;
}

const struct reader read_uvmeval = {
    .name = "uvmeval",
    .summary = "logs of the patched drivers of the uvm-eval study: every fault",
    .probe = probe,
    .read = read_log,
};
