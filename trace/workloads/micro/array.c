/* array: one managed array, read in one of six ways; the programs of the H200 recordings and micro-benchmarks.
 *
 * stride: blocks x threads threads: for (i = offset + thread; i < n; i += threads in all) sum += a[i], elements of
 *     `element` bytes; the loads of `unroll` trips are issued together, trips left over come one by one.
 * random: thread i of bytes / 16384 reads the first word of page h(i) mod pages; h multiplies i by 0x9E3779B97F4A7C15,
 *     xors it with itself shifted right 29, multiplies by 0xBF58476D1CE4E5B9, xors it with itself shifted right 32.
 * sparse: thread i reads number i of a table in GPU memory, which has `pages_per_block` random pages of every 2 MiB
 *     block in address order, then the first word of that page.
 * chain: one thread reads a word every `step` bytes, each where the one before it said.
 * chunk, chunk-random: blocks x threads threads copy the first word of each page of one array to another, each half of
 *     `bytes` (whole pages). A thread owns the chunk of ceil(pages / threads) pages that begins at its number times
 *     that, as far as there are pages, and visits them in order; or, of m pages, page (offset + p step) mod m as number
 *     p, with offset = h(2 thread + 1) mod m and the odd step = h(2 thread + 2) mod m | 1: each page once if m is a
 *     power of two.
 *
 * A warp is 32 consecutive threads. The kernel runs `launches` times. host=0 leaves what is read untouched by the CPU:
 * its pages are then on no processor and need no copy.
 * array_scan.h is the closed form of stride read over the link: the same loads (merged, with whole warps).
 *
 * Instructions, registers: after the machine code that nvcc 13.0 -O3 makes for sm_90 of fixtures/cuda/uvm_array.cu,
 * which does not unroll stride; what comes before a loop is left out. Of chunk and chunk-random: assumed.
 *
 * Source: fixtures/cuda/uvm_array.cu; one load at a time: the H200's complete recording of stride, 256 MiB, driver
 * 580.159.04, 2026-11: the faulted pages of every service lie within one trip (1 MiB), never in two. */
#include "trace/workloads/micro/array.h"

#include <stdlib.h>

#include "trace/workloads/micro/suite.h"

enum { PAGE = 4096, READS_BYTES = 16384, UNROLL_MOST = 16 };

