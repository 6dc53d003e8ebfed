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

#include "trace/program/plan.h"
#include "trace/workloads/micro/suite.h"

enum { A, B, C, REGISTERS = 16, GUARD = 10, UNROLL_MOST = 16 };

struct triad_params {
    int64_t bytes, blocks, threads, unroll, compute_ns;
};

struct triad {
    struct plan plan;
    uint64_t n, step; /* step: threads in all */
    uint32_t unroll;
};

static const struct param triad_params[] = {
    PARAM_BYTES_ROW(triad_params, bytes, 12, 0x1p38, 0x1p28, "all three arrays together"),
    PARAM_INT_ROW(triad_params, blocks, "", 1, 1 << 20, 1024, "thread blocks"),
    PARAM_INT_ROW(triad_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(triad_params, unroll, "", 1, UNROLL_MOST, 1, "trips of a turn of the loop"),
    PARAM_NS_AUTO_ROW(triad_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static int triad(struct emit *e)
{
    const struct triad *t = e->state;
    struct program_loop loop = program_grid_stride(e->at.thread, e->at.lanes, t->step, t->n, t->unroll);
    struct program_part part;
    if (loop.trips == 0 && loop.more == 0)
        return emit_idle(e, GUARD);
    if (!program_loop_part(&loop, e->index, &part))
        return 0;
    e->active = part.active;
    for (uint32_t k = 0; k < part.trips; k++) {
        int64_t i = (int64_t)(e->at.thread + (part.first + k) * t->step);
        emit_load(e, A, i, 6, 8);
        emit_load(e, B, i, 0, 7);
        emit_store(e, C, i, 7);
    }
    emit_turns(e, part.turns, (int64_t)(part.trips * t->step));
    e->body->last = part.last;
    return emit_end(e, 1);
}

static void *triad_open(const void *params, struct err *err)
{
    const struct triad_params *p = params;
    struct triad *t = plan_new(sizeof *t, p->compute_ns, err);
    if (!t)
        return NULL;
    t->n = (uint64_t)p->bytes / 12;
    t->step = (uint64_t)(p->blocks * p->threads);
    t->unroll = (uint32_t)p->unroll;
    plan_input(&t->plan, "a", t->n * 4);
    plan_input(&t->plan, "b", t->n * 4);
    plan_input(&t->plan, "c", t->n * 4);
    plan_kernel(&t->plan, triad, "triad", (uint64_t)p->blocks, (uint32_t)p->threads, REGISTERS, 0);
    return t;
}

const struct workload_type workload_triad = {
    .name = "triad",
    .summary = "c = a + 3 b over three arrays, grid-stride",
    .source = "STREAM triad, docs/uvm-engine.md",
    WORKLOAD_WITH_KEYS(triad),
    .close = free,
    .program = plan_program,
};
