#include "trace/workloads/rodinia/rodinia_huffman.h"

enum { UNROLL = 4 };

/* Word number i of each thread's block, 1 KiB apart. */
static void load_word(const struct emit *e, int64_t i, unsigned before)
{
    emit_apart(emit_load(e, HUFFMAN_OUT, HUFFMAN_THREADS * (int64_t)e->at.thread + i, before, 1), HUFFMAN_THREADS);
}

/* Where it goes to, wholly or in part. */
static void to_packed(const struct emit *e, int64_t i, unsigned before, unsigned kind)
{
    uint64_t bits = (uint64_t)((const struct rodinia_huffman *)e->state)->p.bits;
    struct program_access *a = emit_as(emit_load(e, HUFFMAN_PACKED, i, before, 0), kind);
    uint64_t *lane = program_scatter(e->body, a);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = a->addr + bits * (e->at.thread + l) / HUFFMAN_WORD_BITS * 4;
}

static int pack_words(const struct emit *e, const struct program_part *part)
{
    static const uint8_t load[UNROLL] = {3, 7, 5, 5};
    bool alone = part->trips == 1;
    for (uint32_t k = 0; k < part->trips; k++) {
        load_word(e, 1 + (int64_t)part->first + k, alone ? 2 : load[k]);
        to_packed(e, 1 + (int64_t)part->first + k, alone ? 4 : 5, RECORD_WRITE);
    }
    emit_turns(e, part->turns, part->trips);
    return emit_end(e, alone ? 7 : 5);
}

/* The first word; the loop; what is left of the last word. */
int huffman_pack2(struct emit *e)
{
    const struct rodinia_huffman *s = e->state;
    int64_t words = s->p.bits / HUFFMAN_WORD_BITS, t = (int64_t)e->at.thread;
    struct program_loop loop = {.trips = (uint64_t)words - 1, .active = e->active, .unroll = UNROLL};
    struct program_part part;
    if (e->index == 0) {
        emit_load(e, HUFFMAN_CIDX, t, 9, 17);
        emit_load(e, HUFFMAN_CIDX2, t, 2, 1);
        load_word(e, 0, 5);
        emit_hoist(e, 0);
        to_packed(e, 0, 3, RECORD_ATOMIC);
        return emit_end(e, 6 + 6 + 4 + (loop.trips % UNROLL ? 8 : 4));
    }
    if (program_loop_part(&loop, e->index - 1, &part))
        return pack_words(e, &part);
    if (!program_loop_part(&loop, e->index - 2, &part)) /* there is always one */
        return 0;
    if (s->p.bits % HUFFMAN_WORD_BITS == 0) /* every block begins with a word, too: nothing is left */
        return emit_end(e, 8);
    to_packed(e, words, 7, RECORD_ATOMIC);
    load_word(e, words, 9);
    to_packed(e, words, 1, RECORD_ATOMIC);
    to_packed(e, words + 1, 6, RECORD_ATOMIC);
    return emit_end(e, 1);
}
