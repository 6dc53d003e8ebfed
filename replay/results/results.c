#include "replay/results/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/store/dbfile.h"
#include "trace/store/output.h"
#include "trace/store/schema.h"

/* --- hashes that show whether rows are what was written: 128 bits (XXH3) over typed values ---
 *
 * row_hash_begin, row_hash_values for each row, row_hash_end. A sum of hashes does not depend on their order. */

enum { ROW_HASH_TEXT = 33 }; /* 32 hexadecimal digits and the end */

struct row_hash {
    uint64_t high, low;
};

struct row_hashing {
    XXH3_state_t xxh;
};

static struct row_hash hash_of(XXH128_hash_t h)
{
    return (struct row_hash){h.high64, h.low64};
}

/* NULL with *err set if there is no memory. */
static struct row_hashing *row_hash_begin(struct err *err)
{
    struct row_hashing *hashing = (struct row_hashing *)XXH3_createState(); /* aligned as it must be */
    if (!hashing)
        err_set(err, "out of memory");
    else
        (void)XXH3_128bits_reset(&hashing->xxh);
    return hashing;
}

static void hash_value(struct row_hashing *hashing, int type, const void *bytes, size_t n)
{
    const uint64_t head[2] = {(uint64_t)type, n};
    (void)XXH3_128bits_update(&hashing->xxh, head, sizeof head);
    (void)XXH3_128bits_update(&hashing->xxh, bytes, n);
}

/* The columns from `first` up to `end` of the row that stmt stands on: type, length and bytes of each. */
static void row_hash_values(struct row_hashing *hashing, sqlite3_stmt *stmt, int first, int end)
{
    for (int i = first; i < end; i++) {
        int type = sqlite3_column_type(stmt, i);
        if (type == SQLITE_INTEGER) {
            int64_t value = sqlite3_column_int64(stmt, i);
            hash_value(hashing, type, &value, sizeof value);
        } else if (type == SQLITE_FLOAT) {
            double value = sqlite3_column_double(stmt, i);
            hash_value(hashing, type, &value, sizeof value);
        } else { /* bytes first: asking for a text may change it */
            const void *bytes = sqlite3_column_blob(stmt, i);
            hash_value(hashing, type, bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, i));
        }
    }
}

/* Frees it. */
static struct row_hash row_hash_end(struct row_hashing *hashing)
{
    struct row_hash hash = hash_of(XXH3_128bits_digest(&hashing->xxh));
    (void)XXH3_freeState(&hashing->xxh);
    return hash;
}

static struct row_hash row_hash_text(const char *text)
{
    return hash_of(XXH3_128bits(text, strlen(text)));
}

/* A run of this content, by its key and position. */
static struct row_hash row_hash_run(const struct row_hash *content, const char *key, int64_t position)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 " %" PRId64 " %.100s", content->high, content->low,
                     position, key);
    return hash_of(XXH3_128bits(text, (size_t)n));
}

static bool row_hash_equal(const struct row_hash *a, const struct row_hash *b)
{
    return a->high == b->high && a->low == b->low;
}

static void row_hash_add(struct row_hash *sum, const struct row_hash *hash)
{
    sum->high += hash->high;
    sum->low += hash->low;
}

/* Returns text. */
static const char *row_hash_format(const struct row_hash *hash, char text[ROW_HASH_TEXT])
{
    (void)snprintf(text, ROW_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash->high, hash->low);
    return text;
}

/* -1 if text is NULL or not what row_hash_format() gives. */
static int row_hash_parse(const char *text, struct row_hash *hash)
{
    char again[ROW_HASH_TEXT], high[ROW_HASH_TEXT / 2 + 1] = "";
    if (!text || strlen(text) != ROW_HASH_TEXT - 1)
        return -1;
    memcpy(high, text, ROW_HASH_TEXT / 2);
    hash->high = strtoull(high, NULL, 16);
    hash->low = strtoull(text + ROW_HASH_TEXT / 2, NULL, 16);
    return strcmp(row_hash_format(hash, again), text) == 0 ? 0 : -1;
}

/* --- statements --- */

enum results_statement {
    RESULTS_INSERT,
    RESULTS_FIND,
    RESULTS_INSERT_PLATFORM,
    RESULTS_INSERT_METRIC,
    RESULTS_INSERT_PART,
    RESULTS_SET_HASH,
    RESULTS_DELETE_RUN,
    RESULTS_DELETE_METRICS,
    RESULTS_DELETE_PARTS,
    RESULTS_DIGEST,
    RESULTS_SET_DIGEST,
    RESULTS_RUN,
    RESULTS_METRICS,
    RESULTS_PARTS,
    RESULTS_HAS,
    RESULTS_SWEEP_BEGIN,
    RESULTS_SWEEP_END,
    RESULTS_SWEEPING,
    RESULTS_STATEMENTS
};

