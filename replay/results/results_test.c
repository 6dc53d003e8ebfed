#include "replay/results/results.h"

#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/testing.h"
#include "trace/store/dbfile.h"
#include "trace/store/sql.h"

static const struct results_run sample = {.position = -1,
                                          .engine = "uvm",
                                          .input = "synth:conv2d,bytes=1MiB",
                                          .input_hash = "00ff",
                                          .inputs = "[{\"role\":\"\",\"input\":\"synth:conv2d,bytes=1MiB\","
                                                    "\"hash\":\"00ff\"}]",
                                          .platform = "titanv",
                                          .numbers = "{\"gpu.sms\":80,\"uvm.compute_ns\":200,\"uvm.x\":0.25}",
                                          .overrides = "{\"uvm.compute_ns\":1000}",
                                          .relative_to = "{\"policy\":\"tree\",\"params\":{}}",
                                          .policy = "fixed",
                                          .settings = "{\"oversubscription_pct\":110,\"utlb\":\"blocked\","
                                                      "\"compute_ns\":\"1us\"}",
                                          .params = "{\"granularity\":65536}",
                                          .metrics = "{\"time_ns\":9223372036854775807,\"ratio\":1.5,\"none\":null}",
                                          .intervals = "{\"ratio\":[1,2],\"alone_ns\":[3,4],\"time_ns\":null}",
                                          .notes = "[\"a note\"]",
                                          .parts = "{\"kernel\":["
                                                   "{\"part\":\"a\",\"metrics\":{\"time_ns\":9223372036854775806},"
                                                   "\"interval\":{\"time_ns\":null}},"
                                                   "{\"part\":\"b\",\"metrics\":{\"ratio\":1.5},"
                                                   "\"interval\":{\"ratio\":[0.5,2.5]}}],"
                                                   "\"allocation\":[{\"part\":\"a\",\"metrics\":{\"time_ns\":7},"
                                                   "\"interval\":{}}]}",
                                          .baseline = true,
                                          .version = "1.0"};

static struct results *open_results(const char *path, enum results_mode mode)
{
    return GIVES(results_open(path, mode, &err));
}

/* In place, so that it is there without results_finish(). */
static struct results *new_results(const char *path)
{
    (void)unlink(path);
    return open_results(path, RESULTS_APPEND);
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
    ck_assert_str_eq(run->inputs, sample.inputs);
    ck_assert_str_eq(run->numbers, sample.numbers);
    ck_assert_str_eq(run->overrides, sample.overrides);
    ck_assert_str_eq(run->relative_to, sample.relative_to);
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
    const char *path = testing_file("r.db");
    struct results *results = new_results(path);
    char key[33];
    WORKS(results_key(&sample, key, &err));
    WORKS(results_has(results, key, &err));
    for (int i = 0; i < 3; i++)
        WORKS(results_put(results, &sample, 1, &err));
    RETURNS(results_has(results, key, &err), 1);
    RETURNS(results_count(results, &err), 1);
    results_close(results);
    results = open_results(path, RESULTS_READ);
    int count = 0;
    WORKS(results_each(results, same_as_sample, &count, &err));
    ck_assert_int_eq(count, 1);
    FAILS(results_put(results, &sample, 1, &err));
    results_close(results);
    GIVES_NONE(results_open(path, RESULTS_CREATE, &err), "exists");
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
    struct results *results = new_results(testing_file("position.db"));
    static const int64_t put[] = {5, 2, 9, -1};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++) {
        struct results_run run = sample;
        run.position = put[i];
        WORKS(results_put(results, &run, 1, &err));
    }
    int64_t position = -1;
    WORKS(results_each(results, take_position, &position, &err));
    ck_assert_int_eq(position, 2);
    RETURNS(results_count(results, &err), 1);
    results_close(results);
}
END_TEST

static void sql(const char *path, const char *text)
{
    sqlite3 *db;
    char *said = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, &said) == SQLITE_OK, "%s: %s", text, said);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

