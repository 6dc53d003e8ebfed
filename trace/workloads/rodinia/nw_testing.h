/* nw_testing: the kernels of Needleman-Wunsch thread by thread, from their source; for nw_test.c, rodinia_nw_test.c. */
#pragma once

#include "trace/workloads/rodinia/thread_testing.h"

enum { NW_TILE = 16 };

/* One thread of a tile whose corner above left is element o; `mat` is the matrix' place. */
static inline void nw_thread(struct thread *t, unsigned mat, bool forth, int64_t o, int64_t cols)
{
    unsigned ref = 1 - mat;
    int64_t l = t->thread;
    reads(t, forth && l == 0, mat, o);
    for (int64_t r = 0; r < NW_TILE; r++)
        reads(t, true, ref, o + cols + 1 + cols * r + l);
    reads(t, !forth && l == 0, mat, o);
    reads(t, true, mat, o + cols + cols * l);
    reads(t, true, mat, o + l + 1);
    for (int64_t r = 0; r < NW_TILE; r++)
        writes(t, true, mat, o + cols + 1 + cols * r + l);
}

/* The same of nw_tiles(), fixtures/cuda/kernels.cu, in the order of its code for sm_90. */
static inline void nw_thread_together(struct thread *t, unsigned mat, int64_t o, int64_t cols)
{
    unsigned ref = 1 - mat;
    int64_t l = t->thread;
    reads(t, l == 0, mat, o);
    reads(t, true, mat, o + l + 1);
    reads(t, true, ref, o + cols + 1 + l);
    reads(t, true, mat, o + cols + cols * l);
    for (int64_t r = 1; r < NW_TILE; r++)
        reads(t, true, ref, o + cols + 1 + cols * r + l);
    for (int64_t r = 0; r < NW_TILE; r++)
        writes(t, true, mat, o + cols + 1 + cols * r + l);
}

/* The program does what the kernels' source says, and no more. align 0: arrays as the program places them. */
static inline void nw_compare(const char *spec, unsigned mat, int64_t cols, uint64_t base, uint64_t align)
{
    struct workload w;
    struct program program = program_opened(&w, spec, base, align);
    struct program_notes notes = {0};
    struct thread t = {.notes = &notes, .program = &program, .threads = NW_TILE};
    int64_t tiles = (cols - 1) / NW_TILE;
    for (int64_t k = 1; k < 2 * tiles; k++, t.launch++) {
        bool forth = k <= tiles;
        int64_t i = forth ? k : 2 * tiles - k;
        for (int64_t b = 0; b < i; b++)
            for (t.thread = 0; t.thread < NW_TILE; t.thread++) {
                int64_t x = forth ? b : b + tiles - i, y = forth ? i - 1 - b : tiles - 1 - b;
                t.block = (uint64_t)b;
                t.when = 0;
                int64_t o = NW_TILE * cols * y + NW_TILE * x;
                if (strstr(spec, "together"))
                    nw_thread_together(&t, mat, o, cols);
                else
                    nw_thread(&t, mat, forth, o, cols);
            }
    }
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}
