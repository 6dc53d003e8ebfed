#include "trace/import/accelsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/units.h"

enum { BULK_LANES = ACCESS_LANES };

struct kernel {
    struct accelsim_import *import;
    const char *file;
    struct input_stream *source;
    struct accelsim_header header;
    char name[1024];
    int64_t id; /* -1: not stated */
    uint32_t registers, shared_bytes;
    bool begun, in_block, raw, pending_async, passed_over;
    uint32_t block[3], warp;
    uint64_t left; /* instruction lines of this warp still to come */
    uint64_t blocks;
};

/* --- header --- */

static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    if (strncmp(line, key, n) != 0)
        return NULL;
    for (line += n; *line == ' '; line++)
        ;
    if (*line != '=')
        return NULL;
    for (line++; *line == ' '; line++)
        ;
    return line;
}

/* A line "-key = value"; unknown keys are passed over. */
static void take_header(struct kernel *k, const char *line)
{
    const char *v;
    struct accelsim_header *h = &k->header;
    if ((v = value_of(line, "-kernel name")))
        (void)snprintf(k->name, sizeof k->name, "%s", v);
    else if ((v = value_of(line, "-kernel id")))
        k->id = strtoll(v, NULL, 10);
    else if ((v = value_of(line, "-grid dim")))
        (void)access_dim(v, h->grid);
    else if ((v = value_of(line, "-block dim")))
        (void)access_dim(v, h->block);
    else if ((v = value_of(line, "-shmem base_addr")))
        h->shared_base = strtoull(v, NULL, 16);
    else if ((v = value_of(line, "-shmem")))
        k->shared_bytes = (uint32_t)strtoul(v, NULL, 10);
    else if ((v = value_of(line, "-nregs")))
        k->registers = (uint32_t)strtoul(v, NULL, 10);
    else if ((v = value_of(line, "-local mem base_addr")))
        h->local_base = strtoull(v, NULL, 16);
    else if ((v = value_of(line, "-accelsim tracer version")))
        h->version = strtol(v, NULL, 10);
    else if ((v = value_of(line, "-enable lineinfo")))
        h->lineinfo = strtol(v, NULL, 10) != 0;
}

static bool is_chosen(const struct kernel *k)
{
    const struct accelsim_import *import = k->import;
    if (!import->chosen)
        return true;
    return import->by_id ? k->id == strtoll(import->chosen, NULL, 10)
                         : regexec(&import->name, k->name, 0, NULL, 0) == 0;
}

/* Where it stands; the name of the input itself is put before it by others. */
static const char *place_of(const struct kernel *k, char *buf, size_t size)
{
    const bool own = strcmp(k->file, k->import->context->path) != 0;
    char place[SOURCE_PLACE];
    (void)snprintf(buf, size, "%s%s%s", own ? k->file : "", own ? " " : "", input_stream_place(k->source, place));
    return buf;
}

/* The header is over: the launch begins, or is passed over. */
static int begin(struct kernel *k, struct err *err)
{
    struct reader_context *c = k->import->context;
    const struct accelsim_header *h = &k->header;
    char place[400];
    if (!is_chosen(k)) {
        k->import->passed_over++;
        k->passed_over = true;
        return 0;
    }
    if (h->version > 6)
        return err_set(err, "%s: tracer version %lld is newer than 6, the last one known",
                       place_of(k, place, sizeof place), (long long)h->version);
    if (!k->import->extent.built && range_map_build(&k->import->extent.known, err))
        return -1;
    k->import->extent.built = true;
    int64_t id = c->launches++;
    struct store_value row[16] = {STORE_V_INT(id),
                                  STORE_V_TEXT(k->name),
                                  STORE_V_INT(id),
                                  STORE_V_NULL,
                                  STORE_V_NULL,
                                  STORE_V_INT(h->grid[0]),
                                  STORE_V_INT(h->grid[1]),
                                  STORE_V_INT(h->grid[2]),
                                  STORE_V_INT(h->block[0]),
                                  STORE_V_INT(h->block[1]),
                                  STORE_V_INT(h->block[2]),
                                  STORE_V_INT(k->registers),
                                  STORE_V_INT(k->shared_bytes),
                                  STORE_V_NULL,
                                  STORE_V_NULL,
                                  STORE_V_NULL};
    k->begun = true;
    k->import->kernels++;
    if (store_row(c->store, "kernels", row, 16, err))
        return -1;
    return access_launch(&k->import->sink, id, err);
}

