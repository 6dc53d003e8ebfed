/* Reading runs back, and whether they are what was written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/results_file.h"
#include "trace/base/json_tree.h"

/* Versions 1 and 2 have no such columns: the case is what little they have, and nothing is sealed. */
static const char columns_before_3[] =
    "SELECT engine, input, input_hash, platform, policy, offchip_version, settings, params, metrics, intervals,"
    " '', '', notes, '', '', baseline, key, position, '', run, NULL FROM main.runs";

/* --- seals --- */

/* The rows of a run in another table, after the columns that say which run it is. */
static int seal_rows(struct results *results, enum results_statement which, struct row_hashing *sealing, int64_t run,
                     struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, which, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_int64(stmt, 1, run);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        row_hash_values(sealing, stmt, 0, sqlite3_column_count(stmt));
        rc = SQLITE_OK;
    }
    int failed = rc != SQLITE_DONE ? results_failed(results, err) : 0;
    (void)sqlite3_reset(stmt);
    return failed;
}

/* The columns from `first` up to `end`, and the rows in metrics and parts. */
static int seal(struct results *results, sqlite3_stmt *row, int first, int end, struct row_hash *seal, struct err *err)
{
    struct row_hashing *sealing = row_hash_begin(err);
    if (!sealing)
        return -1;
    int64_t run = sqlite3_column_int64(row, RESULTS_ID);
    row_hash_values(sealing, row, first, end);
    int failed =
        seal_rows(results, RESULTS_METRICS, sealing, run, err) || seal_rows(results, RESULTS_PARTS, sealing, run, err);
    *seal = row_hash_end(sealing);
    return failed ? -1 : 0;
}

int results_hash_content(struct results *results, sqlite3_stmt *row, struct row_hash *content, struct err *err)
{
    return seal(results, row, 0, RESULTS_CONTENT, content, err);
}

int results_hash_numbers(struct results *results, sqlite3_stmt *row, struct row_hash *numbers, struct err *err)
{
    return seal(results, row, RESULTS_METRICS_TEXT, RESULTS_INTERVALS + 1, numbers, err);
}

static int check_platform(struct results *results, sqlite3_stmt *row, struct err *err)
{
    const char *hash = (const char *)sqlite3_column_text(row, RESULTS_PLATFORM_HASH);
    const char *numbers = (const char *)sqlite3_column_text(row, RESULTS_NUMBERS);
    char found[SEAL_TEXT];
    if (hash && !*hash)
        return 0;
    const struct row_hash seal = row_hash_text(numbers ? numbers : "");
    if (hash && strcmp(row_hash_format(&seal, found), hash) == 0)
        return 0;
    return err_set(err, "'%s': run %lld: the numbers of its platform are not what was written", results->path,
                   (long long)sqlite3_column_int64(row, RESULTS_ID));
}

/* Whether the row is what was written; its seal is added to *sum. */
static int check_row(struct results *results, sqlite3_stmt *row, struct row_hash *sum, struct err *err)
{
    struct row_hash content, stored;
    if (results_hash_content(results, row, &content, err))
        return -1;
    const char *key = (const char *)sqlite3_column_text(row, RESULTS_KEY);
    const struct row_hash seal = row_hash_run(&content, key ? key : "", sqlite3_column_int64(row, RESULTS_POSITION));
    if (row_hash_parse((const char *)sqlite3_column_text(row, RESULTS_HASH), &stored) ||
        !row_hash_equal(&seal, &stored)) {
        const char *policy = (const char *)sqlite3_column_text(row, RESULTS_POLICY);
        return err_set(err, "'%s': run %lld (policy %.40s) is not what was written: its hash does not fit",
                       results->path, (long long)sqlite3_column_int64(row, RESULTS_ID), policy ? policy : "?");
    }
    row_hash_add(sum, &seal);
    return check_platform(results, row, err);
}

static int check_digest(struct results *results, int64_t runs, const struct row_hash *sum, struct err *err)
{
    int64_t written;
    struct row_hash digest;
    if (results_read_digest(results, &written, &digest, err))
        return -1;
    if (written != runs)
        return err_set(err, "'%s' has %lld runs; %lld were written", results->path, (long long)runs,
                       (long long)written);
    return row_hash_equal(sum, &digest)
               ? 0
               : err_set(err, "'%s': the digest of its %lld runs does not fit", results->path, (long long)runs);
}

/* --- rows to runs --- */

static bool is_json(const char *text, json_type type)
{
    json_t *value = results_parse(text, type, "", NULL);
    json_decref(value);
    return value != NULL;
}

/* json_string() is the judge of UTF-8. */
static bool is_text(const char *text)
{
    json_t *probe = json_string(text);
    json_decref(probe);
    return probe != NULL;
}

