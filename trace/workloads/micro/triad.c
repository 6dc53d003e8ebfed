/* triad: c = a + 3 b over three arrays of n floats, grid-stride, blocks x threads threads.
 *
 *     for (i = thread; i < n; i += threads in all) c[i] = a[i] + 3 b[i]
 *
 * All three arrays are written by the CPU first; each has bytes / 3, down to a multiple of 4. A turn of a warp: load a,
 * load b, store c, `unroll` times: a load does not pass the store before it, since c may be the array that it reads.
 * Instructions, registers: counted in the machine code that nvcc 13.0 -O3 makes for sm_90 of fixtures/cuda/kernels.cu,
 * which does not unroll: a turn is 17, with loads 6 and 7 and the store 15 (from 0).
 * Source: the STREAM triad, fixtures/cuda/kernels.cu, as measured on the H200 (docs/uvm-engine.md).
 * Differs: the 20 instructions before a thread's loop are left out (10 that a thread without a trip does are not). */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/micro/suite.h"

enum { A = 0, B = 1, C = 2, REGISTERS = 16, GUARD = 10, UNROLL_MOST = 16 };

struct triad_params {
    int64_t bytes, blocks, threads, unroll, compute_ns;
};

struct triad {
    uint64_t n;
    struct program_launch launch;
    uint32_t unroll;
    int64_t compute_ns;
    struct program_alloc allocs[3];
};

static const struct param triad_params[] = {
    PARAM_BYTES_ROW(triad_params, bytes, 12, 0x1p38, 0x1p28, "all three arrays together"),
    PARAM_INT_ROW(triad_params, blocks, "", 1, 1 << 20, 1024, "thread blocks"),
    PARAM_INT_ROW(triad_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(triad_params, unroll, "", 1, UNROLL_MOST, 1, "trips of a turn of the loop"),
    PARAM_NS_AUTO_ROW(triad_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static void *triad_open(const void *params, struct err *err)
{
    const struct triad_params *p = params;
    struct triad *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    t->n = (uint64_t)p->bytes / 12;
    t->launch = (struct program_launch){
        .kernel = "triad", .blocks = (uint64_t)p->blocks, .threads = (uint32_t)p->threads, .registers = REGISTERS};
    t->unroll = (uint32_t)p->unroll;
    t->compute_ns = p->compute_ns;
    for (int i = 0; i < 3; i++)
        t->allocs[i] = (struct program_alloc){.name = {(char)('a' + i)}, .bytes = t->n * 4, .host = true};
    program_place(t->allocs, 3, 0, 0);
    return t;
}

static const struct program_alloc *triad_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct triad *)state)->allocs;
}

static uint32_t triad_launches(const void *state)
{
    (void)state;
    return 1;
}

static void triad_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)launch;
    *out = ((const struct triad *)state)->launch;
}

static int triad_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                      struct err *err)
{
    const struct triad *t = run;
    struct program_part part;
    struct program_warp at = program_warp_at(&t->launch, warp);
    uint64_t step = t->launch.blocks * t->launch.threads;
    struct program_loop loop = program_grid_stride(at.thread, at.lanes, step, t->n, t->unroll);
    (void)launch;
    (void)err;
    if (loop.trips == 0 && loop.more == 0)
        return program_no_trip(index, GUARD, body);
    if (!program_loop_part(&loop, index, &part))
        return 0;
    for (uint32_t k = 0; k < 3 * part.trips; k++) {
        uint64_t i = at.thread + (part.first + k / 3) * step;
        unsigned array = k % 3;
        struct program_access *a =
            array == C ? program_store(body, t->allocs, C, i * 4, 4) : program_load(body, t->allocs, array, i * 4, 4);
        a->active = part.active;
        a->turn_stride = (int64_t)(part.trips * step * 4);
        a->before = (uint16_t[]){6, 0, 7}[array];
        a->use = (uint16_t[]){8, 7, 0}[array];
    }
    body->after = 1;
    body->turns = part.turns;
    body->last = part.last;
    return 1;
}

static const struct program_ops triad_ops = {
    .allocs = triad_allocs, .launches = triad_launches, .launch = triad_launch, .body = triad_body};

static int triad_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&triad_ops, state, ((const struct triad *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_triad = {
    .name = "triad",
    .summary = "c = a + 3 b over three arrays, grid-stride",
    .source = "STREAM triad, docs/uvm-engine.md",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = triad_params,
    .params_size = sizeof(struct triad_params),
    .open = triad_open,
    .close = free,
    .program = triad_program,
};
