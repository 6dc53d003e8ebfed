/* rodinia-nn: the distance of n places to one point.
 *
 * A place is two floats, so both loads of a warp cover the same 256 bytes. n = 10,000,390: the paper's table prints
 * 100000390, but the input files are named cane9766k_10_*.db, and 9766 x 1024 is 10,000,384.
 * Worked example, n = 40: warp 0 loads bytes 0 to 251 and 4 to 255 and stores 128 bytes; lanes 0 to 7 of warp 1 do the
 * rest; warps 2 to 7 only find that they have nothing to do.
 * Source: Rodinia 3.1, cuda/nn/nn_cuda.cu (euclid).
 * Differs: nothing known. */
#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 256, GUARD = 9, LOCATIONS = 0, DISTANCES = 1 };

struct nn {
    struct layout layout;
    int64_t n;
};

static const struct param nn_keys[] = {PARAM_INT_ROW(nn, n, "places", 1, INT32_MAX, 10000390, "each of two floats"),
                                       RODINIA_KEYS("time of a warp whose data is all at hand")};

static int euclid(struct emit *e)
{
    emit_apart(emit_load(e, LOCATIONS, 2 * e->at.thread, GUARD + 6, 1), 2);
    emit_apart(emit_load(e, LOCATIONS, 2 * e->at.thread + 1, 1, 1), 2);
    emit_hoist(e, 0);
    emit_store(e, DISTANCES, e->at.thread, 4); /* a root among the four instructions */
    return emit_end(e, 1);
}

static int nn_init(struct nn *s, struct err *err)
{
    (void)err;
    LAYOUT_ARRAYS(&s->layout, {"+locations", s->n * 8}, {"distances", s->n * 4});
    layout_straight(&s->layout, euclid, "euclid", layout_blocks(s->n, THREADS), THREADS, 12, 0);
    layout_guard(&s->layout, s->n, GUARD + 1);
    return 0;
}

RODINIA(nn, "nn", "nn", "distance of each of n places to a point, one kernel", free);
