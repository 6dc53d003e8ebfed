#include "models/zerocopy/launch_part.h"

#include <string.h>

#include "trace/program/lines.h"

/* Lines that one turn of an access touches. */
static uint64_t lines_of(const struct program_access *a)
{
    struct access_line line[2 * ACCESS_LANES];
    uint64_t bytes = program_span(a, ACCESS_LINE);
    if (bytes && a->addr + bytes > a->addr)
        return (a->addr + bytes - 1) / ACCESS_LINE - a->addr / ACCESS_LINE + 1;
    return (uint64_t)program_lines(a, 0, line);
}

/* Adds a body; returns how often the warp waits for host memory in it. */
static uint64_t weigh_body(struct launch_weight *w, const struct program_alloc *allocs, const struct program_body *body,
                           uint32_t sm)
{
    bool waits = false;
    for (uint32_t i = 0; i < body->count; i++) {
        const struct program_access *a = &body->access[i];
        if (a->kind != RECORD_READ)
            continue;
        w->loads += body->turns;
        if (allocs[a->alloc].device)
            continue;
        uint64_t lines = lines_of(a) * body->turns;
        w->lines += lines;
        w->of_sm[sm] += lines;
        waits = true;
    }
    return waits ? body->turns : 0;
}

int launch_weigh(const struct program *program, void *run, uint32_t launch, uint32_t sms, struct launch_weight *w,
                 struct err *err)
{
    struct program_launch shape = {0};
    struct program_body body;
    size_t n;
    uint64_t longest = 0;
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    memset(w, 0, sizeof *w);
    program->ops->launch(program->state, launch, &shape);
    if (program_check_launch(&shape, launch, err))
        return -1;
    const uint64_t warps = program_warps(&shape), each = program_warps_of_block(&shape);
    for (uint64_t warp = 0; warp < warps; warp++) {
        uint64_t chain = 0;
        int rc;
        body.last = false;
        for (uint32_t i = 0; (rc = program_body_brief(program, run, launch, warp, i, &body, err)) > 0; i++) {
            chain += weigh_body(w, allocs, &body, (uint32_t)(warp / each % sms));
            if (body.last)
                break;
        }
        if (rc < 0)
            return -1;
        if (chain > longest) {
            longest = chain;
            w->heaviest = warp / each;
        }
    }
    return 0;
}

/* --- the part as a program --- */

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct launch_part *p = state;
    return p->whole->ops->allocs(p->whole->state, n);
}

static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct launch_part *p = state;
    const uint64_t rows = p->shape.blocks / p->sms, rest = p->shape.blocks % p->sms;
    (void)number;
    *out = p->shape;
    out->blocks = rows * p->kept;
    for (uint32_t i = 0; i < p->kept; i++)
        out->blocks += p->of[i] < rest;
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct launch_part *p = run;
    const uint64_t each = program_warps_of_block(&p->shape), at = warp / each;
    const uint64_t block = at / p->kept * p->sms + p->of[at % p->kept];
    (void)number;
    return program_body(p->whole, p->run, p->launch, block * each + warp % each, index, out, err);
}

static const struct program_ops ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};

void launch_part_init(struct launch_part *p, const struct program *whole, void *run, uint32_t number, uint32_t sms,
                      uint32_t kept, uint32_t first)
{
    *p = (struct launch_part){.whole = whole, .run = run, .launch = number, .sms = sms, .kept = kept};
    whole->ops->launch(whole->state, number, &p->shape);
    for (uint32_t i = 0; i < kept; i++)
        p->of[i] = i * (sms / kept) + first;
    p->program = (struct program){.ops = &ops, .state = p, .compute_ns = whole->compute_ns};
}
