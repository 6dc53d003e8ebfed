/* policy: the head that every policy has. The command line, sweeps, reports, results and docs read only this.
 *
 * A policy is a decision that can be swapped. Each engine has its own interface, whose struct begins with this head.
 * Policies are deterministic: no clock, no file, no globals; random choice only from a seed that is a parameter.
 *
 * Properties, here or on the interface, tell engines and reports what they need. Nothing outside a policy's file asks
 * for its name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"

struct param; /* trace/base/param.h */

/* Whose struct begins with a head, of those that a file may bring (models/plugin/plugin.h). */
enum policy_interface {
    POLICY_ANY,              /* of a file: whatever it is; of an engine: it takes none */
    POLICY_UVM_PREFETCH,     /* struct uvm_policy */
    POLICY_UVM_EVICT,        /* struct uvm_evict_policy */
    POLICY_DRAM_SCHEDULER,   /* struct dram_policy */
    POLICY_ZEROCOPY_PATTERN, /* struct zerocopy_pattern */
    POLICY_PLACEMENT,        /* struct placement_policy */
    POLICY_INTERFACES
};

struct policy_head {
    const char *name;           /* "tree" is models/uvm/prefetch/tree.c; also the key in results */
    const char *summary;        /* one line for `offchip list policies` */
    const char *source;         /* paper + section or equation, or driver version + file + function */
    const struct param *params; /* ends with a zeroed row; NULL: none */
    size_t state_size;          /* bytes; zeroed, then the params stored at their offsets, before the first call */
    const char *label_param;    /* the parameter that its label always names; NULL: none */
    bool fixed; /* nothing that happens changes its decision: `report` names the best such in hindsight "best fixed" */
    const char *measured; /* as its engine's; NULL: that */
    bool baseline;        /* another mechanism for the same work: stands in the engine's list, but is no struct of its
                             interface */
};

/* The one called `name` in a list that ends with NULL, or NULL. */
const struct policy_head *policy_find(const struct policy_head *const *list, const char *name);

/* A policy with its parameters; of two axes both halves. */
struct policy_choice {
    const struct policy_head *heads[2]; /* [1]: of the second axis; NULL: none was named */
    const void *params[2];              /* heads[i]->state_size bytes, params stored */
    const char *second_key;             /* "evict": before the names of the second half's, "evict.seed" */
};

/* Write the policy's label: its name, the parameters that differ from their defaults, and the one that is always named,
 * as in "fixed:granularity=2MiB+random:seed=2". `without`: a parameter to leave out; NULL: none. Returns buf. */
const char *policy_label(const struct policy_choice *choice, const char *without, char *buf, size_t size);

/* Heads and second_key of a policy by its engine and its name in results, "tree+random"; false: this program has none
 * such. (In replay/run/engine.c, which knows the engines.) */
bool policy_known(const char *engine, const char *name, struct policy_choice *choice);
