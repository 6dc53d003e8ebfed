#include "replay/run/replay_robust.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

const struct metric replay_robust_metrics[] = {
    {"robust_draws", METRIC_INT, METRIC_SUM, "draws of unknown platform numbers (--robust)"},
    {"robust_wins", METRIC_INT, METRIC_SUM,
     "of them, those in which no other policy is better beyond the model's error"},
    {"robust_ties", METRIC_INT, METRIC_SUM, "of these, those in which another policy wins too"},
    {0}};

/* Inputs that are opened once more, for one answer at a time. */
struct opened {
    struct opened *next;
    struct input inputs[];
};

struct asking {
    const struct replay_request *request;
    const struct replay_robustness *robustness;
    pthread_mutex_t lock; /* of what follows */
    struct opened *idle;
};

/* --- inputs --- */

static void close_inputs(struct opened *opened, size_t count)
{
    while (count-- > 0)
        input_close(&opened->inputs[count]);
    free(opened);
}

static struct opened *open_inputs(const struct replay_request *request, struct err *err)
{
    struct opened *opened = mem_zalloc(1, sizeof *opened + request->input_count * sizeof *opened->inputs, err);
    for (size_t i = 0; opened && i < request->input_count; i++) {
        const struct input *in = &request->inputs[i];
        if (input_open(&opened->inputs[i], in->spec, in->role, request->engine->plain_files, err)) {
            close_inputs(opened, i);
            return NULL;
        }
    }
    return opened;
}

static struct opened *take_inputs(struct asking *asking, struct err *err)
{
    (void)pthread_mutex_lock(&asking->lock);
    struct opened *opened = asking->idle;
    if (opened)
        asking->idle = opened->next;
    (void)pthread_mutex_unlock(&asking->lock);
    return opened ? opened : open_inputs(asking->request, err);
}

static void give_inputs(struct asking *asking, struct opened *opened)
{
    (void)pthread_mutex_lock(&asking->lock);
    opened->next = asking->idle;
    asking->idle = opened;
    (void)pthread_mutex_unlock(&asking->lock);
}

/* --- one answer --- */

static bool is_positive(const struct outcome *run, const char *name)
{
    const struct metric_value *v = outcome_get(run, name);
    return v && v->known && v->real > 0;
}

static bool is_zero(const struct outcome *run, const char *name)
{
    const struct metric_value *v = outcome_get(run, name);
    return v && v->known && v->real == 0;
}

static struct robust_value value_of(const struct outcome *run, const char *metric)
{
    const struct metric_value *v = outcome_get(run, metric);
    if (is_positive(run, "starved") || is_zero(run, "fairness_index"))
        return (struct robust_value){.state = ROBUST_STARVED};
    if (!v->known && !v->interval)
        return (struct robust_value){.state = ROBUST_REFUSED};
    if (v->unbound)
        return (struct robust_value){.state = ROBUST_UNBOUNDED};
    if (!v->interval)
        return robust_point(v->real);
    struct robust_value value = robust_between(v->lo, v->hi);
    if (v->known && value.state == ROBUST_STANDS && v->lo <= v->real && v->real <= v->hi)
        value.value = v->real;
    return value;
}

static int run_on(const struct asking *asking, const struct platform *platform, const struct input *inputs,
                  struct robust_value *values, struct err *err)
{
    struct replay_request request = *asking->request;
    struct replay_result result;
    request.inputs = inputs;
    request.draws = 0;
    request.requests = request.explain_file = request.commands = request.latencies = NULL;
    request.explain = 0;
    request.threads = 1;
    request.progress = NULL;
    request.shared = NULL;
    request.recording = NULL;
    if (replay_prepare(&request, &result, err))
        return -1;
    platform_free(result.platform);
    result.platform = platform_copy(platform, err);
    if (!result.platform) {
        replay_release(&result);
        return -1;
    }
    if (replay_execute(&request, &result, err))
        return -1;
    for (size_t i = 0; i < result.policy_count; i++)
        values[i] = value_of(&result.runs[i], asking->robustness->metric);
    replay_release(&result);
    return 0;
}

static int answer(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    struct asking *asking = ctx;
    struct progress *progress = asking->request->progress;
    if (progress && atomic_load_explicit(&progress->cancelled, memory_order_relaxed))
        return err_set(err, "cancelled");
    struct opened *opened = take_inputs(asking, err);
    if (!opened)
        return -1;
    int rc = run_on(asking, platform, opened->inputs, values, err);
    give_inputs(asking, opened);
    progress_add(progress, 1);
    return rc;
}

/* --- all --- */

double replay_robust_error(const struct replay_result *result, size_t policy)
{
    double own = result->policies[policy].head->error;
    return own > 0 ? own : result->engine->error;
}

