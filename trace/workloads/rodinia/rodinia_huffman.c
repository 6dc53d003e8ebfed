/* rodinia-huffman: Huffman coder over `blocks` blocks of 1 KiB: histogram, codes, prefix sum, packing.
 *
 *     histo_kernel, 32 launches: a part of 32 x blocks bytes in one buffer, then the other, by a grid-stride loop; then
 *                     256 atomic additions to HIST
 *     vlc_encode_kernel_sm64huff, `runs` launches, block b: codes of its words, lengths summed up in shared memory by a
 *                     tree; thread 255: CIDX[b] = bits of the block; t <= bits / 32: OUT[256 b + t]
 *     prescan, uniformAdd: exclusive sum of CIDX into CIDX2, 512 elements a block of threads; where there are more,
 *                     their sums (SUMS), the sums of those, and what is added to each
 *     pack2: thread t packs the words of block t from bit CIDX2[t] on, the first and the last by atomics
 *
 * What depends on data is one number: the bits of a coded block, 2259 at the 2.2066 bits a byte in the name of the
 * artifact's file. No kernel uses CW32, CW32LEN, CW32IDX.
 * Worked example, bits = 2259: block t's codes begin at bit 2259 t; 71 words, the first or'ed into PACKED[2259 t / 32],
 * 69 stored, the rest or'ed into two more.
 * Defaults: 1 MiB, ten runs; histogram: two blocks for each of 80 multiprocessors. A step of a tree that a warp sits
 * out costs it the test; codes cross one word boundary in each warp, none two (assumed).
 * Source: Rodinia 3.1, cuda/huffman: main_test_cu.cu, hist.cu, vlc_kernel_sm64huff.cu, scan.cu,
 * scanLargeArray_kernel.cu, pack_kernels.cu.
 * Differs: every block has as many bits; the histogram's two streams run one after the other. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { PARTS = 32, THREADS = 256, PACK = 16, SCANNED = 2 * THREADS, WORD_BITS = 32, UNROLL = 4 };
enum { BUFFER0, BUFFER1, HIST, DATA, OUT, PACKED, CODE, LEN, CW32, CW32LEN, CW32IDX, CIDX, CIDX2, SUMS };
enum { HISTO, ENCODE, SCAN, SCAN_SUMS, ADD, PACK2 };

struct huffman {
    struct layout layout;
    int64_t blocks, bits, runs, sms;
    bool sums; /* the prefix sum needs sums of sums */
};

static const struct param huffman_keys[] = {
    PARAM_INT_ROW(huffman, blocks, "KiB", PACK, 1 << 18, 1024, "coded, a power of two"),
    PARAM_INT_ROW(huffman, bits, "", 1024, 8191, 2259, "of a coded block"),
    PARAM_INT_ROW(huffman, runs, "", 1, 1 << 20, 10, "launches of vlc_encode_kernel_sm64huff"),
    PARAM_INT_ROW(huffman, sms, "", 1, 4096, 80, "multiprocessors, by which the histogram's grid goes"),
    RODINIA_KEYS("time of a turn of a warp whose data is all at hand")};

/* The beginning; the loop; the end. */
static int histo_kernel(struct emit *e)
{
    const struct huffman *s = e->state;
    uint64_t step = 2 * s->sms * THREADS;
    struct program_loop loop = program_grid_stride(e->at.thread, e->at.lanes, step, s->layout.array[BUFFER0].bytes, 1);
    struct program_part part;
    struct emit bytes = emit_of(e, 1);
    if (e->index == 0) {
        emit_barrier(e, 6);
        return emit_end(e, loop.trips || loop.more ? 9 : 6);
    }
    if (program_loop_part(&loop, e->index - 1, &part)) {
        bytes.active = part.active;
        emit_load(&bytes, e->launch % 2, e->at.thread + part.first * step, 1, 1);
        emit_turns(e, part.turns, step);
        return emit_end(e, 7);
    }
    if (e->index > 1 && !program_loop_part(&loop, e->index - 2, &part))
        return 0; /* the one before was the last */
    emit_barrier(e, 0);
    emit_as(emit_load(e, HIST, (int64_t)e->at.warp * PROGRAM_LANES, 4, 0), RECORD_ATOMIC);
    return emit_end(e, 1);
}

/* The two passes of a tree over shared memory, barriers and nothing else: `work` of a warp in a step in which it has a
 * thread below d. before: instructions since the last access; they return those behind the last barrier. */
