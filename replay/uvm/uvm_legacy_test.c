#include "replay/uvm/uvm_legacy.h"

#include "replay/uvm/uvm.h"
#include "trace/base/testing.h"

static struct replay_result result;

static int go_in(const char *mode, const char *spec, const char *platform, const char *policies, struct err *err)
{
    struct input input;
    if (input_open(&input, spec, "", false, err))
        return -1;
    struct replay_request request = {
        .engine = &engine_uvm, .inputs = &input, .input_count = 1, .platform = platform, .policy_list = policies};
    request.sets = &mode;
    request.set_count = mode != NULL;
    bool usage;
    int rc = replay_run(&request, &result, &usage, err);
    input_close(&input);
    return rc;
}

static int go(const char *spec, const char *platform, const char *policies, struct err *err)
{
    return go_in(NULL, spec, platform, policies, err);
}

START_TEST(four_mebibytes_written_take_what_was_measured)
{
    struct err err = {""};
    ck_assert_msg(go("synth:launch-touch,pages=1024,touch=write", "gm200", "none,mapped", &err) == 0, "%s", err.msg);
    double ns = outcome_get(&result.runs[0], "time_ns")->real;
    ck_assert_double_eq_tol(ns / 8458e3, 1, 0.1);
    ck_assert_int_eq(outcome_get(&result.runs[0], "h2d_bytes")->whole, 4 << 20);
    ck_assert_int_eq(outcome_get(&result.runs[1], "h2d_bytes")->whole, 0);
    ck_assert_double_lt(outcome_get(&result.runs[1], "time_ns")->real, ns);
    replay_release(&result);
}
END_TEST

START_TEST(other_platforms_have_no_such_numbers)
{
    struct err err = {""};
    ck_assert_int_eq(go_in("mode=legacy", "synth:launch-touch", "h200", "none", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "gm200"));
}
END_TEST

/* Where GPUs fault the CPU's pages stay with the CPU, whom nobody else touches. */
START_TEST(with_demand_paging_the_launches_are_a_program)
{
    struct err err = {""};
    ck_assert_msg(go("synth:launch-touch,pages=1024,launches=3", "h200", "none", &err) == 0, "%s", err.msg);
    ck_assert_int_eq(outcome_get(&result.runs[0], "h2d_bytes")->whole, 0);
    ck_assert_int_eq(outcome_get(&result.runs[0], "faults")->whole, 0);
    replay_release(&result);
}
END_TEST

TEST_MAIN("uvm_legacy", with_demand_paging_the_launches_are_a_program, four_mebibytes_written_take_what_was_measured,
          other_platforms_have_no_such_numbers)
