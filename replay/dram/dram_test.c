/* The engine and the memory partition against ground truth: the artifact's own controller and partition driven with the
 * same requests (fixtures/dram). */
#include "replay/dram/dram.h"

#include <math.h>

#include "replay/dram/dram_testing.h"
#include "trace/base/testing.h"

static const char *const streams[] = {"x15_tiny", "m08_writebacks_32_128", "x01_lowmem_lowpim", "x10_onebank_pimcopy"};

/* The truth's names and ours. */
static const char *const truth[] = {"fcfs",         "mem_first",       "pim_first",   "frfcfs",
                                    "frfcfs_cap32", "bliss_t4_i10000", "fr_rr_fcfs",  "gi_56_32",
                                    "f3fs_256_256", "f3fs_64_64",      "f3fs_256_128"};
static const char policies[] =
    "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap:cap=32,bliss:bug=1,frrr-fcfs,gather-issue,f3fs,"
    "f3fs:mem_cap=64,pim_cap=64,f3fs:mem_cap=256,pim_cap=128";
enum { POLICIES = 11 };

static const char *stream_path(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "fixtures/dram/%s.csv%s", name, strcmp(name, "x15_tiny") == 0 ? "" : ".xz");
    return path;
}

/* Fields of a CSV line. */
static int split(char *line, char *fields[], int most)
{
    int n = 0;
    for (char *p = line; p && n < most; n++) {
        fields[n] = p;
        p = strchr(p, ',');
        if (p)
            *p++ = 0;
    }
    return n;
}

/* Compare --requests with the truth: one column group of four per policy there, one row per policy and request here. */
static void check_requests(const char *stream, int vcs, const char *ours)
{
    struct err err;
    const char *path = testing_text("fixtures/dram/%s_direct_vc%d.csv.xz", stream, vcs);
    static char expected[8192][POLICIES * 4][12];
    struct input_stream *source = input_stream_open(path, &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    char *line, *fields[64];
    size_t length, n = 0;
    ck_assert_int_eq(input_stream_line(source, &line, &length, &err), 1);
    while (input_stream_line(source, &line, &length, &err) == 1) {
        ck_assert_int_eq(split(line, fields, 64), 1 + POLICIES * 4);
        for (int k = 0; k < POLICIES * 4; k++)
            (void)snprintf(expected[n][k], sizeof expected[n][k], "%s", fields[1 + k]);
        ck_assert_uint_lt(++n, 8192);
    }
    input_stream_close(source);
    source = input_stream_open(ours, &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    ck_assert_int_eq(input_stream_line(source, &line, &length, &err), 1);
    ck_assert_str_eq(line, "policy,id,enter,sched,col,done");
    for (size_t row = 0; row < n * POLICIES; row++) {
        ck_assert_int_eq(input_stream_line(source, &line, &length, &err), 1);
        if (line[0] == '"') /* the policy's name holds a comma */
            line = strchr(line + 1, '"') + 1;
        ck_assert_int_eq(split(line, fields, 64), 6);
        ck_assert_uint_eq(strtoul(fields[1], NULL, 10), row % n);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(strcmp(fields[2 + k], expected[row % n][row / n * 4 + (size_t)k]) == 0,
                          "%s vc%d %s request %zu column %d: %s, expected %s", stream, vcs, truth[row / n], row % n, k,
                          fields[2 + k], expected[row % n][row / n * 4 + (size_t)k]);
    }
    input_stream_close(source);
}

/* --- a stream of requests before the memory partition of a channel, open loop ---
 *
 * In each core cycle each of the two sub-partitions (bank modulo 2) takes at most one request from its source FIFOs
 * into its L2 to DRAM queues, virtual channels round robin, PIM first; then replay/dram/dram_partition.h. */

struct open_loop {
    struct dram_partition part;
    const struct dram_stream_channel *requests;
    /* Source FIFOs: positions by sub-partition and virtual channel, and how many were taken. */
    uint32_t *source[DRAM_SUBS][DRAM_VCS];
    uint32_t source_count[DRAM_SUBS][DRAM_VCS], source_head[DRAM_SUBS][DRAM_VCS];
    int last_in[DRAM_SUBS];
    struct dram_clocks clocks;
    int64_t core_before; /* core cycle counter in the DRAM cycle before this one */
};

static void open_init(struct open_loop *p, const struct replay_job *job, const struct replay_policy *policy)
{
    struct err err = {""};
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    const int vcs = (int)((const struct dram_settings *)job->settings)->vcs;
    ck_assert_msg(!dram_partition_init(&p->part, job->platform, policy, vcs, &err), "%s", err.msg);
    dram_clocks_init(&p->clocks, gpu->clock_hz, dram->clock_hz);
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < vcs; v++)
            ck_assert_ptr_nonnull(p->source[s][v] = mem_zalloc(p->requests->count, sizeof **p->source[s], &err));
    for (size_t i = 0; i < p->requests->count; i++) {
        const struct dram_request *r = &p->requests->requests[i];
        const int s = r->bank % DRAM_SUBS, v = vcs == 2 && r->flags & DRAM_IS_PIM;
        p->source[s][v][p->source_count[s][v]++] = (uint32_t)i;
    }
}

static void open_release(struct open_loop *p)
{
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < DRAM_VCS; v++)
            free(p->source[s][v]);
    dram_partition_release(&p->part);
}

