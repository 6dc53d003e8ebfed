/* rodinia-nw: Needleman-Wunsch of Rodinia as it comes: explicit arrays REF, MAT, and the kernels of nw_tiles.h.
 *
 * n x n pairs of letters, n a multiple of 16: T = n / 16 tiles across, 2 T - 1 launches. REF, then MAT from
 * 0xC0000000 on, each on 256 B; the CPU has written both.
 * Worked example: n = 32: T = 2, C = 33; launches of 1, 2 and 1 tiles.
 * Source: Rodinia 3.1, cuda/nw/needle.cu runTest; n = 2048: the arguments of the F3FS artifact (2048 10).
 * Differs: as nw_tiles.h says. */
#include <stdlib.h>

#include "trace/workloads/rodinia/nw_tiles.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

struct rodinia_nw_params {
    int64_t n, order, compute_ns;
};

static const struct param rodinia_nw_params[] = {
    PARAM_INT_ROW(rodinia_nw_params, n, "", NW_TILE, 1 << 18, 2048, "letters of each sequence, a multiple of 16"),
    RODINIA_ORDER_ROW(rodinia_nw_params),
    PARAM_NS_AUTO_ROW(rodinia_nw_params, compute_ns, 0, 1e9, "time of a tile whose data is all at hand"),
    {0}};

static void *rodinia_nw_open(const void *params, struct err *err)
{
    const struct rodinia_nw_params *p = params;
    if (p->n % NW_TILE) {
        (void)err_set(err, "n is %lld; expected a multiple of %d", (long long)p->n, NW_TILE);
        return NULL;
    }
    struct nw_tiles *w = rodinia_new(sizeof *w, p->order, p->compute_ns, err);
    if (w)
        nw_tiles_init(w, (uint32_t)(p->n / NW_TILE), 1);
    return w;
}

const struct workload_type workload_rodinia_nw = {
    .name = "rodinia-nw",
    .summary = "Needleman-Wunsch alignment, as Rodinia and the F3FS artifact run it",
    .source = "Rodinia 3.1 cuda/nw",
    WORKLOAD_WITH_KEYS(rodinia_nw),
    .close = free,
    .program = plan_program,
};
