/* What replay uvm asks of its runs besides the simulation: the baseline first, and an end to what is hopeless. */
#include "replay/uvm/uvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/testing_replay.h"

#define POLICIES "tree+least-resident,tree,none,none+least-resident,fixed:granularity=2MiB+mru"

enum { COUNT = 5 };

static void replay(const char *policies, const char *baseline, const char *stop, struct replay_result *result)
{
    const char *const sets[] = {"oversubscription_pct=200", stop};
    testing_replay(result,
                   (struct replay_request){.engine = &engine_uvm,
                                           .policy_list = policies,
                                           .baseline = baseline,
                                           .sets = sets,
                                           .set_count = 2,
                                           .threads = 2},
                   "synth:bicg,n=1500");
}

static const struct metric_value *value_of(const struct replay_result *r, size_t run, const char *metric)
{
    return outcome_get(&r->runs[run], metric);
}

/* Every ratio, the baseline wherever it stands in the list or outside of it: what takes no longer is what it is
 * without, the rest has no number and says why. */
START_TEST(what_takes_longer_than_so_many_baselines_is_stopped_and_says_so)
{
    static const struct {
        const char *name;
        size_t at;
    } baselines[] = {{NULL, 0}, {"tree", 1}, {"none+least-resident", 3}, {"fixed:granularity=64KiB", COUNT}};
    static const char *const ratios[] = {"1", "2.5", "20", "1000000"};
    unsigned ran = 0, stopped = 0;
    for (size_t b = 0; b < sizeof baselines / sizeof *baselines; b++) {
        struct replay_result whole;
        replay(POLICIES, baselines[b].name, "stop_ratio=0", &whole);
        const double base = value_of(&whole, baselines[b].at, "time_ns")->real;
        for (size_t k = 0; k < sizeof ratios / sizeof *ratios; k++) {
            struct replay_result some;
            char set[40];
            (void)snprintf(set, sizeof set, "stop_ratio=%s", ratios[k]);
            replay(POLICIES, baselines[b].name, set, &some);
            const double most = base * strtod(ratios[k], NULL);
            for (size_t i = 0; i < COUNT; i++) {
                const double all = value_of(&whole, i, "time_ns")->real;
                if (!value_of(&some, i, "time_ns")->known) {
                    ck_assert_double_gt(all, most);
                    ck_assert(!value_of(&some, i, "batches")->known && !value_of(&some, i, "speedup_ratio")->known);
                    ck_assert_ptr_nonnull(strstr(some.runs[i].notes[0], "stopped at over"));
                    stopped++;
                    continue;
                }
                for (const struct metric *m = engine_uvm.metrics; m->name; m++) {
                    const struct metric_value *got = value_of(&some, i, m->name), *want = value_of(&whole, i, m->name);
                    ck_assert_int_eq(got->known, want->known);
                    ck_assert(!got->known || got->real == want->real);
                }
                ck_assert_double_le(all, 1.5 * most); /* what runs on is near its end */
                ran++;
            }
            replay_release(&some);
        }
        replay_release(&whole);
    }
    ck_assert_uint_gt(ran, 20);
    ck_assert_uint_gt(stopped, 10);
}
END_TEST

TEST_MAIN("replay/uvm")
