#include "trace/program/walk.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* A warp on its way, in waves; all that is asked of its body in each round but the access. */
struct walker {
    const struct program_access *next; /* in its body */
    uint64_t turn, turns;
    uint64_t stalls; /* of the body */
    uint32_t warp, index, access, count, wait;
    bool loaded, last, done;
};

/* A launch in waves: places for blocks, each of as many warps as a block has; all of it is kept for the next launch. */
struct wave {
    struct walker *at;
    struct program_body *bodies; /* of the warp at the same place */
    uint32_t *turn[2];           /* warps that go on: this round, the next; by place */
    uint32_t *running;           /* by block: warps that are neither done nor at a barrier */
    size_t cap;                  /* warps */
    size_t count;                /* in turn[1] */
    uint64_t next;               /* block */
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
    struct wave wave;
    struct program_body *body; /* of a warp by itself; in waves one of one access */
    bool once;                 /* the last body asked for in waves was over with its first access */
    struct program_op op;
};

/* Whether an access is handed out. */
static bool shown(const struct walk *w, const struct program_access *a)
{
    return a->active && !(w->how->managed_only && w->allocs[a->alloc].device);
}

static void begin_warp(struct walk *w, uint64_t warp)
{
    w->op.id = (warp / w->warps) << 32 | warp % w->warps;
    w->op.launch = w->launch;
}

static int emit(struct walk *w, const struct program_access *a, uint32_t place, uint64_t turn, struct err *err)
{
    struct program_op *op = &w->op;
    if (!shown(w, a))
        return 0;
    op->lines = program_lines_counted(a, turn, op->line, &op->sectors);
    op->access = a->kind;
    op->pc = 16 * (place + UINT64_C(1));
    op->bytes = a->bytes;
    w->counts.instructions++;
    w->counts.lines += (uint64_t)op->lines;
    w->counts.sectors += op->sectors;
    return w->taker->op(w->ctx, op, err);
}

/* --- one warp after the other --- */

/* A body to its end; barriers mean nothing. */
static int serial_body(struct walk *w, const struct program_body *b, struct err *err)
{
    uint64_t stalls = program_stalls(b), wanted = 0;
    for (uint32_t i = 0; i < b->count; i++)
        wanted |= (uint64_t)(b->access[i].kind != PROGRAM_BARRIER && shown(w, &b->access[i])) << i;
    if (!wanted) {
        w->op.wait += (uint32_t)b->turns;
        return 0;
    }
    for (uint64_t turn = 0; turn < b->turns; turn++) {
        w->op.wait++;
        for (uint32_t i = 0; i < b->count; i++) {
            w->op.wait += (uint32_t)(stalls >> i & 1);
            if (wanted >> i & 1 && emit(w, &b->access[i], i, turn, err))
                return -1;
        }
    }
    return 0;
}

static int walk_serial(struct walk *w, struct err *err)
{
    uint64_t warps = program_warps(&w->shape);
    for (uint64_t i = 0; i < warps; i++) {
        int rc = 1;
        begin_warp(w, i);
        w->op.wait = 0;
        w->body->last = false;
        for (uint32_t index = 0; rc == 1 && (index == 0 || !w->body->last); index++)
            if ((rc = program_body_rows(w->program, w->run, w->launch, i, index, w->body, err)) == 1)
                rc = serial_body(w, w->body, err) ? -1 : 1;
        if (rc < 0)
            return -1;
    }
    return 0;
}

/* --- in waves --- */

/* Keep for later rounds what they use of a body: its accesses. */
static void keep(struct program_body *to, const struct program_body *from)
{
    const uint32_t first = PROGRAM_LANE_SETS - from->lane_sets;
    memcpy(to->access, from->access, from->count * sizeof *from->access);
    memcpy(to->lanes + first, from->lanes + first, from->lane_sets * sizeof *from->lanes);
    for (uint32_t i = 0; i < from->count; i++) {
        uintptr_t set = (uintptr_t)from->access[i].lane - (uintptr_t)from->lanes;
        if (set < sizeof from->lanes)
            to->access[i].lane = to->lanes[set / sizeof *to->lanes];
    }
}

/* Ask for body at->index of a warp; as program_ops.body. Bodies of one access are over with it and never kept: while
 * they are asked for (w->once) they come into one place, which is at hand; else into `kept`. *access: the first one. */
static int next_body(struct walk *w, struct walker *at, struct program_body *kept, const struct program_access **access,
                     struct err *err)
{
    struct program_body *body = w->once ? w->body : kept;
    int rc = program_body_rows(w->program, w->run, w->launch, at->warp, at->index, body, err);
    if (rc <= 0)
        return rc;
    at->loaded = true;
    at->last = body->last;
    at->count = body->count;
    at->turns = body->turns;
    at->stalls = program_stalls(body);
    at->access = 0;
    at->turn = body->count ? 0 : body->turns - 1;
    bool once = body->count <= 1 && body->turns == 1;
    if (w->once && !once)
        keep(kept, body);
    *access = w->once && once ? w->body->access : kept->access;
    w->once = once;
    return 1;
}

/* 1: the warp has a next instruction, in *access, which holds until the next is asked for; 0: it has not; or -1. */
static int next_access(struct walk *w, struct walker *at, struct program_body *kept,
                       const struct program_access **access, struct err *err)
{
    *access = &kept->access[at->access];
    while (!at->loaded || at->access == at->count) {
        at->wait++;
        if (at->loaded && ++at->turn < at->turns) {
            at->access = 0;
            *access = kept->access;
            if (at->count)
                break;
            continue;
        }
        if (at->loaded && at->last)
            return 0;
        at->index += at->loaded;
        int rc = next_body(w, at, kept, access, err);
        if (rc <= 0)
            return rc;
    }
    at->next = &kept->access[++at->access];
    return 1;
}

