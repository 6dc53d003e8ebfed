#include "replay/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sweep.h"
#include "trace/mem.h"

/* The texts of one run, which results_put() wants as strings. */
struct texts {
    char key[33];
    char *params, *metrics, *intervals, *notes;
};

static void texts_release(struct texts *t)
{
    free(t->params);
    free(t->metrics);
    free(t->intervals);
    free(t->notes);
}

static int texts_make(struct texts *t, const struct replay_request *request, const struct replay_result *result,
                      size_t i, const char *version, struct err *err)
{
    json_t *run = json_object();
    if (outcome_to_json(&result->runs[i], run, err)) {
        json_decref(run);
        return -1;
    }
    json_t *params = replay_params_json(result->policies[i].head->params, result->policies[i].params);
    t->params = json_dumps(params, JSON_COMPACT);
    t->metrics = json_dumps(json_object_get(run, "metrics"), JSON_COMPACT);
    t->intervals = json_dumps(json_object_get(run, "interval"), JSON_COMPACT);
    t->notes = json_dumps(json_object_get(run, "notes"), JSON_COMPACT);
    sweep_key(request, result, i, version, t->key);
    json_decref(params);
    json_decref(run);
    return t->params && t->metrics && t->intervals && t->notes ? 0 : err_set(err, "out of memory");
}

/* "synth:x", or "mem=A + pim=B". */
static void input_text(const struct replay_request *request, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < request->input_count && used < size; i++) {
        const struct input *in = &request->inputs[i];
        used += (size_t)snprintf(buf + used, size - used, "%s%s%s%s", i ? " + " : "", in->role, *in->role ? "=" : "",
                                 in->spec);
    }
}

int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, const char *version, struct err *err)
{
    size_t n = result->policy_count + result->extra_baseline;
    struct texts *texts = mem_zalloc(n, sizeof *texts, err);
    struct results_run *runs = mem_zalloc(n, sizeof *runs, err);
    json_t *object = replay_settings_json(result);
    char *settings = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    char input[4096];
    input_text(request, input, sizeof input);
    int rc = texts && runs && settings ? 0 : -1;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = texts_make(&texts[i], request, result, i, version, err);
        runs[i] = (struct results_run){.key = texts[i].key,
                                       .position = position < 0 ? -1 : position + (int64_t)i,
                                       .engine = result->engine->name,
                                       .input = input,
                                       .input_hash = request->inputs[0].hash,
                                       .platform = platform_name(result->platform),
                                       .policy = result->policies[i].head->name,
                                       .settings = settings,
                                       .params = texts[i].params,
                                       .metrics = texts[i].metrics,
                                       .intervals = texts[i].intervals,
                                       .notes = texts[i].notes,
                                       .baseline = i == result->baseline,
                                       .version = version};
    }
    if (!rc)
        rc = results_put(results, runs, n, err);
    for (size_t i = 0; texts && i < n; i++)
        texts_release(&texts[i]);
    free(texts);
    free(runs);
    free(settings);
    return rc;
}

int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 const char *version, struct err *err)
{
    for (size_t i = 0; i < result->policy_count + result->extra_baseline; i++) {
        char key[33];
        sweep_key(request, result, i, version, key);
        int there = results_has(results, key, err);
        if (there <= 0)
            return there;
    }
    return 1;
}
