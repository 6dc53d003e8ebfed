#include "replay/run/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "replay/run/replay_robust.h"
#include "trace/base/json_tree.h"
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
    char *text = json_tree_dump(value, JSON_COMPACT);
    json_decref(value);
    return keep(point, text, err);
}

/* "synth:x", or "mem=A + pim=B". NULL if there is no memory. */
static char *input_text(const json_t *inputs, struct err *err)
{
    char *all = mem_strdup("", err);
    size_t i;
    json_t *input;
    json_array_foreach(inputs, i, input)
    {
        const char *role = json_string_value(json_object_get(input, "role"));
        char *more = NULL;
        if (!all || asprintf(&more, "%s%s%s%s%s", all, i ? " + " : "", role, *role ? "=" : "",
                             json_string_value(json_object_get(input, "input"))) < 0)
            more = NULL;
        free(all);
        all = more;
    }
    return all;
}

static int add_run(struct save_point *point, const struct run_case *run_case, const struct replay_result *result,
                   struct err *err)
{
    size_t i = point->count;
    struct results_run *run = &point->runs[i];
    char key[RUN_CASE_HASH];
    json_t *out = json_object();
    if (outcome_to_json(&result->runs[i], out, err) || replay_robust_put_run(result, i, out) ||
        replay_key(run_case, result, i, key, err)) {
        json_decref(out);
        return -1;
    }
    run->key = keep(point, mem_strdup(key, err), err);
    char name[128];
    run->policy = keep(point, mem_strdup(replay_policy_name(&result->policies[i], name, sizeof name), err), err);
    run->params = keep_json(point, replay_policy_params_json(&result->policies[i]), err);
    run->metrics = keep_json(point, json_incref(json_object_get(out, "metrics")), err);
    run->intervals = keep_json(point, results_intervals(out), err);
    run->notes = keep_json(point, json_incref(json_object_get(out, "notes")), err);
    json_t *parts = json_object_get(out, "parts");
    run->parts = keep_json(point, parts ? json_incref(parts) : json_object(), err);
    run->baseline = i == result->baseline;
    json_decref(out);
    point->count++;
    return run->key && run->policy && run->params && run->metrics && run->intervals && run->notes && run->parts
               ? 0
               : err_set(err, "out of memory");
}

/* What all runs of the request have in common. */
static int fill_common(struct save_point *point, struct results_run *common, const struct run_case *run_case,
                       const struct replay_result *result, struct err *err)
{
    const json_t *first = json_array_get(run_case->inputs, 0);
    *common = (struct results_run){
        .engine = result->engine->name,
        .input = keep(point, input_text(run_case->inputs, err), err),
        .input_hash = keep(point, mem_strdup(json_string_value(json_object_get(first, "hash")), err), err),
        .inputs = keep_json(point, json_incref(run_case->inputs), err),
        .platform = keep(point, mem_strdup(run_case->platform, err), err),
        .numbers = keep_json(point, json_incref(result->base_numbers), err),
        .overrides = keep_json(point, json_incref(result->overrides), err),
        .settings = keep_json(point, replay_settings_json(result), err),
        .relative_to = keep_json(point, replay_relative_to(result, err), err),
        .version = keep(point, mem_strdup(run_case->version, err), err)};
    return common->input && common->input_hash && common->inputs && common->platform && common->numbers &&
                   common->overrides && common->settings && common->relative_to && common->version
               ? 0
               : err_set(err, "out of memory");
}

int save_point_init(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                    int64_t position, struct err *err)
{
    *point = (struct save_point){0};
    size_t n = result->policy_count + result->extra_baseline;
    struct run_case run_case;
    struct results_run common;
    if (replay_case(request, result, &run_case, err))
        return -1;
    point->runs = mem_zalloc(n, sizeof *point->runs, err);
    int rc = point->runs ? fill_common(point, &common, &run_case, result, err) : -1;
    for (size_t i = 0; i < n && !rc; i++) {
        point->runs[i] = common;
        point->runs[i].position = position < 0 ? -1 : position + (int64_t)i;
        rc = add_run(point, &run_case, result, err);
    }
    run_case_release(&run_case);
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
                int64_t position, struct err *err)
{
    struct save_point point;
    if (save_point_init(&point, request, result, position, err))
        return -1;
    int rc = results_put(results, point.runs, point.count, err);
    save_point_release(&point);
    return rc;
}

int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 struct err *err)
{
    struct run_case run_case;
    if (replay_case(request, result, &run_case, err))
        return -1;
    int there = 1;
    for (size_t i = 0; i < result->policy_count + result->extra_baseline && there == 1; i++) {
        char key[RUN_CASE_HASH];
        there = replay_key(&run_case, result, i, key, err) ? -1 : results_has(results, key, err);
    }
    run_case_release(&run_case);
    return there;
}
