#include "replay/results/runs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/results.h"
#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/base/suggest.h"
#include "trace/base/version.h"
#include "trace/derived/limits.h"
#include "trace/store/dbfile.h"

/* The longest JSON that is read. */
enum { JSON_BYTES_MAX = 1 << 28 };

static void run_release(struct run *run)
{
    run_case_release(&run->run_case);
    json_decref(run->relative_to);
    free(run->file);
    free(run->engine);
    free(run->input);
    free(run->platform);
    free(run->policy);
    json_decref(run->settings);
    json_decref(run->params);
    json_decref(run->metrics);
    json_decref(run->interval);
    json_decref(run->notes);
    json_decref(run->parts);
    free(run->part_by);
    free(run->part);
}

void run_set_release(struct run_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        run_release(&set->runs[i]);
    free(set->runs);
    json_decref(set->unfinished);
    memset(set, 0, sizeof *set);
}

/* Whether there was memory for all of it. */
static int check_whole(const struct run *run, struct err *err)
{
    return run->file && run->engine && run->input && run->platform && run->policy && run->relative_to &&
                   run->settings && run->params && run->metrics && run->interval && run->notes && run->parts
               ? 0
               : err_set(err, "out of memory while reading runs");
}

int run_set_add(struct run_set *set, const struct run *run, struct err *err)
{
    const struct run from = *run; /* growing may move it */
    if (mem_grow((void **)&set->runs, &set->cap, set->count + 1, sizeof *set->runs, err))
        return -1;
    struct run *to = &set->runs[set->count++];
    *to = (struct run){.relative_to = json_incref(from.relative_to),
                       .file = mem_strdup(from.file, err),
                       .engine = mem_strdup(from.engine, err),
                       .input = mem_strdup(from.input, err),
                       .platform = mem_strdup(from.platform, err),
                       .policy = mem_strdup(from.policy, err),
                       .settings = json_incref(from.settings),
                       .params = json_incref(from.params),
                       .metrics = json_incref(from.metrics),
                       .interval = json_incref(from.interval),
                       .notes = json_incref(from.notes),
                       .parts = json_incref(from.parts),
                       .baseline = from.baseline};
    memcpy(to->key, from.key, sizeof to->key);
    if (run_case_copy(&to->run_case, &from.run_case, err) ||
        (from.part && run_set_part(to, from.part_by, from.part, err)))
        return -1;
    return check_whole(to, err);
}

int run_set_add_engine(struct run_set *set, const struct run_set *from, const char *engine, struct err *err)
{
    if (!set->unfinished)
        set->unfinished = json_incref(from->unfinished);
    for (size_t i = 0; i < from->count; i++)
        if (strcmp(from->runs[i].engine, engine) == 0 && run_set_add(set, &from->runs[i], err))
            return -1;
    return 0;
}

static json_t *object_or_empty(const json_t *parent, const char *key)
{
    json_t *value = json_object_get(parent, key);
    return json_is_object(value) ? json_incref(value) : json_object();
}

/* What is written by hand may lack the case, and the hashes of inputs with it. */
static int case_of_json(struct run_case *run_case, const json_t *root, struct err *err)
{
    json_t *object = json_object_get(root, "case"), *input = json_object_get(root, "input");
    if (object)
        return run_case_from_json(run_case, object, err);
    struct run_case_facts facts = {
        .engine = json_string_value(json_object_get(root, "engine")),
        .platform = json_string_value(json_object_get(root, "platform")),
        .inputs = json_is_array(input) ? json_incref(input) : json_pack("[{s:s,s:O?}]", "role", "", "input", input),
        .settings = json_object_get(root, "settings")};
    int rc = facts.inputs ? run_case_init(run_case, &facts, err) : err_set(err, "out of memory");
    json_decref(facts.inputs);
    return rc;
}

static json_t *relative_to_json(const json_t *base)
{
    if (!json_is_object(base))
        return json_object();
    return json_pack("{s:O?,s:O?}", "policy", json_object_get(base, "policy"), "params",
                     json_object_get(base, "params"));
}

