#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/warp.h"
#include "replay/derive/derive.h"
#include "replay/derive/derive_scans.h"
#include "replay/derive/derive_space.h"
#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/derived/tlp_tally.h"
#include "trace/event/actor.h"
#include "trace/program/access.h"
#include "trace/program/pages.h"
#include "trace/store/store.h"

/* Where a launch has no shape. Source: CUDA programming guide, compute capability 6.0 to 9.0 but 7.5. */
enum { WARPS_PER_SM = 64 };

/* --- touches: of recorded accesses, in two passes --- */

struct touching {
    struct derive_launches launches;
    struct derive_memory memory;
    struct derive_space space;
    struct id_map actors; /* of the launch */
    struct writer writer;
    uint32_t launch;
    int64_t step; /* number of the instruction in its launch */
};

/* The pages of an instruction, each once, in order; returns how many. */
static int pages_of(const struct program_op *op, uint64_t pages[2 * ACCESS_LANES])
{
    int n = 0;
    for (int i = 0; i < op->lines; i++) {
        uint64_t page = op->line[i].addr / ACTOR_PAGE_BYTES;
        int k = n;
        while (k > 0 && pages[k - 1] != page)
            k--;
        if (k == 0)
            pages[n++] = page;
    }
    return n;
}

static int note_pages(void *ctx, const struct program_op *op, struct err *err)
{
    struct touching *t = ctx;
    uint64_t pages[2 * ACCESS_LANES];
    int n = pages_of(op, pages);
    for (int i = 0; i < n; i++)
        if (derive_space_touch(&t->space, pages[i], op->access != RECORD_WRITE, err))
            return -1;
    return 0;
}

/* The shape of the launch, where it was recorded: how many blocks are resident follows from it. */
static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct touching *t = ctx;
    struct program_launch l;
    const int64_t extras[ACTOR_EXTRAS] = {0};
    id_map_clear(&t->actors);
    t->step = 0;
    t->launch = kernel->group;
    struct record r = {
        .kind = RECORD_KERNEL, .id = kernel->id, .group = kernel->group, .bytes = WARPS_PER_SM, .flags = 1};
    derive_launches_get(&t->launches, kernel->id, &l);
    if (l.threads && l.blocks && program_warps(&l) < UINT32_MAX) {
        r.time = l.threads;
        r.duration = (int64_t)l.registers << 32 | l.shared;
        r.addr = program_warps(&l);
        r.bytes = 0;
        r.flags = program_warps_of_block(&l);
    }
    return writer_add(&t->writer, &r, extras, err);
}

static int add_touches(void *ctx, const struct program_op *op, struct err *err)
{
    struct touching *t = ctx;
    uint64_t pages[2 * ACCESS_LANES];
    int64_t extras[ACTOR_EXTRAS] = {1, op->sectors, 1};
    uint32_t actor;
    int n = pages_of(op, pages);
    if (id_map_number(&t->actors, op->id, &actor, err))
        return -1;
    struct record r = {.kind = RECORD_TOUCH,
                       .time = t->step++,
                       .bytes = (uint64_t)n,
                       .flags = op->access,
                       .id = actor,
                       .group = op->launch};
    for (int i = 0; i < n; i++) {
        r.addr = pages[i] * ACTOR_PAGE_BYTES;
        if (writer_add(&t->writer, &r, extras, err))
            return -1;
        r.bytes = 0; /* the step's first touch counts for all */
        memset(extras, 0, sizeof extras);
    }
    return 0;
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct touching *t = ctx;
    const int64_t extras[ACTOR_EXTRAS] = {0};
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&t->writer, &r, extras, err);
}

static int add_allocations(struct touching *t, struct store *out, struct err *err)
{
    const int64_t extras[ACTOR_EXTRAS] = {0};
    for (size_t i = 0; i < t->space.count; i++) {
        const struct derive_stretch *s = &t->space.rows[i];
        uint64_t addr = s->first * ACTOR_PAGE_BYTES, bytes = (s->last - s->first + 1) * ACTOR_PAGE_BYTES;
        struct record r = {.kind = RECORD_ALLOC,
                           .addr = addr,
                           .bytes = bytes,
                           .flags = RECORD_ALLOC_MANAGED,
                           .id = i,
                           .group = s->read}; /* what is read the CPU has written */
        struct store_value row[] = {STORE_V_INT(i), STORE_V_INT(addr), STORE_V_INT(bytes), STORE_V_TEXT("managed"),
                                    STORE_V_NULL,   STORE_V_NULL,      STORE_V_NULL};
        if (writer_add(&t->writer, &r, extras, err) || store_row(out, "allocations", row, 7, err))
            return -1;
    }
    return 0;
}

