#include "replay/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/gpu.h"
#include "replay/compare/compare_rows.h"
#include "replay/run/measured.h"
#include "replay/run/robust.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/sorted.h"

const struct metric compare_metrics[] = {
    {"time_ns", METRIC_REAL, METRIC_SUM, "from the first transfer to the end of the last kernel"},
    {"h2d_bytes", METRIC_REAL, METRIC_SUM, "bytes over the link to the GPU"},
    {"d2h_bytes", METRIC_REAL, METRIC_SUM, "bytes over the link to the host until then"},
    {"gpu_bytes", METRIC_REAL, METRIC_MAX, "GPU memory that the program's data takes"},
    {"read_amplification_ratio", METRIC_REAL, METRIC_MEAN,
     "bytes read from the host / bytes of the arrays that are read, whole"},
    {"back_ns", METRIC_REAL, METRIC_SUM, "bringing the results to the CPU afterwards"},
    {0}};

static const struct param compare_settings[] = {
    UVM_MANAGED_ROW(compare_set, oversubscription_pct, PARAM_INT, "%", 0, 100000, 0,
                    "footprint / available GPU memory x 100; 0: the platform's memory"),
    UVM_MANAGED_ROW(compare_set, gpu_memory_bytes, PARAM_BYTES, "bytes", 0, 0x1p45, 0,
                    "GPU memory for the program's data; 0: by oversubscription_pct"),
    PARAM_REAL_ROW(compare_set, sm_share_pct, "%", 0.1, 100, 100, "of the multiprocessors run the program"),
    {0}};

const struct param *compare_setting(const char *key)
{
    return param_find(compare_settings, key);
}

const char *const compare_mechanisms[COMPARE_MECHANISMS] = {
    [COMPARE_COPY] = "copy",          [COMPARE_MANAGED] = "managed", [COMPARE_ZEROCOPY] = "zerocopy",
    [COMPARE_BLOCKS] = "copy-blocks", [COMPARE_TIERED] = "tiered",   [COMPARE_DEVICE] = "device",
    [COMPARE_PINNED] = "pinned",      [COMPARE_MIXED] = "mixed",
};

/* What docs/accuracy.md calls them; of the rest nobody has measured any. */
static const char *const measured_as[COMPARE_MECHANISMS] = {[COMPARE_COPY] = "copied",
                                                            [COMPARE_MANAGED] = "managed",
                                                            [COMPARE_ZEROCOPY] = "zero-copy",
                                                            [COMPARE_TIERED] = "zero-copy"};

/* --- rows --- */

struct compare_row *compare_add(struct compare_result *result, enum compare_mechanism mechanism, const char *policy,
                                struct err *err)
{
    if (mem_grow((void **)&result->rows, &result->cap, result->count + 1, sizeof *result->rows, err))
        return NULL;
    struct compare_row *row = &result->rows[result->count];
    *row = (struct compare_row){
        .mechanism = mechanism,
        .error_ratio = measured_error(measured_as[mechanism], result->platform ? result->platform->name : NULL)};
    (void)snprintf(row->policy, sizeof row->policy, "%s", policy);
    if (outcome_init(&row->outcome, compare_metrics, err))
        return NULL;
    row->params = json_object();
    if (!row->params) {
        outcome_release(&row->outcome);
        err_set(err, "out of memory");
        return NULL;
    }
    outcome_note_all(&row->outcome, result->limits);
    if (*result->size_note)
        outcome_note(&row->outcome, "%s", result->size_note);
    result->count++;
    return row;
}

int compare_refuse(struct compare_result *result, enum compare_mechanism mechanism, const char *policy,
                   const struct err *why, struct err *err)
{
    if (err_pass_memory(why, err))
        return -1;
    struct compare_row *row = compare_add(result, mechanism, policy, err);
    if (!row)
        return -1;
    outcome_note(&row->outcome, "%s", why->msg);
    return 0;
}

void compare_row_release(struct compare_row *row)
{
    mem_free_texts(row->apply, row->apply_count);
    for (size_t i = 0; i < row->call_count; i++)
        free((char *)row->calls[i].kernel);
    free(row->calls);
    json_decref(row->params);
    outcome_release(&row->outcome);
}

