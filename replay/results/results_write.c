/* Putting runs into a results file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/results_file.h"
#include "trace/base/mem.h"

enum { KEY_BYTES = 64 };

static int run_once(struct results *results, sqlite3_stmt *stmt, struct err *err)
{
    int failed = sqlite3_step(stmt) != SQLITE_DONE ? results_failed(results, err) : 0;
    (void)sqlite3_reset(stmt);
    return failed;
}

/* --- the values, one by one --- */

/* Of a run, or of one of its parts. */
struct place {
    int64_t run, position;
    const char *by, *part; /* NULL: of the run itself */
};

/* The ends of an interval; of an estimate (null) hi is infinite. */
static int bind_ends(sqlite3_stmt *stmt, int lo, const json_t *interval)
{
    int rc = 0;
    if (json_is_null(interval))
        return sqlite3_bind_double(stmt, lo + 1, INFINITY);
    for (size_t i = 0; i < 2; i++)
        if (json_is_number(json_array_get(interval, i)))
            rc |= sqlite3_bind_double(stmt, lo + (int)i, json_number_value(json_array_get(interval, i)));
    return rc;
}

static int put_metric(struct results *results, const struct place *place, const char *name, const json_t *value,
                      const json_t *interval, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, place->by ? RESULTS_INSERT_PART : RESULTS_INSERT_METRIC, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_int64(stmt, 1, place->run) | sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    if (json_is_integer(value))
        rc |= sqlite3_bind_int64(stmt, 3, json_integer_value(value));
    else if (json_is_real(value))
        rc |= sqlite3_bind_double(stmt, 3, json_real_value(value));
    rc |= bind_ends(stmt, 4, interval);
    if (place->by)
        rc |= sqlite3_bind_int64(stmt, 6, place->position) | sqlite3_bind_text(stmt, 7, place->by, -1, SQLITE_STATIC) |
              sqlite3_bind_text(stmt, 8, place->part, -1, SQLITE_STATIC);
    return rc ? results_failed(results, err) : run_once(results, stmt, err);
}

static int put_metrics(struct results *results, const struct place *place, json_t *metrics, json_t *intervals,
                       struct err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(metrics, name, value)
    {
        if (put_metric(results, place, name, value, json_object_get(intervals, name), err))
            return -1;
    }
    json_object_foreach(intervals, name, value)
    {
        if (!json_object_get(metrics, name) && put_metric(results, place, name, NULL, value, err))
            return -1;
    }
    return 0;
}

static int put_parts(struct results *results, int64_t run, json_t *parts, struct err *err)
{
    struct place place = {.run = run};
    json_t *array, *part;
    size_t i;
    json_object_foreach(parts, place.by, array)
    {
        json_array_foreach(array, i, part)
        {
            place.part = json_string_value(json_object_get(part, "part"));
            if (!place.part)
                return err_set(err, "a part of a run has no name");
            json_t *intervals = results_intervals(part);
            int wrong = put_metrics(results, &place, json_object_get(part, "metrics"), intervals, err);
            json_decref(intervals);
            if (wrong)
                return -1;
            place.position++;
        }
    }
    return 0;
}

/* --- a run --- */

static int put_platform(struct results *results, const char *numbers, const char *hash, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_INSERT_PLATFORM, err);
    if (!stmt)
        return -1;
    if (sqlite3_bind_text(stmt, 1, hash, -1, SQLITE_STATIC) || sqlite3_bind_text(stmt, 2, numbers, -1, SQLITE_STATIC))
        return results_failed(results, err);
    return run_once(results, stmt, err);
}

static const char *otherwise(const char *text, const char *empty)
{
    return text && *text ? text : empty;
}

/* A run as it stands in the file; its hash, once it has one. */
struct row {
    int64_t run, position;
    struct row_hash seal;
};

