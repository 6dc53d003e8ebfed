#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive_source.h"
#include "replay/derive/derive_space.h"
#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/program/pages.h"
#include "trace/store/writer.h"

/* Warps of a multiprocessor, where the shape of a launch was not recorded. Source: CUDA programming guide, compute
 * capability 6.0 to 9.0 but 7.5. */
enum { WARPS_PER_SM = 64 };

/* --- recorded accesses, in two passes --- */

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

/* --- a generated program, by its page view --- */

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
