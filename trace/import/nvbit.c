/* nvbit: what NVBit's tool mem_trace prints: each warp's accesses, between whatever the program itself prints.
 *
 *     MEMTRACE: CTX 0x.. - LAUNCH - Kernel pc 0x.. - Kernel name f(int*) - grid launch id 0 - grid size 1,1,1 - block
 * .. MEMTRACE: CTX 0x.. - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - 0x7f00.. 0x7f04.. (32, 0: not active)
 *
 * They become ACCESS records (trace/program/access.h), one launch per launch that has accesses, in order of arrival;
 * warp is that of the block. The width comes from the opcode. Other spaces than global are left out and counted, as are
 * lines that do not fit. Source: NVBit 1.5 to 1.7, tools/mem_trace. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/import/accelsim.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/program/access.h"

struct launch {
    uint64_t number; /* grid launch id */
    int64_t kernel;  /* row of table kernels */
    uint32_t grid[3];
    bool ended;
};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct access_sink sink;
    struct launch *launches;
    size_t count, cap, current; /* current: of the accesses being added, plus one */
};

static const char mark[] = "MEMTRACE: ";

/* What stands behind `key` in the line; NULL: it has none. */
static const char *behind(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

static int add_launch(struct reading *g, uint64_t number, const char *name, const char *line, struct err *err)
{
    struct launch launch = {.number = number};
    struct store_value shape[READER_SHAPE] = {{0}};
    uint32_t block[3] = {0};
    const char *grid = behind(line, " - grid size "), *threads = behind(line, " - block size ");
    if (grid)
        (void)access_dim(grid, launch.grid);
    if (threads)
        (void)access_dim(threads, block);
    for (int i = 0; i < 3; i++) {
        shape[i] = launch.grid[i] ? STORE_V_INT(launch.grid[i]) : STORE_V_NULL;
        shape[i + 3] = block[i] ? STORE_V_INT(block[i]) : STORE_V_NULL;
    }
    return reader_kernel(g->context, name, INT64_MIN, 0, shape, &launch.kernel, err) ||
                   MEM_ADD(g->launches, g->count, g->cap, err, launch)
               ? -1
               : 0;
}

static int take_launch(struct reading *g, const char *line, struct err *err)
{
    const char *name = behind(line, " - Kernel name "), *id = behind(line, " - grid launch id ");
    uint64_t number;
    if (!name || !id || id < name || !field_digits(&id, &number))
        return reader_skip_line(g->context, "launch without a name and a number", g->source, err);
    char *text = mem_strndup(name, (size_t)(strstr(name, " - grid launch id ") - name), err);
    const int rc = text ? add_launch(g, number, text, line, err) : -1;
    free(text);
    return rc;
}

static int end_launch(struct reading *g, struct err *err)
{
    if (!g->current)
        return 0;
    g->launches[g->current - 1].ended = true;
    g->current = 0;
    return access_launch_end(&g->sink, err);
}

/* Make the launch of this number the one being added to. 1: it has ended. */
static int choose(struct reading *g, uint64_t number, struct err *err)
{
    size_t i = g->count;
    if (g->current && g->launches[g->current - 1].number == number)
        return 0;
    while (i > 0 && g->launches[i - 1].number != number)
        i--;
    if (i && g->launches[i - 1].ended)
        return 1;
    if (!i && add_launch(g, number, "?", "", err))
        return -1;
    i = i ? i : g->count;
    if (end_launch(g, err))
        return -1;
    g->current = i;
    return access_launch(&g->sink, g->launches[i - 1].kernel, err);
}

/* NULL, or why the line is left out. */
static const char *parse(const char *line, struct access_op *op, uint64_t *addrs, uint64_t *launch, uint32_t cta[3])
{
    const char *id = behind(line, " - grid_launch_id "), *block = behind(line, " - CTA "),
               *warp = behind(line, " - warp ");
    uint64_t number, addr;
    bool async = false;
    if (!id || !block || !warp || !field_digits(&id, launch) || !access_dim(block, cta) ||
        !field_digits(&warp, &number) || number > UINT32_MAX || strncmp(warp, " - ", 3) != 0)
        return "access without launch, block and warp";
    const char *opcode = warp + 3, *p = strstr(opcode, " - ");
    if (!p)
        return "access without addresses";
    op->warp = (uint32_t)number;
    op->addrs = addrs;
    if (!accelsim_opcode(opcode, (size_t)(p - opcode), &op->bytes, &op->access, &async))
        return "access to no global memory";
    for (p += 3; field_hex_word(&p, &addr);)
        if (addr && op->lanes < ACCESS_LANES)
            addrs[op->lanes++] = addr;
    if (*(p + strspn(p, " \t")))
        return "address that is no number";
    return async && op->lanes && addrs[0] < ACCELSIM_SHARED_WINDOW ? "access to no global memory" : NULL;
}

static int take_access(struct reading *g, const char *line, struct err *err)
{
    struct access_op op = {0};
    uint64_t addrs[ACCESS_LANES], number;
    uint32_t cta[3] = {0};
    const char *wrong = parse(line, &op, addrs, &number, cta);
    const int chosen = wrong ? 0 : choose(g, number, err);
    if (chosen < 0)
        return -1;
    if (wrong || chosen)
        return reader_skip_line(g->context, wrong ? wrong : "access behind the end of its launch", g->source, err);
    const uint32_t *grid = g->launches[g->current - 1].grid;
    const uint64_t x = grid[0] ? grid[0] : 1, y = grid[1] ? grid[1] : 1;
    op.block = (uint32_t)(cta[0] + x * (cta[1] + y * cta[2]));
    return op.lanes ? access_add(&g->sink, &op, err) : 0;
}

static int read_text(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading g = {.context = context, .source = source};
    int rc = access_open(&g.sink, context->store, err);
    char *line;
    size_t length;
    while (rc == 0 && (rc = input_stream_line(source, &line, &length, err)) == 1) {
        rc = 0;
        if (strstr(line, mark)) /* mpirun and the like put something before it */
            rc = strstr(line, " - LAUNCH - ") ? take_launch(&g, line, err) : take_access(&g, line, err);
    }
    rc = end_launch(&g, rc ? NULL : err) ? -1 : rc;
    rc = access_finish(&g.sink, context->store, rc, err);
    free(g.launches);
    return rc;
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return memmem(head, n, mark, sizeof mark - 1) ? PROBE_YES : PROBE_NO;
}

const struct reader read_nvbit = {
    .name = "nvbit",
    .summary = "warp-level accesses as NVBit's tool mem_trace prints them (MEMTRACE: CTX ..)",
    .probe = probe,
    .read = read_text,
};