/* At most one request of a sub-partition's sources goes into its L2 to DRAM queues in this core cycle. */
static void take_one(struct open_loop *p, int s)
{
    const int vcs = p->part.vcs;
    for (int k = 0; k < vcs; k++) {
        const int v = vcs == 1 ? 0 : k == 0 ? !p->last_in[s] : p->last_in[s];
        if (p->source_head[s][v] == p->source_count[s][v])
            continue;
        const uint32_t id = p->source[s][v][p->source_head[s][v]];
        const struct dram_request *r = &p->requests->requests[id];
        if (r->arrival > p->clocks.core || !dram_partition_room(&p->part, s, v))
            continue;
        dram_partition_push(&p->part, s, v,
                            (struct dram_waiting){r->row, id, r->bank, (uint8_t)(r->flags & (DRAM_L2_HIT - 1))});
        p->source_head[s][v]++;
        p->last_in[s] = v;
        return;
    }
}

/* What is done in DRAM cycle k. */
static void replies(struct open_loop *p, int64_t k)
{
    const struct dram_completion *c;
    while ((c = dram_partition_done(&p->part, k))) {
        const struct dram_request *r = &p->requests->requests[c->id];
        dram_partition_leave(&p->part, r->bank % DRAM_SUBS);
    }
}

/* Nothing can ever happen again: the channel has no event, nothing is on its way, and whatever waits cannot go on. */
static bool is_stuck(const struct open_loop *p, int64_t core)
{
    const struct dram_partition *part = &p->part;
    if (part->next != INT64_MAX || part->channel->completion_head != part->channel->completion_tail)
        return false;
    for (int v = 0; v < part->vcs; v++)
        if (part->wait_due[v] != INT64_MAX && part->wait_due[v] > core)
            return false;
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int v = 0; v < part->vcs; v++)
            if (p->source_head[s][v] != p->source_count[s][v] && dram_partition_room(part, s, v))
                return false;
    return true;
}

/* DRAM cycle k; the core cycle counter stands at `core`. Returns whether the run is stuck. */
static bool dram_cycle(struct open_loop *p, size_t count)
{
    const struct dram_channel *ch = p->part.channel;
    const int64_t k = p->clocks.dram, core = p->clocks.core;
    dram_partition_step(&p->part, k);
    replies(p, k);
    const int moved = dram_partition_move(&p->part, k, core);
    p->core_before = core;
    return !(moved & DRAM_MOVED_IN) && (size_t)(ch->stats.out[0] + ch->stats.out[1]) < count && is_stuck(p, core);
}

/* Run until everything is back: every policy ends these streams. */
static void open_run(struct open_loop *p)
{
    const struct dram_stats *stats = &p->part.channel->stats;
    const size_t count = p->requests->count;
    int64_t end = INT64_MAX;
    while (p->clocks.dram <= end) {
        const unsigned ticks = dram_clocks_tick(&p->clocks);
        if (ticks & DRAM_TICK_DRAM) {
            ck_assert(!dram_cycle(p, count));
            p->clocks.dram++;
            /* The last reply leaves in the DRAM cycle after the last completion. */
            if ((size_t)(stats->out[0] + stats->out[1]) == count && end == INT64_MAX)
                end = (stats->last_out[0] > stats->last_out[1] ? stats->last_out[0] : stats->last_out[1]) + 1;
        }
        if (ticks & DRAM_TICK_CORE) {
            for (int s = 0; s < DRAM_SUBS; s++)
                take_one(p, s);
            p->clocks.core++;
        }
    }
}

