/* array: one managed array, read in one of six ways; the programs of the H200 recordings and micro-benchmarks.
 *
 *     stride: a grid-stride loop from `offset` on, elements of `element` bytes, loads of `unroll` trips issued together
 *     random: thread i of bytes / 16384 reads the first word of page h(i) mod pages (hash() below)
 *     sparse: thread i reads number i of a table in GPU memory, which has `pages_per_block` random pages of every 2 MiB
 *         block in address order, then the first word of that page
 *     chain: one thread reads a word every `step` bytes, each where the one before it said
 *     chunk, chunk-random: blocks x threads threads copy the first word of each page of one array to another, each half
 *         of `bytes` (whole pages). A thread owns the chunk of ceil(pages / threads) pages at its number times that and
 *         visits them in order; or, of m pages, page (offset + p step) mod m as number p, offset = h(2 thread + 1) mod
 * m, step = h(2 thread + 2) mod m | 1: each page once if m is a power of two
 *
 * host=0 leaves what is read untouched by the CPU: its pages are then on no processor and need no copy.
 * Beside it stands the closed form of stride read over the link by the three zero-copy programs of the H200 runs:
 * naive, thread t reads `chunk` consecutive elements from offset + t chunk on; merged and aligned, a grid-stride loop
 * to the end: the same loads (merged, with whole warps). The other patterns have none.
 * Instructions, registers: after nvcc 13.0 -O3, sm_90, fixtures/cuda/uvm_array.cu, which does not unroll stride; what
 * comes before a loop is left out. Of chunk and chunk-random: assumed.
 * Source: fixtures/cuda/uvm_array.cu; one load at a time: the H200's complete recording of stride, 256 MiB, driver
 * 580.159.04, 2026-11: the faulted pages of every service lie within one trip (1 MiB), never in two. */
#include <string.h>

#include "trace/program/layout.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

enum { PAGE = 4096, READS_BYTES = 16384, UNROLL_MOST = 16 };
enum { WORDS = PAGE / 4, BLOCK_PAGES = PROGRAM_BLOCK_BYTES / PAGE };
enum { READ = 0, TABLE = 1, OUTPUT = 1, GUARD = 10 };
enum { STRIDE, RANDOM, SPARSE, CHAIN, CHUNK, CHUNK_RANDOM };

/* x mod n without a division: with m = floor(2^64 / n), the upper half of x m is floor(x / n) or one less. */
struct modulo {
    uint64_t n, m;
};

struct array {
    struct layout layout;
    int64_t bytes, pattern, blocks, threads, launches, unroll, pages_per_block, step, host;
    int64_t element, chunk, offset, blocks_per_sm, reuse; /* element: a choice */
    struct scan scan;                                     /* the same array read over the link */
    uint32_t given;                                       /* launches of it so far */
    uint64_t all;                                         /* threads, those without work included */
    uint64_t pages;                                       /* of 4 KiB, of the array that is read */
    struct modulo of_pages;                               /* what random goes by */
    struct modulo of_chunk; /* pages of a chunk, but for the last; chunk and chunk-random */
};

static const struct param array_keys[] = {
    PARAM_BYTES_ROW(array, bytes, 4, 0x1p42, 0x1p28, "the array; of chunk and chunk-random: both arrays"),
    PARAM_CHOICE_ROW(array, pattern, "stride|random|sparse|chain|chunk|chunk-random", STRIDE, "how it is read"),
    PARAM_INT_ROW(array, blocks, "", 1, 1 << 20, 1024, "thread blocks of stride, chunk and chunk-random"),
    PARAM_INT_ROW(array, threads, "", 1, 1024, 256, "threads of a block"),
    PARAM_INT_ROW(array, launches, "", 1, 1000000, 1, "how often the kernel runs"),
    PARAM_INT_ROW(array, unroll, "", 1, UNROLL_MOST, 1, "of pattern stride: loads issued together"),
    PARAM_INT_ROW(array, pages_per_block, "pages", 1, BLOCK_PAGES, 1, "of pattern sparse: pages read in every 2 MiB"),
    PARAM_BYTES_ROW(array, step, 4, 0x1p42, 65536, "of pattern chain: from one read to the next"),
    PARAM_INT_ROW(array, host, "", 0, 1, 1, "1: the CPU has written what is read; 0: nobody has"),
    LAYOUT_COMPUTE_NS("time of a turn of a warp's loop, its data at hand"),
    PARAM_CHOICE_ROW(array, element, "4|8|16|1|2", 0, "zero-copy: bytes that a lane loads"),
    PARAM_INT_ROW(array, chunk, "elements", 1, 1 << 20, 32, "zero-copy, naive: of one thread"),
    PARAM_INT_ROW(array, offset, "elements", 0, 1 << 20, 0, "of pattern stride: first element read"),
    PARAM_INT_ROW(array, blocks_per_sm, "", 0, 64, 0, "zero-copy: resident, 0: as many as fit"),
    PARAM_CHOICE_ROW(array, reuse, SCAN_REUSE_NAMES, 0, "zero-copy: which sectors are not requested again"),
    {0}};

