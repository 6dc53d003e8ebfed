/* strided: every thread sums `chunk` consecutive words of an array in host memory; lanes are `chunk` words apart.
 *
 * n is bytes / 4 down to whole chunks, with as many blocks of `threads` threads as cover them. The loads of `unroll`
 * trips are issued together; trips left over come one by one. The sum leaves the chip under a condition that never
 * holds, so nothing is stored.
 * Worked example: chunk 32: a load of a warp touches 32 lines, one sector of each, and eight loads in a row the same.
 * Pattern naive of `array` is the closed form of the same kernel read over the link. Unrolling by four, loads next to
 * each other: the pcs of the H200's recording of it (fixtures/traces/accesses_h200.txt.xz), which
 * replay/derive/recorded_kernels_test.c compares, access by access.
 * Source: fixtures/cuda/zero_copy.cu (strided).
 * Differs: what comes before the loop and between turns (2 and 5 instructions) is assumed, as for `array`. */
#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { WORD = 4, REGISTERS = 16, GUARD = 10, BEFORE = 2, LOOP_END = 5, UNROLL_MOST = 16 };

struct strided {
    struct layout layout;
    int64_t bytes, chunk, threads, unroll;
};

static const struct param strided_keys[] = {
    PARAM_BYTES_ROW(strided, bytes, WORD, 0x1p42, 0x1p28, "the array"),
    PARAM_INT_ROW(strided, chunk, "words", 1, 1 << 20, 32, "that a thread reads"),
    PARAM_INT_ROW(strided, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(strided, unroll, "", 1, UNROLL_MOST, 4, "loads issued together"),
    LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
    {0}};

static int strided(struct emit *e)
{
    const struct strided *s = e->state;
    struct program_part part;
    struct program_loop loop = {.trips = (uint64_t)s->chunk, .active = e->active, .unroll = (uint32_t)s->unroll};
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

static int strided_init(struct strided *s, struct err *err)
{
    uint64_t chunks = s->bytes / WORD / s->chunk;
    uint32_t threads = (uint32_t)s->threads;
    if (chunks == 0)
        return err_set(err, "bytes is %lld; a chunk of %lld words takes %lld", (long long)s->bytes, (long long)s->chunk,
                       (long long)s->chunk * WORD);
    layout_array(&s->layout, "+a", chunks * s->chunk * WORD);
    layout_kernel(&s->layout, strided, "strided", layout_blocks(chunks, threads), threads, REGISTERS, 0);
    layout_guard(&s->layout, chunks, GUARD);
    return program_check_launch(&s->layout.kernel[0].launch, 0, err);
}

WORKLOAD_OF_LAYOUT(strided, workload_strided, "strided",
                   "each thread reads a chunk of its own, word by word: the lanes of a warp lie a chunk apart",
                   "fixtures/cuda/zero_copy.cu; recorded: H200, 2026-11", layout_open, free);
