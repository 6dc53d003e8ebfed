/* rodinia-kmeans: n points of `features` floats: turned round once, then the nearest of `clusters` centres of each,
 * `iterations` times.
 *
 * Both inner loops are unrolled by four; the centres are in constant memory, which is no memory traffic. Blocks are the
 * next square of what n needs: 44 x 44 for 1930. Texture fetches are read-only loads.
 * Worked example, n = 500, features = 34: 4 blocks, of which 2 have points; a warp's load of IN covers 32 lines, 136 B
 * apart, its store to FEAT 128 B side by side, from a multiple of 16 B on.
 * Defaults: kdd_cup; how many launches move fewer than a thousandth of the points is not known, so the six that the
 * program makes at most.
 * Source: Rodinia 3.1, cuda/kmeans/kmeans_cuda.cu, kmeans_cuda_kernel.cu.
 * Differs: textures have no cache of their own. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 256, UNROLL = 4, REGISTERS = 30, CONSTANTS = 32 * 34, IN = 0, FEAT = 1, MEM = 2 };

struct kmeans {
    struct layout layout;
    int64_t n, features, clusters, iterations;
};

static const struct param kmeans_keys[] = {
    PARAM_INT_ROW(kmeans, n, "points", 1, INT32_MAX, 494020, "n x features below 2^31"),
    PARAM_INT_ROW(kmeans, features, "", 1, CONSTANTS, 34, "floats of a point"),
    PARAM_INT_ROW(kmeans, clusters, "", 1, CONSTANTS, 5, "centres; clusters x features at most 1088"),
    PARAM_INT_ROW(kmeans, iterations, "", 1, 1 << 20, 6, "launches of kmeansPoint"),
    RODINIA_KEYS("time of a turn of a warp whose data is all at hand")};

/* Transposes the features: row-major in, column-major out. */
static int invert_mapping(struct emit *e)
{
    static const uint16_t use[UNROLL] = {1, 2, 2, 3};
    const struct kmeans *s = e->state;
    int64_t n = s->n, g = e->at.thread;
    struct program_loop loop = {.trips = s->features, .active = e->active, .unroll = UNROLL};
    struct program_part part;
    if (e->index == 0)
        return emit_end(e, 15 + (loop.trips >= UNROLL ? 8 : 0) + 2 + (loop.trips % UNROLL ? 7 : 0) + 1);
    if (!program_loop_part(&loop, e->index - 1, &part))
        return 0;
    for (uint32_t k = 0; k < part.trips; k++) {
        int64_t i = part.first + k;
        struct program_access *in = emit_load(e, IN, s->features * g + i, k == 0 && part.trips == UNROLL, use[k]);
        emit_apart(in, s->features)->turn_stride = INT64_C(4) * part.trips;
        emit_store(e, FEAT, n * i + g, use[k] - 1u)->turn_stride = 4 * n * part.trips;
    }
    e->body->turns = part.turns;
    return emit_end(e, 5);
}

/* Trips that are left over: branches between them. */
static int add_rest(const struct emit *e, int64_t n, int64_t features)
{
    static const uint16_t before[] = {6, 11, 7}, use[] = {5, 2, 2}, after[] = {2, 7, 4, 3};
    int64_t rest = features % UNROLL;
    for (int64_t k = 0; k < rest; k++)
        emit_load(e, FEAT, n * (features - rest + k) + (int64_t)e->at.thread, before[k], use[k]);
    return emit_end(e, 19u + after[rest]); /* to the next centre */
}

/* For each centre a body of the features by fours, and one of the rest; then the nearest is stored. */
static int kmeans_point(struct emit *e)
{
    const struct kmeans *s = e->state;
    int64_t n = s->n, g = e->at.thread;
    uint64_t turns = s->features / UNROLL, each = turns ? 2 : 1, parts = each * s->clusters;
    if (e->index > parts + 1)
        return 0;
    if (e->index == 0)
        return emit_end(e, 36);
    if (e->index > parts) {
        emit_store(e, MEM, g, 3);
        return emit_end(e, 1);
    }
    if (e->index % each == 0)
        return add_rest(e, n, s->features);
    for (int64_t j = 0; j < UNROLL; j++)
        emit_load(e, FEAT, n * j + g, j ? 4 : 2, 2);
    emit_hoist(e, 0);
    emit_turns(e, turns, n * UNROLL);
    return emit_end(e, 9);
}

static int kmeans_init(struct kmeans *s, struct err *err)
{
    uint64_t bytes = s->n * s->features * 4, side = 1;
    if (s->n * s->features > INT32_MAX)
        return err_set(err, "rodinia-kmeans: %lld x %lld floats; the kernel counts them in an int", (long long)s->n,
                       (long long)s->features);
    if (s->clusters * s->features > CONSTANTS)
        return err_set(err, "rodinia-kmeans: %lld centres of %lld floats; constant memory holds %d floats",
                       (long long)s->clusters, (long long)s->features, CONSTANTS);
    while (side * side < layout_blocks(s->n, THREADS))
        side++;
    LAYOUT_ARRAYS(&s->layout, {"+feature_flipped", bytes}, {"feature", bytes}, {"+membership", s->n * 4});
    layout_kernel(&s->layout, invert_mapping, "invert_mapping", side * side, THREADS, REGISTERS, 0);
    layout_guard(&s->layout, s->n, 11);
    layout_kernel(&s->layout, kmeans_point, "kmeansPoint", side * side, THREADS, REGISTERS, 0);
    layout_guard(&s->layout, s->n, 12);
    s->layout.once_before = 1;
    s->layout.alike = true;
    s->layout.launches = 1 + (uint32_t)s->iterations;
    return 0;
}

RODINIA(kmeans, "kmeans", "kmeans", "k-means: points turned round, then the nearest centre of each", free);
