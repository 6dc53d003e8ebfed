#include "replay/placement/program_totals.h"

#include "replay/placement/program_testing.h"
#include "trace/base/testing.h"

static struct program_hits run(const struct gpu *gpu, uint64_t cut)
{
    struct hand h;
    struct program_totals t;
    struct program_hits hits;
    hand_make(&h);
    WORKS(program_totals_init(&t, &h.program, gpu, &err));
    WORKS(program_hits_run(&hits, &h.program, &t, gpu, cut, &err));
    program_totals_release(&t);
    return hits;
}

START_TEST(stores_hit_and_loads_hit_what_is_there)
{
    struct gpu gpu = hand_gpu();
    struct program_hits h = run(&gpu, 0);
    /* 256 sectors of a for the first time, 256 of b stored; then four of each again. s is GPU memory. */
    ck_assert_uint_eq(h.sectors, 256 + 256 + 8);
    ck_assert_uint_eq(h.hits, 256 + 8);
    ck_assert_uint_eq(h.instructions, 4 * 16 * 3 + 3);
    ck_assert(!h.cut);
    gpu.l2_bytes = 0; /* no cache: every load goes to memory */
    ck_assert_uint_eq(run(&gpu, 0).hits, 256 + 4);
}
END_TEST

START_TEST(a_cut_keeps_whole_waves_of_every_kernel)
{
    struct gpu gpu = hand_gpu();
    gpu.sms = gpu.blocks_per_sm = 1; /* a block at once */
    struct program_hits h = run(&gpu, 97);
    ck_assert(h.cut);
    ck_assert_uint_eq(h.instructions, 2 * 16 * 3 + 3); /* one of two blocks, and the last launch */
    ck_assert_uint_eq(h.sectors, 128 + 128 + 8);
    ck_assert_uint_eq(h.hits, 128 + 8);
    ck_assert_uint_eq(run(&gpu, 195).instructions, 195);
    ck_assert(!run(&gpu, 195).cut);
}
END_TEST

START_TEST(a_single_wave_that_is_too_long_keeps_its_first_turns)
{
    struct gpu gpu = hand_gpu(); /* all blocks at once */
    struct program_hits h = run(&gpu, 65);
    ck_assert(h.cut);
    ck_assert_uint_eq(h.instructions, 4 * 6 * 3 + 3); /* a third of 16 turns: 6 */
    ck_assert_uint_eq(h.sectors, 4 * 6 * 8 + 8);
    ck_assert_uint_eq(h.hits, 4 * 6 * 4 + 8);
}
END_TEST

TEST_MAIN("program_hits")
