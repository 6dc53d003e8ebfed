#include <stdlib.h>

#include "models/zerocopy/link.h"
#include "replay/compare/compare_testing.h"

/* What the engine says of one share; "time_ns", "h2d_bytes". */
static double engine_says(const char *spec, const char *score, double pct, const char *policy, const char *name)
{
    struct replay_result got;
    char resident[64], local[64];
    const char *sets[] = {resident, local};
    (void)snprintf(resident, sizeof resident, "resident=%s", score);
    (void)snprintf(local, sizeof local, "local_pct=%g", pct);
    testing_replay(&got,
                   (struct replay_request){.engine = engine_find("zerocopy"),
                                           .platform = "h200",
                                           .policy_list = policy,
                                           .sets = sets,
                                           .set_count = 2,
                                           .threads = 1},
                   spec);
    double value = outcome_get(&got.runs[0], name)->real;
    replay_release(&got);
    return value;
}

/* Its engine's time and the copy of the rows that are kept; no other share has less. */
START_TEST(a_tiered_row_is_its_engines_time_and_one_copy)
{
    static const char spec[] = "synth:gather,graph=kron,scale=11,seeds=8,batches=2",
                      l1[] = "synth:gather,graph=kron,scale=11,seeds=8,batches=2,reuse=l1";
    static const double shares[] = {1, 2, 5, 10, 20, 50};
    compare_with(spec, "h200", NULL, 2);
    const struct compare_row *row = only_row("tiered");
    const struct pcie *link = platform_section_get(result.platform, "pcie");
    const struct launch *calls = platform_section_get(result.platform, "launch");
    double pct = json_real_value(json_object_get(row->params, "local_pct")), least = 1e18;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double bytes = (double)(uint64_t)(2048 * shares[i] / 100) * 1024;
        double copy_ns = link_copy_ns(link, bytes, 1) + calls->wait_ns;
        double time = engine_says(l1, "degree", shares[i], "naive", "time_ns") + copy_ns;
        double shift = engine_says(l1, "degree", shares[i], "shift", "time_ns") + copy_ns;
        least = time < least ? time : least;
        least = shift < least ? shift : least;
        if (shares[i] != pct)
            continue;
        ck_assert_double_eq(metric(row, "time_ns"), time < shift ? time : shift);
        ck_assert_double_eq(metric(row, "h2d_bytes"), engine_says(l1, "degree", pct, "naive", "h2d_bytes") + bytes);
        ck_assert_double_eq(metric(row, "read_amplification_ratio"), metric(row, "h2d_bytes") / (2048 * 1024));
        ck_assert(noted(row, testing_text("%.4g ms of the time copy them there", copy_ns / 1e6)));
        ck_assert_double_eq(metric(row, "gpu_bytes") - metric(row_of("zerocopy", "naive"), "gpu_bytes"), bytes);
    }
    ck_assert_double_eq(metric(row, "time_ns"), least);
    ck_assert(told(row, "by degree, most first") && told(row, "one cudaMemcpy()"));
    const char *hits =
        testing_text("%.3g %% of the rows asked for", 100 * engine_says(l1, "degree", pct, "naive", "hit_ratio"));
    ck_assert_msg(noted(row, hits), "no note says %s", hits);
    compare_release(&result);
}
END_TEST

/* What another run asked for most is kept (counted a second way in zerocopy_tier_test.c): of eight rows of 1,024 B half
 * at most; once copied, they do not cross the link. */
START_TEST(rows_kept_by_recorded_accesses_do_not_cross_the_link_again)
{
    static const char before[] = "7 7 7 6 6 5 5 4 4 0", now[] = "7 7 7 6 6 6 5 5 4 4 4 0 1";
    compare_with(testing_text("synth:gather,rows=%s,recorded=%s,table_rows=8,reuse=none",
                              testing_write("now.txt", now, sizeof now - 1),
                              testing_write("before.txt", before, sizeof before - 1)),
                 "h200", NULL, 1);
    const struct compare_row *row = only_row("tiered");
    ck_assert_double_eq(metric(row, "h2d_bytes"), 1024 * (2 + 4));
    ck_assert(told(row, "by recorded accesses"));
    compare_release(&result);
}
END_TEST

START_TEST(kept_rows_fit_the_memory_there_is)
{
    compare_with("synth:gather,graph=kron,scale=12,seeds=8,batches=1", "h200", "gpu_memory_bytes=16KiB", 1);
    const struct compare_row *row = only_row("tiered");
    double kept = metric(row, "gpu_bytes") - metric(row_of("zerocopy", "naive"), "gpu_bytes");
    ck_assert_double_le(kept, 16384);
    ck_assert_double_eq(kept, 12 * 1024); /* 0.3 % of 4,096 rows: less than any share of the list */
    compare_release(&result);
}
END_TEST

/* Of 512 rows that are asked for often: half at most, which is all that 256 KiB hold; never all of them. */
START_TEST(half_of_the_rows_is_the_most)
{
    static const char *const memory[] = {NULL, "gpu_memory_bytes=256KiB"};
    for (size_t i = 0; i < 2; i++) {
        compare_with("synth:gather,graph=kron,scale=9,seeds=4,batches=20", "h200", memory[i], 2);
        ck_assert_double_eq(json_real_value(json_object_get(only_row("tiered")->params, "local_pct")), 50);
        compare_release(&result);
    }
    /* Rows that end inside a line: those who shift their columns are faster. */
    compare_with("synth:gather,graph=kron,scale=11,seeds=8,batches=2,row_bytes=1032", "h200", NULL, 2);
    ck_assert_msg(strncmp(only_row("tiered")->policy, "shift, ", 7) == 0, "%s", only_row("tiered")->policy);
    compare_release(&result);
}
END_TEST