/* Do the next instruction of a warp: 1: it goes on; 0: it is at a barrier or done; -1. */
static int advance(struct walk *w, uint32_t place, struct err *err)
{
    struct walker *at = &w->wave.at[place];
    const struct program_access *a;
    int rc = next_access(w, at, &w->wave.bodies[place], &a, err);
    at->done = rc == 0;
    if (rc <= 0)
        return rc;
    at->wait += (uint32_t)(at->stalls >> (at->access - 1) & 1);
    if (a->kind == PROGRAM_BARRIER)
        return 0;
    begin_warp(w, at->warp);
    w->op.wait = at->wait;
    return emit(w, a, at->access - 1, at->turn, err) ? -1 : 1;
}

/* The warps of a place go on in the next round: those of its next block if all have ended. */
static void go_on(struct walk *w, uint32_t place)
{
    struct wave *v = &w->wave;
    bool ended = true;
    uint32_t first = place * w->warps;
    for (uint32_t i = first; i < first + w->warps; i++)
        ended &= v->at[i].done;
    if (ended && v->next == w->shape.blocks)
        return;
    for (uint32_t i = 0; i < w->warps; i++) {
        struct walker *at = &v->at[first + i];
        if (ended)
            *at = (struct walker){.warp = (uint32_t)(v->next * w->warps + i), .next = v->bodies[first + i].access};
        if (at->done)
            continue;
        v->turn[1][v->count++] = first + i;
        v->running[place]++;
    }
    v->next += ended;
}

/* What is looked at soon: the warp, and its instruction once that is known. */
static inline void look_ahead(const struct wave *v, size_t i, size_t n)
{
    enum { FAR = 12, NEAR = 6 };
    if (i + FAR < n) {
        __builtin_prefetch(&v->at[v->turn[0][i + FAR]]);
        __builtin_prefetch(v->at[v->turn[0][i + NEAR]].next);
    }
}

/* Each warp that goes on, once. */
static int round_of(struct walk *w, size_t n, struct err *err)
{
    struct wave *v = &w->wave;
    v->count = 0;
    for (size_t i = 0; i < n; i++) {
        look_ahead(v, i, n);
        uint32_t warp = v->turn[0][i], place = warp / w->warps;
        int rc = advance(w, warp, err);
        if (rc < 0)
            return -1;
        if (rc == 1)
            v->turn[1][v->count++] = warp;
        else if (--v->running[place] == 0)
            go_on(w, place);
    }
    uint32_t *was = v->turn[0];
    v->turn[0] = v->turn[1];
    v->turn[1] = was;
    return 0;
}

static void release(struct wave *v)
{
    free(v->at);
    free(v->bodies);
    free(v->turn[0]);
    free(v->turn[1]);
    free(v->running);
    *v = (struct wave){0};
}

static int reserve(struct wave *v, size_t warps, struct err *err)
{
    if (warps <= v->cap)
        return 0;
    release(v);
    v->at = mem_zalloc(warps, sizeof *v->at, err);
    v->bodies = mem_zalloc(warps, sizeof *v->bodies, err);
    v->turn[0] = mem_zalloc(warps, sizeof *v->turn[0], err);
    v->turn[1] = mem_zalloc(warps, sizeof *v->turn[1], err);
    v->running = mem_zalloc(warps, sizeof *v->running, err);
    v->cap = warps;
    return v->at && v->bodies && v->turn[0] && v->turn[1] && v->running ? 0 : -1;
}

static int walk_waves(struct walk *w, uint64_t places, struct err *err)
{
    struct wave *v = &w->wave;
    if (reserve(v, places * w->warps, err))
        return -1;
    v->count = 0;
    v->next = 0;
    for (uint32_t p = 0; p < places; p++) {
        v->running[p] = 0;
        for (uint32_t i = 0; i < w->warps; i++)
            v->at[p * w->warps + i].done = true;
        go_on(w, p);
    }
    uint32_t *first = v->turn[0];
    v->turn[0] = v->turn[1];
    v->turn[1] = first;
    while (v->count)
        if (round_of(w, v->count, err))
            return -1;
    return 0;
}

/* --- launches --- */

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
    return places ? walk_waves(w, places, err) : walk_serial(w, err);
}

static int walk_launches(struct walk *w, struct err *err)
{
    uint32_t launches = w->program->ops->launches(w->program->state);
    int rc = 0;
    for (w->launch = 0; w->launch < launches && !rc; w->launch++) {
        struct record kernel = {.kind = RECORD_KERNEL, .id = w->launch, .group = w->launch};
        w->counts.launches++;
        rc = w->taker->launch ? w->taker->launch(w->ctx, &kernel, err) : 0;
        if (!rc)
            rc = walk_launch(w, err);
        if (!rc && w->taker->end)
            rc = w->taker->end(w->ctx, w->launch, err);
    }
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
    w.body = mem_zalloc(1, sizeof *w.body, err);
    int rc = w.body ? walk_launches(&w, err) : -1;
    program_run_close(program, w.run);
    release(&w.wave);
    free(w.body);
    if (counts)
        *counts = w.counts;
    return rc;
}
