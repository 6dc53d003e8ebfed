#include "replay/placement/schedule_bound.h"

#include <math.h>

enum { GRID = 64 };

/* The least part of one task where `share` of the bound is without device kernels, the rest without mapping. */
static double least(const struct schedule_task forms[PLACEMENTS], double share)
{
    double best = INFINITY;
    for (int p = 0; p < PLACEMENTS; p++) {
        const struct schedule_task *t = &forms[p];
        double hidden = p == PLACEMENT_DEVICE    ? share * t->exec_ms
                        : p == PLACEMENT_MANAGED ? (1 - share) * t->idle_ms
                                                 : 0;
        if (t->kernels > 0)
            best = fmin(best, schedule_alone_ms(t) - hidden);
    }
    return best;
}

double schedule_bound_ms(const struct schedule_task *forms, size_t count)
{
    double bound = 0;
    for (int step = 0; step <= GRID; step++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += least(&forms[PLACEMENTS * i], (double)step / GRID);
        bound = fmax(bound, sum);
    }
    return bound;
}
