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
    /* A task whose source said where it was gets that; `choose` is asked of the others. */
    bool follows_source;
    /* It cannot be judged for a task without L2 figures: what it costs is what the cache's hits become. */
    bool needs_l2;
};

/* Their heads (models/policies.h); ends with NULL. */
extern const struct policy_head *const placement_policies[];

#endif
