#include "replay/results/case_table.h"

#include "replay/run/engine.h"
#include "trace/base/testing.h"

/* What results call a policy is what a replay called it, whatever list it came from. */
START_TEST(a_run_is_called_what_its_replay_was)
{
    static const struct {
        const char *engine, *list, *first;
    } cases[] = {
        {"uvm", "fixed", "fixed:granularity=2MiB"},
        {"uvm", "fixed:granularity=4KiB,tree,none", "fixed:granularity=4KiB"},
        {"uvm", "fixed:granularity=64KiB+random:seed=3,capacity=piece,tree+lru,tree:threshold=40+fifo",
         "fixed:granularity=64KiB+random:seed=3,capacity=piece"},
        {"uvm", "adaptive:r_hi=0.1,step=jump,start=64KiB,window=0", "adaptive:r_hi=0.1,window=0,step=jump,start=64KiB"},
        {"dram", "f3fs:mem_cap=1,pim_cap=2,fcfs,bliss", "f3fs:mem_cap=1,pim_cap=2"},
        {"zerocopy", "naive,merged,chunk,uvm,as-written", "naive"},
        {"placement", "auto,device", "auto"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct policy_list list = {0};
        const struct engine *engine = engine_find(cases[c].engine);
        WORKS(policy_list_add(&list, engine, cases[c].list, &err));
        WORKS(policy_list_add(&list, engine, engine->default_policies, &err));
        for (size_t i = 0; i < list.count; i++) {
            char name[64], label[512];
            struct run run = {.engine = (char *)cases[c].engine,
                              .policy = (char *)replay_policy_name(&list.policies[i], name, sizeof name),
                              .params = replay_policy_params_json(&list.policies[i])};
            char *found = run_label(&run, NULL, NULL);
            ck_assert_str_eq(found, replay_policy_label(&list.policies[i], label, sizeof label));
            ck_assert(i > 0 || strcmp(found, cases[c].first) == 0);
            free(found);
            json_decref(run.params);
        }
        policy_list_release(&list);
    }
}
END_TEST

static void called(const char *policy, const char *params, const char *apart, const char *differing, const char *label)
{
    struct run run = {.engine = (char *)"uvm", .policy = (char *)policy, .params = json_loads(params, 0, NULL)};
    json_t *differ = json_loads(differing, 0, NULL);
    char *found = run_label(&run, apart, differ);
    ck_assert_str_eq(found, label);
    free(found);
    json_decref(differ);
    json_decref(run.params);
}

START_TEST(a_parameter_apart_is_left_out)
{
    called("fixed", "{\"granularity\":4096}", "granularity", "{}", "fixed");
    called("fixed+random", "{\"granularity\":4096,\"evict.seed\":7}", "evict.seed", "{}",
           "fixed:granularity=4KiB+random");
    called("fixed+random", "{\"granularity\":4096,\"evict.seed\":7}", "seed", "{}",
           "fixed:granularity=4KiB+random:seed=7");
    called("fixed+random", "{\"granularity\":4096,\"evict.seed\":7}", "granularity", "{}", "fixed+random:seed=7");
}
END_TEST

/* Of what another release had nobody knows the default: what runs differ in tells them apart. */
START_TEST(what_is_not_known_stands_where_runs_differ)
{
    called("gone", "{\"a\":1,\"b\":\"x\"}", NULL, "{}", "gone");
    called("gone", "{\"a\":1,\"b\":\"x\"}", NULL, "{\"a\":true,\"b\":true}", "gone:a=1,b=x");
    called("gone", "{\"a\":1,\"b\":\"x\"}", "a", "{\"a\":true,\"b\":true}", "gone:b=x");
    called("fixed", "{\"granularity\":4096,\"k\":1.5}", NULL, "{\"k\":true}", "fixed:granularity=4KiB,k=1.5");
    called("fixed", "{\"granularity\":1}", NULL, "{\"granularity\":true}", "fixed:granularity=1");
    called("tree+gone", "{\"evict.x\":2}", NULL, "{\"evict.x\":true}", "tree+gone:evict.x=2");
}
END_TEST

TEST_MAIN("case_table_label")
