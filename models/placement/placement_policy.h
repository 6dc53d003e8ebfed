/* placement_policy: which memory a task gets, given what each would cost. */
#pragma once

#include "models/base/policy.h"
#include "models/placement/overhead.h"

struct placement_policy {
    struct policy_head head;
    /* Returns the placement of one task by itself. Pure. */
    enum placement (*choose)(const void *state, const struct placement_overheads *overheads);
    /* Guideline 2 may change a choice for the sake of the set (only where tasks run side by side). */
    bool guideline_2;
    /* A task whose source says where its data was keeps that; `choose` decides the others. */
    bool follows_source;
    /* Needs the L2 figures of a task: it costs what cache hits turn into. */
    bool needs_l2;
};

/* Their heads (models/policies.h); ends with NULL. */
extern const struct policy_head *const placement_policies[];
