/* The policy as-written: what a program's own loads ask for, generated and recorded, and where it cannot be told. */
#include "replay/zerocopy/zerocopy.h"

#include "replay/derive/derive.h"
#include "replay/derive/testing_program.h"
#include "replay/run/testing_replay.h"
#include "trace/import/reader.h"
#include "trace/import/testing_accelsim.h"
#include "trace/import/testing_access.h"

enum { N = 3 << 16, WARPS = N / 32, BLOCKS = N / VECADD_THREADS };

static struct vecadd vecadd;
static struct replay_result result;

static int vecadd_of(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){.ops = &vecadd_ops, .state = state, .compute_ns = -1};
    return 0;
}

static const struct workload_type type = {
    .name = "vecadd", .produces = WORKLOAD_PROGRAM, .views = VIEW_ZEROCOPY, .program = vecadd_of};

static const char *platform = "v100";

static void run(const struct input *input, const char *policies, const char *set, FILE *requests)
{
    bool usage;
    const struct replay_request request = {.engine = engine_find("zerocopy"),
                                           .platform = platform,
                                           .policy_list = policies,
                                           .sets = &set,
                                           .set_count = set != NULL,
                                           .inputs = input,
                                           .input_count = 1,
                                           .requests = requests,
                                           .threads = 1};
    WORKS(replay_run(&request, &result, &usage, &err));
}

static struct input generated(bool device)
{
    (void)vecadd_program(&vecadd, N, device);
    return (struct input){.spec = "synth:vecadd", .role = "", .workload = {.type = &type, .state = &vecadd}};
}

static double metric(size_t policy, const char *name)
{
    const struct metric_value *v = outcome_get(&result.runs[policy], name);
    ck_assert_msg(v && v->known, "%s is unknown", name);
    return v->real;
}

static bool noted(size_t policy, const char *part)
{
    return testing_noted(&result.runs[policy], part);
}

/* Two launches on the GPU of N / 32 warps that load a line of a and one of b. */
START_TEST(requests_are_those_of_the_loads)
{
    struct input input = generated(true);
    run(&input, "as-written,merged", NULL, NULL);
    ck_assert_double_eq(metric(0, "requests"), 2 * 2 * WARPS);
    ck_assert_double_eq(metric(0, "requests_128"), 2 * 2 * WARPS);
    ck_assert_double_eq(metric(0, "payload_bytes"), 2 * 2 * 4.0 * N);
    ck_assert_double_eq(metric(0, "launches"), 2);
    ck_assert_double_eq(metric(0, "requests"),
                        metric(1, "requests"));                /* each sector once: no other order, no other count */
    ck_assert(noted(0, "of 1572864 B over the link besides")); /* c, twice */
    replay_release(&result);
    input = generated(false); /* the flags come over the link, too: 32 B for each warp */
    run(&input, "as-written", NULL, NULL);
    ck_assert_double_eq(metric(0, "requests_32"), 2 * WARPS);
    ck_assert(noted(0, "atomic accesses are not counted"));
    replay_release(&result);
}
END_TEST

/* A lane reads 32 words that follow each other, a warp's lanes 128 B apart: a sector serves eight loads. */
START_TEST(what_a_warp_holds_is_asked_for_once)
{
    const char *trace = testing_file("kernel-1.traceg");
    FILE *f = fopen(trace, "w");
    build_strided(f, 5, 65536);
    (void)fclose(f);
    struct input input = {.spec = trace, .role = "", .store = testing_import(&read_accelsim, trace, true)};
    run(&input, "as-written,as-written:reuse=warp,as-written:reuse=prevwarp,as-written:reuse=none", NULL, NULL);
    ck_assert_double_eq(metric(0, "requests_32"), 65536);
    ck_assert_double_eq(metric(1, "requests_32"), 65536 / 8);
    ck_assert_double_eq(metric(2, "requests_32"), 65536 / 8);
    ck_assert_double_eq(metric(3, "requests_32"), 65536);
    replay_release(&result);
    input_close(&input);
}
END_TEST

/* A line of --requests: policy,launch,...,time_ns,warp_loads,loads_at_once,resident_warps,chain_loads,jumps,
 * span_bytes */
static void read_row(FILE *f, double row[15])
{
    char line[400];
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    char *at = strchr(line, ',');
    for (int i = 1; i < 15 && at; i++)
        row[i] = strtod(at + 1, &at);
}

START_TEST(loads_at_once_and_resident_warps_follow_from_the_program)
{
    struct input input = generated(true);
    FILE *f = tmpfile();
    double row[15] = {0};
    char head[400];
    run(&input, "as-written", NULL, f);
    rewind(f);
    ck_assert_ptr_nonnull(fgets(head, sizeof head, f));
    read_row(f, row);
    ck_assert_double_eq(row[11], 2 * WARPS);   /* loads */
    ck_assert_double_eq(row[12], 2);           /* a and b are under way together */
    ck_assert_double_eq(row[13], 80 * 21 * 3); /* 64 warps of a multiprocessor hold 21 blocks of three */
    (void)fclose(f);
    replay_release(&result);
}
END_TEST

/* The levels of a traversal in the middle reach the vertices with the longest lists. */
START_TEST(the_longest_chain_is_that_of_the_launch)
{
    struct input input;
    FILE *f = tmpfile();
    char head[400];
    double row[15] = {0}, most = 0, last = 0;
    platform = "h200";
    WORKS(input_open(&input, "synth:bfs,scale=10,roots=1,kernel=naive", "", false, &err));
    run(&input, "as-written", NULL, f);
    rewind(f);
    ck_assert_ptr_nonnull(fgets(head, sizeof head, f));
    for (int launches = (int)metric(0, "launches"); launches > 0; launches--) {
        read_row(f, row);
        last = row[14];
        most = last > most ? last : most;
    }
    ck_assert_double_gt(most, 2 * last);
    (void)fclose(f);
    replay_release(&result);
    input_close(&input);
}
END_TEST

