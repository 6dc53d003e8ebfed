/* testing_runs: a set of runs made of JSON, for the tests of what is made of them. */
#pragma once

#include "replay/results/runs.h"
#include "trace/base/testing.h"

/* Add the runs of an object as replay prints it, which is released. */
static inline void testing_add_runs(struct run_set *set, const char *place, json_t *root)
{
    struct err err = {""};
    ck_assert_msg(root && run_set_add_json(set, root, place, &err) == 0, "%s: %s", place, err.msg);
    json_decref(root);
}
