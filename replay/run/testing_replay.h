/* testing_replay: one input through an engine, for tests of the engines and of what is made of their runs. */
#ifndef REPLAY_RUN_TESTING_REPLAY_H
#define REPLAY_RUN_TESTING_REPLAY_H

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

/* Whether one of its notes has these words. */
static inline bool testing_noted(const struct outcome *outcome, const char *words)
{
    for (size_t i = 0; i < outcome->note_count; i++)
        if (strstr(outcome->notes[i], words))
            return true;
    return false;
}

#endif
