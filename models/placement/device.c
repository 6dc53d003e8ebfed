/* device: Every task keeps what cudaMalloc gives it: buffers are copied there and back.
 *
 * Source: Bateni et al. 2020, section II-B. Differs: nothing known. */
#include "models/placement/placement_policy.h"

static enum placement choose(const void *state, const struct placement_overheads *overheads)
{
    (void)state;
    (void)overheads;
    return PLACEMENT_DEVICE;
}

const struct placement_policy placement_device = {
    .head = {.name = "device",
             .summary = "every task in device memory: explicit copies, two buffers",
             .source = "Bateni et al. 2020, section II-B"},
    .choose = choose};