static int write_touches(struct touching *t, const struct derive_source *source, struct store *out,
                         const struct derive_options *options, struct program_counts *counts, struct err *err)
{
    static const struct program_taker first = {.op = note_pages};
    static const struct program_taker second = {begin_launch, add_touches, end_launch};
    if (derive_launches_open(&t->launches, source, err) || derive_memory_open(&t->memory, source, err) ||
        derive_walk(source, options, &first, t, NULL, err) ||
        derive_space_merge(&t->space, source->store, &t->memory, err))
        return -1;
    if (t->space.count > ACTOR_ALLOCS)
        return err_set(err,
                       "the accesses are spread over %zu stretches of memory; at most %d can be replayed: choose "
                       "some with --addr",
                       t->space.count, ACTOR_ALLOCS);
    int stream = writer_stream(out, "touches", TIME_NONE, actor_extras, ACTOR_EXTRAS, err);
    if (stream < 0 || writer_open(&t->writer, out, stream, ACTOR_EXTRAS, err) || add_allocations(t, out, err) ||
        derive_walk(source, options, &second, t, counts, err) || writer_flush(&t->writer, err))
        return -1;
    counts->records = t->writer.total;
    return derive_launches_write(source, out, err);
}

static void count_records(void *ctx, size_t records)
{
    ((struct program_counts *)ctx)->records += records;
}

static int write_pages(const struct derive_source *source, struct store *out, const struct derive_options *options,
                       struct program_counts *counts, struct err *err)
{
    if (options->kernel || options->first > 0 || options->last < UINT64_MAX)
        return err_set(err, "the touches of a generated program are written whole: without --kernel and --addr");
    struct program_pages *pages = mem_zalloc(1, sizeof *pages, err);
    if (!pages)
        return -1;
    *counts = (struct program_counts){.launches = source->program->ops->launches(source->program->state)};
    int rc = program_pages_init(pages, source->program, NULL, err);
    if (rc == 0)
        rc = touches_write(out, &program_pages_ops, pages, count_records, counts, err);
    free(pages);
    return rc;
}

int derive_touches(const struct derive_source *source, struct store *out, const struct derive_options *options,
                   struct program_counts *counts, struct err *err)
{
    if (source->program)
        return write_pages(source, out, options, counts, err);
    struct touching t = {0};
    struct derive_options o = *options;
    o.offloadable = true;
    int rc = write_touches(&t, source, out, &o, counts, err);
    derive_launches_release(&t.launches);
    derive_memory_release(&t.memory);
    derive_space_release(&t.space);
    id_map_release(&t.actors);
    writer_close(&t.writer);
    return rc;
}

/* --- requests over the link --- */

struct requesting {
    struct coalescer reads, writes;
    struct tlp_tally *tally;
    uint16_t upstream;
    struct writer writer;
    struct derive_scans scans;
    uint32_t launch;
    uint64_t atomics, pim;
    enum tlp_type type; /* of the requests being made */
    struct err *err;
    int failed; /* a request could not be stored */
};

/* A request of the coalescer, as a packet with a 4-word header (64-bit address), as GPUs send them. */
static void add_request(void *user, uint64_t addr, uint32_t bytes)
{
    struct requesting *q = user;
    struct record r = {.group = q->launch};
    const struct tlp tlp = {
        .type = q->type,
        .byte0 = q->type == TLP_MRD ? 0x20 : 0x60,
        .first_be = 15,
        .last_be = 15,
        .length_dw = (uint16_t)(bytes / 4),
        .tag = (uint16_t)(q->writer.total & 0x3ff),
        .bytes = (uint16_t)bytes,
        .addr = addr,
    };
    tlp_to_record(&tlp, &r);
    q->failed |=
        writer_add(&q->writer, &r, NULL, q->err) || tlp_tally_add(q->tally, q->type, q->upstream, bytes, q->err);
}

static int begin_requests(void *ctx, const struct record *kernel, struct err *err)
{
    struct requesting *q = ctx;
    coalescer_launch(&q->reads);
    struct record r = {.kind = RECORD_KERNEL, .id = kernel->id, .group = kernel->group};
    return writer_add(&q->writer, &r, NULL, err);
}

static int end_requests(void *ctx, uint32_t launch, struct err *err)
{
    struct requesting *q = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&q->writer, &r, NULL, err) || derive_scans_end(&q->scans, launch, err) ? -1 : 0;
}

int derive_coalesce(struct coalescer *c, const struct program_op *op, struct err *err)
{
    uint64_t sectors[4 * 2 * ACCESS_LANES];
    size_t n = 0;
    for (int i = 0; i < op->lines; i++)
        for (uint64_t s = 0; s < LINE_SECTORS; s++)
            if (op->line[i].sectors >> s & 1)
                sectors[n++] = op->line[i].addr / SECTOR_BYTES + s;
    /* The coalescer takes 128 sectors at once: more than 32 lines are two loads. */
    for (size_t at = 0; at < n; at += 128)
        if (coalescer_load(c, op->id, sectors + at, n - at < 128 ? n - at : 128, err))
            return -1;
    return 0;
}

