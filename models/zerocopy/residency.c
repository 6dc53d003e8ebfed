#include "models/zerocopy/residency.h"

#include <assert.h>

void residency_init(struct residency *residency, const uint32_t *rank, uint64_t rows, double local_pct,
                    double shared_pct, uint64_t gpus, enum residency_layout layout)
{
    assert(local_pct >= 0 && shared_pct >= 0 && local_pct + shared_pct <= 100 && gpus > 0);
    *residency = (struct residency){.rank = rank,
                                    .rows = rows,
                                    .local = (uint64_t)((double)rows * local_pct / 100),
                                    .shared = (uint64_t)((double)rows * shared_pct / 100),
                                    .gpus = gpus,
                                    .layout = layout};
}
