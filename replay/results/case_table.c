#include "replay/results/case_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/policy.h"
#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

/* --- keys by which a case may be told from others, for labels only: cases are compared by value --- */

enum case_key_kind {
    CASE_KEY_HEAD,    /* engine; workload, or inputs by role ("mem", "pim", "mem2"); platform; part */
    CASE_KEY_INPUT,   /* keys of the input's spec */
    CASE_KEY_SETTING, /* settings of the engine and numbers of the platform that were given */
    CASE_KEY_VERSION,
    CASE_KEY_LAST, /* what is named only if the others do not tell cases apart: the input in full, its content, single
                      numbers of the platform, what speed-ups are relative to, the case's hash */
    CASE_KEY_KINDS
};

char *case_keys_text(const json_t *value)
{
    if (json_is_string(value))
        return mem_strdup(json_string_value(value), NULL);
    if (json_is_integer(value) || json_is_boolean(value))
        return json_tree_dump(value, JSON_ENCODE_ANY);
    if (!json_is_real(value))
        return mem_strdup("", NULL);
    char *text = mem_format("%.15g", json_real_value(value));
    if (!text || strtod(text, NULL) == json_real_value(value))
        return text;
    free(text);
    return mem_format("%.17g", json_real_value(value));
}

/* json_tree_put() of a text; NULL: there was no memory for it. */
static void put(json_t **object, const char *name, const char *text)
{
    json_tree_put(object, name, json_string(text));
}

static void put_value(json_t **object, const char *name, const json_t *value)
{
    char *text = case_keys_text(value);
    put(object, name, text);
    free(text);
}

static const char *field(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void case_keys_role(const json_t *inputs, size_t at, const char *none, char *name, size_t size)
{
    const char *role = field(json_array_get(inputs, at), "role");
    size_t nth = 1;
    for (size_t i = 0; i < at; i++)
        nth += strcmp(field(json_array_get(inputs, i), "role"), role) == 0;
    (void)snprintf(name, size, nth > 1 ? "%.40s%zu" : "%.40s", *role ? role : none, nth);
}

/* Whether a key of the input's spec would be taken for another key. */
static bool is_taken(const struct run *run, const char *name)
{
    static const char *const heads[] = {"engine", "workload", "platform", "policy", "version", "input", "content"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(heads[i], name) == 0)
            return true;
    return json_object_get(run->settings, name) || (run->part_by && strcmp(run->part_by, name) == 0);
}

/* Read the keys of "synth:conv2d,bytes=8GiB,kernel=1". */
static void spec_keys(const struct run *run, const char *spec, json_t **keys)
{
    for (const char *p = strchr(spec, ','); p; p = strchr(p + 1, ',')) {
        size_t n = strcspn(p + 1, "=,"), rest = p[1 + n] == '=' ? strcspn(p + n + 2, ",") : 0;
        char *name = mem_strndup(p + 1, n, NULL);
        char *qualified = name ? mem_format("%s%s", is_taken(run, name) ? "input." : "", name) : NULL;
        json_tree_put(keys, qualified, json_stringn(p[1 + n] == '=' ? p + n + 2 : "", rest));
        free(name);
        free(qualified);
    }
}

static void input_keys(const struct run *run, json_t *keys[CASE_KEY_KINDS])
{
    const json_t *inputs = run->run_case.inputs;
    const char *spec = field(json_array_get(inputs, 0), "input");
    if (run->part && !*run->input) /* of several inputs */
        return;
    if (json_array_size(inputs) == 1 && !*field(json_array_get(inputs, 0), "role")) {
        const bool synth = strncmp(spec, "synth:", 6) == 0;
        json_tree_put(&keys[CASE_KEY_HEAD], "workload",
                      synth ? json_stringn(spec + 6, strcspn(spec + 6, ",")) : json_string(spec));
        if (synth)
            spec_keys(run, spec, &keys[CASE_KEY_INPUT]);
        return;
    }
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        char name[64];
        case_keys_role(inputs, i, "workload", name, sizeof name);
        put(&keys[CASE_KEY_HEAD], name, field(json_array_get(inputs, i), "input"));
    }
}

