#include "models/gpu/l2.h"
#include "replay/derive/derive_migrations.h"
#include "replay/derive/derive_source.h"
#include "trace/store/writer.h"

struct fetching {
    struct l2 *l2;
    derive_take take;
    void *ctx;
    uint64_t requests;
    uint32_t launch;
    struct derive_arrivals *arrivals; /* NULL: no time, or evenly */
    int64_t now, latest;              /* of the instruction; of all so far */
    struct err *err;
};

/* A request for each run of adjacent sectors of a line; PIM requests are of one sector. */
static int add_runs(struct fetching *f, enum record_kind kind, uint64_t line, uint32_t sectors, struct err *err)
{
    while (sectors) {
        uint32_t first = (uint32_t)__builtin_ctz(sectors);
        uint32_t n = kind == RECORD_PIM ? 1 : (uint32_t)__builtin_ctz(~(sectors >> first));
        struct record r = {.kind = kind,
                           .time = f->now,
                           .addr = line + (uint64_t)first * L2_SECTOR,
                           .bytes = (uint64_t)n * L2_SECTOR,
                           .id = f->requests++,
                           .group = f->launch};
        if (f->take(f->ctx, &r, err))
            return -1;
        sectors &= ~(((1u << n) - 1) << first);
    }
    return 0;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct fetching *f = ctx;
    f->launch = kernel->group;
    if (f->arrivals && derive_arrivals_launch(f->arrivals, err))
        return -1;
    struct record r = {.kind = RECORD_KERNEL, .time = f->latest, .id = kernel->id, .group = kernel->group};
    return f->take(f->ctx, &r, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct fetching *f = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    if (f->arrivals)
        return 0;
    return f->take(f->ctx, &r, err);
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct fetching *f = ctx;
    bool reads = op->access != RECORD_WRITE, writes = op->access != RECORD_READ;
    f->launch = op->launch;
    if (f->arrivals && (f->now = derive_arrivals_op(f->arrivals, op, err)) < 0)
        return -1;
    f->latest = f->now > f->latest ? f->now : f->latest;
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

int derive_dram_records(const struct derive_source *source, const struct derive_options *options, derive_take take,
                        void *ctx, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    struct fetching f = {.take = take, .ctx = ctx, .err = err};
    struct derive_options o = *options;
    if (o.order == DERIVE_AUTO)
        o.order = DERIVE_WAVES;
    if (options->migrations && !(f.arrivals = derive_arrivals_new(options->migrations, err)))
        return -1;
    f.l2 = l2_new(options->l2_bytes, options->l2_ways, err);
    int rc = f.l2 ? derive_walk(source, &o, &taker, &f, counts, err) : -1;
    if (rc == 0 && f.arrivals)
        rc = derive_arrivals_end(f.arrivals, err);
    f.now = f.latest;
    if (rc == 0 && l2_flush(f.l2, add_dirty, &f))
        rc = -1;
    l2_free(f.l2);
    derive_arrivals_free(f.arrivals);
    return rc;
}

/* --- into a trace --- */

struct writing {
    struct writer writer;
    uint64_t first;     /* id of the first request: behind those of the copies */
    uint64_t done, all; /* with a span: requests */
    int64_t span;
};

static int write_record(void *ctx, const struct record *record, struct err *err)
{
    struct writing *w = ctx;
    struct record r = *record;
    const bool request = r.kind != RECORD_KERNEL && r.kind != RECORD_KERNEL_END;
    if (request)
        r.id += w->first;
    if (!w->span)
        return writer_add(&w->writer, &r, NULL, err);
    if (r.kind == RECORD_KERNEL_END)
        return 0;
    r.time = (int64_t)((__int128)w->span * (int64_t)w->done / (int64_t)(w->all ? w->all : 1));
    w->done += request;
    return writer_add(&w->writer, &r, NULL, err);
}

static int count_record(void *ctx, const struct record *record, struct err *err)
{
    struct writing *w = ctx;
    (void)err;
    w->all += record->kind != RECORD_KERNEL && record->kind != RECORD_KERNEL_END;
    return 0;
}

int derive_dram(const struct derive_source *source, struct store *out, const struct derive_options *options,
                struct program_counts *counts, struct err *err)
{
    struct writing w = {.span = options->span_ns};
    const bool timed = options->migrations || options->span_ns;
    const struct derive_source copies = {.store = options->migrations};
    if (options->migrations && derive_migrations(&copies, out, options, counts, err))
        return -1;
    w.first = options->migrations ? counts->records : 0;
    if (w.span && derive_dram_records(source, options, count_record, &w, NULL, err))
        return -1;
    int stream = writer_stream(out, "requests", timed ? TIME_NS : TIME_NONE, NULL, 0, err);
    if (stream < 0 || writer_open(&w.writer, out, stream, 0, err))
        return -1;
    int rc = derive_dram_records(source, options, write_record, &w, counts, err);
    if (rc == 0)
        rc = writer_flush(&w.writer, err);
    counts->records = w.first + w.writer.total;
    writer_close(&w.writer);
    return rc == 0 ? derive_launches_write(source, out, err) : -1;
}
