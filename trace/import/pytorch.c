/* pytorch: the JSON trace of PyTorch's profiler (export_chrome_trace), of which GPU kernels and copies are read.
 *
 *     {.. "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 12.5, "dur": 3.25, "args": {"device": 0,
 *      "stream": 7, "grid": [1, 1, 1], "block": [32, 1, 1], "registers per thread": 16}},
 *      {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "args": {"device": 0, "bytes": 4096}}, ..]}
 *
 * Stream "uvm" (ns; ts and dur are us). Events are taken one by one, so that the file may be of any size; those of the
 * CPU are passed over, and what it does not see (faults, migrations) is not known (origin kinds.uvm).
 * Source: Kineto, output_json.cpp; "cat" was "Kernel" and "Memcpy" before PyTorch 1.13. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/base/mem.h"
#include "trace/event/uvm_event.h"
#include "trace/import/reader.h"
#include "trace/import/text_table.h"
#include "trace/store/store.h"

enum { EVENT_MOST = 1 << 20, PIECE = 1 << 16, SHAPE_REGISTERS = 6, SHAPE_DEVICE = 9, SHAPE_STREAM = 10 };

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct writer writer;
    char event[EVENT_MOST]; /* the text of the event being collected */
    size_t length, depth;
    bool in_text, escaped, in_list;
    char piece[PIECE];
    size_t matched; /* of the key before the list */
};

/* The number behind a key of the event, in us, as ns: of a double its last digits would be lost. */
static bool time_of(const char *event, const char *key, int64_t *ns)
{
    const char *at = strstr(event, key);
    if (!at)
        return false;
    at += strlen(key);
    at += strspn(at, " \":");
    const struct field number = {at, strcspn(at, ",}\" \n")};
    return text_table_number(&number, (struct text_unit){QUANTITY_TIME, 1000}, false, ns);
}

static struct store_value number_of(const json_t *value)
{
    return json_is_integer(value) ? STORE_V_INT(json_integer_value(value)) : STORE_V_NULL;
}

static int64_t integer(const json_t *args, const char *key)
{
    return json_integer_value(json_object_get(args, key));
}

static int take_kernel(struct reading *g, const char *name, const json_t *args, struct record *r, struct err *err)
{
    struct store_value shape[READER_SHAPE] = {{0}};
    int64_t id;
    for (size_t i = 0; i < 3; i++) {
        shape[i] = number_of(json_array_get(json_object_get(args, "grid"), i));
        shape[i + 3] = number_of(json_array_get(json_object_get(args, "block"), i));
    }
    shape[SHAPE_REGISTERS] = number_of(json_object_get(args, "registers per thread"));
    shape[SHAPE_DEVICE] = number_of(json_object_get(args, "device"));
    shape[SHAPE_STREAM] = number_of(json_object_get(args, "stream"));
    if (reader_kernel(g->context, name, r->time, r->duration, shape, &id, err))
        return -1;
    r->id = (uint64_t)id;
    r->group = (uint32_t)id;
    return 0;
}

static int take_event(struct reading *g, const json_t *event, const char *place, struct err *err)
{
    const char *cat = json_string_value(json_object_get(event, "cat"));
    const char *name = json_string_value(json_object_get(event, "name"));
    const json_t *args = json_object_get(event, "args");
    const bool kernel = cat && strcasecmp(cat, "kernel") == 0;
    const bool copy = cat && (strcasecmp(cat, "gpu_memcpy") == 0 || strcasecmp(cat, "memcpy") == 0);
    struct record r = {.kind = kernel ? RECORD_KERNEL : RECORD_COPY};
    int64_t extra[3];
    if ((!kernel && !copy) || !name)
        return 0;
    if (!time_of(g->event, "\"ts\"", &r.time) || !time_of(g->event, "\"dur\"", &r.duration) || r.duration < 0)
        return reader_skip(g->context, "event without times", place, err);
    if (copy && integer(args, "bytes") < 0)
        return reader_skip(g->context, "copy of a negative size", place, err);
    r.bytes = copy ? (uint64_t)integer(args, "bytes") : 0;
    r.flags = copy ? record_copy_find(name) : 0;
    uvm_event_owner(&r, 0, integer(args, "device"), integer(args, "device"), extra);
    return (kernel && take_kernel(g, name, args, &r, err)) || writer_add(&g->writer, &r, extra, err) ? -1 : 0;
}

