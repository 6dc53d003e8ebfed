#include "replay/run/engine.h"

#include <stdlib.h>
#include <string.h>

#include "replay/run/replay_robust.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/version.h"

static json_t *inputs_json(const struct replay_request *request)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < request->input_count; i++) {
        const struct input *in = &request->inputs[i];
        if (json_array_append_new(inputs, json_pack("{s:s,s:o,s:s}", "role", in->role, "input",
                                                    json_tree_text(in->spec), "hash", in->hash))) {
            json_decref(inputs);
            return NULL;
        }
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
    int rc = platform && facts.inputs && facts.settings && json_object_update(facts.numbers, result->overrides) == 0 &&
                     replay_robust_put_settings(result, facts.settings) == 0
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
    const struct replay_policy *base = &result->policies[result->baseline];
    char name[128];
    json_t *object = json_pack("{s:s,s:o}", "policy", replay_policy_name(base, name, sizeof name), "params",
                               replay_policy_params_json(base));
    if (!object)
        err_set(err, "out of memory");
    return object;
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
