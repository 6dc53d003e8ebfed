/* input: what is replayed: a trace file, a workload, `synth:NAME,key=value`, or a plain file (placement's tasks). */
#pragma once

#include <jansson.h>

#include "trace/store/store.h"
#include "trace/workloads/workload.h"

struct input {
    const char *spec;         /* as given */
    const char *role;         /* "" or one of the engine's roles ("mem", "pim") */
    struct store *store;      /* a trace file, opened read-only; NULL for a workload or a plain file */
    struct workload workload; /* workload.type is NULL for a trace file */
    json_t *limits;           /* what keeps a trace from being whole, sentences (trace/derived/limits.h); else NULL */
    char hash[33];            /* of the content (trace) or of the spec (workload), hexadecimal */
};

/* Whether a spec can be meant: a failure (a misspelt workload or key) is one of usage. Looks at no file. */
int input_check(const char *spec, struct err *err);

/* plain: a file that is no SQLite database is taken as it is, for the engine to read. */
int input_open(struct input *input, const char *spec, const char *role, bool plain, struct err *err);
void input_close(struct input *input);