static int end_event(struct reading *g, struct err *err)
{
    json_error_t why;
    g->event[g->length] = 0;
    json_t *event = strlen(g->event) == g->length ? json_loads(g->event, 0, &why) : NULL;
    char place[48];
    (void)snprintf(place, sizeof place, "byte %" PRIu64, input_stream_offset(g->source));
    const int rc =
        event ? take_event(g, event, place, err) : reader_skip(g->context, "event that is no JSON", place, err);
    json_decref(event);
    g->length = 0;
    return rc;
}

/* Before the list its key is waited for; in it, objects are collected. 1: the list ended. */
static int take_char(struct reading *g, char c, struct err *err)
{
    static const char key[] = "\"traceEvents\"";
    if (!g->in_list) {
        if (g->matched < sizeof key - 1)
            g->matched = c == key[g->matched] ? g->matched + 1 : c == key[0];
        else
            g->in_list = c == '[';
        return 0;
    }
    if (g->depth == 0 && c != '{')
        return c == ']';
    if (g->length + 1 == EVENT_MOST)
        return err_set(err, "byte %" PRIu64 ": an event of more than 1 MiB", input_stream_offset(g->source));
    g->event[g->length++] = c;
    if (g->in_text) {
        g->in_text = g->escaped || c != '"';
        g->escaped = c == '\\' && !g->escaped;
        return 0;
    }
    g->in_text = c == '"';
    g->depth += (c == '{') - (size_t)(c == '}');
    return g->depth == 0 ? end_event(g, err) : 0;
}

static int read_events(struct reading *g, struct err *err)
{
    size_t got;
    for (;;) {
        if (input_stream_read(g->source, g->piece, sizeof g->piece, &got, err))
            return -1;
        for (size_t i = 0; i < got; i++) {
            const int rc = take_char(g, g->piece[i], err);
            if (rc)
                return rc < 0 ? -1 : 0; /* what follows the list is of no interest */
        }
        if (got == 0 && !g->in_list)
            return err_set(err, "no list traceEvents is in it");
        if (got == 0) {
            reader_incomplete(g->context, "%s: the list of events does not end", g->context->path);
            return 0;
        }
    }
}

static int read_trace(struct reader_context *context, struct input_stream *source, struct err *err)
{
    static const struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    int index;
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    int rc = reader_stream(context, &stream, &index, err) || writer_open(&g->writer, context->store, index, 3, err) ||
                     store_origin(context->store, "kinds.uvm", "KERNEL COPY", err) || read_events(g, err)
                 ? -1
                 : 0;
    if (!rc && !g->writer.total && !*context->incomplete)
        rc = err_set(err,
                     "no kernel and no copy in it: of PyTorch's profiler its activities need ProfilerActivity.CUDA");
    if (writer_flush(&g->writer, rc ? NULL : err))
        rc = -1;
    writer_close(&g->writer);
    free(g);
    return rc;
}

/* JSON with what Kineto writes before its events, or with the events themselves. */
static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const size_t blanks = n ? strspn((const char[]){(char)head[0], 0}, " \r\n\t") : 0;
    if (n <= blanks || head[blanks] != '{')
        return PROBE_NO;
    return memmem(head, n, "\"traceEvents\"", 13) || memmem(head, n, "\"schemaVersion\"", 15) ? PROBE_YES : PROBE_NO;
}

const struct reader read_pytorch = {
    .name = "pytorch",
    .summary = "the JSON trace of PyTorch's profiler: kernels and copies",
    .probe = probe,
    .read = read_trace,
};
