#include "replay/sweep/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sweep/sweep.h"
#include "trace/base/mem.h"

/* The point owns the text; NULL stays NULL. */
static const char *keep(struct save_point *point, char *text, struct err *err)
{
    if (!text || mem_grow((void **)&point->texts, &point->text_cap, point->text_count + 1, sizeof *point->texts, err)) {
        free(text);
        return NULL;
    }
    return point->texts[point->text_count++] = text;
}

/* As keep(), of a JSON value, whose reference is taken. */
static const char *keep_json(struct save_point *point, json_t *value, struct err *err)
{
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    return keep(point, text, err);
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

static int add_run(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                   const char *version, struct err *err)
{
    size_t i = point->count;
    struct results_run *run = &point->runs[i];
    char key[33];
    json_t *out = json_object();
    if (outcome_to_json(&result->runs[i], out, err)) {
        json_decref(out);
        return -1;
    }
    sweep_key(request, result, i, version, key);
    run->key = keep(point, mem_strdup(key, err), err);
    run->policy = result->policies[i].head->name;
    run->params =
        keep_json(point, replay_params_json(result->policies[i].head->params, result->policies[i].params), err);
    run->metrics = keep_json(point, json_incref(json_object_get(out, "metrics")), err);
    run->intervals = keep_json(point, json_incref(json_object_get(out, "interval")), err);
    run->notes = keep_json(point, json_incref(json_object_get(out, "notes")), err);
    json_t *parts = json_object_get(out, "parts");
    run->parts = keep_json(point, parts ? json_incref(parts) : json_object(), err);
    run->baseline = i == result->baseline;
    json_decref(out);
    point->count++;
    return run->key && run->params && run->metrics && run->intervals && run->notes && run->parts
               ? 0
               : err_set(err, "out of memory");
}

int save_point_init(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                    int64_t position, const char *version, struct err *err)
{
    *point = (struct save_point){0};
    size_t n = result->policy_count + result->extra_baseline;
    char input[4096];
    input_text(request, input, sizeof input);
    const struct results_run common = {.engine = result->engine->name,
                                       .input = keep(point, mem_strdup(input, err), err),
                                       .input_hash = keep(point, mem_strdup(request->inputs[0].hash, err), err),
                                       .platform = keep(point, mem_strdup(platform_name(result->platform), err), err),
                                       .settings = keep_json(point, replay_settings_json(result), err),
                                       .version = version};
    point->runs = mem_zalloc(n, sizeof *point->runs, err);
    int rc = point->runs && common.input && common.input_hash && common.platform && common.settings
                 ? 0
                 : err_set(err, "out of memory");
    for (size_t i = 0; i < n && !rc; i++) {
        point->runs[i] = common;
        point->runs[i].position = position < 0 ? -1 : position + (int64_t)i;
        rc = add_run(point, request, result, version, err);
    }
    if (rc)
        save_point_release(point);
    return rc;
}

void save_point_release(struct save_point *point)
{
    for (size_t i = 0; i < point->text_count; i++)
        free(point->texts[i]);
    free((void *)point->texts);
    free(point->runs);
    *point = (struct save_point){0};
}

int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, const char *version, struct err *err)
{
    struct save_point point;
    if (save_point_init(&point, request, result, position, version, err))
        return -1;
    int rc = results_put(results, point.runs, point.count, err);
    save_point_release(&point);
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
