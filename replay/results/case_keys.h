/* case_keys: by which keys a run's case may be told from others: names and texts, for labels only. Cases themselves are
 * compared by value. */
#ifndef REPLAY_RESULTS_CASE_KEYS_H
#define REPLAY_RESULTS_CASE_KEYS_H

#include "replay/results/runs.h"

enum case_key_kind {
    CASE_KEY_HEAD,    /* engine; workload, or inputs by role ("mem", "pim", "mem2"); platform; part */
    CASE_KEY_INPUT,   /* keys of the input's spec */
    CASE_KEY_SETTING, /* settings of the engine and numbers of the platform that were given */
    CASE_KEY_VERSION,
    CASE_KEY_LAST, /* what is named only if the others do not tell cases apart: the input in full, its content, single
                      numbers of the platform, what speed-ups are relative to, the case's hash */
    CASE_KEY_KINDS
};

/* Fill keys[] with an object of texts by name for each kind, the callers to json_decref(). A name stands in one kind
 * only: a key of the input called like another is "input.NAME". -1 with *err set, and nothing to free. */
int case_keys_of(const struct run *run, json_t *keys[CASE_KEY_KINDS], struct err *err);

/* A policy with all its parameters but the one named `apart` (NULL: none) as one text; freed by the caller.
 * NULL: no memory. */
char *case_keys_policy(const char *policy, const json_t *params, const char *apart);

/* "tree:min_faults=1,threshold=51": what the speed-ups of a run are relative to; freed by the caller. NULL: no memory.
 */
char *case_keys_baseline(const struct run *run);

/* A JSON string or number as text, reals with all their digits; "" for anything else. NULL: no memory. */
char *case_keys_text(const json_t *value);

/* The setting, number or key of the input with the most different values that are numbers (a unit may follow); freed by
 * the caller. NULL: none has two, or no memory. */
char *case_keys_axis(const struct run_set *set);

/* "64KiB", "2us" or "1.5" as a number. False: it is none. */
bool case_keys_number(const char *text, double *value);

#endif
