#include "replay/results/results.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/mem.h"
#include "trace/store/dbfile.h"
#include "trace/store/schema.h"

enum { RESULTS_TABLES = 2, KEY_BYTES = 64 };

enum statement { PUT, FORGET_METRICS, PUT_METRIC, FORGET_PARTS, PUT_PART, PARTS, HAS, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    [PUT] = "INSERT INTO runs(key, position, engine, input, input_hash, platform, settings, policy, params, metrics,"
            " intervals, notes, baseline, offchip_version)"
            " VALUES(?1, CASE WHEN ?2 < 0 THEN (SELECT coalesce(max(position), -1) + 1 FROM runs) ELSE ?2 END,"
            " ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
            " ON CONFLICT(key) DO UPDATE SET position = CASE WHEN ?2 < 0 THEN position ELSE min(position, ?2) END, "
            "engine = ?3,"
            " input = ?4, input_hash = ?5, platform = ?6, settings = ?7, policy = ?8, params = ?9, metrics = ?10,"
            " intervals = ?11, notes = ?12, baseline = ?13, offchip_version = ?14 RETURNING run",
    [FORGET_METRICS] = "DELETE FROM metrics WHERE run = ?1",
    [PUT_METRIC] = "INSERT OR REPLACE INTO metrics(run, name, value, lo, hi) VALUES(?1, ?2, ?3, ?4, ?5)",
    [FORGET_PARTS] = "DELETE FROM parts WHERE run = ?1",
    [PUT_PART] = "INSERT OR REPLACE INTO parts(run, name, value, lo, hi, position, \"by\", part)"
                 " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [PARTS] = "SELECT position, \"by\", part, name, value, lo, hi FROM main.parts WHERE run = ?1"
              " ORDER BY position, rowid",
    [HAS] = "SELECT 1 FROM runs WHERE key = ?1",
};

struct results {
    char *path;
    sqlite3 *db;
    struct schema *schema;
    bool writing;
    bool parts; /* there is such a table: not in version 1 */
    sqlite3_stmt *stmt[STATEMENTS];
};

static int failed(struct results *results, struct err *err)
{
    return err_set(err, "'%s': %s", results->path, sqlite3_errmsg(results->db));
}

/* --- opening --- */

static int make_tables(sqlite3 *db, void *ctx, struct err *err)
{
    return schema_create(ctx, db, err);
}

static int open_existing(struct results *results, bool write, struct err *err)
{
    if (dbfile_open(results->path, write ? DBFILE_WRITE : DBFILE_READ, &results->db, err))
        return -1;
    schema_distrust(results->db);
    if (schema_check(results->schema, results->db, RESULTS_TABLES, err))
        return err_at(err, "'%s'", results->path);
    results->parts = schema_find(results->schema, "parts")->present;
    if (write && !results->parts)
        return err_set(err,
                       "'%s' is a results file of version 1, which is read but not added to; 'offchip merge' "
                       "brings it into a new one",
                       results->path);
    return 0;
}

static int open_file(struct results *results, enum results_mode mode, struct err *err)
{
    results->writing = mode != RESULTS_READ;
    if (mode == RESULTS_READ)
        return open_existing(results, false, err);
    if (mode != RESULTS_APPEND || access(results->path, F_OK) != 0) {
        struct err own = {""};
        results->parts = true;
        if (dbfile_create(results->path, mode == RESULTS_FORCE, make_tables, results->schema, &results->db, &own) == 0)
            return 0;
        /* Somebody else may have made it at the same moment. */
        if (mode != RESULTS_APPEND || access(results->path, F_OK) != 0)
            return err_set(err, "%s", own.msg);
    }
    return open_existing(results, true, err);
}

struct results *results_open(const char *path, enum results_mode mode, struct err *err)
{
    struct results *results = mem_zalloc(1, sizeof *results, err);
    if (!results)
        return NULL;
    results->path = mem_strdup(path, err);
    results->schema = results->path ? schema_results(err) : NULL;
    if (results->schema && open_file(results, mode, err) == 0) {
        (void)sqlite3_busy_timeout(results->db, DBFILE_BUSY_MS);
        return results;
    }
    results_close(results);
    return NULL;
}

void results_close(struct results *results)
{
    if (!results)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(results->stmt[i]);
    sqlite3_close(results->db);
    free(results->schema);
    free(results->path);
    free(results);
}

bool results_is_database(const char *path)
{
    char head[16] = "";
    FILE *f = fopen(path, "rb");
    bool is = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
    if (f)
        (void)fclose(f);
    return is;
}