static int add_run(struct run_set *set, const json_t *root, const json_t *object, const char *place, struct err *err)
{
    const char *policy = json_string_value(json_object_get(object, "policy"));
    if (!policy || !json_is_object(json_object_get(object, "metrics")))
        return err_set(err, "%s: a run has no \"policy\" or no \"metrics\"", place);
    if (mem_grow((void **)&set->runs, &set->cap, set->count + 1, sizeof *set->runs, err))
        return -1;
    const char *engine = json_string_value(json_object_get(root, "engine"));
    const char *platform = json_string_value(json_object_get(root, "platform"));
    struct run *run = &set->runs[set->count];
    memset(run, 0, sizeof *run);
    if (case_of_json(&run->run_case, root, err))
        return err_at(err, "%s", place);
    run->file = mem_strdup(place, err);
    run->engine = mem_strdup(engine ? engine : "", err);
    run->platform = mem_strdup(platform ? platform : "", err);
    run->policy = mem_strdup(policy, err);
    run->input = results_input_text(json_object_get(root, "input"));
    run->settings = object_or_empty(root, "settings");
    run->params = object_or_empty(object, "params");
    run->metrics = object_or_empty(object, "metrics");
    run->interval = results_intervals(object);
    run->parts = object_or_empty(object, "parts");
    json_t *notes = json_object_get(object, "notes");
    run->notes = json_is_array(notes) ? json_incref(notes) : json_array();
    json_t *base = json_object_get(root, "baseline");
    run->baseline = json_is_object(base) &&
                    json_equal(json_object_get(base, "policy"), json_object_get(object, "policy")) &&
                    json_equal(json_object_get(base, "params"), json_object_get(object, "params"));
    run->relative_to = relative_to_json(base);
    if (check_whole(run, err) || run_case_key(&run->run_case, policy, run->params, run->relative_to, run->key, err)) {
        run_release(run);
        return -1;
    }
    set->count++;
    return 0;
}

int run_set_add_json(struct run_set *set, const json_t *root, const char *place, struct err *err)
{
    json_t *runs = json_object_get(root, "runs"), *object;
    if (!json_is_array(runs))
        return err_set(err, "%s: no \"runs\"; expected what 'offchip replay --format json' prints", place);
    size_t i;
    json_array_foreach(runs, i, object) if (add_run(set, root, object, place, err)) return -1;
    return 0;
}

static int load_json(struct run_set *set, const char *path, struct err *err)
{
    size_t bytes;
    char *text = regular_file_read(path, JSON_BYTES_MAX, &bytes, err);
    if (!text)
        return -1;
    if (text[strspn(text, " \n\t\r")] != '{') {
        free(text);
        return err_set(err, "'%s' is neither a results file nor JSON of 'offchip replay'", path);
    }
    json_error_t where;
    json_t *root = json_tree_parse(text, bytes, &where);
    free(text);
    if (!root)
        return err_set(err, "%s:%d: %s", path, where.line, where.text);
    int rc = run_set_add_json(set, root, path, err);
    json_decref(root);
    return rc;
}

struct load {
    struct run_set *set;
    const char *path;
    struct err *err;
};

/* What results_each() has found to be JSON, or empty; NULL: no memory. */
static json_t *parsed(const char *text, json_t *(*empty)(void))
{
    return text && *text ? json_tree_parse(text, strlen(text), NULL) : empty();
}

static int on_run(void *ctx, const struct results_run *row)
{
    struct load *load = ctx;
    struct run_set *set = load->set;
    if (mem_grow((void **)&set->runs, &set->cap, set->count + 1, sizeof *set->runs, load->err))
        return 1;
    struct run *run = &set->runs[set->count++];
    *run = (struct run){.relative_to = parsed(row->relative_to, json_object),
                        .file = mem_strdup(load->path, load->err),
                        .engine = mem_strdup(row->engine, load->err),
                        .input = mem_strdup(row->input, load->err),
                        .platform = mem_strdup(row->platform, load->err),
                        .policy = mem_strdup(row->policy, load->err),
                        .settings = parsed(row->settings, json_object),
                        .params = parsed(row->params, json_object),
                        .metrics = parsed(row->metrics, json_object),
                        .interval = parsed(row->intervals, json_object),
                        .notes = parsed(row->notes, json_array),
                        .parts = parsed(row->parts, json_object),
                        .baseline = row->baseline};
    (void)snprintf(run->key, sizeof run->key, "%s", row->key);
    if (results_case(row, &run->run_case, load->err))
        return 1;
    return check_whole(run, load->err) ? 1 : 0;
}

