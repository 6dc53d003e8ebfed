/* window_testing: a channel's requests alone in a window, for tests that look into the closed loop of streams. */
#pragma once

#include "replay/dram/corun_streams.c"
#include "replay/dram/dram_testing.h"
#include "trace/base/param_value.h"

/* The MEM requests of a channel alone in a window; counted in *stats. Returns the cycles. */
static inline int64_t test_window(const struct dram_stream *stream, const struct platform *platform, uint32_t channel,
                                  int64_t window, int64_t launch_gap, struct dram_stats *stats)
{
    struct err err = {""};
    struct window w = {.sources = 1};
    const struct policy_head *fcfs = policy_find(dram_policies, "fcfs");
    const struct replay_policy policy = {.head = fcfs, .params = mem_zalloc(1, fcfs->state_size, &err)};
    const struct replay_job job = {.platform = platform};
    param_defaults(fcfs->params, policy.params);
    ck_assert(!source_init(&w.source[0], stream, channel, DRAM_MEM, &err));
    w.source[0].window = window;
    w.source[0].launch_gap = launch_gap;
    ck_assert(!window_init(&w, &job, &policy, 1, &err));
    const int64_t cycles = window_run(&w, INT64_MAX);
    *stats = w.part.channel->stats;
    window_release(&w);
    free(policy.params);
    return cycles;
}
