/* nw: Needleman-Wunsch of Rodinia in managed memory: the kernels of nw_tiles.h over arrays of any size.
 *
 * T is the largest with 8 C^2 <= bytes, C = 16 T + 1; MAT comes first, then REF, each on a boundary of its own. Loads
 * are hoisted unless order=ptx.
 * Worked example: bytes=8712 is 8 x 33^2: T = 2, launches of 1, 2 and 1 tiles.
 * Source: Rodinia 3.1, cuda/nw (see nw_tiles.h).
 * Differs: managed memory instead of explicit copies. */
#include <math.h>
#include <stdlib.h>

#include "trace/workloads/rodinia/nw_tiles.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum order { HOISTED, PTX };

struct nw_params {
    int64_t bytes, order, compute_ns;
};

static const struct param nw_params[] = {
    PARAM_BYTES_ROW(nw_params, bytes, 8 * (NW_TILE + 1) * (NW_TILE + 1), 0x1p38, 0x1p33, "both arrays together"),
    PARAM_CHOICE_ROW(nw_params, order, "hoisted|ptx", HOISTED, "loads first, or each used before the next"),
    PARAM_NS_AUTO_ROW(nw_params, compute_ns, 0, 1e9, "time of a tile whose data is all at hand"),
    {0}};

static void *nw_open(const void *params, struct err *err)
{
    const struct nw_params *p = params;
    uint64_t side = (uint64_t)sqrt((double)p->bytes / 8);
    struct nw_tiles *w = plan_new(sizeof *w, p->compute_ns, err);
    if (!w)
        return NULL;
    w->plan.order = p->order == PTX ? ORDER_PTX : ORDER_HOISTED;
    nw_tiles_init(w, (uint32_t)((side - 1) / NW_TILE), 0);
    return w;
}

const struct workload_type workload_nw = {
    .name = "nw",
    .summary = "Needleman-Wunsch alignment, tiles along anti-diagonals",
    .source = "Rodinia 3.1 cuda/nw",
    WORKLOAD_WITH_KEYS(nw),
    .close = free,
    .program = plan_program,
};
