/* uvm_agree: two prefetchers in one run, as one policy, for as long as they decide alike.
 *
 * The first one decides; the second is asked and told the same. A run of which every plan() was the same page for page
 * is the run that the second one would have had, to the last metric (but for the granularity): nothing else of a
 * prefetcher reaches the engine. From the first difference on the second is asked no more.
 * Example: adaptive starts at 2 MiB and stays there while memory is abundant: then its run is that of fixed 2 MiB.
 * Its state is a struct uvm_agree, which is filled in as parameters are. It is in no list of policies. */
#ifndef MODELS_UVM_UVM_AGREE_H
#define MODELS_UVM_UVM_AGREE_H

#include "models/uvm/uvm_policy.h"

struct uvm_agree {
    const struct uvm_policy *policy[2]; /* without ahead() */
    const void *params[2];              /* head.state_size bytes with the parameters stored; NULL: the defaults */
    bool *apart;                        /* set once they differ */
    void *state[2];                     /* the policy's own; NULL at first */
};

extern const struct uvm_policy uvm_agree;

#endif