START_TEST(an_older_version_is_refused)
{
    struct err err = {""};
    const char *path = testing_file("version.db");
    results_close(new_results(path));
    sql(path, "PRAGMA user_version = 2");
    ck_assert_ptr_null(results_open(path, RESULTS_READ, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "version.db"));
    ck_assert_ptr_nonnull(strstr(err.msg, "of version 2; this offchip reads version 3"));
}
END_TEST

START_TEST(metrics_stand_one_by_one_and_exact)
{
    const char *path = testing_file("m.db");
    struct results *results = new_results(path);
    WORKS(results_put(results, &sample, 1, &err));
    WORKS(results_put(results, &sample, 1, &err));
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
                     "alone_ns:?:3.0:4.0 none:?:: ratio:1.5:1.0:2.0 time_ns:9223372036854775807::Inf");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}
END_TEST

START_TEST(key_is_of_content_and_not_of_the_order_of_json)
{
    char a[33], b[33], c[33];
    struct results_run run = sample;
    WORKS(results_key(&run, a, &err));
    run.settings = "{\"utlb\": \"blocked\", \"oversubscription_pct\": 110}";
    run.metrics = "{}";
    WORKS(results_key(&run, b, &err));
    run.params = "{\"granularity\":4096}";
    WORKS(results_key(&run, c, &err));
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    run.params = "[1]";
    FAILS(results_key(&run, c, &err));
}
END_TEST

START_TEST(a_bad_run_adds_nothing)
{
    struct results *results = new_results(testing_file("bad.db"));
    struct results_run runs[2] = {sample, sample};
    runs[1].key = "two";
    runs[1].metrics = "{\"time_ns\":";
    FAILS_WITH(results_put(results, runs, 2, &err), "metrics");
    WORKS(results_count(results, &err));
    runs[1].metrics = NULL;
    WORKS(results_put(results, runs, 2, &err));
    RETURNS(results_count(results, &err), 2);
    results_close(results);
}
END_TEST

START_TEST(merged_shards_report_in_the_order_of_one_run)
{
    static const char *const policies[] = {"p0", "p1", "p2", "p3", "p4", "p5"};
    for (int shard = 0; shard < 2; shard++) {
        struct results *part = new_results(testing_file(shard ? "s1.db" : "s0.db"));
        for (int i = 4 + shard; i >= 0; i -= 2) {
            struct results_run run = sample;
            run.policy = policies[i];
            run.position = i;
            WORKS(results_put(part, &run, 1, &err));
        }
        results_close(part);
    }
    struct results *whole = open_results(testing_file("whole.db"), RESULTS_APPEND);
    char *s0 = strdup(testing_file("s0.db")), *s1 = strdup(testing_file("s1.db"));
    const char *const from[] = {s1, s0, s1};
    WORKS(results_merge(whole, from, 3, &err));
    struct seen seen = {0, ""};
    WORKS(results_each(whole, see, &seen, &err));
    ck_assert_int_eq(seen.count, 6);
    ck_assert_str_eq(seen.order, "p0 p1 p2 p3 p4 p5 ");
    const char *const nothing[] = {s0, testing_file("nothing.db")};
    FAILS(results_merge(whole, nothing, 2, &err));
    results_close(whole);
    free(s0);
    free(s1);
}
END_TEST

START_TEST(a_new_file_is_there_once_it_is_finished)
{
    const char *path = testing_file("finished.db");
    struct results *results = open_results(path, RESULTS_CREATE);
    WORKS(results_put(results, &sample, 1, &err));
    results_close(results);
    ck_assert_int_ne(access(path, F_OK), 0);
    for (int again = 0; again < 2; again++) {
        results = open_results(path, again ? RESULTS_FORCE : RESULTS_CREATE);
        WORKS(results_put(results, &sample, 1, &err));
        ck_assert_int_eq(access(path, F_OK) == 0, again);
        results_settle(results);
        WORKS(results_finish(results, &err));
        results_close(results);
        results = open_results(path, RESULTS_READ);
        RETURNS(results_count(results, &err), 1);
        results_close(results);
    }
}
END_TEST

