/* own_check: whether a policy is what every policy must be: a pure function of what it is told. Asked before a loaded
 * policy is used, with the parameters of the run, over made-up inputs from two seeds:
 *
 * - the same inputs twice give the same answers (no clock, file, global or random source);
 * - so do they while a second run goes on beside the first (nothing is shared between runs);
 * - a hook that must not change the state does not;
 * - what an interface's header demands of each answer holds. Schedulers: skipping cycles changes nothing, so that
 *   advance(), next() and `quiet` are true. Patterns: count() says what expand() makes.
 *
 * A few hundred inputs prove nothing about the others: a policy that passes may still break its promises, one that does
 * not pass has. */
#ifndef MODELS_OWN_OWN_CHECK_H
#define MODELS_OWN_OWN_CHECK_H

#include "models/own/own_load.h"

/* params: a state with the parameters stored. Found well once, the same are not asked again. -1 with *err set, which
 * names the policy and the hook. A head that was not loaded is well. */
int own_check(const struct policy_head *head, const void *params, struct err *err);

/* The same of any policy, kept nowhere. `policy` is the interface's struct; hooks are of schedulers only. */
int own_check_policy(enum own_interface interface, const struct policy_head *policy, const struct dram_hooks *hooks,
                     const void *params, struct err *err);

#endif
