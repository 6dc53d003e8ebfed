#include "models/gpu/l2.h"
#include "replay/derive/derive.h"
#include "trace/store/writer.h"

struct fetching {
    struct l2 *l2;
    struct writer writer;
    uint64_t requests;
    uint32_t launch;
    struct err *err;
};

/* A request for each run of adjacent sectors of a line. */
static int add_runs(struct fetching *f, enum record_kind kind, uint64_t line, uint32_t sectors, struct err *err)
{
    while (sectors) {
        uint32_t first = (uint32_t)__builtin_ctz(sectors), n = (uint32_t)__builtin_ctz(~(sectors >> first));
        struct record r = {.kind = kind,
                           .addr = line + (uint64_t)first * L2_SECTOR,
                           .bytes = (uint64_t)n * L2_SECTOR,
                           .id = f->requests++,
                           .group = f->launch};
        if (writer_add(&f->writer, &r, NULL, err))
            return -1;
        sectors &= ~(((1u << n) - 1) << first);
    }
    return 0;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct fetching *f = ctx;
    f->launch = kernel->group;
    struct record r = {.kind = RECORD_KERNEL, .id = kernel->id, .group = kernel->group};
    return writer_add(&f->writer, &r, NULL, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct fetching *f = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&f->writer, &r, NULL, err);
}

static int take_op(void *ctx, const struct derive_op *op, struct err *err)
{
    struct fetching *f = ctx;
    bool reads = op->access != RECORD_WRITE, writes = op->access != RECORD_READ;
    f->launch = op->launch;
    for (int i = 0; i < op->lines; i++) {
        struct l2_result r = l2_access(f->l2, op->line[i].addr, op->line[i].sectors, reads, writes);
        if ((r.write_back && add_runs(f, RECORD_DRAM_WRITEBACK, r.victim, r.write_back, err)) ||
            (r.fetch && add_runs(f, RECORD_DRAM_READ, op->line[i].addr, r.fetch, err)))
            return -1;
    }
    return 0;
}

static int add_dirty(void *ctx, uint64_t addr, uint32_t sectors)
{
    struct fetching *f = ctx;
    return add_runs(f, RECORD_DRAM_WRITEBACK, addr, sectors, f->err);
}

static int write_dram(struct fetching *f, struct store *in, struct store *out, const struct derive_options *options,
                      struct derive_counts *counts, struct err *err)
{
    static const struct derive_taker taker = {begin_launch, take_op, end_launch};
    f->err = err;
    f->l2 = l2_new(options->l2_bytes, options->l2_ways, err);
    int stream = f->l2 ? writer_stream(out, "requests", TIME_NONE, NULL, 0, err) : -1;
    if (stream < 0 || writer_open(&f->writer, out, stream, 0, err) ||
        derive_walk(in, options, &taker, f, counts, err) || (!options->keep_dirty && l2_flush(f->l2, add_dirty, f)) ||
        writer_flush(&f->writer, err))
        return -1;
    counts->records = f->writer.total;
    return derive_copy_kernels(in, out, err);
}

int derive_dram(struct store *in, struct store *out, const struct derive_options *options, struct derive_counts *counts,
                struct err *err)
{
    struct fetching f = {0};
    int rc = write_dram(&f, in, out, options, counts, err);
    l2_free(f.l2);
    writer_close(&f.writer);
    return rc;
}
