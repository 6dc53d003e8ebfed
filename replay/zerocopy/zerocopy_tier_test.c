#include "replay/zerocopy/zerocopy_tier.h"

#include "replay/run/testing_replay.h"

static struct replay_result result;

/* policies on gather,SPEC; rows ends when released. */
static int run(const char *spec, const char *policies, const char *const *sets, size_t n, struct err *err)
{
    return testing_try_replay(&result,
                              (struct replay_request){.engine = engine_find("zerocopy"),
                                                      .platform = "rtx3090",
                                                      .policy_list = policies,
                                                      .sets = sets,
                                                      .set_count = n,
                                                      .threads = 2},
                              spec, err);
}

static const struct metric_value *metric(size_t policy, const char *name)
{
    return outcome_get(&result.runs[policy], name);
}

enum { ROWS = 1000, ASKED = 5000 };

/* Row numbers of which the low ones come more often, one a line. */
static const char *write_rows(const char *name, unsigned seed, unsigned *counts)
{
    const char *path = testing_file(name);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < ASKED; i++) {
        unsigned row = rand_r(&seed) % ROWS * (rand_r(&seed) % ROWS) / ROWS * 7 % ROWS;
        counts[row]++;
        fprintf(f, "%u\n", row);
    }
    fclose(f);
    return path;
}

/* The tenth of the rows that one run asked for most, by a second way: hits of another run counted one by one. */
START_TEST(rows_that_another_run_asked_for_most_are_resident)
{
    static const char *const sets[] = {"resident=recorded", "local_pct=10"};
    unsigned before[ROWS] = {0}, now[ROWS] = {0}, hits = 0;
    const char *recorded = write_rows("before.txt", 1, before), *rows = write_rows("now.txt", 2, now);
    const char *spec =
        testing_text("synth:gather,rows=%s,recorded=%s,table_rows=%d,row_bytes=256", rows, recorded, ROWS);
    WORKS(run(spec, "shift,dma", sets, 2, &err));
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned hotter = 0;
        for (unsigned other = 0; other < ROWS; other++)
            hotter += before[other] > before[row] || (before[other] == before[row] && other < row);
        hits += hotter < ROWS / 10 ? now[row] : 0;
    }
    ck_assert_double_eq_tol(metric(0, "hit_ratio")->real, (double)hits / ASKED, 1e-12);
    ck_assert_double_eq_tol(metric(1, "hit_ratio")->real, (double)hits / ASKED, 1e-12);
    ck_assert_uint_gt(hits, ASKED / 5);
    replay_release(&result);
}
END_TEST

/* A plain cache of a tenth of the rows, lookup by lookup; launches find what those before them left. */
START_TEST(a_cache_serves_what_a_plain_one_does)
{
    static const char *const sets[] = {"resident=lru", "local_pct=10"}, *const peers[] = {"resident=lfu",
                                                                                          "shared_pct=1"};
    unsigned counts[ROWS] = {0}, cache[ROWS / 10], n = 0, hits = 0, row;
    char spec[600];
    const char *rows = write_rows("cached.txt", 3, counts);
    FILE *f = fopen(rows, "r");
    while (fscanf(f, "%u", &row) == 1) {
        unsigned at = 0;
        while (at < n && cache[at] != row)
            at++;
        hits += at < n;
        n += at == n && n < ROWS / 10;
        memmove(cache + 1, cache, (at < n ? at : n - 1) * sizeof *cache);
        cache[0] = row;
    }
    fclose(f);
    for (int batches = 1; batches <= 7; batches += 6) {
        (void)snprintf(spec, sizeof spec, "synth:embedding,indices=%s,rows=%d,row_bytes=256,batches=%d", rows, ROWS,
                       batches);
        WORKS(run(spec, "naive,shift", sets, 2, &err));
        ck_assert_double_eq_tol(metric(0, "hit_ratio")->real, (double)hits / ASKED, 1e-12);
        ck_assert_double_eq(metric(0, "launches")->real, batches);
        ck_assert_double_eq(metric(1, "payload_bytes")->real, 256.0 * (ASKED - hits));
        replay_release(&result);
    }
    FAILS_WITH(run(spec, "naive", peers, 2, &err), "each GPU's own");
}
END_TEST

START_TEST(without_a_recording_there_is_nothing_to_rank_by)
{
    static const char *const sets[] = {"resident=recorded"};
    FAILS_WITH(run("synth:gather,count=10", "shift", sets, 1, &err), "recorded=FILE");
    const char *spec =
        testing_text("synth:gather,count=10,table_rows=3,recorded=%s", testing_write("high.txt", "1\n3\n", 4));
    FAILS_WITH(run(spec, "shift", sets, 1, &err), "line 2: row 3; the table has 3");
}
END_TEST

/* Rows of 512 B, ns each, simulated and in closed form: beyond the reach they wait for translations. */
START_TEST(rows_far_apart_wait_for_translations_simulated_or_not)
{
    static const char *const specs[] = {"synth:gather,count=200000,row_bytes=512,table_rows=67108864",
                                        "synth:gather,count=200000,row_bytes=512,table_rows=67108864,reuse=l1",
                                        "synth:gather,count=200000,row_bytes=512,table_rows=262144",
                                        "synth:gather,count=200000,row_bytes=512,table_rows=262144,reuse=l1"};
    for (int i = 0; i < 4; i++) {
        const struct replay_request request = {
            .engine = engine_find("zerocopy"), .platform = "h100", .policy_list = "naive", .threads = 2};
        WORKS(testing_try_replay(&result, request, specs[i], &err));
        ck_assert_double_eq_tol(metric(0, "time_ns")->real / 200000, i < 2 ? 24 : 10.2, 1);
        replay_release(&result);
    }
}
END_TEST