/* --- arithmetic --- */

static struct modulo modulo_of(uint64_t n)
{
    bool divides = UINT64_MAX % n == n - 1; /* 2^64 */
    return (struct modulo){n, UINT64_MAX / n + (divides && n > 1)};
}

static uint64_t modulo(const struct modulo *of, uint64_t x)
{
    uint64_t rest = x - (uint64_t)((unsigned __int128)x * of->m >> 64) * of->n;
    return rest - (of->n & -(uint64_t)(rest >= of->n));
}

static uint64_t hash(uint64_t i)
{
    i *= 0x9E3779B97F4A7C15u;
    i ^= i >> 29;
    i *= 0xBF58476D1CE4E5B9u;
    return i ^ i >> 32;
}

static uint32_t element_of(const struct array *a)
{
    static const uint32_t element_bytes[] = {4, 8, 16, 1, 2};
    return element_bytes[a->element];
}

static uint64_t elements(const struct array *a)
{
    return (uint64_t)a->bytes / element_of(a);
}

/* --- stride, random, chain, sparse --- */

static int stride(struct emit *e)
{
    const struct array *a = e->state;
    struct program_part part;
    struct program_loop loop =
        program_grid_stride(e->at.thread, e->at.lanes, a->all, elements(a) - a->offset, (uint32_t)a->unroll);
    if (!program_loop_part(&loop, e->index, &part))
        return emit_idle(e, GUARD);
    e->active = part.active;
    e->bytes = element_of(a);
    for (uint32_t k = 0; k < part.trips; k++)
        emit_load(e, READ, a->offset + e->at.thread + (part.first + k) * a->all, 2, 0);
    emit_turns(e, part.turns, part.trips * a->all);
    e->body->last = part.last;
    return emit_end(e, part.trips + 5);
}

static int at_random(struct emit *e)
{
    const struct modulo of = ((const struct array *)e->state)->of_pages;
    int64_t word[PROGRAM_LANES];
    for (uint64_t lane = 0; lane < e->at.lanes; lane++)
        word[lane] = modulo(&of, hash(e->at.thread + lane)) * WORDS;
    emit_each(e, READ, 0, word, 94, 1); /* the remainder of 64-bit numbers is 65 of them */
    return emit_end(e, 2);
}

static int chain(struct emit *e)
{
    const struct array *a = e->state;
    int64_t words = a->bytes / 4, step = a->step / 4;
    emit_load(e, READ, 0, 2, 1);
    emit_turns(e, (words + step - 1) / step, step);
    return emit_end(e, 5);
}

/* The pages of a block that sparse reads: draws, each of which takes the next free page if its own is taken. */
static void draw_pages(uint64_t block, uint64_t per, bool taken[BLOCK_PAGES])
{
    memset(taken, 0, BLOCK_PAGES * sizeof *taken);
    for (uint64_t i = 0; i < per; i++) {
        uint64_t page = hash(block * (1024 + per) + i) % BLOCK_PAGES;
        while (taken[page])
            page = (page + 1) % BLOCK_PAGES;
        taken[page] = true;
    }
}

