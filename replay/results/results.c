#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/results/results_file.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/store/dbfile.h"

enum { RESULTS_TABLES = 2 }; /* that every version has */

const char results_columns[] =
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
    [RESULTS_SEAL] = "UPDATE runs SET key = ?2, hash = ?3 WHERE run = ?1",
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

int results_failed(struct results *results, struct err *err)
{
    return err_set(err, "'%s': %s", results->path, sqlite3_errmsg(results->db));
}

sqlite3_stmt *results_statement(struct results *results, enum results_statement which, struct err *err)
{
    sqlite3_stmt **stmt = &results->stmt[which];
    char run[sizeof results_columns + 32];
    (void)snprintf(run, sizeof run, "%s WHERE run = ?1", results_columns);
    const char *sql = which == RESULTS_RUN ? run : statements[which];
    if (!*stmt && sqlite3_prepare_v3(results->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL)) {
        (void)results_failed(results, err);
        return NULL;
    }
    (void)sqlite3_reset(*stmt);
    (void)sqlite3_clear_bindings(*stmt);
    return *stmt;
}

/* --- opening --- */

static int make_tables(sqlite3 *db, void *ctx, struct err *err)
{
    return schema_create(ctx, db, err);
}

/* A version and the tables it came with belong together: neither can be changed without the other. */
static int check_version(struct results *results, struct err *err)
{
    static const struct {
        const char *table;
        int since;
    } tables[] = {{"parts", 2}, {"platforms", 3}, {"digest", 3}, {"sweeps", 3}};
    results->version = results->schema->found_version;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        bool there = schema_find(results->schema, tables[i].table)->present;
        if (there != (results->version >= tables[i].since))
            return err_set(err, "'%s' says that it is of version %d, but table %s is %s", results->path,
                           results->version, tables[i].table, there ? "there" : "missing");
    }
    return 0;
}

static int open_existing(struct results *results, bool write, struct err *err)
{
    if (dbfile_open(results->path, write ? DBFILE_WRITE : DBFILE_READ, &results->db, err))
        return -1;
    schema_distrust(results->db);
    if (schema_check(results->schema, results->db, RESULTS_TABLES, err))
        return err_at(err, "'%s'", results->path);
    if (check_version(results, err))
        return -1;
    if (write && results->version < SCHEMA_RESULTS_VERSION)
        return err_set(err,
                       "'%s' is a results file of version %d, which is read but not added to; 'offchip merge' "
                       "brings it into a new one",
                       results->path, results->version);
    return 0;
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
        results->version = SCHEMA_RESULTS_VERSION;
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

json_t *results_parse(const char *text, json_type type, const char *what, struct err *err)
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
    json_t *overrides = results_parse(run->overrides, JSON_OBJECT, "overrides", err);
    struct run_case_facts facts = {.engine = run->engine,
                                   .platform = run->platform,
                                   .version = run->version,
                                   .inputs = results_parse(run->inputs, JSON_ARRAY, "inputs", err),
                                   .numbers = results_parse(run->numbers, JSON_OBJECT, "numbers", err),
                                   .settings = results_parse(run->settings, JSON_OBJECT, "settings", err)};
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
    json_t *params = results_parse(run->params, JSON_OBJECT, "params", err);
    json_t *base = params ? results_parse(run->relative_to, JSON_OBJECT, "relative_to", err) : NULL;
    int rc = base ? run_case_key(&run_case, run->policy ? run->policy : "", params, base, key, err) : -1;
    json_decref(params);
    json_decref(base);
    run_case_release(&run_case);
    return rc;
}

/* --- small questions --- */

int results_has(struct results *results, const char *key, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_HAS, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    int has = rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : results_failed(results, err);
    (void)sqlite3_reset(stmt);
    return has;
}

int results_read_digest(struct results *results, int64_t *runs, struct row_hash *digest, struct err *err)
{
    sqlite3_stmt *stmt = results_statement(results, RESULTS_DIGEST, err);
    if (!stmt)
        return -1;
    int rc = sqlite3_step(stmt);
    int failed = rc != SQLITE_ROW ? results_failed(results, err) : 0;
    if (!failed && (sqlite3_column_int64(stmt, 2) != 1 || sqlite3_column_type(stmt, 0) != SQLITE_INTEGER ||
                    row_hash_parse((const char *)sqlite3_column_text(stmt, 1), digest)))
        failed = err_set(err, "'%s': table digest is damaged", results->path);
    if (!failed)
        *runs = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_reset(stmt);
    return failed;
}

static int64_t count(struct results *results, const char *table, struct err *err)
{
    char sql[80];
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM main.%s", table);
    if (sqlite3_prepare_v2(results->db, sql, -1, &stmt, NULL) || sqlite3_step(stmt) != SQLITE_ROW)
        (void)results_failed(results, err);
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
    return results->version < 3 ? 0 : count(results, "sweeps", err);
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
        failed = results_failed(results, err);
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
    *counts = (struct results_counts){.version = results->version,
                                      .foreign = foreign,
                                      .runs = count(results, "runs", err),
                                      .metrics = count(results, "metrics", err),
                                      .parts = results->version < 2 ? 0 : count(results, "parts", err),
                                      .platforms = results->version < 3 ? 0 : count(results, "platforms", err),
                                      .sweeps = results_unfinished(results, err)};
    return counts->runs < 0 || counts->metrics < 0 || counts->parts < 0 || counts->platforms < 0 || counts->sweeps < 0
               ? -1
               : 0;
}
