#include "replay/uvm/uvm.h"

#include <math.h>

#include "models/uvm/legacy.h"
#include "replay/run/testing_replay.h"

static struct replay_result result;

static int go_in(const char *mode, const char *spec, const char *platform, const char *policies, struct err *err)
{
    return testing_try_replay(&result,
                              (struct replay_request){.engine = &engine_uvm,
                                                      .platform = platform,
                                                      .policy_list = policies,
                                                      .sets = &mode,
                                                      .set_count = mode != NULL},
                              spec, err);
}

static int go(const char *spec, const char *platform, const char *policies, struct err *err)
{
    return go_in(NULL, spec, platform, policies, err);
}

START_TEST(four_mebibytes_written_take_what_was_measured)
{
    WORKS(go("synth:launch-touch,pages=1024,touch=write", "gm200", "none,pinned", &err));
    double ns = outcome_get(&result.runs[0], "time_ns")->real;
    ck_assert_double_eq_tol(ns / 8458e3, 1, 0.1);
    ck_assert_int_eq(outcome_get(&result.runs[0], "h2d_bytes")->whole, 4 << 20);
    ck_assert_int_eq(outcome_get(&result.runs[1], "h2d_bytes")->whole, 0);
    ck_assert_double_lt(outcome_get(&result.runs[1], "time_ns")->real, ns);
    replay_release(&result);
}
END_TEST

/* Everything is so many times what one launch costs by the model. */
START_TEST(a_run_is_its_launches)
{
    static const char *const touches[] = {"write", "read", "none"}, *const platforms[] = {"gm200", "gp100"};
    for (int round = 0; round < 2 * 3 * 3 * 2; round++) {
        const int64_t pages = (const int64_t[]){0, 1, 1000}[round % 3], launches = round % 2 ? 7 : 1;
        const int touch = round / 3 % 3;
        const char *platform = platforms[round / 9 % 2];
        struct legacy_cost cost[2];
        char spec[128];
        (void)snprintf(spec, sizeof spec, "synth:launch-touch,pages=%d,touch=%s,launches=%d,gpu_bytes=3MiB", (int)pages,
                       touches[touch], (int)launches);
        WORKS(go(spec, platform, "none,pinned", &err));
        struct platform *p = GIVES(platform_load(platform, &err));
        legacy_launch(platform_section_get(p, "legacy"), pages, (enum legacy_touch)touch, &cost[0]);
        legacy_mapped(platform_section_get(p, "legacy"), 3 << 20, &cost[1]);
        platform_free(p);
        for (int i = 0; i < 2; i++) {
            const struct outcome *run = &result.runs[i];
            ck_assert_int_eq(outcome_get(run, "time_ns")->whole, llround(cost[i].time_ns * (double)launches));
            ck_assert_int_eq(outcome_get(run, "h2d_bytes")->whole, cost[i].h2d_bytes * launches);
            ck_assert_int_eq(outcome_get(run, "d2h_bytes")->whole, cost[i].d2h_bytes * launches);
            ck_assert_int_eq(outcome_get(run, "structure_bytes")->whole, pages * 4096);
            ck_assert_int_eq(outcome_get(run, "touched_bytes")->whole, touch == LEGACY_NONE ? 0 : pages * 4096);
            const struct metric_value *ratio = outcome_get(run, "read_amplification_ratio");
            ck_assert_int_eq(ratio->known, pages > 0);
            if (pages)
                ck_assert_double_eq(ratio->real, touch == LEGACY_WRITE && i == 0 ? (double)launches : 0);
        }
        replay_release(&result);
    }
}
END_TEST

START_TEST(other_platforms_have_no_such_numbers)
{
    FAILS_WITH(go_in("mode=legacy", "synth:launch-touch", "h200", "none", &err), "gm200");
}
END_TEST

/* Where GPUs fault the CPU's pages stay with the CPU, whom nobody else touches. */
START_TEST(with_demand_paging_the_launches_are_a_program)
{
    WORKS(go("synth:launch-touch,pages=1024,launches=3", "h200", "none", &err));
    ck_assert_int_eq(outcome_get(&result.runs[0], "h2d_bytes")->whole, 0);
    ck_assert_int_eq(outcome_get(&result.runs[0], "faults")->whole, 0);
    replay_release(&result);
}
END_TEST

TEST_MAIN("uvm_legacy")
