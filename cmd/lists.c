#include "cmd/lists.h"

#include <stdio.h>
#include <string.h>

#include "replay/report/plot.h"
#include "replay/run/engine.h"
#include "trace/base/json_tree.h"
#include "trace/base/param.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"
#include "trace/workloads/workload.h"

/* --- rows --- */

void listing_start(struct listing *l, size_t columns, const char *const *names)
{
    l->array = json_array();
    l->names = names;
    l->columns = columns;
    table_init(&l->table, columns);
    for (size_t i = 0; i < columns; i++)
        table_cell(&l->table, "%s", names[i]);
}

/* A policy of a second axis is listed behind a '+'; a metric is h2d_bytes or, as in tables, h2d. */
static bool is_asked(const struct listing *l, const char *name)
{
    char label[80];
    if (!l->only)
        return true;
    name += *name == '+';
    suggest_offer(l->only, name);
    return strcmp(name, l->only->word) == 0 || strcmp(metric_label(name, label, sizeof label), l->only->word) == 0;
}

/* One thing; `column` of the columns is an array of words. */
static void add_words(struct listing *l, const char *const *values, size_t column, const char *const *words,
                      size_t count)
{
    char joined[256] = "";
    if (!is_asked(l, values[l->column]))
        return;
    json_t *object = json_object(), *array = json_array();
    for (size_t i = 0, used = 0; i < count && used < sizeof joined; i++) {
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i ? " " : "", words[i]);
        json_tree_add(&array, json_string(words[i]));
    }
    for (size_t i = 0; i < l->columns; i++) {
        const char *text = i == column ? joined : values[i];
        table_cell(&l->table, "%s", text ? text : "");
        json_tree_put(&object, l->names[i], i == column ? json_incref(array) : text ? json_string(text) : json_null());
    }
    json_decref(array);
    json_tree_add(&l->array, object);
}

/* One thing: as many values as columns; NULL: empty, null in JSON. */
static void add(struct listing *l, const char *const *values)
{
    add_words(l, values, l->columns, NULL, 0);
}

void listing_release(struct listing *l)
{
    table_release(&l->table);
    json_decref(l->array);
}

static const char *describe_params(const struct param *table, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (const struct param *p = table; p && p->name && used < size; p++) {
        char value[128];
        used += (size_t)snprintf(buf + used, size - used, "%s%s=%s", used ? "," : "", p->name,
                                 param_default(p, value, sizeof value));
    }
    return buf;
}

#define ROW(...) add(l, (const char *const[]){__VA_ARGS__})

/* Whether an owner is wanted; it is a suggestion where another one is. */
static bool wanted(const char *of, const char *owner, struct suggest *suggest)
{
    if (!of || strcmp(of, owner) == 0)
        return true;
    suggest_offer(suggest, owner);
    return false;
}

/* --- what can be named --- */

static bool fill_engines(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "platform", "policies", "summary"};
    (void)of, (void)suggest;
    listing_start(l, 4, names);
    for (const struct engine *const *e = engines; *e; e++)
        ROW((*e)->name, (*e)->default_platform, (*e)->default_policies, (*e)->summary);
    return true;
}

static bool fill_policies(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "policy", "parameters", "summary", "source"};
    bool found = false;
    listing_start(l, 5, names);
    for (const struct engine *const *e = engines; *e; e++) {
        if (!wanted(of, (*e)->name, suggest))
            continue;
        found = true;
        for (int axis = 0; axis < 2; axis++)
            for (const struct policy_head *const *p = axis ? (*e)->second : (*e)->policies; p && *p; p++) {
                char params[1024], name[64];
                (void)snprintf(name, sizeof name, "%s%s", axis ? "+" : "", (*p)->name);
                ROW((*e)->name, name, describe_params((*p)->params, params, sizeof params), (*p)->summary,
                    (*p)->source);
            }
    }
    return found;
}

static bool fill_platforms(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"platform", "summary"};
    char name[64];
    (void)of, (void)suggest;
    listing_start(l, 2, names);
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, &l->err);
        if (!p)
            break;
        ROW(name, platform_summary(p));
        platform_free(p);
    }
    return true;
}

static bool fill_programs(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"name", "views", "keys", "summary", "source"};
    /* The engines that can take a view, in the order of the bits of enum workload_view. */
    static const char *const view_names[] = {"uvm", "zerocopy", "dram", "placement"};
    (void)of, (void)suggest;
    listing_start(l, 5, names);
    for (const struct workload_type *const *t = workload_types; *t; t++) {
        const char *views[sizeof view_names / sizeof *view_names];
        char keys[1024];
        size_t count = 0;
        for (size_t v = 0; v < sizeof view_names / sizeof *view_names; v++)
            if ((*t)->views >> v & 1)
                views[count++] = view_names[v];
        const char *const values[] = {(*t)->name, NULL, describe_params((*t)->params, keys, sizeof keys), (*t)->summary,
                                      (*t)->source};
        add_words(l, values, 1, views, count);
    }
    return true;
}

static bool fill_formats(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"format", "for", "options", "summary"};
    char params[1024];
    (void)of, (void)suggest;
    listing_start(l, 4, names);
    for (size_t i = 0; readers[i]; i++)
        ROW(readers[i]->name, "import", describe_params(readers[i]->options, params, sizeof params),
            readers[i]->summary);
    for (size_t i = 0; exporters[i]; i++)
        ROW(exporters[i]->name, "export", describe_params(exporters[i]->options, params, sizeof params),
            exporters[i]->summary);
    return true;
}

