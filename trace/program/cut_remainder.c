#include "trace/program/cut.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/program_adapter.h"

/* Blocks first, first + 1 .. of a launch: all of their warps, or heads or tails of a kept wave's. */
struct part {
    uint32_t launch, gap;
    uint64_t first, blocks;
    enum warp_slice_part of; /* PROGRAM_KEPT: all */
    uint32_t kept;           /* heads, tails: kept launch; */
    uint64_t kept_block;     /* the first block in it */
};

struct program_rest {
    struct program_adapter wrapped; /* first */
    const struct program_cut_launch *launch;
    const struct warp_slice *middle;
    uint32_t launches;
    struct part *part;
    size_t parts, part_cap;
    struct program_rest_point *point;
    size_t gaps, point_cap;
};

/* --- the program --- */

static uint32_t rest_launches(const void *state)
{
    return (uint32_t)((const struct program_rest *)state)->parts;
}

static void rest_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct program_rest *r = state;
    r->wrapped.whole.ops->launch(r->wrapped.whole.state, r->part[launch].launch, out);
    out->blocks = r->part[launch].blocks;
}

static int rest_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct program_adapter_run *w = run;
    const struct program_rest *r = (const struct program_rest *)w->wrapped;
    const struct part *part = &r->part[launch];
    const uint32_t warps = r->launch[part->launch].warps;
    const uint64_t first = part->first * warps;
    if (part->of != PROGRAM_KEPT)
        return warp_slice_body(r->middle, part->of, part->kept, part->kept_block * warps + warp, &r->wrapped.whole,
                               w->run, part->launch, first + warp, index, body, err);
    return r->wrapped.whole.ops->body(w->run, part->launch, first + warp, index, body, err);
}

static const struct program_ops rest_ops = {.allocs = program_adapter_allocs,
                                            .launches = rest_launches,
                                            .launch = rest_launch,
                                            .body = rest_body,
                                            .run_open = program_adapter_open,
                                            .run_close = program_adapter_close};

/* --- made --- */

/* Waves from..to - 1 of a launch are in the gap that is open. */
static int leave_out(struct program_rest *r, uint32_t launch, uint64_t from, uint64_t to, struct err *err)
{
    const struct program_cut_launch *l = &r->launch[launch];
    const uint64_t first = from * l->wave, end = to * l->wave < l->blocks ? to * l->wave : l->blocks;
    if (first >= end)
        return 0;
    if (mem_grow((void **)&r->part, &r->part_cap, r->parts + 1, sizeof *r->part, err))
        return -1;
    r->part[r->parts++] = (struct part){
        .launch = launch, .gap = (uint32_t)r->gaps, .first = first, .blocks = end - first, .of = PROGRAM_KEPT};
    return 0;
}

/* So are heads or tails of a wave: kept wave k of kept launch `kept`. */
static int leave_out_part(struct program_rest *r, enum warp_slice_part of, uint32_t launch, uint32_t kept, uint64_t k,
                          struct err *err)
{
    const struct program_cut_launch *l = &r->launch[launch];
    const uint64_t wave = program_cut_spread(l->waves, l->waves_kept, k);
    if (!r->middle || l->cpu)
        return 0;
    if (leave_out(r, launch, wave, wave + 1, err))
        return -1;
    struct part *part = &r->part[r->parts - 1];
    part->of = of;
    part->kept = kept;
    part->kept_block = k * l->wave;
    return 0;
}

/* The gap that is open ends there, if anything is in it. */
static int close_gap(struct program_rest *r, uint32_t launch, uint64_t block, struct err *err)
{
    if (!r->parts || r->part[r->parts - 1].gap != r->gaps)
        return 0;
    if (mem_grow((void **)&r->point, &r->point_cap, r->gaps + 1, sizeof *r->point, err))
        return -1;
    r->point[r->gaps++] = (struct program_rest_point){launch, block};
    return 0;
}

