/* cutracer: warp accesses of memory as CUTracer writes them, one JSON object a line, a file for each launch.
 *
 *     {"type": "kernel_metadata", "unmangled_name": "f(int*)", "grid": [4,1,1], "block": [64,1,1],
 *      "instructions": {"12": {"sass": "LDG.E R2, [R4] ;"}, ..}}
 *     {"type": "mem_addr_trace", "grid_launch_id": 0, "cta": [0,0,0], "warp": 1, "opcode_id": 12, "addrs": [.. of 32]}
 *
 * They become ACCESS records, as of reader nvbit. What an instruction does stands in the first line, or in the line
 * itself ("sass", before the first line had it); where neither says it, the access is left out. An address of 0: the
 * thread is not active. Other spaces than global are left out and counted; other types of lines are passed over.
 * Source: CUTracer's schemas of kernel_metadata and mem_trace, its writer of NDJSON. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "trace/import/accelsim.h"
#include "trace/import/reader.h"
#include "trace/program/access.h"

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct access_sink sink;
    json_t *kernel;    /* the last line of kernel_metadata; NULL: none so far */
    uint64_t launches; /* number of the newest launch, plus one */
    bool open;
};

static uint32_t part(const json_t *list, size_t i)
{
    const json_int_t n = json_integer_value(json_array_get(list, i));
    return n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static int end_launch(struct reading *g, struct err *err)
{
    const bool open = g->open;
    g->open = false;
    return open ? access_launch_end(&g->sink, err) : 0;
}

static int begin_launch(struct reading *g, uint64_t number, struct err *err)
{
    const char *name = json_string_value(json_object_get(g->kernel, "unmangled_name"));
    struct store_value shape[READER_SHAPE] = {{0}};
    int64_t id;
    for (size_t i = 0; i < 6; i++) {
        const uint32_t n = part(json_object_get(g->kernel, i < 3 ? "grid" : "block"), i % 3);
        shape[i] = n ? STORE_V_INT(n) : STORE_V_NULL;
    }
    g->launches = number + 1;
    g->open = true;
    return reader_kernel(g->context, name ? name : "?", INT64_MIN, 0, shape, &id, err) ||
                   access_launch(&g->sink, id, err)
               ? -1
               : 0;
}

/* "@!P0 LDG.E.64 R2, [R4] ;": the second word here; *n is its length. NULL: nobody says what the instruction is. */
static const char *opcode_of(const struct reading *g, const json_t *line, size_t *n)
{
    char number[24];
    const json_t *own = json_object_get(line, "sass");
    (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                   json_integer_value(json_object_get(line, "opcode_id")));
    const char *p = json_string_value(
        own ? own : json_object_get(json_object_get(json_object_get(g->kernel, "instructions"), number), "sass"));
    if (p && *p == '@')
        p += strcspn(p, " ");
    if (!p)
        return NULL;
    p += strspn(p, " ");
    *n = strcspn(p, " ;");
    return p;
}

/* NULL, or why the line is left out. */
static const char *parse(const struct reading *g, const json_t *line, struct access_op *op, uint64_t *addrs)
{
    const json_t *list = json_object_get(line, "addrs"), *cta = json_object_get(line, "cta"), *addr;
    const json_t *grid = json_object_get(g->kernel, "grid");
    const uint64_t x = part(grid, 0) ? part(grid, 0) : 1, y = part(grid, 1) ? part(grid, 1) : 1;
    size_t n, i;
    bool async = false;
    const char *opcode = opcode_of(g, line, &n);
    if (!opcode)
        return "access of an instruction that no line describes";
    if (!json_is_array(list) || !json_is_array(cta))
        return "access without block and addresses";
    if (!accelsim_opcode(opcode, n, &op->bytes, &op->access, &async))
        return "access to no global memory";
    op->addrs = addrs;
    op->block = (uint32_t)(part(cta, 0) + x * (part(cta, 1) + y * part(cta, 2)));
    op->warp = (uint32_t)json_integer_value(json_object_get(line, "warp"));
    json_array_foreach(list, i, addr) if (json_integer_value(addr) && op->lanes < ACCESS_LANES) addrs[op->lanes++] =
        (uint64_t)json_integer_value(addr);
    return async && op->lanes && addrs[0] < ACCELSIM_SHARED_WINDOW ? "access to no global memory" : NULL;
}

static int take_access(struct reading *g, const json_t *line, struct err *err)
{
    struct access_op op = {0};
    uint64_t addrs[ACCESS_LANES];
    const json_int_t id = json_integer_value(json_object_get(line, "grid_launch_id"));
    const uint64_t number = id > 0 ? (uint64_t)id : 0;
    const char *wrong = number + 1 < g->launches ? "access behind the end of its launch" : parse(g, line, &op, addrs);
    if (wrong)
        return reader_skip_line(g->context, wrong, g->source, err);
    if ((!g->open || number + 1 != g->launches) && (end_launch(g, err) || begin_launch(g, number, err)))
        return -1;
    return op.lanes ? access_add(&g->sink, &op, err) : 0;
}

static int take_line(struct reading *g, const char *text, size_t length, struct err *err)
{
    json_error_t why;
    json_t *line = json_loadb(text, length, 0, &why);
    const char *type = json_string_value(json_object_get(line, "type"));
    int rc = 0;
    if (!json_is_object(line)) {
        rc = reader_skip_line(g->context, "line that is no JSON object", g->source, err);
    } else if (type && strcmp(type, "kernel_metadata") == 0) {
        rc = end_launch(g, err);
        json_decref(g->kernel);
        g->kernel = json_incref(line);
        g->launches = 0;
    } else if (type && strncmp(type, "mem_", 4) == 0) {
        rc = take_access(g, line, err);
    }
    json_decref(line);
    return rc;
}

static int read_lines(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading g = {.context = context, .source = source};
    int rc = access_open(&g.sink, context->store, err);
    char *line;
    size_t length;
    while (rc == 0 && (rc = input_stream_line(source, &line, &length, err)) == 1)
        rc = length ? take_line(&g, line, length, err) : 0;
    (void)snprintf(context->advice, sizeof context->advice,
                   "'cutracer trace -i mem_addr_trace' writes accesses, and kernel_metadata before them");
    if (rc == 0 && !g.sink.writer.total)
        rc = reader_nothing(context, "access to memory", err);
    rc = end_launch(&g, rc ? NULL : err) ? -1 : rc;
    rc = access_finish(&g.sink, context->store, rc, err);
    json_decref(g.kernel);
    return rc;
}

static bool has(const unsigned char *head, size_t n, const char *word)
{
    return memmem(head, n, word, strlen(word)) != NULL;
}

/* The keys of either line, whatever their order and blanks. */
static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    if (!n || *head != '{')
        return PROBE_NO;
    return (has(head, n, "\"opcode_id\"") && has(head, n, "\"grid_launch_id\"")) ||
                   (has(head, n, "\"func_addr\"") && (has(head, n, "\"sass\"") || has(head, n, "\"kernel_metadata\"")))
               ? PROBE_YES
               : PROBE_NO;
}

const struct reader read_cutracer = {
    .name = "cutracer",
    .summary = "warp-level accesses of CUTracer, one JSON object a line (mem_addr_trace, mem_value_trace)",
    .probe = probe,
    .read = read_lines,
};
