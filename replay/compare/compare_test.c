#include "replay/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/link.h"
#include "replay/compare/compare_testing.h"
#include "trace/recorder/advice_plan.h"

static double replayed(const char *engine, const char *spec, const char *platform, const char *policy)
{
    struct replay_result got;
    testing_replay(&got,
                   (struct replay_request){
                       .engine = engine_find(engine), .platform = platform, .policy_list = policy, .threads = 1},
                   spec);
    double time = outcome_get(&got.runs[0], "time_ns")->real;
    replay_release(&got);
    return time;
}

START_TEST(a_row_is_what_its_engine_says)
{
    compare_with("synth:triad,bytes=16MiB", "h200", NULL, 2);
    ck_assert_double_eq(metric(row_of("managed", "tree"), "time_ns"),
                        replayed("uvm", "synth:triad,bytes=16MiB", "h200", "tree"));
    ck_assert_double_eq(metric(row_of("managed", "fixed:granularity=64KiB"), "time_ns"),
                        replayed("uvm", "synth:triad,bytes=16MiB", "h200", "fixed:granularity=64KiB"));
    double alone = replayed("zerocopy", "synth:triad,bytes=16MiB", "h200", "as-written:reuse=l1");
    double beside = metric(row_of("zerocopy", "as-written:reuse=l1"), "time_ns");
    ck_assert(beside > alone && beside < 1.001 * alone); /* half as much goes up as comes down */
    compare_release(&result);
    compare_with("synth:bfs,scale=10,roots=1", "h200", NULL, 2);
    ck_assert_double_eq(metric(row_of("zerocopy", "aligned"), "time_ns"),
                        replayed("zerocopy", "synth:bfs,scale=10,roots=1,reuse=l1", "h200", "aligned"));
    compare_release(&result);
}
END_TEST

/* All blocks of a launch run at once and store once: at worst behind all its reads. A grid-stride loop stores at every
 * turn: only the last are behind. */
START_TEST(stores_of_the_last_turns_may_be_behind_the_reads)
{
    static const char *const specs[] = {"synth:nw,bytes=4MiB,order=together", "synth:triad,bytes=16MiB"};
    static const double turns[] = {1, 16. * 1024 * 1024 / 12 / (1024 * 256)};
    for (int i = 0; i < 2; i++) {
        compare_with(specs[i], "h200", NULL, 1);
        const struct compare_row *row = row_of("zerocopy", "as-written:reuse=l1");
        const struct metric_value *t = outcome_get(&row->outcome, "time_ns");
        const struct pcie *link = platform_section_get(result.platform, "pcie");
        const double up = link_beside_ns(link, 0, 0, metric(row, "d2h_bytes"), 32);
        ck_assert(t->interval);
        ck_assert_double_eq_tol(t->hi - t->lo, up / turns[i], up / turns[i] / 10);
        compare_release(&result);
    }
}
END_TEST

/* The prefetched run is one copy in and kernels; an explicit copy is the link's copy and the same kernels. */
START_TEST(a_copy_is_its_copies_and_the_kernels)
{
    compare_with("synth:triad,bytes=16MiB", "h200", NULL, 1);
    const struct compare_row *copy = row_of("copy", "cudaMemcpy"), *ahead = row_of("managed", "tree, prefetched");
    const struct pcie *link = platform_section_get(result.platform, "pcie");
    const struct uvm_platform *uvm = platform_section_get(result.platform, "uvm");
    const struct launch *calls = platform_section_get(result.platform, "launch");
    double in = metric(copy, "h2d_bytes"), blocks = metric(ahead, "h2d_bytes") / ACTOR_BLOCK_BYTES;
    double kernels = metric(copy, "time_ns") - link_copy_ns(link, in, 3) - 3 * calls->wait_ns;
    double moved = in / uvm->h2d_bytes_per_s * 1e9 + blocks * (uvm->copy_run_ns + calls->prefetch_block_ns);
    double called = 3 * calls->prefetch_call_ns - calls->alone_ns + calls->gap_ns; /* the first launch is ready */
    ck_assert_double_gt(kernels, calls->alone_ns);
    ck_assert_double_ge(metric(ahead, "time_ns"), moved + kernels + called);
    double block = uvm->service_ns + uvm->new_block_ns + uvm->moved_run_ns + uvm->unmap_run_ns; /* the CPU's part */
    ck_assert_double_le(metric(ahead, "time_ns"), moved + kernels + called + 3 * 1.1 * block);
    ck_assert(noted(copy, "if page-locked; locking takes") && noted(copy, "pageable "));
    ck_assert_double_eq_tol(metric(copy, "back_ns"), link_copy_ns(link, in / 3, 1), 1);
    compare_release(&result);
}
END_TEST

