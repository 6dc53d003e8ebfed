#include "replay/derive/derive.h"
#include "replay/derive/derive_source.h"
#include "trace/program/access.h"

struct writing {
    struct access_sink sink;
    uint64_t pim;
};

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    return access_launch(&((struct writing *)ctx)->sink, (int64_t)kernel->id, err);
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct writing *w = ctx;
    if (op->access == PROGRAM_PIM) {
        w->pim++;
        return 0;
    }
    const struct access_op a = {
        .bytes = op->bytes, .access = op->access, .block = (uint32_t)(op->id >> 32), .warp = (uint32_t)op->id};
    return access_add_lines(&w->sink, &a, op->line, op->lines, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    (void)launch;
    return access_launch_end(&((struct writing *)ctx)->sink, err);
}

/* As a recorder has them: a row of the table, and an ALLOC record before the first launch. */
static int add_allocations(struct writing *w, const struct program *program, struct store *out, struct err *err)
{
    size_t n;
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    const int64_t extra[ACCESS_EXTRAS] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct program_alloc *a = &allocs[i];
        const struct record r = {.kind = RECORD_ALLOC,
                                 .addr = a->addr,
                                 .bytes = a->bytes,
                                 .flags = a->device ? RECORD_ALLOC_DEVICE : RECORD_ALLOC_MANAGED,
                                 .id = i,
                                 .group = a->host};
        const struct store_value row[] = {STORE_V_INT(i),        STORE_V_INT(a->addr),
                                          STORE_V_INT(a->bytes), STORE_V_TEXT(a->device ? "device" : "managed"),
                                          STORE_V_TEXT(a->name), STORE_V_NULL,
                                          STORE_V_NULL};
        if (writer_add(&w->sink.writer, &r, extra, err) || store_row(out, "allocations", row, 7, err))
            return -1;
    }
    return 0;
}

static int write_accesses(struct writing *w, const struct derive_source *source, struct store *out,
                          const struct derive_options *options, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    if (add_allocations(w, source->program, out, err) || derive_walk(source, options, &taker, w, counts, err) ||
        access_flush(&w->sink, err))
        return -1;
    counts->records = w->sink.writer.total;
    if (w->sink.accesses == 0)
        return err_set(err, "%s makes PIM requests only, which no recording of accesses holds", source->name);
    const char *order =
        options->order == DERIVE_WAVES ? "resident blocks, in turns" : "kernel, block, warp, instruction";
    return derive_launches_write(source, out, err) || store_origin(out, "access_order", order, err) ||
                   (w->pim && store_skip(out, "PIM request", w->pim, err))
               ? -1
               : 0;
}

int derive_accesses(const struct derive_source *source, struct store *out, const struct derive_options *options,
                    struct program_counts *counts, struct err *err)
{
    struct writing w = {.pim = 0};
    if (!source->program)
        return err_set(err, "%s holds accesses already: only a generated program is written as a recording",
                       source->name);
    if (access_open(&w.sink, out, err))
        return -1;
    int rc = write_accesses(&w, source, out, options, counts, err);
    access_close(&w.sink);
    return rc;
}
