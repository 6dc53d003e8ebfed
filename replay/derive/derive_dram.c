#include "models/gpu/l2.h"
#include "replay/derive/derive.h"
#include "trace/store/store.h"

/* --- a program's requests --- */

struct fetching {
    struct l2 *l2;
    derive_sink sink;
    void *ctx;
    uint64_t requests;
    uint32_t launch;
    struct err *err;
};

/* A request for each run of adjacent sectors of a line; PIM requests are of one sector. */
static int add_runs(struct fetching *f, enum record_kind kind, uint64_t line, uint32_t sectors, struct err *err)
{
    while (sectors) {
        uint32_t first = (uint32_t)__builtin_ctz(sectors);
        uint32_t n = kind == RECORD_PIM ? 1 : (uint32_t)__builtin_ctz(~(sectors >> first));
        struct record r = {.kind = kind,
                           .addr = line + (uint64_t)first * L2_SECTOR,
                           .bytes = (uint64_t)n * L2_SECTOR,
                           .id = f->requests++,
                           .group = f->launch};
        if (f->sink(f->ctx, &r, err))
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
    return f->sink(f->ctx, &r, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct fetching *f = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return f->sink(f->ctx, &r, err);
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct fetching *f = ctx;
    bool reads = op->access != RECORD_WRITE, writes = op->access != RECORD_READ;
    f->launch = op->launch;
    for (int i = 0; i < op->lines; i++) {
        if (op->access == PROGRAM_PIM) { /* past the caches */
            if (add_runs(f, RECORD_PIM, op->line[i].addr, op->line[i].sectors, err))
                return -1;
            continue;
        }
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

int derive_dram_records(const struct derive_source *source, const struct derive_options *options, derive_sink sink,
                        void *ctx, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    struct fetching f = {.sink = sink, .ctx = ctx, .err = err};
    struct derive_options o = *options;
    o.waves = true;
    f.l2 = l2_new(options->l2_bytes, options->l2_ways, err);
    int rc = f.l2 ? derive_walk(source, &o, &taker, &f, counts, err) : -1;
    if (rc == 0 && l2_flush(f.l2, add_dirty, &f))
        rc = -1;
    l2_free(f.l2);
    return rc;
}

/* --- into a trace --- */

static int write_record(void *ctx, const struct record *record, struct err *err)
{
    return writer_add(ctx, record, NULL, err);
}

int derive_dram(const struct derive_source *source, struct store *out, const struct derive_options *options,
                struct program_counts *counts, struct err *err)
{
    struct writer writer;
    int stream = writer_stream(out, "requests", TIME_NONE, NULL, 0, err);
    if (stream < 0 || writer_open(&writer, out, stream, 0, err))
        return -1;
    int rc = derive_dram_records(source, options, write_record, &writer, counts, err);
    if (rc == 0)
        rc = writer_flush(&writer, err);
    counts->records = writer.total;
    writer_close(&writer);
    return rc == 0 ? derive_launches_write(source, out, err) : -1;
}
