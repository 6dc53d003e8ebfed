/* policy_list: "fcfs,f3fs:mem_cap=256,pim_cap=128,fixed:granularity=64KiB" into policies with their parameters.
 *
 * Items are separated by commas; an item with '=' and no ':' before it is a parameter of the policy before it. */
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

/* Whether two policies are the same with the same parameters. */
bool replay_policy_same(const struct replay_policy *a, const struct replay_policy *b);

#endif
