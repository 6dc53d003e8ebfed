#include "replay/outcome.h"

#include <math.h>

#include "trace/testing.h"

static const struct metric metrics[] = {
    {"faults", METRIC_INT, METRIC_SUM, "faults"}, {"speedup_ratio", METRIC_REAL, METRIC_GEOMEAN, "speed-up"}, {0}};

START_TEST(unknown_values_are_null_and_integers_exact)
{
    struct outcome o;
    ck_assert_int_eq(outcome_init(&o, metrics, NULL), 0);
    outcome_int(&o, "faults", 9007199254740993);
    outcome_real(&o, "speedup_ratio", NAN);
    outcome_interval(&o, "speedup_ratio", 1.25, 1.5);
    outcome_note(&o, "a bound");
    outcome_note(&o, "a bound");
    json_t *object = json_object();
    ck_assert_int_eq(outcome_to_json(&o, object, NULL), 0);
    char *text = json_dumps(object, JSON_COMPACT);
    ck_assert_str_eq(text, "{\"metrics\":{\"faults\":9007199254740993,\"speedup_ratio\":null},"
                           "\"interval\":{\"speedup_ratio\":[1.25,1.5]},\"notes\":[\"a bound\"]}");
    free(text);
    json_decref(object);
    outcome_release(&o);
}
END_TEST

TEST_MAIN("outcome", unknown_values_are_null_and_integers_exact)