/* --- instructions --- */

/* A bulk copy's ranges, as accesses of 128 B. */
static int add_bulk(struct kernel *k, const struct accelsim_op *op, struct access_op access, struct err *err)
{
    uint64_t addrs[BULK_LANES];
    access.addrs = addrs;
    for (int i = 0; i < op->lanes; i++)
        for (uint64_t done = 0; done < op->bytes;) {
            uint64_t rest = op->bytes - done;
            access.bytes = rest < ACCESS_MOST_BYTES ? (uint32_t)rest : ACCESS_MOST_BYTES;
            int n = 0;
            for (; n < BULK_LANES && op->bytes - done >= access.bytes; n++, done += access.bytes)
                addrs[n] = op->addrs[i] + done;
            access.lanes = n;
            if (access_add(&k->import->sink, &access, err))
                return -1;
        }
    return 0;
}

/* --- where accesses lie --- */

int accelsim_extent_add(struct accelsim_extent *x, uint64_t addr, uint64_t bytes, struct err *err)
{
    if (x->known.count >= ACCELSIM_MEMORIES_MAX) {
        x->overflown = true;
        return 0;
    }
    x->built = false;
    return range_map_add(&x->known, (int64_t)addr, (int64_t)(addr + bytes), 0, err);
}

static void note_addresses(struct accelsim_extent *x, const struct accelsim_op *op)
{
    for (int i = 0; i < op->lanes; i++) {
        uint64_t addr = op->addrs[i];
        x->lowest = x->lanes == 0 || addr < x->lowest ? addr : x->lowest;
        x->highest = addr > x->highest ? addr : x->highest;
        x->outside += range_map_find(&x->known, (int64_t)addr) < 0;
        x->lanes++;
    }
}

static int add_global(struct kernel *k, const struct accelsim_op *op, struct err *err)
{
    note_addresses(&k->import->extent, op);
    const uint32_t *b = k->header.owner ? op->block : k->block, *grid = k->header.grid;
    uint64_t width = grid[0] ? grid[0] : 1, height = grid[1] ? grid[1] : 1;
    struct access_op access = {
        .addrs = op->addrs,
        .lanes = op->lanes,
        .bytes = op->bytes,
        .access = op->access,
        .block = (uint32_t)(b[0] + width * (b[1] + height * b[2])),
        .warp = k->header.owner ? op->warp : k->warp,
        .pc = op->pc,
    };
    return op->bytes > ACCESS_MOST_BYTES ? add_bulk(k, op, access, err) : access_add(&k->import->sink, &access, err);
}

static int take_instruction(struct kernel *k, const char *line, struct err *err)
{
    struct accelsim_op op;
    const char *wrong = accelsim_parse(line, &k->header, &op);
    if (wrong) {
        char place[400], reason[80];
        (void)snprintf(reason, sizeof reason, "instruction with %s", wrong);
        k->import->unreadable++;
        return reader_skip(k->import->context, reason, place_of(k, place, sizeof place), err);
    }
    if (op.async) { /* the first of two lines names the destination in shared memory */
        k->pending_async = !k->pending_async;
        if (k->pending_async)
            op.space = ACCELSIM_SHARED;
    }
    switch (op.space) {
    case ACCELSIM_GLOBAL:
        return op.lanes ? add_global(k, &op, err) : 0;
    case ACCELSIM_SHARED:
        k->import->shared++;
        return 0;
    case ACCELSIM_LOCAL:
        k->import->local++;
        return 0;
    case ACCELSIM_CONSTANT:
        k->import->constant++;
        return 0;
    case ACCELSIM_TEXTURE:
        k->import->texture++;
        return 0;
    default:
        return 0;
    }
}

/* --- structure --- */

static int wrong_line(const struct kernel *k, const char *what, struct err *err)
{
    char place[400];
    return err_set(err, "%s: %s", place_of(k, place, sizeof place), what);
}

