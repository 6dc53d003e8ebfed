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

#include "trace/base/mem.h"
#include "trace/workloads/rodinia/rodinia_huffman.h"
#include "trace/workloads/rodinia/suite.h"

static const struct param huffman_params[] = {
    PARAM_INT_ROW(huffman_params, blocks, "KiB", PACK, 1 << 18, 1024, "coded, a power of two"),
    PARAM_INT_ROW(huffman_params, bits, "", 1024, 8191, 2259, "of a coded block"),
    PARAM_INT_ROW(huffman_params, runs, "", 1, 1 << 20, 10, "launches of vlc_encode_kernel_sm64huff"),
    PARAM_INT_ROW(huffman_params, sms, "", 1, 4096, 80, "multiprocessors, by which the histogram's grid goes"),
    RODINIA_ORDER_ROW(huffman_params),
    PARAM_NS_AUTO_ROW(huffman_params, compute_ns, 0, 1e9, "time of a turn of a warp whose data is all at hand"),
    {0}};

static void *huffman_open(const void *params, struct err *err)
{
    const struct huffman_params *p = params;
    if (p->blocks & (p->blocks - 1)) {
        err_set(err, "rodinia-huffman: blocks=%lld; expected a power of two", (long long)p->blocks);
        return NULL;
    }
    struct huffman *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->p = *p;
    s->bits = (uint64_t)p->bits;
    s->blocks = (uint64_t)p->blocks;
    s->sums = s->blocks > SCANNED;
    uint64_t words = s->blocks * BLOCK * 4, part = words / PARTS, symbols = BLOCK * 4, index = s->blocks * 4;
    const struct program_alloc allocs[ARRAYS] = {
        [BUFFER0] = {.name = "buffer0", .bytes = part, .host = true},
        [BUFFER1] = {.name = "buffer1", .bytes = part, .host = true},
        [HIST] = {.name = "histo", .bytes = symbols},
        [DATA] = {.name = "sourceData", .bytes = words, .host = true},
        [OUT] = {.name = "destData", .bytes = words, .host = true},
        [PACKED] = {.name = "destDataPacked", .bytes = words},
        [CODE] = {.name = "codewords", .bytes = symbols, .host = true},
        [LEN] = {.name = "codewordlens", .bytes = symbols, .host = true},
        [CW32] = {.name = "cw32", .bytes = words},
        [CW32LEN] = {.name = "cw32len", .bytes = words},
        [CW32IDX] = {.name = "cw32idx", .bytes = words},
        [CIDX] = {.name = "cindex", .bytes = index},
        [CIDX2] = {.name = "cindex2", .bytes = index},
        [SUMS] = {.name = "scanBlockSums", .bytes = s->blocks / SCANNED * 4},
    };
    for (unsigned i = 0; i < ARRAYS; i++)
        s->allocs[i] = allocs[i];
    program_place(s->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return s;
}

static const struct program_alloc *huffman_allocs(const void *state, size_t *n)
{
    const struct huffman *s = state;
    *n = s->sums ? ARRAYS : SUMS;
    return s->allocs;
}

/* --- launches --- */

static uint32_t huffman_launches(const void *state)
{
    const struct huffman *s = state;
    return PARTS + (uint32_t)s->p.runs + (s->sums ? 3 : 1) + 1;
}

static enum kernel kernel_of(const struct huffman *s, uint32_t launch)
{
    if (launch < PARTS)
        return HISTO;
    uint32_t behind = launch - PARTS - (uint32_t)s->p.runs;
    if (launch < PARTS + (uint32_t)s->p.runs)
        return ENCODE;
    return behind + 1 == (s->sums ? 4u : 2u) ? PACK2 : SCAN + behind;
}

static void huffman_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct huffman *s = state;
    uint64_t sums = s->blocks / SCANNED; /* what the second level sums up */
    uint32_t scan = s->sums ? BLOCK : (uint32_t)s->blocks / 2;
    const struct program_launch all[] = {
        [HISTO] = {.kernel = "histo_kernel", 2 * (uint64_t)s->p.sms, BLOCK, 10, BLOCK * 4},
        [ENCODE] = {.kernel = "vlc_encode_kernel_sm64huff", s->blocks, BLOCK, 20, 3 * BLOCK * 4 + 16},
        [SCAN] = {.kernel = "prescan", s->sums ? sums : 1, scan, 20, (2 * scan + 2 * scan / 16) * 4},
        [SCAN_SUMS] = {.kernel = "prescan", 1, (uint32_t)sums / 2, 20, (uint32_t)(sums + sums / 16) * 4},
        [ADD] = {.kernel = "uniformAdd", sums, BLOCK, 16, 16},
        [PACK2] = {.kernel = "pack2", s->blocks / PACK, PACK, 27, 0},
    };
    *out = all[kernel_of(s, launch)];
}

/* --- histogram --- */

