/* rodinia_huffman_sums: the kernels of rodinia-huffman that sum up by a tree in shared memory, and the one that adds
 * sums of blocks to what they belong to. */
#include "trace/workloads/rodinia/rodinia_huffman.h"

/* The two passes of a tree over shared memory, barriers and nothing else: `work` of a warp in a step in which it has a
 * thread below d. *before: instructions since the last access. */
static void add_up(struct program_body *body, uint32_t warp, uint32_t d, uint32_t work, uint32_t *before)
{
    for (; d; d /= 2) {
        add_barrier(body, *before);
        *before = 6 + (warp * PROGRAM_LANES < d ? work : 0);
    }
}

static void add_down(struct program_body *body, uint32_t warp, uint32_t last, uint32_t work, uint32_t *before)
{
    for (uint32_t d = 1; d <= last; d *= 2) {
        add_barrier(body, *before + 1);
        *before = 5 + (warp * PROGRAM_LANES < d ? work : 0);
    }
}

int huffman_encode(const struct huffman *s, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    uint64_t t = at->warp * PROGRAM_LANES, stored = s->bits / WORD_BITS + 1;
    uint32_t all = 0xffffffff, since = 7, before = 7;
    if (index > 0)
        return 0;
    (void)add(s, body, CODE, t, all, 7, 4);
    (void)add(s, body, LEN, t, all, 6, 1);
    (void)add(s, body, DATA, at->thread, all, 5, 2);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    add_barrier(body, 0);
    add_barrier(body, 30);
    add_up(body, at->warp, BLOCK / 2, 12, &since);
    since += at->warp == 0 ? 11 : 7;
    add_down(body, at->warp, BLOCK / 2, 14, &since);
    add_barrier(body, since);
    if (t + PROGRAM_LANES == BLOCK) {
        add_store(s, body, CIDX, at->block, 1u << 31, 8)->lane_stride = 0;
        before = 5;
    }
    add_barrier(body, before);
    add_barrier(body, 29);
    if (t < stored)
        (void)add_store(s, body, OUT, at->thread, program_first_lanes(stored - t), 7);
    body->after = t < stored ? 1 : 4;
    return 1;
}

/* Each thread has two elements, as far apart as there are threads; sums: where thread 0 leaves the total, or none. */
int huffman_scan(const struct huffman *s, const struct program_launch *shape, const struct program_warp *at,
                 enum kernel kernel, uint32_t index, struct program_body *body)
{
    unsigned from = kernel == SCAN ? CIDX : SUMS, to = kernel == SCAN ? CIDX2 : SUMS;
    uint64_t first = 2 * at->block * shape->threads + at->warp * PROGRAM_LANES, second = first + shape->threads;
    uint32_t active = program_first_lanes(at->lanes), since = 11;
    bool total = at->warp == 0 && kernel == SCAN && s->sums;
    if (index > 0)
        return 0;
    (void)add(s, body, from, first, active, 21, 5);
    (void)add(s, body, from, second, active, 8, 4);
    rodinia_order(body, 0, (enum rodinia_order)s->p.order);
    add_up(body, at->warp, shape->threads, 18, &since);
    since += 2;
    if (total)
        (void)add_store(s, body, SUMS, at->block, 1, since + 14);
    since = total ? 6 : since + (at->warp == 0 ? 13 : 5);
    add_down(body, at->warp, shape->threads, 20, &since);
    add_barrier(body, since + 1);
    (void)add_store(s, body, to, first, active, 3);
    (void)add_store(s, body, to, second, active, 3);
    body->after = 1;
    return 1;
}

int huffman_add(const struct huffman *s, const struct program_warp *at, uint32_t index, struct program_body *body)
{
    uint64_t first = SCANNED * at->block + at->warp * PROGRAM_LANES;
    uint32_t all = 0xffffffff;
    if (index > 0)
        return 0;
    if (at->warp == 0)
        (void)add(s, body, SUMS, at->block, 1, 9, 1);
    add_barrier(body, at->warp == 0 ? 10 : 13);
    (void)add(s, body, CIDX2, first, all, 2, 2);
    (void)add_store(s, body, CIDX2, first, all, 2);
    (void)add(s, body, CIDX2, first + BLOCK, all, 6, 1);
    (void)add_store(s, body, CIDX2, first + BLOCK, all, 1);
    body->after = 1;
    return 1;
}
