#include "replay/uvm/uvm_managed.h"

#include <string.h>

#include "models/base/platform.h"
#include "replay/uvm/actor_input.h"
#include "trace/base/param.h"
#include "trace/base/testing.h"

static const uint64_t gib = UINT64_C(1) << 30;

START_TEST(memory_is_as_told_else_what_the_platform_has)
{
    struct platform *v100 = GIVES(platform_load("v100", &err));
    struct uvm_managed_settings said = {0};
    const struct uvm_managed m = {.platform = v100, .settings = &said};
    /* 16 GiB, of which [pcie] keeps 322,122,547 B. */
    const int64_t there = (int64_t)(16 * gib) - 322122547;
    ck_assert_int_eq(uvm_managed_memory(&m, gib), 0);
    ck_assert_int_eq(uvm_managed_memory(&m, (uint64_t)there), 0);
    ck_assert_int_eq(uvm_managed_memory(&m, (uint64_t)there + 1), there);
    said.ballast = 6 * (int64_t)gib;
    ck_assert_int_eq(uvm_managed_memory(&m, 11 * gib), there - 6 * (int64_t)gib);
    ck_assert_int_eq(uvm_managed_memory(&m, gib), 0);
    said.oversubscription_pct = 125; /* of the footprint, whatever there is */
    ck_assert_int_eq(uvm_managed_memory(&m, 64 * gib), 0);
    said.gpu_memory_bytes = 1 << 20;
    ck_assert_int_eq(uvm_managed_memory(&m, 64 * gib), 1 << 20);
    platform_free(v100);
}
END_TEST

static const char *why_not(const struct platform *platform, int64_t given, int64_t pct)
{
    static struct err err;
    err.msg[0] = 0;
    const struct uvm_managed_settings said = {.gpu_memory_bytes = given, .oversubscription_pct = pct};
    const struct uvm_managed m = {.platform = platform, .settings = &said};
    ck_assert_int_eq(uvm_managed_check(&m, &err), err.msg[0] ? -1 : 0);
    return err.msg;
}

/* 322,122,547 bytes are kept, and a block is 2,097,152. */
START_TEST(memory_without_a_block_is_refused)
{
    struct platform *p = GIVES(platform_load("rtx4090", &err));
    ck_assert_str_eq(why_not(p, 0, 0), "");
    ck_assert_ptr_nonnull(strstr(why_not(p, (2 << 20) - 1, 0), "give 2MiB or more"));
    ck_assert_str_eq(why_not(p, 2 << 20, 0), "");
    static const char *const sizes[] = {"32MiB", "322122547", "324219698", "324219699"};
    for (int i = 0; i < 4; i++) {
        WORKS(platform_set(p, "memory_bytes", sizes[i], NULL, &err));
        ck_assert_int_eq(strstr(why_not(p, 0, 0), "no block of 2 MiB is left") != NULL, i < 3);
        ck_assert_str_eq(why_not(p, 2 << 20, 0), "");
        ck_assert_str_eq(why_not(p, 0, 150), "");
    }
    platform_free(p);
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
    char label[128];
    WORKS(uvm_managed_policy(&list, NULL, &err));
    ck_assert_uint_eq(list.count, 0);
    WORKS(uvm_managed_policy(&list, "fixed:granularity=64KiB+random:seed=2", &err));
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(replay_policy_label(&list.policies[0], label, sizeof label),
                     "fixed:granularity=64KiB+random:seed=2");
    policy_list_release(&list);
    WORKS(uvm_managed_policy(&list, "[adaptive+tbn,capacity=piece]", &err));
    ck_assert_str_eq(replay_policy_name(&list.policies[0], label, sizeof label), "adaptive+tbn");
    policy_list_release(&list);
    refused("[]", "empty");
    refused("tree,none", "2 policies");
    refused("trees", "no policy 'trees'");
    refused("tree+lrd", "lrd");
    refused("pinned", "before demand paging");
    refused("", "empty");
}
END_TEST

/* A run under a policy, with the memory, advice and prefetches of `set`; another policy is asked beside it if not NULL,
 * and *diverged tells whether its plans differ. */
static struct uvm_metrics ran(const struct actor_input *touching, const struct platform *platform,
                              const struct uvm_managed_settings *set, const char *policy, const char *other,
                              bool *diverged)
{
    struct policy_list list, others;
    struct uvm_metrics metrics = {.time_ns = 0};
    WORKS(uvm_managed_policy(&list, policy, &err));
    WORKS(uvm_managed_policy(&others, other, &err));
    const struct uvm_managed m = {.ops = touching->ops,
                                  .state = touching->state,
                                  .platform = platform,
                                  .policy = list.policies,
                                  .other = other ? others.policies : NULL,
                                  .diverged = diverged,
                                  .settings = set};
    WORKS(uvm_managed_run(&m, &metrics, &err));
    policy_list_release(&list);
    policy_list_release(&others);
    return metrics;
}

