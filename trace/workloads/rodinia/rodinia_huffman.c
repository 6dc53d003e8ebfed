/* rodinia-huffman: Rodinia's Huffman coder over `blocks` blocks of 1 KiB: histogram, codes, prefix sum, packing.
 *
 *     histo_kernel, 32 launches: a part of 32 x blocks bytes in one buffer, then the other: grid-stride over its bytes,
 *                    a shared counter each; then 256 atomic additions to HIST
 *     vlc_encode_kernel_sm64huff, `runs` launches, block b: CODE[t], LEN[t], DATA[256 b + t]; lengths summed up in
 *                    shared memory by a tree; thread 255: CIDX[b] = bits of the block; t <= bits / 32: OUT[256 b + t]
 *     prescan, uniformAdd: exclusive sum of CIDX into CIDX2, 512 elements a block of threads; where there are more,
 *                    their sums (SUMS), the sums of those, and what is added to each
 *     pack2, thread t: CIDX[t], CIDX2[t] = p, d = p / 32; OUT[256 t]; atomic or PACKED[d]; for i = 1 to bits / 32 - 1:
 *                    OUT[256 t + i], store PACKED[d + i]; if bits is no multiple of 32: atomic or PACKED[d + i];
 *                    OUT[256 t + i], atomic or there and behind it
 *
 * What depends on data is one number: the bits of a coded block, 2259 at the 2.2066 bits a byte in the name of the
 * artifact's file. Arrays, from 0xC0000000 on: two buffers (32 x blocks bytes), HIST (256 ints), DATA, OUT, PACKED
 * (words), CODE, LEN (256 ints), three arrays of words that no kernel uses, CIDX, CIDX2 (blocks ints), SUMS.
 * Worked example, bits = 2259: block t's codes begin at bit 2259 t; 71 words, the first or'ed into PACKED[2259 t / 32],
 * 69 stored, the rest or'ed into two more.
 * Defaults: 1 MiB, ten runs: as gupta-2025-f3fs runs it; histogram: two blocks for each of 80 multiprocessors.
 * Instructions, uses: PTX that nvcc 13.0 -O3 makes of the source for compute capability 7.5, without loads of kernel
 * parameters; registers; shared memory, dynamic included: the same compiler.
 * A step of a tree that a warp sits out costs it the test; codes cross one word boundary in each warp, none two
 * (assumed). order=hoisted: the loads of vlc_encode.., prescan and the beginning of pack2, then their uses.
 * Source: Rodinia 3.1, cuda/huffman: main_test_cu.cu, hist.cu, vlc_kernel_sm64huff.cu, scan.cu,
 * scanLargeArray_kernel.cu, pack_kernels.cu.
 * Differs: every block has as many bits; the histogram's two streams run one after the other. */
#include <stdlib.h>

#include "trace/workloads/rodinia/rodinia_huffman.h"
#include "trace/workloads/rodinia/suite.h"

enum { PARTS = 32 };

static const struct param rodinia_huffman_params[] = {
    PARAM_INT_ROW(rodinia_huffman_params, blocks, "KiB", HUFFMAN_PACK, 1 << 18, 1024, "coded, a power of two"),
    PARAM_INT_ROW(rodinia_huffman_params, bits, "", 1024, 8191, 2259, "of a coded block"),
    PARAM_INT_ROW(rodinia_huffman_params, runs, "", 1, 1 << 20, 10, "launches of vlc_encode_kernel_sm64huff"),
    PARAM_INT_ROW(rodinia_huffman_params, sms, "", 1, 4096, 80, "multiprocessors, by which the histogram's grid goes"),
    RODINIA_ORDER_ROW(rodinia_huffman_params),
    PARAM_NS_AUTO_ROW(rodinia_huffman_params, compute_ns, 0, 1e9, "time of a turn of a warp whose data is all at hand"),
    {0}};

/* The beginning; the loop; the end. */
static int histo_kernel(struct emit *e)
{
    const struct rodinia_huffman *s = e->state;
    uint64_t step = 2 * (uint64_t)s->p.sms * HUFFMAN_THREADS;
    struct program_loop loop =
        program_grid_stride(e->at.thread, e->at.lanes, step, s->plan.array[HUFFMAN_BUFFER0].bytes, 1);
    struct program_part part;
    struct emit bytes = emit_of(e, 1);
    if (e->index == 0) {
        emit_barrier(e, 6);
        return emit_end(e, loop.trips || loop.more ? 9 : 6);
    }
    if (program_loop_part(&loop, e->index - 1, &part)) {
        bytes.active = part.active;
        emit_load(&bytes, e->launch % 2, (int64_t)(e->at.thread + part.first * step), 1, 1);
        emit_turns(e, part.turns, (int64_t)step);
        return emit_end(e, 7);
    }
    if (e->index > 1 && !program_loop_part(&loop, e->index - 2, &part))
        return 0; /* the one before was the last */
    emit_barrier(e, 0);
    emit_as(emit_load(e, HUFFMAN_HIST, e->at.warp * PROGRAM_LANES, 4, 0), RECORD_ATOMIC);
    return emit_end(e, 1);
}