/* --- the key --- */

/* JSON text to a value of `type`, an empty one for NULL. NULL with *err set. */
static json_t *parse(const char *text, json_type type, const char *what, struct err *err)
{
    if (!text)
        return type == JSON_ARRAY ? json_array() : json_object();
    json_error_t where;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (value && json_typeof(value) == type)
        return value;
    json_decref(value);
    err_set(err, "%s is no JSON %s", what, type == JSON_ARRAY ? "array" : "object");
    return NULL;
}

static int hash_json(XXH3_state_t *state, const char *text, const char *what, struct err *err)
{
    json_t *value = parse(text, JSON_OBJECT, what, err);
    char *sorted = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(value);
    if (!value)
        return -1;
    if (!sorted)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_update(state, sorted, strlen(sorted) + 1);
    free(sorted);
    return 0;
}

int results_key(const struct results_run *run, char key[33], struct err *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_set(err, "out of memory");
    (void)XXH3_128bits_reset(state);
    const char *input = run->input_hash && run->input_hash[0] ? run->input_hash : run->input;
    const char *const texts[] = {run->engine, input, run->platform, run->policy, run->version};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        (void)XXH3_128bits_update(state, texts[i] ? texts[i] : "", (texts[i] ? strlen(texts[i]) : 0) + 1);
    int wrong = hash_json(state, run->settings, "settings", err) || hash_json(state, run->params, "params", err);
    XXH128_hash_t value = XXH3_128bits_digest(state);
    (void)XXH3_freeState(state);
    (void)snprintf(key, 33, "%016llx%016llx", (unsigned long long)value.high64, (unsigned long long)value.low64);
    return wrong ? -1 : 0;
}

/* --- writing --- */

static sqlite3_stmt *statement(struct results *results, enum statement which, struct err *err)
{
    sqlite3_stmt **stmt = &results->stmt[which];
    if (!*stmt && sqlite3_prepare_v3(results->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL)) {
        (void)failed(results, err);
        return NULL;
    }
    (void)sqlite3_reset(*stmt);
    (void)sqlite3_clear_bindings(*stmt);
    return *stmt;
}

static int put_row(struct results *results, const struct results_run *run, const char *key, int64_t *id,
                   struct err *err)
{
    sqlite3_stmt *stmt = statement(results, PUT, err);
    if (!stmt)
        return -1;
    const char *const texts[] = {run->engine, run->input,  run->input_hash, run->platform,  run->settings,
                                 run->policy, run->params, run->metrics,    run->intervals, run->notes};
    static const char *const empty[] = {"", "", "", "", "{}", "", "{}", "{}", "{}", "[]"};
    int rc = sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC) | sqlite3_bind_int64(stmt, 2, run->position);
    for (int i = 0; i < 10; i++)
        rc |= sqlite3_bind_text(stmt, i + 3, texts[i] ? texts[i] : empty[i], -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int(stmt, 13, run->baseline);
    rc |= sqlite3_bind_text(stmt, 14, run->version ? run->version : "", -1, SQLITE_STATIC);
    if (rc || sqlite3_step(stmt) != SQLITE_ROW)
        return failed(results, err);
    *id = sqlite3_column_int64(stmt, 0);
    if (sqlite3_step(stmt) != SQLITE_DONE)
        return failed(results, err);
    (void)sqlite3_reset(stmt);
    return 0;
}

/* Of a run, or of one of its parts. */
struct place {
    int64_t run, position;
    const char *by, *part; /* NULL: of the run itself */
};

static int put_metric(struct results *results, const struct place *place, const char *name, const json_t *value,
                      const json_t *interval, struct err *err)
{
    sqlite3_stmt *stmt = statement(results, place->by ? PUT_PART : PUT_METRIC, err);
    if (!stmt)
        return -1;
    int64_t id = place->run;
    int rc = sqlite3_bind_int64(stmt, 1, id) | sqlite3_bind_text(stmt, 2, name, -1, SQLITE_STATIC);
    if (json_is_integer(value))
        rc |= sqlite3_bind_int64(stmt, 3, json_integer_value(value));
    else if (json_is_real(value))
        rc |= sqlite3_bind_double(stmt, 3, json_real_value(value));
    for (size_t i = 0; i < 2; i++)
        if (json_is_number(json_array_get(interval, i)))
            rc |= sqlite3_bind_double(stmt, (int)i + 4, json_number_value(json_array_get(interval, i)));
    if (place->by)
        rc |= sqlite3_bind_int64(stmt, 6, place->position) | sqlite3_bind_text(stmt, 7, place->by, -1, SQLITE_STATIC) |
              sqlite3_bind_text(stmt, 8, place->part, -1, SQLITE_STATIC);
    if (rc || sqlite3_step(stmt) != SQLITE_DONE)
        return failed(results, err);
    (void)sqlite3_reset(stmt);
    return 0;
}

