#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive.h"
#include "replay/derive/derive_space.h"
#include "trace/base/dense.h"
#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/store/writer.h"

/* Warps of a multiprocessor. Source: CUDA programming guide, compute capability 6.0 to 9.0 but 7.5. */
enum { WARPS_PER_SM = 64 };

/* --- two passes --- */

struct touching {
    struct derive_space space;
    struct dense actors; /* of the launch */
    struct writer writer;
    uint32_t launch;
    int64_t step; /* number of the instruction in its launch */
};

/* The pages of an instruction, each once, in order; returns how many. */
static int pages_of(const struct derive_op *op, uint64_t pages[2 * ACCESS_LANES])
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

static int note_pages(void *ctx, const struct derive_op *op, struct err *err)
{
    struct touching *t = ctx;
    uint64_t pages[2 * ACCESS_LANES];
    int n = pages_of(op, pages);
    for (int i = 0; i < n; i++)
        if (derive_space_touch(&t->space, pages[i], op->access != RECORD_WRITE, err))
            return -1;
    return 0;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct touching *t = ctx;
    dense_clear(&t->actors);
    t->step = 0;
    t->launch = kernel->group;
    struct record r = {
        .kind = RECORD_KERNEL, .id = kernel->id, .group = kernel->group, .bytes = WARPS_PER_SM, .flags = 1};
    return writer_add(&t->writer, &r, NULL, err);
}

static int add_touches(void *ctx, const struct derive_op *op, struct err *err)
{
    struct touching *t = ctx;
    uint64_t pages[2 * ACCESS_LANES];
    uint32_t actor;
    int n = pages_of(op, pages);
    if (dense_number(&t->actors, op->id, &actor, err))
        return -1;
    struct record r = {.kind = RECORD_TOUCH,
                       .time = t->step++,
                       .bytes = (uint64_t)n,
                       .flags = op->access == RECORD_READ ? RECORD_READ : RECORD_WRITE, /* an atomic writes */
                       .id = actor,
                       .group = op->launch};
    for (int i = 0; i < n; i++) {
        r.addr = pages[i] * ACTOR_PAGE_BYTES;
        if (writer_add(&t->writer, &r, NULL, err))
            return -1;
        r.bytes = 0; /* the step's first touch counts for all */
    }
    return 0;
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct touching *t = ctx;
    struct record r = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&t->writer, &r, NULL, err);
}

static int add_allocations(struct touching *t, struct store *out, struct err *err)
{
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
        if (writer_add(&t->writer, &r, NULL, err) || store_row(out, "allocations", row, 7, err))
            return -1;
    }
    return 0;
}

static int write_touches(struct touching *t, struct store *in, struct store *out, const struct derive_options *options,
                         struct derive_counts *counts, struct err *err)
{
    static const struct derive_taker first = {.op = note_pages};
    static const struct derive_taker second = {begin_launch, add_touches, end_launch};
    if (derive_walk(in, options, &first, t, NULL, err) || derive_space_merge(&t->space, in, err))
        return -1;
    if (t->space.count > ACTOR_ALLOCS)
        return err_set(err,
                       "the accesses are spread over %zu stretches of memory; at most %d can be replayed: choose "
                       "some with --addr",
                       t->space.count, ACTOR_ALLOCS);
    int stream = writer_stream(out, "touches", TIME_NONE, NULL, 0, err);
    if (stream < 0 || writer_open(&t->writer, out, stream, 0, err) || add_allocations(t, out, err) ||
        derive_walk(in, options, &second, t, counts, err) || writer_flush(&t->writer, err))
        return -1;
    counts->records = t->writer.total;
    return derive_copy_kernels(in, out, err);
}

int derive_touches(struct store *in, struct store *out, const struct derive_options *options,
                   struct derive_counts *counts, struct err *err)
{
    struct touching t = {0};
    int rc = write_touches(&t, in, out, options, counts, err);
    derive_space_release(&t.space);
    dense_release(&t.actors);
    writer_close(&t.writer);
    return rc;
}
