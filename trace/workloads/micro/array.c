/* array: one managed array, read in one of four ways; the programs of the H200 recordings and micro-benchmarks.
 *
 * stride: blocks x threads threads read it in order, 4 B each, grid-stride. random: thread i of bytes / 16384 reads the
 * first word of page h(i) mod pages, blocks of 256 threads; h multiplies i by 0x9E3779B97F4A7C15, xors it with itself
 * shifted right 29, multiplies by 0xBF58476D1CE4E5B9, xors it with itself shifted right 32 (64-bit). sparse: one thread
 * for each of `pages_per_block` random pages of every 2 MiB block, in address order. chain: one thread reads a word
 * every `step` bytes, one after the other. An actor is a warp, a step one load of it.
 * array_scan.h reads the same array over the link without faults.
 * host=0 leaves the array untouched by the CPU: its pages are then on no processor and need no copy.
 * Source: measured: H200, driver 580.159.04, 2026-11 (docs/uvm-engine.md). */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/workloads/micro/array_scan.h"
#include "trace/workloads/micro/suite.h"

enum { WARP = 32, THREADS_PER_SM = 2048, PAGES = ACTOR_BLOCK_PAGES };
enum pattern { STRIDE, RANDOM, SPARSE, CHAIN };

struct array_params {
    int64_t bytes, pattern, blocks, threads, pages_per_block, step, host, compute_ns;
    struct array_scan_params scan;
};

struct array {
    struct array_scan scan; /* first: the same array read over the link */
    struct array_params p;
    uint64_t pages, threads; /* threads in all */
    uint32_t warps, warps_per_block;
    struct actor_alloc alloc;
    struct actor_writer writer;
};

static const struct param array_params[] = {
    PARAM_BYTES_ROW(array_params, bytes, 4, 0x1p38, 0x1p28, "the array"),
    PARAM_CHOICE_ROW(array_params, pattern, "stride|random|sparse|chain", STRIDE, "how it is read"),
    PARAM_INT_ROW(array_params, blocks, "", 1, 1 << 20, 1024, "thread blocks of pattern stride"),
    PARAM_INT_ROW(array_params, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(array_params, pages_per_block, "pages", 1, PAGES, 1, "of pattern sparse: pages read in every 2 MiB"),
    PARAM_BYTES_ROW(array_params, step, 4, 0x1p38, 65536, "of pattern chain: from one read to the next"),
    PARAM_INT_ROW(array_params, host, "", 0, 1, 1, "1: the CPU has written the array; 0: nobody has"),
    PARAM_NS_ROW(array_params, compute_ns, 0, 1e9, 700, "time of one load whose pages are all resident"),
    ARRAY_SCAN_ROWS(array_params),
    {0}};

static void *array_open(const void *params, struct err *err)
{
    struct array *a = mem_zalloc(1, sizeof *a, err);
    if (!a)
        return NULL;
    a->p = *(const struct array_params *)params;
    uint64_t bytes = (uint64_t)a->p.bytes;
    a->pages = (bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES;
    uint64_t threads[] = {(uint64_t)(a->p.blocks * a->p.threads), bytes / 16384,
                          bytes / ACTOR_BLOCK_BYTES * (uint64_t)a->p.pages_per_block, 1};
    a->threads = threads[a->p.pattern];
    a->alloc = (struct actor_alloc){.name = "array", .bytes = bytes, .host = a->p.host};
    actor_space_place(&a->alloc, 1);
    a->scan.params = a->p.scan;
    a->scan.threads = a->p.threads;
    a->scan.blocks = a->p.blocks;
    if (a->threads > UINT32_MAX)
        err_set(err, "%llu bytes make %llu threads of this pattern; expected at most 2^32 - 1",
                (unsigned long long)bytes, (unsigned long long)a->threads);
    else if (array_scan_init(&a->scan, bytes, err) == 0 && actor_space_init(&a->alloc, 1, err) == 0) {
        a->threads = a->threads ? a->threads : 1;
        a->warps_per_block = (uint32_t)((a->p.threads + WARP - 1) / WARP);
        a->warps = (uint32_t)((a->threads + WARP - 1) / WARP);
        return a;
    }
    free(a);
    return NULL;
}

static const struct actor_alloc *array_allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct array *)state)->alloc;
}

static uint32_t array_launches(const void *state)
{
    (void)state;
    return 1;
}

static void array_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    static const char *const names[] = {"array_stride", "array_random", "array_sparse", "array_chain"};
    const struct array *a = state;
    (void)launch;
    *out = (struct actor_launch){names[a->p.pattern], a->warps, THREADS_PER_SM / WARP, a->warps_per_block, false};
}

/* The hash of pattern random, as its program has it. */
static uint64_t hash(uint64_t i)
{
    i *= 0x9E3779B97F4A7C15u;
    i ^= i >> 29;
    i *= 0xBF58476D1CE4E5B9u;
    return i ^ i >> 32;
}

/* The k-th of K pages drawn from a block in ascending order: one from each K-th part of its pages, at random there. */
static uint64_t sparse_page(const struct array *a, uint64_t thread)
{
    uint64_t per = (uint64_t)a->p.pages_per_block, block = thread / per, k = thread % per;
    uint64_t from = k * PAGES / per, to = (k + 1) * PAGES / per;
    return block * PAGES + from + hash(thread + 1) % (to - from);
}

static void touch_lanes(const struct array *a, uint32_t warp, struct actor_step *step)
{
    uint64_t first = (uint64_t)warp * WARP, end = first + WARP < a->threads ? first + WARP : a->threads;
    for (uint64_t i = first; i < end; i++) {
        uint64_t page = a->p.pattern == RANDOM ? hash(i) % a->pages : sparse_page(a, i);
        step->page[step->count++] = a->alloc.first_page + (uint32_t)page;
    }
}

static int array_step(void *run, uint32_t launch, uint32_t actor, uint32_t index, struct actor_step *step,
                      struct err *err)
{
    const struct array *a = run;
    (void)launch;
    (void)err;
    step->count = 0;
    step->writes = 0;
    step->compute_ns = (uint32_t)a->p.compute_ns;
    if (a->p.pattern == STRIDE || a->p.pattern == CHAIN) {
        uint64_t offset =
            a->p.pattern == STRIDE ? (uint64_t)actor * WARP * 4 + index * a->threads * 4 : index * (uint64_t)a->p.step;
        if (offset >= (uint64_t)a->p.bytes)
            return 0;
        actor_touch(step, actor_page(&a->alloc, offset));
    } else {
        if (index)
            return 0;
        touch_lanes(a, actor, step);
    }
    step->accesses = step->count;
    return 1;
}

static const struct actor_ops array_ops = {
    .allocs = array_allocs, .launches = array_launches, .launch = array_launch, .step = array_step};

static int array_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct array *a = state;
    return actor_writer_next(&a->writer, &array_ops, a, records, cap, n, err);
}

static void array_close(void *state)
{
    free(state);
}

const struct workload_type workload_array = {
    .name = "array",
    .summary = "one array read in stride, at random, sparsely or as a chain",
    .source = "measured: H200, driver 580.159.04, 2026-11",
    .produces = WORKLOAD_TOUCHES,
    .params = array_params,
    .params_size = sizeof(struct array_params),
    .open = array_open,
    .close = array_close,
    .ops = &array_ops,
    .next = array_next,
    .scans = &array_scan_ops,
};