static int take_mark(struct kernel *k, const char *line, struct err *err)
{
    if (!k->begun && begin(k, err))
        return -1;
    if (k->passed_over)
        return 0;
    if (strncmp(line, "#BEGIN_TB", 9) == 0) {
        if (k->in_block)
            return wrong_line(k, "#BEGIN_TB inside a thread block", err);
        k->in_block = true;
        k->blocks++;
        k->header.owner = k->header.version < 3;
        k->header.core = false;
        memset(k->block, 0, sizeof k->block);
        k->warp = 0;
        k->left = 0;
    } else if (strncmp(line, "#END_TB", 7) == 0) {
        if (!k->in_block)
            return wrong_line(k, "#END_TB outside a thread block", err);
        if (k->left)
            return wrong_line(k, "the thread block ends before the announced instructions of its last warp", err);
        k->in_block = false;
    } else if (strstr(line, "warpid_sm")) {
        k->header.core = true;
    }
    return 0;
}

/* A line "key = value" inside a thread block; false if it is none that is known. */
static bool take_block_line(struct kernel *k, const char *line)
{
    const char *v;
    if ((v = value_of(line, "thread block")) && access_dim(v, k->block))
        return true;
    if ((v = value_of(line, "warp"))) {
        k->warp = (uint32_t)strtoul(v, NULL, 10);
        k->pending_async = false;
    } else if ((v = value_of(line, "insts"))) {
        k->left = strtoull(v, NULL, 10);
        k->import->empty_warps += k->left == 0;
    } else {
        return strncmp(line, "cluster", 7) == 0;
    }
    return true;
}

static int take_line(struct kernel *k, const char *line, struct err *err)
{
    while (*line == ' ' || *line == '\t')
        line++;
    if (*line == 0)
        return 0;
    if (*line == '#')
        return take_mark(k, line, err);
    if (!k->begun) {
        if (*line == '-') {
            take_header(k, line);
            return 0;
        }
        return wrong_line(k, "neither a header line (-key = value) nor the line of # that ends the header", err);
    }
    if (k->in_block && k->left) {
        k->left--;
        return take_instruction(k, line, err);
    }
    if (k->in_block)
        return take_block_line(k, line) ? 0 : wrong_line(k, "neither warp, insts nor #END_TB in a thread block", err);
    if (k->blocks)
        return wrong_line(k, "an instruction outside of all thread blocks", err);
    k->raw = k->header.owner = true; /* not grouped: each line says whose it is */
    return take_instruction(k, line, err);
}

static int finish(struct kernel *k, struct err *err)
{
    if (!k->begun && input_stream_line_number(k->source) == 0) {
        k->import->empty_kernels++;
        reader_incomplete(k->import->context, "%s is empty", k->file);
        return 0;
    }
    if (!k->begun && !k->passed_over && begin(k, err))
        return -1;
    if (k->passed_over)
        return 0;
    const uint32_t *g = k->header.grid;
    uint64_t all = (uint64_t)g[0] * g[1];
    if (all && g[2] && !__builtin_mul_overflow(all, (uint64_t)g[2], &all) && !k->raw && all > k->blocks)
        k->import->missing_blocks += all - k->blocks;
    if (k->in_block)
        reader_incomplete(k->import->context, "%s ends inside a thread block, at line %llu", k->file,
                          (unsigned long long)input_stream_line_number(k->source));
    return access_launch_end(&k->import->sink, err);
}

int accelsim_kernel(struct accelsim_import *import, const char *name, struct input_stream *source, struct err *err)
{
    struct kernel *k = mem_zalloc(1, sizeof *k, err);
    if (!k)
        return -1;
    k->import = import;
    k->file = name;
    k->source = source;
    (void)snprintf(k->name, sizeof k->name, "?");
    char *line;
    size_t length;
    int rc = 0;
    k->id = -1;
    while (!k->passed_over && (rc = input_stream_line(source, &line, &length, err)) == 1)
        if ((rc = take_line(k, line, err)))
            break;
    if (rc == 0)
        rc = finish(k, err);
    free(k);
    return rc < 0 ? -1 : 0;
}
