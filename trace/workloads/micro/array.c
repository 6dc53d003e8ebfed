/* array: one managed array, read in one of six ways; the programs of the H200 recordings and micro-benchmarks.
 *
 * stride: blocks x threads threads: for (i = offset + thread; i < n; i += threads in all) sum += a[i], elements of
 *     `element` bytes; the loads of `unroll` trips are issued together, trips left over come one by one.
 * random: thread i of bytes / 16384 reads the first word of page h(i) mod pages; h multiplies i by 0x9E3779B97F4A7C15,
 *     xors it with itself shifted right 29, multiplies by 0xBF58476D1CE4E5B9, xors it with itself shifted right 32.
 * sparse: thread i reads number i of a table in GPU memory, which has `pages_per_block` random pages of every 2 MiB
 *     block in address order (one from each such part of the block's pages), then the first word of that page.
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

#include "trace/base/mem.h"
#include "trace/workloads/micro/suite.h"

enum { PAGE = 4096, BLOCK_PAGES = PROGRAM_BLOCK_BYTES / PAGE, READS_BYTES = 16384, GUARD = 10, UNROLL_MOST = 16 };

static const struct param array_params[] = {
    PARAM_BYTES_ROW(array_params, bytes, 4, 0x1p38, 0x1p28, "the array; of chunk and chunk-random: both arrays"),
    PARAM_CHOICE_ROW(array_params, pattern, "stride|random|sparse|chain|chunk|chunk-random", ARRAY_STRIDE,
                     "how it is read"),
    PARAM_INT_ROW(array_params, blocks, "", 1, 1 << 20, 1024, "thread blocks of stride, chunk and chunk-random"),
    PARAM_INT_ROW(array_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(array_params, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    PARAM_INT_ROW(array_params, unroll, "", 1, UNROLL_MOST, 1, "of pattern stride: loads issued together"),
    PARAM_INT_ROW(array_params, pages_per_block, "pages", 1, BLOCK_PAGES, 1,
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

static int shape(struct array *a, struct err *err)
{
    static const char *const names[] = {"array_stride", "array_random", "array_sparse",
                                        "array_chain",  "array_chunk",  "array_chunk_random"};
    static const uint32_t registers[] = {11, 18, 8, 12, 22, 22};
    const struct array_params *p = &a->p;
    uint64_t threads = (uint64_t)p->threads;
    a->launch = (struct program_launch){.kernel = names[p->pattern],
                                        .blocks = (uint64_t)p->blocks,
                                        .threads = (uint32_t)threads,
                                        .registers = registers[p->pattern]};
    a->threads = a->launch.blocks * threads;
    if (p->pattern == ARRAY_RANDOM || p->pattern == ARRAY_SPARSE || p->pattern == ARRAY_CHAIN) {
        a->threads = threads_of(p, err);
        a->launch.blocks = (a->threads + threads - 1) / threads;
    }
    if (p->pattern == ARRAY_CHAIN)
        a->launch.threads = 1;
    return a->threads ? 0 : -1;
}

static int place(struct array *a, struct err *err)
{
    uint64_t bytes = (uint64_t)a->p.bytes;
    bool chunks = a->p.pattern == ARRAY_CHUNK || a->p.pattern == ARRAY_CHUNK_RANDOM;
    a->pages = bytes / PAGE;
    a->count = 1;
    a->allocs[0] = (struct program_alloc){.name = "array", .bytes = bytes, .host = a->p.host};
    if (chunks) {
        a->pages = bytes / 2 / PAGE;
        if (a->pages == 0)
            return err_set(err, "two arrays of one page take 8,192 bytes; bytes is %llu", (unsigned long long)bytes);
        a->allocs[0] = (struct program_alloc){.name = "input", .bytes = a->pages * PAGE, .host = a->p.host};
        a->allocs[1] = (struct program_alloc){.name = "output", .bytes = a->pages * PAGE};
        a->count = 2;
    } else if (a->p.pattern == ARRAY_SPARSE) {
        a->allocs[1] = (struct program_alloc){.name = "page", .bytes = a->threads * 4, .device = true};
        a->count = 2;
    }
    if (a->pages)
        a->of_pages = array_modulo_of(a->pages);
    if (chunks)
        a->of_chunk = array_modulo_of((a->pages + a->threads - 1) / a->threads);
    program_place(a->allocs, a->count, 0, 0);
    return 0;
}

static void *array_open(const void *params, struct err *err)
{
    struct array *a = mem_zalloc(1, sizeof *a, err);
    if (!a)
        return NULL;
    a->p = *(const struct array_params *)params;
    a->scan = (struct array_scan){.params = a->p.scan,
                                  .threads = a->p.threads,
                                  .blocks = a->p.blocks,
                                  .launches = (uint32_t)a->p.launches,
                                  .none = a->p.pattern != ARRAY_STRIDE};
    if (shape(a, err) == 0 && place(a, err) == 0 && array_scan_init(&a->scan, (uint64_t)a->p.bytes, err) == 0)
        return a;
    free(a);
    return NULL;
}

static const struct program_alloc *array_allocs(const void *state, size_t *n)
{
    const struct array *a = state;
    *n = a->count;
    return a->allocs;
}

static uint32_t array_launches(const void *state)
{
    return (uint32_t)((const struct array *)state)->p.launches;
}

static void array_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)launch;
    *out = ((const struct array *)state)->launch;
}

static bool stride(const struct array *a, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    struct program_part part;
    uint32_t element = array_scan_element(&a->scan);
    uint64_t offset = (uint64_t)a->p.scan.offset, n = (uint64_t)a->p.bytes / element - offset;
    struct program_loop loop = program_grid_stride(at->thread, at->lanes, a->threads, n, (uint32_t)a->p.unroll);
    if (!program_loop_part(&loop, index, &part))
        return false;
    for (uint32_t k = 0; k < part.trips; k++) {
        uint64_t i = offset + at->thread + (part.first + k) * a->threads;
        struct program_access *load = program_load(body, a->allocs, 0, i * element, element);
        load->active = part.active;
        load->turn_stride = (int64_t)(part.trips * a->threads * element);
        load->before = 2;
        load->use = 0;
    }
    body->after = part.trips + 5;
    body->turns = part.turns;
    body->last = part.last;
    return true;
}

/* The k-th of K pages drawn from a block in ascending order: one from each K-th part of its pages, at random there. */
static uint64_t sparse_page(const struct array *a, uint64_t thread)
{
    uint64_t per = (uint64_t)a->p.pages_per_block, block = thread / per, k = thread % per;
    uint64_t from = k * BLOCK_PAGES / per, to = (k + 1) * BLOCK_PAGES / per;
    return block * BLOCK_PAGES + from + array_hash(thread + 1) % (to - from);
}

