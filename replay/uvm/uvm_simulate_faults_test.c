/* The worked examples of the fault path in the closed loop: a few warps, whose faults come when the example says. Those
 * of the buffer alone are in fault_buffer_test.c, of one service in uvm_driver_test.c. */
#include "models/base/platform.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/base/testing.h"

enum { WARPS = 64, BATCHES = 32 };

/* A warp computes, then loads `count` pages at once, `apart` pages from one to the next. */
struct warp {
    uint32_t wait_ns, count, first, apart;
};

static struct warp warps[WARPS];
static uint32_t warp_count;
static struct actor_alloc alloc;
static struct uvm_finished_batch seen[BATCHES];
static size_t batches;

static const struct actor_alloc *allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return &alloc;
}
static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}
static void launch(const void *state, uint32_t number, struct actor_launch *out)
{
    (void)state, (void)number;
    *out = (struct actor_launch){.kernel = "example", .actors = warp_count, .threads = 32, .together = 1};
}
static int step(void *run, uint32_t number, uint32_t actor, struct actor_at *at, struct actor_step *out,
                struct err *err)
{
    const struct warp *w = &warps[actor];
    (void)run, (void)err;
    if (number || at->body == 2)
        return 0;
    bool waits = at->body++ == 0;
    *out = (struct actor_step){.accesses = 1, .turns = 1, .compute_ns = waits ? w->wait_ns : 0};
    out->count = waits ? 0 : w->count;
    for (uint32_t i = 0; i < out->count; i++)
        out->page[i] = w->first + i * w->apart;
    return 1;
}
static void see(void *ctx, const struct uvm_finished_batch *batch)
{
    (void)ctx;
    if (batches < BATCHES)
        seen[batches++] = *batch;
}

/* One multiprocessor with one micro-TLB, entries written as they come; a service takes 10 us. */
static const struct uvm_platform plain = {.utlbs = 1,
                                          .gpcs = 1,
                                          .driver = 545,
                                          .utlb_faults = 56,
                                          .utlb = UVM_UTLB_FREE,
                                          .utlb_merge = 1,
                                          .sm_parts = 1,
                                          .batch_faults = 256,
                                          .routine_batches = 20,
                                          .interrupt_ns = 1000,
                                          .poll_ns = 1000,
                                          .service_ns = 10000,
                                          .service_again_ns = 10000,
                                          .h2d_bytes_per_s = 1e12,
                                          .d2h_bytes_per_s = 1e12};

static enum uvm_replay replay;

static struct uvm_metrics simulate(const struct uvm_platform *platform, const char *policy)
{
    static const struct actor_ops ops = {.allocs = allocs, .launches = launches, .launch = launch, .step = step};
    struct err err = {""};
    struct uvm_metrics m;
    struct platform *titanv = platform_load("titanv", &err);
    ck_assert_msg(titanv != NULL, "%s", err.msg);
    struct gpu gpu = *(const struct gpu *)platform_section_get(titanv, "gpu");
    gpu.sms = 1;
    alloc = (struct actor_alloc){.name = "a", .bytes = 64 << 20, .host = true};
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, &err), 0);
    batches = 0;
    const struct uvm_run run = {.ops = &ops,
                                .state = &alloc,
                                .gpu = &gpu,
                                .platform = platform,
                                .policy = (const struct uvm_policy *)policy_find(uvm_policies, policy),
                                .two_engines = true,
                                .replay = replay,
                                .on_batch = see};
    ck_assert_msg(uvm_simulate(&run, &m, &err) == 0, "%s", err.msg);
    platform_free(titanv);
    return m;
}

/* The entries of the first batches, ended by 0. */
static void expect_raw(const char *which, const uint32_t *raw)
{
    size_t n = 0;
    for (; raw[n]; n++)
        ck_assert_msg(n < batches && seen[n].raw == raw[n], "%s: batch %zu has %u entries, expected %u", which, n,
                      n < batches ? seen[n].raw : 0, raw[n]);
    ck_assert_msg(batches == n, "%s: %zu batches, expected %zu", which, batches, n);
}

/* Pages 0, 1, 2; during the service 5 and 40 are asked for: 5 comes with the batch, 40 is in the buffer twice. */
START_TEST(f1_a_survivor_that_misses_again_is_a_duplicate)
{
    warps[0] = (struct warp){0, 3, 0, 1};
    warps[1] = (struct warp){6000, 2, 5, 35};
    warp_count = 2;
    struct uvm_metrics m = simulate(&plain, "tree");
    ck_assert_uint_eq(batches, 2);
    ck_assert(seen[0].raw == 3 && seen[0].faults == 3 && seen[0].moved == 16);
    ck_assert(seen[1].raw == 3 && seen[1].distinct == 2); /* 5, 40, 40 */
    ck_assert(seen[1].faults == 1 && seen[1].moved == 16);
    ck_assert_uint_eq(m.services, 2);
}
END_TEST

