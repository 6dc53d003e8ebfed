#include "trace/program/cut.h"

#include <math.h>
#include <string.h>

#include "trace/program/random_testing.h"
#include "trace/program/walked_testing.h"

START_TEST(what_is_spread_ascends_and_leaves_as_much_at_both_ends)
{
    for (uint64_t n = 1; n <= 60; n++)
        for (uint64_t kept = 1; kept <= n; kept++) {
            const uint64_t stretches = kept < 4 ? kept : 4, at_end = (n - kept) / (2 * stretches);
            ck_assert_uint_eq(program_cut_spread(n, kept, 0), at_end);
            for (uint64_t k = 1; k < kept; k++)
                ck_assert_uint_gt(program_cut_spread(n, kept, k), program_cut_spread(n, kept, k - 1));
            const uint64_t behind = n - 1 - program_cut_spread(n, kept, kept - 1);
            ck_assert(behind == at_end || behind == at_end + 1);
        }
    static const uint64_t first[] = {10, 35, 60, 85};
    for (uint64_t k = 0; k < 20; k++)
        ck_assert_uint_eq(program_cut_spread(100, 20, k), first[k / 5] + k % 5);
}
END_TEST

/* Launches of 100, 10 and 1 blocks of two warps; a warp of launch l loads one sector l + 1 times, at its own place. */
static const struct program_alloc allocs[] = {{.name = "a", .addr = 1 << 20, .bytes = 1 << 20}};

static const struct program_alloc *plain_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return allocs;
}

static uint32_t plain_launches(const void *state)
{
    return *(const uint32_t *)state;
}

static void plain_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const uint64_t blocks[] = {100, 10, 1};
    (void)state;
    *out = (struct program_launch){.kernel = "k", .blocks = blocks[launch % 3], .threads = 64};
}

static int plain_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    (void)run;
    (void)err;
    if (index)
        return 0;
    program_load(b, allocs, 0, 32 * warp, 4)->lane_stride = 0;
    b->turns = launch % 3 + 1;
    return 1;
}

static const struct program_ops plain_ops = {
    .allocs = plain_allocs, .launches = plain_launches, .launch = plain_launch, .body = plain_body};

static struct program_cut *cut_of(const struct program *program, uint64_t sectors)
{
    return walked_cut(program, sectors, 5);
}

START_TEST(without_a_budget_or_below_it_nothing_is_left_out)
{
    uint32_t n = 3;
    struct program program = {&plain_ops, &n, -1};
    static const uint64_t budgets[] = {0, 246 /* 200 + 2 x 20 + 3 x 2 */};
    for (int i = 0; i < 2; i++) {
        struct program_cut *cut = cut_of(&program, budgets[i]);
        struct program_cut_facts f = cut->facts;
        ck_assert_uint_eq(f.whole_sectors, 246);
        ck_assert_uint_eq(f.sectors, 246);
        ck_assert_uint_eq(f.blocks, 111);
        ck_assert_uint_eq(f.launches, 3);
        program_cut_free(cut);
    }
}
END_TEST

START_TEST(a_kernel_keeps_its_share_by_threes_of_waves)
{
    uint32_t n = 3;
    struct program program = {&plain_ops, &n, -1};
    struct program_cut *cut = cut_of(&program, 124); /* half: three times 3 of 20 waves, 2 of 2, none of 1 */
    struct program_cut_facts f = cut->facts;
    ck_assert_uint_eq(f.whole_blocks, 111);
    ck_assert_uint_eq(f.blocks, 45 + 10);
    ck_assert_uint_eq(f.sectors, 90 + 40);
    ck_assert_uint_eq(f.launches, 2);
    program_cut_free(cut);
}
END_TEST

START_TEST(launches_go_where_a_wave_of_each_is_too_much)
{
    uint32_t n = 300;
    struct program program = {&plain_ops, &n, -1};
    struct program_cut *cut = cut_of(&program, 246);
    struct program_cut_facts f = cut->facts;
    /* A hundredth. Where 20 sectors are owed, half of two waves of the second: 30 of the first, mostly. */
    ck_assert_uint_eq(f.whole_launches, 300);
    ck_assert_uint_eq(f.launches, 8);
    ck_assert(f.sectors > 246 - 21 && f.sectors < 246 + 21);
    const struct program *p = &cut->adapter.program;
    ck_assert_uint_eq(p->ops->launches(p->state), 8);
    program_cut_free(cut);
}
END_TEST

