/* Of a cut launch: how much of its time its beginning and end are, sms_counts.ends. */
#include "models/base/sections.h"
#include "models/gpu/sms_testing.h"
#include "trace/base/param_value.h"

static struct sms_counts run(const struct program *program, uint32_t sms, const double *kept, struct sink *sink)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    struct sms_options o = {
        .gpu = &gpu, .program = program, .sms = sms, .input_room = 512, .launch_cycles = 50, .kept_share = kept};
    struct sms *s = GIVES(sms_new(&o, &err));
    sink_run(sink, s, sms);
    struct sms_counts c;
    sms_counts(s, &c);
    sms_free(s);
    return c;
}

static struct program_access *one_lane(struct program_body *body, const struct hand_program *p, uint64_t warp)
{
    struct program_access *a = program_load(body, &p->alloc, 0, 128 * warp, 4);
    a->active = 1;
    return a;
}

static int one_sector(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    one_lane(body, p, warp);
    return index == 0;
}

/* A place for one block, each of 123 cycles, but the first waits for the sink: 1101. */
START_TEST(of_a_cut_launch_the_ends_beyond_their_share_are_counted)
{
    static const double shares[] = {1, 0.25, 0.25}, expected[] = {0, 0.75 * (1101 + 4 * 123 - 5 * 123), 0};
    static const uint64_t blocks[] = {5, 5, 2};
    for (int i = 0; i < 3; i++) {
        struct hand_program p;
        struct program program = hand_program(&p, blocks[i], 1, one_sector);
        p.launch.blocks_most = 1;
        struct sink sink = {.latency = 100, .shut = 1050};
        const struct sms_counts c = run(&program, 1, &shares[i], &sink);
        ck_assert_double_eq_tol(c.ends, expected[i], 1e-9);
        sink_release(&sink);
    }
}
END_TEST

/* Blocks of 122 to 518 cycles. */
static int uneven(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    struct program_access *a = one_lane(body, p, warp);
    a->before = (uint32_t)((warp + 1) * 0x9E3779B97F4A7C15u >> 32) % 100;
    return index == 0;
}

/* The time of a block, of `blocks` of a launch of 4,000 in places for 12, as it would be of the whole launch. */
static double of_a_block(uint64_t blocks, bool weighed)
{
    const double kept = weighed ? (double)blocks / 4000 : 1;
    struct hand_program p;
    struct program program = hand_program(&p, blocks, 1, uneven);
    p.launch.blocks_most = 4;
    struct sink sink = {.latency = 100, .shut = 700};
    const struct sms_counts c = run(&program, 3, &kept, &sink);
    const double cycles = (double)sink.end - c.ends;
    sink_release(&sink);
    return cycles / (double)blocks;
}

START_TEST(a_cut_launch_takes_its_part_of_the_whole_ones_time)
{
    const double whole = of_a_block(4000, true);
    ck_assert_double_eq_tol(of_a_block(4000, false), whole, 1e-9);
    for (uint64_t waves = 4; waves <= 32; waves *= 2) {
        const double cut = of_a_block(12 * waves, true), raw = of_a_block(12 * waves, false);
        ck_assert_msg(cut > 0.9 * whole && cut < 1.1 * whole, "%d waves: %g, whole %g", (int)waves, cut, whole);
        ck_assert_msg(raw > 1.1 * whole || waves > 16, "%d waves: %g with its ends, whole %g", (int)waves, raw, whole);
    }
}
END_TEST

/* The first block is long, so that the quick ones take turns in the other place. */
static int one_waits(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    one_lane(body, p, warp)->before = warp == 0 ? 1000 : 0;
    return index == 0;
}

/* Two places, eight blocks of 123 cycles but for the first. By those in its middle the launch would take 4 x 123; the
 * last block begins after 6 x 123. */
START_TEST(a_cut_launch_takes_no_less_than_until_its_last_block_begins)
{
    static const double all = 1, quarter = 0.25;
    struct hand_program p;
    struct program program = hand_program(&p, 8, 1, one_waits);
    p.launch.blocks_most = 2;
    struct sink whole = {.latency = 100}, cut = {.latency = 100};
    ck_assert(run(&program, 1, &all, &whole).ends == 0);
    const double took = (double)whole.end - 50;
    const struct sms_counts c = run(&program, 1, &quarter, &cut);
    ck_assert_msg(took > 3000, "%g", took);
    ck_assert_double_eq_tol(c.ends, 0.75 * (took - 6 * 123), 10);
    sink_release(&whole);
    sink_release(&cut);
}
END_TEST

TEST_MAIN("sms_ends")