/* A policy in lockstep changes nothing of the run; one that never diverged would have had the same. */
START_TEST(policies_that_decide_alike_have_one_run)
{
    static const char *const programs[] = {"synth:triad,bytes=4MiB", "synth:stencil,n=512", "synth:bicg,bytes=4MiB"};
    static const char *const others[] = {"adaptive", "fixed:granularity=2MiB",          "tree",
                                         "none",     "[adaptive:start=64KiB,gate=off]", "tree:threshold=1"};
    struct platform *h200 = GIVES(platform_load("h200", &err));
    int alike = 0, different = 0;
    for (size_t p = 0; p < 3; p += (size_t)testing_step()) {
        struct input input;
        struct actor_input touching;
        WORKS(input_open(&input, programs[p], "", false, &err));
        WORKS(actor_input_open(&touching, &input, &err));
        for (int64_t pct = 0; pct <= 150; pct += 150)
            for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                const struct uvm_managed_settings set = {.thrashing = UVM_THRASHING_DRIVER,
                                                         .oversubscription_pct = pct};
                bool diverged = false;
                const struct uvm_metrics alone = ran(&touching, h200, &set, "fixed:granularity=2MiB", NULL, NULL),
                                         both =
                                             ran(&touching, h200, &set, "fixed:granularity=2MiB", others[i], &diverged),
                                         other = ran(&touching, h200, &set, others[i], NULL, NULL);
                ck_assert(both.time_ns == alone.time_ns && both.faults == alone.faults &&
                          both.h2d_bytes == alone.h2d_bytes && both.batches == alone.batches);
                ck_assert(diverged || (both.time_ns == other.time_ns && both.faults == other.faults &&
                                       both.h2d_bytes == other.h2d_bytes && both.batches == other.batches));
                alike += !diverged;
                different += diverged && both.time_ns != other.time_ns;
            }
        actor_input_close(&touching);
        input_close(&input);
    }
    ck_assert_int_gt(alike, 10 / testing_step());
    ck_assert_int_gt(different, 10 / testing_step());
    platform_free(h200);
}
END_TEST

static void check_moved(const struct actor_input *touching, const struct platform *p,
                        const struct uvm_managed_settings *set, const char *policy, int *same, int *different)
{
    const struct uvm_metrics was = ran(touching, p, set, policy, NULL, NULL);
    struct platform_axis axis;
    ck_assert(uvm_managed_same(p, p, uvm_managed_activity(&was)));
    ck_assert(!uvm_managed_same(p, p, (struct uvm_managed_activity){0}));
    for (size_t i = 0; platform_axis(p, i, &axis); i += (size_t)testing_step())
        for (int high = 0; high < 2; high++) {
            struct platform *moved = GIVES(platform_moved(p, i, high, &err));
            const bool alike = uvm_managed_same(p, moved, uvm_managed_activity(&was));
            if (alike) {
                const struct uvm_metrics is = ran(touching, moved, set, policy, NULL, NULL);
                ck_assert_msg(is.time_ns == was.time_ns && is.prefetch_ns == was.prefetch_ns &&
                                  is.cpu_ns == was.cpu_ns && is.faults == was.faults && is.batches == was.batches &&
                                  is.h2d_bytes == was.h2d_bytes && is.d2h_bytes == was.d2h_bytes &&
                                  is.remote_bytes == was.remote_bytes && is.evictions == was.evictions,
                              "%s: %s.%s", policy, axis.section, axis.row ? axis.row->name : "as");
            }
            *same += alike && strcmp(axis.section, "dram") != 0;
            *different += !alike;
            platform_free(moved);
        }
}

/* Every number that a run is said not to read, moved to both ends of its range, in runs of every kind; the last one's
 * memory is more than L2 holds. */
START_TEST(a_run_is_the_same_where_what_it_reads_is)
{
    static const struct {
        const char *program, *platform, *policy;
        struct uvm_managed_settings set;
    } runs[] = {{"synth:bicg,bytes=4MiB", "h200", "tree", {0}},
                {"synth:bicg,bytes=4MiB", "v100", "none", {.oversubscription_pct = 200}},
                {"synth:bicg,bytes=4MiB", "h200", "tree", {.advise = "all:preferred-host"}},
                {"synth:bicg,bytes=4MiB", "h200", "tree", {.prefetch = "all"}},
                {"synth:triad,bytes=8MiB", "h200", "fixed", {.oversubscription_pct = 150}},
                {"synth:rodinia-srad-v1,rows=80,columns=80,iterations=1", "h200", "adaptive", {0}},
                {"synth:rodinia-srad-v1,rows=80,columns=80,iterations=1",
                 "h200",
                 "tree",
                 {.thrashing = UVM_THRASHING_DRIVER, .prefetch = "all"}},
                {"synth:bicg,bytes=80MiB", "h200", "tree", {.prefetch = "all"}}};
    int same = 0, different = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct input input;
        struct actor_input touching;
        struct err err = {""};
        struct platform *platform = platform_load(runs[i].platform, &err);
        ck_assert_msg(platform && input_open(&input, runs[i].program, "", false, &err) == 0, "%s", err.msg);
        ck_assert_int_eq(actor_input_open(&touching, &input, &err), 0);
        check_moved(&touching, platform, &runs[i].set, runs[i].policy, &same, &different);
        actor_input_close(&touching);
        input_close(&input);
        platform_free(platform);
    }
    ck_assert_int_gt(same, 200 / testing_step());
    ck_assert_int_gt(different, 200 / testing_step());
}
END_TEST

START_TEST(a_driver_says_its_version)
{
    ck_assert_int_eq(uvm_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Sat Oct 4 12:00:00"),
                     580);
    ck_assert_int_eq(
        uvm_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build"), 590);
    ck_assert_int_eq(uvm_version_in("460.27.04"), 460);
    ck_assert_int_eq(uvm_version_in(NULL), 0);
    ck_assert_int_eq(uvm_version_in(""), 0);
    ck_assert_int_eq(uvm_version_in("no 12.0 here, nor 580 alone, nor 99999999999999999999.1"), 0);
}
END_TEST

START_TEST(the_lapse_adapts_from_590_on)
{
    ck_assert_int_eq(uvm_version_lapse(460), UVM_LAPSE_FIXED);
    ck_assert_int_eq(uvm_version_lapse(589), UVM_LAPSE_FIXED);
    ck_assert_int_eq(uvm_version_lapse(590), UVM_LAPSE_CODE);
    ck_assert(!uvm_version_discards(570) && uvm_version_discards(580));
}
END_TEST

TEST_MAIN("uvm_managed")