static int put_row(struct results *results, const struct results_run *run, const char *key, struct row *row,
                   struct err *err)
{
    char platform_hash[SEAL_TEXT] = "";
    if (run->numbers && *run->numbers) {
        struct row_hash numbers = row_hash_text(run->numbers);
        if (put_platform(results, run->numbers, row_hash_format(&numbers, platform_hash), err))
            return -1;
    }
    sqlite3_stmt *stmt = results_statement(results, RESULTS_INSERT, err);
    if (!stmt)
        return -1;
    const char *const texts[] = {key,
                                 otherwise(run->engine, ""),
                                 otherwise(run->input, ""),
                                 otherwise(run->input_hash, ""),
                                 otherwise(run->platform, ""),
                                 otherwise(run->policy, ""),
                                 otherwise(run->version, ""),
                                 otherwise(run->settings, "{}"),
                                 otherwise(run->params, "{}"),
                                 otherwise(run->metrics, "{}"),
                                 otherwise(run->intervals, "{}"),
                                 otherwise(run->overrides, "{}"),
                                 otherwise(run->relative_to, "{}"),
                                 otherwise(run->notes, "[]"),
                                 otherwise(run->inputs, "[]"),
                                 platform_hash};
    enum { TEXTS = sizeof texts / sizeof *texts };
    int rc = sqlite3_bind_int64(stmt, 1, run->position) | sqlite3_bind_int(stmt, TEXTS + 2, run->baseline);
    for (int i = 0; i < TEXTS; i++)
        rc |= sqlite3_bind_text(stmt, i + 2, texts[i], -1, SQLITE_STATIC);
    if (rc || sqlite3_step(stmt) != SQLITE_ROW)
        return results_failed(results, err);
    row->run = sqlite3_column_int64(stmt, 0);
    row->position = sqlite3_column_int64(stmt, 1);
    return run_once(results, stmt, err);
}

static int put_values(struct results *results, const struct results_run *run, int64_t id, struct err *err)
{
    const struct place place = {.run = id};
    json_t *const json[] = {results_parse(run->metrics, JSON_OBJECT, "metrics", err),
                            results_parse(run->intervals, JSON_OBJECT, "intervals", err),
                            results_parse(run->parts, JSON_OBJECT, "parts", err),
                            results_parse(run->settings, JSON_OBJECT, "settings", err),
                            results_parse(run->params, JSON_OBJECT, "params", err),
                            results_parse(run->notes, JSON_ARRAY, "notes", err)};
    enum { TEXTS = sizeof json / sizeof *json };
    int wrong = 0;
    for (size_t i = 0; i < TEXTS; i++)
        wrong |= !json[i];
    if (!wrong)
        wrong = put_metrics(results, &place, json[0], json[1], err) || put_parts(results, id, json[2], err);
    for (size_t i = 0; i < TEXTS; i++)
        json_decref(json[i]);
    return wrong ? -1 : 0;
}

/* What is sealed is what the file gives back, not what was handed over: columns may convert. */
static int seal_of(struct results *results, int64_t run,
                   int (*seal)(struct results *results, sqlite3_stmt *row, struct row_hash *seal, struct err *err),
                   struct row_hash *out, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_RUN, err);
    if (!stmt)
        return -1;
    if (sqlite3_bind_int64(stmt, 1, run) || sqlite3_step(stmt) != SQLITE_ROW)
        return results_failed(results, err);
    int failed = seal(results, stmt, out, err);
    (void)sqlite3_reset(stmt);
    return failed;
}

/* Give a run its key and its hash, and count it. */
static int seal_row(struct results *results, const struct row *row, const char *key, struct err *err)
{
    char hash[SEAL_TEXT];
    struct row_hash content;
    if (seal_of(results, row->run, results_hash_content, &content, err))
        return -1;
    const struct row_hash seal = row_hash_run(&content, key, row->position);
    sqlite3_stmt *stmt = results_statement(results, RESULTS_SEAL, err);
    if (!stmt)
        return -1;
    if (sqlite3_bind_int64(stmt, 1, row->run) || sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC) ||
        sqlite3_bind_text(stmt, 3, row_hash_format(&seal, hash), -1, SQLITE_STATIC))
        return results_failed(results, err);
    row_hash_add(&results->digest, &seal);
    results->runs++;
    return run_once(results, stmt, err);
}

