/* array: what the files of workload `array` share (array.c says what it is; array_chunk.c and array_sparse.c
 * have patterns of their own). */
#ifndef TRACE_WORKLOADS_MICRO_ARRAY_H
#define TRACE_WORKLOADS_MICRO_ARRAY_H

#include "trace/program/plan.h"
#include "trace/workloads/micro/array_scan.h"

/* Words and 2 MiB of pages of 4 KiB; allocations by number; instructions before a thread finds that it has no work. */
enum { ARRAY_WORDS = 4096 / 4, ARRAY_BLOCK_PAGES = PROGRAM_BLOCK_BYTES / 4096 };
enum { ARRAY_READ = 0, ARRAY_TABLE = 1, ARRAY_OUTPUT = 1, ARRAY_GUARD = 10 };

enum array_pattern { ARRAY_STRIDE, ARRAY_RANDOM, ARRAY_SPARSE, ARRAY_CHAIN, ARRAY_CHUNK, ARRAY_CHUNK_RANDOM };

struct array_params {
    int64_t bytes, pattern, blocks, threads, launches, unroll, pages_per_block, step, host, compute_ns;
    struct array_scan_params scan;
};

/* x mod n without a division: with m = floor(2^64 / n), the upper half of x m is floor(x / n) or one less. */
struct array_modulo {
    uint64_t n, m;
};

static inline struct array_modulo array_modulo_of(uint64_t n)
{
    bool divides = UINT64_MAX % n == n - 1; /* 2^64 */
    return (struct array_modulo){n, UINT64_MAX / n + (divides && n > 1)};
}

static inline uint64_t array_modulo(const struct array_modulo *of, uint64_t x)
{
    uint64_t rest = x - (uint64_t)((unsigned __int128)x * of->m >> 64) * of->n;
    return rest - (of->n & -(uint64_t)(rest >= of->n));
}

struct array {
    struct plan plan;
    struct array_params p;
    struct array_scan scan;       /* the same array read over the link */
    uint64_t threads;             /* in all, those without work included */
    uint64_t pages;               /* of 4 KiB, of the array that is read */
    struct array_modulo of_pages; /* what random goes by */
    struct array_modulo of_chunk; /* pages of a chunk, but for the last; chunk and chunk-random */
};

/* The hash of pattern random, as its program has it. */
static inline uint64_t array_hash(uint64_t i)
{
    i *= 0x9E3779B97F4A7C15u;
    i ^= i >> 29;
    i *= 0xBF58476D1CE4E5B9u;
    return i ^ i >> 32;
}

/* Kernels of patterns sparse, chunk and chunk-random. */
plan_body array_sparse, array_chunk, array_chunk_random;

#endif
