#include "replay/compare/compare_case.h"

#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare_rows.h"
#include "replay/run/platform_use.h"
#include "replay/run/replay_robust.h"
#include "trace/base/json_tree.h"
#include "trace/base/param.h"
#include "trace/base/units.h"
#include "trace/base/version.h"

const struct engine engine_compare = {.name = "compare",
                                      .summary = "one program on one machine under every mechanism",
                                      .metrics = compare_metrics,
                                      .headline = "time_ns,h2d_bytes,d2h_bytes,gpu_bytes,read_amplification_ratio",
                                      .ranks = "-time_ns,-h2d_bytes"};

/* --- the case --- */

/* Numbers that --set changed. NULL: no memory. */
static json_t *changed(const json_t *from, const json_t *to)
{
    json_t *overrides = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)to, name, value)
    {
        if (!json_equal(json_object_get(from, name), value))
            json_tree_put(&overrides, name, json_incref(value));
    }
    return overrides;
}

/* Numbers of the platform as they were given, {"compute_ns":"1us"}, besides the settings. NULL with *err set. */
static json_t *given(const struct compare_request *request, const json_t *settings, struct err *err)
{
    json_t *all = json_tree_copy(settings);
    for (size_t i = 0; i < request->set_count; i++) {
        struct param_list list;
        double number;
        if (param_list_init(&list, request->sets[i], err)) {
            json_decref(all);
            return NULL;
        }
        for (size_t p = 0; p < list.count; p++)
            if (!compare_setting(list.pairs[p].key))
                json_tree_put(&all, list.pairs[p].key,
                              units_parse_real(list.pairs[p].value, &number, NULL) ? json_tree_text(list.pairs[p].value)
                                                                                   : json_real(number));
        param_list_release(&list);
    }
    return json_tree_check(all, err) ? NULL : all;
}

int compare_case_init(struct compare_case *c, const struct compare_request *request,
                      const struct compare_result *result, bool draws, struct err *err)
{
    *c = (struct compare_case){0};
    struct platform *base = platform_load(request->platform ? request->platform : result->choice.name, err);
    if (!base)
        return -1;
    json_t *numbers = platform_json_numbers(result->platform), *settings = json_tree_copy(result->settings);
    c->numbers = platform_json_numbers(base);
    c->overrides = changed(c->numbers, numbers);
    c->settings = given(request, result->settings, err);
    platform_free(base);
    if (draws) { /* another case */
        json_tree_put(&settings, "robust", json_integer((json_int_t)request->draws));
        json_tree_put(&c->settings, "robust", json_integer((json_int_t)request->draws));
    }
    json_t *platform = json_tree_text(result->platform->name);
    const struct run_case_facts facts = {.engine = engine_compare.name,
                                         .platform = json_string_value(platform),
                                         .version = offchip_version,
                                         .inputs = result->inputs,
                                         .numbers = numbers,
                                         .settings = settings};
    int rc = numbers && settings && platform && c->numbers && c->overrides && c->settings
                 ? run_case_init(&c->run_case, &facts, err)
                 : err_set(err, "out of memory");
    json_decref(platform);
    json_decref(numbers);
    json_decref(settings);
    if (rc)
        compare_case_release(c);
    return rc;
}

void compare_case_release(struct compare_case *c)
{
    run_case_release(&c->run_case);
    json_decref(c->numbers);
    json_decref(c->overrides);
    json_decref(c->settings);
    *c = (struct compare_case){0};
}

/* --- rows to runs --- */

const char *compare_row_name(const struct compare_row *row, char buf[COMPARE_NAME])
{
    (void)snprintf(buf, COMPARE_NAME, "%s (%s)", compare_mechanism_name(row->mechanism), row->policy);
    return buf;
}

static void put_wins(const struct robust *robust, size_t i, json_t *run)
{
    json_t *metrics = json_object_get(run, "metrics"), *notes = json_object_get(run, "notes");
    char text[1024];
    json_tree_put(&metrics, "robust_draws", json_integer((json_int_t)robust->draws));
    json_tree_put(&metrics, "robust_wins", json_integer((json_int_t)robust->wins[i]));
    json_tree_put(&metrics, "robust_ties", json_integer((json_int_t)robust->ties[i]));
    json_tree_add(&notes, json_tree_text(robust_say(robust, i, text, sizeof text)));
}

json_t *compare_run_json(const struct compare_result *result, size_t i, bool draws, struct err *err)
{
    const struct compare_row *row = &result->rows[i];
    char name[COMPARE_NAME];
    json_t *params = json_tree_copy(row->params);
    json_tree_put(&params, "mechanism", json_string(compare_mechanism_name(row->mechanism)));
    json_t *run = json_pack("{s:o,s:o}", "policy", json_tree_text(compare_row_name(row, name)), "params", params);
    if (!run || outcome_to_json(&row->outcome, run, err)) {
        json_decref(run);
        err_set(err, "out of memory");
        return NULL;
    }
    json_t *metrics = json_object_get(run, "metrics"), *notes = json_object_get(run, "notes");
    json_tree_put(&metrics, "error_ratio", row->error_ratio > 0 ? json_real(row->error_ratio) : json_null());
    for (size_t a = 0; a < row->apply_count; a++) {
        char text[600];
        (void)snprintf(text, sizeof text, COMPARE_TO_HAVE "%s", row->apply[a]);
        json_tree_add(&notes, json_tree_text(text));
    }
    if (draws)
        put_wins(&result->robust, i, run);
    return run;
}