static int delete_row(struct results *results, int64_t run, struct err *err)
{
    for (enum results_statement which = RESULTS_DELETE_RUN; which <= RESULTS_DELETE_PARTS; which++) {
        sqlite3_stmt *stmt = results_statement(results, which, err);
        if (!stmt)
            return -1;
        if (sqlite3_bind_int64(stmt, 1, run))
            return results_failed(results, err);
        if (run_once(results, stmt, err))
            return -1;
    }
    return 0;
}

/* The run with this key. Returns 1, 0: there is none, -1 with *err set. */
static int find_row(struct results *results, const char *key, struct row *row, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_FIND, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int found = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : results_failed(results, err);
    if (found == 1) {
        row->run = sqlite3_column_int64(stmt, 0);
        row->position = sqlite3_column_int64(stmt, 1);
        if (row_hash_parse((const char *)sqlite3_column_text(stmt, 2), &row->seal))
            found = err_set(err, "'%s': run %lld has no hash", results->path, (long long)row->run);
    }
    (void)sqlite3_reset(stmt);
    return found;
}

/* The run is there already, as `old`: it must have given the same numbers. The one with the smaller position stands. */
static int put_again(struct results *results, const struct results_run *run, const char *key, const struct row *old,
                     const struct row *new, struct err *err)
{
    struct row_hash ours, theirs;
    if (seal_of(results, old->run, results_hash_numbers, &theirs, err) ||
        seal_of(results, new->run, results_hash_numbers, &ours, err))
        return -1;
    if (!row_hash_equal(&ours, &theirs)) {
        results->collided = true;
        return err_set(err,
                       "'%s' has other numbers for the same case: run %lld, policy %.60s of engine %.30s on '%.100s'",
                       results->path, (long long)old->run, otherwise(run->policy, "?"), otherwise(run->engine, "?"),
                       otherwise(run->input, "?"));
    }
    if (run->position < 0 || run->position >= old->position)
        return delete_row(results, new->run, err);
    row_hash_subtract(&results->digest, &old->seal);
    results->runs--;
    return delete_row(results, old->run, err) || seal_row(results, new, key, err) ? -1 : 0;
}

static int put_run(struct results *results, const struct results_run *run, struct err *err)
{
    char key[KEY_BYTES + 1], own[RUN_CASE_HASH], waiting[KEY_BYTES + 8];
    if (!run->key && results_key(run, own, err))
        return -1;
    const char *wanted = run->key ? run->key : own;
    if (!wanted[0] || strlen(wanted) > KEY_BYTES)
        return err_set(err, "the key of a run has %zu bytes; expected 1 to %d", strlen(wanted), KEY_BYTES);
    (void)snprintf(key, sizeof key, "%s", wanted);
    (void)snprintf(waiting, sizeof waiting, "%s again", key);
    struct row old = {0}, new = {0};
    int found = find_row(results, key, &old, err);
    if (found < 0 || put_row(results, run, found ? waiting : key, &new, err) || put_values(results, run, new.run, err))
        return -1;
    results->added += found == 0;
    return found ? put_again(results, run, key, &old, &new, err) : seal_row(results, &new, key, err);
}

/* --- transactions --- */

/* A journal beside a file that others see is not left for them to roll back; of a new file nothing is left anyway. */
static void hold(const struct results *results)
{
    if (!results->file.path)
        output_hold();
}

static void let_go(const struct results *results)
{
    if (!results->file.path)
        output_release();
}

