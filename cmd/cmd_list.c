/* offchip list: the names that the command line takes, with the program's tables' descriptions. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "replay/placement/placement_tasks.h"
#include "replay/report/plot.h"
#include "replay/run/engine.h"
#include "replay/run/platform_use.h"
#include "replay/verify/verify.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/param_value.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"
#include "trace/workloads/workload.h"

#define LISTS                                                                                                          \
    "engines, policies [ENGINE], platforms [NAME|FILE.ini], programs, formats, figures, metrics [ENGINE], settings "   \
    "[ENGINE], parameters [ENGINE|POLICY], keys [PROGRAM], numbers [SECTION], or a name that one of them has"

static int format;
static const struct opt options[] = {OPT_FORMAT(&format), {0}};

/* --- rows --- */

/* Things of one kind, printed as a table, as CSV or as an array of JSON objects. */
struct listing {
    struct table table;
    json_t *array;
    const char *const *names; /* of the columns and of the members alike; end with NULL */
    const char *of;           /* whose things; NULL: all */
    struct suggest *suggest;  /* is offered the owners' names; with `only` those of the things */
    bool found;               /* there is such an owner */
    bool only;                /* keep only what has suggest->word as name in that column */
    size_t column;
    struct err err; /* with a text: what could not be listed */
};

/* A policy of a second axis is listed behind a '+'; a metric is h2d_bytes or, as in tables, h2d. */
static bool is_asked(struct listing *l, const char *name)
{
    char label[80];
    if (!l->only)
        return true;
    name += *name == '+';
    suggest_offer(l->suggest, name);
    const char *word = l->suggest->word;
    return strcmp(name, word) == 0 || strcmp(metric_label(name, label, sizeof label), word) == 0;
}

/* One thing; `column` of the columns is an array of words. */
static void add_words(struct listing *l, const char *const *values, size_t column, const char *const *words,
                      size_t count)
{
    char joined[256] = "";
    if (!is_asked(l, values[l->column]))
        return;
    json_t *object = json_object(), *array = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)mem_add_text(joined, sizeof joined, "%s%s", i ? " " : "", words[i]);
        json_tree_add(&array, json_string(words[i]));
    }
    for (size_t i = 0; i < l->table.columns; i++) {
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
    add_words(l, values, SIZE_MAX, NULL, 0);
}

static void listing_release(struct listing *l)
{
    table_release(&l->table);
    json_decref(l->array);
}

static const char *describe_params(const struct param *table, char *buf, size_t size)
{
    buf[0] = 0;
    for (const struct param *p = table; p && p->name; p++) {
        char value[128];
        (void)mem_add_text(buf, size, "%s%s=%s", *buf ? "," : "", p->name, param_default(p, value, sizeof value));
    }
    return buf;
}

#define ROW(...) add(l, (const char *const[]){__VA_ARGS__})

/* Whether an owner is wanted; it is a suggestion where another one is. */
static bool wanted(struct listing *l, const char *owner)
{
    const bool is = !l->of || strcmp(l->of, owner) == 0;
    l->found |= is;
    if (!is)
        suggest_offer(l->suggest, owner);
    return is;
}

/* --- what can be named --- */

static void add_engine(struct listing *l, const struct engine *e)
{
    ROW(e->name, e->default_platform, e->default_policies, e->summary);
}

static void add_policies(struct listing *l, const struct engine *e)
{
    char params[1024], name[64];
    for (int axis = 0; axis < 2; axis++)
        for (const struct policy_head *const *p = axis ? e->second : e->policies; p && *p; p++) {
            (void)snprintf(name, sizeof name, "%s%s", axis ? "+" : "", (*p)->name);
            ROW(e->name, name, describe_params((*p)->params, params, sizeof params), (*p)->summary, (*p)->source);
        }
}

static void fill_platforms(struct listing *l)
{
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct platform *p = platform_load(name, &l->err);
        if (!p)
            break;
        ROW(name, p->summary);
        platform_free(p);
    }
}

static void fill_programs(struct listing *l)
{
    /* The engines that can take a view, in the order of the bits of enum workload_view. */
    static const char *const view_names[] = {"uvm", "zerocopy", "dram", "placement"};
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
}

static void fill_formats(struct listing *l)
{
    char params[1024];
    for (size_t i = 0; readers[i]; i++)
        ROW(readers[i]->name, "import", describe_params(readers[i]->options, params, sizeof params),
            readers[i]->summary);
    for (size_t i = 0; exporters[i]; i++)
        ROW(exporters[i]->name, "export", describe_params(exporters[i]->options, params, sizeof params),
            exporters[i]->summary);
}