static int histo(const struct huffman *s, uint32_t launch, const struct program_warp *at, uint32_t index,
                 struct program_body *body)
{
    struct program_loop loop =
        program_grid_stride(at->thread, at->lanes, 2 * (uint64_t)s->p.sms * BLOCK, s->allocs[BUFFER0].bytes, 1);
    struct program_part part;
    if (index == 0) {
        add_barrier(body, 6);
        body->after = loop.trips || loop.more ? 9 : 6;
        return 1;
    }
    if (program_loop_part(&loop, index - 1, &part)) {
        uint64_t step = 2 * (uint64_t)s->p.sms * BLOCK;
        struct program_access *a = program_load(body, s->allocs, launch % 2, at->thread + part.first * step, 1);
        a->active = part.active;
        a->before = 1;
        a->turn_stride = (int64_t)step;
        body->turns = part.turns;
        body->after = 7;
        return 1;
    }
    if (index > 1 && !program_loop_part(&loop, index - 2, &part))
        return 0; /* the one before was the last */
    add_barrier(body, 0);
    add(s, body, HIST, at->warp * PROGRAM_LANES, 0xffffffff, 4, 0)->kind = RECORD_ATOMIC;
    body->after = 1;
    return 1;
}

/* --- pack2 --- */

/* Word number i of each thread's block, 1 KiB apart. */
static struct program_access *add_word(const struct huffman *s, struct program_body *body, uint64_t t, uint64_t i,
                                       uint32_t active, uint32_t before)
{
    struct program_access *a = add(s, body, OUT, BLOCK * t + i, active, before, 1);
    a->lane_stride = BLOCK * 4;
    return a;
}

/* Where it goes to, wholly or in part. */
static struct program_access *add_packed(const struct huffman *s, struct program_body *body, uint64_t t, uint64_t i,
                                         uint32_t active, uint32_t before, uint32_t kind)
{
    struct program_access *a = add_store(s, body, PACKED, i, active, before);
    uint64_t *lane = program_scatter(body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + s->bits * (t + l) / WORD_BITS * 4;
    a->kind = (uint8_t)kind;
    return a;
}

static void pack_first(const struct huffman *s, uint64_t t, uint64_t rest, struct program_body *body)
{
    uint32_t active = program_first_lanes(PACK);
    (void)add(s, body, CIDX, t, active, 9, 17);
    (void)add(s, body, CIDX2, t, active, 2, 1);
    (void)add_word(s, body, t, 0, active, 5);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    (void)add_packed(s, body, t, 0, active, 3, RECORD_ATOMIC);
    body->after = 6 + 6 + 4 + (rest ? 8 : 4);
}

static void pack_words(const struct huffman *s, uint64_t t, const struct program_part *part, struct program_body *body)
{
    static const uint8_t load[UNROLL] = {3, 7, 5, 5};
    bool alone = part->trips == 1;
    for (uint32_t k = 0; k < part->trips; k++) {
        uint64_t i = 1 + part->first + k;
        (void)add_word(s, body, t, i, program_first_lanes(PACK), alone ? 2 : load[k]);
        (void)add_packed(s, body, t, i, program_first_lanes(PACK), alone ? 4 : 5, RECORD_WRITE);
    }
    for (uint32_t k = 0; k < body->count; k++)
        body->access[k].turn_stride = 4 * part->trips;
    body->turns = part->turns;
    body->after = alone ? 7 : 5;
}

/* What is left of the last word. Where it is whole every block begins with a word, too: nothing is left. */
static void pack_last(const struct huffman *s, uint64_t t, struct program_body *body)
{
    uint64_t i = s->bits / WORD_BITS;
    uint32_t active = program_first_lanes(PACK);
    if (s->bits % WORD_BITS == 0) {
        body->after = 8;
        return;
    }
    (void)add_packed(s, body, t, i, active, 7, RECORD_ATOMIC);
    (void)add_word(s, body, t, i, active, 9);
    (void)add_packed(s, body, t, i, active, 1, RECORD_ATOMIC);
    (void)add_packed(s, body, t, i + 1, active, 6, RECORD_ATOMIC);
    body->after = 1;
}

static int pack(const struct huffman *s, uint64_t t, uint32_t index, struct program_body *body)
{
    struct program_loop loop = {
        .trips = s->bits / WORD_BITS - 1, .active = program_first_lanes(PACK), .unroll = UNROLL};
    struct program_part part;
    if (index == 0)
        pack_first(s, t, loop.trips % UNROLL, body);
    else if (program_loop_part(&loop, index - 1, &part))
        pack_words(s, t, &part, body);
    else if (program_loop_part(&loop, index - 2, &part)) /* there is always one */
        pack_last(s, t, body);
    else
        return 0;
    return 1;
}

static int huffman_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                        struct err *err)
{
    const struct huffman *s = run;
    struct program_launch shape;
    enum kernel kernel = kernel_of(s, launch);
    (void)err;
    huffman_launch(s, launch, &shape);
    struct program_warp at = program_warp_at(&shape, warp);
    if (kernel == HISTO)
        return histo(s, launch, &at, index, body);
    if (kernel == ENCODE)
        return huffman_encode(s, &at, index, body);
    if (kernel == ADD)
        return huffman_add(s, &at, index, body);
    if (kernel == PACK2)
        return pack(s, at.thread, index, body);
    return huffman_scan(s, &shape, &at, kernel, index, body);
}

static const struct program_ops huffman_ops = {
    .allocs = huffman_allocs, .launches = huffman_launches, .launch = huffman_launch, .body = huffman_body};

static int huffman_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&huffman_ops, state, ((const struct huffman *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_huffman = {
    .name = "rodinia-huffman",
    .summary = "Huffman coding: histogram, codes, prefix sum, packing",
    .source = "Rodinia 3.1 cuda/huffman",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = huffman_params,
    .params_size = sizeof(struct huffman_params),
    .open = huffman_open,
    .close = free,
    .program = huffman_program,
};
