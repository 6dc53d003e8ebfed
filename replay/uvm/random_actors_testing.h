/* random_actors_testing: small closed loops made at random from a seed, for tests: allocations that end anywhere, with
 * and without advice, launches of the GPU and of the CPU, sweeps and scattered pages, loads, stores, turns. */
#pragma once

#include "trace/base/testing.h"
#include "trace/event/actor.h"

struct random_actors {
    uint64_t seed;
    struct actor_alloc allocs[3];
};

static inline uint64_t random_actors_draw(uint64_t *s)
{
    uint64_t z = *s += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline const struct actor_alloc *random_actors_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct random_actors *)state)->allocs;
}

static inline uint32_t random_actors_launches(const void *state)
{
    uint64_t s = ((const struct random_actors *)state)->seed;
    return 1 + random_actors_draw(&s) % 4;
}

static inline void random_actors_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    uint64_t s = ((const struct random_actors *)state)->seed * 31 + launch;
    *out = (struct actor_launch){.kernel = "k", .actors = 1 + random_actors_draw(&s) % 40, .per_sm = 4, .together = 1};
    out->cpu = launch % 2 && random_actors_draw(&s) % 2;
}

static inline int random_actors_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at,
                                     struct actor_step *step, struct err *err)
{
    const struct random_actors *r = run;
    uint64_t s = (r->seed * 1009 + launch) * 4099 + actor;
    s = random_actors_draw(&s) + at->turn;
    (void)err;
    if (at->turn++ >= 12)
        return 0;
    const struct actor_alloc *a = &r->allocs[random_actors_draw(&s) % 3];
    uint32_t pages = (uint32_t)((a->bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES);
    *step = (struct actor_step){.count = random_actors_draw(&s) % 6, .stores = random_actors_draw(&s) % 4};
    bool sweep = random_actors_draw(&s) % 2;
    for (uint32_t i = 0; i < step->count + step->stores; i++)
        step->page[i] =
            a->first_page + (uint32_t)(sweep ? (actor * 12 + at->turn) * 5 + i : random_actors_draw(&s)) % pages;
    step->writes = step->count ? random_actors_draw(&s) & ((1u << step->count) - 1) : 0;
    step->accesses = step->count + step->stores;
    step->sectors = 4 * step->accesses;
    step->instructions = 20;
    step->compute_ns = random_actors_draw(&s) % 2 ? ACTOR_COMPUTE_AUTO : (uint32_t)(random_actors_draw(&s) % 3000);
    step->turns = 1 + random_actors_draw(&s) % 3;
    return 1;
}

static const struct actor_ops random_actors_ops = {.allocs = random_actors_allocs,
                                                   .launches = random_actors_launches,
                                                   .launch = random_actors_launch,
                                                   .step = random_actors_step};

/* advice: enum actor_advice, whose bits each allocation has or has not. */
static inline void random_actors_init(struct random_actors *r, uint64_t seed, uint32_t advice)
{
    uint64_t s = ~seed, at = 1ull << 32;
    *r = (struct random_actors){.seed = seed};
    for (int i = 0; i < 3; i++) {
        struct actor_alloc *a = &r->allocs[i];
        *a = (struct actor_alloc){.name = {(char)('a' + i)}, .bytes = 500000 + random_actors_draw(&s) % 9000000};
        a->host = random_actors_draw(&s) % 3;
        a->advice = (uint32_t)random_actors_draw(&s) & advice;
        a->addr = at + (random_actors_draw(&s) % 2 ? 0 : random_actors_draw(&s) % 512 * ACTOR_PAGE_BYTES);
        at = (a->addr + a->bytes) / ACTOR_BLOCK_BYTES * ACTOR_BLOCK_BYTES + 2 * ACTOR_BLOCK_BYTES;
    }
    ck_assert_int_eq(actor_space_init(r->allocs, 3, NULL), 0);
}