/* What is left out of a launch, the kept one number `kept`. */
static int divide_launch(struct program_rest *r, uint32_t launch, uint32_t kept, struct err *err)
{
    const struct program_cut_launch *l = &r->launch[launch];
    uint64_t next = 0; /* wave */
    for (uint64_t k = 0; k < l->waves_kept; k++) {
        const uint64_t wave = program_cut_spread(l->waves, l->waves_kept, k);
        if (leave_out(r, launch, next, wave, err) || leave_out_part(r, PROGRAM_HEAD, launch, kept, k, err) ||
            close_gap(r, kept, k * l->wave, err) || leave_out_part(r, PROGRAM_TAIL, launch, kept, k, err))
            return -1;
        next = wave + 1;
    }
    return leave_out(r, launch, next, l->waves, err);
}

static int divide(struct program_rest *r, bool to_the_end, struct err *err)
{
    uint32_t kept = 0;
    for (uint32_t l = 0; l < r->launches; l++) {
        const bool is_kept = r->launch[l].waves_kept > 0;
        if (is_kept ? divide_launch(r, l, kept, err) : !r->launch[l].cpu && leave_out(r, l, 0, r->launch[l].waves, err))
            return -1;
        kept += is_kept;
    }
    while (!to_the_end && r->parts && r->part[r->parts - 1].gap == r->gaps)
        r->parts--;
    return close_gap(r, kept, 0, err);
}

/* Of a gap that is long enough with `wanted` sectors from its end: what of a part is in it. */
static struct part end_of(struct part part, const struct program_cut_launch *l, double wanted)
{
    const double each = l->sectors / (double)l->blocks;
    if (part.of == PROGRAM_KEPT && each > 0 && wanted / each < (double)part.blocks) {
        const uint64_t dropped = (part.blocks - (uint64_t)(wanted / each)) / l->wave * l->wave;
        part.first += dropped;
        part.blocks -= dropped;
    }
    return part;
}

/* Of a warp's accesses. */
static double share_of(const struct program_rest *r, enum warp_slice_part of)
{
    if (of == PROGRAM_KEPT)
        return 1;
    const struct warp_slice_facts f = warp_slice_facts(r->middle);
    return f.whole ? (double)(of == PROGRAM_HEAD ? f.heads : f.tails) / (double)f.whole : 0;
}

/* Of each gap only its end. */
static void shorten(struct program_rest *r, uint64_t sectors)
{
    size_t to = r->parts;
    double wanted = (double)sectors;
    for (size_t i = r->parts; i-- > 0;) {
        const struct part *part = &r->part[i];
        const struct program_cut_launch *l = &r->launch[part->launch];
        if (i + 1 < r->parts && r->part[i + 1].gap != part->gap)
            wanted = (double)sectors;
        if (wanted <= 0)
            continue;
        r->part[--to] = end_of(*part, l, wanted);
        const double share = share_of(r, part->of);
        wanted -= share * l->sectors / (double)l->blocks * (double)r->part[to].blocks;
    }
    for (size_t i = to; i < r->parts; i++)
        r->part[i - to] = r->part[i];
    r->parts -= to;
}

struct program_rest *program_rest_new(const struct program *whole, const struct program_cut *cut, uint64_t sectors,
                                      const struct warp_slice *middle, bool to_the_end, struct err *err)
{
    struct program_rest *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->wrapped.whole = *whole;
    r->wrapped.program = (struct program){.ops = &rest_ops, .state = r, .compute_ns = whole->compute_ns};
    r->launch = program_cut_launches(cut, &r->launches);
    r->middle = middle;
    if (divide(r, to_the_end, err)) {
        program_rest_free(r);
        return NULL;
    }
    shorten(r, sectors);
    return r;
}

void program_rest_free(struct program_rest *rest)
{
    if (!rest)
        return;
    free(rest->part);
    free(rest->point);
    free(rest);
}

const struct program *program_rest_program(const struct program_rest *rest)
{
    return &rest->wrapped.program;
}

const struct program_rest_point *program_rest_points(const struct program_rest *rest, uint32_t *gaps)
{
    *gaps = (uint32_t)rest->gaps;
    return rest->point;
}

uint32_t program_rest_gap(const struct program_rest *rest, uint32_t launch)
{
    return rest->part[launch].gap;
}
