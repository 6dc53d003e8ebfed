/* array: what the files of workload `array` share (array.c says what it is; array_chunk.c has the chunk patterns). */
#ifndef TRACE_WORKLOADS_MICRO_ARRAY_H
#define TRACE_WORKLOADS_MICRO_ARRAY_H

#include "trace/program/loop.h"
#include "trace/workloads/micro/array_scan.h"

enum array_pattern { ARRAY_STRIDE, ARRAY_RANDOM, ARRAY_SPARSE, ARRAY_CHAIN, ARRAY_CHUNK, ARRAY_CHUNK_RANDOM };

struct array_params {
    int64_t bytes, pattern, blocks, threads, launches, unroll, pages_per_block, step, host, compute_ns;
    struct array_scan_params scan;
};

struct array {
    struct array_scan scan; /* first: the same array read over the link */
    struct array_params p;
    uint64_t pages;                 /* of 4 KiB, of the array that is read */
    uint64_t threads;               /* in all, those without work included */
    struct program_launch launch;   /* every one */
    struct program_alloc allocs[2]; /* what is read; the output of chunk, the table of sparse */
    size_t count;
};

/* The hash of pattern random, as its program has it. */
uint64_t array_hash(uint64_t i);

/* Body `index` of a warp of patterns chunk and chunk-random; false: there is none. */
bool array_chunk(const struct array *array, const struct program_warp *at, uint32_t index, struct program_body *body);

#endif
