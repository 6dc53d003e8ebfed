/* triad: c = a + 3 b over three arrays of n floats, grid-stride, blocks x threads threads.
 *
 * The CPU writes all three arrays first; each has bytes / 3, down to a multiple of 4. A turn of a warp: load a, load b,
 * store c, `unroll` times: a load does not pass the store before it, since c may be the array that it reads.
 * Instructions, registers: nvcc 13.0 -O3, sm_90, fixtures/cuda/kernels.cu, which does not unroll: a turn is 17, with
 * loads 6 and 7 and the store 15 (from 0).
 * Source: the STREAM triad, fixtures/cuda/kernels.cu, as measured on the H200 (docs/uvm-engine.md).
 * Differs: the 20 instructions before a thread's loop are left out (10 that a thread without a trip does are not). */
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { A, B, C, REGISTERS = 16, GUARD = 10, UNROLL_MOST = 16 };

struct triad {
    struct layout layout;
    int64_t bytes, blocks, threads, unroll, launches;
    uint64_t n, step; /* step: threads in all */
};

static const struct param triad_keys[] = {
    PARAM_BYTES_ROW(triad, bytes, 12, 0x1p42, 0x1p28, "all three arrays together"),
    PARAM_INT_ROW(triad, blocks, "", 1, 1 << 20, 1024, "thread blocks"),
    PARAM_INT_ROW(triad, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(triad, unroll, "", 1, UNROLL_MOST, 1, "trips of a turn of the loop"),
    PARAM_INT_ROW(triad, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
    {0}};

static int triad(struct emit *e)
{
    const struct triad *t = e->state;
    struct program_loop loop = program_grid_stride(e->at.thread, e->at.lanes, t->step, t->n, (uint32_t)t->unroll);
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

static int triad_init(struct triad *t, struct err *err)
{
    (void)err;
    t->n = t->bytes / 12;
    t->step = t->blocks * t->threads;
    layout_array(&t->layout, "+a|b|c", t->n * 4);
    layout_kernel(&t->layout, triad, "triad", t->blocks, (uint32_t)t->threads, REGISTERS, 0);
    t->layout.launches = (uint32_t)t->launches;
    return 0;
}

WORKLOAD_OF_LAYOUT(triad, workload_triad, "triad", "c = a + 3 b over three arrays, grid-stride",
                   "STREAM triad, docs/uvm-engine.md", layout_open, free,
                   .repeats = {"bytes", NULL, 3 * PROGRAM_BLOCK_BYTES});