/* What the partition of the last replay took, by policy. */
static int64_t core_cycles[POLICIES], dram_cycles[POLICIES];

/* As an engine's replay(): every policy through the partition, into test_stats and the cycles. */
static int replay_partition(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    (void)runs;
    struct dram_stream stream;
    ck_assert(!dram_stream_load(&stream, job->inputs, job->input_count, UINT64_MAX, job->platform, NULL, err));
    ck_assert_uint_eq(stream.channels, 1);
    for (size_t i = 0; i < job->policy_count; i++) {
        struct open_loop p = {.requests = &stream.channel[0]};
        open_init(&p, job, &job->policies[i]);
        open_run(&p);
        ck_assert_msg(!dram_channel_check(p.part.channel, true, err), "%s", err->msg);
        test_stats[i] = p.part.channel->stats;
        core_cycles[i] = p.core_before + 1;
        dram_cycles[i] = p.clocks.dram;
        open_release(&p);
    }
    dram_stream_release(&stream);
    return 0;
}

/* Compare every summary row of the stream. */
static void check_summary(const char *front, const char *stream, int vcs)
{
    enum { MOST = 13 };
    struct err err;
    struct input_stream *source = input_stream_open(testing_text("fixtures/dram/summary_%s.csv", front), &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    char *line, *fields[64], *names[64], header[2048];
    size_t length;
    ck_assert_int_eq(input_stream_line(source, &line, &length, &err), 1);
    (void)snprintf(header, sizeof header, "%s", line);
    const int n = split(header, names, 64);
    int rows = 0;
    while (input_stream_line(source, &line, &length, &err) == 1) {
        ck_assert_int_eq(split(line, fields, 64), n);
        if (strcmp(fields[0], stream) != 0 || atoi(fields[2]) != vcs)
            continue;
        size_t run = 0;
        while (strcmp(truth[run], fields[1]) != 0)
            run++;
        rows++;
        const struct dram_stats *s = &test_stats[run];
        const struct {
            const char *name;
            int64_t ours;
        } columns[MOST] = {{"completed", s->out[0] + s->out[1]},
                           {"sw_mem2pim", s->switches[DRAM_PIM]},
                           {"sw_pim2mem", s->switches[DRAM_MEM]},
                           {"switch_conflicts", s->conflicts},
                           {"drain_cycles", s->drain},
                           {"pim_num", s->accesses[DRAM_PIM]},
                           {"pim_hits", s->hits[DRAM_PIM]},
                           {"n_act", s->activates},
                           {"n_pre", s->precharges},
                           {"n_col", s->columns},
                           {"total_cycles", dram_cycles[run]},
                           {"total_core_cycles", core_cycles[run]},
                           {"total_dram_cycles", dram_cycles[run]}};
        for (int k = 0; k < n; k++)
            for (int c = 0; c < MOST; c++)
                if (strcmp(names[k], columns[c].name) == 0)
                    ck_assert_msg(columns[c].ours == atoll(fields[k]), "%s %s vc%d %s: %s %lld, expected %s", front,
                                  stream, vcs, fields[1], names[k], (long long)columns[c].ours, fields[k]);
    }
    ck_assert_int_eq(rows, POLICIES);
    input_stream_close(source);
}

static void check_front(const char *front)
{
    for (size_t s = 0; s < sizeof streams / sizeof *streams; s++) {
        const char *trace = testing_text("%s", test_import(stream_path(streams[s]), "truth.offchip"));
        const char *const specs[] = {trace};
        for (int vcs = 1; vcs <= 2; vcs++) {
            const bool direct = strcmp(front, "direct") == 0;
            const char *set = vcs == 1 ? "front=direct,vcs=1" : "front=direct,vcs=2";
            struct replay_result result;
            const char *requests = testing_file("requests.csv");
            static struct engine engine;
            engine = engine_dram;
            engine.replay = direct ? test_count : replay_partition;
            test_replay_by(&engine, &result, specs, 1, set, policies, direct ? requests : NULL);
            for (size_t i = 0; i < POLICIES && direct; i++)
                dram_cycles[i] = outcome_get(&result.runs[i], "total_cycles")->whole;
            check_summary(front, streams[s], vcs);
            if (direct)
                check_requests(streams[s], vcs, requests);
            replay_release(&result);
        }
    }
}

START_TEST(direct_equals_the_artifacts_controller_request_by_request)
{
    check_front("direct");
}
END_TEST

START_TEST(partition_equals_the_artifacts_memory_partition)
{
    check_front("partition");
}
END_TEST

START_TEST(a_starved_run_is_a_result)
{
    const char *const specs[] = {test_import(stream_path("x10_onebank_pimcopy"), "starved.offchip")};
    struct replay_result result;
    test_replay(&result, specs, 1, "front=direct,run_limit_cycles=500", "f3fs", NULL);
    ck_assert_int_eq(outcome_get(&result.runs[0], "starved")->whole, 1);
    ck_assert(test_real(&result, 0, "fairness_index") == 0);
    ck_assert(!outcome_get(&result.runs[0], "mem_cycles")->known);
    ck_assert_int_eq(outcome_get(&result.runs[0], "total_cycles")->whole, 500);
    replay_release(&result);
}
END_TEST

START_TEST(bandwidth_is_the_bytes_over_the_time_until_the_last_one)
{
    const char *const specs[] = {test_import(stream_path("m08_writebacks_32_128"), "bytes.offchip")};
    struct replay_result result;
    test_replay(&result, specs, 1, "front=direct", "frfcfs", NULL);
    const double bytes = 32 * test_real(&result, 0, "column_commands"), ns = test_real(&result, 0, "mem_cycles") / 0.85;
    ck_assert_double_eq_tol(test_real(&result, 0, "mem_bandwidth_bytes_per_s") / (bytes / ns * 1e9), 1, 1e-9);
    replay_release(&result);
}
END_TEST

START_TEST(channels_are_independent)
{
    const char *const one[] = {"synth:pim-copy,ops=50,channels=1"}, *const four[] = {
                                                                        "synth:pim-copy,ops=50,channels=4"};
    struct replay_result a, b;
    test_replay(&a, one, 1, "front=direct", "f3fs", NULL);
    test_replay(&b, four, 1, "front=direct", "f3fs", NULL);
    ck_assert(test_real(&a, 0, "total_cycles") == test_real(&b, 0, "total_cycles"));
    ck_assert(4 * test_real(&a, 0, "column_commands") == test_real(&b, 0, "column_commands"));
    replay_release(&a);
    replay_release(&b);
}
END_TEST

/* A latency is added to each arrival: what comes near the end of time is refused, what comes late is replayed. */
START_TEST(late_arrivals_are_replayed_or_refused)
{
    static const char text[] = "id,arrival_cycle,kind,bank,row,col\n0,%s,RD,0,0,0\n1,%s,PIM,0,1,0\n";
    struct replay_result result;
    char late[200];
    int n = snprintf(late, sizeof late, text, "72057594037927935", "72057594037927935");
    const char *path = test_import(testing_write("late.csv", late, (size_t)n), "late.offchip");
    test_replay(&result, &path, 1, "front=corun,run_limit_factor=1000000", "f3fs", NULL);
    ck_assert_double_gt(test_real(&result, 0, "total_cycles"), 72057594037927935.0);
    replay_release(&result);
    n = snprintf(late, sizeof late, text, "72057594037927935", "72057594037927936");
    path = test_import(testing_write("later.csv", late, (size_t)n), "later.offchip");
    struct input input;
    WORKS(input_open(&input, path, "", false, &err));
    const struct replay_request request = {
        .engine = &engine_dram, .policy_list = "f3fs", .inputs = &input, .input_count = 1, .threads = 1};
    bool usage;
    FAILS_WITH(replay_run(&request, &result, &usage, &err),
               "request 1 arrives at 72057594037927936; expected a time before cycle 2^56");
    input_close(&input);
}
END_TEST

TEST_MAIN("dram")