json_t *compare_runs_json(const struct compare_request *request, const struct compare_result *result, struct err *err)
{
    struct compare_case c;
    json_t *runs = json_array();
    if (compare_case_init(&c, request, result, false, err)) {
        json_decref(runs);
        return NULL;
    }
    for (size_t i = 0; i < result->count; i++)
        json_tree_add(&runs, compare_run_json(result, i, false, err));
    json_t *root = json_pack("{s:i,s:s,s:o,s:s,s:O,s:o,s:o}", "schema", 1, "engine", engine_compare.name, "input",
                             json_tree_text(result->program), "platform", c.run_case.platform, "settings", c.settings,
                             "case", run_case_to_json(&c.run_case, err), "runs", runs);
    compare_case_release(&c);
    if (json_tree_check(root, err))
        return NULL;
    return root;
}

/* --- and back --- */

/* "managed (tree, prefetched)": false if no mechanism is called so. */
static bool split(const char *name, enum compare_mechanism *mechanism, char *policy, size_t size)
{
    const char *open = strstr(name, " ("), *end = name + strlen(name);
    if (!open || end[-1] != ')')
        return false;
    int m = 0;
    while (m < COMPARE_MECHANISMS &&
           (strlen(compare_mechanism_name((enum compare_mechanism)m)) != (size_t)(open - name) ||
            strncmp(name, compare_mechanism_name((enum compare_mechanism)m), (size_t)(open - name)) != 0))
        m++;
    *mechanism = (enum compare_mechanism)m;
    (void)snprintf(policy, size, "%.*s", (int)(end - open - 3), open + 2);
    return m < COMPARE_MECHANISMS;
}

/* "[A:read-mostly,B:read-mostly]" as bits of the result's allocations. */
static uint64_t advised(const struct compare_result *result, const char *advice)
{
    uint64_t bits = 0;
    for (size_t i = 0; advice && i < result->alloc_count && i < 64; i++) {
        char begin[2][40];
        (void)snprintf(begin[0], sizeof begin[0], "[%s:", result->allocs[i].name);
        (void)snprintf(begin[1], sizeof begin[1], ",%s:", result->allocs[i].name);
        if (strstr(advice, begin[0]) || strstr(advice, begin[1]))
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

static void read_values(struct compare_row *row, const json_t *metrics, const json_t *intervals)
{
    for (const struct metric *m = compare_metrics; m->name; m++) {
        const json_t *v = json_object_get(metrics, m->name), *ends = json_object_get(intervals, m->name);
        if (json_is_number(v))
            outcome_real(&row->outcome, m->name, json_number_value(v));
        if (json_array_size(ends) == 2)
            outcome_interval(&row->outcome, m->name, json_number_value(json_array_get(ends, 0)),
                             json_number_value(json_array_get(ends, 1)));
        if (json_is_null(ends))
            outcome_unbound(&row->outcome, m->name);
    }
    row->error_ratio = json_number_value(json_object_get(metrics, "error_ratio"));
}

static void read_notes(struct compare_row *row, const json_t *notes)
{
    const size_t n = sizeof COMPARE_TO_HAVE - 1;
    size_t i;
    json_t *item;
    json_array_foreach(notes, i, item)
    {
        const char *text = json_string_value(item);
        if (text && strncmp(text, COMPARE_TO_HAVE, n) == 0)
            compare_apply(row, "%s", text + n);
        else if (text)
            outcome_note(&row->outcome, "%s", text);
    }
}

static json_t *parsed(const char *text)
{
    return json_tree_parse(text, strlen(text), NULL);
}

int compare_row_read(struct compare_result *result, const struct results_run *run, struct err *err)
{
    enum compare_mechanism mechanism;
    char policy[160];
    if (!split(run->policy, &mechanism, policy, sizeof policy))
        return 0;
    json_t *params = parsed(run->params), *metrics = parsed(run->metrics);
    json_t *intervals = parsed(run->intervals), *notes = parsed(run->notes);
    struct compare_row *row =
        params && metrics && intervals && notes ? compare_add(result, mechanism, policy, err) : NULL;
    if (row) {
        read_values(row, metrics, intervals);
        read_notes(row, notes);
        row->advised = advised(result, json_string_value(json_object_get(params, "advise")));
        row->prefetched = json_object_get(params, "prefetch") != NULL;
        row->stock = mechanism == COMPARE_MANAGED && (strcmp(policy, "tree") == 0 || strncmp(policy, "tree, ", 6) == 0);
        (void)json_object_del(params, "mechanism");
        json_decref(row->params);
        row->params = json_incref(params);
    }
    json_decref(params);
    json_decref(metrics);
    json_decref(intervals);
    json_decref(notes);
    return row ? 1 : err_set(err, "out of memory while reading rows");
}
