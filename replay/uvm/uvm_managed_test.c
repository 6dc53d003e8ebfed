#include "replay/uvm/uvm_managed.h"

#include <string.h>

#include "trace/base/testing.h"

static const uint64_t gib = UINT64_C(1) << 30;

START_TEST(memory_is_as_told_else_what_the_platform_has)
{
    struct err err = {""};
    struct platform *v100 = platform_load("v100", &err);
    ck_assert_msg(v100 != NULL, "%s", err.msg);
    struct uvm_managed_settings said = {.copy_engines = 2};
    const struct uvm_managed m = {.platform = v100, .settings = &said};
    /* 16 GiB, of which [pcie] keeps 322,122,547 B. */
    const int64_t there = (int64_t)(16 * gib) - 322122547;
    ck_assert_int_eq(uvm_managed_memory(&m, gib), 0);
    ck_assert_int_eq(uvm_managed_memory(&m, (uint64_t)there), 0);
    ck_assert_int_eq(uvm_managed_memory(&m, (uint64_t)there + 1), there);
    said.oversubscription_pct = 125; /* of the footprint, whatever there is */
    ck_assert_int_eq(uvm_managed_memory(&m, 64 * gib), 0);
    said.gpu_memory_bytes = 1 << 20;
    ck_assert_int_eq(uvm_managed_memory(&m, 64 * gib), 1 << 20);
    platform_free(v100);
}
END_TEST

static void refused(const char *text, const char *expected)
{
    struct policy_list list;
    struct err err = {""};
    ck_assert_int_eq(uvm_managed_policy(&list, text, &err), -1);
    ck_assert_msg(strstr(err.msg, expected) != NULL, "%s: %s", text, err.msg);
    policy_list_release(&list);
}

START_TEST(a_prefetcher_and_its_eviction_are_one_text)
{
    struct policy_list list;
    struct err err = {""};
    char label[128];
    ck_assert_int_eq(uvm_managed_policy(&list, NULL, &err), 0);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_msg(uvm_managed_policy(&list, "fixed:granularity=64KiB+random:seed=2", &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(replay_policy_label(&list.policies[0], label, sizeof label),
                     "fixed:granularity=64KiB+random:seed=2");
    policy_list_release(&list);
    ck_assert_msg(uvm_managed_policy(&list, "[adaptive+tbn,capacity=piece]", &err) == 0, "%s", err.msg);
    ck_assert_str_eq(replay_policy_name(&list.policies[0], label, sizeof label), "adaptive+tbn");
    policy_list_release(&list);
    refused("[]", "empty");
    refused("tree,none", "2 policies");
    refused("trees", "no policy 'trees'");
    refused("tree+lrd", "lrd");
    refused("mapped", "before demand paging");
    refused("", "empty");
}
END_TEST

TEST_MAIN("uvm_managed", memory_is_as_told_else_what_the_platform_has, a_prefetcher_and_its_eviction_are_one_text)