static int vlc_encode(struct emit *e)
{
    const struct rodinia_huffman *s = e->state;
    int64_t t = e->at.warp * PROGRAM_LANES, stored = s->p.bits / HUFFMAN_WORD_BITS + 1;
    uint32_t since = 7, before = 7;
    emit_load(e, HUFFMAN_CODE, t, 7, 4);
    emit_load(e, HUFFMAN_LEN, t, 6, 1);
    emit_load(e, HUFFMAN_DATA, (int64_t)e->at.thread, 5, 2);
    emit_hoist(e, 0);
    emit_barrier(e, 0);
    emit_barrier(e, 30);
    huffman_add_up(e, HUFFMAN_THREADS / 2, 12, &since);
    since += e->at.warp == 0 ? 11 : 7;
    huffman_add_down(e, HUFFMAN_THREADS / 2, 14, &since);
    emit_barrier(e, since);
    if (t + PROGRAM_LANES == HUFFMAN_THREADS) {
        emit_same(emit_store(e, HUFFMAN_CIDX, (int64_t)e->at.block, 8))->active = 1u << 31;
        before = 5;
    }
    emit_barrier(e, before);
    emit_barrier(e, 29);
    if (t < stored)
        emit_store(e, HUFFMAN_OUT, (int64_t)e->at.thread, 7)->active = program_first_lanes((uint64_t)(stored - t));
    return emit_end(e, t < stored ? 1 : 4);
}

/* --- launches and memory --- */

static unsigned kernel_of(const void *state, uint32_t launch)
{
    const struct rodinia_huffman *s = state;
    uint32_t behind = launch - PARTS - (uint32_t)s->p.runs;
    if (launch < PARTS + (uint32_t)s->p.runs)
        return launch < PARTS ? HUFFMAN_HISTO : HUFFMAN_ENCODE;
    return launch + 1 == s->plan.launches ? HUFFMAN_PACK2 : HUFFMAN_SCAN + behind;
}

/* In the order of the kernels' numbers. */
static void add_kernels(struct rodinia_huffman *s)
{
    uint64_t blocks = (uint64_t)s->p.blocks, sums = blocks / HUFFMAN_SCANNED; /* sums: what the second level sums up */
    uint32_t threads = s->sums ? HUFFMAN_THREADS : (uint32_t)blocks / 2;      /* of the first level */
    uint32_t summed = (uint32_t)sums, scanned = 2 * threads;
    plan_kernel(&s->plan, histo_kernel, "histo_kernel", 2 * (uint64_t)s->p.sms, HUFFMAN_THREADS, 10,
                HUFFMAN_THREADS * 4);
    plan_straight(&s->plan, vlc_encode, "vlc_encode_kernel_sm64huff", blocks, HUFFMAN_THREADS, 20,
                  3 * HUFFMAN_THREADS * 4 + 16);
    plan_straight(&s->plan, huffman_prescan, "prescan", s->sums ? sums : 1, threads, 20, (scanned + scanned / 16) * 4);
    plan_straight(&s->plan, huffman_prescan_sums, "prescan", 1, summed / 2, 20, (summed + summed / 16) * 4);
    plan_straight(&s->plan, huffman_uniform_add, "uniformAdd", sums, HUFFMAN_THREADS, 16, 16);
    plan_kernel(&s->plan, huffman_pack2, "pack2", blocks / HUFFMAN_PACK, HUFFMAN_PACK, 27, 0);
    s->plan.kernel_of = kernel_of;
    s->plan.launches = PARTS + (uint32_t)s->p.runs + (s->sums ? 3 : 1) + 1;
}

static void *rodinia_huffman_open(const void *params, struct err *err)
{
    const struct rodinia_huffman_params *p = params;
    if (p->blocks & (p->blocks - 1)) {
        err_set(err, "rodinia-huffman: blocks=%lld; expected a power of two", (long long)p->blocks);
        return NULL;
    }
    struct rodinia_huffman *s = rodinia_new(sizeof *s, p->order, p->compute_ns, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->sums = p->blocks > HUFFMAN_SCANNED;
    uint64_t blocks = (uint64_t)p->blocks, words = blocks * HUFFMAN_THREADS * 4, symbols = HUFFMAN_THREADS * 4;
    plan_input(&s->plan, "buffer0", words / PARTS);
    plan_input(&s->plan, "buffer1", words / PARTS);
    plan_array(&s->plan, "histo", symbols);
    plan_input(&s->plan, "sourceData", words);
    plan_input(&s->plan, "destData", words);
    plan_array(&s->plan, "destDataPacked", words);
    plan_input(&s->plan, "codewords", symbols);
    plan_input(&s->plan, "codewordlens", symbols);
    plan_array(&s->plan, "cw32", words);
    plan_array(&s->plan, "cw32len", words);
    plan_array(&s->plan, "cw32idx", words);
    plan_array(&s->plan, "cindex", blocks * 4);
    plan_array(&s->plan, "cindex2", blocks * 4);
    if (s->sums)
        plan_array(&s->plan, "scanBlockSums", blocks / HUFFMAN_SCANNED * 4);
    add_kernels(s);
    return s;
}

const struct workload_type workload_rodinia_huffman = {
    .name = "rodinia-huffman",
    .summary = "Huffman coding: histogram, codes, prefix sum, packing",
    .source = "Rodinia 3.1 cuda/huffman",
    WORKLOAD_WITH_KEYS(rodinia_huffman),
    .close = free,
    .program = plan_program,
};