static int forget(struct results *results, enum statement which, int64_t run, struct err *err)
{
    sqlite3_stmt *stmt = statement(results, which, err);
    if (!stmt)
        return -1;
    return sqlite3_bind_int64(stmt, 1, run) || sqlite3_step(stmt) != SQLITE_DONE ? failed(results, err) : 0;
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
            if (put_metrics(results, &place, json_object_get(part, "metrics"), json_object_get(part, "interval"), err))
                return -1;
            place.position++;
        }
    }
    return 0;
}

/* In place of what was there of this run. */
static int put_values(struct results *results, int64_t run, json_t *metrics, json_t *intervals, json_t *parts,
                      struct err *err)
{
    const struct place place = {.run = run};
    return forget(results, FORGET_METRICS, run, err) || forget(results, FORGET_PARTS, run, err) ||
                   put_metrics(results, &place, metrics, intervals, err) || put_parts(results, run, parts, err)
               ? -1
               : 0;
}

static int put_run(struct results *results, const struct results_run *run, struct err *err)
{
    char own[33];
    if (!run->key && results_key(run, own, err))
        return -1;
    const char *key = run->key ? run->key : own;
    if (!key[0] || strlen(key) > KEY_BYTES)
        return err_set(err, "the key of a run has %zu bytes; expected 1 to %d", strlen(key), KEY_BYTES);
    json_t *json[] = {
        parse(run->metrics, JSON_OBJECT, "metrics", err), parse(run->intervals, JSON_OBJECT, "intervals", err),
        parse(run->parts, JSON_OBJECT, "parts", err),     parse(run->settings, JSON_OBJECT, "settings", err),
        parse(run->params, JSON_OBJECT, "params", err),   parse(run->notes, JSON_ARRAY, "notes", err)};
    enum { TEXTS = sizeof json / sizeof *json };
    int wrong = 0;
    for (size_t i = 0; i < TEXTS; i++)
        wrong |= !json[i];
    int64_t id = 0;
    if (!wrong)
        wrong = put_row(results, run, key, &id, err) || put_values(results, id, json[0], json[1], json[2], err);
    for (size_t i = 0; i < TEXTS; i++)
        json_decref(json[i]);
    return wrong ? -1 : 0;
}

