#include "replay/run/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_platform.h"
#include "models/zerocopy/link.h"
#include "replay/run/platform_use.h"
#include "replay/run/robust.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/base/version.h"

const struct engine *engine_find(const char *name)
{
    return FIND_NAMED(engines, name);
}

const struct engine *engine_of_results(const char *name)
{
    return FIND_NAMED(engines_results_only, name) ?: engine_find(name);
}

const struct policy_head *engine_policy(const char *engine, const char *policy)
{
    const struct engine *known = engine_find(engine);
    return known ? policy_find(known->policies, policy) : NULL;
}

unsigned engine_simplicity(const struct engine *engine, const char *policy)
{
    const size_t name = strcspn(policy, ":+");
    unsigned place = 0, all = 0;
    while (engine->policies[all])
        all++;
    while (place < all &&
           (strlen(engine->policies[place]->name) != name || strncmp(engine->policies[place]->name, policy, name) != 0))
        place++;
    return strchr(policy, '+') ? place + all : place;
}

/* Whether a name stands in a comma-separated list, in which a sign may stand before each. */
static bool is_in(const char *list, const char *name)
{
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
        p += *p == '-' || *p == '+';
        if (strcspn(p, ",") == strlen(name) && strncmp(p, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

bool engine_shows(const struct engine *engine, const char *metric)
{
    return is_in(engine->headline, metric) || is_in(engine->ranks, metric);
}

bool engine_unlike(const struct engine *engine, const char *policy)
{
    const size_t name = strcspn(policy, ","); /* hints follow */
    return engine && engine->measured_of &&
           (strlen(engine->measured_of) != name || strncmp(engine->measured_of, policy, name) != 0);
}

bool engine_rank(const struct engine *engine, size_t n, char *name, size_t size, bool *more)
{
    const char *p = engine && engine->ranks ? engine->ranks : "-time_ns";
    for (; n > 0; n--, p++) {
        p += strcspn(p, ",");
        if (!*p)
            return false;
    }
    *more = *p == '+';
    (void)snprintf(name, size, "%.*s", (int)strcspn(p + 1, ","), p + 1);
    return true;
}

bool replay_knows(const struct replay_result *result, size_t metric)
{
    for (size_t i = 0; i < result->policy_count + result->extra_baseline; i++)
        if (result->runs[i].values[metric].known || result->runs[i].values[metric].interval)
            return true;
    return false;
}

size_t replay_decides(const struct replay_result *result, bool *more)
{
    char name[64];
    for (size_t n = 0; engine_rank(result->engine, n, name, sizeof name, more); n++)
        for (size_t m = 0; m < result->runs[0].count; m++)
            if (strcmp(result->engine->metrics[m].name, name) == 0 && replay_knows(result, m))
                return m;
    return SIZE_MAX;
}

bool policy_known(const char *engine, const char *name, struct policy_choice *choice)
{
    const struct engine *known = engine_find(engine);
    const char *plus = known && known->second ? strchr(name, '+') : NULL;
    char first[64];
    (void)snprintf(first, sizeof first, "%.*s", plus ? (int)(plus - name) : 60, name);
    *choice = (struct policy_choice){{engine_policy(engine, first), plus ? policy_find(known->second, plus + 1) : NULL},
                                     {NULL, NULL},
                                     plus ? known->second_key : NULL};
    return choice->heads[0] && (!plus || choice->heads[1]);
}

const struct metric *engine_metric(const char *engine, const char *name)
{
    const struct engine *e = engine_of_results(engine);
    const struct metric *const tables[] = {e ? e->metrics : NULL, replay_robust_metrics};
    for (size_t t = 0; t < 2; t++)
        for (const struct metric *m = tables[t]; m && m->name; m++)
            if (strcmp(m->name, name) == 0)
                return m;
    return NULL;
}

/* --- settings: the engine's own first, then numbers of the platform --- */

/* Note that a number was given, under its whole name and as given. Of two spellings the last one stands. */
static int note_override(struct replay_result *result, const struct platform_section *section, const char *key,
                         const char *value)
{
    const char *dot = strchr(key, '.'), *bare = dot ? dot + 1 : key;
    char name[128];
    (void)snprintf(name, sizeof name, "%s.%s", section->name, bare);
    (void)json_object_del(result->given, dot ? bare : name);
    double number;
    return json_object_set_new(result->overrides, name,
                               platform_json_value(param_find(section->params, bare),
                                                   platform_section_get(result->platform, section->name))) |
           json_object_set_new(result->given, key,
                               units_parse_real(value, &number, NULL) ? json_tree_text(value) : json_real(number));
}

static int set_setting(struct replay_result *result, const struct platform_scope *scope, const struct param_pair *pair,
                       struct err *err)
{
    (void)scope;
    const struct param *settings = result->engine->settings;
    return param_find(settings, pair->key) ? param_set(settings, result->settings, pair->key, pair->value, err) : 0;
}

static int set_number(struct replay_result *result, const struct platform_scope *scope, const struct param_pair *pair,
                      struct err *err)
{
    if (param_find(result->engine->settings, pair->key))
        return 0;
    const struct platform_section *section = platform_section_of(result->platform, pair->key, scope, err);
    char name[128];
    if (!section)
        return -1;
    (void)snprintf(name, sizeof name, "%s.%s", section->name,
                   strchr(pair->key, '.') ? strchr(pair->key, '.') + 1 : pair->key);
    if (platform_set(result->platform, name, pair->value, NULL, err))
        return -1;
    return note_override(result, section, pair->key, pair->value) ? err_set(err, "out of memory") : 0;
}

/* Settings that say the same thing in several ways: all but one would silently not count. */
static int check_rivals(const struct replay_result *result, struct err *err)
{
    static const char *const rivals[] = {"gpu_memory_bytes", "oversubscription_pct", "ballast"};
    const char *said = NULL;
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
        const struct param *row = param_find(result->engine->settings, rivals[i]);
        if (!row || param_number(row, result->settings) == 0)
            continue;
        if (said)
            return err_set(err, "%s and %s both say how much GPU memory there is: give one of them", said, rivals[i]);
        said = rivals[i];
    }
    return 0;
}

static int each_set(struct replay_result *result, const struct replay_request *request,
                    int (*set)(struct replay_result *, const struct platform_scope *, const struct param_pair *,
                               struct err *),
                    const struct platform_scope *scope, struct err *err)
{
    for (size_t i = 0; i < request->set_count; i++) {
        struct param_list list;
        int rc = param_list_init(&list, request->sets[i], err);
        if (!rc) {
            rc = mem_keep_own(&result->texts, list.text, err) ? 0 : -1; /* text settings point at it */
            list.text = NULL;
            for (size_t p = 0; p < list.count && !rc; p++)
                rc = set(result, scope, &list.pairs[p], err);
            param_list_release(&list);
        }
        if (rc)
            return err_at(err, "%s", i + request->grid_count < request->set_count ? "--set" : "--grid");
    }
    return 0;
}

static int apply_settings(struct replay_result *result, const struct replay_request *request, struct err *err)
{
    result->settings = mem_zalloc(1, result->engine->settings_size, err);
    if (!result->settings)
        return -1;
    param_defaults(result->engine->settings, result->settings);
    return each_set(result, request, set_setting, NULL, err) ? -1 : check_rivals(result, err);
}

static struct replay_job job_of(const struct replay_request *request, const struct replay_result *result)
{
    return (struct replay_job){.inputs = request->inputs,
                               .input_count = request->input_count,
                               .platform = result->platform,
                               .assumed = result->choice.how == PLATFORM_CHOICE_DEFAULT,
                               .policies = result->policies,
                               .policy_count = result->policy_count + result->extra_baseline,
                               .listed_count = result->policy_count,
                               .drawn = request->drawn_platform != NULL,
                               .baseline = result->baseline,
                               .settings = result->settings,
                               .requests = request->requests,
                               .engine_options = request->engine_options,
                               .threads = request->threads > 0 ? request->threads : 1,
                               .progress = request->progress,
                               .sweep_cache = request->sweep_cache};
}

/* Behind settings and policies, which decide what is read. Without an input that is not known yet. */
static int apply_numbers(struct replay_result *result, const struct replay_request *request, struct err *err)
{
    const struct engine *engine = result->engine;
    const struct replay_job job = job_of(request, result);
    struct platform_scope scope = {.sections = request->set_sections, .settings = engine->settings};
    result->base_numbers = platform_json_numbers(result->platform);
    result->overrides = json_object();
    result->given = json_object();
    if (!result->base_numbers || !result->overrides || !result->given)
        return err_set(err, "out of memory");
    if (!scope.sections && job.input_count && engine->sections)
        scope.sections = engine->sections(&job);
    if (scope.sections && engine->besides)
        scope.besides = engine->besides(&job);
    return each_set(result, request, set_number, &scope, err);
}

/* --- policies and the baseline --- */

static int choose_policies(struct replay_result *result, const struct replay_request *request, struct err *err)
{
    struct policy_list list = {0};
    const char *text = request->policy_list ? request->policy_list : result->engine->default_policies;
    int rc = policy_list_add(&list, result->engine, text, err);
    size_t listed = list.count;
    if (!rc && request->baseline) {
        rc = policy_list_add(&list, result->engine, request->baseline, err);
        if (!rc && list.count != listed + 1)
            rc = err_set(err, "--baseline names %zu policies; expected one", list.count - listed);
    }
    for (size_t i = 0; i < list.texts.count; i++) /* text parameters point at them */
        rc |= mem_keep_own(&result->texts, list.texts.items[i], err) ? 0 : -1;
    free((void *)list.texts.items);
    result->policies = list.policies;
    result->policy_count = listed;
    if (rc) {
        result->policy_count = list.count;
        return -1;
    }
    result->baseline = 0;
    if (request->baseline) {
        size_t i = 0;
        while (i < listed && !replay_policy_same(&list.policies[i], &list.policies[listed]))
            i++;
        result->baseline = i;
        result->extra_baseline = i == listed;
        if (!result->extra_baseline)
            replay_policy_release(&list.policies[listed]);
    }
    return 0;
}

/* time(baseline) / time(policy), with the widest interval that the two times allow. */
static void set_speedup(struct outcome *run, const struct outcome *baseline)
{
    const struct metric_value *time = outcome_get(run, "time_ns"), *base = outcome_get(baseline, "time_ns");
    const struct metric_value *speedup = outcome_get(run, "speedup_ratio");
    if (!time || !base || !speedup || speedup->known || speedup->interval)
        return;
    if (run->speedup_most > 0 && time->known && base->known &&
        base->real > time->real * run->speedup_most * (1 + 1e-9)) {
        outcome_note(
            run,
            "speedup_ratio is n/a: against the baseline's estimate it would be more than the %.4gx that is possible",
            run->speedup_most);
        return;
    }
    if (time->known && base->known && time->real > 0)
        outcome_real(run, "speedup_ratio", base->real / time->real);
    if (run != baseline && (time->unbound || base->unbound))
        outcome_unbound(run, "speedup_ratio");
    if (run == baseline || !(time->interval || base->interval))
        return;
    if (!(time->interval || time->known) || !(base->interval || base->known))
        return;
    double lo = time->interval ? time->lo : time->real, hi = time->interval ? time->hi : time->real;
    double base_lo = base->interval ? base->lo : base->real, base_hi = base->interval ? base->hi : base->real;
    if (lo > 0 && hi > 0 && base_hi > 0)
        outcome_interval(run, "speedup_ratio", base_lo / hi, base_hi / lo);
}

/* Of each run, and of each of its parts against the same part of the baseline. */
static void fill_speedup(struct replay_result *result)
{
    const struct outcome *baseline = &result->runs[result->baseline];
    for (size_t i = 0; i < result->policy_count + result->extra_baseline; i++) {
        struct outcome *run = &result->runs[i];
        set_speedup(run, baseline);
        for (int by = 0; by < OUTCOME_BYS; by++)
            for (size_t p = 0; p < run->parts[by].count; p++) {
                struct outcome_part *part = &run->parts[by].items[p];
                const struct outcome *other = outcome_find_part(baseline, (enum outcome_by)by, part->name);
                if (other)
                    set_speedup(&part->outcome, other);
            }
    }
}

/* --- the link --- */

/* Least time of a run's bytes in one direction at the platform's best rate, ns; 0: no link. */
static double link_ns(const struct platform *platform, const struct outcome *run, int way, double outside)
{
    static const char *const names[] = {"h2d_bytes", "d2h_bytes"};
    const struct metric_value *v = outcome_get(run, names[way]);
    const struct uvm_platform *uvm = platform_section_get(platform, "uvm");
    double rate = platform_has(platform, "pcie") ? pcie_raw_bytes_per_s(platform_section_get(platform, "pcie")) : 0;
    if (platform_has(platform, "uvm"))
        rate = fmax(rate, way ? uvm->d2h_bytes_per_s : uvm->h2d_bytes_per_s);
    const double bytes = !v ? 0 : v->interval ? v->lo : v->real;
    return rate > 0 ? fmax(0, bytes - outside) / rate * 1e9 : 0;
}

void replay_link_check(const struct platform *platform, struct outcome *run)
{
    const struct metric_value *time = outcome_get(run, "time_ns");
    if (!time || !(time->known || time->interval))
        return;
    const double whole = fmax(link_ns(platform, run, 0, 0), link_ns(platform, run, 1, 0)),
                 least = fmax(link_ns(platform, run, 0, run->outside_bytes[0]),
                              link_ns(platform, run, 1, run->outside_bytes[1])),
                 has = (time->interval ? time->hi : time->real) * (1 + 1e-6) + 1;
    char text[48];
    if (has < least) {
        outcome_at_least(run, "time_ns", least);
        outcome_note(
            run,
            "time_ns is only a bound: the model gives less than the %s that the bytes take at the link's best rate",
            units_human_ns(least, text, sizeof text));
    } else if (has < whole) {
        outcome_note(run,
                     "time_ns is the kernels' time alone: the bytes take at least %s over this platform's link, so "
                     "they moved between kernels or over a faster link",
                     units_human_ns(whole, text, sizeof text));
    }
}

/* The platform that was named, that the inputs' GPU is, or the engine's default. */
static const char *choose_platform(const struct replay_request *request, struct platform_choice *choice,
                                   struct err *err)
{
    *choice = (struct platform_choice){.how = PLATFORM_CHOICE_GIVEN};
    if (request->platform)
        return request->platform;
    choice->how = PLATFORM_CHOICE_DEFAULT;
    for (size_t i = 0; i < request->input_count; i++) {
        struct platform_choice other = {.how = PLATFORM_CHOICE_DEFAULT};
        int found = request->inputs[i].store ? platform_choice_recorded(request->inputs[i].store, &other, err) : 0;
        if (found < 0) {
            err_at(err, "%s", request->inputs[i].spec);
            return NULL;
        }
        if (found && choice->how == PLATFORM_CHOICE_RECORDED && strcmp(choice->name, other.name) != 0) {
            err_set(err, "the inputs are of '%s' and of '%s': name a platform with --platform", choice->gpu, other.gpu);
            return NULL;
        }
        if (found)
            *choice = other;
    }
    if (choice->how == PLATFORM_CHOICE_DEFAULT)
        platform_choice_default(request->engine->default_platform, choice);
    return choice->name;
}

int replay_prepare(const struct replay_request *request, struct replay_result *result, struct err *err)
{
    *result = (struct replay_result){.engine = request->engine, .draws = request->draws};
    const char *name = choose_platform(request, &result->choice, err);
    result->platform = name ? platform_load(name, err) : NULL;
    int rc = !result->platform || apply_settings(result, request, err) || choose_policies(result, request, err) ||
                     apply_numbers(result, request, err)
                 ? -1
                 : 0;
    if (!rc && request->single_policy_option && (result->policy_count != 1 || result->extra_baseline))
        rc = err_set(err, "%s takes exactly one policy, and no other baseline; found %zu",
                     request->single_policy_option, result->policy_count + result->extra_baseline);
    if (rc)
        replay_release(result);
    return rc;
}

int replay_run(const struct replay_request *request, struct replay_result *result, bool *usage, struct err *err)
{
    *usage = true;
    if (replay_prepare(request, result, err))
        return -1;
    *usage = false;
    return replay_execute(request, result, err);
}

/* What inputs are not whole, and what programs are not of the size that was asked for. */
static void note_inputs(const struct replay_request *request, struct outcome *run)
{
    for (size_t i = 0; i < request->input_count; i++)
        outcome_note_all(run, request->inputs[i].limits);
    for (size_t i = 0; i < request->input_count; i++) {
        const struct input *input = &request->inputs[i];
        char note[200];
        const char *said = input->store ? store_origin_get(input->store, "workload.size_note")
                                        : workload_size_note(&input->workload, note, sizeof note);
        if (said)
            outcome_note(run, "%s", said);
    }
}

int replay_execute(const struct replay_request *request, struct replay_result *result, struct err *err)
{
    size_t runs = result->policy_count + result->extra_baseline;
    if (request->drawn_platform) {
        platform_free(result->platform);
        result->platform = platform_copy(request->drawn_platform, err);
    }
    result->runs = result->platform ? mem_zalloc(runs, sizeof *result->runs, err) : NULL;
    int rc = result->runs ? 0 : -1;
    for (size_t i = 0; i < runs && !rc; i++)
        rc = outcome_init(&result->runs[i], result->engine->metrics, err);
    const struct replay_job job = job_of(request, result);
    if (!rc) {
        result->sections = result->engine->sections(&job);
        rc = platform_use_check(result->platform, result->sections, err);
    }
    if (!rc)
        rc = result->engine->replay(&job, result->runs, err);
    for (size_t i = 0; i < runs && !rc; i++) {
        platform_use_note(result, &result->runs[i]);
        note_inputs(request, &result->runs[i]);
        replay_link_check(result->platform, &result->runs[i]);
    }
    if (!rc) {
        fill_speedup(result);
        rc = replay_robust(request, result, err);
    }
    for (size_t i = 0; i < runs && !rc; i++)
        rc = outcome_check(&result->runs[i], err);
    if (rc)
        replay_release(result);
    return rc;
}

void replay_release(struct replay_result *result)
{
    size_t runs = result->policy_count + result->extra_baseline;
    for (size_t i = 0; i < runs; i++) {
        if (result->policies)
            replay_policy_release(&result->policies[i]);
        if (result->runs)
            outcome_release(&result->runs[i]);
    }
    mem_texts_release(&result->texts);
    free(result->policies);
    free(result->runs);
    free(result->settings);
    json_decref(result->base_numbers);
    json_decref(result->overrides);
    json_decref(result->given);
    replay_robustness_free(result->robustness);
    platform_free(result->platform);
    memset(result, 0, sizeof *result);
}

/* --- JSON --- */

json_t *replay_params_json(const struct param *table, const void *owner)
{
    json_t *object = json_object();
    for (const struct param *p = table; p && p->name; p++)
        json_tree_put(&object, p->name, platform_json_value(p, owner));
    return object;
}

json_t *replay_policy_params_json(const struct replay_policy *policy)
{
    json_t *object = replay_params_json(policy->head->params, policy->params);
    for (const struct param *p = policy->second ? policy->second->params : NULL; p && p->name; p++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s.%s", policy->second_key, p->name);
        json_tree_put(&object, name, platform_json_value(p, policy->second_params));
    }
    return object;
}

json_t *replay_settings_json(const struct replay_result *result)
{
    json_t *object = replay_params_json(result->engine->settings, result->settings), *value;
    const char *name;
    json_object_foreach(result->given, name, value) json_tree_put(&object, name, json_incref(value));
    replay_robust_put_settings(result, &object);
    return object;
}

/* {"policy":..,"params":{..}} */
static json_t *policy_json(const struct replay_policy *policy)
{
    char name[128];
    return json_pack("{s:s,s:o}", "policy", replay_policy_name(policy, name, sizeof name), "params",
                     replay_policy_params_json(policy));
}

static json_t *run_json(const struct replay_result *result, size_t i, struct err *err)
{
    json_t *run = policy_json(&result->policies[i]);
    if (outcome_to_json(&result->runs[i], &run, err))
        return NULL;
    replay_robust_put_run(result, i, &run);
    return json_tree_check(run, err) ? NULL : run;
}

/* The one input, or [{"role":..,"input":..},..]. */
static json_t *input_json(const struct replay_request *request)
{
    if (request->input_count == 1)
        return json_tree_text(request->inputs[0].spec);
    json_t *inputs = json_array();
    for (size_t i = 0; i < request->input_count; i++)
        json_tree_add(&inputs, json_pack("{s:s,s:o}", "role", request->inputs[i].role, "input",
                                         json_tree_text(request->inputs[i].spec)));
    return inputs;
}

static json_t *case_json(const struct replay_request *request, const struct replay_result *result, struct err *err)
{
    struct run_case run_case;
    if (replay_case(request, result, &run_case, err))
        return NULL;
    json_t *object = run_case_to_json(&run_case, err);
    run_case_release(&run_case);
    return object;
}

json_t *replay_to_json(const struct replay_result *result, const struct replay_request *request, struct err *err)
{
    json_t *made = case_json(request, result, err), *runs = json_array();
    json_t *base = made ? run_json(result, result->baseline, err) : NULL;
    for (size_t i = 0; i < result->policy_count && base; i++)
        json_tree_add(&runs, run_json(result, i, err));
    if (!base || json_tree_check(runs, err)) {
        json_decref(made);
        json_decref(base);
        json_decref(runs);
        return NULL;
    }
    json_t *root = json_pack("{s:i,s:s,s:o,s:O,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "engine", result->engine->name,
                             "input", input_json(request), "platform", json_object_get(made, "platform"),
                             "platform_numbers", platform_use_json(result), "settings", replay_settings_json(result),
                             "runs", runs, "baseline", base, "case", made);
    replay_robust_put(result, &root);
    return json_tree_check(root, err) ? NULL : root;
}

/* --- build the run_case of a request: the key of its rows in a results file --- */

static json_t *inputs_json(const struct replay_request *request)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < request->input_count; i++) {
        const struct input *in = &request->inputs[i];
        json_tree_add(
            &inputs, json_pack("{s:s,s:o,s:s}", "role", in->role, "input", json_tree_text(in->spec), "hash", in->hash));
    }
    return inputs;
}

