#include "trace/workloads/rodinia/rodinia_huffman.h"

void huffman_add_up(const struct emit *e, uint32_t d, uint32_t work, uint32_t *before)
{
    for (; d; d /= 2) {
        emit_barrier(e, *before);
        *before = 6 + (e->at.warp * PROGRAM_LANES < d ? work : 0);
    }
}

void huffman_add_down(const struct emit *e, uint32_t last, uint32_t work, uint32_t *before)
{
    for (uint32_t d = 1; d <= last; d *= 2) {
        emit_barrier(e, *before + 1);
        *before = 5 + (e->at.warp * PROGRAM_LANES < d ? work : 0);
    }
}

/* Each thread has two elements, as far apart as there are threads; sums: where thread 0 leaves the total, or none. */
static int scan(const struct emit *e, unsigned from, unsigned to, bool sums)
{
    const struct rodinia_huffman *s = e->state;
    uint32_t threads = s->plan.kernel[from == HUFFMAN_CIDX ? HUFFMAN_SCAN : HUFFMAN_SCAN_SUMS].launch.threads,
             since = 11;
    int64_t first = 2 * (int64_t)e->at.block * threads + e->at.warp * PROGRAM_LANES, second = first + threads;
    bool total = e->at.warp == 0 && sums;
    emit_load(e, from, first, 21, 5);
    emit_load(e, from, second, 8, 4);
    emit_hoist(e, 0);
    huffman_add_up(e, threads, 18, &since);
    since += 2;
    if (total)
        emit_store(e, HUFFMAN_SUMS, (int64_t)e->at.block, since + 14)->active = 1;
    since = total ? 6 : since + (e->at.warp == 0 ? 13 : 5);
    huffman_add_down(e, threads, 20, &since);
    emit_barrier(e, since + 1);
    emit_store(e, to, first, 3);
    emit_store(e, to, second, 3);
    return emit_end(e, 1);
}

int huffman_prescan(struct emit *e)
{
    return scan(e, HUFFMAN_CIDX, HUFFMAN_CIDX2, ((const struct rodinia_huffman *)e->state)->sums);
}

int huffman_prescan_sums(struct emit *e)
{
    return scan(e, HUFFMAN_SUMS, HUFFMAN_SUMS, false);
}

int huffman_uniform_add(struct emit *e)
{
    int64_t block = (int64_t)e->at.block, first = HUFFMAN_SCANNED * block + e->at.warp * PROGRAM_LANES;
    if (e->at.warp == 0)
        emit_load(e, HUFFMAN_SUMS, block, 9, 1)->active = 1;
    emit_barrier(e, e->at.warp == 0 ? 10 : 13);
    emit_load(e, HUFFMAN_CIDX2, first, 2, 2);
    emit_store(e, HUFFMAN_CIDX2, first, 2);
    emit_load(e, HUFFMAN_CIDX2, first + HUFFMAN_THREADS, 6, 1);
    emit_store(e, HUFFMAN_CIDX2, first + HUFFMAN_THREADS, 1);
    return emit_end(e, 1);
}