START_TEST(launches_are_kept_by_their_work)
{
    uint32_t n = 300; /* of 200, 40 and 6 sectors: a wave of 100 blocks is all of each */
    struct program program = {&plain_ops, &n, -1};
    for (uint64_t budget = 100; budget <= 12000; budget += 100) {
        struct program_cut *cut = walked_cut(&program, budget, 100);
        struct program_cut_facts f = cut->facts;
        const struct program *p = &cut->adapter.program;
        uint32_t large = 0;
        for (uint32_t l = 0; l < p->ops->launches(p->state); l++) {
            struct program_launch shape;
            p->ops->launch(p->state, l, &shape);
            large += shape.blocks == 100;
        }
        ck_assert_uint_eq(f.launch_sectors, f.sectors);
        ck_assert_uint_ge(f.sectors + 4 * 200, budget); /* half a launch at each end of a stretch */
        ck_assert_uint_le(f.sectors, budget + 4 * 200);
        ck_assert_uint_ge(10 * 200 * large, 6 * f.sectors); /* 81 % of the work is theirs */
        program_cut_free(cut);
    }
}
END_TEST

/* Blocks that do the same work where they are told apart by place and order only. */
static bool same(const struct walked_op *a, const struct walked_op *b)
{
    return a->warp == b->warp && a->addr == b->addr && a->kind == b->kind;
}

START_TEST(what_is_kept_is_part_of_the_whole_in_its_order)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program_random random;
        struct program program;
        program_random_init(&random, seed, &program);
        struct walked whole = {0};
        walked_add(&whole, &program);
        struct program_cut *cut = cut_of(&program, 1 + whole.n / 3);
        struct walked part = {0};
        walked_add(&part, &cut->adapter.program);
        size_t at = 0;
        for (size_t i = 0; i < part.n; i++, at++) {
            while (at < whole.n && !same(&part.op[i], &whole.op[at]))
                at++;
            ck_assert_msg(at < whole.n, "seed %llu: instruction %zu is none of the whole program",
                          (unsigned long long)seed, i);
        }
        program_cut_free(cut);
        free(whole.op);
        free(part.op);
    }
}
END_TEST

START_TEST(the_last_wave_kept_is_as_short_as_it_was)
{
    uint32_t n = 1;
    struct program program = {&plain_ops, &n, -1};
    for (uint64_t budget = 1; budget <= 200; budget++) {
        struct program_cut *cut = walked_cut(&program, budget, 7); /* 14 waves of 7 blocks and one of 2 */
        struct walked part = {0};
        walked_add(&part, &cut->adapter.program);
        ck_assert_uint_eq(part.n, 2 * cut->facts.blocks);
        ck_assert_uint_ge(part.n + 22, budget); /* half of three waves */
        ck_assert_uint_le(part.n, budget + 22);
        for (size_t i = 1; i < part.n; i++)
            ck_assert_uint_gt(part.op[i].addr, part.op[i - 1].addr);
        ck_assert_uint_lt(part.op[part.n - 1].addr >> 8, (1 << 20) + 32 * 200);
        program_cut_free(cut);
        free(part.op);
    }
}
END_TEST

/* As lud: rounds of a kernel of one block and one of ever fewer; both keep the same share, though of the second no
 * launch alone would keep a wave and of the first each would keep all. */
static void two_kernels(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    *out = launch % 2 ? (struct program_launch){.kernel = "large", .blocks = 600 - 2 * launch, .threads = 64}
                      : (struct program_launch){.kernel = "small", .blocks = 1, .threads = 64};
}

