
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/compare/compare_rows.h"
#include "replay/results/results.h"
#include "replay/run/platform_use.h"
#include "replay/run/robust.h"
#include "replay/run/save.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/units.h"
#include "trace/base/version.h"
#include "trace/store/output.h"

const struct engine engine_compare = {.name = "compare",
                                      .summary = "one program on one machine under every mechanism",
                                      .metrics = compare_metrics,
                                      .headline = "time_ns,h2d_bytes,d2h_bytes,gpu_bytes,read_amplification_ratio",
                                      .ranks = "-time_ns,-h2d_bytes"};

/* --- the case ---
 *
 * Engine "compare", the input by content, all numbers of the platform, the settings; with draws also their number and
 * seed. A row is a run of policy "managed (tree, prefetched)" with parameter "mechanism" and metric error_ratio.
 * Instructions follow its notes, each sentence after COMPARE_TO_HAVE. */

#define COMPARE_TO_HAVE "to have it: "

struct compare_case {
    struct run_case run_case;
    json_t *numbers;   /* of the platform before --set, {"uvm.compute_ns":200,..} */
    json_t *overrides; /* those that --set changed, in the same form */
    json_t *settings;  /* as in run_case, and the numbers of the platform as they were given */
};

static void case_release(struct compare_case *c)
{
    run_case_release(&c->run_case);
    json_decref(c->numbers);
    json_decref(c->overrides);
    json_decref(c->settings);
    *c = (struct compare_case){0};
}

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

/* The platform numbers as given, {"compute_ns":"1us"}, and the settings. NULL with *err set. */
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

/* Init the case of results on `platform`, which includes --set. draws: drawn rows are another case. -1 with *err
 * set. */
static int case_init(struct compare_case *c, const struct compare_request *request, const struct compare_result *result,
                     bool draws, struct err *err)
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
        case_release(c);
    return rc;
}

/* --- rows to runs --- */

const char *compare_row_name(const struct compare_row *row, char buf[COMPARE_NAME])
{
    (void)snprintf(buf, COMPARE_NAME, "%s (%s)", compare_mechanisms[row->mechanism], row->policy);
    return buf;
}

/* The i-th row as `replay --format json` would print it. draws: with what came of them. NULL with *err set. */
static json_t *run_json(const struct compare_result *result, size_t i, bool draws, struct err *err)
{
    const struct compare_row *row = &result->rows[i];
    char name[COMPARE_NAME], text[1024];
    json_t *params = json_tree_copy(row->params);
    json_tree_put(&params, "mechanism", json_string(compare_mechanisms[row->mechanism]));
    json_t *run = json_pack("{s:o,s:o}", "policy", json_tree_text(compare_row_name(row, name)), "params", params);
    if (outcome_to_json(&row->outcome, &run, err))
        return NULL;
    json_t *metrics = json_object_get(run, "metrics"), *notes = json_object_get(run, "notes");
    json_tree_put(&metrics, "error_ratio", row->error_ratio > 0 ? json_real(row->error_ratio) : json_null());
    if (row->common_ns > 0)
        json_tree_put(&metrics, "common_ns", json_tree_real(row->common_ns));
    for (size_t a = 0; a < row->apply_count; a++) {
        (void)snprintf(text, sizeof text, COMPARE_TO_HAVE "%s", row->apply[a]);
        json_tree_add(&notes, json_tree_text(text));
    }
    if (draws) {
        robust_put_wins(&result->robust, i, &metrics);
        json_tree_add(&notes, json_tree_text(robust_say(&result->robust, i, text, sizeof text)));
    }
    return run;
}

