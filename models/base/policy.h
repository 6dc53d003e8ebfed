/* policy: what every policy says of itself. The command line, sweeps, reports, results and docs read only this.
 *
 * A policy is a decision that can be swapped; each engine has an interface of its own, whose struct begins with this
 * head. Policies are deterministic: no clock, no file, no globals; random choice only from a seed that is a param. */
#ifndef MODELS_BASE_POLICY_H
#define MODELS_BASE_POLICY_H

#include "trace/base/param.h"

struct policy_head {
    const char *name;           /* "tree" is models/uvm/prefetch/tree.c; also the key in results */
    const char *summary;        /* one line for `offchip list policies` */
    const char *source;         /* paper + section or equation, or driver version + file + function */
    const struct param *params; /* ends with a zeroed row; NULL: none */
    size_t state_size;          /* bytes; zeroed, then the params stored at their offsets, before the first call */
};

#endif
