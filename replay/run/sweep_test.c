#include "replay/run/sweep.h"

#include "trace/base/param.h"
#include "trace/base/testing.h"

struct capped {
    int64_t cap;
};
static const struct param capped_params[] = {PARAM_INT_ROW(capped, cap, "cycles", 1, 1000, 256, "cap"), {0}};
static const struct policy_head fcfs = {.name = "fcfs", .summary = "", .source = ""};
static const struct policy_head f3fs = {
    .name = "f3fs", .summary = "", .source = "", .params = capped_params, .state_size = sizeof(struct capped)};
static const struct policy_head *const heads[] = {&fcfs, &f3fs, NULL};
struct knobs {
    int64_t vcs;
};
static const struct param knobs[] = {PARAM_INT_ROW(knobs, vcs, "", 1, 2, 1, "virtual channels"), {0}};
static const struct engine engine = {.name = "toy",
                                     .default_policies = "fcfs,f3fs",
                                     .default_platform = "titanv",
                                     .policies = heads,
                                     .settings = knobs,
                                     .settings_size = sizeof(struct knobs)};

START_TEST(ranges_and_lists_become_values)
{
    struct sweep s = {.engine = &engine};
    struct err err = {""};
    ck_assert_int_eq(sweep_add_axis(&s, "a=1:10:3", &err), 0);
    ck_assert_int_eq(sweep_add_axis(&s, "b=4KiB:2MiB:x8", &err), 0);
    ck_assert_int_eq(sweep_add_axis(&s, "c=blocked|free", &err), 0);
    ck_assert_int_eq(sweep_add_axis(&s, "d=0.1:0.3:0.1", &err), 0);
    ck_assert_uint_eq(s.axes[0].count, 4);
    ck_assert_str_eq(s.axes[0].values[3], "10");
    ck_assert_uint_eq(s.axes[1].count, 4);
    ck_assert_str_eq(s.axes[1].values[3], "2097152");
    ck_assert_str_eq(s.axes[2].values[1], "free");
    ck_assert_uint_eq(s.axes[3].count, 3);
    sweep_release(&s);
    static const char *const bad[] = {"a", "=1", "a=", "a=3:1:1", "a=1:3:0", "a=1:3:x1", "a=1||2", "a=x:3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(sweep_add_axis(&s, bad[i], &err) == -1, "'%s' was accepted", bad[i]);
    sweep_release(&s);
}
END_TEST

START_TEST(all_pairs_times_the_grid_each_once)
{
    const char *mems[] = {"synth:g1", "synth:g2", "synth:g3"}, *pims[] = {"synth:p1", "synth:p2"};
    struct sweep s = {.engine = &engine, .mems = mems, .mem_count = 3, .pims = pims, .pim_count = 2};
    WORKS(sweep_add_axis(&s, "vcs=1|2", &err));
    WORKS(sweep_add_axis(&s, "f3fs.cap=64|128", &err));
    RETURNS(sweep_jobs(&s, &err), 24);
    char seen[24][256];
    for (size_t i = 0; i < 24; i++) {
        struct sweep_job job;
        WORKS(sweep_job_init(&job, &s, i, &err));
        ck_assert_uint_eq(job.spec_count, 2);
        ck_assert_str_eq(job.roles[0], "mem");
        ck_assert_str_eq(job.roles[1], "pim");
        (void)snprintf(seen[i], sizeof seen[i], "%s %s %s %s", job.specs[0], job.specs[1], job.sets[0],
                       job.policy_list);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(seen[i], seen[j]);
        sweep_job_release(&job);
    }
    ck_assert_str_eq(seen[0], "synth:g1 synth:p1 vcs=1 fcfs,f3fs:cap=64");
    sweep_release(&s);
}
END_TEST

START_TEST(mems_alone_pair_with_each_other)
{
    const char *mems[] = {"a", "b", "c"};
    struct sweep s = {.engine = &engine, .mems = mems, .mem_count = 3};
    RETURNS(sweep_jobs(&s, &err), 3);
    static const char *const expect[3][2] = {{"a", "b"}, {"a", "c"}, {"b", "c"}};
    for (size_t i = 0; i < 3; i++) {
        struct sweep_job job;
        WORKS(sweep_job_init(&job, &s, i, &err));
        ck_assert_str_eq(job.specs[0], expect[i][0]);
        ck_assert_str_eq(job.specs[1], expect[i][1]);
        sweep_job_release(&job);
    }
    struct sweep none = {.engine = &engine};
    RETURNS(sweep_jobs(&none, &err), 0);
}
END_TEST

START_TEST(a_sweep_is_known_by_all_that_it_is_asked)
{
    static const char *const inputs[] = {"a", "b"}, *const one[] = {"ab"};
    const struct sweep base = {.engine = &engine, .inputs = inputs, .input_count = 2, .policy_list = "fcfs"};
    struct sweep others[] = {base, base, base, base, base};
    char id[33], again[33];
    sweep_id(&base, NULL, id);
    sweep_id(&base, NULL, again);
    ck_assert_str_eq(id, again);
    others[0].inputs = one;
    others[0].input_count = 1;
    others[1].policy_list = "f3fs";
    others[2].baseline = "fcfs";
    WORKS(sweep_add_axis(&others[3], "vcs=1|2", &err));
    for (size_t i = 0; i < 5; i++) {
        sweep_id(&others[i], i == 4 ? "1/2" : NULL, again);
        ck_assert_msg(strcmp(id, again) != 0, "%zu", i);
    }
    sweep_release(&others[3]);
}
END_TEST

START_TEST(a_grid_over_a_policy_that_is_not_listed_says_so)
{
    const char *mems[] = {"synth:g1"}, *pims[] = {"synth:p1"};
    struct sweep s = {
        .engine = &engine, .mems = mems, .mem_count = 1, .pims = pims, .pim_count = 1, .policy_list = "fcfs"};
    struct sweep_job job;
    WORKS(sweep_add_axis(&s, "f3fs.cap=64", &err));
    FAILS_AS(sweep_job_init(&job, &s, 0, &err), "--grid f3fs.cap: no policy f3fs is in the list 'fcfs'");
    sweep_release(&s);
    WORKS(sweep_add_axis(&s, "none.cap=64", &err)); /* not a policy: the engine is asked */
    WORKS(sweep_job_init(&job, &s, 0, &err));
    ck_assert_str_eq(job.sets[0], "none.cap=64");
    sweep_job_release(&job);
    sweep_release(&s);
}
END_TEST

TEST_MAIN("sweep")