struct results {
    char *path;
    sqlite3 *db;
    struct output file; /* being made, without its name yet; else empty */
    struct schema *schema;
    bool writing;
    sqlite3_stmt *stmt[RESULTS_STATEMENTS];
    bool collided; /* the last failure was a run that is there with other numbers */
    /* Of the transaction that writes. */
    int64_t runs;
    struct row_hash digest;
    /* Of this object, for results_settle(). */
    int64_t transactions, added;
};

/* The columns of a run, as RESULTS_RUN and results_each() select them: what is sealed as content, then the rest. */
enum results_column {
    RESULTS_ENGINE,
    RESULTS_INPUT,
    RESULTS_INPUT_HASH,
    RESULTS_PLATFORM,
    RESULTS_POLICY,
    RESULTS_VERSION,
    RESULTS_SETTINGS, /* from here on JSON objects */
    RESULTS_PARAMS,
    RESULTS_METRICS_TEXT,
    RESULTS_INTERVALS,
    RESULTS_OVERRIDES,
    RESULTS_RELATIVE_TO,
    RESULTS_NOTES, /* from here on JSON arrays */
    RESULTS_INPUTS,
    RESULTS_PLATFORM_HASH,
    RESULTS_BASELINE,
    RESULTS_CONTENT, /* how many columns are content */
    RESULTS_KEY = RESULTS_CONTENT,
    RESULTS_POSITION,
    RESULTS_HASH,
    RESULTS_ID,
    RESULTS_NUMBERS
};

enum { KEY_BYTES = 64 };

static const char columns[] =
    "SELECT engine, input, input_hash, platform, policy, offchip_version, settings, params, metrics, intervals,"
    " overrides, relative_to, notes, inputs, platform_hash, baseline, key, position, hash, run,"
    " (SELECT numbers FROM main.platforms AS p WHERE p.hash = platform_hash) FROM main.runs";