START_TEST(what_cannot_be_ranked_is_refused)
{
    compare_with("synth:array,bytes=64KiB", "h200", NULL, 2);
    for (size_t i = 0; i < result.count; i++) /* it has no rows */
        ck_assert_int_ne(result.rows[i].mechanism, COMPARE_TIERED);
    compare_release(&result);
    compare_with("synth:kv-load,blocks=16", "h200", NULL, 1);
    ck_assert(!only_row("tiered")->answered);
    ck_assert_ptr_nonnull(strstr(only_row("tiered")->outcome.notes[0], "recorded=FILE"));
    compare_release(&result);
    compare_with("synth:bfs,scale=10,roots=1", "h200", NULL, 1);
    ck_assert(!only_row("tiered")->answered);
    compare_release(&result);
}
END_TEST

/* By hand: 8 rows of 1,024 B of which one is asked for in every second lookup, the others once each: one row is the
 * knee, two where the last asked for stays, and what the cache does not serve crosses the link. */
START_TEST(a_cache_stands_at_the_knee_of_its_curve)
{
    static const char text[] = "0 1 0 2 0 3 0 4 0 5 0 6 0 7 0 1";
    const char *spec =
        testing_text("synth:gather,row_bytes=1024,reuse=none,rows=%s", testing_write("hot.txt", text, sizeof text - 1));
    compare_with(spec, "h200", NULL, 1);
    const struct compare_row *lru = row_of("tiered", "naive, 25 % by lru"),
                             *lfu = row_of("tiered", "naive, 13 % by lfu"),
                             *counted = row_of("tiered", "naive, 13 % by its own counts");
    ck_assert_double_eq(metric(lru, "h2d_bytes"), 1024 * (16 - 7));
    ck_assert_double_eq(metric(lfu, "h2d_bytes"), 1024 * (16 - 7));
    ck_assert_double_eq(metric(counted, "h2d_bytes"), 1024 * (16 - 8 + 1));
    /* what is known only once the run has been is a bound, and no answer */
    ck_assert(!counted->answered && outcome_get(&counted->outcome, "time_ns")->lower_bound);
    ck_assert_double_gt(outcome_get(&counted->outcome, "time_ns")->lo, 0);
    ck_assert(compare_is_bound("tiered (naive, 13 % by its own counts)"));
    ck_assert(!compare_is_bound("tiered (naive, 13 % by lru)"));
    ck_assert(
        told(lfu, "knee at 1 KiB of 8 KiB: 13 % of the rows serve 43.8 % of lookups, 8 KiB, the most of use, 50 %"));
    compare_release(&result);
}
END_TEST

/* A draw asks for the share that was found, not for the best one of its own. */
START_TEST(a_draw_finds_the_row_again)
{
    static const char *const short_of_memory[] = {"gpu_memory_bytes=16KiB,launch.wait_ns=0"};
    compare_asked((struct compare_request){.spec = "synth:gather,graph=kron,scale=11,seeds=8,batches=1",
                                           .platform = "h200",
                                           .sets = short_of_memory,
                                           .set_count = 1,
                                           .threads = 2,
                                           .draws = 2});
    const struct compare_row *row = only_row("tiered");
    size_t at = (size_t)(row - result.rows);
    ck_assert_uint_lt(at, result.drawn);
    ck_assert_uint_eq(result.robust.wins[at], 2); /* within any tie: an answer in each draw */
    compare_release(&result);
}
END_TEST

/* 100 blocks in each of two launches, one call for each launch's or for each block. 16 KiB may lie on either side of
 * the cliff, 64 KiB do not. */
START_TEST(rows_copied_one_by_one_take_what_their_blocks_may)
{
    for (int kib = 16; kib <= 64; kib += 48) {
        compare_with(testing_text("synth:kv-load,blocks=100,layers=2,block_bytes=%dKiB", kib), "h100", NULL, 1);
        const struct compare_row *batch = row_of("copy-blocks", "copy-blocks"),
                                 *each = row_of("copy-blocks", "copy-blocks:calls=each");
        const struct pcie *link = platform_section_get(result.platform, "pcie");
        const struct launch *calls = platform_section_get(result.platform, "launch");
        const double bytes = 200.0 * kib * 1024, wire = link_copy_ns(link, bytes, 0) + 2 * calls->wait_ns;
        const struct metric_value *time = outcome_get(&batch->outcome, "time_ns");
        ck_assert(time->interval);
        ck_assert_double_eq_tol(time->lo, wire + 2 * link->copy_setup_ns + 200 * 506, 1);
        ck_assert_double_eq_tol(time->hi, wire + 2 * link->copy_setup_ns + 200 * (kib == 16 ? 1065 : 525), 1);
        ck_assert_double_eq_tol(metric(each, "time_ns"), wire + 200 * link->copy_setup_ns, 1);
        ck_assert_double_eq(metric(batch, "h2d_bytes"), bytes);
        ck_assert(told(batch, "cudaMemcpyBatchAsync()") && told(each, "cudaMemcpyAsync()"));
        const double taken = bytes / metric(each, "time_ns") / 3352; /* of memory's bandwidth */
        ck_assert(
            outcome_has_note(&each->outcome, testing_text("a kernel that runs meanwhile takes at most %.4g times as "
                                                          "long: it shares multiprocessors and memory bandwidth",
                                                          1 / (1 - taken))));
        compare_release(&result);
    }
    compare_with("synth:bfs,scale=8,roots=1", "h100", NULL, 1);
    for (size_t i = 0; i < result.count; i++) /* lists are no blocks */
        ck_assert_int_ne(result.rows[i].mechanism, COMPARE_BLOCKS);
    compare_release(&result);
}
END_TEST

TEST_MAIN("compare_tiered")
