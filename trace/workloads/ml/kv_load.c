/* kv-load: blocks of a key-value cache in host memory, copied to the GPU as a server of language models does when a
 * prompt's beginning has been seen before.
 *
 *     for each layer: for (i = thread; i < blocks x block / 16; i += threads in all) out[i] = pool[block_of[i]][..]
 *
 * The pool has a region for each layer, of `pool` blocks; a launch loads the same blocks of one layer, 16 bytes a
 * lane. block_bytes is what lies together: of one layer, its keys or its values or both.
 * Worked example, blocks=2, pool=8, layers=2: blocks 5 and 1 are places 5 and 1 of the pool in the first launch, 13 and
 * 9 in the second.
 * Source: the loop above (the kernel is gather's). Differs: instructions are counted as gather's. */
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"
#include "trace/workloads/ml/gather.h"

enum { SCATTERED, IN_ORDER };

struct kv_load {
    int64_t blocks, block_bytes, layers, pool, order, reuse, seed;
};

static const struct param kv_load_keys[] = {
    PARAM_INT_ROW(kv_load, blocks, "", 1, 1 << 28, 1024, "that are loaded, of each layer"),
    PARAM_BYTES_ROW(kv_load, block_bytes, GATHER_VECTOR, 1 << 24, 16384, "of a block in a layer, a multiple of 16"),
    PARAM_INT_ROW(kv_load, layers, "", 1, 1 << 16, 1, "a launch each"),
    PARAM_INT_ROW(kv_load, pool, "", 0, 1 << 30, 0, "blocks that host memory holds of a layer; 0: four times as many"),
    PARAM_CHOICE_ROW(kv_load, order, "scattered|in-order", SCATTERED, "where they lie in the pool"),
    PARAM_CHOICE_ROW(kv_load, reuse, SCAN_REUSE_NAMES, 0, "which sectors are not requested again"),
    PARAM_INT_ROW(kv_load, seed, "", 0, 0x1p53, 1, "of where they lie"),
    {0}};

/* Blocks of the pool in the order in which they are loaded; freed with free(). */
static uint32_t *places(const struct kv_load *k, struct err *err)
{
    uint32_t *of = mem_zalloc((size_t)k->pool, sizeof *of, err);
    for (int64_t i = 0; of && i < k->pool; i++)
        of[i] = (uint32_t)i;
    if (of && k->order == SCATTERED)
        random_shuffle(of, (uint64_t)k->pool, (uint64_t)k->seed);
    return of;
}

static void *kv_load_open(const void *keys, struct err *err)
{
    struct kv_load k = *(const struct kv_load *)keys;
    k.pool = k.pool ? k.pool : 4 * k.blocks;
    const size_t n = (size_t)k.blocks, layers = (size_t)k.layers;
    struct gather_given given = {.n = n * layers,
                                 .batches = layers,
                                 .table_rows = (uint64_t)k.pool * layers,
                                 .row_bytes = k.block_bytes,
                                 .element = GATHER_VECTOR,
                                 .reuse = k.reuse};
    if (k.pool < k.blocks) {
        (void)err_set(err, "pool is %lld; expected at least %lld, the blocks loaded from it", (long long)k.pool,
                      (long long)k.blocks);
        return NULL;
    }
    uint32_t *of = places(&k, err);
    given.rows = of ? mem_zalloc(given.n, sizeof *given.rows, err) : NULL;
    for (size_t i = 0; given.rows && i < given.n; i++)
        given.rows[i] = i / n * (uint64_t)k.pool + of[i % n];
    free(of);
    return given.rows ? gather_new(&given, err) : NULL;
}

WORKLOAD_TYPE(workload_kv_load, kv_load, "kv-load", "blocks of a key-value cache in host memory loaded by a kernel",
              "paged key-value caches", kv_load_keys, kv_load_open, gather_close, GATHER_VIEWS);