static int load_database(struct run_set *set, const char *path, struct err *err)
{
    struct results *results = results_open(path, RESULTS_READ, err);
    if (!results)
        return -1;
    struct load load = {set, path, err};
    int rc = results_each(results, on_run, &load, err) || results_tell_unfinished(results, path, &set->unfinished, err);
    results_close(results);
    return rc ? -1 : 0;
}

int run_set_load(struct run_set *set, const char *path, struct err *err)
{
    int rc = dbfile_is_database(path) ? load_database(set, path, err) : load_json(set, path, err);
    return rc || run_set_unify(set, err) ? -1 : 0;
}

int run_set_part(struct run *run, const char *by, const char *part, struct err *err)
{
    run->part_by = mem_strdup(by, err);
    run->part = mem_strdup(part, err);
    return run->part_by && run->part ? 0 : -1;
}

/* The name of a part, freed by the caller; the second of one name is "NAME #2". NULL: no memory. */
static char *part_name(const json_t *parts, size_t at)
{
    const char *own = json_string_value(json_object_get(json_array_get(parts, at), "part"));
    size_t nth = 1;
    for (size_t i = 0; own && i < at; i++) {
        const char *other = json_string_value(json_object_get(json_array_get(parts, i), "part"));
        nth += other && strcmp(other, own) == 0;
    }
    return nth == 1 ? mem_strdup(own ? own : "", NULL) : mem_format("%s #%zu", own, nth);
}

static int split_one(struct run_set *to, const struct run *run, const char *by, struct err *err)
{
    size_t i;
    json_t *part;
    json_array_foreach(json_object_get(run->parts, by), i, part)
    {
        if (run_set_add(to, run, err))
            return -1;
        struct run *copy = &to->runs[to->count - 1];
        json_decref(copy->metrics);
        json_decref(copy->interval);
        copy->metrics = object_or_empty(part, "metrics");
        copy->interval = results_intervals(part);
        char *name = part_name(json_object_get(run->parts, by), i);
        int rc = name ? run_set_part(copy, by, name, err) : err_set(err, "out of memory");
        free(name);
        if (rc)
            return -1;
    }
    return 0;
}

int run_set_split(struct run_set *set, const char *by, size_t *without, struct err *err)
{
    struct run_set parts = {0};
    int rc = 0;
    *without = 0;
    for (size_t i = 0; i < set->count && !rc; i++) {
        size_t before = parts.count;
        rc = split_one(&parts, &set->runs[i], by, err);
        *without += parts.count == before;
    }
    if (!rc && !parts.count)
        rc = err_set(err, "no run is divided by %s; the uvm engine divides its runs by kernel and allocation", by);
    if (rc) {
        run_set_release(&parts);
        return -1;
    }
    parts.unfinished = json_incref(set->unfinished);
    run_set_release(set);
    *set = parts;
    return 0;
}

bool run_set_has(const struct run_set *set, const char *metric)
{
    for (size_t i = 0; i < set->count; i++)
        if (json_object_get(set->runs[i].metrics, metric) || json_object_get(set->runs[i].interval, metric))
            return true;
    return false;
}

int run_set_lacks(const struct run_set *set, const char *word, struct err *err)
{
    char hint[SUGGEST_HINT];
    struct suggest suggest = {.word = word};
    const char *name;
    json_t *value;
    json_object_foreach(set->runs[0].metrics, name, value) suggest_offer(&suggest, name);
    return err_set(err, "no run has a metric '%.60s'%s", word, suggest_hint(&suggest, hint, sizeof hint));
}

bool run_starved(const struct run *run)
{
    double value;
    return (run_metric(run, "starved", &value) && value > 0) ||
           (run_metric(run, "fairness_index", &value) && value == 0);
}

char *run_warnings(const struct run *run)
{
    char *text = mem_strdup("", NULL);
    size_t i;
    json_t *said;
    json_array_foreach(run->notes, i, said)
    {
        const char *warning = run_warning(json_string_value(said));
        if (warning && text)
            (void)mem_append(&text, "%s%s", *text ? " | " : "", warning);
    }
    return text;
}

