#include "trace/export/perfetto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/tlp.h"
#include "trace/export/perfetto_names.h"
#include "trace/export/perfetto_tracks.h"

enum { BINS = 1000 };

/* Counter tracks: sums over the stretches of a thousandth of the whole. */
enum counter { H2D_BYTES, D2H_BYTES, FAULTS, PACKET_BYTES, COUNTERS };
static const char *const counter_names[COUNTERS] = {"H2D bytes", "D2H bytes", "faults", "packets' bytes"};

struct timeline {
    struct exporter_context *context;
    struct perfetto_names *names;
    struct perfetto_tracks *tracks;
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

static void name_track(struct timeline *t, int64_t process, const struct perfetto_track *track, const struct record *r,
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

/* What of a kind stands apart: kernels by their CUDA streams, ranges by their threads; -1: nothing. */
static int64_t stream_of(const struct timeline *t, const struct record *r)
{
    return r->kind == RECORD_KERNEL  ? perfetto_cuda_stream(t->names, r)
           : r->kind == RECORD_RANGE ? (int64_t)r->group
                                     : -1;
}

static int put_record(struct timeline *t, const struct record *r, int64_t process, struct err *err)
{
    FILE *to = t->context->to;
    struct perfetto_track track;
    const int64_t start = r->time - t->origin, stream = stream_of(t, r);
    const int64_t end = r->duration > INT64_MAX - start ? INT64_MAX : start + r->duration;
    const int placed = perfetto_tracks_place(t->tracks, process, r->kind, stream, start, end, &track, err);
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
                  perfetto_name(t->names, r));
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

/* First and last time. */
static int look(struct timeline *t, int64_t *last, struct err *err)
{
    const struct record *records;
    size_t n;
    struct store_cursor *cursor = store_cursor_open(t->context->store, t->context->stream, err);
    if (!cursor)
        return -1;
    t->origin = INT64_MAX;
    *last = INT64_MIN;
    int rc;
    while ((rc = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
        for (size_t i = 0; i < n; i++) {
            t->origin = records[i].time < t->origin ? records[i].time : t->origin;
            *last = records[i].time > *last ? records[i].time : *last;
        }
    store_cursor_close(cursor);
    return rc;
}

static int put_all(struct timeline *t, struct err *err)
{
    const struct record *records;
    const int64_t *extra;
    size_t n;
    struct store_cursor *cursor = store_cursor_open(t->context->store, t->context->stream, err);
    if (!cursor)
        return -1;
    int rc, failed = 0;
    while (!failed && (rc = store_cursor_next(cursor, &records, &extra, &n, err)) > 0 && !ferror(t->context->to))
        for (size_t i = 0; i < n && !failed; i++) {
            failed =
                put_record(t, &records[i], t->process_column < 0 ? 1 : extra[(size_t)t->process_column * n + i], err);
            count(t, &records[i]);
        }
    store_cursor_close(cursor);
    return failed || rc < 0 ? -1 : 0;
}

static int write_timeline(struct timeline *t, struct err *err)
{
    int64_t last;
    if (look(t, &last, err))
        return -1;
    t->bin_ns = (last < t->origin ? 0 : last - t->origin) / BINS + 1;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", t->context->to);
    if (put_all(t, err))
        return -1;
    put_counters(t);
    (void)fputs("\n]}\n", t->context->to);
    return 0;
}

static int write_all(struct exporter_context *context, struct err *err)
{
    const struct stream *stream = store_stream(context->store, context->stream);
    if (stream->unit != TIME_NS)
        return err_set(err, "stream '%s' is in %s, a timeline needs ns", stream->name, time_unit_name(stream->unit));
    struct timeline *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return -1;
    t->context = context;
    t->process_column = -1;
    for (int e = 0; e < STORE_EXTRAS; e++)
        if (strcmp(stream->extra[e], "process_id") == 0)
            t->process_column = e;
    t->names = perfetto_names_new(context->store, err);
    t->tracks = t->names ? perfetto_tracks_new(err) : NULL;
    const int rc = t->tracks ? write_timeline(t, err) : -1;
    perfetto_tracks_free(t->tracks);
    perfetto_names_free(t->names);
    free(t);
    return rc;
}

const struct exporter export_perfetto = {
    .name = "perfetto",
    .summary = "Chrome trace JSON: a timeline for ui.perfetto.dev and chrome://tracing",
    .write = write_all,
};