static struct replay_robustness *new_robustness(const struct replay_result *result, struct err *err)
{
    struct replay_robustness *r = mem_zalloc(1, sizeof *r, err);
    const char *ranks = result->engine->ranks;
    if (!r)
        return NULL;
    r->more_is_better = *ranks == '+';
    (void)snprintf(r->metric, sizeof r->metric, "%.*s", (int)strcspn(ranks + 1, ","), ranks + 1);
    r->names = mem_zalloc(result->policy_count + 1, sizeof *r->names, err);
    bool ok = r->names;
    for (size_t i = 0; ok && i < result->policy_count; i++) {
        char label[256];
        ok = (r->names[i] = mem_strdup(replay_policy_label(&result->policies[i], label, sizeof label), err)) != NULL;
    }
    if (ok)
        return r;
    replay_robustness_free(r);
    return NULL;
}

void replay_robustness_free(struct replay_robustness *r)
{
    for (size_t i = 0; r && r->names && r->names[i]; i++)
        free(r->names[i]);
    if (r) {
        free((void *)r->names);
        robust_release(&r->robust);
    }
    free(r);
}

/* A question with errors to be freed. */
static int ask(struct asking *asking, const struct replay_result *result, struct replay_robustness *r, struct err *err)
{
    const struct replay_request *request = asking->request;
    double *errors = mem_zalloc(result->policy_count, sizeof *errors, err);
    if (!errors)
        return -1;
    for (size_t i = 0; i < result->policy_count; i++)
        errors[i] = replay_robust_error(result, i);
    const struct robust_question question = {.platform = result->platform,
                                             .sections = result->sections,
                                             .answers = result->policy_count,
                                             .errors = errors,
                                             .more_is_better = r->more_is_better,
                                             .answer = answer,
                                             .ctx = asking,
                                             .draws = result->draws,
                                             .seed = 1,
                                             .threads = request->threads};
    if (request->progress) {
        atomic_store(&request->progress->done, 0);
        atomic_store(&request->progress->total, robust_calls(&question));
    }
    int rc = robust_run(&r->robust, &question, err);
    free(errors);
    return rc;
}

/* "ties within 15 %", "ties within 6 to 15 %" */
static const char *say_ties(const struct replay_result *result, char *buf, size_t size)
{
    double lo = INFINITY, hi = 0;
    for (size_t i = 0; i < result->policy_count; i++) {
        lo = fmin(lo, 100 * replay_robust_error(result, i));
        hi = fmax(hi, 100 * replay_robust_error(result, i));
    }
    if (hi == 0)
        (void)snprintf(buf, size, "any difference counts, as the model's error has not been measured");
    else if (lo == hi)
        (void)snprintf(buf, size, "differences within %.3g %% are ties", hi);
    else
        (void)snprintf(buf, size, "differences within %.3g to %.3g %% are ties", lo, hi);
    return buf;
}

static void say(struct replay_result *result, const struct replay_robustness *r)
{
    char text[900], ties[120];
    (void)say_ties(result, ties, sizeof ties);
    for (size_t i = 0; i < result->policy_count; i++) {
        outcome_note(&result->runs[i], "%s", robust_say(&r->robust, i, text, sizeof text));
        outcome_note(&result->runs[i],
                     "draws: %zu assumed, fitted and borrowed numbers within their ranges, seed %llu; %s of %s wins; "
                     "%s; a share of draws is no probability",
                     r->robust.number_count, (unsigned long long)r->robust.seed, r->more_is_better ? "most" : "least",
                     r->metric, ties);
    }
}

int replay_robust(const struct replay_request *request, struct replay_result *result, struct err *err)
{
    if (result->draws == 0)
        return 0;
    struct replay_robustness *r = new_robustness(result, err);
    struct asking asking = {.request = request, .robustness = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    int rc = r ? ask(&asking, result, r, err) : -1;
    while (asking.idle) {
        struct opened *opened = asking.idle;
        asking.idle = opened->next;
        close_inputs(opened, request->input_count);
    }
    (void)pthread_mutex_destroy(&asking.lock);
    if (rc) {
        replay_robustness_free(r);
        return err_at(err, "--robust");
    }
    result->robustness = r;
    say(result, r);
    return 0;
}

/* --- JSON --- */

int replay_robust_put_run(const struct replay_result *result, size_t run, json_t *object)
{
    const struct replay_robustness *r = result->robustness;
    if (!r || run >= result->policy_count)
        return 0;
    json_t *metrics = json_object_get(object, "metrics");
    return json_object_set_new(object, "robust", robust_answer_json(&r->robust, run, (const char *const *)r->names)) |
           json_object_set_new(metrics, "robust_draws", json_integer((json_int_t)r->robust.draws)) |
           json_object_set_new(metrics, "robust_wins", json_integer((json_int_t)r->robust.wins[run])) |
           json_object_set_new(metrics, "robust_ties", json_integer((json_int_t)r->robust.ties[run]));
}

int replay_robust_put(const struct replay_result *result, json_t *root)
{
    const struct replay_robustness *r = result->robustness;
    if (!r)
        return 0;
    json_t *all = robust_json(&r->robust, (const char *const *)r->names);
    json_tree_put(&all, "metric", json_string(r->metric));
    json_tree_put(&all, "more_is_better", json_boolean(r->more_is_better));
    return json_object_set_new(root, "robust", all);
}

int replay_robust_put_settings(const struct replay_result *result, json_t *settings)
{
    return result->draws ? json_object_set_new(settings, "robust", json_integer((json_int_t)result->draws)) : 0;
}
