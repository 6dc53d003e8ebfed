#include <stdlib.h>
#include <string.h>

#include "replay/derive.h"
#include "trace/actor.h"
#include "trace/mem.h"
#include "trace/writer.h"

/* Warps of a multiprocessor. Source: CUDA programming guide, compute capability 6.0 to 9.0 but 7.5. */
enum { WARPS_PER_SM = 64, EMPTY = 0 };

/* --- the address space --- */

/* The touched part of one VA block, or a stretch of pages: first..last, in pages. */
struct stretch {
    uint64_t first, last;
    bool read;
};

struct space {
    struct stretch *rows; /* by block: open addressing; then sorted and merged */
    size_t cap, count;
    uint64_t *keys; /* block + 1, EMPTY: free */
    struct stretch *merged;
    size_t merged_count, merged_cap;
};

static size_t slot_of(const struct space *s, uint64_t block)
{
    size_t i = (size_t)(block * 0x9e3779b97f4a7c15u >> 20) & (s->cap - 1);
    while (s->keys[i] != EMPTY && s->keys[i] != block + 1)
        i = (i + 1) & (s->cap - 1);
    return i;
}

static int space_grow(struct space *s, struct err *err)
{
    struct space bigger = {.cap = s->cap ? 2 * s->cap : 1024, .count = s->count};
    bigger.rows = mem_zalloc(bigger.cap, sizeof *bigger.rows, err);
    bigger.keys = bigger.rows ? mem_zalloc(bigger.cap, sizeof *bigger.keys, err) : NULL;
    if (!bigger.keys) {
        free(bigger.rows);
        return -1;
    }
    for (size_t i = 0; i < s->cap; i++)
        if (s->keys[i] != EMPTY) {
            size_t to = slot_of(&bigger, s->keys[i] - 1);
            bigger.keys[to] = s->keys[i];
            bigger.rows[to] = s->rows[i];
        }
    free(s->rows);
    free(s->keys);
    bigger.merged = s->merged;
    *s = bigger;
    return 0;
}