static uint32_t add_up(const struct emit *e, uint32_t d, uint32_t work, uint32_t before)
{
    for (; d; d /= 2) {
        emit_barrier(e, before);
        before = 6 + (e->at.warp * PROGRAM_LANES < d ? work : 0);
    }
    return before;
}

static uint32_t add_down(const struct emit *e, uint32_t last, uint32_t work, uint32_t before)
{
    for (uint32_t d = 1; d <= last; d *= 2) {
        emit_barrier(e, before + 1);
        before = 5 + (e->at.warp * PROGRAM_LANES < d ? work : 0);
    }
    return before;
}

static int vlc_encode(struct emit *e)
{
    int64_t t = (int64_t)e->at.warp * PROGRAM_LANES, stored = ((const struct huffman *)e->state)->bits / WORD_BITS + 1;
    bool last = t + PROGRAM_LANES == THREADS;
    emit_load(e, CODE, t, 7, 4);
    emit_load(e, LEN, t, 6, 1);
    emit_load(e, DATA, e->at.thread, 5, 2);
    emit_hoist(e, 0);
    emit_barrier(e, 0);
    emit_barrier(e, 30);
    uint32_t since = add_up(e, THREADS / 2, 12, 7);
    emit_barrier(e, add_down(e, THREADS / 2, 14, since + (e->at.warp == 0 ? 11 : 7)));
    if (last)
        emit_same(emit_store(e, CIDX, e->at.block, 8))->active = 1u << 31;
    emit_barrier(e, last ? 5 : 7);
    emit_barrier(e, 29);
    if (t < stored)
        emit_store(e, OUT, e->at.thread, 7)->active = program_first_lanes(stored - t);
    return emit_end(e, t < stored ? 1 : 4);
}

static unsigned kernel_of(const void *state, uint32_t launch)
{
    const struct huffman *s = state;
    if (launch < PARTS + s->runs)
        return launch < PARTS ? HISTO : ENCODE;
    return launch + 1 == s->layout.launches ? PACK2 : SCAN + launch - PARTS - (uint32_t)s->runs;
}

/* The histogram's launches take two buffers in turn; all that encode do the same. */
static uint32_t like(const void *state, uint32_t launch)
{
    const struct huffman *s = state;
    return launch < PARTS ? launch % 2 : launch < PARTS + s->runs ? PARTS : launch;
}

/* The first level sums up CIDX into CIDX2 and, where there is a second one, leaves each block's total in SUMS, which
 * that sums up in place. Each thread has two elements, as far apart as there are threads. */
static int prescan(struct emit *e)
{
    const struct huffman *s = e->state;
    unsigned level = kernel_of(s, e->launch), from = level == SCAN ? CIDX : SUMS, to = level == SCAN ? CIDX2 : SUMS;
    uint32_t threads = s->layout.kernel[level].launch.threads;
    int64_t first = 2 * e->at.block * threads + (int64_t)e->at.warp * PROGRAM_LANES, second = first + threads;
    bool total = e->at.warp == 0 && s->sums && level == SCAN;
    emit_load(e, from, first, 21, 5);
    emit_load(e, from, second, 8, 4);
    emit_hoist(e, 0);
    uint32_t since = add_up(e, threads, 18, 11) + 2;
    if (total)
        emit_store(e, SUMS, e->at.block, since + 14)->active = 1;
    since = total ? 6 : since + (e->at.warp == 0 ? 13 : 5);
    emit_barrier(e, add_down(e, threads, 20, since) + 1);
    emit_store(e, to, first, 3);
    emit_store(e, to, second, 3);
    return emit_end(e, 1);
}

static int uniform_add(struct emit *e)
{
    int64_t first = SCANNED * e->at.block + (int64_t)e->at.warp * PROGRAM_LANES;
    if (e->at.warp == 0)
        emit_load(e, SUMS, e->at.block, 9, 1)->active = 1;
    emit_barrier(e, e->at.warp == 0 ? 10 : 13);
    emit_load(e, CIDX2, first, 2, 2);
    emit_store(e, CIDX2, first, 2);
    emit_load(e, CIDX2, first + THREADS, 6, 1);
    emit_store(e, CIDX2, first + THREADS, 1);
    return emit_end(e, 1);
}

/* --- pack2: blocks of 16 threads, each of which packs a block of words --- */

/* Word number i of each thread's block, 1 KiB apart. */
static void load_word(const struct emit *e, int64_t i, unsigned before)
{
    emit_apart(emit_load(e, OUT, THREADS * e->at.thread + i, before, 1), THREADS);
}