/* To be followed by end(), also after a failure. */
static int begin(struct results *results, struct err *err)
{
    int wrong = 0;
    if (!results->writing)
        wrong = err_set(err, "'%s' is open for reading", results->path);
    else if (sqlite3_exec(results->db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) /* may wait for others */
        wrong = results_failed(results, err);
    hold(results);
    return wrong ? wrong : results_read_digest(results, &results->runs, &results->digest, err);
}

static int write_digest(struct results *results, struct err *err)
{
    char hash[SEAL_TEXT];
    sqlite3_stmt *stmt = results_statement(results, RESULTS_SET_DIGEST, err);
    if (!stmt)
        return -1;
    if (sqlite3_bind_int64(stmt, 1, results->runs) ||
        sqlite3_bind_text(stmt, 2, row_hash_format(&results->digest, hash), -1, SQLITE_STATIC))
        return results_failed(results, err);
    return run_once(results, stmt, err);
}

static int end(struct results *results, int wrong, struct err *err)
{
    if (!wrong)
        wrong = write_digest(results, err);
    if (!wrong && sqlite3_exec(results->db, "COMMIT", NULL, NULL, NULL))
        wrong = results_failed(results, err);
    if (!wrong)
        results->transactions++;
    for (int i = 0; wrong && i < RESULTS_STATEMENTS; i++)
        (void)sqlite3_reset(results->stmt[i]);
    if (wrong)
        (void)sqlite3_exec(results->db, "ROLLBACK", NULL, NULL, NULL);
    let_go(results);
    return wrong ? -1 : 0;
}

int results_put(struct results *results, const struct results_run *runs, size_t n, struct err *err)
{
    int wrong = begin(results, err);
    for (size_t i = 0; i < n && !wrong; i++)
        wrong = put_run(results, &runs[i], err);
    return end(results, wrong, err);
}

/* SQLite counts transactions in the file's head, and how many there were depends on how fast the disk was: count up
 * to one for each run, and two for the beginning and the end of a sweep. Only the first page changes, and only in that
 * number. */
static void count_transactions(struct results *results)
{
    char sql[48];
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", SCHEMA_RESULTS_VERSION);
    int rc = sqlite3_exec(results->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    for (; !rc && results->transactions < results->added + 2; results->transactions++)
        rc = sqlite3_exec(results->db, sql, NULL, NULL, NULL);
    (void)sqlite3_exec(results->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
}

void results_settle(struct results *results)
{
    hold(results);
    if (results->added && sqlite3_exec(results->db, "VACUUM", NULL, NULL, NULL) == SQLITE_OK)
        count_transactions(results);
    let_go(results);
}

/* --- merging --- */

struct merging {
    struct results *to;
    const char *const *from;
    size_t at;
    struct err *err;
};

/* Which of the files before this one gave the run that is in the way. */
static const char *earlier(const struct merging *m, const char *key)
{
    for (size_t i = 0; i < m->at; i++) {
        struct results *results = results_open(m->from[i], RESULTS_READ, NULL);
        int has = results ? results_has(results, key, NULL) : 0;
        results_close(results);
        if (has == 1)
            return m->from[i];
    }
    return m->to->path;
}

static int merge_run(void *ctx, const struct results_run *run)
{
    const struct merging *m = ctx;
    m->to->collided = false;
    if (put_run(m->to, run, m->err) == 0)
        return 0;
    return m->to->collided ? err_set(m->err,
                                     "'%.80s' and '%.80s' have other numbers for the same case: policy %.40s of "
                                     "engine %.20s on '%.80s'",
                                     earlier(m, run->key), m->from[m->at], run->policy, run->engine, run->input)
                           : -1;
}

static int merge_file(struct merging *m)
{
    struct results *from = results_open(m->from[m->at], RESULTS_READ, m->err);
    int failed = from ? results_each(from, merge_run, m, m->err) : -1;
    if (!failed)
        failed = results_merge_sweeps(m->to, from, m->err);
    results_close(from);
    return failed;
}

int results_merge(struct results *results, const char *const *from, size_t n, struct err *err)
{
    struct merging merging = {results, from, 0, err};
    int wrong = begin(results, err);
    for (; merging.at < n && !wrong; merging.at++)
        wrong = merge_file(&merging);
    return end(results, wrong, err);
}