static int take_request(void *ctx, const struct program_op *op, struct err *err)
{
    struct requesting *q = ctx;
    if (op->access != RECORD_READ && op->access != RECORD_WRITE) {
        *(op->access == RECORD_ATOMIC ? &q->atomics : &q->pim) += 1;
        return 0;
    }
    q->launch = op->launch;
    q->type = op->access == RECORD_READ ? TLP_MRD : TLP_MWR;
    q->err = err;
    if (derive_coalesce(op->access == RECORD_READ ? &q->reads : &q->writes, op, err))
        return -1;
    return derive_scans_op(&q->scans, op, err) || q->failed ? -1 : 0;
}

static int store_totals(const struct requesting *q, struct store *out, struct err *err)
{
    const struct request_mix *r = &q->reads.mix, *w = &q->writes.mix;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"tlps", mix_requests(r) + mix_requests(w)},
                {"reads", mix_requests(r)},
                {"requests", mix_requests(r)},
                {"requests_32", r->by_size[0]},
                {"requests_64", r->by_size[1]},
                {"requests_96", r->by_size[2]},
                {"requests_128", r->by_size[3]},
                {"payload_bytes", mix_payload(r)},
                {"host_dram_bytes", 64 * r->host_lines},
                {"write_requests", mix_requests(w)},
                {"write_payload_bytes", mix_payload(w)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct store_value row[] = {STORE_V_INT(0), STORE_V_TEXT(rows[i].name), STORE_V_INT(rows[i].value)};
        if (store_row(out, "tlp_totals", row, 3, err))
            return -1;
    }
    if (q->pim && store_skip(out, "PIM request", q->pim, err))
        return -1;
    return q->atomics ? store_skip(out, "atomic access", q->atomics, err) : 0;
}

static int write_requests(struct requesting *q, const struct derive_source *source, struct store *out,
                          const struct derive_options *options, struct program_counts *counts, struct err *err)
{
    static const struct program_taker taker = {begin_requests, take_request, end_requests};
    int stream = writer_stream(out, "tlp", TIME_NONE, NULL, 0, err);
    q->tally = stream < 0 ? NULL : tlp_tally_new(err);
    if (!q->tally || derive_scans_open(&q->scans, source, out, options, err) ||
        writer_open(&q->writer, out, stream, 0, err))
        return -1;
    q->upstream = tlp_tally_direction(q->tally, "upstream");
    coalescer_init(&q->reads, REUSE_NONE, add_request, q);
    coalescer_init(&q->writes, REUSE_NONE, add_request, q);
    if (derive_walk(source, options, &taker, q, counts, err) || writer_flush(&q->writer, err) ||
        derive_scans_flush(&q->scans, err) || tlp_tally_store(q->tally, out, err) || store_totals(q, out, err))
        return -1;
    counts->records = q->writer.total;
    return derive_launches_write(source, out, err);
}

int derive_requests(const struct derive_source *source, struct store *out, const struct derive_options *options,
                    struct program_counts *counts, struct err *err)
{
    struct requesting q;
    struct derive_options o = *options;
    memset(&q, 0, sizeof q);
    o.offloadable = true;
    int rc = write_requests(&q, source, out, &o, counts, err);
    coalescer_release(&q.reads);
    coalescer_release(&q.writes);
    tlp_tally_free(q.tally);
    derive_scans_close(&q.scans);
    writer_close(&q.writer);
    return rc;
}

/* --- a generated program as a recording of its accesses --- */

struct writing {
    struct access_sink sink;
    uint64_t pim;
};

static int begin_accesses(void *ctx, const struct record *kernel, struct err *err)
{
    return access_launch(&((struct writing *)ctx)->sink, (int64_t)kernel->id, err);
}

static int take_access(void *ctx, const struct program_op *op, struct err *err)
{
    struct writing *w = ctx;
    if (op->access == PROGRAM_PIM) {
        w->pim++;
        return 0;
    }
    const struct access_op a = {.pc = op->pc,
                                .bytes = op->bytes,
                                .access = op->access,
                                .block = (uint32_t)(op->id >> 32),
                                .warp = (uint32_t)op->id};
    return access_add_lines(&w->sink, &a, op->line, op->lines, err);
}

static int end_accesses(void *ctx, uint32_t launch, struct err *err)
{
    (void)launch;
    return access_launch_end(&((struct writing *)ctx)->sink, err);
}

/* As a recorder has them: a row of the table, and an ALLOC record before the first launch. */
static int add_program_allocations(struct writing *w, const struct program *program, struct store *out, struct err *err)
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
    static const struct program_taker taker = {begin_accesses, take_access, end_accesses};
    if (add_program_allocations(w, source->program, out, err) || derive_walk(source, options, &taker, w, counts, err) ||
        access_flush(&w->sink, err))
        return -1;
    counts->records = w->sink.writer.total;
    if (w->sink.accesses == 0)
        return err_set(err, "%s makes PIM requests only, which no recording of accesses holds", source->name);
    const char *order = options->waves ? "resident blocks, in turns" : "kernel, block, warp, instruction";
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
