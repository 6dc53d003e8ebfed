/* thread_testing: one thread of a kernel at a time, noting what it accesses; for tests.
 *
 * Every call is one instruction of the source: threads for which `takes` does not hold pass it by, so that lanes of a
 * warp stay together. Where lanes part, the test sets `when` itself. */
#pragma once

#include "trace/workloads/program_testing.h"

struct thread {
    struct program_notes *notes;
    const struct program *program;
    uint32_t launch, threads; /* of a block */
    uint64_t block;
    uint32_t thread;
    uint64_t when;
};

static inline void thread_does(struct thread *t, bool takes, uint32_t kind, unsigned array, int64_t byte,
                               uint32_t bytes)
{
    if (takes)
        program_note(t->notes, t->launch, t->block, t->threads, t->thread, t->when, kind, bytes,
                     program_at(t->program, array, (uint64_t)byte, 1));
    t->when++;
}

/* Element `index` of an array of 4-byte elements. */
static inline void reads(struct thread *t, bool takes, unsigned array, int64_t index)
{
    thread_does(t, takes, RECORD_READ, array, index * 4, 4);
}

static inline void writes(struct thread *t, bool takes, unsigned array, int64_t index)
{
    thread_does(t, takes, RECORD_WRITE, array, index * 4, 4);
}

/* The arrays of a program: `n` of so many bytes, one behind the other on 256 B from 0xC0000000 on. */
static inline void check_arrays(const char *spec, const uint64_t *bytes, size_t n)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    uint64_t at = 0xC0000000u;
    size_t found;
    const struct program_alloc *allocs = program.ops->allocs(program.state, &found);
    ck_assert_uint_eq(found, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(allocs[i].addr, at);
        ck_assert_uint_eq(allocs[i].bytes, bytes[i]);
        ck_assert(!allocs[i].device);
        at = (at + bytes[i] + 255) / 256 * 256;
    }
    workload_close(&w);
}

#define CHECK_ARRAYS(spec, ...)                                                                                        \
    do {                                                                                                               \
        static const uint64_t bytes_[] = {__VA_ARGS__};                                                                \
        check_arrays(spec, bytes_, sizeof bytes_ / sizeof *bytes_);                                                    \
    } while (0)
