/* A program for tests, worked by hand: b = a + s over 2,048 floats by 4 warps, a phase of the CPU that reads b and
 * writes a, then the kernel again over the first 32 floats.
 *
 * a is written by the CPU, s is GPU memory. A turn of a warp: load a, load s (both awaited together), store b. */
#pragma once

#include "models/gpu/gpu.h"
#include "trace/program/program.h"

struct hand {
    struct program_alloc allocs[3];
    struct program program;
};

static const struct program_alloc *hand_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct hand *)state)->allocs;
}

static uint32_t hand_launches(const void *state)
{
    (void)state;
    return 3;
}

static void hand_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    *out = (struct program_launch){.kernel = "add", .blocks = 1, .threads = 32, .cpu = launch == 1};
    if (launch == 0)
        *out = (struct program_launch){.kernel = "add", .blocks = 2, .threads = 64};
}

static int hand_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct hand *h = run;
    (void)err;
    if (index)
        return 0;
    if (launch == 1) {
        (void)program_load(body, h->allocs, 1, 0, 4);
        (void)program_store(body, h->allocs, 0, 0, 4);
        return 1;
    }
    body->turns = launch ? 1 : 16;
    struct program_access *a = program_load(body, h->allocs, 0, warp * 128, 4);
    a->use = 2;
    a->turn_stride = 512;
    program_load(body, h->allocs, 2, 0, 4)->lane_stride = 0;
    program_store(body, h->allocs, 1, warp * 128, 4)->turn_stride = 512;
    return 1;
}

static const struct program_ops hand_ops = {
    .allocs = hand_allocs, .launches = hand_launches, .launch = hand_launch, .body = hand_body};

static inline void hand_make(struct hand *h)
{
    *h = (struct hand){.allocs = {{.name = "a", .bytes = 8192, .host = true},
                                  {.name = "b", .bytes = 8192},
                                  {.name = "s", .bytes = 4096, .device = true}}};
    program_place(h->allocs, 3, 0, 0);
    h->program = (struct program){.ops = &hand_ops, .state = h, .compute_ns = -1};
}

/* 1 GHz; an instruction a cycle, 100 ns to memory. */
static inline struct gpu hand_gpu(void)
{
    return (struct gpu){.sms = 2,
                        .clock_hz = 1000000000,
                        .warps_per_sm = 64,
                        .blocks_per_sm = 32,
                        .l2_bytes = 524288,
                        .l2_ways = 16,
                        .dram_bytes_per_s = 1e12,
                        .registers_per_sm = 65536,
                        .register_unit = 256,
                        .shared_bytes = 65536,
                        .issue_per_cycle = 1,
                        .dependent_cycles = 1,
                        .memory_ns = 100};
}