START_TEST(a_share_of_the_multiprocessors_is_that_many)
{
    compare_with("synth:triad,bytes=2MiB", "h200", "sm_share_pct=1.5", 1);
    const double shared = metric(row_of("managed", "tree"), "time_ns");
    compare_release(&result);
    compare_with("synth:triad,bytes=2MiB", "h200", "gpu.sms=2", 1);
    ck_assert_double_eq(metric(row_of("managed", "tree"), "time_ns"), shared);
    compare_release(&result);
    compare_with("synth:triad,bytes=2MiB", "h200", "sm_share_pct=100", 1);
    ck_assert_double_ne(metric(row_of("managed", "tree"), "time_ns"), shared);
    compare_release(&result);
}
END_TEST

START_TEST(what_does_not_fit_is_no_copy_and_never_wins)
{
    compare_with("synth:triad,bytes=16MiB", "h200", "oversubscription_pct=150", 2);
    const struct compare_row *copy = row_of("copy", "cudaMemcpy");
    ck_assert(!copy->answered);
    ck_assert_ptr_eq(copy, &result.rows[result.count - 1]);
    ck_assert_uint_ge(copy->outcome.note_count, 1);
    for (size_t i = 0; i < result.count; i++)
        ck_assert_ptr_null(strstr(result.rows[i].policy, "prefetched"));
    ck_assert_double_le(metric(row_of("managed", "tree+random"), "gpu_bytes"), 16.0 * 1048576 / 1.5);
    compare_release(&result);
}
END_TEST

START_TEST(rows_are_in_order_of_time_whatever_the_number_of_threads)
{
    char first[16][200];
    for (int threads = 1; threads <= 3; threads++) {
        compare_with("synth:bicg,bytes=4MiB", "titanv", NULL, threads);
        ck_assert_uint_lt(result.count, 16);
        for (size_t i = 0; i < result.count; i++) {
            char text[200];
            (void)snprintf(text, sizeof text, "%s %.17g", result.rows[i].policy,
                           result.rows[i].answered ? result.rows[i].outcome.values[0].real : 0);
            if (threads == 1)
                memcpy(first[i], text, sizeof text);
            ck_assert_str_eq(text, first[i]);
            ck_assert(i == 0 || !result.rows[i].answered ||
                      result.rows[i].outcome.values[0].real >= result.rows[i - 1].outcome.values[0].real);
        }
        compare_release(&result);
    }
}
END_TEST

static void set_row(struct compare_row *row, double time, double error)
{
    ck_assert_int_eq(outcome_init(&row->outcome, compare_metrics, &err), 0);
    outcome_real(&row->outcome, "time_ns", time);
    row->answered = true;
    row->error_ratio = error;
}

START_TEST(times_nearer_than_the_models_errors_are_tied)
{
    struct compare_row a = {0}, b = {0};
    set_row(&a, 100, 0.06);
    set_row(&b, 111, 0.12);
    ck_assert(compare_tied(&a, &b)); /* 100 x 1.12 */
    outcome_real(&b.outcome, "time_ns", 113);
    ck_assert(!compare_tied(&a, &b) && !compare_tied(&b, &a));
    outcome_interval(&b.outcome, "time_ns", 110, 130);
    ck_assert(compare_tied(&a, &b));
    b.answered = false;
    ck_assert(!compare_tied(&a, &b));
    outcome_release(&a.outcome);
    outcome_release(&b.outcome);
}
END_TEST

START_TEST(memory_that_is_shared_with_the_cpu_has_mechanisms_of_its_own)
{
    compare_with("synth:triad,bytes=4MiB", "agx", NULL, 1);
    ck_assert_uint_eq(result.count, 3);
    ck_assert(row_of("device", "device")->answered && row_of("pinned", "pinned")->answered);
    ck_assert_double_eq(metric(row_of("managed", "managed"), "time_ns"),
                        replayed("placement", "synth:triad,bytes=4MiB", "agx", "managed"));
    ck_assert_ptr_null(compare_plannable(&result));
    compare_release(&result);
    compare_with("synth:triad,bytes=4MiB", "gm200", NULL, 1); /* it has neither: each row says why */
    ck_assert(!result.rows[0].answered && result.rows[0].outcome.note_count == 1);
    compare_release(&result);
}
END_TEST