static void random_pages(const struct array *a, uint64_t thread, uint64_t lanes, uint64_t addr[PROGRAM_LANES])
{
    const struct array_modulo of = a->of_pages;
    const uint64_t base = a->allocs[0].addr;
    for (uint64_t lane = 0; lane < lanes; lane++)
        addr[lane] = base + array_modulo(&of, array_hash(thread + lane)) * PAGE;
}

/* random and sparse: one read of each thread. */
static bool once(const struct array *a, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    bool sparse = a->p.pattern == ARRAY_SPARSE;
    if (index > 0 || at->thread >= a->threads)
        return false;
    body->last = true;
    uint64_t left = a->threads - at->thread, lanes = left < at->lanes ? left : at->lanes;
    if (sparse) {
        struct program_access *table = program_load(body, a->allocs, 1, at->thread * 4, 4);
        table->active = program_first_lanes(lanes);
        table->before = 15;
    }
    struct program_access *load = program_load(body, a->allocs, 0, 0, 4);
    load->active = program_first_lanes(lanes);
    load->before = sparse ? 1 : 94; /* random: the remainder of 64-bit numbers is 65 of them */
    uint64_t *addr = program_scatter(body, load);
    if (sparse)
        for (uint64_t lane = 0; lane < lanes; lane++)
            addr[lane] = a->allocs[0].addr + sparse_page(a, at->thread + lane) * PAGE;
    else
        random_pages(a, at->thread, lanes, addr);
    body->after = 2;
    return true;
}

static bool chain(const struct array *a, uint32_t index, struct program_body *body)
{
    uint64_t words = (uint64_t)a->p.bytes / 4, step = (uint64_t)a->p.step / 4;
    if (index > 0)
        return false;
    body->last = true;
    struct program_access *load = program_load(body, a->allocs, 0, 0, 4);
    load->active = 1;
    load->turn_stride = (int64_t)(step * 4);
    load->before = 2;
    body->after = 5;
    body->turns = (words + step - 1) / step;
    return true;
}

static int array_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                      struct err *err)
{
    const struct array *a = run;
    struct program_warp at = program_warp_at(&a->launch, warp);
    (void)launch;
    (void)err;
    bool found = a->p.pattern == ARRAY_STRIDE  ? stride(a, &at, index, body)
                 : a->p.pattern == ARRAY_CHAIN ? chain(a, index, body)
                 : a->p.pattern >= ARRAY_CHUNK ? array_chunk(a, &at, index, body)
                                               : once(a, &at, index, body);
    return found ? 1 : program_no_trip(index, GUARD, body);
}

static const struct program_ops array_ops = {
    .allocs = array_allocs, .launches = array_launches, .launch = array_launch, .body = array_body};

static int array_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&array_ops, state, ((const struct array *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_array = {
    .name = "array",
    .summary = "one array read in stride, at random, sparsely or as a chain; or copied page by page in chunks",
    .source = "measured: H200, driver 580.159.04, 2026-11",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_ALL,
    .params = array_params,
    .params_size = sizeof(struct array_params),
    .open = array_open,
    .close = free,
    .program = array_program,
    .scans = &array_scan_ops,
};
