#include "models/uvm/prefetch/batch_testing.h"

static void *state;

static const struct uvm_policy *start(const char *degree)
{
    const struct uvm_policy *p = (const struct uvm_policy *)policy_find(uvm_policies, "stride");
    state = batch_start(p, "degree", degree);
    return p;
}

START_TEST(a_distance_that_comes_again_twice_asks_for_what_follows)
{
    const struct uvm_policy *p = start("4");
    static const uint32_t pages[] = {3, 10, 10, 17, 24};
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(requests_of(p, state, &pages[i], 1).count, 0);
    struct uvm_prefetch_requests requests = requests_of(p, state, &pages[4], 1);
    ck_assert_uint_eq(requests.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(requests.pages[i], 31 + 7 * i);
    batch_end(p, state);
}
END_TEST

START_TEST(within_one_batch_and_across_blocks)
{
    const struct uvm_policy *p = start("3");
    static const uint32_t pages[] = {200, 300, 400, 500}, next[] = {600};
    struct uvm_prefetch_requests requests = requests_of(p, state, pages, 4);
    ck_assert_uint_eq(requests.count, 3);
    ck_assert_uint_eq(requests.pages[0], 600); /* in block 1, which did not fault */
    requests = requests_of(p, state, next, 1);
    ck_assert_uint_eq(requests.count, 3); /* the entry went on with it */
    ck_assert_uint_eq(requests.pages[2], 900);
    batch_end(p, state);
}
END_TEST

/* 13 pages in a row, of which 10 ask for 512 each. */
START_TEST(more_than_are_heard_are_counted)
{
    const struct uvm_policy *p = start("512");
    uint32_t pages[13];
    for (uint32_t i = 0; i < 13; i++)
        pages[i] = i;
    struct uvm_prefetch_requests requests = requests_of(p, state, pages, 13);
    ck_assert_uint_eq(requests.count, UVM_PREFETCH_REQUESTS_MAX);
    ck_assert_uint_eq(requests.dropped, 10 * 512 - UVM_PREFETCH_REQUESTS_MAX);
    batch_end(p, state);
}
END_TEST

START_TEST(faults_without_one_distance_ask_for_nothing)
{
    const struct uvm_policy *p = start("3");
    static const uint32_t pages[] = {1, 2, 4, 8, 16, 32, 64, 128};
    ck_assert_uint_eq(requests_of(p, state, pages, 8).count, 0);
    static const uint32_t end[] = {3000, 3300, 3600, 3900};
    ck_assert_uint_eq(requests_of(p, state, end, 4).count, 0); /* four blocks, one fault each */
    batch_end(p, state);
}
END_TEST

TEST_MAIN("prefetch/stride")