int replay_case(const struct replay_request *request, const struct replay_result *result, struct run_case *run_case,
                struct err *err)
{
    json_t *platform = json_tree_text(result->platform->name);
    struct run_case_facts facts = {.engine = result->engine->name,
                                   .platform = json_string_value(platform),
                                   .version = request->version ? request->version : offchip_version,
                                   .inputs = inputs_json(request),
                                   .numbers = json_tree_copy(result->base_numbers),
                                   .settings = replay_params_json(result->engine->settings, result->settings)};
    replay_robust_put_settings(result, &facts.settings);
    int rc = platform && facts.inputs && facts.settings && json_object_update(facts.numbers, result->overrides) == 0
                 ? run_case_init(run_case, &facts, err)
                 : err_set(err, "out of memory");
    json_decref(platform);
    json_decref(facts.inputs);
    json_decref(facts.numbers);
    json_decref(facts.settings);
    return rc;
}

json_t *replay_relative_to(const struct replay_result *result, struct err *err)
{
    json_t *object = policy_json(&result->policies[result->baseline]);
    return json_tree_check(object, err) ? NULL : object;
}

int replay_key(const struct run_case *run_case, const struct replay_result *result, size_t run, char key[RUN_CASE_HASH],
               struct err *err)
{
    const struct replay_policy *policy = &result->policies[run];
    json_t *base = replay_relative_to(result, err);
    json_t *params = base ? replay_policy_params_json(policy) : NULL;
    char name[128];
    int rc = params ? run_case_key(run_case, replay_policy_name(policy, name, sizeof name), params, base, key, err)
                    : err_set(err, "out of memory");
    json_decref(base);
    json_decref(params);
    return rc;
}
