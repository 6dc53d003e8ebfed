/* run_label: what the policy of a run from results is called: as policy_label() (models/base/policy.h) calls it in a
 * replay. */
#ifndef REPLAY_RESULTS_RUN_LABEL_H
#define REPLAY_RESULTS_RUN_LABEL_H

#include "replay/results/runs.h"

/* "fixed:granularity=2MiB", without the parameter `apart` (NULL: with all); freed by the caller. Of a policy or a
 * parameter that this program does not have it cannot know the default: such parameters stand where they are members of
 * `differing` (NULL: none are). NULL: no memory. */
char *run_label(const struct run *run, const char *apart, const json_t *differing);

#endif
