/* rodinia: what the programs of Rodinia share: where their explicit arrays lie, and the key `order`. */
#ifndef TRACE_WORKLOADS_RODINIA_RODINIA_H
#define TRACE_WORKLOADS_RODINIA_RODINIA_H

#include "trace/base/param.h"
#include "trace/program/plan.h"

enum { RODINIA_BASE = 0xC0000000u, RODINIA_ALIGN = 256 }; /* the first array; boundaries of all */

#define RODINIA_ORDER_ROW(S)                                                                                           \
    PARAM_CHOICE_ROW(S, order, "ptx|hoisted", ORDER_PTX, "each value used as in PTX, or independent loads first")

/* As plan_new(), with explicit arrays; order: enum emit_order. */
static inline void *rodinia_new(size_t bytes, int64_t order, int64_t compute_ns, struct err *err)
{
    struct plan *plan = plan_new(bytes, compute_ns, err);
    if (!plan)
        return NULL;
    plan->base = RODINIA_BASE;
    plan->align = RODINIA_ALIGN;
    plan->order = (enum emit_order)order;
    return plan;
}

#endif