int compare_keep_best(struct compare_result *result, struct compare_result *tried, struct err *err)
{
    struct compare_row *best = NULL;
    for (size_t i = 0; i < tried->count; i++)
        if (!best || (!isnan(compare_time(&tried->rows[i])) &&
                      !(compare_time(&tried->rows[i]) >= compare_time(best)))) /* the first of equal ones */
            best = &tried->rows[i];
    int rc = best ? MEM_ADD(result->rows, result->count, result->cap, err, *best) : 0;
    if (best && rc == 0) {
        outcome_note_all(&result->rows[result->count - 1].outcome, result->limits);
        *best = tried->rows[--tried->count];
    }
    compare_release(tried);
    return rc;
}

void compare_release(struct compare_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        compare_row_release(&result->rows[i]);
    free(result->rows);
    free(result->allocs);
    json_decref(result->limits);
    json_decref(result->inputs);
    json_decref(result->settings);
    robust_release(&result->robust);
    platform_free(result->platform);
}

/* --- ranks --- */

double compare_time(const struct compare_row *row)
{
    const struct metric_value *v = &row->outcome.values[0];
    return v->known ? v->real : v->interval ? (v->lo + v->hi) / 2 : NAN;
}

double compare_time_low(const struct compare_row *row)
{
    const struct metric_value *v = &row->outcome.values[0];
    return v->interval ? v->lo : v->real;
}

double compare_time_high(const struct compare_row *row)
{
    const struct metric_value *v = &row->outcome.values[0];
    return v->interval ? v->hi : v->real;
}

struct robust_value compare_value(const struct compare_row *row)
{
    struct robust_value value = robust_metric(&row->outcome.values[0]);
    value.common = row->common_ns;
    return value;
}

const struct compare_row *compare_second(const struct compare_result *result)
{
    for (size_t i = 1; i < result->count && result->rows[i].answered; i++)
        if (result->rows[i].mechanism != result->rows[0].mechanism)
            return &result->rows[i];
    return NULL;
}

bool compare_tied(const struct compare_row *a, const struct compare_row *b)
{
    const double error = fmax(a->error_ratio, b->error_ratio);
    const struct robust_value x = compare_value(a), y = compare_value(b);
    return a->answered && b->answered && !robust_beats(&x, &y, error, false) && !robust_beats(&y, &x, error, false);
}

/* 0: an answer; 1: a time that is an estimate; 2: at least so much; 3: none. */
static int class_of(const struct compare_row *row)
{
    const struct metric_value *v = &row->outcome.values[0];
    return !isnan(compare_time(row)) ? v->unbound : v->lower_bound ? 2 : 3;
}

static bool before(const struct compare_row *a, const struct compare_row *b)
{
    if (class_of(a) != class_of(b))
        return class_of(a) < class_of(b);
    return class_of(a) < 2 && compare_time(a) < compare_time(b);
}