json_t *compare_runs_json(const struct compare_request *request, const struct compare_result *result, struct err *err)
{
    struct compare_case c;
    json_t *runs = json_array();
    if (case_init(&c, request, result, false, err)) {
        json_decref(runs);
        return NULL;
    }
    for (size_t i = 0; i < result->count; i++)
        json_tree_add(&runs, run_json(result, i, false, err));
    json_t *root = json_pack("{s:i,s:s,s:o,s:s,s:O,s:o,s:o}", "schema", 1, "engine", engine_compare.name, "input",
                             json_tree_text(result->program), "platform", c.run_case.platform, "settings", c.settings,
                             "case", run_case_to_json(&c.run_case, err), "runs", runs);
    case_release(&c);
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
    while (m < COMPARE_MECHANISMS && (strlen(compare_mechanisms[m]) != (size_t)(open - name) ||
                                      strncmp(name, compare_mechanisms[m], (size_t)(open - name)) != 0))
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
    row->common_ns = json_number_value(json_object_get(metrics, "common_ns"));
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
            compare_plan_say(row, "%s", text + n);
        else if (text)
            outcome_note(&row->outcome, "%s", text);
    }
}

static json_t *parsed(const char *text)
{
    return json_tree_parse(text, strlen(text), NULL);
}

/* A run of a results file as the row that it was made from, added to the result, whose allocations are set. 1: added;
 * 0: it is of a mechanism that this program does not know; -1 with *err set. */
static int read_row(struct compare_result *result, const struct results_run *run, struct err *err)
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

/* Positions of unranked rows, behind all ranked ones. */
#define UNRANKED   (INT64_C(1) << 40)
#define STAGE_ROWS (INT64_C(1) << 20)

struct compare_file {
    const struct compare_request *request;
    struct compare_case kase;
    struct results *results; /* NULL: not there yet */
    char id[RUN_CASE_HASH];  /* of the comparison */
    bool begun;              /* the file says that it has not ended */
    struct mem_texts names;  /* of the rows that stood in the file, and that are not asked for again */
    int64_t base;            /* position of the first row when they are ranked */
    pthread_mutex_t lock;
};

/* --- reading the rows that are there --- */

struct reading {
    struct compare_file *keep;
    struct compare_result *result;
    bool shared, touches;
    struct err *err;
};

/* Whether a row is one of compare_managed_rows(), which finds its place again. */
static bool is_managed(const struct reading *r, const struct compare_row *row)
{
    return row->mechanism == COMPARE_MANAGED && r->touches && !r->shared;
}

static int take_row(struct reading *r, const struct results_run *run)
{
    struct compare_result *result = r->result;
    int known = read_row(result, run, r->err);
    if (known <= 0)
        return known;
    struct compare_row *row = &result->rows[result->count - 1];
    enum compare_stage stage = row->mechanism == COMPARE_COPY ? COMPARE_STAGE_COPY
                               : is_managed(r, row)           ? COMPARE_STAGE_MANAGED
                                                              : COMPARE_STAGE_ENGINES;
    row->order = (size_t)stage * STAGE_ROWS + (size_t)(run->position % STAGE_ROWS);
    const struct metric_value *time = outcome_get(&row->outcome, "time_ns");
    /* An engine's refusal, one row for several policies, is asked for again; rows of a search stand together. */
    if (row->mechanism == COMPARE_MIXED || row->mechanism == COMPARE_TIERED || time->known || time->interval ||
        row->mechanism == COMPARE_COPY || is_managed(r, row))
        return mem_keep(&r->keep->names, run->policy, r->err) ? 0 : -1;
    compare_row_release(row);
    result->count--;
    return 0;
}

static int read_run(void *ctx, const struct results_run *run)
{
    struct reading *r = ctx;
    struct run_case other;
    if (results_case(run, &other, r->err))
        return -1;
    bool ours = run_case_equal(&other, &r->keep->kase.run_case);
    run_case_release(&other);
    if (!ours && run->position < UNRANKED && run->position >= r->keep->base)
        r->keep->base = run->position + 1;
    return ours ? take_row(r, run) : 0;
}