/* Shares of this GPU and of the others may make the whole table, not more. */
START_TEST(shares_make_at_most_the_table)
{
    static const char *const sets[][3] = {{"resident=degree", "local_pct=60", "shared_pct=40"},
                                          {"resident=degree", "local_pct=60", "shared_pct=40.5"},
                                          {"resident=degree", "local_pct=60", "shared_pct=30"}};
    static const double hits[] = {1, -1, 0.9};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct err err = {""};
        int rc = run("synth:gather,graph=urand,scale=11,seeds=8,batches=2", "shift", sets[i], 3, &err);
        ck_assert_int_eq(rc, hits[i] < 0 ? -1 : 0);
        if (rc) {
            ck_assert_str_eq(err.msg, "local_pct and shared_pct are 60 and 40.5; together at most 100");
            continue;
        }
        ck_assert(hits[i] == 1 ? metric(0, "hit_ratio")->real == 1 : metric(0, "hit_ratio")->real < 1);
        replay_release(&result);
    }
}
END_TEST

/* epoch_ns of the engine is that of its own gather times: stages, share, GPUs, who gathers. */
START_TEST(an_epoch_lies_between_the_bounds_of_its_stages)
{
    static const char *const sets[] = {"overlap=bounds", "batches=100",        "sampler_ns=2000",    "consumer_ns=3000",
                                       "gpus=2",         "sampler_hi_ns=2500", "consumer_hi_ns=9000"};
    WORKS(run("synth:gather,count=51200,row_bytes=1024", "shift,dma", sets, 7, &err));
    for (size_t p = 0; p < 2; p++) {
        const struct metric_value *epoch = metric(p, "epoch_ns");
        double gather = metric(p, "time_ns")->real / 100;
        ck_assert(!epoch->known && epoch->interval);
        ck_assert_double_gt(gather, 9000); /* the slowest stage */
        ck_assert_double_eq_tol(epoch->lo, 2000 + gather + 3000 + 49 * gather, 1e-6 * epoch->lo);
        /* dma: the host gathers, and samples, for two. */
        double hi =
            p ? 5000 + 2 * gather + 9000 + 49 * (5000 + 2 * gather) : 5000 + gather + 9000 + 49 * (gather + 9000);
        ck_assert_double_eq_tol(epoch->hi, hi, 1e-6 * hi);
    }
    replay_release(&result);
    WORKS(run("synth:gather,count=51200,row_bytes=1024", "shift", sets + 1, 3, &err));
    ck_assert(metric(0, "epoch_ns")->known && !metric(0, "epoch_ns")->interval);
    replay_release(&result);
    WORKS(run("synth:gather,count=51200,row_bytes=1024", "shift", sets + 1, 1, &err)); /* no stage, no epoch */
    ck_assert(!metric(0, "epoch_ns")->known && !metric(0, "epoch_ns")->interval);
    replay_release(&result);
}
END_TEST

static struct epoch_stage bounds(double sampler, double gather, double training, bool cpu, double share, uint64_t n)
{
    const struct epoch e = {{sampler, sampler}, {gather, gather}, {training, training}, cpu, share, n};
    return epoch_bounds(&e);
}

static void is(struct epoch_stage got, double lo, double hi)
{
    ck_assert_double_eq_tol(got.lo, lo, 1e-9 * lo);
    ck_assert_double_eq_tol(got.hi, hi, 1e-9 * hi);
}

START_TEST(the_worked_example)
{
    is(bounds(1, 4, 3, false, 1, 10), 44, 71);
    is(bounds(1, 4, 3, false, 0.1, 10), 44, 8 + 1 / 3.0 + 36);
    is(bounds(1, 4, 3, true, 1, 10), 44, 53);
    is(epoch_on_host((struct epoch_stage){4, 5}, 1), 4, 5);
    is(epoch_on_host((struct epoch_stage){4, 5}, 3), 4, 15);
}
END_TEST

/* A second way to the ends: batches one by one through stages that take one batch at a time. */
static double pipeline(const double *stage, int stages, uint64_t batches)
{
    double free_at[3] = {0, 0, 0}, out = 0;
    for (uint64_t b = 0; b < batches; b++) {
        double at = 0;
        for (int s = 0; s < stages; s++) {
            at = (at > free_at[s] ? at : free_at[s]) + stage[s];
            free_at[s] = at;
        }
        out = at;
    }
    return out;
}

START_TEST(the_ends_are_pipelines_walked_batch_by_batch)
{
    unsigned seed = 1;
    for (int i = 0; i < 2000; i++) {
        double t[3], n = 1 + rand_r(&seed) % 40;
        for (int k = 0; k < 3; k++)
            t[k] = rand_r(&seed) % 1000;
        double share = (1 + rand_r(&seed) % 99) / 100.0;
        const double slowed[3] = {t[0], t[1], t[2] / (1 - share)}, gpu[2] = {t[0], t[1] + t[2]},
                     cpu[2] = {t[0] + t[1], t[2]};
        double free_of_all = pipeline(t, 3, (uint64_t)n);
        is(bounds(t[0], t[1], t[2], false, share, (uint64_t)n), free_of_all, pipeline(slowed, 3, (uint64_t)n));
        is(bounds(t[0], t[1], t[2], false, 1, (uint64_t)n), free_of_all, pipeline(gpu, 2, (uint64_t)n));
        is(bounds(t[0], t[1], t[2], true, 1, (uint64_t)n), free_of_all, pipeline(cpu, 2, (uint64_t)n));
    }
}
END_TEST

TEST_MAIN("zerocopy_tier")