static const struct param array_params[] = {
    PARAM_BYTES_ROW(array_params, bytes, 4, 0x1p38, 0x1p28, "the array; of chunk and chunk-random: both arrays"),
    PARAM_CHOICE_ROW(array_params, pattern, "stride|random|sparse|chain|chunk|chunk-random", ARRAY_STRIDE,
                     "how it is read"),
    PARAM_INT_ROW(array_params, blocks, "", 1, 1 << 20, 1024, "thread blocks of stride, chunk and chunk-random"),
    PARAM_INT_ROW(array_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(array_params, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    PARAM_INT_ROW(array_params, unroll, "", 1, UNROLL_MOST, 1, "of pattern stride: loads issued together"),
    PARAM_INT_ROW(array_params, pages_per_block, "pages", 1, ARRAY_BLOCK_PAGES, 1,
                  "of pattern sparse: pages read in every 2 MiB"),
    PARAM_BYTES_ROW(array_params, step, 4, 0x1p38, 65536, "of pattern chain: from one read to the next"),
    PARAM_INT_ROW(array_params, host, "", 0, 1, 1, "1: the CPU has written what is read; 0: nobody has"),
    PARAM_NS_AUTO_ROW(array_params, compute_ns, 0, 1e9, "time of a turn of a warp's loop, its data at hand"),
    ARRAY_SCAN_ROWS(array_params),
    {0}};

/* Threads of random, sparse and chain, which follow from the array; 0 with *err set if it is too small. */
static uint64_t threads_of(const struct array_params *p, struct err *err)
{
    uint64_t bytes = (uint64_t)p->bytes, least = p->pattern == ARRAY_RANDOM ? READS_BYTES : PROGRAM_BLOCK_BYTES;
    if (p->pattern == ARRAY_CHAIN)
        return 1;
    if (bytes >= least)
        return p->pattern == ARRAY_RANDOM ? bytes / least : bytes / least * (uint64_t)p->pages_per_block;
    (void)err_set(err, "pattern=%s reads one page in %llu bytes or more; bytes is %llu",
                  p->pattern == ARRAY_RANDOM ? "random" : "sparse", (unsigned long long)least,
                  (unsigned long long)bytes);
    return 0;
}

static int stride(struct emit *e)
{
    const struct array *a = e->state;
    struct program_part part;
    uint32_t element = array_scan_element(a);
    uint64_t offset = (uint64_t)a->p.scan.offset, n = (uint64_t)a->p.bytes / element - offset;
    struct program_loop loop = program_grid_stride(e->at.thread, e->at.lanes, a->threads, n, (uint32_t)a->p.unroll);
    if (!program_loop_part(&loop, e->index, &part))
        return emit_idle(e, ARRAY_GUARD);
    e->active = part.active;
    e->bytes = element;
    for (uint32_t k = 0; k < part.trips; k++)
        emit_load(e, ARRAY_READ, (int64_t)(offset + e->at.thread + (part.first + k) * a->threads), 2, 0);
    emit_turns(e, part.turns, (int64_t)(part.trips * a->threads));
    e->body->last = part.last;
    return emit_end(e, part.trips + 5);
}

static int at_random(struct emit *e)
{
    const struct array_modulo of = ((const struct array *)e->state)->of_pages;
    int64_t word[PROGRAM_LANES];
    for (uint64_t lane = 0; lane < e->at.lanes; lane++)
        word[lane] = (int64_t)array_modulo(&of, array_hash(e->at.thread + lane)) * ARRAY_WORDS;
    emit_each(e, ARRAY_READ, 0, word, 94, 1); /* the remainder of 64-bit numbers is 65 of them */
    return emit_end(e, 2);
}

static int chain(struct emit *e)
{
    const struct array *a = e->state;
    uint64_t words = (uint64_t)a->p.bytes / 4, step = (uint64_t)a->p.step / 4;
    emit_load(e, ARRAY_READ, 0, 2, 1);
    emit_turns(e, (words + step - 1) / step, (int64_t)step);
    return emit_end(e, 5);
}

/* By pattern: the kernel; once: each thread reads once, or there is but one. */
static const struct {
    const char *name;
    plan_body *body;
    uint32_t registers;
    bool once;
} kernels[] = {{"array_stride", stride, 11, false},     {"array_random", at_random, 18, true},
               {"array_sparse", array_sparse, 8, true}, {"array_chain", chain, 12, true},
               {"array_chunk", array_chunk, 22, false}, {"array_chunk_random", array_chunk_random, 22, false}};

static int lay_out(struct array *a, struct err *err)
{
    const struct array_params *p = &a->p;
    bool chunks = p->pattern >= ARRAY_CHUNK;
    a->pages = (uint64_t)p->bytes / (chunks ? 2 : 1) / PAGE;
    if (!chunks)
        plan_array(&a->plan, "array", (uint64_t)p->bytes)->host = p->host;
    else if (a->pages == 0)
        return err_set(err, "two arrays of one page take 8,192 bytes; bytes is %lld", (long long)p->bytes);
    else
        plan_array(&a->plan, "input", a->pages * PAGE)->host = p->host;
    if (chunks)
        plan_array(&a->plan, "output", a->pages * PAGE);
    if (p->pattern == ARRAY_SPARSE)
        plan_array(&a->plan, "page", a->threads * 4)->device = true;
    if (a->pages)
        a->of_pages = array_modulo_of(a->pages);
    if (chunks)
        a->of_chunk = array_modulo_of((a->pages + a->threads - 1) / a->threads);
    return array_scan_check(a, err);
}

static void *array_open(const void *params, struct err *err)
{
    const struct array_params *p = params;
    struct array *a = plan_new(sizeof *a, p->compute_ns, err);
    if (!a)
        return NULL;
    a->p = *p;
    uint32_t threads = p->pattern == ARRAY_CHAIN ? 1 : (uint32_t)p->threads;
    bool once = kernels[p->pattern].once;
    a->threads = once ? threads_of(p, err) : (uint64_t)(p->blocks * p->threads);
    if (a->threads == 0 || lay_out(a, err)) {
        free(a);
        return NULL;
    }
    (once ? plan_straight : plan_kernel)(&a->plan, kernels[p->pattern].body, kernels[p->pattern].name,
                                         plan_blocks(a->threads, threads), threads, kernels[p->pattern].registers, 0);
    plan_guard(&a->plan, a->threads, ARRAY_GUARD);
    a->plan.launches = (uint32_t)p->launches;
    return a;
}

const struct workload_type workload_array = {
    .name = "array",
    .summary = "one array read in stride, at random, sparsely or as a chain; or copied page by page in chunks",
    .source = "measured: H200, driver 580.159.04, 2026-11",
    WORKLOAD_WITH_KEYS(array),
    .close = free,
    .program = plan_program,
    .scans = &array_scan_ops,
};