static int begin(struct results *results, struct err *err)
{
    if (!results->writing)
        return err_set(err, "'%s' is open for reading", results->path);
    return sqlite3_exec(results->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ? failed(results, err) : 0;
}

static int end(struct results *results, int wrong, struct err *err)
{
    if (!wrong && sqlite3_exec(results->db, "COMMIT", NULL, NULL, NULL))
        wrong = failed(results, err);
    if (wrong) {
        for (int i = 0; i < STATEMENTS; i++)
            (void)sqlite3_reset(results->stmt[i]);
        (void)sqlite3_exec(results->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return wrong ? -1 : 0;
}

int results_put(struct results *results, const struct results_run *runs, size_t n, struct err *err)
{
    if (begin(results, err))
        return -1;
    int wrong = 0;
    for (size_t i = 0; i < n && !wrong; i++)
        wrong = put_run(results, &runs[i], err);
    return end(results, wrong, err);
}

/* --- reading --- */

int results_has(struct results *results, const char *key, struct err *err)
{
    sqlite3_stmt *stmt = statement(results, HAS, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int has = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : failed(results, err);
    (void)sqlite3_reset(stmt);
    return has;
}

static bool is_json(const char *text, json_type type)
{
    json_t *value = parse(text, type, "", NULL);
    json_decref(value);
    return value != NULL;
}

/* One row as a run; texts are checked, json_string() being the judge of UTF-8. */
static int take_run(sqlite3_stmt *stmt, struct results_run *run, struct err *err)
{
    const char **const texts[] = {&run->key,      &run->engine,  &run->input,     &run->input_hash,
                                  &run->platform, &run->policy,  &run->version,   &run->settings,
                                  &run->params,   &run->metrics, &run->intervals, &run->notes};
    enum { TEXTS = sizeof texts / sizeof *texts, FIRST_JSON = 7, FIRST_ARRAY = 11 };
    for (int i = 0; i < TEXTS; i++) {
        const char *text =
            sqlite3_column_type(stmt, i) == SQLITE_TEXT ? (const char *)sqlite3_column_text(stmt, i) : NULL;
        bool good = text != NULL;
        if (good && i >= FIRST_JSON) {
            good = is_json(text, i >= FIRST_ARRAY ? JSON_ARRAY : JSON_OBJECT);
        } else if (good) {
            json_t *probe = json_string(text);
            good = probe != NULL;
            json_decref(probe);
        }
        if (!good)
            return err_set(err, "run %lld: column %s is damaged", (long long)sqlite3_column_int64(stmt, TEXTS + 2),
                           sqlite3_column_name(stmt, i));
        *texts[i] = text;
    }
    run->position = sqlite3_column_int64(stmt, TEXTS);
    run->baseline = sqlite3_column_int(stmt, TEXTS + 1) != 0;
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

static json_t *number(sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER)
        return json_integer(sqlite3_column_int64(stmt, column));
    return json_real(sqlite3_column_double(stmt, column));
}

/* One metric of a part, added to the last of its kind or to a new one. -1 if it is damaged. */
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
    if (sqlite3_column_type(stmt, 5) != SQLITE_NULL && sqlite3_column_type(stmt, 6) != SQLITE_NULL)
        bad |= json_object_set_new(json_object_get(part, "interval"), name,
                                   json_pack("[o,o]", number(stmt, 5), number(stmt, 6)));
    return bad ? -1 : 0;
}

/* The parts of a run as JSON text, freed with free(). NULL with *err set. */
static char *parts_text(struct results *results, int64_t run, struct err *err)
{
    json_t *all = json_object();
    sqlite3_stmt *stmt = results->parts ? statement(results, PARTS, err) : NULL;
    int rc = SQLITE_DONE, wrong = results->parts && !stmt;
    if (stmt)
        rc = sqlite3_bind_int64(stmt, 1, run);
    for (int64_t position = -1; stmt && !wrong && (rc = sqlite3_step(stmt)) == SQLITE_ROW;)
        if (take_part(stmt, all, &position))
            wrong = err_set(err, "'%s': run %lld: its parts are damaged", results->path, (long long)run);
    if (!wrong && rc != SQLITE_DONE)
        wrong = failed(results, err);
    if (stmt)
        (void)sqlite3_reset(stmt);
    char *text = wrong ? NULL : json_dumps(all, JSON_COMPACT);
    if (!wrong && !text)
        err_set(err, "out of memory");
    json_decref(all);
    return text;
}

int results_each(struct results *results, int (*fn)(void *ctx, const struct results_run *run), void *ctx,
                 struct err *err)
{
    static const char sql[] = "SELECT key, engine, input, input_hash, platform, policy, offchip_version, settings,"
                              " params, metrics, intervals, notes, position, baseline, run"
                              " FROM main.runs ORDER BY position, key";
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(results->db, sql, -1, &stmt, NULL))
        return failed(results, err);
    int rc, said = 0;
    while (!said && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
        struct results_run run = {0};
        char *parts = NULL, *inputs = NULL;
        if (rc != SQLITE_ROW)
            said = failed(results, err);
        else if (take_run(stmt, &run, err))
            said = err_at(err, "'%s'", results->path);
        else if (!(parts = parts_text(results, sqlite3_column_int64(stmt, 14), err)))
            said = -1;
        if (!said) {
            json_t *array = inputs_of_text(run.input, run.input_hash);
            run.inputs = inputs = json_dumps(array, JSON_COMPACT);
            json_decref(array);
            run.parts = parts;
            said = inputs ? fn(ctx, &run) : err_set(err, "out of memory");
        }
        free(inputs);
        free(parts);
    }
    sqlite3_finalize(stmt);
    return said;
}

int64_t results_count(struct results *results, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t count = -1;
    if (sqlite3_prepare_v2(results->db, "SELECT count(*) FROM main.runs", -1, &stmt, NULL) ||
        sqlite3_step(stmt) != SQLITE_ROW)
        (void)failed(results, err);
    else
        count = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return count;
}

struct merging {
    struct results *to;
    struct err *err;
};

static int merge_run(void *ctx, const struct results_run *run)
{
    struct merging *m = ctx;
    return put_run(m->to, run, m->err);
}

int results_merge(struct results *results, const char *path, struct err *err)
{
    struct results *from = results_open(path, RESULTS_READ, err);
    if (!from)
        return -1;
    struct merging merging = {results, err};
    int wrong = begin(results, err);
    if (!wrong)
        wrong = end(results, results_each(from, merge_run, &merging, err), err);
    results_close(from);
    return wrong;
}
