#include <inttypes.h>
#include <stdlib.h>

#include "models/gpu/l2.h"
#include "replay/derive/derive.h"
#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/derived/recording.h"
#include "trace/store/store.h"

enum { PAGE = 4096, BLOCK_PAGES = 512 };

/* --- a recording's migrations --- */

static bool migrates(const struct record *r)
{
    return r->kind == RECORD_MIGRATE_H2D || r->kind == RECORD_MIGRATE_D2H;
}

static int check(const struct record *r, const char *path, struct err *err)
{
    if (r->bytes && r->bytes <= MIGRATIONS_MOST && r->addr % MIGRATIONS_LINE == 0 && r->bytes % MIGRATIONS_LINE == 0 &&
        r->addr <= UINT64_MAX - MIGRATIONS_MOST && r->duration >= 0)
        return 0;
    return err_set(err,
                   "%s: a migration at %" PRId64 " ns of %" PRIu64 " bytes at 0x%" PRIx64
                   "; expected whole lines of %d bytes, at most %d bytes",
                   path, r->time, r->bytes, r->addr, MIGRATIONS_LINE, MIGRATIONS_MOST);
}

/* The time of the byte at `offset` of a migration. */
static int64_t time_of(const struct record *r, uint64_t offset)
{
    return r->time + (int64_t)((__int128)r->duration * (int64_t)offset / (int64_t)r->bytes);
}

/* Each kernel and migration of the one recording that the store holds. */
static int each(struct store *store, derive_sink sink, void *ctx, struct err *err)
{
    struct recording of;
    if (recording_choose(&of, (struct recording){RECORDING_ANY, RECORDING_ANY}, store, err))
        return -1;
    struct recording_walk w = {0};
    while (recording_walk_next(&w, store, of, err))
        w.at.failed = (w.at.r->kind == RECORD_KERNEL || migrates(w.at.r)) &&
                      ((migrates(w.at.r) && check(w.at.r, store_path(store), err)) || sink(ctx, w.at.r, err));
    return store_walk_end(&w.at);
}

struct extent {
    int64_t first;
    bool migrations;
};

static int measure(void *ctx, const struct record *r, struct err *err)
{
    struct extent *e = ctx;
    (void)err;
    e->migrations |= migrates(r);
    e->first = r->time < e->first ? r->time : e->first;
    return 0;
}

static int extent_of(struct store *store, struct extent *e, struct err *err)
{
    *e = (struct extent){.first = INT64_MAX};
    if (each(store, measure, e, err))
        return -1;
    return e->migrations ? 0 : err_set(err, "%s holds no migrations of managed memory", store_path(store));
}

struct requests {
    derive_sink sink;
    void *ctx;
    int64_t zero;
    uint64_t count;
};

static int take_requests(void *ctx, const struct record *r, struct err *err)
{
    struct requests *q = ctx;
    if (!migrates(r))
        return 0;
    for (uint64_t at = 0; at < r->bytes; at += MIGRATIONS_LINE) {
        const struct record request = {.kind = r->kind == RECORD_MIGRATE_H2D ? RECORD_DRAM_WRITE : RECORD_DRAM_READ,
                                       .time = time_of(r, at) - q->zero,
                                       .addr = r->addr + at,
                                       .bytes = MIGRATIONS_LINE,
                                       .id = q->count++};
        if (q->sink(q->ctx, &request, err))
            return -1;
    }
    return 0;
}

int derive_migrations_records(struct store *recording, derive_sink sink, void *ctx, uint64_t *n, struct err *err)
{
    struct extent extent;
    if (extent_of(recording, &extent, err))
        return -1;
    struct requests q = {.sink = sink, .ctx = ctx, .zero = extent.first};
    const int rc = each(recording, take_requests, &q, err);
    *n = q.count;
    return rc;
}

static int write_request(void *ctx, const struct record *record, struct err *err)
{
    return writer_add(ctx, record, NULL, err);
}

int derive_migrations(const struct derive_source *source, struct store *out, const struct derive_options *options,
                      struct program_counts *counts, struct err *err)
{
    struct writer writer;
    uint64_t n = 0;
    (void)options;
    const int stream = writer_stream(out, "migrations", TIME_NS, NULL, 0, err);
    if (stream < 0 || writer_open(&writer, out, stream, 0, err))
        return -1;
    int rc = derive_migrations_records(source->store, write_request, &writer, &n, err);
    if (rc == 0)
        rc = writer_flush(&writer, err);
    counts->records += writer.total;
    writer_close(&writer);
    return rc;
}

/* --- arrivals --- */

struct warp_clock {
    int64_t free, back; /* ns from which it may go on; in which all that is under way is there */
    uint32_t wait;
};

struct derive_arrivals {
    const char *path;
    int64_t zero;
    int64_t *start; /* of kernels, ascending */
    size_t kernels, kernel_cap, launched;
    struct id_map pages, warps, blocks;
    bool *owed; /* by VA block: faults brought it, and no access has reached it yet */
    size_t owed_cap;
    int64_t *ready; /* by page: ns in which it has come */
    size_t ready_cap;
    struct warp_clock *clock; /* by warp of this launch */
    size_t clock_cap;
};

/* Whether faults owe a VA block; `brought`: they brought some of it, else an access reached it. */
static int note_block(struct derive_arrivals *a, uint64_t page, bool brought, struct err *err)
{
    uint32_t i;
    const uint32_t known = a->blocks.count;
    if (id_map_number(&a->blocks, page / BLOCK_PAGES, &i, err) ||
        mem_grow((void **)&a->owed, &a->owed_cap, a->blocks.count, sizeof *a->owed, err))
        return -1;
    a->owed[i] = brought && (i == known || a->owed[i]);
    return 0;
}