static int open_file(struct compare_file *keep, struct err *err)
{
    const struct compare_request *asked = keep->request;
    output_hold();
    keep->results = results_open(asked->results, asked->replace ? RESULTS_FORCE : RESULTS_APPEND, err);
    if (keep->results && !asked->replace && asked->on_results_open)
        asked->on_results_open(asked->results);
    output_release();
    return keep->results ? 0 : -1;
}

/* A file that is there is looked at before anything runs. */
static int read_file(struct compare_file *keep, const struct compare_program *facts, struct compare_result *result,
                     struct err *err)
{
    struct reading reading = {keep, result, platform_has(facts->platform, "placement"), facts->touches, err};
    if (keep->request->replace || access(keep->request->results, F_OK))
        return 0;
    if (open_file(keep, err) || results_each(keep->results, read_run, &reading, err))
        return -1;
    int sweeping = results_sweeping(keep->results, keep->id, err);
    keep->begun = sweeping > 0;
    return sweeping < 0 ? -1 : 0;
}

/* What is compared, --all and draws among it, as 32 digits. */
static int make_id(struct compare_file *keep, struct err *err)
{
    const struct compare_request *asked = keep->request;
    json_t *params = json_pack("{s:b,s:I}", "all", asked->all, "draws", (json_int_t)asked->draws);
    int rc = params ? run_case_key(&keep->kase.run_case, "compare", params, NULL, keep->id, err)
                    : err_set(err, "out of memory");
    json_decref(params);
    return rc;
}

int compare_file_open(struct compare_file **keep, const struct compare_program *facts, struct compare_result *result,
                      struct err *err)
{
    *keep = NULL;
    if (!facts->request->results)
        return 0;
    struct compare_file *k = mem_zalloc(1, sizeof *k, err);
    if (!k)
        return -1;
    k->request = facts->request;
    (void)pthread_mutex_init(&k->lock, NULL);
    if (case_init(&k->kase, facts->request, result, false, err) || make_id(k, err) ||
        read_file(k, facts, result, err)) {
        compare_file_close(k);
        return -1;
    }
    *keep = k;
    return 0;
}

void compare_file_close(struct compare_file *keep)
{
    if (!keep)
        return;
    results_close(keep->results);
    case_release(&keep->kase);
    mem_texts_release(&keep->names);
    (void)pthread_mutex_destroy(&keep->lock);
    free(keep);
}

bool compare_file_has(const struct compare_file *keep, enum compare_mechanism mechanism, const char *policy)
{
    char name[COMPARE_NAME];
    const char *end = policy ? ")" : "";
    const int n = snprintf(name, sizeof name, "%s (%s%s", compare_mechanisms[mechanism], policy ? policy : "", end);
    for (size_t i = 0; keep && i < keep->names.count; i++)
        if (strncmp(keep->names.items[i], name, policy ? sizeof name : (size_t)n) == 0)
            return true;
    return false;
}

/* --- rows into the file --- */

static int write_run(struct save_point *w, const struct compare_case *kase, json_t *object, int64_t position,
                     struct err *err)
{
    const json_t *input = json_array_get(kase->run_case.inputs, 0);
    w->runs[w->count++] =
        (struct results_run){.position = position,
                             .engine = engine_compare.name,
                             .inputs = save_json(w, json_incref(kase->run_case.inputs)),
                             .numbers = save_json(w, json_incref(kase->numbers)),
                             .overrides = save_json(w, json_incref(kase->overrides)),
                             .settings = save_json(w, json_incref(kase->settings)),
                             .params = save_json(w, json_incref(json_object_get(object, "params"))),
                             .metrics = save_json(w, json_incref(json_object_get(object, "metrics"))),
                             .intervals = save_json(w, results_intervals(object)),
                             .notes = save_json(w, json_incref(json_object_get(object, "notes"))),
                             .input = save_text(w, json_string_value(json_object_get(input, "input"))),
                             .input_hash = save_text(w, json_string_value(json_object_get(input, "hash"))),
                             .platform = kase->run_case.platform,
                             .policy = save_text(w, json_string_value(json_object_get(object, "policy"))),
                             .version = kase->run_case.version};
    json_decref(object);
    return save_point_check(w, err);
}