static void fill_figures(struct listing *l)
{
    for (size_t i = 0; figures[i]; i++) {
        const struct figure *f = figures[i];
        const int kinds = f->kinds & ~FIGURE_WINDOW;
        const char *from = kinds == FIGURE_RESULTS ? "results"
                           : kinds == FIGURE_TRACE ? "trace"
                           : kinds == FIGURE_SPEC  ? "file"
                                                   : "trace, file";
        ROW(f->name, from, f->needs, f->summary, f->source);
    }
}

/* --- definitions --- */

static void add_metric_table(struct listing *l, const char *owner, const struct metric *table)
{
    for (const struct metric *m = table; m->name && (!l->of || wanted(l, owner)); m++)
        ROW(owner, m->name, metric_unit(m->name), metric_aggregate_names[m->aggregate], m->help);
}

static void fill_metrics(struct listing *l)
{
    for (const struct engine *const *e = engines; *e; e++)
        add_metric_table(l, (*e)->name, (*e)->metrics);
    add_metric_table(l, "verify", verify_metrics);
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
    names[0] = 0;
    for (const struct engine *const *e = engines; *e; e++) {
        const struct param *own = param_find((*e)->settings, p->name);
        if (!own || strcmp(own->help, p->help) != 0)
            continue;
        first = first ? first : *e;
        (void)mem_add_text(names, size, "%s%s", *names ? ", " : "", (*e)->name);
    }
    return first;
}

static void add_settings(struct listing *l, const struct engine *e)
{
    for (const struct param *p = e->settings; p && p->name; p++) {
        char owners[128];
        if (takers(p, owners, sizeof owners) == e || l->of)
            add_param(l, owners, p, true);
    }
}

/* A policy is of an engine, and may be asked for by the name of either. */
static void fill_parameters(struct listing *l)
{
    for (const struct engine *const *e = engines; *e; e++)
        for (int axis = 0; axis < 2; axis++)
            for (const struct policy_head *const *p = axis ? (*e)->second : (*e)->policies; p && *p; p++) {
                char owner[96];
                if ((!l->of || strcmp(l->of, (*e)->name) != 0) && !wanted(l, (*p)->name))
                    continue;
                l->found = true;
                (void)snprintf(owner, sizeof owner, "%s %s%s", (*e)->name, axis ? "+" : "", (*p)->name);
                add_params(l, owner, (*p)->params, true);
            }
}

static void fill_keys(struct listing *l)
{
    for (const struct workload_type *const *t = workload_types; *t; t++)
        if (wanted(l, (*t)->name))
            add_params(l, (*t)->name, (*t)->params, true);
    if (wanted(l, "task"))
        add_params(l, "task", placement_task_params, true); /* of a file for `replay placement` */
}

static void fill_numbers(struct listing *l)
{
    for (size_t s = 0; platform_sections[s]; s++)
        if (wanted(l, platform_sections[s]->name))
            add_params(l, platform_sections[s]->name, platform_sections[s]->params, false);
}

#define PARAMS "unit", "default", "range", "definition"

static const struct list {
    const char *name;
    const char *owner;                                            /* whose names `of` is one of; NULL: of nobody's */
    size_t column;                                                /* where the names stand */
    void (*add)(struct listing *listing, const struct engine *e); /* what an engine has; or */
    void (*fill)(struct listing *listing);                        /* all there is, of the owner `of` */
    const char *columns[7];
} lists[] = {
    {"engines", NULL, 0, add_engine, NULL, {"engine", "platform", "policies", "summary"}},
    {"policies", "engine", 1, add_policies, NULL, {"engine", "policy", "parameters", "summary", "source"}},
    {"platforms", NULL, 0, NULL, fill_platforms, {"platform", "summary"}},
    {"programs", NULL, 0, NULL, fill_programs, {"name", "views", "keys", "summary", "source"}},
    {"formats", NULL, 0, NULL, fill_formats, {"format", "for", "options", "summary"}},
    {"figures", NULL, 0, NULL, fill_figures, {"figure", "from", "needs", "summary", "source"}},
    {"metrics", "engine", 1, NULL, fill_metrics, {"engine", "metric", "unit", "over runs", "definition"}},
    {"settings", "engine", 1, add_settings, NULL, {"engine", "setting", PARAMS}},
    {"parameters", "engine or policy", 1, NULL, fill_parameters, {"policy", "parameter", PARAMS}},
    {"keys", "program", 1, NULL, fill_keys, {"program", "key", PARAMS}},
    {"numbers", "section of platforms", 1, NULL, fill_numbers, {"section", "number", "unit", "range", "definition"}},
    {0}};