/* The first words of the pages that the lanes read, in ascending order. */
static int sparse(struct emit *e)
{
    uint64_t per = ((const struct array *)e->state)->pages_per_block, block = e->at.thread / per, page = 0;
    uint64_t skip = e->at.thread % per;
    int64_t word[PROGRAM_LANES];
    bool taken[BLOCK_PAGES];
    draw_pages(block, per, taken);
    for (uint64_t lane = 0; lane < e->at.lanes; page++) {
        if (page == BLOCK_PAGES) {
            draw_pages(++block, per, taken);
            page = 0;
        }
        if (!taken[page])
            continue;
        if (skip)
            skip--;
        else
            word[lane++] = (block * BLOCK_PAGES + page) * WORDS;
    }
    emit_load(e, TABLE, e->at.thread, 15, 1);
    emit_each(e, READ, 0, word, 1, 1);
    return emit_end(e, 2);
}

/* --- chunk, chunk-random --- */

/* Pages that a thread has: a chunk; but for the last that has any, what is left. */
static uint64_t pages_of(const struct array *a, uint64_t thread)
{
    uint64_t chunk = a->of_chunk.n, first = thread * chunk;
    if (first >= a->pages)
        return 0;
    return a->pages - first < chunk ? a->pages - first : chunk;
}

/* Lanes with more than `visit` pages: the first of the warp, as only the last thread with pages may have fewer. */
static uint32_t lanes_with(const struct array *a, const struct program_warp *at, uint64_t visit)
{
    if (pages_of(a, at->thread + at->lanes - 1) > visit)
        return program_first_lanes(at->lanes);
    uint32_t lanes = 0;
    while (lanes < at->lanes && pages_of(a, at->thread + lanes) > visit)
        lanes++;
    return program_first_lanes(lanes);
}

/* Number `visit` of a thread's m pages. */
static uint64_t visited(const struct modulo *of, uint64_t thread, uint64_t visit)
{
    uint64_t offset = modulo(of, hash(2 * thread + 1)), step = modulo(of, hash(2 * thread + 2)) | 1;
    return modulo(of, offset + visit * step);
}

/* Visits in order: those that all lanes with pages make, then those of the lanes that have more. */
static int chunk(struct emit *e)
{
    const struct array *a = e->state;
    uint32_t some = lanes_with(a, &e->at, 0);
    if (!some)
        return emit_idle(e, GUARD);
    uint64_t first = pages_of(a, e->at.thread), last = pages_of(a, e->at.thread + 31u - (uint32_t)__builtin_clz(some));
    if (e->index > 1 || (e->index == 1 && first == last))
        return 0;
    uint64_t done = e->index ? last : 0;
    int64_t word = (e->at.thread * a->of_chunk.n + done) * WORDS, apart = a->of_chunk.n * WORDS;
    e->active = lanes_with(a, &e->at, done);
    emit_apart(emit_load(e, READ, word, 0, 11), apart);
    emit_apart(emit_store(e, OUTPUT, word, 10), apart);
    emit_turns(e, e->index ? first - last : last, WORDS);
    return emit_end(e, 1);
}

/* Visit number e->index: a page of its own for each lane. */
static int chunk_random(struct emit *e)
{
    const struct array *a = e->state;
    int64_t word[PROGRAM_LANES];
    e->active = lanes_with(a, &e->at, e->index);
    if (!e->active)
        return emit_idle(e, GUARD);
    for (uint32_t lane = 0; lane < e->at.lanes && e->active >> lane & 1; lane++) {
        uint64_t thread = e->at.thread + lane, m = pages_of(a, thread);
        struct modulo last = m < a->of_chunk.n ? modulo_of(m) : a->of_chunk;
        word[lane] = (thread * a->of_chunk.n + visited(&last, thread, e->index)) * WORDS;
    }
    emit_each(e, READ, 0, word, 20, 11); /* (offset + p step) mod pages */
    emit_as(emit_each(e, OUTPUT, 0, word, 10, 0), RECORD_WRITE);
    return emit_end(e, 1);
}

/* --- stride over the link --- */

static void setup(void *state, struct scan_setup *s)
{
    const struct array *a = state;
    *s = (struct scan_setup){
        .shape = SCAN_ARRAY,
        .reuse = (enum scan_reuse)a->reuse,
        .structures = {{"array", 0, element_of(a), elements(a)}},
        .structure_count = 1,
        .chunk = a->chunk,
        .threads_per_block = a->threads,
        .blocks_per_sm = a->blocks_per_sm,
        .stride_blocks = a->blocks,
        .lanes = a->pattern == STRIDE ? (elements(a) - a->offset + a->chunk - 1) / a->chunk : 0,
    };
}

