#include "trace/program/walk.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* The bytes first..last, of which none is left out. */
static int lines_of_range(uint64_t first, uint64_t last, struct access_line *lines)
{
    int n = 0;
    for (uint64_t line = first - first % ACCESS_LINE; line <= last; line += ACCESS_LINE) {
        uint64_t from = line < first ? (first - line) / ACCESS_SECTOR : 0;
        uint64_t to = last - line < ACCESS_LINE ? (last - line) / ACCESS_SECTOR : 3;
        lines[n++] = (struct access_line){line, (2u << to) - (1u << from)};
    }
    return n;
}

int program_lines(const struct program_access *a, uint64_t turn, struct access_line lines[2 * ACCESS_LANES])
{
    if (!a->active)
        return 0;
    uint64_t bytes = program_stretch(a), first = program_addr(a, 0, turn);
    if (bytes)
        return lines_of_range(first, first + bytes - 1, lines);
    uint64_t addrs[PROGRAM_LANES];
    int n = 0;
    for (uint32_t rest = a->active; rest; rest &= rest - 1)
        addrs[n++] = program_addr(a, (unsigned)__builtin_ctz(rest), turn);
    return access_lines(addrs, n, a->bytes, lines);
}

/* A warp on its way. */
struct walker {
    uint64_t warp;
    uint64_t turn;
    uint32_t index, access;
    bool loaded, done, held; /* held: at a barrier */
    uint32_t wait;
    uint64_t stalls; /* of the body */
    struct program_body *body;
};

struct walk {
    const struct program *program;
    const struct program_walk *how;
    const struct program_taker *taker;
    void *ctx, *run;
    const struct program_alloc *allocs;
    struct program_counts counts;
    struct program_launch shape;
    uint32_t launch, warps; /* warps of a block */
};

static int emit(struct walk *w, const struct walker *at, const struct program_access *a, struct err *err)
{
    struct program_op op;
    if (w->how->managed_only && w->allocs[a->alloc].device)
        return 0;
    op.lines = program_lines(a, at->turn, op.line);
    if (op.lines == 0)
        return 0;
    op.id = (at->warp / w->warps) << 32 | at->warp % w->warps;
    op.launch = w->launch;
    op.access = a->kind;
    op.bytes = a->bytes;
    op.wait = at->wait;
    w->counts.instructions++;
    w->counts.lines += (uint64_t)op.lines;
    for (int i = 0; i < op.lines; i++)
        w->counts.sectors += (uint64_t)__builtin_popcount(op.line[i].sectors);
    return w->taker->op(w->ctx, &op, err);
}

/* Do the next instruction of a warp. Sets done at its end, held at a barrier. */
static int advance(struct walk *w, struct walker *at, struct err *err)
{
    while (!at->loaded || at->access == at->body->count) {
        at->wait++;
        if (at->loaded && ++at->turn < at->body->turns) {
            at->access = 0;
            if (at->body->count)
                break;
            continue;
        }
        at->index += at->loaded;
        int rc = program_body(w->program, w->run, w->launch, at->warp, at->index, at->body, err);
        if (rc <= 0) {
            at->done = true;
            return rc;
        }
        at->loaded = true;
        at->stalls = program_stalls(at->body);
        at->turn = at->access = 0;
        if (at->body->count == 0)
            at->turn = at->body->turns - 1;
    }
    at->wait += at->stalls >> at->access & 1;
    const struct program_access *a = &at->body->access[at->access++];
    if (a->kind != PROGRAM_BARRIER)
        return emit(w, at, a, err);
    at->held = true;
    return 0;
}

static void start(struct walker *at, uint64_t warp)
{
    struct program_body *body = at->body;
    *at = (struct walker){.warp = warp, .body = body};
}

static int walk_serial(struct walk *w, struct walker *at, struct err *err)
{
    uint64_t warps = program_warps(&w->shape);
    for (uint64_t i = 0; i < warps; i++)
        for (start(at, i); !at->done;)
            if (advance(w, at, err))
                return -1;
    return 0;
}

/* --- in waves --- */

/* Whether every warp of a block is at a barrier or done; then they go on. */
static bool release(struct walker *block, uint32_t warps)
{
    bool ended = true;
    for (uint32_t i = 0; i < warps; i++) {
        if (!block[i].held && !block[i].done)
            return false;
        ended &= block[i].done;
    }
    for (uint32_t i = 0; i < warps; i++)
        block[i].held = false;
    return ended;
}

static int walk_waves(struct walk *w, struct walker *at, uint64_t places, struct err *err)
{
    uint64_t next = 0, live = 0;
    for (uint64_t p = 0; p < places && next < w->shape.blocks; p++, next++, live++)
        for (uint32_t i = 0; i < w->warps; i++)
            start(&at[p * w->warps + i], next * w->warps + i);
    places = live;
    while (live)
        for (uint64_t p = 0; p < places; p++) {
            struct walker *block = &at[p * w->warps];
            bool was_done = true;
            for (uint32_t i = 0; i < w->warps; i++) {
                was_done &= block[i].done;
                if (!block[i].done && !block[i].held && advance(w, &block[i], err))
                    return -1;
            }
            if (was_done || !release(block, w->warps))
                continue;
            if (next == w->shape.blocks) {
                live--;
                continue;
            }
            for (uint32_t i = 0; i < w->warps; i++)
                start(&block[i], next * w->warps + i);
            next++;
        }
    return 0;
}

static int walk_launch(struct walk *w, struct err *err)
{
    memset(&w->shape, 0, sizeof w->shape);
    w->program->ops->launch(w->program->state, w->launch, &w->shape);
    if (program_check_launch(&w->shape, w->launch, err))
        return -1;
    w->warps = program_warps_of_block(&w->shape);
    uint64_t places = w->how->resident ? w->how->resident(w->how->ctx, &w->shape) : 0;
    if (places > w->shape.blocks)
        places = w->shape.blocks;
    size_t n = places ? places * w->warps : 1;
    struct walker *at = mem_zalloc(n, sizeof *at, err);
    struct program_body *bodies = at ? mem_zalloc(n, sizeof *bodies, err) : NULL;
    int rc = bodies ? 0 : -1;
    for (size_t i = 0; i < n && !rc; i++)
        at[i].body = &bodies[i];
    if (!rc)
        rc = places ? walk_waves(w, at, places, err) : walk_serial(w, at, err);
    free(bodies);
    free(at);
    return rc;
}

int program_walk(const struct program *program, const struct program_walk *how, const struct program_taker *taker,
                 void *ctx, struct program_counts *counts, struct err *err)
{
    static const struct program_walk serial = {0};
    struct walk w = {.program = program, .how = how ? how : &serial, .taker = taker, .ctx = ctx};
    size_t n;
    w.allocs = program->ops->allocs(program->state, &n);
    if (program_run_open(program, &w.run, err))
        return -1;
    uint32_t launches = program->ops->launches(program->state);
    int rc = 0;
    for (w.launch = 0; w.launch < launches && !rc; w.launch++) {
        struct record kernel = {.kind = RECORD_KERNEL, .id = w.launch, .group = w.launch};
        w.counts.launches++;
        rc = taker->launch ? taker->launch(ctx, &kernel, err) : 0;
        if (!rc)
            rc = walk_launch(&w, err);
        if (!rc && taker->end)
            rc = taker->end(ctx, w.launch, err);
    }
    program_run_close(program, w.run);
    if (counts)
        *counts = w.counts;
    return rc;
}