START_TEST(a_kernel_of_small_launches_keeps_no_more_than_one_of_large_ones)
{
    static const struct program_ops ops = {
        .allocs = plain_allocs, .launches = plain_launches, .launch = two_kernels, .body = plain_body};
    uint32_t n = 200;
    const struct program program = {&ops, &n, -1};
    for (uint64_t budget = 2000; budget <= 20000; budget += 500) {
        struct program_cut *cut = walked_cut(&program, budget, 5);
        const struct program_cut_facts f = cut->facts;
        const struct program_cut_launch *launch = cut->launch;
        n = cut->launches;
        double kept[2] = {0}, whole[2] = {0};
        for (uint32_t l = 0; l < n; l++) {
            whole[l % 2] += launch[l].sectors;
            kept[l % 2] += launch[l].sectors * (double)launch[l].blocks_kept / (double)launch[l].blocks;
        }
        const double share = (double)budget / (double)f.whole_sectors;
        static const double slack[] = {6, 90}; /* what is kept at once: a launch; three waves of 5 blocks */
        for (int k = 0; k < 2; k++)
            ck_assert_msg(fabs(kept[k] - share * whole[k]) <= slack[k], "%d: %g of %g, share %g", k, kept[k], whole[k],
                          share);
        program_cut_free(cut);
    }
}
END_TEST

/* Kernels k, l and m in turn, whose launches have 60, 20 and 4 blocks: 5 of k, 10 of l, 10 of m, 300, 200 and 40 of
 * 540 blocks. */
static uint32_t three_launches(const void *state)
{
    (void)state;
    return 25;
}

static int kernel_of(uint32_t launch)
{
    return launch % 5 == 0 ? 0 : 1 + (int)(launch % 2);
}

static void three_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    static const char *const name[] = {"k", "l", "m"};
    static const uint64_t blocks[] = {60, 20, 4};
    plain_launch(state, 0, out);
    out->kernel = name[kernel_of(launch)];
    out->blocks = blocks[kernel_of(launch)];
}

static int three_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    (void)launch;
    return plain_body(run, 0, warp, index, b, err);
}

START_TEST(kernels_left_out_keep_a_wave_in_their_middle_until_nine_tenths_are_there)
{
    static const struct program_ops ops = {
        .allocs = plain_allocs, .launches = three_launches, .launch = three_launch, .body = three_body};
    const struct program program = {&ops, allocs, -1};
    uint32_t n;
    struct program_cut *cut = walked_cut(&program, 1, 10);
    const struct program_cut_launch *launch = cut->launch;
    n = cut->launches;
    /* k and l are 500 of 540. The third of k's five; of l's ten the fifth, where half of its work is done. */
    for (uint32_t l = 0, seen[3] = {0}; l < n; l++) {
        const uint32_t number = seen[kernel_of(l)]++;
        ck_assert_msg(launch[l].waves_kept == (kernel_of(l) == 0 ? number == 2 : kernel_of(l) == 1 && number == 4),
                      "launch %u", (unsigned)l);
    }
    ck_assert_uint_eq(cut->facts.blocks, 20);
    program_cut_free(cut);
}
END_TEST

/* Whatever is asked for. */
START_TEST(what_is_kept_is_of_nine_tenths_of_the_work)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program_random random;
        struct program program;
        program_random_init(&random, seed, &program);
        struct program_cut *none = cut_of(&program, 0);
        const uint64_t whole = none->facts.whole_sectors;
        program_cut_free(none);
        for (uint64_t budget = 1; budget < whole; budget *= 3) {
            uint32_t n;
            struct program_cut *cut = cut_of(&program, budget);
            const struct program_cut_launch *launch = cut->launch;
            n = cut->launches;
            double all = 0, there = 0;
            for (uint32_t l = 0; l < n; l++) {
                bool kept = false;
                all += launch[l].sectors;
                for (uint32_t k = 0; k < n; k++)
                    kept |= launch[k].kernel == launch[l].kernel && launch[k].waves_kept;
                there += kept ? launch[l].sectors : 0;
            }
            ck_assert_msg(there >= 0.9 * all, "seed %llu, budget %llu: %g of %g", (unsigned long long)seed,
                          (unsigned long long)budget, there, all);
            program_cut_free(cut);
        }
    }
}
END_TEST

TEST_MAIN("cut")
