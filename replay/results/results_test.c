#include "replay/results/results.h"

#include <jansson.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "trace/base/testing.h"

static const struct results_run sample = {.position = -1,
                                          .engine = "uvm",
                                          .input = "synth:conv2d,bytes=1MiB",
                                          .input_hash = "00ff",
                                          .platform = "titanv",
                                          .policy = "fixed",
                                          .settings = "{\"oversubscription_pct\":110,\"utlb\":\"blocked\"}",
                                          .params = "{\"granularity\":65536}",
                                          .metrics = "{\"time_ns\":9223372036854775807,\"ratio\":1.5,\"none\":null}",
                                          .intervals = "{\"ratio\":[1,2],\"alone_ns\":[3,4]}",
                                          .notes = "[\"a note\"]",
                                          .parts = "{\"kernel\":["
                                                   "{\"part\":\"a\",\"metrics\":{\"time_ns\":9223372036854775806},"
                                                   "\"interval\":{}},"
                                                   "{\"part\":\"b\",\"metrics\":{\"ratio\":1.5},"
                                                   "\"interval\":{\"ratio\":[0.5,2.5]}}],"
                                                   "\"allocation\":[{\"part\":\"a\",\"metrics\":{\"time_ns\":7},"
                                                   "\"interval\":{}}]}",
                                          .baseline = true,
                                          .version = "1.0"};

static struct results *open_results(const char *path, enum results_mode mode)
{
    struct err err = {""};
    struct results *results = results_open(path, mode, &err);
    ck_assert_msg(results != NULL, "%s", err.msg);
    return results;
}

struct seen {
    int count;
    char order[200];
};

static int see(void *ctx, const struct results_run *run)
{
    struct seen *seen = ctx;
    seen->count++;
    size_t used = strlen(seen->order);
    (void)snprintf(seen->order + used, sizeof seen->order - used, "%s ", run->policy);
    return 0;
}

static int same_as_sample(void *ctx, const struct results_run *run)
{
    ++*(int *)ctx;
    ck_assert_str_eq(run->engine, sample.engine);
    ck_assert_str_eq(run->input, sample.input);
    ck_assert_str_eq(run->input_hash, sample.input_hash);
    ck_assert_str_eq(run->platform, sample.platform);
    ck_assert_str_eq(run->policy, sample.policy);
    ck_assert_str_eq(run->settings, sample.settings);
    ck_assert_str_eq(run->params, sample.params);
    ck_assert_str_eq(run->metrics, sample.metrics);
    ck_assert_str_eq(run->intervals, sample.intervals);
    ck_assert_str_eq(run->notes, sample.notes);
    json_t *parts = json_loads(run->parts, 0, NULL), *expected = json_loads(sample.parts, 0, NULL);
    ck_assert_msg(parts && json_equal(parts, expected), "%s", run->parts);
    json_decref(parts);
    json_decref(expected);
    ck_assert_str_eq(run->version, sample.version);
    ck_assert(run->baseline);
    ck_assert_uint_eq(strlen(run->key), 32);
    return 0;
}

