/* policy_list: "fcfs,f3fs:mem_cap=256,pim_cap=128,fixed:granularity=64KiB" into policies with their parameters.
 *
 * Items are separated by commas, but for those inside [], which belong to a value; an item with '=' and no ':' before
 * it is a parameter of the policy before it. Policies of two axes are joined: "tree:threshold=40+random:seed=2"; a '+'
 * followed by the name of a policy of the second axis splits an item first, and later parameters belong to the half
 * written last, but for those that name it, "evict.seed=2". Either half may be a file, "./mine.so:pages=16", which is
 * loaded (models/plugin/plugin_load.h). */
#ifndef REPLAY_RUN_POLICY_LIST_H
#define REPLAY_RUN_POLICY_LIST_H

#include "replay/run/engine.h"

struct policy_list {
    struct replay_policy *policies;
    size_t count, cap;
    char **texts; /* what text parameters point at */
    size_t text_count, text_cap;
};

/* Append the policies of `text` for `engine`. On failure *err names the item and what was expected. */
int policy_list_add(struct policy_list *list, const struct engine *engine, const char *text, struct err *err);
void policy_list_release(struct policy_list *list);

/* Store a parameter of a policy: of its first half, or by "evict.seed" of its second. */
int replay_policy_set(const struct replay_policy *policy, const char *key, const char *value, struct err *err);

/* Release what a policy holds. */
void replay_policy_release(struct replay_policy *policy);

/* Whether two policies are the same with the same parameters. */
bool replay_policy_same(const struct replay_policy *a, const struct replay_policy *b);

#endif