static int by_order(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* By insertion: equal ones stay in order. */
static void rank(struct compare_result *result, bool part)
{
    struct compare_row *rows = result->rows;
    for (size_t i = 0; i < result->count; i++) {
        struct compare_row row = rows[i];
        size_t at = i;
        if (!part) /* what it moves beside the first blocks is not in its time */
            replay_link_check(result->platform, &row.outcome);
        row.answered = class_of(&row) == 0;
        for (; at > 0 && before(&row, &rows[at - 1]); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* --- the run --- */

static const char *choose(const struct compare_request *request, const struct input *input,
                          struct platform_choice *choice, struct err *err)
{
    *choice = (struct platform_choice){.how = PLATFORM_CHOICE_GIVEN};
    if (request->platform)
        return request->platform;
    int found = input->store ? platform_choice_recorded(input->store, choice, err) : 0;
    if (found < 0)
        return NULL;
    if (!found)
        platform_choice_default("h200", choice);
    return choice->name;
}

const char *const *compare_sections(const struct platform *platform)
{
    static const char *const own[] = {"uvm", "gpu", "pcie", "launch", "batch", NULL}, *const shared[] = {
                                                                                          "placement", "uvm", "gpu",
                                                                                          "launch", NULL};
    return platform_has(platform, "placement") ? shared : own;
}

static int set_one(struct compare_set *set, struct platform *platform, const struct platform_scope *scope,
                   const struct param_pair *pair, struct err *err)
{
    return compare_setting(pair->key) ? param_set(compare_settings, set, pair->key, pair->value, err)
                                      : platform_set(platform, pair->key, pair->value, scope, err);
}

/* The program's multiprocessors are those that the platform has. */
static int share(const struct compare_set *set, struct platform *platform, struct err *err)
{
    const struct gpu *gpu = platform_has(platform, "gpu") ? platform_section_get(platform, "gpu") : NULL;
    char sms[24];
    if (!gpu || set->sm_share_pct >= 100)
        return 0;
    (void)snprintf(sms, sizeof sms, "%.0f", fmax(1, ceil((double)gpu->sms * set->sm_share_pct / 100)));
    return platform_set(platform, "gpu.sms", sms, NULL, err);
}

static int apply_sets(const struct compare_request *request, struct compare_set *set, struct platform *platform,
                      struct err *err)
{
    const struct platform_scope scope = {.sections = compare_sections(platform), .settings = compare_settings};
    *set = (struct compare_set){.managed = {.thrashing = UVM_THRASHING_DRIVER}, .sm_share_pct = 100};
    for (size_t i = 0; i < request->set_count; i++) {
        struct param_list list;
        int rc = param_list_init(&list, request->sets[i], err);
        for (size_t p = 0; !rc && p < list.count; p++)
            rc = set_one(set, platform, &scope, &list.pairs[p], err);
        param_list_release(&list);
        if (rc)
            return err_at(err, "--set");
    }
    return share(set, platform, err);
}

/* Keep the facts about the program's memory that a plan needs. */
static int keep_allocs(const struct compare_program *facts, struct compare_result *result, struct err *err)
{
    result->footprint_bytes = facts->footprint;
    result->memory_bytes = facts->memory;
    result->allocs = mem_zalloc(facts->alloc_count, sizeof *result->allocs, err);
    if (!result->allocs)
        return -1;
    result->alloc_count = facts->alloc_count;
    for (size_t i = 0; i < facts->alloc_count; i++) {
        memcpy(result->allocs[i].name, facts->allocs[i].name, sizeof result->allocs[i].name);
        result->allocs[i].bytes = facts->allocs[i].bytes;
    }
    return 0;
}

int compare_rows(const struct compare_program *facts, struct compare_result *result, struct uvm_metrics *prefetched,
                 struct err *err)
{
    struct compare_program near = *facts;
    size_t first = result->count, copies, rest;
    if (compare_managed_rows(facts, result, prefetched, err) ||
        compare_file_stage(facts->keep, result, first, COMPARE_STAGE_MANAGED, err))
        return -1;
    copies = result->count;
    if (compare_copy_row(facts, result, prefetched, err) ||
        compare_file_stage(facts->keep, result, copies, COMPARE_STAGE_COPY, err))
        return -1;
    if (result->count > copies && !facts->request->part && !facts->only)
        progress_best(facts->request->progress, COMPARE_COPY, compare_time(&result->rows[copies]));
    near.stop_ns =
        facts->only ? compare_stop_drawn_ns(facts, COMPARE_ZEROCOPY, result) : compare_stop_ns(facts, prefetched);
    rest = result->count;
    if (facts->request->cut.input)
        return 0;
    return compare_engine_rows(&near, result, err) || compare_mixed_rows(facts, result, prefetched, err) ||
                   compare_file_stage(facts->keep, result, rest, COMPARE_STAGE_ENGINES, err)
               ? -1
               : 0;
}

/* What makes the case. */
static int keep_case(struct compare_result *result, const struct input *input, const struct compare_set *set,
                     struct err *err)
{
    result->inputs =
        json_pack("[{s:s,s:o,s:s}]", "role", "", "input", json_tree_text(input->spec), "hash", input->hash);
    result->settings = replay_params_json(compare_settings, set);
    return result->inputs && result->settings ? 0 : err_set(err, "out of memory");
}

/* Take rows from the results file, and compute the others. */
static int kept_rows(struct compare_program *facts, struct compare_result *result, struct uvm_metrics *prefetched,
                     struct err *err)
{
    if (compare_file_open(&facts->keep, facts, result, err))
        return -1;
    result->resumed_rows = result->count;
    int rc = 0;
    for (size_t i = 0; i < result->count && facts->touches && !rc; i++)
        rc = result->rows[i].stock ? compare_plan_calls(facts, &result->rows[i], err) : 0;
    rc = rc ? rc : compare_rows(facts, result, prefetched, err);
    if (facts->keep && result->count) /* as if none had stood in a file: the order of rows of equal times */
        sort_items(result->rows, result->count, sizeof *result->rows, by_order);
    return rc;
}

static int run(const struct compare_request *request, const struct input *input, struct compare_set *set,
               struct compare_result *result, struct err *err)
{
    struct compare_program facts;
    struct uvm_metrics prefetched = {0};
    struct zerocopy_took took[ZEROCOPY_TOOK] = {0};
    if (compare_program_open(&facts, request, input, result->platform, set, err))
        return -1;
    facts.took = (request->draws && request->stop_from) || facts.spared ? took : NULL;
    compare_repeats_lack(&facts, set);
    bool done = false;
    int rc = keep_allocs(&facts, result, err) || keep_case(result, input, set, err) ||
             compare_repeats(&facts, result, &done, err) ||
             (!done && (compare_program_count(&facts, err) || kept_rows(&facts, result, &prefetched, err)));
    rc = rc || !facts.spared ? rc : compare_spared_say(&facts, result, err);
    struct compare_file *keep = facts.keep;
    facts.keep = NULL; /* draws are rows of other platforms */
    facts.prefetched = prefetched.time_ns ? &prefetched : NULL;
    rank(result, request->cut.input);
    compare_plan_settle(result);
    if (rc == 0 && request->draws)
        rc = compare_robust(&facts, result, err);
    for (size_t i = 0; i < result->count && rc == 0; i++)
        rc = outcome_check(&result->rows[i].outcome, err);
    if (rc == 0)
        rc = compare_file_end(keep, result, err);
    compare_file_close(keep);
    for (int i = 0; i < ZEROCOPY_TOOK; i++)
        free(took[i].of);
    if (request->cut.input && facts.counted && facts.blocks) {
        *request->cut.counted = (struct compare_counted){facts.totals, facts.weights, facts.blocks, facts.reached};
        facts.counted = false;
        facts.weights = NULL;
        facts.blocks = NULL;
    }
    compare_program_close(&facts);
    return rc ? -1 : 0;
}

/* A generated program whose reads may be simulated with the GPU's L1 is asked so where the platform can. */
static void spec_of(const struct compare_request *request, const struct platform *platform, char *spec, size_t size)
{
    const struct pcie *link = platform_section_get(platform, "pcie");
    char name[64] = "";
    (void)snprintf(spec, size, "%s", request->spec);
    if (strncmp(spec, "synth:", 6) != 0 || !platform_has(platform, "pcie") || link->load_ns <= 0)
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(spec + 6, ","), spec + 6);
    const struct workload_type *type = workload_find(name);
    if (type && param_find(type->params, "reuse") && !strstr(spec, "reuse="))
        (void)mem_add_text(spec, size, ",reuse=l1");
}

enum { SPEC = 4096 };

/* Load the platform with its settings, then the input, once: a graph may take long to make. A trace is first asked for
 * its platform. *input is open if *opened, and points at `spec`. */
static int prepare(const struct compare_request *request, struct compare_result *result, struct input *input,
                   char spec[SPEC], bool *opened, struct compare_set *set, bool *usage, struct err *err)
{
    static const struct input none = {.store = NULL};
    bool generated = strncmp(request->spec, "synth:", 6) == 0;
    if (!generated && input_open(input, request->spec, "", false, err))
        return -1;
    *opened = !generated;
    if (!generated)
        compare_name_recorded(result, input);
    result->limits = generated ? NULL : json_incref(input->limits);
    const char *name = choose(request, generated ? &none : input, &result->choice, err);
    result->platform = name ? platform_load(name, err) : NULL;
    *usage = result->platform && apply_sets(request, set, result->platform, err);
    if (!result->platform || *usage)
        return -1;
    if (request->cut.input)
        *input = *request->cut.input;
    if (!generated || request->cut.input)
        return 0;
    spec_of(request, result->platform, spec, SPEC);
    *opened = input_open(input, spec, "", false, err) == 0;
    if (*opened)
        (void)workload_size_note(&input->workload, result->size_note, sizeof result->size_note);
    return *opened ? 0 : -1;
}

int compare_run(const struct compare_request *request, struct compare_result *result, bool *usage, struct err *err)
{
    struct compare_set set;
    struct input input;
    char spec[SPEC];
    bool opened = false;
    *result = (struct compare_result){.top = request->top};
    for (size_t i = 0; i < request->set_count; i++)
        (void)mem_add_text(result->sets, sizeof result->sets, " --set %s", request->sets[i]);
    (void)snprintf(result->program, sizeof result->program, "%s", request->spec);
    *usage = input_check(request->spec, err) != 0;
    if (*usage)
        return -1;
    int rc = prepare(request, result, &input, spec, &opened, &set, usage, err);
    rc = rc ? rc : run(request, &input, &set, result, err);
    if (opened)
        input_close(&input);
    if (rc)
        compare_release(result);
    return rc;
}

bool compare_stops(const struct compare_program *f)
{
    const struct compare_request *r = f->request;
    return r->stop_from && f->footprint >= r->stop_from && compare_fits(f) && !f->only && !r->mixed && !r->top &&
           f->recorded_ns == 0 && !r->results;
}

double compare_stop_ns(const struct compare_program *f, const struct uvm_metrics *prefetched)
{
    return compare_stops(f) ? COMPARE_NEAR * (double)prefetched->time_ns : 0;
}

/* Times of rows, least first. */
struct least {
    double high, first, second; /* the least upper end; the two least times */
};

static void take(struct least *least, const struct compare_row *row)
{
    const double time = compare_time(row);
    if (isnan(time) || row->outcome.values[0].unbound)
        return;
    least->high = fmin(least->high, compare_time_high(row));
    least->second = fmin(least->second, fmax(least->first, time));
    least->first = fmin(least->first, time);
}

/* Whether rows like the first one may stop: it would, too. */
static bool first_is_like(const struct compare_program *f, enum compare_mechanism mechanism)
{
    const struct compare_row *first = f->first;
    if (mechanism == COMPARE_MANAGED)
        return first->mechanism == COMPARE_MANAGED && !first->prefetched;
    return first->mechanism == COMPARE_ZEROCOPY || first->mechanism == COMPARE_TIERED;
}

double compare_stop_drawn_ns(const struct compare_program *f, enum compare_mechanism mechanism,
                             const struct compare_result *result)
{
    struct least least = {INFINITY, INFINITY, INFINITY};
    double error = 0;
    if (!f->only || !f->request->stop_from || first_is_like(f, mechanism))
        return 0;
    for (size_t i = 0; i < f->only_count + f->same_count; i++)
        error = fmax(error, f->only[i].error_ratio);
    for (size_t i = f->only_count; i < f->only_count + f->same_count; i++)
        take(&least, &f->only[i]);
    for (size_t i = 0; i < result->count; i++)
        if (compare_wanted(f, result->rows[i].mechanism, result->rows[i].policy))
            take(&least, &result->rows[i]);
    return isfinite(least.second) ? fmax(least.high * (1 + error), least.second) : 0;
}

void compare_stop_row(struct compare_row *row, double ns)
{
    outcome_at_least(&row->outcome, "time_ns", ns);
    outcome_note(&row->outcome, "stopped at over %d times the best (--whole runs it to its end)", COMPARE_NEAR);
}

static json_t *row_json(const struct compare_row *row, struct err *err)
{
    json_t *apply = json_array();
    for (size_t i = 0; i < row->apply_count; i++)
        json_tree_add(&apply, json_tree_text(row->apply[i]));
    json_t *object = json_pack("{s:s,s:s,s:O,s:o,s:f}", "mechanism", compare_mechanisms[row->mechanism], "policy",
                               row->policy, "params", row->params, "apply", apply, "error_ratio", row->error_ratio);
    return outcome_to_json(&row->outcome, &object, err) ? NULL : object;
}

json_t *compare_robust_json(const struct compare_result *result, json_t *rows)
{
    const char *names[256];
    char labels[256][COMPARE_NAME];
    size_t n = result->drawn < 256 ? result->drawn : 256;
    for (size_t i = 0; i < n; i++)
        names[i] = compare_row_name(&result->rows[i], labels[i]);
    for (size_t i = 0; i < n && rows; i++)
        if (json_object_set_new(json_array_get(rows, i), "robust", robust_answer_json(&result->robust, i, names)))
            return NULL;
    return robust_json(&result->robust, names);
}

json_t *compare_to_json(const struct compare_result *result, struct err *err)
{
    char answer[1024];
    json_t *rows = json_array();
    for (size_t i = 0; i < result->count; i++)
        json_tree_add(&rows, row_json(&result->rows[i], err));
    json_t *robust = result->drawn ? compare_robust_json(result, rows) : NULL;
    json_t *root =
        json_pack("{s:i,s:o,s:s,s:I,s:o,s:o,s:o}", "schema", 1, "program", json_tree_text(result->program), "platform",
                  result->platform->name, "footprint_bytes", (json_int_t)result->footprint_bytes, "memory_bytes",
                  result->memory_bytes ? json_integer((json_int_t)result->memory_bytes) : json_null(), "answer",
                  json_tree_text(compare_answer(result, answer, sizeof answer)), "rows", rows);
    if (json_array_size(result->limits))
        json_tree_put(&root, "limits", json_incref(result->limits));
    if (result->drawn)
        json_tree_put(&root, "robust", robust);
    if (result->top)
        json_tree_put(&root, "experiments", compare_experiments_json(result, result->top));
    return json_tree_check(root, err) ? NULL : root;
}