static const struct list *find_list(const char *name)
{
    for (const struct list *list = lists; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

static void start(struct listing *l, const char *const *names)
{
    l->names = names;
    l->array = json_array();
    table_begin(&l->table, names);
}

/* Fill a listing that has `of`, `suggest` and `only`. */
static void fill(struct listing *l, const struct list *list)
{
    start(l, list->columns);
    l->column = list->column;
    if (list->fill)
        list->fill(l);
    for (const struct engine *const *e = engines; *e && list->add; e++)
        if (wanted(l, (*e)->name))
            list->add(l, *e);
}

void cmd_list_names(const char *name, const char *of, void (*each)(void *ctx, const char *name), void *ctx)
{
    const struct list *list = find_list(name);
    struct listing l = {.of = of, .suggest = &(struct suggest){.word = of ? of : ""}};
    fill(&l, list);
    for (size_t at = l.table.columns + list->column; at < l.table.count; at += l.table.columns)
        each(ctx, l.table.cells[at]);
    listing_release(&l);
}

static void offer(void *suggest, const char *name)
{
    suggest_offer(suggest, name);
}

int cmd_no_such(const char *what, const char *name)
{
    char list[32], hint[SUGGEST_HINT];
    struct suggest suggest = {.word = name};
    (void)snprintf(list, sizeof list, "%ss", what);
    cmd_list_names(list, NULL, offer, &suggest);
    return cmd_usage("no %s is called '%s'; see 'offchip list %s'%s", what, name, list,
                     suggest_hint(&suggest, hint, sizeof hint));
}

/* --- the command --- */

static int finish(struct listing *l)
{
    int status = EXIT_DONE;
    if (l->err.msg[0])
        status = cmd_fail(EXIT_DATA, "%s", l->err.msg);
    else if (format == FORMAT_JSON)
        status = cmd_print_json(json_incref(l->array));
    else
        (format == FORMAT_CSV ? table_csv : table_print)(&l->table, stdout);
    listing_release(l);
    return status;
}

/* A row for each number of a section that the platform has. */
static void add_numbers(struct listing *l, const struct platform *p, const struct platform_section *section)
{
    const void *values = platform_section_get(p, section->name);
    for (const struct param *row = section->params; row->name; row++) {
        const struct platform_number *n = platform_number(p, section->name, row->name);
        char name[128], value[256], source[1200];
        if (n->state == PLATFORM_UNSTATED)
            continue;
        (void)snprintf(name, sizeof name, "%s.%s", section->name, row->name);
        TABLE_WORDS(&l->table, name, param_format(row, values, value, sizeof value),
                    row->type == PARAM_CHOICE ? "" : row->unit, platform_kind_name(n->kind));
        for (int end = 0; end < 2; end++)
            if (n->low == n->high)
                table_cell(&l->table, "%s", "");
            else if (row->type == PARAM_CHOICE)
                table_cell(&l->table, "%s", param_choice(row, (int64_t)(end ? n->high : n->low), value, sizeof value));
            else if (row->type == PARAM_BYTES)
                table_cell(&l->table, "%s", units_format_bytes((int64_t)(end ? n->high : n->low), value, sizeof value));
            else
                table_cell(&l->table, "%.15g", end ? n->high : n->low);
        table_cell(&l->table, "%s", platform_json_source(p, section->name, n, source, sizeof source));
    }
}

static void print_numbers(const struct platform *p)
{
    static const char *const names[] = {"number", "value", "unit", "kind", "low", "high", "source", NULL};
    struct listing l = {0};
    start(&l, names);
    for (size_t s = 0; platform_sections[s]; s++)
        if (platform_has(p, platform_sections[s]->name))
            add_numbers(&l, p, platform_sections[s]);
    if (format == FORMAT_TABLE)
        printable_print(stdout, "platform %s (%s): %s\n", p->name, p->from, p->summary);
    (void)finish(&l);
    for (size_t s = 0; platform_sections[s] && format == FORMAT_TABLE; s++)
        if (platform_none(p, platform_sections[s]->name))
            printable_print(stdout, "no [%s]: %s\n", platform_sections[s]->name,
                            platform_none(p, platform_sections[s]->name));
}

/* All numbers of one, by name or file. */
static int list_platform(const char *name)
{
    struct err err = {""};
    struct platform *p = platform_load(name, &err);
    if (!p)
        return cmd_usage("%s", err.msg);
    int status = EXIT_DONE;
    if (format == FORMAT_JSON)
        status = cmd_print_json(platform_json_list(p));
    else
        print_numbers(p);
    platform_free(p);
    return status;
}

/* One thing: a line for each column. */
static void print_one(const struct listing *l)
{
    for (size_t c = 0; c < l->table.columns; c++)
        if (*l->table.cells[l->table.columns + c])
            printable_print(stdout, "%-11s %s\n", l->names[c], l->table.cells[l->table.columns + c]);
}

/* What every list says of one name. */
static int list_name(const char *name)
{
    struct suggest suggest = {.word = name};
    char hint[SUGGEST_HINT];
    json_t *found = json_array();
    for (const struct list *list = lists; list->name; list++) {
        struct listing l = {.suggest = &suggest, .only = true};
        suggest_offer(&suggest, list->name);
        fill(&l, list);
        if (json_array_size(l.array) && format != FORMAT_JSON) {
            if (json_array_size(found))
                (void)putchar('\n');
            if (format == FORMAT_TABLE && json_array_size(l.array) == 1)
                print_one(&l);
            else
                (format == FORMAT_CSV ? table_csv : table_print)(&l.table, stdout);
            if (format == FORMAT_TABLE && strcmp(list->name, "programs") == 0)
                printable_print(stdout, "each key: 'offchip list keys %s'\n", name);
        }
        (void)json_array_extend(found, l.array);
        listing_release(&l);
    }
    if (json_array_size(found) && format == FORMAT_JSON)
        return cmd_print_json(found);
    const bool any = json_array_size(found) > 0;
    json_decref(found);
    return any ? EXIT_DONE
               : cmd_usage("cannot list '%s'; expected one of " LISTS "%s", name,
                           suggest_hint(&suggest, hint, sizeof hint));
}

static int list_all(const struct list *list, const char *owner)
{
    struct suggest suggest = {.word = owner};
    struct listing l = {.of = owner, .suggest = &suggest};
    fill(&l, list);
    if (owner && !(l.found && list->owner)) {
        listing_release(&l);
        return list_name(owner);
    }
    size_t left = 0;
    for (size_t c = l.table.columns; format == FORMAT_TABLE && !owner && c-- > 0;)
        if (param_position("parameters|keys|source", list->columns[c]) >= 0 && ++left)
            table_leave_out(&l.table, c);
    const int status = finish(&l);
    if (left)
        printable_print(stdout, "parameters and source of each: 'offchip list NAME', or --format csv\n");
    return status;
}

/* What can be listed. */
static int list_lists(void)
{
    for (const struct list *list = lists; list->name; list++)
        printable_print(stdout, list->owner ? "offchip list %s [%s]\n" : "offchip list %s\n", list->name, list->owner);
    puts("offchip list NAME    all that is said of one name");
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "platforms") == 0)
        return list_platform(argv[1]);
    if (argc == 0)
        return list_lists();
    if (argc > 2)
        return cmd_usage("one of " LISTS " is needed");
    const char *name = strcmp(argv[0], "workloads") ? argv[0] : "programs"; /* which were called that before */
    char plural[80];
    (void)snprintf(plural, sizeof plural, "%ss", name);
    const struct list *list = find_list(name) ?: find_list(plural);
    if (list)
        return list_all(list, argv[1]);
    return argc == 1 ? list_name(name) : cmd_usage("cannot list '%s'; expected one of " LISTS, name);
}

const struct command cmd_list = {
    .name = "list",
    .summary = "list what can be named, set or is reported, with definitions",
    .usage = "engines|policies|programs|formats|figures|platforms [NAME|FILE.ini] [--format table|csv|json]\n"
             "       offchip list metrics|settings|parameters|keys|numbers [OF] [--format table|csv|json]\n"
             "       offchip list NAME",
    .details = "'platforms NAME' prints every number of that platform, with its source or range. 'offchip list NAME' "
               "is what all lists say of one name.",
    .examples = "  offchip list policies\n"
                "  offchip list platforms h200\n"
                "  offchip list oversubscription_pct",
    .options = options,
    .run = run,
};
