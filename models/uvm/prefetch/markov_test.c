#include "models/uvm/prefetch/batch_testing.h"

static void *state;

static const struct uvm_policy *start(const char *depth)
{
    const struct uvm_policy *p = (const struct uvm_policy *)policy_find(uvm_policies, "markov");
    state = batch_start(p, "depth", depth);
    return p;
}

static struct uvm_prefetch_requests touch(const struct uvm_policy *p, uint32_t block, uint32_t page)
{
    uint32_t pages[] = {block * 512 + page};
    return requests_of(p, state, pages, 1);
}

START_TEST(what_followed_the_last_time_is_asked_for)
{
    for (int depth = 1; depth <= 2; depth++) {
        const struct uvm_policy *p = start(depth == 1 ? "1" : "2");
        ck_assert_uint_eq(touch(p, 4, 0).count, 0);
        ck_assert_uint_eq(touch(p, 7, 100).count, 0);
        ck_assert_uint_eq(touch(p, 6, 5).count, 0);
        struct uvm_prefetch_requests requests = touch(p, 4, 0);
        ck_assert_uint_eq(requests.count, 16 * depth);
        ck_assert_uint_eq(requests.pages[0], 7 * 512 + 96);
        if (depth == 2)
            ck_assert_uint_eq(requests.pages[16], 6 * 512);
        batch_end(p, state);
    }
}
END_TEST

START_TEST(the_last_successor_counts_and_a_block_does_not_follow_itself)
{
    const struct uvm_policy *p = start("1");
    (void)touch(p, 1, 0);
    (void)touch(p, 2, 0);
    (void)touch(p, 1, 0);
    (void)touch(p, 3, 0);
    ck_assert_uint_eq(touch(p, 3, 40).count, 0);
    struct uvm_prefetch_requests requests = touch(p, 1, 0);
    ck_assert_uint_eq(requests.count, 32); /* of block 3, regions 0 and 2 */
    ck_assert_uint_eq(requests.pages[16], 3 * 512 + 32);
    batch_end(p, state);
}
END_TEST

TEST_MAIN("prefetch/markov")