/* Ten entries of which five, or six, are duplicates; four more arrive during the service. */
START_TEST(f3_put_is_read_again_over_half_of_duplicates_and_not_at_half)
{
    for (uint32_t distinct = 5; distinct >= 4; distinct--) {
        struct uvm_platform p = plain;
        p.utlb_merge = 0;
        warp_count = 14;
        for (uint32_t w = 0; w < 10; w++)
            warps[w] = (struct warp){0, 1, w % distinct, 1};
        for (uint32_t w = 10; w < 14; w++)
            warps[w] = (struct warp){6000, 1, 1000 + w, 1};
        (void)simulate(&p, "none");
        ck_assert_uint_eq(batches, 2);
        ck_assert(seen[0].raw == 10 && seen[0].distinct == distinct);
        ck_assert_uint_eq(seen[1].raw, distinct == 5 ? 8 : 4); /* survivors and their repetitions, or these alone */
        ck_assert_uint_eq(seen[1].faults, 4);
    }
}
END_TEST

/* 300 entries when PUT is read, 20 more during the service. Those that the limit leaves are thrown away. */
START_TEST(f4_what_the_limit_leaves_comes_again_after_the_replay)
{
    struct uvm_platform p = plain;
    p.utlb_faults = 1024;
    warp_count = 11;
    for (uint32_t w = 0; w < 10; w++)
        warps[w] = (struct warp){0, 30, 30 * w, 1};
    warps[10] = (struct warp){6000, 20, 4096, 1};
    (void)simulate(&p, "none");
    ck_assert_uint_eq(batches, 2);
    ck_assert_uint_eq(seen[0].raw, 256);
    ck_assert_uint_eq(seen[1].raw, 20 + 20 + 44);
    ck_assert_uint_eq(seen[1].faults, 64);
}
END_TEST

/* 21 batches' worth of faults, one page each; no fetch is empty before all are served. The top half finds valid
 * entries, so it reads no PUT. */
START_TEST(f7_a_routine_of_twenty_batches_is_interrupted_again)
{
    struct uvm_platform p = plain;
    p.utlb_faults = 1;
    p.top_half_ns = 200;
    p.awake_ns = 3000;
    warps[0] = (struct warp){0, 21, 0, 1};
    warp_count = 1;
    struct uvm_metrics m = simulate(&p, "none");
    ck_assert_uint_eq(batches, 21);
    ck_assert_uint_eq(m.fault_handler_runs, 2);
    for (size_t b = 1; b < 21; b++) /* what is there at the end of a routine costs one interrupt */
        ck_assert_int_eq(seen[b].fetch_ns - seen[b - 1].end_ns, b < 20 ? 1000 : 2000);
    ck_assert_uint_eq(m.faults, 21);
}
END_TEST

/* Two pages, 300 ns apart, are one batch: the driver has not looked before. Its services take 20 us; it looks once more
 * at 22,009. Then page 512 is asked for, another 300 ns later. With the driver still awake the top half reads PUT 200
 * ns behind the first, so the second survives; the bottom half begins as late as ever. */
START_TEST(an_interrupt_of_a_driver_awake_reads_put_at_once)
{
    static const struct {
        int64_t after_ns, awake_ns;
        bool top;
    } list[] = {{1000, 1000, true}, {1000, 999, false}, {1, 3000, true}, {0, 3000, false}, {2500, 0, false}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct uvm_platform p = plain;
        const uint32_t first = (uint32_t)(22009 + list[i].after_ns);
        const uint32_t two[] = {2, 2, 0}, three[] = {2, 1, 2, 0};
        p.top_half_ns = 200;
        p.awake_ns = (double)list[i].awake_ns;
        warps[0] = (struct warp){5, 1, 0, 1};
        warps[1] = (struct warp){305, 1, 1536, 1};
        warps[2] = (struct warp){first, 1, 512, 1};
        warps[3] = (struct warp){first + 300, 1, 1024, 1};
        warp_count = 4;
        (void)simulate(&p, "none");
        ck_assert_int_eq(seen[0].fetch_ns, 1005);
        ck_assert_int_eq(seen[0].end_ns, 21009);
        expect_raw("awake", list[i].top ? three : two);
        ck_assert_int_eq(seen[1].fetch_ns, first + 1000);
    }
}
END_TEST

/* Entries of one micro-TLB 14.5 ns apart: 28 by 400 ns after the first, which is at 0. */
START_TEST(f11_a_micro_tlb_writes_an_entry_every_14_5_ns)
{
    struct uvm_platform p = plain;
    p.fault_gap_ns = 14.5;
    p.interrupt_ns = 400;
    warps[0] = (struct warp){0, 56, 0, 1};
    warp_count = 1;
    (void)simulate(&p, "none");
    ck_assert_uint_eq(seen[0].raw, 28);
}
END_TEST

/* F6: as F4, nothing thrown away. The 44 that the limit left are the second batch, alone; the third has the 20 and all
 * that the first replay repeated: both; the fourth what the second repeated, by then there. */
