#include "models/uvm/prefetch/adaptive.c"

#include <math.h>

#include "models/policies.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* A state with the defaults and then `sets`, "name=value" ended by NULL; freed by the caller. */
static struct adaptive *make(const char *const *sets)
{
    struct adaptive *s = calloc(1, sizeof *s);
    const struct param *table = uvm_adaptive.head.params;
    param_defaults(table, s);
    for (; sets && *sets; sets++) {
        size_t n = strcspn(*sets, "=");
        WORKS(param_set(table, s, testing_text("%.*s", (int)n, *sets), *sets + n + 1, &err));
    }
    ck_assert_int_eq(adaptive_init(s, NULL), 0);
    return s;
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A batch of `n` blocks from number `first` on, one fault each, under memory pressure. */
static void feed(struct adaptive *s, uint64_t first, size_t n)
{
    struct uvm_batch_block blocks[256];
    for (size_t i = 0; i < n; i++)
        blocks[i] = (struct uvm_batch_block){.number = first + i, .faults = 1};
    adaptive_on_batch_end(s,
                          &(struct uvm_batch){.blocks = blocks, .block_count = n, .evictions = 1, .total_chunks = 100});
}

/* One window of 20 batches with r = blocks / 20 distinct blocks per batch. */
static void window(struct adaptive *s, size_t blocks)
{
    for (int i = 0; i < 20; i++)
        feed(s, (uint64_t)i * blocks / 20, ((size_t)i + 1) * blocks / 20 - (size_t)i * blocks / 20);
}

START_TEST(r_at_or_below_r_lo_jumps_to_the_upper_bound_and_grows)
{
    struct adaptive *s = make(SETS("start=64KiB", "gate=off"));
    window(s, 6); /* R = 0.3 */
    ck_assert_int_eq(s->a, 4);
    ck_assert_int_eq(adaptive_granularity(s), 128 * KIB);
    free(s);
    s = make(SETS("start=64KiB", "gate=off"));
    window(s, 7); /* R = 0.35 */
    ck_assert_int_eq(s->a, 1);
    ck_assert_int_eq(adaptive_granularity(s), 64 * KIB);
    free(s);
}
END_TEST

START_TEST(r_at_r_hi_counts_as_regular_and_above_as_random)
{
    struct adaptive *s = make(SETS("gate=off"));
    window(s, 80); /* R = 4 */
    ck_assert_int_eq(s->a, 1);
    window(s, 81);
    ck_assert_int_eq(s->a, 0);
    ck_assert_int_eq(s->windows_mid, 1);
    ck_assert_int_eq(s->windows_hi, 1);
    free(s);
}
END_TEST

START_TEST(random_faults_shrink_after_16_windows_one_rung_each_and_stop_at_4_kib)
{
    static const int64_t want[] = {MIB, 512 * KIB, 256 * KIB, 128 * KIB, 64 * KIB, 4 * KIB, 4 * KIB, 4 * KIB};
    struct adaptive *s = make(NULL);
    for (int i = 0; i < 15; i++) {
        window(s, 540);
        ck_assert_int_eq(s->a, -1 - i);
        ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    }
    for (int i = 0; i < 8; i++) {
        window(s, 540);
        ck_assert_int_eq(s->a, -16);
        ck_assert_int_eq(adaptive_granularity(s), want[i]);
    }
    ck_assert_int_eq(s->shrunk, 6);
    free(s);
}
END_TEST

START_TEST(a_saturates_and_the_ladder_is_clamped_at_2_mib)
{
    struct adaptive *s = make(SETS("gate=off"));
    for (int i = 0; i < 50; i++)
        window(s, 20);
    ck_assert_int_eq(s->a, 4);
    ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    ck_assert_int_eq(s->grown, 0);
    free(s);
}
END_TEST

START_TEST(step_jump_goes_to_the_end_and_reset_needs_patience_again)
{
    struct adaptive *s = make(SETS("step=jump", "a_min=-2", "a_reset=on", "gate=off"));
    window(s, 540);
    window(s, 540);
    ck_assert_int_eq(adaptive_granularity(s), 4 * KIB);
    ck_assert_int_eq(s->a, 0);
    free(s);
    s = make(SETS("a_min=-2", "a_reset=on", "gate=off"));
    for (int i = 0; i < 4; i++)
        window(s, 540);
    ck_assert_int_eq(adaptive_granularity(s), 512 * KIB);
    free(s);
}
END_TEST

START_TEST(summed_r_counts_a_block_once_per_batch)
{
    struct adaptive *d = make(SETS("r_hi=1", "gate=off")), *m = make(SETS("r_hi=1", "r=summed", "gate=off"));
    for (int i = 0; i < 20; i++) {
        feed(d, 7, 2); /* the same two blocks: distinct 0.1, summed 2 */
        feed(m, 7, 2);
    }
    ck_assert_int_eq(d->a, 4);
    ck_assert_int_eq(m->a, -1);
    free(d);
    free(m);
}
END_TEST

START_TEST(abundant_memory_holds_2_mib_until_an_eviction)
{
    struct adaptive *s = make(SETS("a_min=-1", "start=4KiB"));
    ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    struct uvm_batch_block block = {.number = 1, .faults = 1};
    struct uvm_batch calm = {.blocks = &block, .block_count = 1, .free_chunks = 5, .total_chunks = 100};
    for (int i = 0; i < 200; i++) {
        block.number = (uint64_t)i;
        adaptive_on_batch_end(s, &calm);
    }
    ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    for (int i = 0; i < 10; i++)
        window(s, 540); /* evicts */
    ck_assert_int_eq(adaptive_granularity(s), 4 * KIB);
    for (int i = 0; i < 19; i++)
        adaptive_on_batch_end(s, &calm);
    ck_assert_int_eq(adaptive_granularity(s), 4 * KIB);
    adaptive_on_batch_end(s, &calm); /* the 20th batch without an eviction, 5 % free */
    ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    calm.free_chunks = 4;
    adaptive_on_batch_end(s, &calm);
    ck_assert(!s->gate_open);
    free(s);
}
END_TEST

START_TEST(the_outlier_fraction_follows_equations_4_to_7)
{
    struct uvm_batch_block b[12];
    for (int i = 0; i < 12; i++)
        b[i] = (struct uvm_batch_block){.number = (uint64_t)i, .faults = 1};
    struct uvm_batch batch = {.blocks = b, .block_count = 12};
    ck_assert_double_eq(adaptive_outlier_fraction(&batch, 2, false), 0); /* sigma is 0 */
    b[3].faults = 40; /* mu 4.25, sigma 10.78: z = 3.32; the others -0.30 */
    ck_assert_double_eq_tol(adaptive_outlier_fraction(&batch, 2, false), 1 / 12.0, 1e-12);
    ck_assert_double_eq(adaptive_outlier_fraction(&batch, 3.4, false), 0);
    b[5].raw = 500;
    ck_assert_double_eq_tol(adaptive_outlier_fraction(&batch, 2, true), 1 / 12.0, 1e-12);
    batch.block_count = 0;
    ck_assert_double_eq(adaptive_outlier_fraction(&batch, 2, false), 0);
}
END_TEST

START_TEST(five_blocks_or_fewer_never_hold_an_outlier)
{
    struct uvm_batch_block b[5];
    for (size_t n = 1; n <= 5; n++)
        for (uint32_t f = 1; f <= 256; f++) {
            for (size_t i = 0; i < n; i++)
                b[i] = (struct uvm_batch_block){.number = i, .faults = i ? 1 : f};
            struct uvm_batch batch = {.blocks = b, .block_count = n};
            ck_assert_double_eq(adaptive_outlier_fraction(&batch, 2, false), 0);
        }
}
END_TEST

/* 20 batches of the same 14 blocks; in the first `loud` of them two blocks are outliers. */
static void fine_window(struct adaptive *s, int loud)
{
    for (int i = 0; i < 20; i++) {
        struct uvm_batch_block b[14];
        for (int k = 0; k < 14; k++)
            b[k] = (struct uvm_batch_block){.number = (uint64_t)(k % 14), .faults = i < loud && k < 2 ? 100 : 1};
        adaptive_on_batch_end(s,
                              &(struct uvm_batch){.blocks = b, .block_count = 14, .evictions = 1, .total_chunks = 100});
    }
}

START_TEST(the_damped_density_score_needs_two_batches_and_moves_one_rung_per_window)
{
    struct adaptive *s = make(SETS("fine=damped", "gate=off", "start=256KiB"));
    fine_window(s, 2); /* two outlying batches raise D to 1; then at most one rung: the quiet ones are held */
    ck_assert_int_eq(adaptive_granularity(s), 512 * KIB);
    ck_assert_int_eq(s->fine_grown, 1);
    ck_assert_int_eq(s->fine_shrunk, 0);
    free(s);
    s = make(SETS("fine=damped", "gate=off", "start=256KiB"));
    fine_window(s, 1); /* up to 0.75, down to 0: shrinks */
    ck_assert_int_eq(adaptive_granularity(s), 128 * KIB);
    free(s);
}
END_TEST

START_TEST(the_literal_density_score_moves_at_every_judgement)
{
    struct adaptive *s = make(SETS("fine=literal", "gate=off", "start=256KiB"));
    fine_window(s, 1); /* the first outlying batch already grows */
    ck_assert_int_eq(adaptive_granularity(s), 512 * KIB);
    free(s);
    s = make(SETS("fine=literal", "gate=off", "start=256KiB", "fine_moves=0"));
    fine_window(s, 1); /* one up, nineteen down, clamped */
    ck_assert_int_eq(adaptive_granularity(s), 4 * KIB);
    ck_assert_int_eq(s->fine_grown, 1);
    free(s);
}
END_TEST

START_TEST(the_fine_stage_may_be_limited_to_growing_or_to_large_batches)
{
    struct adaptive *s = make(SETS("fine=grow", "gate=off", "start=256KiB"));
    fine_window(s, 0);
    ck_assert_int_eq(adaptive_granularity(s), 256 * KIB);
    fine_window(s, 4); /* D had fallen to 0 and climbs in steps of 0.25 */
    ck_assert_int_eq(adaptive_granularity(s), 512 * KIB);
    free(s);
    s = make(SETS("fine=damped", "fine_min_blocks=15", "gate=off", "start=256KiB"));
    fine_window(s, 20);
    ck_assert_int_eq(adaptive_granularity(s), 256 * KIB);
    ck_assert_int_eq(s->batches_judged, 0);
    free(s);
}
END_TEST

START_TEST(off_reports_outliers_without_acting_on_them)
{
    struct adaptive *s = make(SETS("gate=off", "start=256KiB"));
    fine_window(s, 7);
    ck_assert_int_eq(adaptive_granularity(s), 256 * KIB);
    ck_assert_int_eq(s->batches_judged, 20);
    ck_assert_int_eq(s->batches_outlying, 7);
    ck_assert_double_eq_tol(s->outlier_max, 2 / 14.0, 1e-12);
    free(s);
}
END_TEST

START_TEST(which_stage_decides_at_the_end_of_the_ladder_is_a_setting)
{
    struct adaptive *s = make(SETS("fine=damped", "a_max=1", "gate=off"));
    fine_window(s, 0); /* R = 14 / 20 <= 4: A at its bound, 2 MiB cannot grow, and the coarse stage has decided */
    ck_assert_int_eq(adaptive_granularity(s), 2 * MIB);
    free(s);
    s = make(SETS("fine=damped", "a_max=1", "gate=off", "saturated=fine"));
    fine_window(s, 0);
    ck_assert_int_eq(adaptive_granularity(s), MIB);
    free(s);
}
END_TEST

/* Three arrays swept at the same pace; each batch holds one fault of each. Returns how often the direction turned. */
static int three_streams(struct adaptive *s, int64_t *smallest)
{
    uint64_t at[3] = {0, 1ull << 30, 2ull << 30};
    int turns = 0, last = 0;
    int64_t before = adaptive_granularity(s);
    *smallest = before;
    for (int i = 0; i < 20000; i++) {
        struct uvm_batch_block b[3];
        int64_t g = adaptive_granularity(s);
        for (int k = 0; k < 3; k++) {
            b[k] = (struct uvm_batch_block){.number = uvm_block_number(at[k]), .faults = 1};
            at[k] += (uint64_t)g;
        }
        adaptive_on_batch_end(s,
                              &(struct uvm_batch){.blocks = b, .block_count = 3, .evictions = 1, .total_chunks = 100});
        int direction = g > before ? 1 : g < before ? -1 : 0;
        turns += direction && last && direction != last;
        last = direction ? direction : last;
        before = g;
        *smallest = g < *smallest ? g : *smallest;
    }
    return turns;
}

START_TEST(three_streams_make_r_hi_1_oscillate_and_r_hi_4_hold_2_mib)
{
    int64_t smallest;
    struct adaptive *s = make(SETS("r_hi=1", "a_min=-4"));
    ck_assert_int_gt(three_streams(s, &smallest), 10);
    ck_assert_int_lt(smallest, 2 * MIB);
    free(s);
    s = make(NULL);
    ck_assert_int_eq(three_streams(s, &smallest), 0);
    ck_assert_int_eq(smallest, 2 * MIB);
    free(s);
}
END_TEST

START_TEST(settings_that_contradict_are_refused)
{
    static const char *const bad[][2] = {{"start", "8KiB"}, {"r_lo", "5"}, {"a_start", "9"}};
    for (size_t i = 0; i < 3; i++) {
        struct adaptive *s = calloc(1, sizeof *s);
        param_defaults(uvm_adaptive.head.params, s);
        ck_assert_int_eq(param_set(uvm_adaptive.head.params, s, bad[i][0], bad[i][1], NULL), 0);
        FAILS_WITH(adaptive_init(s, &err), bad[i][0]);
        free(s);
    }
    struct adaptive *s = make(SETS("ladder=powers", "start=8KiB", "gate=off"));
    ck_assert_int_eq(adaptive_granularity(s), 8 * KIB);
    free(s);
}
END_TEST

START_TEST(every_ladder_has_its_rungs)
{
    static const struct {
        const char *name;
        int64_t kib[ADAPTIVE_RUNGS];
    } ladders[] = {{"ladder=levels", {4, 64, 128, 256, 512, 1024, 2048}},
                   {"ladder=pte", {4, 64, 2048}},
                   {"ladder=ends", {4, 2048}},
                   {"ladder=powers", {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}}};
    for (size_t l = 0; l < 4; l++) {
        struct adaptive *s = make(SETS(ladders[l].name, "start=4KiB"));
        for (int i = 0; i < ADAPTIVE_RUNGS; i++) {
            ck_assert_int_eq(i < s->rung_count ? s->rungs[i] : 0, ladders[l].kib[i] * KIB);
            ck_assert(!ladders[l].kib[i] == (i >= s->rung_count));
        }
        free(s);
    }
}
END_TEST

/* One of n blocks that has f more faults than the others stands sqrt(n - 1) deviations out, whatever f is. */
START_TEST(one_fault_more_is_as_far_out_as_a_hundred)
{
    struct uvm_batch_block b[40];
    for (size_t n = 2; n <= 40; n++)
        for (uint32_t f = 1; f <= 100; f += 33) {
            for (size_t i = 0; i < n; i++)
                b[i] = (struct uvm_batch_block){.number = i, .faults = i ? 1 : 1 + f};
            const struct uvm_batch batch = {.blocks = b, .block_count = n};
            const double out = sqrt((double)n - 1);
            ck_assert_double_eq(adaptive_outlier_fraction(&batch, out * 1.01, false), 0);
            ck_assert_double_eq_tol(adaptive_outlier_fraction(&batch, n > 2 ? out * 0.99 : 0.99, false),
                                    n > 2 ? 1. / (double)n : 1, 1e-12);
        }
}
END_TEST

TEST_MAIN("adaptive")