/* Whether all of them are there: 1, 0 or -1 with *err set. */
static int there(const struct compare_file *keep, const struct save_point *w, struct err *err)
{
    int found = 1;
    for (size_t i = 0; i < w->count && found == 1; i++) {
        char key[RUN_CASE_HASH];
        found = results_key(&w->runs[i], key, err) ? -1 : results_has(keep->results, key, err);
    }
    return found;
}

/* A comparison that is in the file as a whole leaves it as it is. */
static int put_new(struct compare_file *keep, const struct save_point *w, struct err *err)
{
    int found = keep->begun ? 0 : there(keep, w, err);
    if (found)
        return found < 0 ? -1 : 0;
    if (!keep->begun && results_sweep_begin(keep->results, keep->id, (int64_t)w->count, err))
        return -1;
    keep->begun = true;
    return results_put(keep->results, w->runs, w->count, err);
}

/* Rows from `first` up to `end`, in one transaction; position: of the first, by their order where it is UNRANKED.
 * Locked as a whole: jansson reads the counts of references to the case, which all rows share, without being atomic. */
static int put_rows(struct compare_file *keep, const struct compare_case *kase, const struct compare_result *result,
                    size_t first, size_t end, int64_t position, struct err *err)
{
    if (first >= end)
        return 0;
    struct save_point w = {.runs = mem_zalloc(end - first, sizeof *w.runs, err)};
    int rc = w.runs ? 0 : -1;
    (void)pthread_mutex_lock(&keep->lock);
    for (size_t i = first; i < end && rc == 0; i++) {
        json_t *run = run_json(result, i, kase != &keep->kase, err);
        int64_t at = position + (int64_t)(position == UNRANKED ? result->rows[i].order : i - first);
        rc = run ? write_run(&w, kase, run, at, err) : -1;
    }
    if (rc == 0)
        rc = !keep->results && open_file(keep, err) ? -1 : put_new(keep, &w, err);
    save_point_release(&w);
    (void)pthread_mutex_unlock(&keep->lock);
    return rc;
}

int compare_file_row(struct compare_file *keep, const struct compare_result *result, const struct compare_row *row,
                     struct err *err)
{
    const size_t at = (size_t)(row - result->rows);
    return keep ? put_rows(keep, &keep->kase, result, at, at + 1, UNRANKED, err) : 0;
}

int compare_file_stage(struct compare_file *keep, struct compare_result *result, size_t first, enum compare_stage stage,
                       struct err *err)
{
    if (!keep)
        return 0;
    for (size_t i = first; i < result->count && stage != COMPARE_STAGE_MANAGED; i++)
        result->rows[i].order = (size_t)stage * STAGE_ROWS + i - first;
    return put_rows(keep, &keep->kase, result, first, result->count, UNRANKED, err);
}

static int put_drawn(struct compare_file *keep, const struct compare_result *result, struct err *err)
{
    struct compare_case drawn;
    if (!result->drawn)
        return 0;
    if (case_init(&drawn, keep->request, result, true, err))
        return -1;
    int rc = put_rows(keep, &drawn, result, 0, result->drawn, keep->base + (int64_t)result->count, err);
    case_release(&drawn);
    return rc;
}

int compare_file_end(struct compare_file *keep, const struct compare_result *result, struct err *err)
{
    if (!keep || !result->count)
        return 0;
    if (put_rows(keep, &keep->kase, result, 0, result->count, keep->base, err) || put_drawn(keep, result, err) ||
        (keep->begun && results_sweep_end(keep->results, keep->id, err)))
        return -1;
    if (keep->request->replace)
        return results_finish(keep->results, err);
    if (keep->begun)
        results_settle(keep->results);
    return 0;
}