bool run_interval(const struct run *run, const char *name, double *lo, double *hi)
{
    const json_t *pair = json_object_get(run->interval, name);
    if (!json_is_array(pair) || json_array_size(pair) != 2 || json_is_null(json_array_get(pair, 1)))
        return false;
    *lo = json_number_value(json_array_get(pair, 0));
    *hi = json_number_value(json_array_get(pair, 1));
    return true;
}

bool run_at_least(const struct run *run, const char *name, double *lo)
{
    const json_t *pair = json_object_get(run->interval, name);
    *lo = json_number_value(json_array_get(pair, 0));
    return json_array_size(pair) == 2 && json_is_null(json_array_get(pair, 1));
}

bool run_unbound(const struct run *run, const char *name)
{
    return json_is_null(json_object_get(run->interval, name));
}

bool run_metric(const struct run *run, const char *name, double *value)
{
    const json_t *v = json_object_get(run->metrics, name);
    if (json_is_number(v)) {
        *value = json_number_value(v);
        return true;
    }
    double lo, hi;
    if (!run_interval(run, name, &lo, &hi))
        return false;
    *value = (lo + hi) / 2;
    return true;
}

static const char *text_of(const json_t *v, char *buf, size_t size)
{
    if (json_is_string(v))
        (void)snprintf(buf, size, "%s", json_string_value(v));
    else if (json_is_integer(v))
        (void)snprintf(buf, size, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        (void)snprintf(buf, size, "%.15g", json_real_value(v));
    else
        return NULL;
    return buf;
}

/* "conv2d" of "synth:conv2d,bytes=8GiB"; the file's name without folder otherwise. */
static const char *workload_of(const struct run *run, char *buf, size_t size)
{
    const char *p = run->input;
    if (strncmp(p, "synth:", 6) == 0) {
        (void)snprintf(buf, size, "%.*s", (int)strcspn(p + 6, ",+ "), p + 6);
        return buf;
    }
    const char *slash = strrchr(p, '/');
    (void)snprintf(buf, size, "%s", slash ? slash + 1 : p);
    return buf;
}

/* The input of a role: "synth:a,x=1" of "mem=synth:a,x=1 + pim=synth:b". */
static const char *role_key(const struct run *run, const char *role, char *buf, size_t size)
{
    size_t n = strlen(role);
    for (const char *p = run->input, *plus; p; p = plus ? plus + 3 : NULL) {
        plus = strstr(p, " + ");
        if (strncmp(p, role, n) != 0 || p[n] != '=')
            continue;
        (void)snprintf(buf, size, "%.*s", plus ? (int)(plus - p - (ptrdiff_t)n - 1) : (int)strlen(p), p + n + 1);
        return buf;
    }
    return NULL;
}

/* A key of the input's spec, as it was given last: "8GiB" of bytes in "synth:conv2d,bytes=1GiB,bytes=8GiB". */
static const char *spec_key(const struct run *run, const char *key, char *buf, size_t size)
{
    size_t n = strlen(key);
    const char *found = NULL;
    for (const char *p = run->input; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, key, n) == 0 && p[n] == '=') {
            (void)snprintf(buf, size, "%.*s", (int)strcspn(p + n + 1, ", "), p + n + 1);
            found = buf;
        }
        if (found && p[strcspn(p, ", ")] == ' ')
            break;
    }
    return found;
}

const char *run_key(const struct run *run, const char *key, char *buf, size_t size)
{
    const struct {
        const char *name, *value;
    } heads[] = {{"engine", run->engine}, {"platform", run->platform}, {"policy", run->policy}, {"input", run->input}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(heads[i].name, key) == 0) {
            (void)snprintf(buf, size, "%s", heads[i].value);
            return buf;
        }
    if (strcmp(key, "workload") == 0)
        return workload_of(run, buf, size);
    if (run->part_by && strcmp(key, run->part_by) == 0) {
        (void)snprintf(buf, size, "%s", run->part);
        return buf;
    }
    if (strcmp(key, "mem") == 0 || strcmp(key, "pim") == 0)
        return role_key(run, key, buf, size);
    const json_t *v = json_object_get(run->params, key);
    if (!v)
        v = json_object_get(run->settings, key);
    return v ? text_of(v, buf, size) : spec_key(run, key, buf, size);
}