static int note_arrival(void *ctx, const struct record *r, struct err *err)
{
    struct derive_arrivals *a = ctx;
    if (r->kind == RECORD_KERNEL)
        return MEM_ADD(a->start, a->kernels, a->kernel_cap, err, r->time - a->zero);
    if (r->kind != RECORD_MIGRATE_H2D)
        return 0;
    const uint64_t end = r->addr + r->bytes;
    for (uint64_t page = r->addr / PAGE; page * PAGE < end; page++) {
        uint32_t i;
        const uint32_t known = a->pages.count;
        const uint64_t until = (page + 1) * PAGE < end ? (page + 1) * PAGE : end;
        if (id_map_number(&a->pages, page, &i, err) ||
            mem_grow((void **)&a->ready, &a->ready_cap, a->pages.count, sizeof *a->ready, err))
            return -1;
        if (i < known)
            return err_set(err,
                           "%s: the page at 0x%" PRIx64 " comes twice: which accesses were before is not recorded; "
                           "expected a run with memory for all",
                           a->path, page * PAGE);
        a->ready[i] = time_of(r, until - r->addr) - a->zero;
        if (r->flags != RECORD_CAUSE_USER && note_block(a, page, true, err))
            return -1;
    }
    return 0;
}

struct derive_arrivals *derive_arrivals_new(struct store *recording, struct err *err)
{
    struct extent extent;
    struct derive_arrivals *a = mem_zalloc(1, sizeof *a, err);
    if (!a)
        return NULL;
    a->path = store_path(recording);
    if (extent_of(recording, &extent, err) == 0) {
        a->zero = extent.first;
        if (each(recording, note_arrival, a, err) == 0) {
            sort_items(a->start, a->kernels, sizeof *a->start, sorted_by_i64);
            return a;
        }
    }
    derive_arrivals_free(a);
    return NULL;
}

void derive_arrivals_free(struct derive_arrivals *a)
{
    if (!a)
        return;
    free(a->start);
    id_map_release(&a->pages);
    id_map_release(&a->warps);
    id_map_release(&a->blocks);
    free(a->owed);
    free(a->ready);
    free(a->clock);
    free(a);
}

static int wrong_kernels(const struct derive_arrivals *a, const char *what, struct err *err)
{
    return err_set(err, "%s holds %zu kernels; the program launches %s: expected a run of it", a->path, a->kernels,
                   what);
}

int derive_arrivals_launch(struct derive_arrivals *a, struct err *err)
{
    if (a->launched == a->kernels)
        return wrong_kernels(a, "more", err);
    a->launched++;
    id_map_clear(&a->warps);
    return 0;
}

int derive_arrivals_end(const struct derive_arrivals *a, struct err *err)
{
    if (a->launched != a->kernels)
        return wrong_kernels(a, "fewer", err);
    for (uint32_t i = 0; i < a->blocks.count; i++)
        if (a->owed[i])
            return err_set(
                err, "%s: faults bring a block of 2 MiB that the program never touches: expected a run of it", a->path);
    return 0;
}

/* The ns in which all pages of an instruction have come; 0: they were there. */
static int64_t pages_ready(struct derive_arrivals *a, const struct program_op *op, struct err *err)
{
    int64_t ready = 0;
    for (int i = 0; i < op->lines; i++) {
        uint32_t page;
        const uint32_t known = a->pages.count;
        if (id_map_number(&a->pages, op->line[i].addr / PAGE, &page, err) ||
            mem_grow((void **)&a->ready, &a->ready_cap, a->pages.count, sizeof *a->ready, err))
            return -1;
        if (note_block(a, op->line[i].addr / PAGE, false, err))
            return -1;
        if (page == known) /* no record brings it */
            a->ready[page] = 0;
        ready = a->ready[page] > ready ? a->ready[page] : ready;
    }
    return ready;
}

int64_t derive_arrivals_op(struct derive_arrivals *a, const struct program_op *op, struct err *err)
{
    uint32_t warp;
    const uint32_t known = a->warps.count;
    const int64_t ready = pages_ready(a, op, err);
    if (ready < 0 || id_map_number(&a->warps, op->id, &warp, err) ||
        mem_grow((void **)&a->clock, &a->clock_cap, a->warps.count, sizeof *a->clock, err))
        return -1;
    struct warp_clock *c = &a->clock[warp];
    if (warp == known) {
        const int64_t start = a->launched ? a->start[a->launched - 1] : 0;
        *c = (struct warp_clock){start, start, op->wait};
    }
    if (op->wait != c->wait) {
        c->free = c->back;
        c->wait = op->wait;
    }
    const int64_t at = ready > c->free ? ready : c->free;
    if (op->access != RECORD_WRITE && at > c->back)
        c->back = at;
    return at;
}

/* --- a program's requests --- */

struct fetching {
    struct l2 *l2;
    derive_sink sink;
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
    if (f->arrivals && derive_arrivals_launch(f->arrivals, err))
        return -1;
    struct record r = {.kind = RECORD_KERNEL, .time = f->latest, .id = kernel->id, .group = kernel->group};
    return f->sink(f->ctx, &r, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct fetching *f = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    if (f->arrivals)
        return 0;
    return f->sink(f->ctx, &r, err);
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

int derive_dram_records(const struct derive_source *source, const struct derive_options *options, derive_sink sink,
                        void *ctx, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    struct fetching f = {.sink = sink, .ctx = ctx, .err = err};
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