static int start(void *state, struct err *err)
{
    struct array *a = state;
    a->given = 0;
    if (a->pattern != STRIDE)
        return err_set(err, "the kernels that read an array over the link read it in order: pattern=stride");
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    (void)err;
    struct array *a = state;
    if (a->given == a->launches)
        return 0;
    a->scan = (struct scan){a->offset, elements(a) - a->offset, 0};
    *batch = (struct scan_batch){a->given++, &a->scan, 1, true};
    return 1;
}

static const struct scan_ops scan_ops = {setup, start, next, NULL};

/* --- memory and launches --- */

/* By pattern: the kernel; once: each thread reads once, or there is but one. */
static const struct {
    const char *name;
    layout_body *body;
    uint32_t registers;
    bool once;
} kernels[] = {{"array_stride", stride, 11, false}, {"array_random", at_random, 18, true},
               {"array_sparse", sparse, 8, true},   {"array_chain", chain, 12, true},
               {"array_chunk", chunk, 22, false},   {"array_chunk_random", chunk_random, 22, false}};

/* Threads of random, sparse and chain, which follow from the array; 0 with *err set if it is too small. */
static uint64_t threads_of(const struct array *a, struct err *err)
{
    uint64_t bytes = a->bytes, least = a->pattern == RANDOM ? READS_BYTES : PROGRAM_BLOCK_BYTES;
    if (a->pattern == CHAIN)
        return 1;
    if (bytes >= least)
        return bytes / least * (a->pattern == RANDOM ? 1 : a->pages_per_block);
    (void)err_set(err, "pattern=%s reads one page in %llu bytes or more; bytes is %llu",
                  a->pattern == RANDOM ? "random" : "sparse", (unsigned long long)least, (unsigned long long)bytes);
    return 0;
}

static int add_arrays(struct array *a, struct err *err)
{
    bool chunks = a->pattern >= CHUNK;
    a->pages = a->bytes / (chunks ? 2 : 1) / PAGE;
    if (chunks && a->pages == 0)
        return err_set(err, "two arrays of one page take 8,192 bytes; bytes is %lld", (long long)a->bytes);
    layout_array(&a->layout, chunks ? "input" : "array", chunks ? a->pages * PAGE : (uint64_t)a->bytes)->host = a->host;
    if (chunks)
        layout_array(&a->layout, "output", a->pages * PAGE);
    if (a->pattern == SPARSE)
        layout_array(&a->layout, "page", a->all * 4)->device = true;
    if (a->pages)
        a->of_pages = modulo_of(a->pages);
    if (chunks)
        a->of_chunk = modulo_of((a->pages + a->all - 1) / a->all);
    if (elements(a) == 0)
        return err_set(err, "bytes is %lld; expected at least one element of %u", (long long)a->bytes, element_of(a));
    if ((uint64_t)a->offset >= elements(a))
        return err_set(err, "offset is %lld; the array has %llu elements", (long long)a->offset,
                       (unsigned long long)elements(a));
    return 0;
}

static int array_init(struct array *a, struct err *err)
{
    uint32_t threads = a->pattern == CHAIN ? 1 : (uint32_t)a->threads, registers = kernels[a->pattern].registers;
    bool once = kernels[a->pattern].once;
    a->all = once ? threads_of(a, err) : (uint64_t)(a->blocks * a->threads);
    if (a->all == 0 || add_arrays(a, err))
        return -1;
    (once ? layout_straight : layout_kernel)(&a->layout, kernels[a->pattern].body, kernels[a->pattern].name,
                                             layout_blocks(a->all, threads), threads, registers, 0);
    layout_guard(&a->layout, a->all, GUARD);
    a->layout.launches = (uint32_t)a->launches;
    return 0;
}

WORKLOAD_OF_LAYOUT(
    array, workload_array, "array",
    "one array: a thread reads elements a grid apart, a warp 32 neighbours; or at random, sparsely, as a "
    "chain; or copied page by page in chunks",
    "measured: H200, driver 580.159.04, 2026-11", layout_open, free, .scans = &scan_ops,
    .repeats = {"bytes", NULL, PROGRAM_BLOCK_BYTES});