START_TEST(a_run_comes_back_whole_and_once)
{
    struct err err = {""};
    const char *path = testing_file("r.db");
    struct results *results = open_results(path, RESULTS_CREATE);
    char key[33];
    ck_assert_int_eq(results_key(&sample, key, &err), 0);
    ck_assert_int_eq(results_has(results, key, &err), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(results_put(results, &sample, 1, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_has(results, key, &err), 1);
    ck_assert_int_eq(results_count(results, &err), 1);
    results_close(results);
    results = open_results(path, RESULTS_READ);
    int count = 0;
    ck_assert_int_eq(results_each(results, same_as_sample, &count, &err), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(results_put(results, &sample, 1, &err), -1);
    results_close(results);
    ck_assert_ptr_null(results_open(path, RESULTS_CREATE, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "exists"));
}
END_TEST

static int take_position(void *ctx, const struct results_run *run)
{
    *(int64_t *)ctx = run->position;
    return 0;
}

/* Two points of a sweep may share a run: its place must not depend on which of them ended last. */
START_TEST(a_run_put_again_keeps_the_smaller_position)
{
    struct err err = {""};
    struct results *results = open_results(testing_file("position.db"), RESULTS_CREATE);
    static const int64_t put[] = {5, 2, 9, -1};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        struct results_run run = sample;
        run.position = put[i];
        ck_assert_int_eq(results_put(results, &run, 1, &err), 0);
    }
    int64_t position = -1;
    ck_assert_int_eq(results_each(results, take_position, &position, &err), 0);
    ck_assert_int_eq(position, 2);
    ck_assert_int_eq(results_count(results, &err), 1);
    results_close(results);
}
END_TEST

START_TEST(version_1_without_parts_is_read_and_merged_but_not_added_to)
{
    struct err err = {""};
    const char *path = testing_file("v1.db");
    struct results *results = open_results(path, RESULTS_CREATE);
    ck_assert_int_eq(results_put(results, &sample, 1, &err), 0);
    results_close(results);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "DROP TABLE parts; PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    ck_assert_ptr_null(results_open(path, RESULTS_APPEND, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "version 1"));
    results = open_results(testing_file("v2.db"), RESULTS_CREATE);
    ck_assert_msg(results_merge(results, path, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_count(results, &err), 1);
    struct seen seen = {0};
    ck_assert_int_eq(results_each(results, see, &seen, &err), 0);
    ck_assert_str_eq(seen.order, "fixed ");
    results_close(results);
}
END_TEST

START_TEST(metrics_stand_one_by_one_and_exact)
{
    struct err err = {""};
    const char *path = testing_file("m.db");
    struct results *results = open_results(path, RESULTS_CREATE);
    ck_assert_int_eq(results_put(results, &sample, 1, &err), 0);
    ck_assert_int_eq(results_put(results, &sample, 1, &err), 0);
    results_close(results);
    sqlite3 *db;
    sqlite3_stmt *stmt;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT group_concat(name || ':' || coalesce(value, '?') || ':' ||"
                                        " coalesce(lo, '') || ':' || coalesce(hi, ''), ' ') FROM"
                                        " (SELECT * FROM metrics ORDER BY name)",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
    ck_assert_str_eq((const char *)sqlite3_column_text(stmt, 0),
                     "alone_ns:?:3.0:4.0 none:?:: ratio:1.5:1.0:2.0 time_ns:9223372036854775807::");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}
END_TEST

START_TEST(key_is_of_content_and_not_of_the_order_of_json)
{
    struct err err = {""};
    char a[33], b[33], c[33];
    struct results_run run = sample;
    ck_assert_int_eq(results_key(&run, a, &err), 0);
    run.settings = "{\"utlb\": \"blocked\", \"oversubscription_pct\": 110}";
    run.metrics = "{}";
    ck_assert_int_eq(results_key(&run, b, &err), 0);
    run.params = "{\"granularity\":4096}";
    ck_assert_int_eq(results_key(&run, c, &err), 0);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    run.params = "[1]";
    ck_assert_int_eq(results_key(&run, c, &err), -1);
}
END_TEST

START_TEST(a_bad_run_adds_nothing)
{
    struct err err = {""};
    struct results *results = open_results(testing_file("bad.db"), RESULTS_CREATE);
    struct results_run runs[2] = {sample, sample};
    runs[1].key = "two";
    runs[1].metrics = "{\"time_ns\":";
    ck_assert_int_eq(results_put(results, runs, 2, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "metrics"));
    ck_assert_int_eq(results_count(results, &err), 0);
    runs[1].metrics = NULL;
    ck_assert_msg(results_put(results, runs, 2, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_count(results, &err), 2);
    results_close(results);
}
END_TEST

START_TEST(merged_shards_report_in_the_order_of_one_run)
{
    struct err err = {""};
    static const char *const policies[] = {"p0", "p1", "p2", "p3", "p4", "p5"};
    for (int shard = 0; shard < 2; shard++) {
        struct results *part = open_results(testing_file(shard ? "s1.db" : "s0.db"), RESULTS_FORCE);
        for (int i = 4 + shard; i >= 0; i -= 2) {
            struct results_run run = sample;
            run.policy = policies[i];
            run.position = i;
            ck_assert_int_eq(results_put(part, &run, 1, &err), 0);
        }
        results_close(part);
    }
    struct results *whole = open_results(testing_file("whole.db"), RESULTS_APPEND);
    for (int again = 0; again < 2; again++) {
        ck_assert_msg(results_merge(whole, testing_file("s1.db"), &err) == 0, "%s", err.msg);
        ck_assert_int_eq(results_merge(whole, testing_file("s0.db"), &err), 0);
    }
    struct seen seen = {0, ""};
    ck_assert_int_eq(results_each(whole, see, &seen, &err), 0);
    ck_assert_int_eq(seen.count, 6);
    ck_assert_str_eq(seen.order, "p0 p1 p2 p3 p4 p5 ");
    ck_assert_int_eq(results_merge(whole, testing_file("nothing.db"), &err), -1);
    results_close(whole);
}
END_TEST

START_TEST(two_writers_share_one_file)
{
    enum { WRITERS = 3, RUNS = 40 };
    struct err err = {""};
    const char *path = testing_file("shared.db");
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++) {
        child[w] = fork();
        if (child[w])
            continue;
        struct results *results = results_open(path, RESULTS_APPEND, &err);
        for (int i = 0; results && i < RUNS; i++) {
            char key[16];
            (void)snprintf(key, sizeof key, "%d-%d", w, i);
            struct results_run run = sample;
            run.key = key;
            if (results_put(results, &run, 1, &err))
                _exit(1);
        }
        results_close(results);
        _exit(results ? 0 : 2);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        ck_assert_int_eq(waitpid(child[w], &status, 0), child[w]);
        ck_assert_int_eq(status, 0);
    }
    struct results *results = open_results(path, RESULTS_READ);
    ck_assert_int_eq(results_count(results, &err), WRITERS * RUNS);
    results_close(results);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
    struct err err = {""};
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(testing_file("foreign.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE runs(a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    ck_assert_ptr_null(results_open(testing_file("foreign.db"), RESULTS_APPEND, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "not an offchip results file"));
    ck_assert(results_is_database(testing_file("foreign.db")));
    const char *text = testing_write("text.json", "{\"runs\":[]}", 11);
    ck_assert_ptr_null(results_open(text, RESULTS_READ, &err));
    ck_assert(!results_is_database(text));
    struct results *results = open_results(testing_file("hostile.db"), RESULTS_FORCE);
    ck_assert_int_eq(results_put(results, &sample, 1, &err), 0);
    results_close(results);
    ck_assert_int_eq(sqlite3_open(testing_file("hostile.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE runs SET metrics = '{'", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    results = open_results(testing_file("hostile.db"), RESULTS_READ);
    int count = 0;
    ck_assert_int_eq(results_each(results, same_as_sample, &count, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "column metrics is damaged"));
    results_close(results);
}
END_TEST

TEST_MAIN("results", a_run_comes_back_whole_and_once, a_run_put_again_keeps_the_smaller_position,
          version_1_without_parts_is_read_and_merged_but_not_added_to, metrics_stand_one_by_one_and_exact,
          key_is_of_content_and_not_of_the_order_of_json, a_bad_run_adds_nothing,
          merged_shards_report_in_the_order_of_one_run, two_writers_share_one_file, foreign_files_are_refused)
