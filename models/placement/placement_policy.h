/* placement_policy: which memory a task gets, given what each would cost. */
#ifndef MODELS_PLACEMENT_PLACEMENT_POLICY_H
#define MODELS_PLACEMENT_PLACEMENT_POLICY_H

#include "models/base/policy.h"
#include "models/placement/overhead.h"

struct placement_policy {
    struct policy_head head;
    /* The placement of one task by itself. Pure. */
    enum placement (*choose)(const void *state, const struct placement_overheads *overheads);
    /* Whether guideline 2 may take a choice back for the sake of the set (only where tasks run side by side). */
    bool yields;
};

extern const struct placement_policy placement_device, placement_managed, placement_pinned, placement_auto;

extern const struct placement_policy *const placement_policies[]; /* ends with NULL */

#endif
