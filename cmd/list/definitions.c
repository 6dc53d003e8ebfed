#include "cmd/list/definitions.h"

#include <stdio.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/workloads/workload.h"

/* Whether an owner is wanted; it is a suggestion where another one is. */
static bool wanted(const char *of, const char *owner, struct suggest *suggest)
{
    if (!of || strcmp(of, owner) == 0)
        return true;
    suggest_offer(suggest, owner);
    return false;
}

/* --- metrics --- */

bool definitions_metrics(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "metric", "unit", "over runs", "definition"};
    bool found = false;
    listing_start(l, sizeof names / sizeof *names, names);
    for (size_t e = 0; engines[e]; e++) {
        if (!wanted(of, engines[e]->name, suggest))
            continue;
        found = true;
        for (const struct metric *m = engines[e]->metrics; m->name; m++)
            listing_add(l, (const char *const[]){engines[e]->name, m->name, metric_unit(m->name),
                                                 metric_aggregate_name(m->aggregate), m->help});
    }
    return found;
}

/* --- tables of parameters --- */

static void start_params(struct listing *l, const char *const names[6])
{
    listing_start(l, 6, names);
}

static void add_params(struct listing *l, const char *owner, const struct param *table)
{
    for (const struct param *p = table; p && p->name; p++) {
        char value[256], range[256];
        listing_add(l, (const char *const[]){owner, p->name, p->type == PARAM_CHOICE ? "" : p->unit,
                                             param_default(p, value, sizeof value), param_range(p, range, sizeof range),
                                             p->help});
    }
}

bool definitions_settings(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "setting", "unit", "default", "range", "definition"};
    bool found = false;
    start_params(l, names);
    for (size_t e = 0; engines[e]; e++)
        if (wanted(of, engines[e]->name, suggest)) {
            found = true;
            add_params(l, engines[e]->name, engines[e]->settings);
        }
    return found;
}

/* A policy is of an engine, and may be asked for by the name of either. */
static bool add_policies(struct listing *l, const struct engine *engine, const char *of, struct suggest *suggest)
{
    bool found = false;
    for (int axis = 0; axis < 2; axis++) {
        const struct policy_head *const *policies = axis ? engine->second : engine->policies;
        for (size_t i = 0; policies && policies[i]; i++) {
            char owner[96];
            if (of && strcmp(of, engine->name) != 0 && !wanted(of, policies[i]->name, suggest))
                continue;
            found = true;
            (void)snprintf(owner, sizeof owner, "%s %s%s", engine->name, axis ? "+" : "", policies[i]->name);
            add_params(l, owner, policies[i]->params);
        }
    }
    return found;
}

bool definitions_parameters(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"policy", "parameter", "unit", "default", "range", "definition"};
    bool found = false;
    start_params(l, names);
    for (size_t e = 0; engines[e]; e++)
        found |= add_policies(l, engines[e], of, suggest);
    return found;
}

bool definitions_keys(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"program", "key", "unit", "default", "range", "definition"};
    bool found = false;
    start_params(l, names);
    for (size_t i = 0; workload_types[i]; i++)
        if (wanted(of, workload_types[i]->name, suggest)) {
            found = true;
            add_params(l, workload_types[i]->name, workload_types[i]->params);
        }
    return found;
}

/* Of a platform's number the value is the platform's: there is no default. */
bool definitions_numbers(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"section", "number", "unit", "range", "definition"};
    bool found = false;
    listing_start(l, sizeof names / sizeof *names, names);
    for (size_t s = 0; platform_sections[s]; s++) {
        if (!wanted(of, platform_sections[s]->name, suggest))
            continue;
        found = true;
        for (const struct param *p = platform_sections[s]->params; p->name; p++) {
            char range[256];
            listing_add(l, (const char *const[]){platform_sections[s]->name, p->name,
                                                 p->type == PARAM_CHOICE ? "" : p->unit,
                                                 param_range(p, range, sizeof range), p->help});
        }
    }
    return found;
}
