/* compare_testing: what the tests of this folder share: one comparison, and its rows by name. */
#pragma once

#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/run/testing_replay.h"

static struct compare_result result; /* of the last compare_with() */
static struct err err;

static inline void compare_asked(struct compare_request request)
{
    bool usage;
    ck_assert_msg(compare_run(&request, &result, &usage, &err) == 0, "%s", err.msg);
}

static inline void compare_with(const char *spec, const char *platform, const char *set, int threads)
{
    compare_asked((struct compare_request){
        .spec = spec, .platform = platform, .sets = &set, .set_count = set != NULL, .threads = threads});
}

static inline const struct compare_row *row_of(const char *mechanism, const char *policy)
{
    for (size_t i = 0; i < result.count; i++)
        if (strcmp(compare_mechanisms[result.rows[i].mechanism], mechanism) == 0 &&
            strcmp(result.rows[i].policy, policy) == 0)
            return &result.rows[i];
    ck_abort_msg("no row %s (%s)", mechanism, policy);
    return NULL;
}

/* The only row of a mechanism. */
static inline const struct compare_row *only_row(const char *mechanism)
{
    const struct compare_row *found = NULL;
    for (size_t i = 0; i < result.count; i++)
        if (strcmp(compare_mechanisms[result.rows[i].mechanism], mechanism) == 0) {
            ck_assert_ptr_null(found);
            found = &result.rows[i];
        }
    ck_assert_msg(found, "no row %s", mechanism);
    return found;
}

static inline double metric(const struct compare_row *row, const char *name)
{
    const struct metric_value *v = outcome_get(&row->outcome, name);
    ck_assert_msg(v->known, "%s of %s", name, row->policy);
    return v->real;
}

/* Whether one of its notes has these words. */
static inline bool noted(const struct compare_row *row, const char *words)
{
    return testing_noted(&row->outcome, words);
}

/* Whether one of the sentences of how to have a row has these words. */
static inline bool told(const struct compare_row *row, const char *words)
{
    for (size_t i = 0; i < row->apply_count; i++)
        if (strstr(row->apply[i], words))
            return true;
    return false;
}