/* Where it goes to, wholly or in part. */
static void to_packed(const struct emit *e, int64_t i, unsigned before, unsigned kind)
{
    struct program_access *a = emit_as(emit_load(e, PACKED, i, before, 0), kind);
    uint64_t bits = ((const struct huffman *)e->state)->bits, *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + bits * (e->at.thread + l) / WORD_BITS * 4;
}

static int pack_words(const struct emit *e, const struct program_part *part)
{
    static const uint8_t load[UNROLL] = {3, 7, 5, 5};
    bool alone = part->trips == 1;
    for (uint32_t k = 0; k < part->trips; k++) {
        load_word(e, 1 + part->first + k, alone ? 2 : load[k]);
        to_packed(e, 1 + part->first + k, alone ? 4 : 5, RECORD_WRITE);
    }
    emit_turns(e, part->turns, part->trips);
    return emit_end(e, alone ? 7 : 5);
}

/* The first word; the loop; what is left of the last word. */
static int pack2(struct emit *e)
{
    int64_t bits = ((const struct huffman *)e->state)->bits, words = bits / WORD_BITS;
    struct program_loop loop = {.trips = words - 1, .active = e->active, .unroll = UNROLL};
    struct program_part part;
    if (e->index == 0) {
        emit_load(e, CIDX, e->at.thread, 9, 17);
        emit_load(e, CIDX2, e->at.thread, 2, 1);
        load_word(e, 0, 5);
        emit_hoist(e, 0);
        to_packed(e, 0, 3, RECORD_ATOMIC);
        return emit_end(e, 6 + 6 + 4 + (loop.trips % UNROLL ? 8 : 4));
    }
    if (program_loop_part(&loop, e->index - 1, &part))
        return pack_words(e, &part);
    if (!program_loop_part(&loop, e->index - 2, &part)) /* there is always one */
        return 0;
    if (bits % WORD_BITS == 0) /* every block begins with a word, too: nothing is left */
        return emit_end(e, 8);
    to_packed(e, words, 7, RECORD_ATOMIC);
    load_word(e, words, 9);
    to_packed(e, words, 1, RECORD_ATOMIC);
    to_packed(e, words + 1, 6, RECORD_ATOMIC);
    return emit_end(e, 1);
}

static int huffman_init(struct huffman *s, struct err *err)
{
    uint64_t blocks = s->blocks, words = blocks * THREADS * 4, symbols = THREADS * UINT64_C(4);
    uint32_t sums = (uint32_t)(blocks / SCANNED); /* what the second level sums up */
    if (blocks & (blocks - 1))
        return err_set(err, "rodinia-huffman: blocks=%lld; expected a power of two", (long long)s->blocks);
    s->sums = sums > 1;
    uint32_t threads = s->sums ? THREADS : (uint32_t)blocks / 2, scanned = 2 * threads; /* of the first level */
    LAYOUT_ARRAYS(&s->layout, {"+buffer0|buffer1", words / PARTS}, {"histo", symbols}, {"+sourceData|destData", words},
                  {"destDataPacked", words}, {"+codewords|codewordlens", symbols}, {"cw32|cw32len|cw32idx", words},
                  {"cindex|cindex2", blocks * 4}, {s->sums ? "scanBlockSums" : NULL, sums * UINT64_C(4)});
    /* in the order of the kernels' numbers */
    layout_kernel(&s->layout, histo_kernel, "histo_kernel", 2 * s->sms, THREADS, 10, THREADS * 4);
    layout_straight(&s->layout, vlc_encode, "vlc_encode_kernel_sm64huff", blocks, THREADS, 20, 3 * THREADS * 4 + 16);
    layout_straight(&s->layout, prescan, "prescan", s->sums ? sums : 1, threads, 20, (scanned + scanned / 16) * 4);
    layout_straight(&s->layout, prescan, "prescan", 1, sums / 2, 20, (sums + sums / 16) * 4);
    layout_straight(&s->layout, uniform_add, "uniformAdd", sums, THREADS, 16, 16);
    layout_kernel(&s->layout, pack2, "pack2", blocks / PACK, PACK, 27, 0);
    s->layout.kernel_of = kernel_of;
    s->layout.like = like;
    s->layout.launches = PARTS + (uint32_t)s->runs + (s->sums ? 3 : 1) + 1;
    return 0;
}

RODINIA(huffman, "huffman", "huffman", "Huffman coding: histogram, codes, prefix sum, packing", free);
