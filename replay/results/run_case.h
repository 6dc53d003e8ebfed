/* run_case: what was run, as a value: engine, inputs by content, platform with every number, settings and version. Two
 * runs belong to one case if and only if the cases are equal; labels are made afterwards.
 *
 * A case never changes once it is made. Copies share their JSON; they may be with different threads. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "trace/base/err.h"

enum { RUN_CASE_HASH = 33 }; /* 32 hexadecimal digits and the end */

struct run_case {
    char *engine;
    json_t *inputs;   /* [{"role":"mem","input":"synth:gpu-g1","hash":"32 digits"},..], all of them, as given; the hash
                         is "" where it is not known: then the text stands for the content */
    char *platform;   /* its name */
    json_t *numbers;  /* {"uvm.compute_ns":200,..}: every number of the platform as the run used it; {}: the name stands
                         for them */
    json_t *settings; /* {"mode":"serial",..}: every setting of the engine, no number of the platform */
    char *version;    /* of offchip: release and commit */
    char hash[RUN_CASE_HASH]; /* of what decides: not of the platform's name nor of the inputs' names */
};

/* What a case is made from; texts may be NULL ("") and JSON too (empty). Nothing is taken over. */
struct run_case_facts {
    const char *engine, *platform, *version;
    json_t *inputs, *numbers, *settings;
};

/* On failure (memory, or JSON of another type) there is nothing to release. */
int run_case_init(struct run_case *run_case, const struct run_case_facts *facts, struct err *err);
void run_case_release(struct run_case *run_case); /* a zeroed one is allowed */
int run_case_copy(struct run_case *to, const struct run_case *from, struct err *err);

/* {"engine":..,"inputs":[..],"platform":..,"numbers":{..},"settings":{..},"version":..}; NULL with *err set. */
json_t *run_case_to_json(const struct run_case *run_case, struct err *err);
int run_case_from_json(struct run_case *run_case, const json_t *object, struct err *err);

bool run_case_equal(const struct run_case *a, const struct run_case *b);

/* Whether a version is of another release of offchip than this program: its models may give other numbers. */
bool run_case_foreign(const char *version);

/* The key of a run, by which a finished run is recognised: the case, the policy with its parameters, and the run that
 * its speed-ups are relative to, {"policy":..,"params":{..}} (NULL: not known). The order of keys does not matter. */
int run_case_key(const struct run_case *run_case, const char *policy, const json_t *params, const json_t *relative_to,
                 char key[RUN_CASE_HASH], struct err *err);