/* One row as a run; texts are checked. */
static int take_run(struct results *results, sqlite3_stmt *stmt, struct results_run *run, struct err *err)
{
    const char **const texts[RESULTS_KEY + 1] = {[RESULTS_ENGINE] = &run->engine,
                                                 [RESULTS_INPUT] = &run->input,
                                                 [RESULTS_INPUT_HASH] = &run->input_hash,
                                                 [RESULTS_PLATFORM] = &run->platform,
                                                 [RESULTS_POLICY] = &run->policy,
                                                 [RESULTS_VERSION] = &run->version,
                                                 [RESULTS_SETTINGS] = &run->settings,
                                                 [RESULTS_PARAMS] = &run->params,
                                                 [RESULTS_METRICS_TEXT] = &run->metrics,
                                                 [RESULTS_INTERVALS] = &run->intervals,
                                                 [RESULTS_OVERRIDES] = &run->overrides,
                                                 [RESULTS_RELATIVE_TO] = &run->relative_to,
                                                 [RESULTS_NOTES] = &run->notes,
                                                 [RESULTS_INPUTS] = &run->inputs,
                                                 [RESULTS_KEY] = &run->key};
    for (int i = 0; i <= RESULTS_KEY; i++) {
        if (!texts[i])
            continue;
        const char *text =
            sqlite3_column_type(stmt, i) == SQLITE_TEXT ? (const char *)sqlite3_column_text(stmt, i) : NULL;
        bool json = i >= RESULTS_SETTINGS && i <= RESULTS_INPUTS;
        if (!text || !(json ? is_json(text, i >= RESULTS_NOTES ? JSON_ARRAY : JSON_OBJECT) : is_text(text)))
            return err_set(err, "'%s': run %lld: column %s is damaged", results->path,
                           (long long)sqlite3_column_int64(stmt, RESULTS_ID), sqlite3_column_name(stmt, i));
        *texts[i] = text;
    }
    run->position = sqlite3_column_int64(stmt, RESULTS_POSITION);
    run->baseline = sqlite3_column_int(stmt, RESULTS_BASELINE) != 0;
    run->numbers = (const char *)sqlite3_column_text(stmt, RESULTS_NUMBERS);
    return 0;
}

/* "mem=A + pim=B", as versions 1 and 2 have it, as a JSON array; the hash is that of the first input. NULL: no memory.
 */
static json_t *inputs_of_text(const char *text, const char *hash)
{
    json_t *inputs = json_array();
    int bad = 0;
    for (const char *p = text, *plus; p; p = plus ? plus + 3 : NULL) {
        plus = strstr(p, " + ");
        size_t n = plus ? (size_t)(plus - p) : strlen(p), role = strncmp(p, "mem=", 4) && strncmp(p, "pim=", 4) ? 0 : 3;
        bad |=
            json_array_append_new(inputs, json_pack("{s:s%,s:s%,s:s}", "role", p, role, "input", p + role + (role != 0),
                                                    n - role - (role != 0), "hash", p == text ? hash : ""));
    }
    if (!bad)
        return inputs;
    json_decref(inputs);
    return NULL;
}

/* --- parts --- */

static json_t *number(sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER)
        return json_integer(sqlite3_column_int64(stmt, column));
    return json_real(sqlite3_column_double(stmt, column));
}

/* One metric of a part (an infinite end: it is an estimate), added to the last of its kind or to a new one. -1 if it is
 * damaged. */
static int take_part(sqlite3_stmt *stmt, json_t *all, int64_t *position)
{
    for (int i = 1; i <= 3; i++)
        if (sqlite3_column_type(stmt, i) != SQLITE_TEXT)
            return -1;
    const char *by = (const char *)sqlite3_column_text(stmt, 1), *name = (const char *)sqlite3_column_text(stmt, 3);
    json_t *array = json_object_get(all, by);
    if (!array && json_object_set_new(all, by, array = json_array()))
        return -1;
    json_t *part = json_array_get(array, json_array_size(array) - 1);
    if (!part || *position != sqlite3_column_int64(stmt, 0)) {
        part = json_pack("{s:s,s:{},s:{}}", "part", (const char *)sqlite3_column_text(stmt, 2), "metrics", "interval");
        if (!part || json_array_append_new(array, part))
            return -1;
        *position = sqlite3_column_int64(stmt, 0);
    }
    int bad = 0;
    if (sqlite3_column_type(stmt, 4) != SQLITE_NULL)
        bad |= json_object_set_new(json_object_get(part, "metrics"), name, number(stmt, 4));
    if (sqlite3_column_type(stmt, 6) != SQLITE_NULL && isinf(sqlite3_column_double(stmt, 6)))
        bad |= json_object_set_new(json_object_get(part, "interval"), name, json_null());
    else if (sqlite3_column_type(stmt, 5) != SQLITE_NULL && sqlite3_column_type(stmt, 6) != SQLITE_NULL)
        bad |= json_object_set_new(json_object_get(part, "interval"), name,
                                   json_pack("[o,o]", number(stmt, 5), number(stmt, 6)));
    return bad ? -1 : 0;
}