/* The program's accesses as a recording in a.db. */
static void record(const struct input *input)
{
    struct derive_input in;
    struct program_counts counts;
    const struct derive_options all = {.last = UINT64_MAX};
    WORKS(derive_input_open(&in, input, VIEW_ZEROCOPY, &err));
    struct store *store = GIVES(store_create(testing_file("a.db"), OUTPUT_REPLACE, "test", &err));
    WORKS(derive_accesses(&in.source, store, &all, &counts, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
}

/* Simulated, a recording gives what its program gives: the same requests but for a few, and ends that hold the time. */
START_TEST(a_recording_is_simulated_as_its_program)
{
    struct input input = generated(true);
    record(&input);
    platform = "h200";
    run(&input, "as-written:reuse=l1", NULL, NULL);
    const double requests = metric(0, "requests"), time = metric(0, "time_ns");
    replay_release(&result);
    WORKS(input_open(&input, testing_file("a.db"), "", false, &err));
    run(&input, "as-written:reuse=l1", NULL, NULL);
    ck_assert_double_eq_tol(metric(0, "requests"), requests, requests / 1000); /* by when they come */
    const struct metric_value *t = outcome_get(&result.runs[0], "time_ns");
    ck_assert_msg(t->interval && t->lo <= 1.05 * time && t->hi >= 0.99 * time, "%.0f .. %.0f, not %.0f", t->lo, t->hi,
                  time);
    ck_assert(noted(0, "the high end waits for each"));
    replay_release(&result);
    platform = "v100";
    input_close(&input);
}
END_TEST

START_TEST(of_a_recording_each_load_is_waited_for)
{
    struct input input = generated(true);
    record(&input);
    run(&input, "as-written,merged", NULL, NULL);
    double requests = metric(0, "requests"), merged = metric(1, "time_ns");
    replay_release(&result);
    WORKS(input_open(&input, testing_file("a.db"), "", false, &err));
    FILE *f = tmpfile();
    run(&input, "as-written,merged", NULL, f);
    ck_assert_double_eq(metric(0, "requests"), requests);
    ck_assert_double_eq(metric(1, "time_ns"), merged);
    ck_assert(noted(0, "each load is waited for"));
    rewind(f);
    char head[400];
    double row[15] = {0};
    ck_assert_ptr_nonnull(fgets(head, sizeof head, f));
    read_row(f, row);
    ck_assert_double_eq(row[12], 1);
    (void)fclose(f);
    replay_release(&result);
    input_close(&input);
}
END_TEST

START_TEST(without_a_program_it_is_refused_with_the_reason)
{
    struct input input;
    WORKS(input_open(&input, "synth:degrees", "", false, &err));
    run(&input, "as-written,merged", NULL, NULL);
    ck_assert(!outcome_get(&result.runs[0], "requests")->known);
    ck_assert(noted(0, "not by which accesses"));
    ck_assert(metric(1, "requests") > 0);
    replay_release(&result);
    input_close(&input);
}
END_TEST

START_TEST(a_workload_without_the_view_is_an_error_that_names_its_views)
{
    static const struct workload_type other = {.name = "other", .produces = WORKLOAD_PROGRAM, .views = VIEW_DRAM};
    const struct input input = {.spec = "synth:other", .role = "", .workload = {.type = &other}};
    const struct replay_request request = {
        .engine = engine_find("zerocopy"), .platform = "v100", .inputs = &input, .input_count = 1, .threads = 1};
    bool usage;
    FAILS_AS(replay_run(&request, &result, &usage, &err), "workload other reads no host memory; its views: dram");
}
END_TEST

/* What is asked of the link is the same, and what the reader needs of it stays unknown. */
START_TEST(in_brief_the_link_alone_is_answered)
{
    static const char *const same[] = {
        "time_ns", "requests", "requests_128", "payload_bytes", "h2d_bytes", "launches", "read_amplification_ratio"};
    struct input input = generated(true);
    bool usage;
    struct replay_request request = {.engine = engine_find("zerocopy"),
                                     .platform = "h200",
                                     .policy_list = "as-written:reuse=l1",
                                     .inputs = &input,
                                     .input_count = 1,
                                     .threads = 1,
                                     .engine_options = &(struct zerocopy_options){.link_metrics_only = true}};
    struct replay_result whole;
    WORKS(replay_run(&request, &result, &usage, &err));
    request.engine_options = NULL;
    WORKS(replay_run(&request, &whole, &usage, &err));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        ck_assert_double_eq(metric(0, same[i]), outcome_get(&whole.runs[0], same[i])->real);
    ck_assert(!outcome_get(&result.runs[0], "overfetch_ratio")->known);
    ck_assert(outcome_get(&whole.runs[0], "overfetch_ratio")->known);
    ck_assert_uint_eq(result.runs[0].note_count, whole.runs[0].note_count);
    replay_release(&result);
    replay_release(&whole);
    request.engine_options = &(struct zerocopy_options){.link_metrics_only = true}; /* what needs the scans has them */
    request.policy_list = "merged,as-written:reuse=l1";
    WORKS(replay_run(&request, &result, &usage, &err));
    ck_assert_double_eq(metric(0, "requests"), 2 * 2 * WARPS);
    ck_assert(outcome_get(&result.runs[0], "overfetch_ratio")->known);
    replay_release(&result);
}
END_TEST

TEST_MAIN("zerocopy_loads")