static const char *const statements[RESULTS_STATEMENTS] = {
    /* The run stands where its position says if it can, so that the file does not depend on which run ended first. */
    [RESULTS_INSERT] =
        "INSERT INTO runs(run, position, key, engine, input, input_hash, platform, policy, offchip_version, settings,"
        " params, metrics, intervals, overrides, relative_to, notes, inputs, platform_hash, baseline, hash)"
        " VALUES(CASE WHEN ?1 BETWEEN 0 AND 0xffffffff AND NOT EXISTS(SELECT 1 FROM runs WHERE run = ?1 + 1)"
        " THEN ?1 + 1 END, CASE WHEN ?1 < 0 THEN (SELECT coalesce(max(position), -1) + 1 FROM runs) ELSE ?1 END,"
        " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, '')"
        " RETURNING run, position",
    [RESULTS_FIND] = "SELECT run, position, hash FROM main.runs WHERE key = ?1",
    [RESULTS_INSERT_PLATFORM] = "INSERT OR IGNORE INTO platforms(hash, numbers) VALUES(?1, ?2)",
    [RESULTS_INSERT_METRIC] = "INSERT INTO metrics(run, name, value, lo, hi) VALUES(?1, ?2, ?3, ?4, ?5)",
    [RESULTS_INSERT_PART] = ("INSERT INTO parts(run, name, value, lo, hi, position, \"by\", part)"
                             " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
    [RESULTS_SET_HASH] = "UPDATE runs SET key = ?2, hash = ?3 WHERE run = ?1",
    [RESULTS_DELETE_RUN] = "DELETE FROM runs WHERE run = ?1",
    [RESULTS_DELETE_METRICS] = "DELETE FROM metrics WHERE run = ?1",
    [RESULTS_DELETE_PARTS] = "DELETE FROM parts WHERE run = ?1",
    [RESULTS_DIGEST] = "SELECT runs, hash, count(*) FROM main.digest",
    [RESULTS_SET_DIGEST] = "UPDATE digest SET runs = ?1, hash = ?2",
    [RESULTS_METRICS] = "SELECT name, value, lo, hi FROM main.metrics WHERE run = ?1 ORDER BY name",
    [RESULTS_PARTS] = ("SELECT position, \"by\", part, name, value, lo, hi FROM main.parts WHERE run = ?1"
                       " ORDER BY position, name"),
    [RESULTS_HAS] = "SELECT 1 FROM main.runs WHERE key = ?1",
    [RESULTS_SWEEP_BEGIN] = "INSERT OR IGNORE INTO sweeps(sweep, points) VALUES(?1, ?2)",
    [RESULTS_SWEEP_END] = "DELETE FROM sweeps WHERE sweep = ?1",
    [RESULTS_SWEEPING] = "SELECT 1 FROM main.sweeps WHERE sweep = ?1",
};

/* *err says what SQLite says. Returns -1. */
static int db_failed(struct results *results, struct err *err)
{
    return err_set(err, "'%s': %s", results->path, sqlite3_errmsg(results->db));
}

/* A statement, reset and without values. NULL with *err set. */
static sqlite3_stmt *statement(struct results *results, enum results_statement which, struct err *err)
{
    sqlite3_stmt **stmt = &results->stmt[which];
    char run[sizeof columns + 32];
    (void)snprintf(run, sizeof run, "%s WHERE run = ?1", columns);
    const char *sql = which == RESULTS_RUN ? run : statements[which];
    if (!*stmt && sqlite3_prepare_v3(results->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL)) {
        (void)db_failed(results, err);
        return NULL;
    }
    (void)sqlite3_reset(*stmt);
    (void)sqlite3_clear_bindings(*stmt);
    return *stmt;
}

/* A statement with its first values: 'i' in `types` is an int64_t, 't' a text, which stays until the statement is
 * reset. NULL with *err set. */
static sqlite3_stmt *bound(struct results *results, enum results_statement which, struct err *err, const char *types,
                           ...)
{
    sqlite3_stmt *stmt = statement(results, which, err);
    int rc = SQLITE_OK;
    va_list values;
    va_start(values, types);
    for (int i = 1; stmt && types[i - 1]; i++)
        rc |= types[i - 1] == 'i' ? sqlite3_bind_int64(stmt, i, va_arg(values, int64_t))
                                  : sqlite3_bind_text(stmt, i, va_arg(values, const char *), -1, SQLITE_STATIC);
    va_end(values);
    if (rc)
        (void)db_failed(results, err);
    return rc ? NULL : stmt;
}

/* Run a statement that gives no row; NULL: *err says why. */
static int run_once(struct results *results, sqlite3_stmt *stmt, struct err *err)
{
    if (!stmt)
        return -1;
    int failed = sqlite3_step(stmt) != SQLITE_DONE ? db_failed(results, err) : 0;
    (void)sqlite3_reset(stmt);
    return failed;
}

/* Step to the only row that a statement may give: 1, 0: there is none, -1 with *err set. */
static int find_one(struct results *results, sqlite3_stmt *stmt, struct err *err)
{
    int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : stmt ? db_failed(results, err) : -1;
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
    return schema_check(results->schema, results->db, 0, err) ? err_at(err, "'%s'", results->path) : 0;
}

static int open_file(struct results *results, enum results_mode mode, struct err *err)
{
    static const enum output_place places[] = {
        [RESULTS_CREATE] = OUTPUT_NEW, [RESULTS_FORCE] = OUTPUT_REPLACE, [RESULTS_APPEND] = OUTPUT_IN_PLACE};
    results->writing = mode != RESULTS_READ;
    if (mode == RESULTS_READ)
        return open_existing(results, false, err);
    if (mode != RESULTS_APPEND || access(results->path, F_OK) != 0) {
        struct err own = {""};
        if (dbfile_create(&results->file, results->path, places[mode], make_tables, results->schema, &results->db,
                          &own) == 0)
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

int results_finish(struct results *results, struct err *err)
{
    return dbfile_close(&results->file, 0, err);
}

void results_close(struct results *results)
{
    if (!results)
        return;
    for (int i = 0; i < RESULTS_STATEMENTS; i++)
        sqlite3_finalize(results->stmt[i]);
    sqlite3_close(results->db);
    (void)dbfile_close(&results->file, -1, NULL);
    free(results->schema);
    free(results->path);
    free(results);
}

bool results_is_results(const char *path)
{
    return dbfile_application_id(path) == SCHEMA_RESULTS_ID;
}

/* --- the case and the key --- */

/* JSON text to a value of `type`, an empty one for NULL or "". NULL with *err set. */
static json_t *parse(const char *text, json_type type, const char *what, struct err *err)
{
    if (!text || !*text)
        return type == JSON_ARRAY ? json_array() : json_object();
    json_error_t where;
    json_t *value = json_tree_parse(text, strlen(text), &where);
    if (value && json_typeof(value) == type)
        return value;
    if (!value)
        err_set(err, "%s is no JSON: %s", what, where.text);
    else
        err_set(err, "%s is no JSON %s", what, type == JSON_ARRAY ? "array" : "object");
    json_decref(value);
    return NULL;
}

json_t *results_intervals(const json_t *object)
{
    const json_t *own = json_object_get(object, "interval"), *names = json_object_get(object, "unbound"), *name;
    json_t *all = json_is_object(own) ? json_tree_copy(own) : json_object();
    size_t i;
    json_array_foreach(names, i, name)
    {
        if (json_is_string(name))
            json_tree_put(&all, json_string_value(name), json_null());
    }
    return all;
}

char *results_input_text(const json_t *input)
{
    if (json_is_string(input))
        return mem_strdup(json_string_value(input), NULL);
    char *text = mem_strdup("", NULL);
    size_t i;
    json_t *item;
    json_array_foreach(input, i, item)
    {
        const char *role = json_string_value(json_object_get(item, "role"));
        const char *spec = json_string_value(json_object_get(item, "input"));
        if (text)
            (void)mem_append(&text, "%s%s%s%s", i ? " + " : "", role ? role : "", role && *role ? "=" : "",
                             spec ? spec : "?");
    }
    return text;
}

/* Settings also hold the numbers that were given, by whole or bare names: those are no settings of the engine. */
static void strip_overrides(json_t *settings, json_t *overrides)
{
    const char *name, *dot;
    json_t *value;
    json_object_foreach(overrides, name, value)
    {
        if (json_object_del(settings, name) && (dot = strchr(name, '.')))
            (void)json_object_del(settings, dot + 1);
    }
}

int results_case(const struct results_run *run, struct run_case *run_case, struct err *err)
{
    json_t *overrides = parse(run->overrides, JSON_OBJECT, "overrides", err);
    struct run_case_facts facts = {.engine = run->engine,
                                   .platform = run->platform,
                                   .version = run->version,
                                   .inputs = parse(run->inputs, JSON_ARRAY, "inputs", err),
                                   .numbers = parse(run->numbers, JSON_OBJECT, "numbers", err),
                                   .settings = parse(run->settings, JSON_OBJECT, "settings", err)};
    int rc = overrides && facts.inputs && facts.numbers && facts.settings ? 0 : -1;
    if (!rc) {
        strip_overrides(facts.settings, overrides);
        rc = json_object_update(facts.numbers, overrides) ? err_set(err, "out of memory")
                                                          : run_case_init(run_case, &facts, err);
    }
    json_decref(overrides);
    json_decref(facts.inputs);
    json_decref(facts.numbers);
    json_decref(facts.settings);
    return rc;
}

int results_key(const struct results_run *run, char key[RUN_CASE_HASH], struct err *err)
{
    struct run_case run_case;
    if (results_case(run, &run_case, err))
        return -1;
    json_t *params = parse(run->params, JSON_OBJECT, "params", err);
    json_t *base = params ? parse(run->relative_to, JSON_OBJECT, "relative_to", err) : NULL;
    int rc = base ? run_case_key(&run_case, run->policy ? run->policy : "", params, base, key, err) : -1;
    json_decref(params);
    json_decref(base);
    run_case_release(&run_case);
    return rc;
}

/* --- reading: whether runs are what was written --- */

/* The rows of a run in another table, after the columns that say which run it is. */
static int hash_rows(struct results *results, enum results_statement which, struct row_hashing *hashing, int64_t run,
                     struct err *err)
{
    sqlite3_stmt *stmt = bound(results, which, err, "i", run);
    if (!stmt)
        return -1;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        row_hash_values(hashing, stmt, 0, sqlite3_column_count(stmt));
    int failed = rc != SQLITE_DONE ? db_failed(results, err) : 0;
    (void)sqlite3_reset(stmt);
    return failed;
}

/* The columns from `first` up to `end`, and the rows in metrics and parts. */
static int hash_row(struct results *results, sqlite3_stmt *row, int first, int end, struct row_hash *row_hash,
                    struct err *err)
{
    struct row_hashing *hashing = row_hash_begin(err);
    if (!hashing)
        return -1;
    int64_t run = sqlite3_column_int64(row, RESULTS_ID);
    row_hash_values(hashing, row, first, end);
    int failed =
        hash_rows(results, RESULTS_METRICS, hashing, run, err) || hash_rows(results, RESULTS_PARTS, hashing, run, err);
    *row_hash = row_hash_end(hashing);
    return failed ? -1 : 0;
}

static int check_platform(struct results *results, sqlite3_stmt *row, struct err *err)
{
    const char *hash = (const char *)sqlite3_column_text(row, RESULTS_PLATFORM_HASH);
    const char *numbers = (const char *)sqlite3_column_text(row, RESULTS_NUMBERS);
    char found[ROW_HASH_TEXT];
    if (hash && !*hash)
        return 0;
    const struct row_hash row_hash = row_hash_text(numbers ? numbers : "");
    if (hash && strcmp(row_hash_format(&row_hash, found), hash) == 0)
        return 0;
    return err_set(err, "'%s': run %lld: the numbers of its platform are not what was written", results->path,
                   (long long)sqlite3_column_int64(row, RESULTS_ID));
}

/* Check a row against its hash, and add the hash to *sum. */
static int check_row(struct results *results, sqlite3_stmt *row, struct row_hash *sum, struct err *err)
{
    struct row_hash content, stored;
    if (hash_row(results, row, 0, RESULTS_CONTENT, &content, err))
        return -1;
    const char *key = (const char *)sqlite3_column_text(row, RESULTS_KEY);
    const struct row_hash row_hash =
        row_hash_run(&content, key ? key : "", sqlite3_column_int64(row, RESULTS_POSITION));
    if (row_hash_parse((const char *)sqlite3_column_text(row, RESULTS_HASH), &stored) ||
        !row_hash_equal(&row_hash, &stored)) {
        const char *policy = (const char *)sqlite3_column_text(row, RESULTS_POLICY);
        return err_set(err, "'%s': run %lld (policy %.40s) is not what was written: its hash does not fit",
                       results->path, (long long)sqlite3_column_int64(row, RESULTS_ID), policy ? policy : "?");
    }
    row_hash_add(sum, &row_hash);
    return check_platform(results, row, err);
}

/* The digest as the file has it. */
static int read_digest(struct results *results, int64_t *runs, struct row_hash *digest, struct err *err)
{
    sqlite3_stmt *stmt = statement(results, RESULTS_DIGEST, err);
    int found = find_one(results, stmt, err);
    int failed = found == 1 ? 0 : found ? -1 : db_failed(results, err);
    if (!failed && (sqlite3_column_int64(stmt, 2) != 1 || sqlite3_column_type(stmt, 0) != SQLITE_INTEGER ||
                    row_hash_parse((const char *)sqlite3_column_text(stmt, 1), digest)))
        failed = err_set(err, "'%s': table digest is damaged", results->path);
    if (!failed)
        *runs = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_reset(stmt);
    return failed;
}

static int check_digest(struct results *results, int64_t runs, const struct row_hash *sum, struct err *err)
{
    int64_t written;
    struct row_hash digest;
    if (read_digest(results, &written, &digest, err))
        return -1;
    if (written != runs)
        return err_set(err, "'%s' has %lld runs; %lld were written", results->path, (long long)runs,
                       (long long)written);
    return row_hash_equal(sum, &digest)
               ? 0
               : err_set(err, "'%s': its %lld runs are not those that were written: the file was changed or is damaged",
                         results->path, (long long)runs);
}

/* --- rows to runs --- */

/* Whether a text is JSON of a type, or for JSON_STRING UTF-8, of which json_string() is the judge. */
static bool is_sound(const char *text, json_type type)
{
    json_t *value = type == JSON_STRING ? json_string(text) : parse(text, type, "", NULL);
    json_decref(value);
    return value != NULL;
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
        const json_type type = i < RESULTS_SETTINGS || i > RESULTS_INPUTS ? JSON_STRING
                               : i >= RESULTS_NOTES                       ? JSON_ARRAY
                                                                          : JSON_OBJECT;
        if (!text || !is_sound(text, type))
            return err_set(err, "'%s': run %lld: column %s is damaged", results->path,
                           (long long)sqlite3_column_int64(stmt, RESULTS_ID), sqlite3_column_name(stmt, i));
        *texts[i] = text;
    }
    run->position = sqlite3_column_int64(stmt, RESULTS_POSITION);
    run->baseline = sqlite3_column_int(stmt, RESULTS_BASELINE) != 0;
    run->numbers = (const char *)sqlite3_column_text(stmt, RESULTS_NUMBERS);
    return 0;
}

/* --- parts --- */

static json_t *number(sqlite3_stmt *stmt, int column)
{
    if (sqlite3_column_type(stmt, column) == SQLITE_INTEGER)
        return json_integer(sqlite3_column_int64(stmt, column));
    return json_real(sqlite3_column_double(stmt, column));
}

/* One metric of a part (an infinite end: an estimate), added to the last of its kind or a new one. -1: damaged. */
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
    sqlite3_stmt *stmt = bound(results, RESULTS_PARTS, err, "i", run);
    int rc = SQLITE_DONE, wrong = !stmt;
    if (!all)
        wrong = err_set(err, "out of memory");
    for (int64_t position = -1; stmt && !wrong && (rc = sqlite3_step(stmt)) == SQLITE_ROW;)
        if (take_part(stmt, all, &position))
            wrong = err_set(err, "'%s': run %lld: its parts are damaged", results->path, (long long)run);
    if (!wrong && rc != SQLITE_DONE)
        wrong = db_failed(results, err);
    if (stmt)
        (void)sqlite3_reset(stmt);
    if (!wrong)
        return all;
    json_decref(all);
    return NULL;
}

/* --- all of them --- */

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
    int said = check_row(reading->results, stmt, &reading->sum, err);
    if (!said)
        said = take_run(reading->results, stmt, &run, err);
    json_t *parts = said ? NULL : parts_of(reading->results, sqlite3_column_int64(stmt, RESULTS_ID), err);
    char *text = parts ? json_tree_dump(parts, JSON_COMPACT) : NULL;
    run.parts = text;
    if (!said && !text)
        said = parts ? err_set(err, "out of memory") : -1;
    if (!said)
        said = reading->fn(reading->ctx, &run);
    reading->runs++;
    json_decref(parts);
    free(text);
    return said;
}

