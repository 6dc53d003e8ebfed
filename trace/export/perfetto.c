/* perfetto: a stream in ns as Chrome trace JSON, which Perfetto and chrome://tracing show as a timeline.
 *
 * A process for each that was recorded. In it a line for each kind of record, for kernels one for each CUDA stream and
 * for the program's own ranges one for each thread, and further ones where things overlap; at most 64, what finds no
 * place there is left out and counted. Records with a duration are slices, others instants; times in microseconds from
 * the first record, ns as fractions. Counter tracks have the bytes moved, the faults and the packets' bytes of each
 * thousandth of the time. Source: the Trace Event Format, "X", "i", "C" events and "M" names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/event/tlp.h"
#include "trace/export/exporter.h"

enum { BINS = 1000, LANES = 64 }; /* LANES: of a group, at most */

/* --- what a record is called: the kernel's own name, the packet's type and size, the cause of a migration --- */

/* A row of table kernels or strings; number: its id. */
struct named {
    int64_t number, cuda_stream;
    char *json;
};

struct names {
    struct named_list {
        struct named *items; /* in order of number, as the rows come */
        size_t count, cap;
        size_t stream; /* column of the CUDA stream; 0: none */
        struct err *err;
    } kernels, strings;
    char buffer[128];
};

static int add(void *ctx, const struct store_value *v, size_t n)
{
    struct named_list *list = ctx;
    (void)n;
    if (v[0].type != STORE_INT || v[1].type != STORE_TEXT)
        return 0;
    if (mem_grow((void **)&list->items, &list->cap, list->count + 1, sizeof *list->items, list->err))
        return -1;
    json_t *text = json_tree_text(v[1].s);
    char *json = text ? json_tree_dump(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    json_decref(text);
    if (!json)
        return err_set(list->err, "out of memory");
    const bool known = list->stream && v[list->stream].type == STORE_INT;
    list->items[list->count++] = (struct named){v[0].i, known ? v[list->stream].i : -1, json};
    return 0;
}

static const struct named *find(const struct named_list *list, uint64_t id)
{
    return sort_find(&id, list->items, list->count, sizeof *list->items, sorted_by_i64);
}

static void list_free(struct named_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].json);
    free(list->items);
}

static const char *word(const char *const *words, size_t n, uint32_t number)
{
    return number < n && words[number] ? words[number] : NULL;
}

/* What a record's flags add to the name of its kind; NULL: nothing. */
static const char *detail(const struct record *r)
{
    static const char *const causes[] = {NULL, "user", "fault", "prefetch", "eviction", "access counters"};
    static const char *const accesses[] = {NULL, "read", "write", "atomic", "prefetch"};
    static const char *const copies[] = {NULL, "H2D", "D2H", "D2D", "H2H", "peer"};
    const uint32_t k = r->kind;
    if (k == RECORD_MIGRATE_H2D || k == RECORD_MIGRATE_D2H || k == RECORD_MIGRATE_D2D)
        return word(causes, sizeof causes / sizeof *causes, r->flags);
    if (k == RECORD_FAULT || k == RECORD_CPU_FAULT)
        return word(accesses, sizeof accesses / sizeof *accesses, r->flags);
    return k == RECORD_COPY ? word(copies, sizeof copies / sizeof *copies, r->flags) : NULL;
}

/* A JSON string with its quotes, in ASCII; valid until the next call. */
static const char *name_of(struct names *names, const struct record *r)
{
    const struct named *named = r->kind == RECORD_KERNEL  ? find(&names->kernels, r->id)
                                : r->kind == RECORD_RANGE ? find(&names->strings, r->id)
                                                          : NULL;
    char bytes[32];
    if (named)
        return named->json;
    const char *kind = record_kinds[r->kind].name, *more = detail(r);
    if (r->kind == RECORD_TLP)
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s %" PRIu64 " B\"", tlp_name(tlp_record_type(r)),
                       r->bytes);
    else if (r->bytes && r->kind != RECORD_FAULT)
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s%s%s %s\"", kind, more ? " " : "", more ? more : "",
                       units_human_bytes((double)r->bytes, bytes, sizeof bytes));
    else
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s%s%s\"", kind, more ? " " : "", more ? more : "");
    return names->buffer;
}

/* --- the lines: slices of one may lie inside each other but never cross (Trace Event Format, "Duration Events";
 * ui.perfetto.dev drops such slices), so a kind of a process or a CUDA stream has as many as it needs, first fit --- */

struct group {
    UT_hash_handle hh;
    struct key {
        int64_t process, stream;
        uint64_t kind;
    } key;
    uint32_t lanes;
    struct lane {
        uint32_t id;
        int64_t end; /* of the last slice */
    } lane[LANES];
};

struct tracks {
    struct group *groups;
    uint32_t count; /* of lines */
};