enum { WRITERS = 3, RUNS = 40 };

static bool put_runs(int writer)
{
    struct err err = {""};
    struct results *results = results_open(testing_file("shared.db"), RESULTS_APPEND, &err);
    for (int i = 0; results && i < RUNS; i++) {
        const char *key = testing_text("%d-%d", writer, i);
        struct results_run run = sample;
        run.key = key;
        if (results_put(results, &run, 1, &err))
            return false;
    }
    results_close(results);
    return results != NULL;
}

START_TEST(two_writers_share_one_file)
{
    testing_at_once(WRITERS, put_runs);
    struct results *results = open_results(testing_file("shared.db"), RESULTS_READ);
    RETURNS(results_count(results, &err), WRITERS * RUNS);
    results_close(results);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(testing_file("foreign.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE runs(a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    GIVES_NONE(results_open(testing_file("foreign.db"), RESULTS_APPEND, &err), "not an offchip results file");
    ck_assert(dbfile_is_database(testing_file("foreign.db")));
    const char *text = testing_write("text.json", "{\"runs\":[]}", 11);
    GIVES_NONE(results_open(text, RESULTS_READ, &err), "");
    ck_assert(!dbfile_is_database(text));
}
END_TEST

/* --- what was changed after it was written --- */

/* Three runs; two of one platform. */
static void make_three(const char *path)
{
    struct results *results = new_results(path);
    struct results_run runs[3] = {sample, sample, sample};
    runs[1].policy = "tree";
    runs[2].policy = "none";
    runs[2].numbers = "{\"gpu.sms\":132}";
    WORKS(results_put(results, runs, 3, &err));
    results_close(results);
}

static int check_file(const char *path, struct err *err)
{
    struct results_counts counts;
    struct results *results = results_open(path, RESULTS_READ, err);
    int rc = results ? results_check(results, &counts, err) : -1;
    results_close(results);
    return rc;
}

START_TEST(whatever_was_changed_is_noticed_and_named)
{
    static const struct {
        const char *sql, *says;
    } changes[] = {
        {"UPDATE metrics SET value = 1 WHERE run = 2 AND name = 'ratio'", "run 2 (policy tree)"},
        {"UPDATE metrics SET lo = 0 WHERE run = 3 AND name = 'ratio'", "run 3 (policy none)"},
        {"DELETE FROM metrics WHERE run = 1 AND name = 'none'", "run 1 (policy fixed)"},
        {"INSERT INTO metrics VALUES(1, 'more', 1, NULL, NULL)", "run 1"},
        {"UPDATE parts SET value = value + 1 WHERE run = 2 AND \"by\" = 'allocation'", "run 2"},
        {"UPDATE parts SET part = 'z' WHERE run = 2 AND part = 'b'", "run 2"},
        {"DELETE FROM parts WHERE run = 3 AND position = 1", "run 3"},
        {"UPDATE runs SET metrics = replace(metrics, '1.5', '1.6') WHERE run = 3", "run 3"},
        {"UPDATE runs SET intervals = '{}' WHERE run = 3", "run 3"},
        {"UPDATE runs SET notes = '[]' WHERE run = 2", "run 2"},
        {"UPDATE runs SET baseline = 0 WHERE run = 2", "run 2"},
        {"UPDATE runs SET position = 7 WHERE run = 2", "run 2"},
        {"UPDATE runs SET key = 'x' WHERE run = 2", "run 2"},
        {"UPDATE runs SET input = 'x' WHERE run = 2", "run 2"},
        {"UPDATE runs SET inputs = '[]' WHERE run = 2", "run 2"},
        {"UPDATE runs SET overrides = '{}' WHERE run = 2", "run 2"},
        {"UPDATE runs SET relative_to = '{}' WHERE run = 2", "run 2"},
        {"UPDATE runs SET settings = '{}' WHERE run = 2", "run 2"},
        {"UPDATE runs SET offchip_version = '2' WHERE run = 2", "run 2"},
        {"UPDATE runs SET platform_hash = '' WHERE run = 2", "run 2"},
        {"UPDATE runs SET hash = '' WHERE run = 2", "run 2"},
        {"UPDATE runs SET run = 9 WHERE run = 2", "run 9"},
        {"UPDATE platforms SET numbers = replace(numbers, '132', '133')", "run 3"},
        {"DELETE FROM platforms", "run 1"},
        {"DELETE FROM runs WHERE run = 2", "has 2 runs; 3 were written"},
        {"DELETE FROM runs; DELETE FROM metrics; DELETE FROM parts", "has 0 runs; 3 were written"},
        {"DELETE FROM runs WHERE run = 2; UPDATE digest SET runs = 2", "its 2 runs are not those that were written"},
        {"UPDATE digest SET hash = replace(hash, substr(hash, 1, 4), '0000')",
         "its 3 runs are not those that were written"},
        {"UPDATE digest SET hash = 'x'", "table digest is damaged"},
        {"DELETE FROM digest", "table digest is damaged"},
        {"INSERT INTO digest SELECT * FROM digest", "table digest is damaged"},
        {"ALTER TABLE runs ADD COLUMN more TEXT", "columns"},
        {"DROP TABLE digest", "table digest is missing"},
        {"PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'NUMERIC', 'TEXT')"
         " WHERE name = 'parts'",
         "table parts is not declared"},
    };
    const char *path = testing_file("changed.db");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct err err = {""};
        make_three(path);
        ck_assert_msg(check_file(path, &err) == 0, "%s", err.msg);
        sql(path, changes[i].sql);
        ck_assert_msg(check_file(path, &err) == -1, "not noticed: %s", changes[i].sql);
        ck_assert_msg(strstr(err.msg, "changed.db") && strstr(err.msg, changes[i].says), "%s: %s", changes[i].sql,
                      err.msg);
    }
}
END_TEST

static int print_run(void *ctx, const struct results_run *r)
{
    (void)fprintf(ctx, "%s %lld %s %s %s %s %s %s %s %s %s %s %s %s %s %s %s %d %s\n", r->key, (long long)r->position,
                  r->engine, r->input, r->input_hash, r->platform, r->policy, r->inputs, r->numbers, r->overrides,
                  r->settings, r->params, r->relative_to, r->metrics, r->intervals, r->notes, r->parts, r->baseline,
                  r->version);
    return 0;
}

/* All that a reader gets to see, NULL if the file is refused; freed by the caller. */
static char *shown(const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    struct results *results = results_open(path, RESULTS_READ, NULL);
    int rc = results ? results_each(results, print_run, to, NULL) : -1;
    results_close(results);
    (void)fclose(to);
    if (rc == 0)
        return text;
    free(text);
    return NULL;
}

static size_t read_whole(const char *path, char **bytes)
{
    FILE *f = GIVES(fopen(path, "rb"));
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    rewind(f);
    *bytes = malloc((size_t)size);
    ck_assert_uint_eq(fread(*bytes, 1, (size_t)size, f), (size_t)size);
    (void)fclose(f);
    return (size_t)size;
}

/* OFFCHIP_FLIPS=N flips N bits; what is refused, or shows what was written, is well. */
START_TEST(no_flipped_bit_shows_another_number)
{
    const char *path = testing_file("flip.db"), *asked = getenv("OFFCHIP_FLIPS");
    int flips = asked ? atoi(asked) : 400, refused = 0;
    uint64_t random = 88172645463325252U;
    make_three(path);
    char *good = shown(path), *bytes;
    ck_assert_ptr_nonnull(good);
    size_t size = read_whole(path, &bytes);
    for (int i = 0; i < flips; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t bit = random % (size * 8);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        char *seen = shown(testing_write("flipped.db", bytes, size));
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        ck_assert_msg(!seen || strcmp(seen, good) == 0, "bit %zu: %s", bit, seen);
        refused += !seen;
        free(seen);
    }
    ck_assert_int_gt(refused, flips / 50);
    if (asked)
        (void)fprintf(stderr, "%d of %d flips refused\n", refused, flips);
    free(good);
    free(bytes);
}
END_TEST

/* --- the same run twice --- */

START_TEST(the_same_run_with_other_numbers_is_an_error_that_names_it)
{
    struct err err = {""};
    const char *path = testing_file("once.db");
    struct results *results = new_results(path);
    struct results_run other = sample;
    ck_assert_int_eq(results_put(results, &sample, 1, &err), 0);
    other.metrics = "{\"time_ns\":9223372036854775806,\"ratio\":1.5,\"none\":null}";
    ck_assert_int_eq(results_put(results, &other, 1, &err), -1);
    ck_assert_msg(strstr(err.msg, "once.db") && strstr(err.msg, "run 1, policy fixed") &&
                      strstr(err.msg, "synth:conv2d"),
                  "%s", err.msg);
    other = sample;
    other.parts = "{}";
    ck_assert_int_eq(results_put(results, &other, 1, &err), -1);
    other = sample;
    other.intervals = "{\"ratio\":[1,2],\"alone_ns\":[3,5]}";
    ck_assert_int_eq(results_put(results, &other, 1, &err), -1);
    other = sample;
    char key[RUN_CASE_HASH];
    ck_assert_int_eq(results_key(&sample, key, &err), 0);
    other.key = key;
    other.input = "another name of the same content";
    other.platform = "and of the same numbers";
    ck_assert_msg(results_put(results, &other, 1, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_count(results, &err), 1);
    other = sample;
    other.relative_to = "{\"policy\":\"none\",\"params\":{}}"; /* another question */
    other.metrics = "{\"speedup_ratio\":3}";
    ck_assert_msg(results_put(results, &other, 1, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_count(results, &err), 2);
    results_close(results);
    ck_assert_msg(check_file(path, &err) == 0, "%s", err.msg);
}
END_TEST

START_TEST(a_merge_of_other_numbers_names_both_files_and_adds_nothing)
{
    struct err err = {""};
    static const char *const names[] = {"one.db", "two.db", "three.db"};
    const char *from[3];
    for (int i = 0; i < 3; i++) {
        struct results *results = new_results(from[i] = strdup(testing_file(names[i])));
        struct results_run run = sample;
        run.position = 2 - i;
        if (i == 0)
            run.policy = "tree";
        if (i == 2)
            run.metrics = "{\"time_ns\":1}";
        ck_assert_int_eq(results_put(results, &run, 1, &err), 0);
        results_close(results);
    }
    struct results *all = new_results(testing_file("all.db"));
    ck_assert_int_eq(results_merge(all, from, 3, &err), -1);
    ck_assert_msg(strstr(err.msg, "two.db") && strstr(err.msg, "three.db") && strstr(err.msg, "policy fixed"), "%s",
                  err.msg);
    ck_assert_int_eq(results_count(all, &err), 0);
    ck_assert_int_eq(results_merge(all, from, 2, &err), 0);
    ck_assert_int_eq(results_count(all, &err), 2);
    results_close(all);
    ck_assert_msg(check_file(testing_file("all.db"), &err) == 0, "%s", err.msg);
    for (int i = 0; i < 3; i++)
        free((char *)from[i]);
}
END_TEST

/* --- one form --- */

/* Eight runs in the given order, `each` in a transaction. */
static char *settled(const char *name, const int order[8], size_t each, size_t *size)
{
    static const char *const policies[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct results_run runs[8];
    char *bytes;
    struct results *results = new_results(testing_file(name));
    for (size_t i = 0; i < 8; i++) {
        runs[i] = sample;
        runs[i].position = order[i];
        runs[i].policy = policies[order[i]];
    }
    for (size_t i = 0; i < 8; i += each)
        WORKS(results_put(results, runs + i, each, &err));
    results_settle(results);
    results_close(results);
    WORKS(check_file(testing_file(name), &err));
    *size = read_whole(testing_file(name), &bytes);
    return bytes;
}

START_TEST(neither_order_nor_transactions_show_in_a_settled_file)
{
    static const int orders[3][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {7, 3, 5, 1, 0, 2, 6, 4}, {0, 2, 1, 3, 5, 4, 6, 7}};
    size_t size, other;
    char *bytes = settled("form.db", orders[0], 8, &size);
    for (size_t i = 1; i < 3; i++) {
        char *again = settled("form2.db", orders[i], i, &other);
        ck_assert_uint_eq(size, other);
        ck_assert_mem_eq(bytes, again, size);
        free(again);
    }
    free(bytes);
}
END_TEST

enum { WRITER_RUNS = 80 };

/* Put some runs, then wait to be killed; say on `ready` that the first is there. */
static void write_until_killed(const char *path, int round, int ready)
{
    struct err err = {""};
    struct results *results = results_open(path, RESULTS_APPEND, &err);
    for (int i = 0; results && i < WRITER_RUNS; i++) {
        const char *key = testing_text("%d-%d", round, i);
        struct results_run run = sample;
        run.key = key;
        if (results_put(results, &run, 1, &err) || (i == 0 && write(ready, "", 1) != 1))
            _exit(1);
    }
    (void)pause();
    _exit(2);
}

START_TEST(a_killed_writer_leaves_a_sound_file)
{
    const char *path = testing_file("killed.db");
    struct err err = {""};
    results_close(new_results(path));
    for (int round = 0; round < 12; round++) {
        int ready[2], status;
        char byte;
        ck_assert_int_eq(pipe(ready), 0);
        pid_t child = fork();
        if (child == 0)
            write_until_killed(path, round, ready[1]);
        (void)close(ready[1]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        (void)usleep(500 + (unsigned)round * 700);
        ck_assert_int_eq(kill(child, SIGKILL), 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_msg(check_file(path, &err) == 0, "%s", err.msg);
        (void)close(ready[0]);
    }
    struct results *results = open_results(path, RESULTS_READ);
    ck_assert_int_ge(results_count(results, &err), 12);
    results_close(results);
}
END_TEST

static int count_run(void *ctx, const struct results_run *run)
{
    (void)run;
    ++*(int64_t *)ctx;
    return 0;
}

START_TEST(a_reader_beside_a_writer_sees_a_whole_file)
{
    const char *path = testing_file("beside.db");
    int ready[2], status;
    char byte;
    results_close(new_results(path));
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
        write_until_killed(path, 0, ready[1]);
    (void)close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    for (int64_t runs = 0; runs < WRITER_RUNS;) {
        struct results *results = open_results(path, RESULTS_READ);
        runs = 0;
        WORKS(results_each(results, count_run, &runs, &err));
        results_close(results);
        ck_assert_int_eq(waitpid(child, &status, WNOHANG), 0);
    }
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}
END_TEST

START_TEST(a_results_file_opens_for_queries)
{
    struct err err = {""};
    const char *path = testing_file("results.db");
    results_close(results_open(path, RESULTS_APPEND, &err));
    sqlite3 *db = sql_open(path, &err);
    ck_assert_msg(db != NULL, "%s", err.msg);
    ck_assert_int_eq(sqlite3_exec(db, "SELECT * FROM runs JOIN metrics USING(run)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}
END_TEST

TEST_MAIN("results")
