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

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/micro/suite.h"

enum { WORD = 4, REGISTERS = 16, GUARD = 10, BEFORE = 2, LOOP_END = 5, UNROLL_MOST = 16 };

struct strided_params {
    int64_t bytes, chunk, threads, unroll, compute_ns;
};

struct strided {
    uint64_t chunk, threads; /* threads with work */
    uint32_t unroll;
    struct program_launch launch;
    int64_t compute_ns;
    struct program_alloc array;
};

static const struct param strided_params[] = {
    PARAM_BYTES_ROW(strided_params, bytes, WORD, 0x1p38, 0x1p28, "the array"),
    PARAM_INT_ROW(strided_params, chunk, "words", 1, 1 << 20, 32, "that a thread reads"),
    PARAM_INT_ROW(strided_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(strided_params, unroll, "", 1, UNROLL_MOST, 4, "loads issued together"),
    PARAM_NS_AUTO_ROW(strided_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    {0}};

static void *strided_open(const void *params, struct err *err)
{
    const struct strided_params *p = params;
    uint64_t chunks = (uint64_t)p->bytes / WORD / (uint64_t)p->chunk, threads = (uint64_t)p->threads;
    if (chunks == 0) {
        (void)err_set(err, "bytes is %lld; a chunk of %lld words takes %lld", (long long)p->bytes, (long long)p->chunk,
                      (long long)p->chunk * WORD);
        return NULL;
    }
    struct strided *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->chunk = (uint64_t)p->chunk;
    s->threads = chunks;
    s->unroll = (uint32_t)p->unroll;
    s->compute_ns = p->compute_ns;
    s->launch = (struct program_launch){.kernel = "strided",
                                        .blocks = (chunks + threads - 1) / threads,
                                        .threads = (uint32_t)threads,
                                        .registers = REGISTERS};
    s->array = (struct program_alloc){.name = "a", .bytes = chunks * s->chunk * WORD, .host = true};
    program_place(&s->array, 1, 0, 0);
    if (program_check_launch(&s->launch, 0, err) == 0)
        return s;
    free(s);
    return NULL;
}

static const struct program_alloc *strided_allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct strided *)state)->array;
}

static uint32_t strided_launches(const void *state)
{
    (void)state;
    return 1;
}

static void strided_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)launch;
    *out = ((const struct strided *)state)->launch;
}

static int strided_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                        struct err *err)
{
    const struct strided *s = run;
    struct program_part part;
    struct program_warp at = program_warp_at(&s->launch, warp);
    (void)launch;
    (void)err;
    if (at.thread >= s->threads)
        return program_no_trip(index, GUARD, body);
    uint64_t left = s->threads - at.thread;
    struct program_loop loop = {
        .trips = s->chunk, .active = program_first_lanes(left < at.lanes ? left : at.lanes), .unroll = s->unroll};
    if (!program_loop_part(&loop, index, &part))
        return 0;
    for (uint32_t k = 0; k < part.trips; k++) {
        struct program_access *load =
            program_load(body, &s->array, 0, (at.thread * s->chunk + part.first + k) * WORD, WORD);
        load->lane_stride = (int64_t)(s->chunk * WORD);
        load->turn_stride = (int64_t)part.trips * WORD;
        load->active = part.active;
        load->before = k ? 0 : BEFORE;
        load->use = 0;
    }
    body->after = part.trips + LOOP_END;
    body->turns = part.turns;
    body->last = part.last;
    return 1;
}

static const struct program_ops strided_ops = {
    .allocs = strided_allocs, .launches = strided_launches, .launch = strided_launch, .body = strided_body};

static int strided_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&strided_ops, state, ((const struct strided *)state)->compute_ns};
    return 0;
}

const struct workload_type workload_strided = {
    .name = "strided",
    .summary = "each thread reads a chunk of an array, word by word",
    .source = "fixtures/cuda/zero_copy.cu; recorded: H200, 2026-11",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = strided_params,
    .params_size = sizeof(struct strided_params),
    .open = strided_open,
    .close = free,
    .program = strided_program,
};