struct track {
    uint32_t id;   /* from 1 */
    uint32_t lane; /* of its group, from 0 */
    bool fresh;    /* nobody had this track before */
};

static struct group *group_of(struct tracks *tracks, struct key key, struct err *err)
{
    struct group *g;
    HASH_FIND(hh, tracks->groups, &key, sizeof key, g);
    if (g || !(g = mem_zalloc(1, sizeof *g, err)))
        return g;
    g->key = key;
    HASH_ADD(hh, tracks->groups, key, sizeof key, g);
    if (hash_has(g))
        return g;
    free(g);
    (void)err_set(err, "out of memory");
    return NULL;
}

/* Finds the line for a slice of process, kind and stream, from start to end; start == end: something without length,
 * which stands in the first. Starts may come in any order. 0; 1: all lines of the group are taken; -1 with *err set. */
static int place(struct tracks *tracks, int64_t process, uint32_t kind, int64_t stream, int64_t start, int64_t end,
                 struct track *track, struct err *err)
{
    struct group *g = group_of(tracks, (struct key){process, stream, kind}, err);
    if (!g)
        return -1;
    uint32_t i = 0;
    while (end > start && i < g->lanes && g->lane[i].end > start)
        i++;
    if (i == LANES)
        return 1;
    track->fresh = i == g->lanes;
    if (track->fresh)
        g->lane[g->lanes++] = (struct lane){++tracks->count, INT64_MIN};
    if (end > start)
        g->lane[i].end = end;
    track->id = g->lane[i].id;
    track->lane = i;
    return 0;
}

/* Counter tracks: sums over the stretches of a thousandth of the whole. */
enum counter { H2D_BYTES, D2H_BYTES, FAULTS, PACKET_BYTES, COUNTERS };
static const char *const counter_names[COUNTERS] = {"H2D bytes", "D2H bytes", "faults", "packets' bytes"};

struct timeline {
    struct exporter_context *context;
    struct names names;
    struct tracks tracks;
    int process_column; /* of the extra columns; -1: none */
    int64_t origin, bin_ns;
    uint64_t counters[COUNTERS][BINS];
    bool counted[COUNTERS];
    int64_t processes[64]; /* those that were named */
    size_t process_count;
    bool any; /* an event was written */
};

/* "12.345" microseconds of a number of ns. */
static void put_us(FILE *to, const char *key, int64_t ns)
{
    (void)fprintf(to, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void begin_event(struct timeline *t, const char *phase, int64_t process)
{
    (void)fprintf(t->context->to, "%s{\"ph\":\"%s\",\"pid\":%" PRId64, t->any ? ",\n" : "", phase, process);
    t->any = true;
}

static void name_process(struct timeline *t, int64_t process)
{
    const size_t most = sizeof t->processes / sizeof *t->processes;
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i] == process)
            return;
    if (t->process_count == most)
        return;
    t->processes[t->process_count++] = process;
    begin_event(t, "M", process);
    if (t->process_column >= 0)
        (void)fprintf(t->context->to, ",\"name\":\"process_name\",\"args\":{\"name\":\"process %" PRId64 "\"}}",
                      process);
    else
        (void)fprintf(t->context->to, ",\"name\":\"process_name\",\"args\":{\"name\":\"offchip\"}}");
}

static void name_track(struct timeline *t, int64_t process, const struct track *track, const struct record *r,
                       int64_t stream)
{
    FILE *to = t->context->to;
    begin_event(t, "M", process);
    (void)fprintf(to, ",\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s", track->id,
                  record_kinds[r->kind].name);
    if (stream >= 0)
        (void)fprintf(to, " %s %" PRId64, r->kind == RECORD_RANGE ? "thread" : "stream", stream);
    if (track->lane > 0)
        (void)fprintf(to, " (%u)", track->lane + 1);
    (void)fputs("\"}}", to);
    begin_event(t, "M", process);
    (void)fprintf(to, ",\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}", track->id, r->kind);
}

/* What of a kind stands apart: kernels by their CUDA streams, ranges by their threads; -1: nothing, or not known. */
static int64_t stream_of(const struct timeline *t, const struct record *r)
{
    const struct named *kernel = r->kind == RECORD_KERNEL ? find(&t->names.kernels, r->id) : NULL;
    return kernel ? kernel->cuda_stream : r->kind == RECORD_RANGE ? (int64_t)r->group : -1;
}

