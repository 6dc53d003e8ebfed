#include "trace/workloads/rodinia/order.h"

void rodinia_order(struct program_body *body, uint32_t first, enum rodinia_order order)
{
    uint32_t behind = 0; /* instructions from access i to the last one */
    if (order == ORDER_PTX)
        return;
    for (uint32_t i = body->count; i-- > first; behind += body->access[i].before + 1u) {
        struct program_access *a = &body->access[i];
        uint32_t use = behind + 1;
        if (program_loads(a) && (a->use && a->use < use))
            a->use = (uint16_t)(use < UINT16_MAX ? use : UINT16_MAX);
    }
}
