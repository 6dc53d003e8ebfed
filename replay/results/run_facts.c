#include "replay/results/run_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/case_keys.h"
#include "trace/base/mem.h"

const char *run_fact_kind_name(enum run_fact_kind kind)
{
    static const char *const names[RUN_FACTS] = {"engine", "part",   "input",     "platform", "setting",
                                                 "number", "policy", "parameter", "baseline", "version"};
    return names[kind];
}

void run_facts_release(struct run_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->items[i].name);
        free(facts->items[i].value);
        free(facts->items[i].scope);
        json_decref(facts->items[i].shown);
    }
    free(facts->items);
    *facts = (struct run_facts){0};
}

/* Add a fact; shown is taken over, value may be NULL: the text of what is shown. */
static int add(struct run_facts *facts, const struct run *run, enum run_fact_kind kind, const char *name,
               const char *value, json_t *shown)
{
    const char *within = kind == RUN_FACT_PARAMETER ? run->policy : kind == RUN_FACT_NUMBER ? run->platform : "";
    struct run_fact fact = {.kind = kind, .shown = shown};
    if (asprintf(&fact.scope, "%s\n%s", run->engine, within) < 0)
        fact.scope = NULL;
    fact.name = mem_strdup(name, NULL);
    fact.value = value ? mem_strdup(value, NULL) : case_keys_text(shown);
    if (fact.scope && fact.name && fact.value && shown &&
        mem_grow((void **)&facts->items, &facts->cap, facts->count + 1, sizeof fact, NULL) == 0) {
        facts->items[facts->count++] = fact;
        return 0;
    }
    free(fact.scope);
    free(fact.name);
    free(fact.value);
    json_decref(shown);
    return -1;
}

static int add_all(struct run_facts *facts, const struct run *run, enum run_fact_kind kind, const json_t *object)
{
    const char *name;
    json_t *value;
    int bad = 0;
    json_object_foreach((json_t *)object, name, value) bad |= add(facts, run, kind, name, NULL, json_incref(value));
    return bad;
}

static int add_inputs(struct run_facts *facts, const struct run *run, bool by_name)
{
    size_t i;
    json_t *input;
    int bad = 0;
    json_array_foreach(run->run_case.inputs, i, input)
    {
        const char *role = json_string_value(json_object_get(input, "role"));
        const char *hash = json_string_value(json_object_get(input, "hash"));
        json_t *given = json_object_get(input, "input");
        size_t nth = 1;
        for (size_t k = 0; k < i; k++)
            nth += json_equal(json_object_get(json_array_get(run->run_case.inputs, k), "role"),
                              json_object_get(input, "role"));
        char name[64];
        (void)snprintf(name, sizeof name, nth > 1 ? "%.40s%zu" : "%.40s", role && *role ? role : "input", nth);
        bad |= add(facts, run, RUN_FACT_INPUT, name, by_name ? NULL : hash, json_incref(given));
    }
    return bad;
}

int run_facts_of(struct run_facts *facts, const struct run *run, bool by_name, struct err *err)
{
    *facts = (struct run_facts){0};
    char *baseline = case_keys_baseline(run);
    int bad = !baseline || add(facts, run, RUN_FACT_ENGINE, "engine", NULL, json_string(run->engine)) ||
              (run->part && add(facts, run, RUN_FACT_PART, run->part_by, NULL, json_string(run->part))) ||
              add_inputs(facts, run, by_name) ||
              add(facts, run, RUN_FACT_PLATFORM, "platform", NULL, json_string(run->platform)) ||
              add_all(facts, run, RUN_FACT_SETTING, run->run_case.settings) ||
              add_all(facts, run, RUN_FACT_NUMBER, run->run_case.numbers) ||
              add(facts, run, RUN_FACT_POLICY, "policy", NULL, json_string(run->policy)) ||
              add_all(facts, run, RUN_FACT_PARAMETER, run->params) ||
              add(facts, run, RUN_FACT_BASELINE, "baseline", NULL, json_string(baseline)) ||
              add(facts, run, RUN_FACT_VERSION, "version", NULL, json_string(run->run_case.version));
    free(baseline);
    return bad ? err_set(err, "out of memory while comparing runs") : 0;
}

const struct run_fact *run_facts_find(const struct run_facts *facts, size_t hint, enum run_fact_kind kind,
                                      const char *name)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct run_fact *fact = &facts->items[(hint + i) % facts->count];
        if (fact->kind == kind && strcmp(fact->name, name) == 0)
            return fact;
    }
    return NULL;
}

bool run_facts_unhashed(const struct run *run)
{
    size_t i;
    json_t *input;
    json_array_foreach(run->run_case.inputs, i, input)
    {
        const char *hash = json_string_value(json_object_get(input, "hash"));
        if (!hash || !*hash)
            return true;
    }
    return false;
}