static json_t *parts_of(struct results *results, int64_t run, struct err *err)
{
    json_t *all = json_object();
    sqlite3_stmt *stmt = results->version >= 2 ? results_statement(results, RESULTS_PARTS, err) : NULL;
    int rc = SQLITE_DONE, wrong = results->version >= 2 && !stmt;
    if (!all)
        wrong = err_set(err, "out of memory");
    if (stmt)
        rc = sqlite3_bind_int64(stmt, 1, run);
    for (int64_t position = -1; stmt && !wrong && (rc = sqlite3_step(stmt)) == SQLITE_ROW;)
        if (take_part(stmt, all, &position))
            wrong = err_set(err, "'%s': run %lld: its parts are damaged", results->path, (long long)run);
    if (!wrong && rc != SQLITE_DONE)
        wrong = results_failed(results, err);
    if (stmt)
        (void)sqlite3_reset(stmt);
    if (!wrong)
        return all;
    json_decref(all);
    return NULL;
}

/* --- all of them --- */

/* What a run points at besides its row. */
struct texts {
    char *parts, *inputs, *metrics;
};

/* Release 0.1 took the speed of the host for a metric, which differs in every run. Returns NULL if there is no memory.
 */
static char *without_host_speed(const char *metrics)
{
    json_t *object = results_parse(metrics, JSON_OBJECT, "metrics", NULL);
    (void)json_object_del(object, "touches_per_s");
    char *text = json_tree_dump(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

static int complete(struct results *results, sqlite3_stmt *stmt, struct results_run *run, struct texts *texts,
                    struct err *err)
{
    json_t *parts = parts_of(results, sqlite3_column_int64(stmt, RESULTS_ID), err);
    if (!parts)
        return -1;
    run->parts = texts->parts = json_tree_dump(parts, JSON_COMPACT);
    json_decref(parts);
    if (results->version < 3) {
        json_t *inputs = inputs_of_text(run->input, run->input_hash);
        run->inputs = texts->inputs = json_tree_dump(inputs, JSON_COMPACT);
        json_decref(inputs);
        run->metrics = texts->metrics = without_host_speed(run->metrics);
    }
    return run->parts && run->inputs && run->metrics ? 0 : err_set(err, "out of memory");
}

struct reading {
    struct results *results;
    int64_t runs;
    struct row_hash sum;
    int (*fn)(void *ctx, const struct results_run *run);
    void *ctx;
};

static int read_row(struct reading *reading, sqlite3_stmt *stmt, struct err *err)
{
    struct results_run run = {0};
    struct texts texts = {0};
    int said = reading->results->version < 3 ? 0 : check_row(reading->results, stmt, &reading->sum, err);
    if (!said)
        said = take_run(reading->results, stmt, &run, err);
    if (!said)
        said = complete(reading->results, stmt, &run, &texts, err);
    if (!said)
        said = reading->fn(reading->ctx, &run);
    reading->runs++;
    free(texts.parts);
    free(texts.inputs);
    free(texts.metrics);
    return said;
}

static int read_all(struct reading *reading, struct err *err)
{
    struct results *results = reading->results;
    char sql[1024];
    sqlite3_stmt *stmt = NULL;
    (void)snprintf(sql, sizeof sql, "%s ORDER BY position, key",
                   results->version < 3 ? columns_before_3 : results_columns);
    if (sqlite3_prepare_v2(results->db, sql, -1, &stmt, NULL))
        return results_failed(results, err);
    int rc, said = 0;
    while (!said && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        said = rc == SQLITE_ROW ? read_row(reading, stmt, err) : results_failed(results, err);
    sqlite3_finalize(stmt);
    if (!said && results->version >= 3)
        said = check_digest(results, reading->runs, &reading->sum, err);
    return said;
}

/* In one transaction: what others write meanwhile is seen whole or not at all. */
int results_each(struct results *results, int (*fn)(void *ctx, const struct results_run *run), void *ctx,
                 struct err *err)
{
    struct reading reading = {.results = results, .fn = fn, .ctx = ctx};
    if (sqlite3_exec(results->db, "BEGIN", NULL, NULL, NULL))
        return results_failed(results, err);
    int said = read_all(&reading, err);
    (void)sqlite3_exec(results->db, "COMMIT", NULL, NULL, NULL);
    return said;
}
