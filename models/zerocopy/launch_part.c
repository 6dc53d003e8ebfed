#include "models/zerocopy/launch_part.h"

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
