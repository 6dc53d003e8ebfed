/* policy_testing: run a few requests through one channel under one policy; for the policies' tests. */
#pragma once

#include "models/base/sections.h"
#include "models/dram/dram_platform.h"
#include "models/dram/dram_policy.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

enum { TEST_RD = 1, TEST_WR = 1 | DRAM_IS_WRITE, TEST_PIM = 1 | DRAM_IS_WRITE | DRAM_IS_PIM, TEST_REQUESTS = 4096 };

/* What became of the requests of the last test_run(). */
static int64_t test_enter[TEST_REQUESTS], test_sched[TEST_REQUESTS], test_column[TEST_REQUESTS],
    test_done[TEST_REQUESTS];
static struct dram_stats test_stats;
static struct dram_feed test_feed;
static struct dram_channel test_channel;
static void *test_state;                          /* of the policy, after the run */
static const struct dram_platform *test_platform; /* NULL: the default */
static bool test_hurried;                         /* nothing is written down of each request */

/* test_state, with params "cap=32,..." or "". */
static inline void test_start(const struct dram_policy *p, const char *params)
{
    struct param_list list;
    struct err err = {""};
    free(test_state);
    test_state = calloc(1, p->head.state_size);
    ck_assert_int_eq(param_list_init(&list, params, &err), 0);
    ck_assert_msg(!p->head.params || !param_list_apply(&list, p->head.params, test_state, &err), "%s", err.msg);
    param_list_release(&list);
}

/* params as above. limit 0: none. */
static inline void test_run_limited(const char *policy, const char *params, const struct dram_request *requests,
                                    uint32_t n, int vcs, int64_t limit)
{
    static uint32_t ids[2][TEST_REQUESTS];
    const struct dram_policy *p = (const struct dram_policy *)policy_find(dram_policies, policy);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_le(n, TEST_REQUESTS);
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    if (test_platform)
        platform = *test_platform;
    test_start(p, params);
    WORKS(dram_channel_init(&test_channel, &platform, &err));
    memset(test_enter, 0xff, sizeof test_enter);
    memset(test_sched, 0xff, sizeof test_sched);
    memset(test_column, 0xff, sizeof test_column);
    memset(test_done, 0xff, sizeof test_done);
    if (!test_hurried)
        test_channel.timestamps = (struct dram_timestamps){test_enter, test_sched, test_column, test_done};
    uint32_t count[2] = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        const int class = (requests[i].flags & DRAM_IS_PIM) != 0;
        ids[class][count[class]++] = i;
    }
    test_feed = (struct dram_feed){.requests = requests,
                                   .count = n,
                                   .ids = {ids[0], ids[1]},
                                   .ids_count = {count[0], count[1]},
                                   .vcs = vcs,
                                   .limit = limit ? limit : INT64_MAX};
    p->loops->feed(&test_channel, test_state, &test_feed);
    WORKS(dram_channel_check(&test_channel, test_feed.finished, &err));
    test_stats = test_channel.stats;
}

static inline void test_run(const char *policy, const char *params, const struct dram_request *requests, uint32_t n,
                            int vcs)
{
    test_run_limited(policy, params, requests, n, vcs, 0);
    ck_assert(test_feed.finished);
}

/* Twelve requests made by hand (fixtures/dram/x15_tiny.csv). */
static const struct dram_request test_tiny[12] = {
    {0, 10, 0, 0, TEST_RD},     {1, 10, 0, 1, TEST_RD},  {2, 5000, 7, 8, TEST_PIM}, {3, 5000, 6, 8, TEST_PIM},
    {4, 10, 1, 0, TEST_RD},     {5, 11, 3, 2, TEST_WR},  {6, 5001, 7, 0, TEST_PIM}, {7, 12, 0, 0, TEST_RD},
    {60, 5001, 6, 0, TEST_PIM}, {61, 12, 0, 3, TEST_RD}, {62, 12, 1, 0, TEST_RD},   {63, 5002, 0, 8, TEST_PIM}};

/* The tiny requests are done at these cycles; one virtual channel. Source: the artifact's own controller. */
static inline void test_tiny_done(const char *policy, const char *params, const int64_t done[12])
{
    test_run(policy, params, test_tiny, 12, 1);
    for (int i = 0; i < 12; i++)
        ck_assert_msg(test_done[i] == done[i], "request %d: done at %lld, expected %lld", i, (long long)test_done[i],
                      (long long)done[i]);
}
