/* testing_replay: one input through an engine, for tests of the engines and of what is made of their runs. */
#pragma once

#include "replay/run/engine.h"
#include "trace/base/testing.h"

/* Run a request of which all but the input is given; the result is the caller's. -1: refused, as *err says. */
static inline int testing_try_replay(struct replay_result *result, struct replay_request request, const char *spec,
                                     struct err *err)
{
    struct input input;
    bool usage;
    if (input_open(&input, spec, "", false, err))
        return -1;
    request.inputs = &input;
    request.input_count = 1;
    const int rc = replay_run(&request, result, &usage, err);
    input_close(&input);
    return rc;
}

/* The same where it has to be answered. */
static inline void testing_replay(struct replay_result *result, struct replay_request request, const char *spec)
{
    struct err err = {""};
    ck_assert_msg(testing_try_replay(result, request, spec, &err) == 0, "%s: %s", spec, err.msg);
}

/* A request of an engine with one setting, or none where *set is NULL; set outlives it. */
static inline struct replay_request testing_request(const char *engine, const char *platform, const char *policies,
                                                    const char *const *set)
{
    return (struct replay_request){.engine = engine_find(engine),
                                   .platform = platform,
                                   .policy_list = policies,
                                   .sets = set,
                                   .set_count = *set != NULL,
                                   .threads = 2};
}

/* Whether one of its notes has these words. */
static inline bool testing_noted(const struct outcome *outcome, const char *words)
{
    for (size_t i = 0; i < outcome->note_count; i++)
        if (strstr(outcome->notes[i], words))
            return true;
    return false;
}
