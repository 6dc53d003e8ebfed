/* random_testing: small programs made at random from a seed, for tests: strides, masks, tables of lanes, turns, uses,
 * barriers, warps and kernels that do nothing. */
#pragma once

#include "trace/program/program.h"

struct program_random {
    uint64_t seed;
    struct program_alloc allocs[4]; /* the third is in GPU memory in any case */
};

/* A number that depends on the seed and on where it is asked for. */
static inline uint64_t program_draw(uint64_t *s)
{
    uint64_t z = *s += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline const struct program_alloc *program_random_allocs(const void *state, size_t *n)
{
    *n = 4;
    return ((const struct program_random *)state)->allocs;
}

static inline uint32_t program_random_launches(const void *state)
{
    uint64_t s = ((const struct program_random *)state)->seed;
    return 1 + program_draw(&s) % 3;
}

static inline void program_random_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    uint64_t s = ((const struct program_random *)state)->seed * 31 + launch;
    *out = (struct program_launch){.kernel = "k", .blocks = 1 + program_draw(&s) % 5};
    out->threads = 1 + (uint32_t)(program_draw(&s) % (program_draw(&s) % 2 ? 33 : 130));
}

static inline uint32_t program_random_mask(uint64_t *s)
{
    uint64_t r = program_draw(s);
    switch (r % 6) {
    case 0:
        return 1u << (r >> 8) % 32;
    case 1:
        return (uint32_t)(r >> 8);
    case 2:
        return program_first_lanes((r >> 8) % 33);
    case 3:
        return r >> 8 & 1 ? 0 : 0x0000ffff;
    default:
        return 0xffffffff;
    }
}

static inline void program_random_access(const struct program_random *p, uint64_t *s, struct program_body *b)
{
    static const int64_t lane_strides[] = {0, 4, 128, 4096, 5000, -4, -256, 36},
                         turns[] = {0, 32, 64, 128, 4096, -128, -64, 1024, 20, -12};
    uint32_t bytes = 1u << program_draw(s) % 5, kind = program_draw(s) % 8;
    unsigned alloc = program_draw(s) % 4;
    if (kind == 7) {
        program_barrier(b);
        return;
    }
    struct program_access *a = program_load(b, p->allocs, alloc, program_draw(s) % p->allocs[alloc].bytes, bytes);
    a->addr -= program_draw(s) % 2 ? a->addr % bytes : 0;
    a->kind = kind < 4 ? RECORD_READ : kind < 6 ? RECORD_WRITE : RECORD_ATOMIC;
    a->use = kind >= 4 && kind < 6 ? 0 : (uint16_t)(program_draw(s) % 6);
    a->active = program_random_mask(s);
    a->before = (uint16_t)(program_draw(s) % 3);
    a->lane_stride = program_draw(s) % 2 ? (int64_t)bytes : lane_strides[program_draw(s) % 8];
    a->turn_stride = turns[program_draw(s) % 10];
    if (program_draw(s) % 5 == 0 && b->lane_sets < PROGRAM_LANE_SETS) {
        uint64_t *lane = program_scatter(b, a);
        for (int i = 0; i < PROGRAM_LANES; i++)
            lane[i] = p->allocs[alloc].addr + program_draw(s) % p->allocs[alloc].bytes;
    }
}

static inline int program_random_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                                      struct err *err)
{
    const struct program_random *p = run;
    uint64_t s = p->seed * 0x10001 + launch;
    s = program_draw(&s) + warp;
    s = program_draw(&s);
    (void)err;
    uint64_t bodies = program_draw(&s) % 4;
    if (index >= bodies || program_draw(&s) % 8 == 0)
        return 0;
    b->last = p->seed % 2 && index + 1 == bodies;
    s += index;
    uint32_t n = program_draw(&s) % 7;
    for (uint32_t i = 0; i < n; i++)
        program_random_access(p, &s, b);
    b->turns = 1 + (program_draw(&s) % 2 ? program_draw(&s) % 70 : 0);
    b->after = (uint32_t)(program_draw(&s) % 5);
    return 1;
}

/* Fill the program and what it reads. */
static inline void program_random_init(struct program_random *p, uint64_t seed, struct program *program)
{
    static const struct program_ops ops = {.allocs = program_random_allocs,
                                           .launches = program_random_launches,
                                           .launch = program_random_launch,
                                           .body = program_random_body};
    uint64_t s = ~seed;
    *p = (struct program_random){.seed = seed};
    for (int i = 0; i < 4; i++)
        p->allocs[i] = (struct program_alloc){
            .name = {(char)('a' + i)}, .bytes = 1000 + program_draw(&s) % 100000, .device = i == 2};
    program_place(p->allocs, 4, 0x7f0000000000u, 4096);
    *program = (struct program){&ops, p, -1};
}