START_TEST(a_plan_is_what_a_recorder_reads)
{
    static const char *const programs[][2] = {{"synth:triad,bytes=16MiB", "K 0 * 0,1,2 - -\n"},
                                              {"synth:fdtd2d,bytes=6MiB", "K 0 * 1,2 - -\nK 1 * 0 - -\n"}};
    const char *path = testing_file("plan.ini");
    for (size_t i = 0; i < 2; i++) {
        compare_with(programs[i][0], "h200", NULL, 1);
        const struct compare_row *row = compare_plannable(&result);
        ck_assert(row->prefetched && row->stock);
        FILE *f = fopen(path, "wb");
        ck_assert_int_eq(compare_plan_write(&result, f, &err), 0);
        (void)fclose(f);
        char *text = advice_plan_read(path, &err);
        ck_assert_msg(text, "%s", err.msg);
        ck_assert_str_eq(strchr(text, 'K'), programs[i][1]);
        free(text);
        compare_release(&result);
    }
}
END_TEST

/* Two arrays and what touches them: the CPU both, a kernel both, the CPU the first, a kernel the second, one both. */
static const struct {
    bool cpu, first, second;
} turns[] = {{true, true, true}, {false, true, true}, {true, true, false}, {false, false, true}, {false, true, true}};
static const struct actor_alloc *turn_allocs(const void *state, size_t *n)
{
    *n = 2;
    return state;
}
static uint32_t turn_launches(const void *state)
{
    (void)state;
    return sizeof turns / sizeof *turns;
}
static void turn_launch(const void *state, uint32_t launch, struct actor_launch *out)
{
    (void)state;
    *out = (struct actor_launch){.kernel = "turn", .actors = 1, .per_sm = 1, .together = 1, .cpu = turns[launch].cpu};
}
static int turn_step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                     struct err *why)
{
    const struct actor_alloc *a = run;
    (void)actor, (void)why;
    *step = (struct actor_step){.turns = 1};
    if (turns[launch].first)
        step->page[step->count++] = a[0].first_page;
    if (turns[launch].second)
        step->page[step->count++] = a[1].first_page;
    return at->body++ == 0;
}

START_TEST(calls_stand_behind_the_cpus_work)
{
    static const struct actor_ops ops = {
        .allocs = turn_allocs, .launches = turn_launches, .launch = turn_launch, .step = turn_step};
    static const struct compare_call expected[] = {{.what = COMPARE_ADVISE, .alloc = 0},
                                                   {.what = COMPARE_PREFETCH, .alloc = 0},
                                                   {.what = COMPARE_PREFETCH, .alloc = 1},
                                                   {.what = COMPARE_PREFETCH, .launch = 2, .alloc = 0}};
    struct actor_alloc a[2] = {{.name = "a", .bytes = 8192}, {.name = "b", .bytes = 8192}};
    struct compare_row row = {.prefetched = true};
    actor_space_place(a, 2);
    ck_assert_int_eq(actor_space_init(a, 2, &err), 0);
    struct compare_program f = {.ops = &ops, .actors = a, .allocs = a, .alloc_count = 2};
    ck_assert_int_eq(compare_plan_calls(&f, &row, &err), 0);
    ck_assert_uint_eq(row.call_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct compare_call *is = &row.calls[i], *was = &expected[i + 1];
        ck_assert(is->what == was->what && is->launch == was->launch && is->alloc == was->alloc && !is->kernel);
    }
    free(row.calls);
    row = (struct compare_row){.advised = 1};
    ck_assert_int_eq(compare_plan_calls(&f, &row, &err), 0);
    ck_assert_uint_eq(row.call_count, 1); /* once */
    ck_assert(row.calls[0].what == expected[0].what && row.calls[0].launch == 0);
    free(row.calls);
}
END_TEST

START_TEST(of_rows_that_were_tried_the_first_of_the_fastest_is_kept)
{
    static const struct {
        double time[3]; /* below 0: no answer */
        size_t n, best;
    } rows[] = {{{5, 5, 5}, 3, 0},  {{5, 3, 3}, 3, 1},   {{3, 5, 3}, 3, 0},    {{7, 6, 5}, 3, 2}, {{-1, 4, 4}, 3, 1},
                {{4, -1, 3}, 3, 2}, {{4, -1, -1}, 3, 0}, {{-1, -1, -1}, 3, 0}, {{5, 5, 5}, 1, 0}};
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compare_result tried = {0}, kept = {0};
        for (size_t k = 0; k < rows[i].n; k++) {
            struct compare_row *row = compare_add(&tried, COMPARE_ZEROCOPY, names[k], &err);
            ck_assert_ptr_nonnull(row);
            if (rows[i].time[k] > 0)
                outcome_real(&row->outcome, "time_ns", rows[i].time[k]);
        }
        ck_assert_int_eq(compare_keep_best(&kept, &tried, &err), 0);
        ck_assert_uint_eq(kept.count, 1);
        ck_assert_msg(strcmp(kept.rows[0].policy, names[rows[i].best]) == 0, "row %zu: %s", i, kept.rows[0].policy);
        compare_release(&kept);
    }
    struct compare_result tried = {0}, kept = {0};
    ck_assert_int_eq(compare_keep_best(&kept, &tried, &err), 0);
    ck_assert_uint_eq(kept.count, 0);
    compare_release(&kept);
}
END_TEST