START_TEST(f6_what_the_limit_leaves_is_a_batch_alone)
{
    struct uvm_platform p = plain;
    p.utlb_faults = 1024;
    warp_count = 11;
    for (uint32_t w = 0; w < 10; w++)
        warps[w] = (struct warp){0, 30, 30 * w, 1};
    warps[10] = (struct warp){6000, 20, 4096, 1};
    replay = UVM_REPLAY_BATCH;
    struct uvm_metrics m = simulate(&p, "none");
    replay = UVM_REPLAY_BATCH_FLUSH;
    expect_raw("batch", (uint32_t[]){256, 44, 20 + 44 + 20, 20, 0});
    ck_assert(seen[0].faults == 256 && seen[1].faults == 44 && seen[2].faults == 20 && seen[3].faults == 0);
    /* The CPU goes on 10 us after a fetch with a service; copies come behind it, 4.096 ns a page. */
    ck_assert(seen[1].fetch_ns == 11000 && seen[2].fetch_ns == 21000 && seen[3].fetch_ns == 31000);
    ck_assert(seen[0].end_ns == 11000 + 1049 && seen[1].end_ns == 21000 + 180 && seen[2].end_ns == 31000 + 82);
    ck_assert_int_eq(m.time_ns, 31082);
    ck_assert_uint_eq(m.fault_handler_runs, 1);
}
END_TEST

/* One warp asks for page 0 at once, another for page 512 during its service, from 1 to 11 us; the copy takes 4 ns. */
START_TEST(replays_come_when_the_policy_says)
{
    static const struct {
        const char *name;
        enum uvm_replay replay;
        uint32_t raw[4];
        int64_t second_ns;
    } list[] = {
        {"batch-flush", UVM_REPLAY_BATCH_FLUSH, {1, 2}, 12004}, /* 512 is repeated by the replay that it waits for */
        {"block", UVM_REPLAY_BLOCK, {1, 1, 1}, 11000},          /* 512, repeated 4 ns later, comes once more */
        {"batch", UVM_REPLAY_BATCH, {1, 1, 1}, 11000},
        {"once", UVM_REPLAY_ONCE, {1, 1}, 11000}, /* nothing is repeated before 21,004 */
    };
    warps[0] = (struct warp){0, 1, 0, 1};
    warps[1] = (struct warp){6000, 1, 512, 1};
    warp_count = 2;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        replay = list[i].replay;
        struct uvm_metrics m = simulate(&plain, "none");
        expect_raw(list[i].name, list[i].raw);
        ck_assert_msg(seen[1].fetch_ns == list[i].second_ns, "%s: %lld", list[i].name, (long long)seen[1].fetch_ns);
        ck_assert_int_eq(m.time_ns, list[i].second_ns + 10004);
        ck_assert_uint_eq(m.faults, 2);
        ck_assert_uint_eq(m.fault_handler_runs, 1);
    }
    replay = UVM_REPLAY_BATCH_FLUSH;
}
END_TEST

/* Two warps, two VA blocks, one batch: with a replay behind the first block the second one's access repeats. */
START_TEST(a_replay_for_each_block_repeats_the_blocks_behind_it)
{
    static const uint32_t once_more[] = {2, 1, 0}, alone[] = {2, 0};
    warps[0] = (struct warp){0, 1, 0, 1};
    warps[1] = (struct warp){0, 1, 512, 1};
    warp_count = 2;
    for (replay = UVM_REPLAY_BATCH_FLUSH; replay <= UVM_REPLAY_ONCE; replay++) {
        struct uvm_metrics m = simulate(&plain, "none");
        expect_raw("blocks", replay == UVM_REPLAY_BLOCK ? once_more : alone);
        ck_assert_uint_eq(m.services, 2);
        ck_assert_int_eq(m.time_ns, 21004);
        /* Two steps that only wait, two loads, each repeated once; one of them twice. */
        ck_assert_uint_eq(m.touches, 2 + 2 + 2 + (replay == UVM_REPLAY_BLOCK));
    }
    replay = UVM_REPLAY_BATCH_FLUSH;
}
END_TEST

/* 21 pages through a micro-TLB that lists one until a replay: with one replay a routine, a page a routine. */
START_TEST(once_a_routine_is_behind_its_last_batch)
{
    struct uvm_platform p = plain;
    p.utlb_faults = 1;
    warps[0] = (struct warp){0, 21, 0, 1};
    warp_count = 1;
    replay = UVM_REPLAY_ONCE;
    struct uvm_metrics m = simulate(&p, "none");
    replay = UVM_REPLAY_BATCH_FLUSH;
    ck_assert_uint_eq(batches, 21);
    ck_assert_uint_eq(m.fault_handler_runs, 21);
    for (size_t b = 1; b < 21; b++) /* an interrupt behind the replay, which is behind the copy */
        ck_assert_int_eq(seen[b].fetch_ns - seen[b - 1].end_ns, 1000);
}
END_TEST

TEST_MAIN("replay/uvm_simulate_faults")
