#include "trace/export/perfetto.h"

#include <inttypes.h>

/* "12.345" microseconds of a number of ns. */
static void put_us(FILE *to, const char *key, int64_t ns)
{
    (void)fprintf(to, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_names(FILE *to, const bool *seen)
{
    (void)fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"offchip\"}}", to);
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++)
        if (seen[k])
            (void)fprintf(to,
                          ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
                          k, record_kinds[k].name);
}

static void put_record(FILE *to, const struct record *r, int64_t origin)
{
    (void)fprintf(to, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"name\":\"%s\"", r->duration ? "X" : "i", r->kind,
                  record_kinds[r->kind].name);
    put_us(to, "ts", r->time - origin);
    if (r->duration)
        put_us(to, "dur", r->duration);
    else
        (void)fputs(",\"s\":\"t\"", to);
    (void)fprintf(to,
                  ",\"args\":{\"addr\":\"0x%" PRIx64 "\",\"bytes\":%" PRIu64 ",\"flags\":%u,\"id\":%" PRIu64
                  ",\"group\":%u}}",
                  r->addr, r->bytes, r->flags, r->id, r->group);
}

/* Find the first time and the kinds that occur. */
static int look(struct exporter_context *context, bool *seen, int64_t *origin, struct err *err)
{
    const struct record *records;
    size_t n;
    struct store_cursor *cursor = store_cursor_open(context->store, context->stream, err);
    if (!cursor)
        return -1;
    *origin = INT64_MAX;
    int rc;
    while ((rc = store_cursor_next(cursor, &records, NULL, &n, err)) > 0)
        for (size_t i = 0; i < n; i++) {
            seen[records[i].kind < RECORD_KINDS ? records[i].kind : 0] = true;
            *origin = records[i].time < *origin ? records[i].time : *origin;
        }
    store_cursor_close(cursor);
    return rc;
}

static int write_all(struct exporter_context *context, struct err *err)
{
    bool seen[RECORD_KINDS] = {false};
    int64_t origin;
    const struct record *records;
    size_t n;
    const struct stream *stream = store_stream(context->store, context->stream);
    if (stream->unit != TIME_NS)
        return err_set(err, "stream '%s' is in %s, a timeline needs ns", stream->name, time_unit_name(stream->unit));
    if (look(context, seen, &origin, err))
        return -1;
    struct store_cursor *cursor = store_cursor_open(context->store, context->stream, err);
    if (!cursor)
        return -1;
    (void)fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", context->to);
    put_names(context->to, seen);
    int rc;
    while ((rc = store_cursor_next(cursor, &records, NULL, &n, err)) > 0 && !ferror(context->to))
        for (size_t i = 0; i < n; i++) {
            /* Times over INT64_MAX apart, or a time that is none, have no place on a line. */
            if (records[i].kind >= RECORD_KINDS || (origin < 0 && records[i].time > INT64_MAX + origin)) {
                exporter_skip(context, "time out of range");
                continue;
            }
            put_record(context->to, &records[i], origin);
            context->written++;
        }
    store_cursor_close(cursor);
    (void)fputs("\n]}\n", context->to);
    return rc < 0 ? -1 : 0;
}

const struct exporter export_perfetto = {
    .name = "perfetto",
    .summary = "Chrome trace JSON: a timeline for ui.perfetto.dev and chrome://tracing",
    .write = write_all,
};