static bool same_object(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)a, key, value)
    {
        if (!run_same_value(value, json_object_get(b, key)))
            return false;
    }
    return true;
}

static bool same_array(const json_t *a, const json_t *b)
{
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; same && i < json_array_size(a); i++)
        same = run_same_value(json_array_get(a, i), json_array_get(b, i));
    return same;
}

bool run_same_value(const json_t *a, const json_t *b)
{
    if (json_is_object(a) && json_is_object(b))
        return same_object(a, b);
    if (json_is_array(a) && json_is_array(b))
        return same_array(a, b);
    if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

struct seen {
    size_t run;
    UT_hash_handle hh;
};

/* Look at run i; *keep says whether it stays. The table holds those that stay. */
static int look(struct run_set *set, size_t i, struct seen **table, struct seen *item, bool *keep, struct err *err)
{
    const struct run *run = &set->runs[i], *other;
    struct seen *first;
    HASH_FIND_STR(*table, run->key, first);
    *keep = !first || run->part;
    if (!first && !run->part) {
        item->run = i;
        HASH_ADD_KEYPTR(hh, *table, run->key, (unsigned)strlen(run->key), item);
        if (!hash_has(item))
            return err_set(err, "out of memory");
    }
    other = *keep ? NULL : &set->runs[first->run];
    if (!other || (run_same_value(other->metrics, run->metrics) && run_same_value(other->interval, run->interval) &&
                   run_same_value(other->parts, run->parts)))
        return 0;
    return results_differ(other->file, run->file, run->policy, run->engine, run->input, err);
}

int run_set_unify(struct run_set *set, struct err *err)
{
    struct seen *items = mem_zalloc(set->count + 1, sizeof *items, err), *table = NULL;
    bool *keep = items ? mem_zalloc(set->count + 1, sizeof *keep, err) : NULL;
    int rc = keep ? 0 : -1;
    for (size_t i = 0; i < set->count && !rc; i++)
        rc = look(set, i, &table, &items[i], &keep[i], err);
    HASH_CLEAR(hh, table);
    size_t kept = 0;
    for (size_t i = 0; i < set->count && !rc; i++) {
        if (keep[i])
            set->runs[kept++] = set->runs[i];
        else
            run_release(&set->runs[i]);
    }
    set->count = rc ? set->count : kept;
    free(keep);
    free(items);
    return rc;
}

int note(json_t *notes, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int rc = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (rc < 0)
        return -1;
    size_t i;
    json_t *said;
    rc = 0;
    bool known = !notes;
    json_array_foreach(notes, i, said) known = known || strcmp(json_string_value(said), text) == 0;
    if (!known)
        rc = json_array_append_new(notes, json_string(text));
    free(text);
    return rc;
}

int run_note_limits(const struct run *run, json_t *notes)
{
    int rc = 0;
    size_t i;
    json_t *said;
    json_array_foreach(run->notes, i, said) if (limits_note(json_string_value(said))) rc |=
        note(notes, "%s", json_string_value(said));
    return rc;
}

int run_set_note_limits(const struct run_set *set, json_t *notes)
{
    int rc = 0;
    for (size_t i = 0; i < set->count; i++)
        rc |= run_note_limits(&set->runs[i], notes);
    return rc;
}

int run_set_note_foreign(const struct run_set *set, json_t *notes)
{
    json_t *counts = json_object(), *count;
    const char *version;
    int rc = 0;
    for (size_t i = 0; i < set->count; i++)
        if (run_case_foreign(set->runs[i].run_case.version)) {
            version = set->runs[i].run_case.version;
            json_int_t so_far = json_integer_value(json_object_get(counts, version));
            json_tree_put(&counts, version, json_integer(so_far + 1));
        }
    rc = counts ? 0 : -1;
    json_object_foreach(counts, version, count)
    {
        long long n = json_integer_value(count);
        rc |= note(notes,
                   "%lld of %zu runs were made by offchip %s, not by this release, %s: numbers may differ for that", n,
                   set->count, *version ? version : "of an unknown release", offchip_release);
    }
    json_decref(counts);
    return rc;
}
