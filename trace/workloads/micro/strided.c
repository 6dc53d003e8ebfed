/* strided: every thread sums `chunk` consecutive words of an array in host memory; lanes are `chunk` words apart.
 *
 *     at = thread chunk
 *     for (i = at; i < at + chunk && i < n; i++) sum += a[i]
 *
 * n is bytes / 4 down to whole chunks, and there are as many blocks of `threads` threads as cover them. The loads of
 * `unroll` trips are issued together; trips left over come one by one. The sum leaves the chip under a condition that
 * never holds, so nothing is stored.
 * Worked example: chunk 32: a load of a warp touches 32 lines, one sector of each, and eight loads in a row the same.
 * Pattern naive of `array` is the closed form of the same kernel read over the link.
 * Unrolling by four, loads next to each other: the pcs of the H200's recording of it (fixtures/traces/
 * accesses_h200.txt.xz), which replay/derive/recorded_kernels_test.c compares, access by access.
 * Source: fixtures/cuda/zero_copy.cu (strided).
 * Differs: what comes before the loop and between turns (2 and 5 instructions) is assumed, as for `array`. */
#include <stdlib.h>

#include "trace/program/plan.h"
#include "trace/workloads/micro/suite.h"

enum { WORD = 4, REGISTERS = 16, GUARD = 10, BEFORE = 2, LOOP_END = 5, UNROLL_MOST = 16 };

struct strided_params {
    int64_t bytes, chunk, threads, unroll, compute_ns;
};

struct strided {
    struct plan plan;
    int64_t chunk;
    uint64_t threads; /* with work */
    uint32_t unroll;
};

static const struct param strided_params[] = {
    PARAM_BYTES_ROW(strided_params, bytes, WORD, 0x1p38, 0x1p28, "the array"),
    PARAM_INT_ROW(strided_params, chunk, "words", 1, 1 << 20, 32, "that a thread reads"),
    PARAM_INT_ROW(strided_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(strided_params, unroll, "", 1, UNROLL_MOST, 4, "loads issued together"),
    PARAM_NS_AUTO_ROW(strided_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static int strided(struct emit *e)
{
    const struct strided *s = e->state;
    struct program_part part;
    struct program_loop loop = {.trips = (uint64_t)s->chunk, .active = e->active, .unroll = s->unroll};
    if (!program_loop_part(&loop, e->index, &part))
        return 0;
    for (uint32_t k = 0; k < part.trips; k++) {
        int64_t at = (int64_t)e->at.thread * s->chunk + (int64_t)part.first + k;
        emit_apart(emit_load(e, 0, at, k ? 0 : BEFORE, 0), s->chunk);
    }
    emit_turns(e, part.turns, part.trips);
    e->body->last = part.last;
    return emit_end(e, part.trips + LOOP_END);
}

static void *strided_open(const void *params, struct err *err)
{
    const struct strided_params *p = params;
    uint64_t chunks = (uint64_t)p->bytes / WORD / (uint64_t)p->chunk;
    uint32_t threads = (uint32_t)p->threads;
    if (chunks == 0) {
        (void)err_set(err, "bytes is %lld; a chunk of %lld words takes %lld", (long long)p->bytes, (long long)p->chunk,
                      (long long)p->chunk * WORD);
        return NULL;
    }
    struct strided *s = plan_new(sizeof *s, p->compute_ns, err);
    if (!s)
        return NULL;
    s->chunk = p->chunk;
    s->threads = chunks;
    s->unroll = (uint32_t)p->unroll;
    plan_input(&s->plan, "a", chunks * (uint64_t)s->chunk * WORD);
    plan_kernel(&s->plan, strided, "strided", plan_blocks(chunks, threads), threads, REGISTERS, 0);
    plan_guard(&s->plan, s->threads, GUARD);
    if (program_check_launch(&s->plan.kernel[0].launch, 0, err) == 0)
        return s;
    free(s);
    return NULL;
}

const struct workload_type workload_strided = {
    .name = "strided",
    .summary = "each thread reads a chunk of an array, word by word",
    .source = "fixtures/cuda/zero_copy.cu; recorded: H200, 2026-11",
    WORKLOAD_WITH_KEYS(strided),
    .close = free,
    .program = plan_program,
};
