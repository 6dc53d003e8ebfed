/* testing_program: a small program with all that derivations meet: c[i] = a[i] + b[i] with both loads under way
 * together, every block loads its flag first and waits for it, a barrier, an atomic at the end; the flags may be the
 * GPU's own. Launches: "vecadd" twice, a phase of the CPU between them. */
#pragma once

#include "trace/program/program.h"

enum { VECADD_THREADS = 96, VECADD_WARPS = 3, VECADD_LAUNCHES = 3 };
enum { VECADD_A, VECADD_B, VECADD_C, VECADD_FLAG, VECADD_ALLOCS };

struct vecadd {
    uint64_t n; /* floats */
    struct program_alloc allocs[VECADD_ALLOCS];
};

static inline uint64_t vecadd_blocks(const struct vecadd *v)
{
    return (v->n + VECADD_THREADS - 1) / VECADD_THREADS;
}

static inline const struct program_alloc *vecadd_allocs(const void *state, size_t *n)
{
    *n = VECADD_ALLOCS;
    return ((const struct vecadd *)state)->allocs;
}

static inline uint32_t vecadd_launches(const void *state)
{
    (void)state;
    return VECADD_LAUNCHES;
}

static inline void vecadd_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct vecadd *v = state;
    *out = (struct program_launch){
        .kernel = "vecadd", .blocks = vecadd_blocks(v), .threads = VECADD_THREADS, .registers = 20, .shared = 1024};
    if (launch == 1)
        *out = (struct program_launch){.kernel = "check", .blocks = 1, .threads = 1, .cpu = true};
}

static inline int vecadd_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                              struct err *err)
{
    const struct vecadd *v = run;
    uint64_t block = warp / VECADD_WARPS, first = block * VECADD_THREADS + warp % VECADD_WARPS * PROGRAM_LANES;
    uint64_t left = first < v->n ? v->n - first : 0;
    (void)err;
    if (index)
        return 0;
    if (launch == 1) {
        program_load(b, v->allocs, VECADD_C, 0, 4)->active = 1;
        return 1;
    }
    struct program_access *flag = program_load(b, v->allocs, VECADD_FLAG, 4 * block, 4);
    flag->lane_stride = 0;
    program_barrier(b);
    program_load(b, v->allocs, VECADD_A, 4 * first, 4)->use = 3;
    program_load(b, v->allocs, VECADD_B, 4 * first, 4)->use = 2;
    struct program_access *store = program_store(b, v->allocs, VECADD_C, 4 * first, 4);
    store->before = 1;
    for (uint32_t i = 2; i < b->count; i++)
        b->access[i].active = program_first_lanes(left);
    struct program_access *done = program_store(b, v->allocs, VECADD_FLAG, 4 * block, 4);
    done->kind = RECORD_ATOMIC;
    done->active = 1;
    return 1;
}

static const struct program_ops vecadd_ops = {
    .allocs = vecadd_allocs, .launches = vecadd_launches, .launch = vecadd_launch, .body = vecadd_body};

/* The program over *v; device: the flags are the GPU's own. */
static inline struct program vecadd_program(struct vecadd *v, uint64_t n, bool device)
{
    static const char *const names[VECADD_ALLOCS] = {"a", "b", "c", "flag"};
    *v = (struct vecadd){.n = n};
    for (int i = 0; i < VECADD_ALLOCS; i++) {
        v->allocs[i].name[0] = names[i][0];
        v->allocs[i].bytes = i == VECADD_FLAG ? 4 * vecadd_blocks(v) : 4 * n;
        v->allocs[i].host = i != VECADD_C;
        v->allocs[i].device = i == VECADD_FLAG && device;
    }
    program_place(v->allocs, VECADD_ALLOCS, 0, 0);
    return (struct program){.ops = &vecadd_ops, .state = v, .compute_ns = -1};
}
