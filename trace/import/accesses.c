/* accesses: every warp-level global access of a program as text, one a line, as recorded through compute-sanitizer.
 *
 *     #kernel NAME grid X,Y,Z block X,Y,Z accesses N
 *     PC MASK FLAGS BYTES BLOCK WARP ADDR...
 *
 * PC, active mask and addresses (one per active lane) are hexadecimal; FLAGS: bit 0 read, 1 write, 2 atomic (both 0 and
 * 1: atomic, too); BYTES per lane, BLOCK (linear) and WARP (in the block) are decimal. The lines of a kernel follow its
 * #kernel line, in order of arrival; a dimension of 0 was not recorded. They become ACCESS records
 * (trace/program/access.h), one launch per kernel. Left out and counted: lines that do not fit. A kernel with fewer
 * lines than announced makes the trace incomplete. Source: our recorder; measured: H200, driver 580.159.04, CUDA 13.0,
 * 2026-11. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/program/access.h"

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct access_sink sink;
    bool in_kernel;
    char kernel[1024];
    uint64_t announced, found;
    bool counted; /* announced holds */
};

static bool decimal(const char **p, uint32_t *value)
{
    uint64_t v;
    *p += strspn(*p, " ");
    const bool good = field_digits(p, &v) && v <= UINT32_MAX && (!**p || **p == ' ');
    *value = good ? (uint32_t)v : 0;
    return good;
}

/* NULL, or what is wrong with the line. */
static const char *parse(const char *p, struct access_op *op, uint64_t addrs[ACCESS_LANES])
{
    uint64_t mask;
    uint32_t flags;
    if (!field_hex_word(&p, &op->pc) || !field_hex_word(&p, &mask) || mask > UINT32_MAX)
        return "line without program counter and mask of 32 lanes";
    if (!decimal(&p, &flags) || (flags & 7) == 0 || flags > 7)
        return "line whose flags are not read, write or atomic";
    if (!decimal(&p, &op->bytes) || op->bytes == 0 || op->bytes > ACCESS_MOST_BYTES)
        return "line without bytes per lane of 1 to 128";
    if (!decimal(&p, &op->block) || !decimal(&p, &op->warp))
        return "line without block and warp";
    op->access = access_of_flags(flags);
    op->lanes = __builtin_popcount((unsigned)mask);
    op->addrs = addrs;
    for (int i = 0; i < op->lanes; i++)
        if (!field_hex_word(&p, &addrs[i]))
            return "line with fewer addresses than active lanes";
    while (*p == ' ')
        p++;
    return *p ? "line with more addresses than active lanes" : NULL;
}

static int end_kernel(struct reading *g, struct err *err)
{
    if (!g->in_kernel)
        return 0;
    g->in_kernel = false;
    if (g->counted && g->found != g->announced)
        reader_incomplete(g->context, "kernel %.80s: %llu accesses announced, %llu found", g->kernel,
                          (unsigned long long)g->announced, (unsigned long long)g->found);
    return access_launch_end(&g->sink, err);
}

/* "X,Y,Z" behind `key` in the line's tail; 0 where not recorded. */
static void dimensions(const char *tail, const char *key, struct store_value out[3])
{
    uint32_t v[3] = {0};
    const char *at = strstr(tail, key);
    if (at)
        (void)access_dim(at + strlen(key), v);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] ? STORE_V_INT(v[i]) : STORE_V_NULL;
}

/* #kernel NAME [grid X,Y,Z] [block X,Y,Z] [accesses N]; text is NULL for accesses before any kernel. */
static int begin_kernel(struct reading *g, const char *text, struct err *err)
{
    if (end_kernel(g, err))
        return -1;
    const char *grid = text ? strstr(text, " grid ") : NULL, *count = text ? strstr(text, " accesses ") : NULL;
    size_t n = text ? strlen(text) : 1;
    if (grid)
        n = (size_t)(grid - text);
    else if (count)
        n = (size_t)(count - text);
    (void)snprintf(g->kernel, sizeof g->kernel, "%.*s", (int)(n < sizeof g->kernel ? n : sizeof g->kernel - 1),
                   text ? text : "?");
    g->counted = count != NULL;
    g->announced = count ? strtoull(count + 10, NULL, 10) : 0;
    g->found = 0;
    g->in_kernel = true;
    int64_t id;
    struct store_value shape[READER_SHAPE] = {{0}};
    dimensions(grid ? grid : "", " grid ", shape);
    dimensions(grid ? grid : "", " block ", shape + 3);
    if (reader_kernel(g->context, g->kernel, INT64_MIN, 0, shape, &id, err))
        return -1;
    return access_launch(&g->sink, id, err);
}

static int take_line(struct reading *g, const char *line, struct err *err)
{
    uint64_t addrs[ACCESS_LANES];
    struct access_op op;
    if (line[0] == 0)
        return 0;
    if (strncmp(line, "#kernel ", 8) == 0)
        return begin_kernel(g, line + 8, err);
    if (line[0] == '#')
        return 0;
    const char *wrong = parse(line, &op, addrs);
    if (wrong)
        return reader_skip_line(g->context, wrong, g->source, err);
    if (!g->in_kernel && begin_kernel(g, NULL, err))
        return -1;
    g->found++;
    return op.lanes ? access_add(&g->sink, &op, err) : 0;
}

static int read_text(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    int rc = access_open(&g->sink, context->store, err);
    char *line;
    size_t length;
    while (rc == 0 && (rc = input_stream_line(source, &line, &length, err)) == 1)
        rc = take_line(g, line, err);
    rc = end_kernel(g, rc ? NULL : err) ? -1 : rc;
    rc = access_finish(&g->sink, context->store, rc, err);
    free(g);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head;
    char line[READER_PROBE_BYTES + 1] = "";
    (void)reader_head_line(&p, p + n, line, sizeof line);
    if (strncmp(line, "#kernel ", 8) == 0)
        return PROBE_YES;
    uint64_t addrs[ACCESS_LANES];
    struct access_op op;
    return parse(line, &op, addrs) ? PROBE_NO : PROBE_YES;
}

const struct reader read_accesses = {
    .name = "accesses",
    .summary = "warp-level global accesses as text: #kernel lines, then pc mask flags bytes block warp addresses",
    .probe = probe,
    .read = read_text,
};
