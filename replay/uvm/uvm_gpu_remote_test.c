#include "replay/uvm/uvm_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "replay/run/engine.h"
#include "trace/base/testing.h"

START_TEST(c2_the_256th_access_makes_the_notification)
{
    struct uvm_remote r;
    uint32_t block, regions;
    ck_assert_int_eq(uvm_remote_init(&r, NULL, NULL, 3, NULL), 0);
    for (int i = 0; i < 255; i++)
        ck_assert(!uvm_remote_count(&r, 2, (uint32_t)(i % 2) * 5, 1, UVM_REMOTE_THRESHOLD));
    ck_assert(!uvm_remote_take(&r, &block, &regions));
    ck_assert(uvm_remote_count(&r, 2, 1, 1, UVM_REMOTE_THRESHOLD));
    ck_assert(!uvm_remote_count(&r, 2, 7, 1000, UVM_REMOTE_THRESHOLD)); /* pending: one notification */
    ck_assert(uvm_remote_take(&r, &block, &regions));
    ck_assert_uint_eq(block, 2);
    ck_assert_uint_eq(regions, 0xA3);
    ck_assert_uint_eq(r.counters[2].count, 0); /* cleared */
    uvm_remote_release(&r);
}
END_TEST

/* models/zerocopy/link.h's own example: 128 B requests of the H200 alone come at 50.5 GB/s. */
START_TEST(a_request_costs_what_the_link_says)
{
    struct err err = {""};
    struct platform *h200 = platform_load("h200", &err);
    struct uvm_remote r;
    uint32_t requests, bytes;
    ck_assert_msg(h200 != NULL, "%s", err.msg);
    ck_assert_int_eq(
        uvm_remote_init(&r, platform_section_get(h200, "pcie"), platform_section_get(h200, "gpu"), 0, NULL), 0);
    ck_assert_double_eq_tol(128 / r.request_ns[3], 50.5, 0.2);
    ck_assert_double_lt(r.request_ns[0], r.request_ns[3]);
    double one = uvm_remote_turn_ns(&r, 1, 4, 16, &requests, &bytes); /* 16 sectors over 4 pages, one remote */
    ck_assert_double_eq(one, r.request_ns[3]);
    ck_assert_uint_eq(requests, 1);
    ck_assert_uint_eq(bytes, 128);
    ck_assert_double_eq(uvm_remote_turn_ns(&r, 2, 2, 10, &requests, &bytes), 2 * (r.request_ns[3] + r.request_ns[0]));
    ck_assert_uint_eq(requests, 2);
    uvm_remote_release(&r);
    platform_free(h200);
}
END_TEST

static void cost_of(const struct platform *platform, struct uvm_remote *r)
{
    WORKS(uvm_remote_init(r, platform_section_get(platform, "pcie"), platform_section_get(platform, "gpu"), 0, &err));
}

/* Whether what a page that stays with the CPU costs changes with that number of [pcie], at an end of its range. */
static bool counts(const struct platform *platform, const struct param *row)
{
    const double ends[] = {row->lo, row->hi};
    struct uvm_remote now, then[2];
    cost_of(platform, &now);
    for (int i = 0; i < 2; i++) {
        struct platform *other = GIVES(platform_copy(platform, &err));
        char value[40];
        (void)snprintf(value, sizeof value, row->type == PARAM_REAL ? "%.17g" : "%.0f", ends[i]);
        WORKS(platform_set(other, testing_text("pcie.%s", row->name), value, NULL, &err));
        cost_of(other, &then[i]);
        platform_free(other);
    }
    return memcmp(&now, &then[0], sizeof now) != 0 || memcmp(&now, &then[1], sizeof now) != 0;
}

START_TEST(numbers_of_the_link_that_count_can_be_set)
{
    struct platform *h200 = GIVES(platform_load("h200", &err));
    struct input input;
    WORKS(input_open(&input, "synth:nw,bytes=4MiB", "", false, &err));
    const struct engine *uvm = engine_find("uvm");
    void *settings = calloc(1, uvm->settings_size);
    const struct replay_job job = {.inputs = &input, .input_count = 1, .platform = h200, .settings = settings};
    const char *const *besides = uvm->besides(&job);
    for (const struct param *row = pcie_params; row->name; row++) {
        bool listed = false;
        for (size_t i = 0; besides[i]; i++)
            listed |= strcmp(besides[i], testing_text("pcie.%s", row->name)) == 0;
        if (row->type != PARAM_CHOICE && strcmp(row->name, "uvm_reserve_bytes") != 0)
            ck_assert_msg(counts(h200, row) == listed, "%s", row->name);
    }
    free(settings);
    input_close(&input);
    platform_free(h200);
}
END_TEST

START_TEST(turns_at_once_are_turns_one_by_one)
{
    struct uvm_remote a = {.latency_ns = 900, .free_ns = 5000}, b = a;
    int64_t time = 4000;
    for (int i = 0; i < 7; i++)
        time = uvm_remote_turns(&a, time, 300, 40, 1);
    ck_assert_int_eq(uvm_remote_turns(&b, 4000, 300, 40, 7), time);
    ck_assert_double_eq(a.free_ns, b.free_ns);
    ck_assert_int_eq(time, 5000 + 7 * 940);
}
END_TEST

START_TEST(the_link_serves_one_after_the_other)
{
    struct uvm_remote r = {.latency_ns = 0};
    for (int i = 0; i < 10; i++)
        (void)uvm_remote_turns(&r, 0, 0, 100, 1);
    ck_assert_double_eq(r.free_ns, 1000);
}
END_TEST

TEST_MAIN("replay/uvm_gpu_remote")
