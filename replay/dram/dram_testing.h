/* dram_testing: import a CSV of requests and replay it, for the dram engine's tests; what the engine counted. */
#pragma once

#include "replay/dram/dram_partition.h"
#include "trace/base/mem.h"
#include "trace/base/testing.h"
#include "trace/import/reader.h"

/* fixtures/dram/NAME as trace NAME.offchip in the scratch directory. */
static inline const char *test_import(const char *path, const char *name)
{
    struct err err = {""};
    const char *to = testing_file(name);
    struct store *store = store_create(to, true, "test", &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    struct input_stream *source = input_stream_open(path, &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    struct reader_context context = {.store = store, .path = path, .strict = true};
    ck_assert_msg(!read_dram_csv.read(&context, source, &err), "%s: %s", path, err.msg);
    ck_assert_msg(!store_finish(store, &err), "%s", err.msg);
    input_stream_close(source);
    store_close(store);
    return to;
}

/* What the controllers counted in the last replay of a stream by test_count(), by policy. */
static struct dram_stats test_stats[16];

/* An open loop's policies once more, for what no metric says. */
static inline int test_count(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct dram_settings *set = job->settings;
    struct dram_stream s;
    ck_assert(!dram_stream_load(&s, job->inputs, job->input_count, UINT64_MAX, job->platform, NULL, err));
    ck_assert(set->vcs == 1 || !dram_stream_split(&s, err));
    struct replay_job quiet = *job;
    quiet.engine_options = NULL;
    for (size_t i = 0; i < job->policy_count && i < sizeof test_stats / sizeof *test_stats; i++) {
        struct dram_totals t = dram_totals_new();
        ck_assert(!dram_direct_run(&quiet, &job->policies[i], &s, NULL, &t, err));
        test_stats[i] = t.stats;
    }
    dram_stream_release(&s);
    return engine_dram.replay(job, runs, err);
}

/* Replay inputs ("mem=SPEC", "pim=SPEC" or a plain SPEC); set: "key=value,..." */
static inline void test_replay_by(const struct engine *engine, struct replay_result *result, const char *const *specs,
                                  size_t n, const char *set, const char *policies, const char *requests)
{
    struct input inputs[4];
    ck_assert_uint_le(n, 4);
    for (size_t i = 0; i < n; i++) {
        const bool role = strncmp(specs[i], "mem=", 4) == 0 || strncmp(specs[i], "pim=", 4) == 0;
        const char *name = !role ? "" : specs[i][0] == 'm' ? "mem" : "pim";
        WORKS(input_open(&inputs[i], specs[i] + (role ? 4 : 0), name, false, &err));
    }
    const char *sets[] = {set};
    FILE *file = requests ? fopen(requests, "w") : NULL;
    const struct replay_request request = {.engine = engine,
                                           .policy_list = policies,
                                           .sets = sets,
                                           .set_count = 1,
                                           .inputs = inputs,
                                           .input_count = n,
                                           .requests = file,
                                           .threads = 1};
    bool usage;
    WORKS(replay_run(&request, result, &usage, &err));
    if (file)
        (void)fclose(file);
    for (size_t i = 0; i < n; i++)
        input_close(&inputs[i]);
}

/* The same by the dram engine, with test_stats of an open loop. */
static inline void test_replay(struct replay_result *result, const char *const *specs, size_t n, const char *set,
                               const char *policies, const char *requests)
{
    static struct engine counting;
    counting = engine_dram;
    if (strncmp(set, "front=direct", 12) == 0)
        counting.replay = test_count;
    test_replay_by(&counting, result, specs, n, set, policies, requests);
}

static inline double test_real(const struct replay_result *result, size_t run, const char *name)
{
    const struct metric_value *v = outcome_get(&result->runs[run], name);
    ck_assert_msg(v != NULL, "no metric %s", name);
    ck_assert_msg(v->known, "%s is unknown", name);
    return v->real;
}
