#include "models/placement/placement_policy.h"

const struct placement_policy *const placement_policies[] = {&placement_device, &placement_managed, &placement_pinned,
                                                             &placement_auto, NULL};
