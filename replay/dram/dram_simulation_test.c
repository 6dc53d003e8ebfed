/* Programs on multiprocessors before the memory: small ones, written here. */
#include "replay/dram/dram_simulation.h"

#include "replay/dram/dram_testing.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

/* Warps that each read `turns` times 32 lanes, or one lane for PIM. */
struct plain {
    struct program_alloc alloc;
    uint64_t blocks, turns, warp_stride;
    int64_t turn_stride, lane_stride;
    uint32_t threads;
    uint8_t kind;
};

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct plain *)state)->alloc;
}

static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct plain *p = state;
    (void)number;
    *out = (struct program_launch){.kernel = "plain", .blocks = p->blocks, .threads = p->threads};
}

static int body(void *run, uint32_t number, uint64_t warp, uint32_t index, struct program_body *out, struct err *err)
{
    const struct plain *p = run;
    (void)number;
    (void)err;
    if (index)
        return 0;
    struct program_access *a = program_load(out, &p->alloc, 0, warp * p->warp_stride, 4);
    a->kind = p->kind;
    a->use = p->kind == PROGRAM_PIM ? 0 : 1;
    a->lane_stride = p->lane_stride;
    a->turn_stride = p->turn_stride;
    if (p->kind == PROGRAM_PIM)
        a->active = 1;
    out->turns = p->turns;
    return 1;
}

static const struct program_ops plain_ops = {.allocs = allocs, .launches = launches, .launch = launch, .body = body};

/* 128 warps of 16 KiB each, side by side. */
static const struct plain reads = {.alloc = {.name = "A", .addr = 0xc0000000, .bytes = 2 << 20},
                                   .blocks = 16,
                                   .threads = 256,
                                   .turns = 32,
                                   .warp_stride = 16384,
                                   .turn_stride = 128,
                                   .lane_stride = 4,
                                   .kind = RECORD_READ};

/* As the PIM kernels: a warp for each of 32 channels, columns of one row after the other. */
static const struct plain pim = {.alloc = {.name = "P", .addr = UINT64_C(0x100000000), .bytes = 64 << 20},
                                 .blocks = 8,
                                 .threads = 128,
                                 .turns = 500,
                                 .warp_stride = 256,
                                 .turn_stride = 16384,
                                 .lane_stride = 4,
                                 .kind = PROGRAM_PIM};

static struct platform *platform;

static struct dram_simulation simulate(const char *name, int vcs, const struct plain *a, const struct plain *b)
{
    struct program program[2];
    struct replay_policy policy = {.head = policy_find(dram_policies, name)};
    policy.params = GIVES(mem_zalloc(1, policy.head->state_size, &err));
    param_defaults(policy.head->params, policy.params);
    struct dram_simulation run = {
        .platform = platform, .policy = &policy, .vcs = vcs, .repeat = b != NULL, .limit = 2000000};
    const struct plain *const of[] = {a, b};
    for (; run.sides < 2 && of[run.sides]; run.sides++) {
        const struct plain *p = of[run.sides];
        program[run.sides] = (struct program){.ops = &plain_ops, .state = p, .compute_ns = -1};
        const bool is_pim = p->kind == PROGRAM_PIM;
        run.side[run.sides] = (struct dram_simulation_side){
            .program = &program[run.sides], .class = is_pim ? DRAM_PIM : DRAM_MEM, .sms = is_pim ? 8 : 72};
    }
    WORKS(dram_simulation_run(&run, &err));
    free(policy.params);
    return run;
}

static void open_all(void)
{
    platform = GIVES(platform_load("gv100", &err));
}

static void close_all(void)
{
    platform_free(platform);
}

START_TEST(each_sector_is_a_packet_and_each_packet_has_its_reply)
{
    open_all();
    const struct dram_simulation run = simulate("f3fs", 1, &reads, NULL);
    ck_assert_uint_eq(run.memory.packets[DRAM_MEM], 128 * 32 * 4);
    ck_assert_int_eq(run.memory.answered[DRAM_MEM], 128 * 32 * 4);
    ck_assert_uint_eq(run.memory.fetches, 128 * 32 * 4);
    ck_assert_int_eq(run.totals.stats.in[DRAM_MEM], 128 * 32 * 4);
    ck_assert_int_eq(run.totals.stats.answered[DRAM_MEM], 128 * 32 * 4);
    ck_assert_uint_eq(run.counts[0].packets_read, 128 * 32 * 4);
    close_all();
}
END_TEST

/* What the host has written last is in L2: 2 MiB of 6. */
START_TEST(what_the_host_has_written_is_in_l2)
{
    open_all();
    struct plain host = reads;
    host.alloc.host = true;
    struct dram_simulation run = simulate("f3fs", 1, &host, NULL);
    ck_assert_uint_eq(run.memory.fetches, 0);
    host.alloc.bytes = 8 << 20; /* the first quarter of it is not */
    run = simulate("f3fs", 1, &host, NULL);
    ck_assert_uint_eq(run.memory.fetches, run.memory.reads);
    close_all();
}
END_TEST

START_TEST(a_pitch_of_8_kib_camps_on_one_channel)
{
    open_all();
    struct plain camps = reads;
    camps.lane_stride = 8192; /* bits 8 to 12 are the channel's */
    camps.turn_stride = 0;
    camps.warp_stride = 32 * 8192;
    camps.turns = 1;
    camps.blocks = 256;
    struct dram_simulation run = simulate("frfcfs", 1, &camps, NULL);
    ck_assert_double_eq(run.memory.camp_sum / (double)run.memory.camp_count, 32);
    const int64_t alone = run.first_done[0];
    camps.lane_stride = 8192 + 256;
    run = simulate("frfcfs", 1, &camps, NULL);
    ck_assert_double_lt(run.memory.camp_sum / (double)run.memory.camp_count, 1.5);
    ck_assert_int_lt(run.first_done[0] * 5, alone);
    close_all();
}
END_TEST

START_TEST(pim_alone_is_limited_by_the_port_of_its_multiprocessors)
{
    open_all();
    const struct dram_simulation run = simulate("f3fs", 1, &pim, NULL);
    ck_assert_uint_eq(run.memory.packets[DRAM_PIM], 32 * 500);
    /* Four channels share a port of one packet a core cycle: 2,000 core cycles, and the way there and back. */
    const double core = (double)run.first_done[0] * 1132 / 850;
    ck_assert_msg(core > 2000 && core < 2400, "%.0f core cycles", core);
    close_all();
}
END_TEST

START_TEST(both_sides_end_under_every_policy_that_is_fair)
{
    open_all();
    static const char *const fair[] = {"fcfs", "frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs", "f3fs"};
    for (size_t i = 0; i < sizeof fair / sizeof *fair; i++)
        for (int vcs = 1; vcs <= 2; vcs++) {
            const struct dram_simulation run = simulate(fair[i], vcs, &reads, &pim);
            ck_assert_msg(run.first_done[0] >= 0 && run.first_done[1] >= 0, "%s vcs=%d", fair[i], vcs);
            const int64_t both = run.first_done[0] > run.first_done[1] ? run.first_done[0] : run.first_done[1];
            ck_assert_int_ge(run.totals.cycles, both);
            ck_assert_int_le(run.totals.stats.columns, run.totals.cycles * 32);
        }
    const struct dram_simulation one = simulate("f3fs", 2, &reads, &pim), two = simulate("f3fs", 2, &reads, &pim);
    ck_assert_int_eq(one.totals.cycles, two.totals.cycles);
    ck_assert_int_eq(one.totals.stats.columns, two.totals.stats.columns);
    close_all();
}
END_TEST

TEST_MAIN("dram_simulation")