static int read_all(struct reading *reading, struct err *err)
{
    struct results *results = reading->results;
    char sql[1024];
    sqlite3_stmt *stmt = NULL;
    (void)snprintf(sql, sizeof sql, "%s ORDER BY position, input, settings, key", columns);
    if (sqlite3_prepare_v2(results->db, sql, -1, &stmt, NULL))
        return db_failed(results, err);
    int rc, said = 0;
    while (!said && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        said = rc == SQLITE_ROW ? read_row(reading, stmt, err) : db_failed(results, err);
    sqlite3_finalize(stmt);
    if (!said)
        said = check_digest(results, reading->runs, &reading->sum, err);
    return said;
}

/* In one transaction: what others write meanwhile is seen whole or not at all. */
int results_each(struct results *results, int (*fn)(void *ctx, const struct results_run *run), void *ctx,
                 struct err *err)
{
    struct reading reading = {.results = results, .fn = fn, .ctx = ctx};
    if (sqlite3_exec(results->db, "BEGIN", NULL, NULL, NULL))
        return db_failed(results, err);
    int said = read_all(&reading, err);
    (void)sqlite3_exec(results->db, "COMMIT", NULL, NULL, NULL);
    return said;
}
/* --- writing: the values, one by one --- */

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
    const enum results_statement which = place->by ? RESULTS_INSERT_PART : RESULTS_INSERT_METRIC;
    sqlite3_stmt *stmt = bound(results, which, err, "it", place->run, name);
    int rc = 0;
    if (!stmt)
        return -1;
    if (json_is_integer(value))
        rc |= sqlite3_bind_int64(stmt, 3, json_integer_value(value));
    else if (json_is_real(value))
        rc |= sqlite3_bind_double(stmt, 3, json_real_value(value));
    rc |= bind_ends(stmt, 4, interval);
    if (place->by)
        rc |= sqlite3_bind_int64(stmt, 6, place->position) | sqlite3_bind_text(stmt, 7, place->by, -1, SQLITE_STATIC) |
              sqlite3_bind_text(stmt, 8, place->part, -1, SQLITE_STATIC);
    return rc ? db_failed(results, err) : run_once(results, stmt, err);
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

static const char *otherwise(const char *text, const char *empty)
{
    return text && *text ? text : empty;
}

/* A run as it stands in the file; its hash, once it has one. */
struct row {
    int64_t run, position;
    struct row_hash row_hash;
};

static int put_row(struct results *results, const struct results_run *run, const char *key, struct row *row,
                   struct err *err)
{
    char platform_hash[ROW_HASH_TEXT] = "";
    if (run->numbers && *run->numbers) {
        struct row_hash numbers = row_hash_text(run->numbers);
        const char *hash = row_hash_format(&numbers, platform_hash);
        if (run_once(results, bound(results, RESULTS_INSERT_PLATFORM, err, "tt", hash, run->numbers), err))
            return -1;
    }
    sqlite3_stmt *stmt = statement(results, RESULTS_INSERT, err);
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
        return db_failed(results, err);
    row->run = sqlite3_column_int64(stmt, 0);
    row->position = sqlite3_column_int64(stmt, 1);
    return run_once(results, stmt, err);
}

static int put_values(struct results *results, const struct results_run *run, int64_t id, struct err *err)
{
    const struct place place = {.run = id};
    json_t *const json[] = {
        parse(run->metrics, JSON_OBJECT, "metrics", err), parse(run->intervals, JSON_OBJECT, "intervals", err),
        parse(run->parts, JSON_OBJECT, "parts", err),     parse(run->settings, JSON_OBJECT, "settings", err),
        parse(run->params, JSON_OBJECT, "params", err),   parse(run->notes, JSON_ARRAY, "notes", err)};
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

/* Hash the row as the file returns it, since columns may convert values. */
static int seal_of(struct results *results, int64_t run, int first, int end, struct row_hash *out, struct err *err)
{
    sqlite3_stmt *stmt = bound(results, RESULTS_RUN, err, "i", run);
    int found = find_one(results, stmt, err);
    if (found != 1)
        return found ? -1 : db_failed(results, err);
    int failed = hash_row(results, stmt, first, end, out, err);
    (void)sqlite3_reset(stmt);
    return failed;
}

/* Give a run its key and its hash, and count it. */
static int seal_row(struct results *results, const struct row *row, const char *key, struct err *err)
{
    char hash[ROW_HASH_TEXT];
    struct row_hash content;
    if (seal_of(results, row->run, 0, RESULTS_CONTENT, &content, err))
        return -1;
    const struct row_hash row_hash = row_hash_run(&content, key, row->position);
    row_hash_add(&results->digest, &row_hash);
    results->runs++;
    return run_once(results,
                    bound(results, RESULTS_SET_HASH, err, "itt", row->run, key, row_hash_format(&row_hash, hash)), err);
}

static int delete_row(struct results *results, int64_t run, struct err *err)
{
    for (enum results_statement which = RESULTS_DELETE_RUN; which <= RESULTS_DELETE_PARTS; which++)
        if (run_once(results, bound(results, which, err, "i", run), err))
            return -1;
    return 0;
}

/* The run with this key. Returns 1, 0: there is none, -1 with *err set. */
static int find_row(struct results *results, const char *key, struct row *row, struct err *err)
{
    sqlite3_stmt *stmt = bound(results, RESULTS_FIND, err, "t", key);
    int found = find_one(results, stmt, err);
    if (found == 1) {
        row->run = sqlite3_column_int64(stmt, 0);
        row->position = sqlite3_column_int64(stmt, 1);
        if (row_hash_parse((const char *)sqlite3_column_text(stmt, 2), &row->row_hash))
            found = err_set(err, "'%s': run %lld has no hash", results->path, (long long)row->run);
    }
    (void)sqlite3_reset(stmt);
    return found;
}

/* Handle a run that exists as `old`: its numbers must be equal; the smaller position stays. */
static int put_again(struct results *results, const struct results_run *run, const char *key, const struct row *old,
                     const struct row *new, struct err *err)
{
    struct row_hash ours, theirs;
    if (seal_of(results, old->run, RESULTS_METRICS_TEXT, RESULTS_INTERVALS + 1, &theirs, err) ||
        seal_of(results, new->run, RESULTS_METRICS_TEXT, RESULTS_INTERVALS + 1, &ours, err))
        return -1;
    if (!row_hash_equal(&ours, &theirs)) {
        results->collided = true;
        return err_set(err, "'%s' holds other numbers of this case: run %lld, policy %.60s of engine %.30s on '%.100s'",
                       results->path, (long long)old->run, otherwise(run->policy, "?"), otherwise(run->engine, "?"),
                       otherwise(run->input, "?"));
    }
    if (run->position < 0 || run->position >= old->position)
        return delete_row(results, new->run, err);
    results->digest.high -= old->row_hash.high;
    results->digest.low -= old->row_hash.low;
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
        wrong = db_failed(results, err);
    hold(results);
    return wrong ? wrong : read_digest(results, &results->runs, &results->digest, err);
}

static int end(struct results *results, int wrong, struct err *err)
{
    char hash[ROW_HASH_TEXT];
    const char *digest = row_hash_format(&results->digest, hash);
    if (!wrong)
        wrong = run_once(results, bound(results, RESULTS_SET_DIGEST, err, "it", results->runs, digest), err);
    if (!wrong && sqlite3_exec(results->db, "COMMIT", NULL, NULL, NULL))
        wrong = db_failed(results, err);
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

/* SQLite counts transactions in the file's head; how many there were depends on the disk's speed. Count up to one for
 * each run and two for a sweep's ends: only that number on the first page changes. */
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

/* --- small questions --- */

/* Whether a statement finds a text. */
static int has(struct results *results, enum results_statement which, const char *text, struct err *err)
{
    sqlite3_stmt *stmt = bound(results, which, err, "t", text);
    int found = find_one(results, stmt, err);
    (void)sqlite3_reset(stmt);
    return found;
}

int results_has(struct results *results, const char *key, struct err *err)
{
    return has(results, RESULTS_HAS, key, err);
}

int results_sweeping(struct results *results, const char *sweep, struct err *err)
{
    return has(results, RESULTS_SWEEPING, sweep, err);
}

static int64_t count(struct results *results, const char *table, struct err *err)
{
    char sql[80];
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM main.%s", table);
    if (sqlite3_prepare_v2(results->db, sql, -1, &stmt, NULL) || sqlite3_step(stmt) != SQLITE_ROW)
        (void)db_failed(results, err);
    else
        n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

int64_t results_count(struct results *results, struct err *err)
{
    return count(results, "runs", err);
}

int64_t results_unfinished(struct results *results, struct err *err)
{
    return count(results, "sweeps", err);
}

int results_tell_unfinished(struct results *results, const char *path, json_t **sentences, struct err *err)
{
    const int64_t sweeps = results_unfinished(results, err);
    char text[600];
    if (sweeps <= 0)
        return (int)sweeps;
    (void)snprintf(text, sizeof text,
                   "%.400s is incomplete: a sweep of it has not ended; the same command goes on from there", path);
    *sentences = *sentences ? *sentences : json_array();
    json_tree_add(sentences, json_tree_text(text));
    return json_tree_check(*sentences, err);
}

/* --- sweeps on their way to the file --- */

/* One row in or out, as a transaction of its own unless one is open. */
static int change(struct results *results, enum results_statement which, const char *sweep, int64_t points,
                  struct err *err)
{
    output_hold();
    int failed =
        run_once(results, bound(results, which, err, which == RESULTS_SWEEP_BEGIN ? "ti" : "t", sweep, points), err);
    output_release();
    results->transactions += !failed && sqlite3_get_autocommit(results->db) && sqlite3_changes(results->db) > 0;
    return failed;
}

int results_sweep_begin(struct results *results, const char *sweep, int64_t points, struct err *err)
{
    return change(results, RESULTS_SWEEP_BEGIN, sweep, points, err);
}

int results_sweep_end(struct results *results, const char *sweep, struct err *err)
{
    return change(results, RESULTS_SWEEP_END, sweep, 0, err);
}

/* The sweeps that have not ended in `from`, into *results too. */
static int merge_sweeps(struct results *results, struct results *from, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int failed = 0, rc;
    if (sqlite3_prepare_v2(from->db, "SELECT sweep, points FROM main.sweeps", -1, &stmt, NULL))
        return db_failed(from, err);
    while (!failed && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
        failed = rc != SQLITE_ROW ? db_failed(from, err)
                                  : results_sweep_begin(results, (const char *)sqlite3_column_text(stmt, 0),
                                                        sqlite3_column_int64(stmt, 1), err);
    sqlite3_finalize(stmt);
    return failed;
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

int results_differ(const char *a, const char *b, const char *policy, const char *engine, const char *input,
                   struct err *err)
{
    return err_set(err,
                   "'%.80s' and '%.80s' differ in the numbers of one case: policy %.40s of engine %.20s on '%.80s'", a,
                   b, policy, engine, input);
}

static int merge_run(void *ctx, const struct results_run *run)
{
    const struct merging *m = ctx;
    m->to->collided = false;
    if (put_run(m->to, run, m->err) == 0)
        return 0;
    return m->to->collided
               ? results_differ(earlier(m, run->key), m->from[m->at], run->policy, run->engine, run->input, m->err)
               : -1;
}

static int merge_file(struct merging *m)
{
    struct results *from = results_open(m->from[m->at], RESULTS_READ, m->err);
    int failed = from ? results_each(from, merge_run, m, m->err) : -1;
    if (!failed)
        failed = merge_sweeps(m->to, from, m->err);
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
/* --- checking --- */

static int count_foreign(void *ctx, const struct results_run *run)
{
    *(int64_t *)ctx += run_case_foreign(run->version);
    return 0;
}

/* That the indexes agree with the tables: has() asks an index. */
static int check_structure(struct results *results, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int failed = 0;
    if (sqlite3_prepare_v2(results->db, "PRAGMA integrity_check(1)", -1, &stmt, NULL) ||
        sqlite3_step(stmt) != SQLITE_ROW)
        failed = db_failed(results, err);
    const char *said = failed ? NULL : (const char *)sqlite3_column_text(stmt, 0);
    if (said && strcmp(said, "ok") != 0)
        failed = err_set(err, "'%s' is damaged: %.150s", results->path, said);
    sqlite3_finalize(stmt);
    return failed;
}

int results_check(struct results *results, struct results_counts *counts, struct err *err)
{
    int64_t foreign = 0;
    if (results_each(results, count_foreign, &foreign, err) || check_structure(results, err))
        return -1;
    *counts = (struct results_counts){.foreign = foreign,
                                      .runs = count(results, "runs", err),
                                      .metrics = count(results, "metrics", err),
                                      .parts = count(results, "parts", err),
                                      .platforms = count(results, "platforms", err),
                                      .sweeps = results_unfinished(results, err)};
    return counts->runs < 0 || counts->metrics < 0 || counts->parts < 0 || counts->platforms < 0 || counts->sweeps < 0
               ? -1
               : 0;
}