/* A policy with its parameters but the one named `apart` (NULL: all); freed by the caller. NULL: no memory. */
static char *policy_key(const char *policy, const json_t *params, const char *apart)
{
    json_t *rest = params ? json_tree_copy(params) : json_object();
    if (apart)
        (void)json_object_del(rest, apart);
    char *key = json_tree_dump(rest, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    char *text = key ? mem_format("%s:%s", policy, key) : NULL;
    free(key);
    json_decref(rest);
    return text;
}

char *case_keys_baseline(const struct run *run)
{
    char *text = mem_strdup(field(run->relative_to, "policy"), NULL);
    const char *name, *separator = ":";
    json_t *value;
    json_object_foreach(json_object_get(run->relative_to, "params"), name, value)
    {
        char *of = case_keys_text(value);
        if (text)
            (void)mem_append(&text, "%s%s=%s", separator, name, of ? of : "");
        if (!of) {
            free(text);
            text = NULL;
        }
        free(of);
        separator = ",";
    }
    return text;
}

static void last_keys(const struct run *run, json_t **last)
{
    const json_t *inputs = run->run_case.inputs;
    const char *name;
    json_t *value;
    char *content = mem_strdup("", NULL), *baseline = case_keys_baseline(run);
    put(last, "input", run->input);
    for (size_t i = 0; i < json_array_size(inputs) && content; i++)
        (void)mem_append(&content, "%s%.8s", i ? "+" : "", field(json_array_get(inputs, i), "hash"));
    put(last, "content", content);
    json_object_foreach(run->run_case.numbers, name, value) put_value(last, name, value);
    put(last, "baseline", baseline);
    put(last, "case", run->run_case.hash);
    free(content);
    free(baseline);
}

/* Fill keys[] with an object of texts by name for each kind, the caller's to json_decref(). A name stands in one kind
 * only: a key of the input called like another is "input.NAME". -1 with *err set, and nothing to free. */
static int case_keys_of(const struct run *run, json_t *keys[CASE_KEY_KINDS], struct err *err)
{
    const char *name;
    json_t *value;
    bool whole = true;
    for (int k = 0; k < CASE_KEY_KINDS; k++)
        keys[k] = json_object();
    put(&keys[CASE_KEY_HEAD], "engine", run->engine);
    input_keys(run, keys);
    put(&keys[CASE_KEY_HEAD], "platform", run->platform);
    if (run->part)
        put(&keys[CASE_KEY_HEAD], run->part_by, run->part);
    put(&keys[CASE_KEY_VERSION], "version", run->run_case.version);
    json_object_foreach(run->settings, name, value) put_value(&keys[CASE_KEY_SETTING], name, value);
    last_keys(run, &keys[CASE_KEY_LAST]);
    for (int k = 0; k < CASE_KEY_KINDS; k++)
        whole &= keys[k] != NULL;
    for (int k = 0; k < CASE_KEY_KINDS && !whole; k++)
        json_decref(keys[k]);
    return whole ? 0 : err_set(err, "out of memory while naming the cases");
}

bool case_keys_number(const char *text, double *value)
{
    int64_t whole;
    if (units_parse_real(text, value, NULL) == 0)
        return true;
    if (units_parse_bytes(text, &whole, NULL) && units_parse_ns(text, &whole, NULL))
        return false;
    *value = (double)whole;
    return true;
}

/* The different values of each key, as {key: {text: true}}; keys with one that is no number are left out. */
static int count_numbers(json_t *values, json_t *texts)
{
    const char *name, *text;
    json_t *value;
    double number;
    int bad = 0;
    json_object_foreach(texts, name, value)
    {
        json_t *seen = json_object_get(values, name);
        text = json_string_value(value);
        if (!seen && json_object_set_new(values, name, seen = json_object()))
            return -1;
        if (case_keys_number(text, &number))
            bad |= json_object_set_new(seen, text, json_true());
    }
    return bad;
}

char *case_keys_axis(const struct run_set *set)
{
    json_t *values = json_object(), *seen;
    const char *name, *best = NULL;
    size_t most = 1;
    int bad = !values;
    for (int kind = CASE_KEY_SETTING; values && kind >= CASE_KEY_INPUT; kind--)
        for (size_t i = 0; i < set->count; i++) {
            json_t *keys[CASE_KEY_KINDS];
            if (case_keys_of(&set->runs[i], keys, NULL)) {
                bad = 1;
                break;
            }
            bad |= count_numbers(values, keys[kind]);
            for (int k = 0; k < CASE_KEY_KINDS; k++)
                json_decref(keys[k]);
        }
    json_object_foreach(values, name, seen)
    {
        if (json_object_size(seen) > most) {
            most = json_object_size(seen);
            best = name;
        }
    }
    char *key = best && !bad ? mem_strdup(best, NULL) : NULL;
    json_decref(values);
    return key;
}

/* The two halves of a policy with the parameters of a run. */
struct halves {
    struct policy_choice choice;
    void *params[2];
    json_t *texts; /* what text parameters point at */
};

/* The half whose parameter a key is, the key without "evict."; NULL: none has it. */
static const struct param *row_of(const struct halves *h, const char **key, size_t *half)
{
    const size_t n = h->choice.heads[1] ? strlen(h->choice.second_key) : 0;
    *half = n && strncmp(*key, h->choice.second_key, n) == 0 && (*key)[n] == '.';
    *key += *half ? n + 1 : 0;
    return param_find(h->choice.heads[*half]->params, *key);
}

/* Whether a parameter is this program's; stored, unless this program does not take the value: then *odd. */
static bool store(struct halves *h, const char *key, const json_t *value, bool *odd)
{
    size_t half;
    const char *name = key;
    if (!row_of(h, &name, &half))
        return false;
    char *text = case_keys_text(value);
    if (!text || json_object_set_new(h->texts, key, json_string(text)) ||
        (!json_is_null(value) && param_set(h->choice.heads[half]->params, h->params[half], name,
                                           json_string_value(json_object_get(h->texts, key)), &(struct err){""})))
        *odd = true;
    free(text);
    return true;
}

static int open_halves(struct halves *h)
{
    h->texts = json_object();
    for (size_t i = 0; i < 2 && h->choice.heads[i]; i++) {
        if (!(h->params[i] = mem_zalloc(1, h->choice.heads[i]->state_size, NULL)))
            return -1;
        param_defaults(h->choice.heads[i]->params, h->params[i]);
        h->choice.params[i] = h->params[i];
    }
    return h->texts ? 0 : -1;
}

/* The parameters that tell runs apart, of what this program does not have. */
static json_t *foreign_params(struct halves *h, const struct run *run, const json_t *differing, bool *known)
{
    json_t *foreign = json_object(), *value;
    const char *key;
    bool odd = false;
    json_object_foreach(run->params, key, value)
    {
        if ((!*known || !store(h, key, value, &odd)) && json_object_get(differing, key))
            json_tree_put(&foreign, key, json_incref(value));
    }
    if (!odd)
        return foreign;
    json_decref(foreign);
    *known = false;
    return foreign_params(h, run, differing, known);
}

char *run_label(const struct run *run, const char *apart, const json_t *differing)
{
    struct halves h = {0};
    json_t *foreign = NULL, *value;
    const char *key;
    char text[1024], *label = NULL;
    bool known = policy_known(run->engine, run->policy, &h.choice);
    if (!known || open_halves(&h) == 0)
        foreign = foreign_params(&h, run, differing, &known);
    if (foreign)
        label = mem_strdup(known ? policy_label(&h.choice, apart, text, sizeof text) : run->policy, NULL);
    json_object_foreach(foreign, key, value)
    {
        if (label && !(apart && strcmp(apart, key) == 0)) {
            char *of = case_keys_text(value);
            (void)mem_append(&label, "%s%s=%s", strchr(label, ':') ? "," : ":", key, of ? of : "");
            if (!of) {
                free(label);
                label = NULL;
            }
            free(of);
        }
    }
    for (size_t i = 0; i < 2; i++)
        free(h.params[i]);
    json_decref(h.texts);
    json_decref(foreign);
    return label;
}

/* --- numbers for texts, in order of first appearance --- */

struct number {
    size_t number, at;
    UT_hash_handle hh;
    char text[];
};

struct numbers {
    struct number *head;
    size_t count;
};

static void numbers_release(struct numbers *numbers)
{
    HASH_FREE(numbers->head, n, (void)0);
    numbers->count = 0;
}

/* The number of a text; a new one remembers `at`. NULL: no memory. */
static struct number *number_of(struct numbers *numbers, const char *text, size_t at)
{
    struct number *n;
    HASH_FIND_STR(numbers->head, text, n);
    if (n)
        return n;
    size_t size = strlen(text) + 1;
    n = mem_zalloc(1, sizeof *n + size, NULL);
    if (!n)
        return NULL;
    memcpy(n->text, text, size);
    n->number = numbers->count;
    n->at = at;
    HASH_ADD_STR(numbers->head, text, n);
    if (!hash_has(n)) {
        free(n);
        return NULL;
    }
    numbers->count++;
    return n;
}

/* --- work in progress --- */

/* A key by which cases differ. */
struct candidate {
    enum case_key_kind kind;
    const char *name;
    size_t *value; /* [case] */
    size_t values;
    bool kept;
};

struct making {
    struct case_table *table;
    const struct run_set *set;
    const char *apart;
    bool apart_is_param;
    struct placed {
        size_t case_of, policy_of; /* the policy with all parameters */
        bool split;                /* its case is one for each run that speed-ups are relative to */
    } * runs;                      /* [run] */
    size_t *first;                 /* [case]: its first run */
    size_t cases;
    json_t *(*keys)[CASE_KEY_KINDS]; /* [case] */
    struct candidate *candidates;
    size_t count, cap;
    struct err *err;
};

static int no_memory(struct err *err)
{
    return err_set(err, "out of memory while comparing runs");
}

/* --- cases and policies by value --- */

static char *case_text(const struct making *m, size_t i)
{
    const struct run *run = &m->set->runs[i];
    char *relative = m->runs[i].split ? json_tree_dump(run->relative_to, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (m->runs[i].split && !relative)
        return NULL;
    char *text = mem_format("%s\n%s\n%s\n%s", run->run_case.hash, run->part ? run->part_by : "",
                            run->part ? run->part : "", relative ? relative : "");
    free(relative);
    return text;
}

static bool is_best_fixed(const struct run *run)
{
    return strcmp(run->policy, "best fixed") == 0;
}

/* Engine, policy and parameters; what was chosen as the best is one policy whatever it is. */
static char *policy_text(const struct run *run, const char *apart)
{
    char *policy = is_best_fixed(run) ? mem_strdup("", NULL) : policy_key(run->policy, run->params, apart);
    char *text = policy ? mem_format("%s\n%s\n%s", run->engine, run->policy, policy) : NULL;
    free(policy);
    return text;
}

static int number_cases(struct making *m)
{
    struct numbers cases = {0}, policies = {0};
    int bad = 0;
    for (size_t i = 0; i < m->set->count && !bad; i++) {
        char *a = case_text(m, i), *b = policy_text(&m->set->runs[i], NULL);
        struct number *c = a ? number_of(&cases, a, i) : NULL, *p = b ? number_of(&policies, b, i) : NULL;
        bad = !c || !p;
        if (!bad) {
            m->runs[i].case_of = c->number;
            m->runs[i].policy_of = p->number;
            m->first[c->number] = c->at;
        }
        free(a);
        free(b);
    }
    m->cases = cases.count;
    numbers_release(&cases);
    numbers_release(&policies);
    return bad ? no_memory(m->err) : 0;
}

/* The first metric in which two runs differ, or NULL. */
static const char *difference(const struct run *a, const struct run *b)
{
    const char *name;
    json_t *value;
    json_object_foreach(a->metrics, name, value) if (!json_equal(value, json_object_get(b->metrics, name))) return name;
    json_object_foreach(b->metrics, name, value) if (!json_object_get(a->metrics, name)) return name;
    json_object_foreach(a->interval, name,
                        value) if (!json_equal(value, json_object_get(b->interval, name))) return name;
    return json_equal(a->interval, b->interval) ? NULL : "an interval";
}

static int two_in_a_cell(const struct run *a, const struct run *b, const char *metric, struct err *err)
{
    return err_set(
        err,
        "two runs of policy %.60s on %.120s (platform %.40s) cannot be told apart, but differ in %.40s: one of "
        "'%.80s' and one of '%.80s'; give the files one at a time",
        a->policy, *a->input ? a->input : a->part, a->platform, metric, a->file, b->file);
}

/* Find runs that occur twice. 1: a case was split, and everything must be renumbered. */
static int find_twice(struct making *m)
{
    struct numbers cells = {0};
    int rc = 0;
    for (size_t i = 0; i < m->set->count && !rc; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%zu %zu", m->runs[i].case_of, m->runs[i].policy_of);
        struct number *cell = number_of(&cells, text, i);
        const struct run *run = &m->set->runs[i], *other = cell ? &m->set->runs[cell->at] : NULL;
        const char *metric = other ? difference(other, run) : NULL;
        m->table->twice[i] = cell && cell->at != i;
        if (!cell)
            rc = no_memory(m->err);
        else if (metric && !m->runs[i].split && !json_equal(run->relative_to, other->relative_to))
            rc = 1;
        else if (metric)
            rc = two_in_a_cell(other, run, metric, m->err);
        for (size_t k = 0; metric && rc == 1 && k < m->set->count; k++)
            m->runs[k].split |= m->runs[k].case_of == m->runs[i].case_of;
    }
    numbers_release(&cells);
    return rc;
}

/* --- keys that differ --- */

/* The last `parts` parts of a path. */
static const char *tail(const char *path, size_t parts)
{
    const char *p = path + strlen(path);
    while (p > path && (p[-1] != '/' || --parts > 0))
        p--;
    return p;
}

/* Whether a text is a path: names of generated inputs are none, though files may stand in them. */
static bool is_path(const char *text)
{
    return strchr(text, '/') && strncmp(text, "synth:", 6) != 0;
}

/* How many parts of each of these different texts it takes to tell it from the others of its last part. */
static size_t parts_needed(const char *text, const json_t *all)
{
    const char *other;
    json_t *unused;
    for (size_t parts = 1;; parts++) {
        const char *mine = tail(text, parts);
        bool alone = true;
        json_object_foreach((json_t *)all, other, unused) alone &=
            strcmp(other, text) == 0 || strcmp(tail(other, parts), mine) != 0;
        if (alone || mine == text)
            return parts;
    }
}

/* Paths of one key as short as they can be. -1: no memory. */
static int shorten(struct making *m, enum case_key_kind kind, const char *name)
{
    json_t *all = json_object();
    int bad = !all;
    for (size_t c = 0; all && c < m->cases; c++) {
        const char *text = json_string_value(json_object_get(m->keys[c][kind], name));
        if (text && (is_path(text) || kind == CASE_KEY_HEAD)) /* "x.db" beside "b/x.db" */
            bad |= json_object_set_new(all, text, json_true());
    }
    for (size_t c = 0; !bad && c < m->cases; c++) {
        const char *text = json_string_value(json_object_get(m->keys[c][kind], name));
        if (text && is_path(text))
            bad |= json_object_set_new(m->keys[c][kind], name, json_string(tail(text, parts_needed(text, all))));
    }
    json_decref(all);
    return bad ? no_memory(m->err) : 0;
}

static int add_candidate(struct making *m, enum case_key_kind kind, const char *name)
{
    if (mem_grow((void **)&m->candidates, &m->cap, m->count + 1, sizeof *m->candidates, m->err))
        return -1;
    if (kind < CASE_KEY_SETTING && shorten(m, kind, name))
        return -1;
    struct candidate *k = &m->candidates[m->count];
    *k = (struct candidate){.kind = kind, .name = name, .value = mem_zalloc(m->cases, sizeof *k->value, m->err)};
    struct numbers values = {0};
    int bad = !k->value;
    for (size_t c = 0; c < m->cases && !bad; c++) {
        const char *text = json_string_value(json_object_get(m->keys[c][kind], name));
        struct number *n = number_of(&values, text ? text : "\001none", c);
        bad = !n;
        k->value[c] = n ? n->number : 0;
    }
    k->values = values.count;
    numbers_release(&values);
    m->count++;
    return bad ? no_memory(m->err) : 0;
}

static int find_candidates(struct making *m)
{
    for (int kind = 0; kind < CASE_KEY_KINDS; kind++) {
        json_t *seen = json_object();
        int bad = !seen;
        for (size_t c = 0; c < m->cases && !bad; c++) {
            const char *name;
            json_t *value;
            json_object_foreach(m->keys[c][kind], name, value) if (!bad && !json_object_get(seen, name)) bad =
                json_object_set_new(seen, name, json_true()) || add_candidate(m, (enum case_key_kind)kind, name);
        }
        json_decref(seen);
        if (bad)
            return no_memory(m->err);
    }
    return 0;
}

/* --- which of them are kept --- */

/* Divide classes of cases by a key; returns how many there are then, 0: no memory. */
static size_t refine(size_t *class, const size_t *value, size_t cases)
{
    struct numbers pairs = {0};
    for (size_t c = 0; c < cases; c++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%zu %zu", class[c], value[c]);
        struct number *n = number_of(&pairs, text, c);
        if (!n) {
            numbers_release(&pairs);
            return 0;
        }
        class[c] = n->number;
    }
    size_t count = pairs.count;
    numbers_release(&pairs);
    return count;
}

/* Classes of cases by the kept keys but `without`, and by `also` (NULL: none). Returns how many, 0: no memory. */
static size_t classify(const struct making *m, const struct candidate *without, const struct candidate *also,
                       size_t *class)
{
    size_t count = 1;
    memset(class, 0, m->cases * sizeof *class);
    for (size_t k = 0; k < m->count && count; k++)
        if (m->candidates[k].kept && &m->candidates[k] != without)
            count = refine(class, m->candidates[k].value, m->cases);
    return count && also ? refine(class, also->value, m->cases) : count;
}

static const struct candidate *candidate_apart(const struct making *m)
{
    for (size_t k = 0; m->apart && k < m->count; k++)
        if (strcmp(m->candidates[k].name, m->apart) == 0)
            return &m->candidates[k];
    return NULL;
}

/* Keep every key that differs; keys of the last kind only where they divide cases that the others do not. */
static int keep_differing(struct making *m, const struct candidate *apart, size_t *class)
{
    for (size_t k = 0; k < m->count; k++)
        m->candidates[k].kept =
            m->candidates[k].kind != CASE_KEY_LAST && &m->candidates[k] != apart &&
            (m->candidates[k].values > 1 || (m->candidates[k].kind == CASE_KEY_HEAD && m->set->runs[0].part_by &&
                                             strcmp(m->candidates[k].name, m->set->runs[0].part_by) == 0));
    size_t count = classify(m, NULL, apart, class);
    for (size_t k = 0; k < m->count && count && count < m->cases; k++) {
        struct candidate *last = &m->candidates[k];
        if (last->kind != CASE_KEY_LAST || last == apart || last->values < 2)
            continue;
        size_t finer = refine(class, last->value, m->cases);
        last->kept = finer > count;
        count = finer;
    }
    return count == m->cases ? 0
                             : err_set(m->err, "%zu cases differ in nothing that a row could name", m->cases - count);
}

/* Keep the fewest keys of input and settings that divide the cases as all do, earlier ones first. */
static int drop_needless(struct making *m, size_t *class)
{
    size_t all = classify(m, NULL, NULL, class);
    for (size_t k = m->count; k-- > 0 && all;) {
        struct candidate *key = &m->candidates[k];
        if (!key->kept || key->kind == CASE_KEY_HEAD || key->kind == CASE_KEY_VERSION)
            continue;
        key->kept = classify(m, key, NULL, class) < all;
    }
    return all && classify(m, NULL, NULL, class) ? 0 : no_memory(m->err);
}

/* --- the table --- */

static int unknown_key(const struct making *m)
{
    char known[300] = "policy", hint[96];
    struct suggest suggest = {.word = m->apart};
    for (size_t k = 0; k < m->count; k++) {
        if (m->candidates[k].kind == CASE_KEY_LAST)
            continue;
        suggest_offer(&suggest, m->candidates[k].name);
        if (m->candidates[k].values > 1)
            (void)mem_add_text(known, sizeof known, ", %s", m->candidates[k].name);
    }
    return err_set(m->err, "no run has a key '%.60s' to pivot by; the runs differ in %s%s", m->apart, known,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static bool any_has_param(const struct run_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (json_object_get(set->runs[i].params, name))
            return true;
    return false;
}

static int set_apart(struct making *m, const struct candidate *apart)
{
    struct case_table *t = m->table;
    t->apart = mem_zalloc(m->set->count, sizeof *t->apart, m->err);
    int bad = !t->apart;
    for (size_t i = 0; i < m->set->count && !bad; i++) {
        const json_t *param = m->apart_is_param ? json_object_get(m->set->runs[i].params, m->apart) : NULL;
        const json_t *key = apart ? json_object_get(m->keys[m->runs[i].case_of][apart->kind], apart->name) : NULL;
        t->apart[i] = param ? case_keys_text(param) : mem_strdup(key ? json_string_value(key) : "-", NULL);
        bad = !t->apart[i];
    }
    return bad ? no_memory(m->err) : 0;
}

static int fill_keys(struct making *m, const size_t *class)
{
    struct case_table *t = m->table;
    for (size_t k = 0; k < m->count; k++)
        t->key_count += m->candidates[k].kept;
    t->keys = mem_zalloc(t->key_count, sizeof *t->keys, m->err);
    t->texts = mem_zalloc(t->rows * t->key_count, sizeof *t->texts, m->err);
    if (!t->keys || !t->texts)
        return -1;
    for (size_t k = 0, n = 0; k < m->count; k++) {
        const struct candidate *key = &m->candidates[k];
        if (!key->kept)
            continue;
        t->keys[n] = mem_strdup(key->name, NULL);
        for (size_t c = 0; c < m->cases; c++) {
            char **text = &t->texts[class[c] * t -> key_count + n];
            const char *value = json_string_value(json_object_get(m->keys[c][key->kind], key->name));
            if (!*text && !(*text = mem_strdup(value ? value : "", NULL)))
                return no_memory(m->err);
        }
        if (!t->keys[n++])
            return no_memory(m->err);
    }
    return 0;
}

/* --- labels --- */

/* One key of a label: "a100", "8GiB"; a bare number needs its name. */
static int append_key(char **label, const struct candidate *key, const char *text, bool named)
{
    const char *blank = **label ? " " : "";
    double number;
    if (!named && strcmp(key->name, "oversubscription_pct") == 0)
        return strcmp(text, "0") == 0 ? mem_append(label, "%sfits", blank) : mem_append(label, "%s%s %%", blank, text);
    bool synth = key->kind == CASE_KEY_HEAD && strncmp(text, "synth:", 6) == 0;
    bool plain = key->kind <= CASE_KEY_INPUT && *text && units_parse_real(text, &number, NULL) != 0;
    return plain && !named ? mem_append(label, "%s%s", blank, synth ? text + 6 : text)
                           : mem_append(label, "%s%s=%s", blank, key->name, text);
}

/* Whether a key is always named: the program and its graph. */
static bool is_named(const struct candidate *key)
{
    return (key->kind == CASE_KEY_HEAD && strcmp(key->name, "engine") != 0 && strcmp(key->name, "platform") != 0) ||
           (key->kind == CASE_KEY_INPUT && strcmp(key->name, "graph") == 0);
}

static char *row_label(const struct making *m, size_t c, const struct candidate *apart, bool named)
{
    char *label = mem_strdup("", NULL);
    bool bad = false, any = false;
    for (size_t k = 0; k < m->count && label && !bad; k++) {
        const struct candidate *key = &m->candidates[k];
        const char *text = json_string_value(json_object_get(m->keys[c][key->kind], key->name));
        if ((!key->kept && !is_named(key)) || key == apart || (!text && !named))
            continue;
        bad = append_key(&label, key, text ? text : "-", named && !is_named(key)) != 0;
        any = true;
    }
    const struct run *run = &m->set->runs[m->first[c]];
    if (label && !any)
        bad = mem_append(&label, "%s", *run->input ? run->input : "all inputs") != 0;
    return bad ? NULL : label;
}

/* Whether texts are all different: 1 or 0, -1 without memory. */
static int all_differ(char *const *texts, size_t n)
{
    struct numbers seen = {0};
    bool bad = false;
    for (size_t i = 0; i < n && !bad; i++)
        bad = !number_of(&seen, texts[i], i);
    int differ = seen.count == n;
    numbers_release(&seen);
    return bad ? -1 : differ;
}

/* Number texts that are not all different. */
static int make_differ(char **texts, size_t n, struct err *err)
{
    int differ = all_differ(texts, n);
    if (differ < 0)
        return no_memory(err);
    for (size_t i = 0; i < n && !differ; i++)
        if (mem_append(&texts[i], "%s(%zu)", *texts[i] ? " " : "", i + 1))
            return no_memory(err);
    return 0;
}

static int label_rows(struct making *m, const size_t *class, const struct candidate *apart)
{
    struct case_table *t = m->table;
    t->row_labels = mem_zalloc(t->rows, sizeof *t->row_labels, m->err);
    for (int named = 0; t->row_labels && named < 2; named++) {
        for (size_t c = m->cases; c-- > 0;) { /* the first case of a row names it */
            free(t->row_labels[class[c]]);
            if (!(t->row_labels[class[c]] = row_label(m, c, apart, named)))
                return no_memory(m->err);
        }
        int differ = all_differ(t->row_labels, t->rows);
        if (differ)
            return differ < 0 ? no_memory(m->err) : 0;
    }
    return t->row_labels ? make_differ(t->row_labels, t->rows, m->err) : -1;
}

/* The names that two objects do not share with one value, set in `differ`. */
static void add_differing(const json_t *known, const json_t *params, json_t **differ)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)params, name, value) if (!json_equal(value, json_object_get(known, name)))
        json_tree_put(differ, name, json_true());
    json_object_foreach((json_t *)(uintptr_t)known, name, value) if (!json_object_get(params, name))
        json_tree_put(differ, name, json_true());
}

/* Parameters in which the runs of a policy differ, as {"engine policy": {name: true}}. NULL: no memory. */
static json_t *differing_params(const struct run_set *set, const char *apart)
{
    json_t *first = json_object(), *differing = json_object();
    for (size_t i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        char *policy = mem_format("%s %s", run->engine, run->policy);
        json_t *known = json_object_get(first, policy);
        if (known && known == run->params) {
            free(policy);
            continue;
        }
        json_t *differ = known ? json_incref(json_object_get(differing, policy)) : json_object();
        if (!known)
            json_tree_put(&first, policy, json_incref(run->params));
        else
            add_differing(known, run->params, &differ);
        if (apart)
            (void)json_object_del(differ, apart);
        json_tree_put(&differing, policy, differ);
        free(policy);
    }
    if (!first)
        json_tree_put(&differing, "", NULL);
    json_decref(first);
    return differing;
}

/* What was chosen as the best has that name whatever it is. */
static char *series_label(const struct run *run, const json_t *differing, const char *apart, bool engine)
{
    char *policy = mem_format("%s %s", run->engine, run->policy);
    char *label = !policy              ? NULL
                  : is_best_fixed(run) ? mem_strdup(run->policy, NULL)
                                       : run_label(run, apart, json_object_get(differing, policy));
    char *whole = label ? mem_format("%s%s%s", engine ? run->engine : "", engine ? " " : "", label) : NULL;
    free(label);
    free(policy);
    return whole;
}

static int label_series(struct making *m, const size_t *first)
{
    struct case_table *t = m->table;
    t->series_labels = mem_zalloc(t->series, sizeof *t->series_labels, m->err);
    json_t *differing = differing_params(m->set, m->apart_is_param ? m->apart : NULL);
    int bad = !t->series_labels || !differing;
    for (int engine = 0; engine < 2 && !bad; engine++) {
        for (size_t s = 0; s < t->series && !bad; s++) {
            free(t->series_labels[s]);
            bad = !(t->series_labels[s] =
                        series_label(&m->set->runs[first[s]], differing, m->apart_is_param ? m->apart : NULL, engine));
        }
        int differ = bad ? 0 : all_differ(t->series_labels, t->series);
        bad |= differ < 0;
        if (differ)
            break;
    }
    json_decref(differing);
    return bad ? no_memory(m->err) : make_differ(t->series_labels, t->series, m->err);
}

static int fill_series(struct making *m)
{
    struct case_table *t = m->table;
    struct numbers series = {0};
    size_t *first = mem_zalloc(m->set->count, sizeof *first, m->err);
    int bad = !first;
    for (size_t i = 0; i < m->set->count && !bad; i++) {
        char *text = policy_text(&m->set->runs[i], m->apart_is_param ? m->apart : NULL);
        struct number *n = text ? number_of(&series, text, i) : NULL;
        bad = !n;
        if (n) {
            t->series_of[i] = n->number;
            first[n->number] = n->at;
        }
        free(text);
    }
    t->series = series.count;
    numbers_release(&series);
    int rc = bad ? no_memory(m->err) : label_series(m, first);
    free(first);
    return rc;
}

static int fill(struct making *m, size_t *class)
{
    struct case_table *t = m->table;
    const struct candidate *apart = candidate_apart(m);
    m->apart_is_param = m->apart && !apart;
    if (m->apart_is_param && !any_has_param(m->set, m->apart))
        return unknown_key(m);
    if (keep_differing(m, apart, class) || drop_needless(m, class))
        return -1;
    for (size_t i = 0; i < m->set->count; i++) {
        t->row_of[i] = class[m->runs[i].case_of];
        t->rows = t->row_of[i] + 1 > t->rows ? t->row_of[i] + 1 : t->rows;
    }
    if (fill_keys(m, class) || label_rows(m, class, apart) || fill_series(m))
        return -1;
    return m->apart ? set_apart(m, apart) : 0;
}

static int make(struct making *m)
{
    int again = 1;
    while (again > 0)
        again = number_cases(m) ? -1 : find_twice(m);
    size_t have = 0;
    m->keys = again ? NULL : mem_zalloc(m->cases, sizeof *m->keys, m->err);
    size_t *class = m->keys ? mem_zalloc(m->cases, sizeof *class, m->err) : NULL;
    int rc = class ? 0 : -1;
    for (; have < m->cases && !rc; have += rc == 0)
        rc = case_keys_of(&m->set->runs[m->first[have]], m->keys[have], m->err);
    if (!rc)
        rc = find_candidates(m) || fill(m, class) ? -1 : 0;
    for (size_t k = 0; k < m->count; k++)
        free(m->candidates[k].value);
    for (size_t c = 0; c < have; c++)
        for (int k = 0; k < CASE_KEY_KINDS; k++)
            json_decref(m->keys[c][k]);
    free(m->candidates);
    free(m->keys);
    free(class);
    return rc;
}

int case_table_make(struct case_table *t, const struct run_set *set, const char *apart, struct err *err)
{
    *t = (struct case_table){.set = set};
    if (!set->count)
        return 0;
    struct making m = {.table = t, .set = set, .apart = apart, .err = err};
    t->row_of = mem_zalloc(set->count, sizeof *t->row_of, err);
    t->series_of = mem_zalloc(set->count, sizeof *t->series_of, err);
    t->twice = mem_zalloc(set->count, sizeof *t->twice, err);
    m.runs = mem_zalloc(set->count, sizeof *m.runs, err);
    m.first = mem_zalloc(set->count, sizeof *m.first, err);
    int rc = t->row_of && t->series_of && t->twice && m.runs && m.first ? make(&m) : -1;
    free(m.runs);
    free(m.first);
    if (rc)
        case_table_release(t);
    return rc;
}

void case_table_release(struct case_table *t)
{
    mem_free_texts(t->keys, t->key_count);
    mem_free_texts(t->texts, t->rows * t->key_count);
    mem_free_texts(t->row_labels, t->rows);
    mem_free_texts(t->series_labels, t->series);
    mem_free_texts(t->apart, t->set ? t->set->count : 0);
    free(t->row_of);
    free(t->series_of);
    free(t->twice);
    *t = (struct case_table){0};
}
