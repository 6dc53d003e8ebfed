#include "replay/results/case_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

char *case_keys_text(const json_t *value)
{
    char *text = NULL;
    if (json_is_string(value))
        return mem_strdup(json_string_value(value), NULL);
    if (json_is_integer(value) || json_is_boolean(value))
        return json_tree_dump(value, JSON_ENCODE_ANY);
    if (!json_is_real(value))
        return mem_strdup("", NULL);
    double number = json_real_value(value);
    if (asprintf(&text, "%.15g", number) < 0)
        return NULL;
    if (strtod(text, NULL) == number)
        return text;
    free(text);
    return asprintf(&text, "%.17g", number) < 0 ? NULL : text;
}

static int put(json_t *object, const char *name, const char *text)
{
    return json_object_set_new(object, name, json_string(text));
}

static int put_value(json_t *object, const char *name, const json_t *value)
{
    char *text = case_keys_text(value);
    int rc = text ? put(object, name, text) : -1;
    free(text);
    return rc;
}

static const char *field(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "mem", or "mem2" for the second input of that role; one without a role is a "workload". */
static void role_name(const json_t *inputs, size_t at, char *name, size_t size)
{
    const char *role = field(json_array_get(inputs, at), "role");
    size_t nth = 1;
    for (size_t i = 0; i < at; i++)
        nth += strcmp(field(json_array_get(inputs, i), "role"), role) == 0;
    (void)snprintf(name, size, nth > 1 ? "%.40s%zu" : "%.40s", *role ? role : "workload", nth);
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

/* What stands behind the commas of "synth:conv2d,bytes=8GiB,kernel=1". */
static int spec_keys(const struct run *run, const char *spec, json_t *keys)
{
    int bad = 0;
    for (const char *p = strchr(spec, ','); p; p = strchr(p + 1, ',')) {
        size_t n = strcspn(p + 1, "=,"), rest = p[1 + n] == '=' ? strcspn(p + n + 2, ",") : 0;
        char *name = mem_strndup(p + 1, n, NULL), *qualified = NULL;
        json_t *text = json_stringn(p[1 + n] == '=' ? p + n + 2 : "", rest);
        if (name && asprintf(&qualified, "%s%s", is_taken(run, name) ? "input." : "", name) < 0)
            qualified = NULL;
        bad |= !qualified || !text || json_object_set(keys, qualified, text);
        json_decref(text);
        free(name);
        free(qualified);
    }
    return bad;
}

static int input_keys(const struct run *run, json_t *keys[CASE_KEY_KINDS])
{
    const json_t *inputs = run->run_case.inputs;
    const char *spec = field(json_array_get(inputs, 0), "input");
    if (run->part && !*run->input) /* of several inputs */
        return 0;
    if (json_array_size(inputs) == 1 && !*field(json_array_get(inputs, 0), "role")) {
        if (strncmp(spec, "synth:", 6) != 0)
            return put(keys[CASE_KEY_HEAD], "workload", spec);
        return json_object_set_new(keys[CASE_KEY_HEAD], "workload", json_stringn(spec + 6, strcspn(spec + 6, ","))) ||
               spec_keys(run, spec, keys[CASE_KEY_INPUT]);
    }
    int bad = 0;
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        char name[64];
        role_name(inputs, i, name, sizeof name);
        bad |= put(keys[CASE_KEY_HEAD], name, field(json_array_get(inputs, i), "input"));
    }
    return bad;
}

char *case_keys_policy(const char *policy, const json_t *params, const char *apart)
{
    json_t *rest = params ? json_tree_copy(params) : json_object();
    if (apart)
        (void)json_object_del(rest, apart);
    char *key = rest ? json_tree_dump(rest, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL,
         *text = NULL;
    if (key && asprintf(&text, "%s:%s", policy, key) < 0)
        text = NULL;
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
        char *longer = NULL, *of = case_keys_text(value);
        if (!text || !of || asprintf(&longer, "%s%s%s=%s", text, separator, name, of) < 0)
            longer = NULL;
        free(of);
        free(text);
        text = longer;
        separator = ",";
    }
    return text;
}

static int last_keys(const struct run *run, json_t *last)
{
    const json_t *inputs = run->run_case.inputs;
    const char *name;
    json_t *value;
    char *content = NULL, *baseline;
    int bad = put(last, "input", run->input);
    for (size_t i = 0; i < json_array_size(inputs) && !bad; i++) {
        char *longer = NULL;
        bad = asprintf(&longer, "%s%s%.8s", content ? content : "", content ? "+" : "",
                       field(json_array_get(inputs, i), "hash")) < 0;
        free(content);
        content = bad ? NULL : longer;
    }
    bad |= put(last, "content", content ? content : "");
    free(content);
    json_object_foreach(run->run_case.numbers, name, value) bad |= put_value(last, name, value);
    baseline = case_keys_baseline(run);
    bad |= !baseline || put(last, "baseline", baseline);
    free(baseline);
    return bad | put(last, "case", run->run_case.hash);
}

static int fill(const struct run *run, json_t *keys[CASE_KEY_KINDS])
{
    const char *name;
    json_t *value;
    int bad = put(keys[CASE_KEY_HEAD], "engine", run->engine) || input_keys(run, keys) ||
              put(keys[CASE_KEY_HEAD], "platform", run->platform) ||
              (run->part && put(keys[CASE_KEY_HEAD], run->part_by, run->part)) ||
              put(keys[CASE_KEY_VERSION], "version", run->run_case.version);
    json_object_foreach(run->settings, name, value) bad |= put_value(keys[CASE_KEY_SETTING], name, value);
    return bad | last_keys(run, keys[CASE_KEY_LAST]);
}

int case_keys_of(const struct run *run, json_t *keys[CASE_KEY_KINDS], struct err *err)
{
    int bad = 0;
    for (int k = 0; k < CASE_KEY_KINDS; k++)
        bad |= !(keys[k] = json_object());
    if (!bad && !fill(run, keys))
        return 0;
    for (int k = 0; k < CASE_KEY_KINDS; k++)
        json_decref(keys[k]);
    return err_set(err, "out of memory while naming the cases");
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
