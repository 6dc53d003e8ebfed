/* testing_accelsim: Accel-Sim traces of three kernels whose accesses can be worked out by hand, for tests and fixtures.
 *
 * n threads in blocks of 256; warp w reads and writes what the loops below say. Addresses are written in all three
 * modes, one after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BUILD_THREADS = 256, BUILD_WARPS = BUILD_THREADS / 32 };
#define BUILD_A 0x7f0000000000u
#define BUILD_B 0x7f0000040000u
#define BUILD_C 0x7f0000080000u

static int build_mode;

static inline void build_header(FILE *f, int version, const char *name, int id, unsigned blocks)
{
    (void)fprintf(f,
                  "-kernel name = %s\n-kernel id = %d\n-grid dim = (%u,1,1)\n-block dim = (%d,1,1)\n-shmem = 0\n"
                  "-nregs = 16\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f1000000000\n"
                  "-local mem base_addr = 0x00007f1001000000\n-nvbit version = 1.5\n",
                  name, id, blocks, BUILD_THREADS);
    if (version)
        (void)fprintf(f, "-accelsim tracer version = %d\n", version);
    if (version >= 5)
        (void)fprintf(f, "-enable lineinfo = 0\n");
    (void)fprintf(f, "\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
                     "[adrrescompress?] [mem_addresses] immediate\n\n");
}

/* A warp-level access of all 32 lanes, `stride` bytes apart. */
static inline void build_access(FILE *f, int version, unsigned block, unsigned warp, bool store, uint64_t base,
                                int64_t stride)
{
    if (version < 3)
        (void)fprintf(f, "%u 0 0 %u ", block, warp);
    (void)fprintf(f, "00a0 ffffffff %s 4 ", store ? "0 STG.E.SYS 2 R2 R0" : "1 R0 LDG.E.SYS 1 R2");
    int mode = build_mode++ % 3;
    (void)fprintf(f, "%d 0x%llx", mode, (unsigned long long)base);
    if (mode == 1)
        (void)fprintf(f, " %lld", (long long)stride);
    for (int i = 1; i < 32 && mode != 1; i++)
        (void)fprintf(f, mode == 0 ? " 0x%llx" : " %lld",
                      mode == 0 ? (long long)(base + (uint64_t)(i * stride)) : stride);
    (void)fprintf(f, version >= 5 ? " 0\n" : "\n");
}

static inline void build_other(FILE *f, int version, unsigned block, unsigned warp)
{
    if (version < 3)
        (void)fprintf(f, "%u 0 0 %u ", block, warp);
    (void)fprintf(f, "0090 ffffffff 1 R0 IMAD.WIDE 3 R0 R4 R5 0%s\n", version >= 5 ? " 0" : "");
}

static inline void build_warp(FILE *f, unsigned warp, unsigned instructions)
{
    (void)fprintf(f, "\nwarp = %u\ninsts = %u\n", warp, instructions);
}

/* c[i] = a[i] + b[i] over n floats: three accesses of one line per warp. */
static inline void build_vector_add(FILE *f, int version, unsigned n)
{
    build_header(f, version, "_Z6vecaddPKfS0_Pfi", 1, n / BUILD_THREADS);
    for (unsigned b = 0; b < n / BUILD_THREADS; b++) {
        (void)fprintf(f, "#BEGIN_TB\n\nthread block = %u,0,0\n", b);
        for (unsigned w = 0; w < BUILD_WARPS; w++) {
            uint64_t at = 4ull * (b * BUILD_THREADS + w * 32);
            build_warp(f, w, 4);
            build_other(f, version, b, w);
            build_access(f, version, b, w, false, BUILD_A + at, 4);
            build_access(f, version, b, w, false, BUILD_B + at, 4);
            build_access(f, version, b, w, true, BUILD_C + at, 4);
        }
        (void)fprintf(f, "\n#END_TB\n\n");
    }
}

/* Thread t sums a[32 t] to a[32 t + 31]: 32 loads of 32 lines per warp; n words. */
static inline void build_strided(FILE *f, int version, unsigned n)
{
    unsigned blocks = n / 32 / BUILD_THREADS;
    build_header(f, version, "_Z7stridedPKjPjmm", 2, blocks);
    for (unsigned b = 0; b < blocks; b++) {
        (void)fprintf(f, "#BEGIN_TB\n\nthread block = %u,0,0\n", b);
        for (unsigned w = 0; w < BUILD_WARPS; w++) {
            build_warp(f, w, 32);
            for (unsigned i = 0; i < 32; i++)
                build_access(f, version, b, w, false, BUILD_A + 128ull * (b * BUILD_THREADS + w * 32) + 4 * i, 128);
        }
        (void)fprintf(f, "\n#END_TB\n\n");
    }
}

/* Five-point stencil over rows of `width` floats (a multiple of 256) without its first and last row, one thread per
 * column, a block per 256 columns of a row: per warp the lines above and below, left and right of the middle (each
 * reaching into the neighbouring line), the middle, and the result. */
static inline void build_stencil(FILE *f, int version, unsigned width, unsigned rows)
{
    unsigned per_row = width / BUILD_THREADS, blocks = per_row * (rows - 2);
    build_header(f, version, "_Z7stencilPKfPfi", 3, blocks);
    for (unsigned b = 0; b < blocks; b++) {
        (void)fprintf(f, "#BEGIN_TB\n\nthread block = %u,0,0\n", b);
        for (unsigned w = 0; w < BUILD_WARPS; w++) {
            uint64_t row = 4ull * width, column = 4ull * (b % per_row * BUILD_THREADS + w * 32);
            uint64_t at = row * (b / per_row + 1) + column;
            build_warp(f, w, 6);
            build_access(f, version, b, w, false, BUILD_A + at - row, 4);
            build_access(f, version, b, w, false, BUILD_A + at - 4, 4);
            build_access(f, version, b, w, false, BUILD_A + at, 4);
            build_access(f, version, b, w, false, BUILD_A + at + 4, 4);
            build_access(f, version, b, w, false, BUILD_A + at + row, 4);
            build_access(f, version, b, w, true, BUILD_B + at, 4);
        }
        (void)fprintf(f, "\n#END_TB\n\n");
    }
}
