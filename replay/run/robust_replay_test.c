/* Draws of a whole request: the same order as runs with these numbers given, and no trace of them in the runs. */
#include "replay/run/measured.h"
#include "replay/run/robust.h"

#include "replay/run/testing_replay.h"
#include "trace/base/param.h"

/* The cliff: memory for less than half of what bicg needs, where one property of the GPU decides. */
static void run(struct replay_result *result, const char *policies, const char *set, uint32_t draws, int threads)
{
    const char *const sets[] = {"gpu_memory_bytes=8MiB", set};
    testing_replay(result,
                   (struct replay_request){.engine = engine_find("uvm"),
                                           .platform = "titanv",
                                           .policy_list = policies,
                                           .sets = sets,
                                           .set_count = set ? 2 : 1,
                                           .threads = threads,
                                           .draws = draws},
                   "synth:bicg,bytes=4MiB");
}

static double time_of(const struct replay_result *result, size_t run)
{
    return outcome_get(&result->runs[run], "time_ns")->real;
}

START_TEST(the_runs_are_those_without_draws)
{
    struct replay_result plain, drawn;
    run(&plain, "tree,none", NULL, 0, 1);
    run(&drawn, "tree,none", NULL, 3, 2);
    ck_assert_ptr_null(plain.robustness);
    for (size_t i = 0; i < 2; i++)
        for (size_t m = 0; m < plain.runs[i].count; m++)
            ck_assert_double_eq(plain.runs[i].values[m].real, drawn.runs[i].values[m].real);
    ck_assert_uint_eq(
        drawn.robustness->robust.wins[0] + drawn.robustness->robust.wins[1] - drawn.robustness->robust.ties[0], 3);
    ck_assert_str_eq(drawn.robustness->metric, "time_ns");
    ck_assert_double_eq(replay_robust_error(&drawn, 0), measured_error("managed", "titanv"));
    replay_release(&plain);
    replay_release(&drawn);
}
END_TEST

/* The margin at the end of a number's range is that of a run with this number given. */
START_TEST(an_end_is_the_run_with_that_number)
{
    struct replay_result drawn, low, high;
    run(&drawn, "tree,none", NULL, 1, 1);
    run(&low, "tree,none", "service_ns=470", 0, 1);
    run(&high, "tree,none", "service_ns=15600", 0, 1);
    const struct robust *r = &drawn.robustness->robust;
    size_t winner = r->best, other = !winner, found = 0;
    for (size_t n = 0; n < r->number_count; n++)
        if (r->numbers[n].axis.row && strcmp(r->numbers[n].axis.row->name, "service_ns") == 0) {
            found++;
            ck_assert_double_eq_tol(r->numbers[n].margin[0], time_of(&low, other) / time_of(&low, winner), 1e-12);
            ck_assert_double_eq_tol(r->numbers[n].margin[1], time_of(&high, other) / time_of(&high, winner), 1e-12);
        }
    ck_assert_uint_eq(found, 1);
    ck_assert_double_eq_tol(r->margin, time_of(&drawn, other) / time_of(&drawn, winner), 1e-12);
    replay_release(&drawn);
    replay_release(&low);
    replay_release(&high);
}
END_TEST

/* What is given is known, and is not drawn. */
START_TEST(what_is_given_is_not_drawn)
{
    struct replay_result all, given;
    run(&all, "tree,none", NULL, 1, 1);
    run(&given, "tree,none", "service_ns=13000", 1, 1);
    ck_assert_uint_eq(given.robustness->robust.number_count + 1, all.robustness->robust.number_count);
    replay_release(&all);
    replay_release(&given);
}
END_TEST

START_TEST(settings_tell_draws_apart)
{
    json_t *settings[2];
    for (uint32_t draws = 0; draws < 2; draws++) {
        struct replay_result result;
        struct replay_request request = {
            .engine = engine_find("uvm"), .platform = "titanv", .policy_list = "tree", .draws = draws};
        WORKS(replay_prepare(&request, &result, &err));
        settings[draws] = replay_settings_json(&result);
        replay_release(&result);
    }
    ck_assert_ptr_null(json_object_get(settings[0], "robust"));
    ck_assert_int_eq(json_integer_value(json_object_get(settings[1], "robust")), 1);
    json_decref(settings[0]);
    json_decref(settings[1]);
}
END_TEST

TEST_MAIN("replay_robust")
