/* The front end `direct` by itself, with a policy that cannot be had. */
#include "replay/dram/dram.h"

#include "trace/base/testing.h"

static int asked;

static int refuse(const void *state, struct err *err)
{
    (void)state;
    asked++;
    return err_set(err, "never");
}

/* Channels 1 and 2 have requests. */
START_TEST(a_channel_that_fails_ends_the_run_with_its_error)
{
    static const struct dram_policy policy = {.head = {.name = "none", .state_size = 8}, .check = refuse};
    struct dram_request request = {0};
    int64_t state = 0;
    struct dram_stream_channel channel[3] = {{0},
                                             {.requests = &request, .count = 1, .class_count = {1}},
                                             {.requests = &request, .count = 1, .class_count = {1}}};
    const struct dram_stream stream = {.channel = channel, .channels = 3, .count = 2};
    const struct replay_policy with = {.head = &policy.head, .params = &state};
    const struct replay_job job = {.threads = 1};
    struct dram_totals totals = {0};
    FAILS_AS(dram_direct_run(&job, &with, &stream, NULL, &totals, &err), "channel 1: never");
    ck_assert_int_eq(asked, 1); /* the others are not begun */
    ck_assert_uint_eq(totals.channels, 0);
}
END_TEST

TEST_MAIN("dram_direct")