static bool fill_figures(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"figure", "from", "needs", "summary", "source"};
    (void)of, (void)suggest;
    listing_start(l, 5, names);
    for (size_t i = 0; figures[i]; i++) {
        const struct figure *f = figures[i];
        const int kinds = f->kinds & ~FIGURE_WINDOW;
        const char *from = kinds == FIGURE_RESULTS ? "results"
                           : kinds == FIGURE_TRACE ? "trace"
                           : kinds == FIGURE_SPEC  ? "file"
                                                   : "trace, file";
        ROW(f->name, from, f->needs, f->summary, f->source);
    }
    return true;
}

/* --- definitions --- */

static bool fill_metrics(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "metric", "unit", "over runs", "definition"};
    bool found = false;
    listing_start(l, 5, names);
    for (const struct engine *const *e = engines; *e; e++) {
        if (!wanted(of, (*e)->name, suggest))
            continue;
        found = true;
        for (const struct metric *m = (*e)->metrics; m->name; m++)
            ROW((*e)->name, m->name, metric_unit(m->name), metric_aggregate_name(m->aggregate), m->help);
    }
    return found;
}

/* Of a platform's number the value is the platform's: `with_default` is false. */
static void add_param(struct listing *l, const char *owner, const struct param *p, bool with_default)
{
    char value[256], range[256];
    const char *unit = p->type == PARAM_CHOICE ? "" : p->unit;
    (void)param_range(p, range, sizeof range);
    if (with_default)
        ROW(owner, p->name, unit, param_default(p, value, sizeof value), range, p->help);
    else
        ROW(owner, p->name, unit, range, p->help);
}

static void add_params(struct listing *l, const char *owner, const struct param *table, bool with_default)
{
    for (const struct param *p = table; p && p->name; p++)
        add_param(l, owner, p, with_default);
}

/* The engines that take the setting, "uvm, zerocopy". Returns the first of them. */
static const struct engine *takers(const struct param *p, char *names, size_t size)
{
    const struct engine *first = NULL;
    size_t n = 0;
    for (const struct engine *const *e = engines; *e; e++) {
        const struct param *own = param_find((*e)->settings, p->name);
        if (!own || strcmp(own->help, p->help) != 0)
            continue;
        first = first ? first : *e;
        n += (size_t)snprintf(names + n, size - n, "%s%s", n ? ", " : "", (*e)->name);
    }
    return first;
}

static bool fill_settings(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"engine", "setting", "unit", "default", "range", "definition"};
    bool found = false;
    listing_start(l, 6, names);
    for (const struct engine *const *e = engines; *e; e++) {
        if (!wanted(of, (*e)->name, suggest))
            continue;
        found = true;
        for (const struct param *p = (*e)->settings; p && p->name; p++) {
            char owners[128];
            if (takers(p, owners, sizeof owners) == *e || of)
                add_param(l, owners, p, true);
        }
    }
    return found;
}

/* A policy is of an engine, and may be asked for by the name of either. */
static bool fill_parameters(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"policy", "parameter", "unit", "default", "range", "definition"};
    bool found = false;
    listing_start(l, 6, names);
    for (const struct engine *const *e = engines; *e; e++)
        for (int axis = 0; axis < 2; axis++)
            for (const struct policy_head *const *p = axis ? (*e)->second : (*e)->policies; p && *p; p++) {
                char owner[96];
                if (of && strcmp(of, (*e)->name) != 0 && !wanted(of, (*p)->name, suggest))
                    continue;
                found = true;
                (void)snprintf(owner, sizeof owner, "%s %s%s", (*e)->name, axis ? "+" : "", (*p)->name);
                add_params(l, owner, (*p)->params, true);
            }
    return found;
}

static bool fill_keys(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"program", "key", "unit", "default", "range", "definition"};
    bool found = false;
    listing_start(l, 6, names);
    for (const struct workload_type *const *t = workload_types; *t; t++)
        if (wanted(of, (*t)->name, suggest)) {
            found = true;
            add_params(l, (*t)->name, (*t)->params, true);
        }
    return found;
}

static bool fill_numbers(struct listing *l, const char *of, struct suggest *suggest)
{
    static const char *const names[] = {"section", "number", "unit", "range", "definition"};
    bool found = false;
    listing_start(l, 5, names);
    for (size_t s = 0; platform_sections[s]; s++)
        if (wanted(of, platform_sections[s]->name, suggest)) {
            found = true;
            add_params(l, platform_sections[s]->name, platform_sections[s]->params, false);
        }
    return found;
}

const struct list lists[] = {{"engines", fill_engines, NULL, 0},
                             {"policies", fill_policies, "engine", 1},
                             {"platforms", fill_platforms, NULL, 0},
                             {"programs", fill_programs, NULL, 0},
                             {"formats", fill_formats, NULL, 0},
                             {"figures", fill_figures, NULL, 0},
                             {"metrics", fill_metrics, "engine", 1},
                             {"settings", fill_settings, "engine", 1},
                             {"parameters", fill_parameters, "engine or policy", 1},
                             {"keys", fill_keys, "program", 1},
                             {"numbers", fill_numbers, "section of platforms", 1},
                             {0}};
