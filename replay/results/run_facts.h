/* run_facts: what a run was of, one by one: engine, inputs, platform and its numbers, settings, policy and parameters,
 * what its speed-ups are relative to, version, and of a part which. */
#ifndef REPLAY_RESULTS_RUN_FACTS_H
#define REPLAY_RESULTS_RUN_FACTS_H

#include "replay/results/runs.h"

enum run_fact_kind {
    RUN_FACT_ENGINE,
    RUN_FACT_PART,
    RUN_FACT_INPUT,
    RUN_FACT_PLATFORM,
    RUN_FACT_SETTING,
    RUN_FACT_NUMBER, /* of the platform */
    RUN_FACT_POLICY,
    RUN_FACT_PARAMETER, /* of the policy */
    RUN_FACT_BASELINE,
    RUN_FACT_VERSION,
    RUN_FACTS
};

const char *run_fact_kind_name(enum run_fact_kind kind); /* "engine", "part", "input", .. */

struct run_fact {
    enum run_fact_kind kind;
    char *name;    /* "input", "mem2"; "uvm.compute_ns"; "oversubscription_pct" */
    char *value;   /* by which it is compared, numbers by value: of an input its content, where that is known */
    json_t *shown; /* what is said of it: of an input as it was given, of others the value */
    char *scope;   /* within which values are one another's alternatives: of a parameter its policy, of a number its
                      platform; with the engine in front */
};

struct run_facts {
    struct run_fact *items;
    size_t count, cap;
};

/* by_name: inputs are compared as they were given, not by content. -1 with *err set: no memory; release it in any case.
 */
int run_facts_of(struct run_facts *facts, const struct run *run, bool by_name, struct err *err);
void run_facts_release(struct run_facts *facts);

/* The fact of that kind and name, or NULL; looked for first at `hint`. */
const struct run_fact *run_facts_find(const struct run_facts *facts, size_t hint, enum run_fact_kind kind,
                                      const char *name);

/* Whether an input of a run has no hash of its content, as in files of version 1 and 2. */
bool run_facts_unhashed(const struct run *run);

#endif