static int put_record(struct timeline *t, const struct record *r, int64_t process, struct err *err)
{
    FILE *to = t->context->to;
    struct track track;
    const int64_t start = r->time - t->origin, stream = stream_of(t, r);
    const int64_t end = r->duration > INT64_MAX - start ? INT64_MAX : start + r->duration;
    const int placed = place(&t->tracks, process, r->kind, stream, start, end, &track, err);
    if (placed > 0) {
        exporter_skip(t->context, "more than 64 at the same time");
        return 0;
    }
    if (placed < 0)
        return -1;
    name_process(t, process);
    if (track.fresh)
        name_track(t, process, &track, r, stream);
    begin_event(t, r->duration ? "X" : "i", process);
    (void)fprintf(to, ",\"tid\":%u,\"cat\":\"%s\",\"name\":%s", track.id, record_kinds[r->kind].name,
                  name_of(&t->names, r));
    put_us(to, "ts", start);
    if (r->duration)
        put_us(to, "dur", r->duration);
    else
        (void)fputs(",\"s\":\"t\"", to);
    (void)fprintf(to,
                  ",\"args\":{\"addr\":\"0x%" PRIx64 "\",\"bytes\":%" PRIu64 ",\"flags\":%u,\"id\":%" PRIu64
                  ",\"group\":%u}}",
                  r->addr, r->bytes, r->flags, r->id, r->group);
    t->context->written++;
    return 0;
}

/* --- counters --- */

static void count(struct timeline *t, const struct record *r)
{
    static const int of_kind[RECORD_KINDS] = {[RECORD_MIGRATE_H2D] = H2D_BYTES + 1,
                                              [RECORD_MIGRATE_D2H] = D2H_BYTES + 1,
                                              [RECORD_FAULT] = FAULTS + 1,
                                              [RECORD_TLP] = PACKET_BYTES + 1};
    if (!of_kind[r->kind])
        return;
    const int c = of_kind[r->kind] - 1;
    t->counters[c][(r->time - t->origin) / t->bin_ns] += c == FAULTS ? 1 : r->bytes;
    t->counted[c] = true;
}

/* Each stretch whose sum differs from that before it. */
static void put_counters(struct timeline *t)
{
    const int64_t process = t->process_count ? t->processes[0] : 1;
    for (int c = 0; c < COUNTERS; c++)
        for (int b = 0; t->counted[c] && b <= BINS; b++) {
            const uint64_t value = b < BINS ? t->counters[c][b] : 0;
            if (b > 0 && value == t->counters[c][b - 1])
                continue;
            begin_event(t, "C", process);
            (void)fprintf(t->context->to, ",\"name\":\"%s in %" PRId64 " ns\"", counter_names[c], t->bin_ns);
            put_us(t->context->to, "ts", b * t->bin_ns);
            (void)fprintf(t->context->to, ",\"args\":{\"%s\":%" PRIu64 "}}", counter_names[c], value);
        }
}

/* --- the whole --- */

static int put_all(struct timeline *t, struct err *err)
{
    const struct stream *stream = store_stream(t->context->store, t->context->stream);
    struct store_walk w = {0};
    while (!ferror(t->context->to) && store_walk_next(&w, t->context->store, t->context->stream, err)) {
        const int64_t process = t->process_column < 0 ? 1 : store_walk_extra(&w, t->process_column);
        w.failed = w.r->time < stream->time_first || w.r->time > stream->time_last
                       ? err_set(err, "stream '%s' has records beyond its times: the file is damaged", stream->name)
                       : put_record(t, w.r, process, err);
        if (!w.failed)
            count(t, w.r);
    }
    return store_walk_end(&w);
}

static int write_all(const struct exporter *exporter, struct exporter_context *context, struct err *err)
{
    (void)exporter;
    const struct stream *stream = store_stream(context->store, context->stream);
    if (stream->unit != TIME_NS)
        return err_set(err, "stream '%s' is in %s, a timeline needs ns", stream->name, time_unit_name(stream->unit));
    struct timeline *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return -1;
    t->context = context;
    t->process_column = store_extra(stream, "process_id");
    t->origin = stream->time_first;
    t->bin_ns = (stream->time_last - stream->time_first) / BINS + 1;
    t->names.kernels = (struct named_list){.stream = 15, .err = err};
    t->names.strings = (struct named_list){.err = err};
    int rc = store_rows(context->store, "kernels", add, &t->names.kernels, err) ||
                     store_rows(context->store, "strings", add, &t->names.strings, err)
                 ? -1
                 : 0;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", context->to);
    if (rc == 0 && (rc = put_all(t, err)) == 0)
        put_counters(t);
    (void)fputs("\n]}\n", context->to);
    HASH_FREE(t->tracks.groups, g, (void)0);
    list_free(&t->names.kernels);
    list_free(&t->names.strings);
    free(t);
    return rc;
}

const struct exporter export_perfetto = {
    .name = "perfetto",
    .summary = "Chrome trace JSON: a timeline for ui.perfetto.dev and chrome://tracing",
    .carries = FACT(TIMES) | FACT(CLOCK) | FACT(BYTES) | FACT(IDS) | FACT(FLAGS) | FACT(PROCESS) | FACT(KERNELS) |
               FACT(STRINGS),
    .write = write_all,
};