static int space_touch(struct space *s, uint64_t page, bool read, struct err *err)
{
    if (2 * (s->count + 1) > s->cap && space_grow(s, err))
        return -1;
    size_t i = slot_of(s, page / ACTOR_BLOCK_PAGES);
    struct stretch *r = &s->rows[i];
    if (s->keys[i] == EMPTY) {
        s->keys[i] = page / ACTOR_BLOCK_PAGES + 1;
        s->count++;
        *r = (struct stretch){page, page, read};
    }
    r->first = page < r->first ? page : r->first;
    r->last = page > r->last ? page : r->last;
    r->read |= read;
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static int add_stretch(struct space *s, struct stretch stretch, struct err *err)
{
    void *rows = s->merged;
    if (mem_grow(&rows, &s->merged_cap, s->merged_count + 1, sizeof *s->merged, err))
        return -1;
    s->merged = rows;
    s->merged[s->merged_count++] = stretch;
    return 0;
}

struct table {
    struct space *space;
    struct err *err;
};

static int take_allocation(void *ctx, const struct store_value *v, size_t n)
{
    const struct table *t = ctx;
    uint64_t addr = n >= 3 ? (uint64_t)v[1].i : 0, bytes = n >= 3 ? (uint64_t)v[2].i : 0;
    if (bytes == 0 || addr + bytes < addr)
        return 0;
    return add_stretch(t->space,
                       (struct stretch){addr / ACTOR_PAGE_BYTES, (addr + bytes - 1) / ACTOR_PAGE_BYTES, false}, t->err);
}

/* Sort the stretches and join those that touch or share a VA block. */
static int space_merge(struct space *s, struct store *in, struct err *err)
{
    struct table table = {s, err};
    if (store_rows(in, "allocations", take_allocation, &table, err))
        return -1;
    for (size_t i = 0; i < s->cap; i++)
        if (s->keys[i] != EMPTY && add_stretch(s, s->rows[i], err))
            return -1;
    qsort(s->merged, s->merged_count, sizeof *s->merged, by_first);
    size_t to = 0;
    for (size_t i = 0; i < s->merged_count; i++) {
        struct stretch *last = to ? &s->merged[to - 1] : NULL, *r = &s->merged[i];
        if (last && (r->first <= last->last + 1 || r->first / ACTOR_BLOCK_PAGES == last->last / ACTOR_BLOCK_PAGES)) {
            last->last = r->last > last->last ? r->last : last->last;
            last->read |= r->read;
        } else {
            s->merged[to++] = *r;
        }
    }
    s->merged_count = to;
    if (to > ACTOR_ALLOCS)
        return err_set(err,
                       "the accesses are spread over %zu stretches of memory; at most %d can be replayed: choose "
                       "some with --addr",
                       to, ACTOR_ALLOCS);
    return 0;
}

/* --- actors of the launch --- */

struct actors {
    uint64_t *ids; /* open addressing: id + 1 */
    uint32_t *numbers;
    size_t cap;
    uint32_t count;
};

static int actor_of(struct actors *a, uint64_t id, uint32_t *number, struct err *err)
{
    if (2 * ((size_t)a->count + 1) > a->cap) {
        struct actors bigger = {.cap = a->cap ? 2 * a->cap : 1024, .count = a->count};
        bigger.ids = mem_zalloc(bigger.cap, sizeof *bigger.ids, err);
        bigger.numbers = bigger.ids ? mem_zalloc(bigger.cap, sizeof *bigger.numbers, err) : NULL;
        if (!bigger.numbers) {
            free(bigger.ids);
            return -1;
        }
        for (size_t i = 0; i < a->cap; i++)
            if (a->ids[i]) {
                size_t to = (size_t)((a->ids[i] - 1) * 0x9e3779b97f4a7c15u >> 20) & (bigger.cap - 1);
                while (bigger.ids[to])
                    to = (to + 1) & (bigger.cap - 1);
                bigger.ids[to] = a->ids[i];
                bigger.numbers[to] = a->numbers[i];
            }
        free(a->ids);
        free(a->numbers);
        *a = bigger;
    }
    size_t i = (size_t)(id * 0x9e3779b97f4a7c15u >> 20) & (a->cap - 1);
    while (a->ids[i] && a->ids[i] != id + 1)
        i = (i + 1) & (a->cap - 1);
    if (!a->ids[i]) {
        a->ids[i] = id + 1;
        a->numbers[i] = a->count++;
    }
    *number = a->numbers[i];
    return 0;
}

static void actors_clear(struct actors *a)
{
    if (a->cap)
        memset(a->ids, 0, a->cap * sizeof *a->ids);
    a->count = 0;
}

/* --- two passes --- */

struct touching {
    struct space space;
    struct actors actors;
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

static int no_mark(void *ctx, const struct record *kernel, struct err *err)
{
    (void)ctx;
    (void)kernel;
    (void)err;
    return 0;
}

static int no_end(void *ctx, uint32_t launch, struct err *err)
{
    (void)ctx;
    (void)launch;
    (void)err;
    return 0;
}

static int note_pages(void *ctx, const struct derive_op *op, struct err *err)
{
    struct touching *t = ctx;
    uint64_t pages[2 * ACCESS_LANES];
    int n = pages_of(op, pages);
    for (int i = 0; i < n; i++)
        if (space_touch(&t->space, pages[i], op->access != RECORD_WRITE, err))
            return -1;
    return 0;
}

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct touching *t = ctx;
    actors_clear(&t->actors);
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
    if (actor_of(&t->actors, op->id, &actor, err))
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
    for (size_t i = 0; i < t->space.merged_count; i++) {
        const struct stretch *s = &t->space.merged[i];
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
    static const struct derive_taker first = {no_mark, note_pages, no_end};
    static const struct derive_taker second = {begin_launch, add_touches, end_launch};
    if (derive_walk(in, options, &first, t, NULL, err) || space_merge(&t->space, in, err))
        return -1;
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
    free(t.space.rows);
    free(t.space.keys);
    free(t.space.merged);
    free(t.actors.ids);
    free(t.actors.numbers);
    writer_close(&t.writer);
    return rc;
}