/* Draws need two rows: the second is drawn however far off, and where one row alone has an answer nothing is. */
START_TEST(the_best_two_rows_are_drawn_however_far_apart)
{
    static const char *const short_of_memory[] = {"gpu_memory_bytes=2MiB"};
    static const char link_only[] = "[platform]\nname = alone\n[gpu]\nas = h200 | 0.5..2: a guess\n"
                                    "[pcie]\nas = h200 | 0.5..2: a guess\n"
                                    "[launch]\nas = h200 | 0.5..2: a guess\n";
    const char *file = testing_write("alone.ini", link_only, sizeof link_only - 1);
    char answer[512];
    for (int alone = 0; alone < 2; alone++) {
        compare_asked((struct compare_request){.spec = "synth:array,bytes=4MiB",
                                               .platform = alone ? file : "h200",
                                               .sets = short_of_memory,
                                               .set_count = 1,
                                               .threads = 2,
                                               .draws = 2});
        ck_assert(result.rows[0].answered);
        ck_assert_int_eq(result.rows[1].answered, !alone);
        ck_assert_uint_eq(result.drawn, alone ? 0 : 2);
        if (!alone) {
            ck_assert_double_gt(compare_time(&result.rows[1]), COMPARE_NEAR * compare_time(&result.rows[0]));
            ck_assert_uint_eq(result.robust.wins[0], 2);
        }
        ck_assert_int_eq(!strstr(compare_answer(&result, answer, sizeof answer), "draws"), alone);
        compare_release(&result);
    }
}
END_TEST

/* Bytes that the CPU takes back behind the last kernel are in no row's time. */
START_TEST(no_row_is_faster_than_its_link)
{
    static const char *const programs[] = {"synth:triad,bytes=2MiB", "synth:launch-touch",
                                           "synth:bfs,scale=10,roots=1"};
    for (size_t i = 0; i < 3; i++) {
        compare_with(programs[i], "h200", NULL, 2);
        for (size_t r = 0; r < result.count; r++)
            ck_assert_msg(!noted(&result.rows[r], "time_ns is only a bound"), "%s: %s", programs[i],
                          result.rows[r].policy);
        compare_release(&result);
    }
}
END_TEST

/* Rows of bicg's matrix are a multiple of 1,024 floats. */
START_TEST(another_size_than_asked_for_is_said)
{
    compare_with("synth:bicg,bytes=6MiB", "h200", NULL, 1);
    ck_assert_str_eq(result.size_note, "bicg: its arrays take 4.02 MiB, not 6 MiB: its sizes come in steps");
    ck_assert(noted(&result.rows[0], result.size_note));
    compare_release(&result);
    compare_with("synth:bicg,bytes=4MiB", "h200", NULL, 1);
    ck_assert_str_eq(result.size_note, "");
    compare_release(&result);
}
END_TEST

/* Rows that are done, or what two sizes say of a program in part. */
START_TEST(the_best_so_far_is_said)
{
    static const char *const specs[] = {"synth:triad,bytes=2MiB", "synth:matmul,n=512"};
    static const char *const few[] = {"gpu.sms=2"};
    for (size_t i = 0; i < 2; i++) {
        struct progress progress = {0};
        compare_asked((struct compare_request){.spec = specs[i],
                                               .platform = "h200",
                                               .sets = few,
                                               .set_count = 1,
                                               .stop_from = i << 20,
                                               .threads = 2,
                                               .progress = &progress});
        const struct compare_row *row = result.rows;
        ck_assert_int_eq(result.in_part, i);
        while (row->mechanism != (progress.best & 255))
            row++;
        ck_assert_double_eq_tol((double)(progress.best >> 8), compare_time_high(row), i ? 0.03 * compare_time(row) : 1);
        compare_release(&result);
    }
}
END_TEST

TEST_MAIN("replay/compare")
