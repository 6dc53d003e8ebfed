/* offchip list: what can be named on the command line. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "replay/figure/plot.h"
#include "replay/run/engine.h"
#include "replay/run/platform_json.h"
#include "trace/base/json_tree.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"

static int format;
static const struct opt options[] = {OPT_FORMAT(&format), {0}};

/* One thing listed: columns by the header of its list. */
struct listing {
    struct table table;
    json_t *array;
};

/* Add a row to both forms; n names and values. */
static void add(struct listing *l, size_t n, const char *const *names, const char *const *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < n; i++) {
        table_cell(&l->table, "%s", values[i] ? values[i] : "");
        json_tree_put(&object, names[i], values[i] ? json_string(values[i]) : json_null());
    }
    json_tree_add(&l->array, object);
}

static void start(struct listing *l, size_t n, const char *const *names)
{
    l->array = json_array();
    table_init(&l->table, n);
    for (size_t i = 0; i < n; i++)
        table_cell(&l->table, "%s", names[i]);
}

static int finish(struct listing *l)
{
    int status = EXIT_DONE;
    if (format == FORMAT_JSON)
        status = cmd_print_json(json_incref(l->array));
    else if (format == FORMAT_CSV)
        table_csv(&l->table, stdout);
    else
        table_print(&l->table, stdout);
    table_release(&l->table);
    json_decref(l->array);
    return status;
}

static int list_engines(void)
{
    static const char *const names[] = {"engine", "platform", "policies", "summary"};
    struct listing l;
    start(&l, 4, names);
    for (size_t i = 0; engines[i]; i++)
        add(&l, 4, names,
            (const char *const[]){engines[i]->name, engines[i]->default_platform, engines[i]->default_policies,
                                  engines[i]->summary});
    return finish(&l);
}

static const char *describe_params(const struct param *table, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (const struct param *p = table; p && p->name && used < size; p++) {
        char value[128];
        if (p->type == PARAM_CHOICE)
            param_choice(p, (int64_t)p->value, value, sizeof value);
        else if (p->type == PARAM_TEXT)
            (void)snprintf(value, sizeof value, "%s", p->text ? p->text : "");
        else if (p->type == PARAM_NS && p->text && p->value == PARAM_AUTO)
            (void)snprintf(value, sizeof value, "%s", p->text);
        else
            (void)snprintf(value, sizeof value, "%.15g", p->value);
        used += (size_t)snprintf(buf + used, size - used, "%s%s=%s", used ? "," : "", p->name, value);
    }
    return buf;
}

static int list_policies(void)
{
    static const char *const names[] = {"engine", "policy", "parameters", "summary", "source"};
    struct listing l;
    start(&l, 5, names);
    for (size_t e = 0; engines[e]; e++)
        for (int axis = 0; axis < 2; axis++) {
            const struct policy_head *const *of = axis ? engines[e]->second : engines[e]->policies;
            for (size_t i = 0; of && of[i]; i++) {
                char params[1024], name[64];
                (void)snprintf(name, sizeof name, "%s%s", axis ? "+" : "", of[i]->name);
                add(&l, 5, names,
                    (const char *const[]){engines[e]->name, name, describe_params(of[i]->params, params, sizeof params),
                                          of[i]->summary, of[i]->source});
            }
        }
    return finish(&l);
}

static int list_platforms(void)
{
    static const char *const names[] = {"platform", "summary"};
    struct listing l;
    start(&l, 2, names);
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        if (!p) {
            (void)finish(&l);
            return cmd_fail(EXIT_DATA, "%s", err.msg);
        }
        add(&l, 2, names, (const char *const[]){name, platform_summary(p)});
        platform_free(p);
    }
    return finish(&l);
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
        table_cell(&l->table, "%s", name);
        table_cell(&l->table, "%s", param_format(row, values, value, sizeof value));
        table_cell(&l->table, "%s", row->type == PARAM_CHOICE ? "" : row->unit);
        table_cell(&l->table, "%s", platform_kind_name(n->kind));
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
    static const char *const names[] = {"number", "value", "unit", "kind", "low", "high", "source"};
    struct listing l;
    start(&l, sizeof names / sizeof *names, names);
    for (size_t s = 0; platform_sections[s]; s++)
        if (platform_has(p, platform_sections[s]->name))
            add_numbers(&l, p, platform_sections[s]);
    if (format == FORMAT_TABLE)
        printable_print(stdout, "platform %s (%s): %s\n", platform_name(p), platform_from(p), platform_summary(p));
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

/* Engines that can take a view of a program, in the order of the bits of enum workload_view. */
static const char *const view_names[] = {"uvm", "zerocopy", "dram", "placement"};

/* A row of both forms, but for the views: words in a table, an array in JSON. */
static void add_program(struct listing *l, const struct workload_type *type)
{
    char keys[1024], words[64] = "";
    json_t *views = json_array(), *object = json_object();
    for (size_t v = 0; v < sizeof view_names / sizeof *view_names; v++)
        if (type->views >> v & 1) {
            size_t used = strlen(words);
            (void)snprintf(words + used, sizeof words - used, "%s%s", used ? " " : "", view_names[v]);
            json_tree_add(&views, json_string(view_names[v]));
        }
    describe_params(type->params, keys, sizeof keys);
    const char *const names[] = {"name", "views", "keys", "summary", "source"};
    const char *const values[] = {type->name, words, keys, type->summary, type->source};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        table_cell(&l->table, "%s", values[i]);
        json_tree_put(&object, names[i], i == 1 ? views : json_string(values[i]));
    }
    json_tree_add(&l->array, object);
}

static int list_programs(void)
{
    static const char *const names[] = {"name", "views", "keys", "summary", "source"};
    struct listing l;
    start(&l, 5, names);
    for (size_t i = 0; workload_types[i]; i++)
        add_program(&l, workload_types[i]);
    return finish(&l);
}

static int list_formats(void)
{
    static const char *const names[] = {"format", "for", "options", "summary"};
    struct listing l;
    start(&l, 4, names);
    char params[1024];
    for (size_t i = 0; readers[i]; i++)
        add(&l, 4, names,
            (const char *const[]){readers[i]->name, "import",
                                  describe_params(readers[i]->options, params, sizeof params), readers[i]->summary});
    for (size_t i = 0; exporters[i]; i++)
        add(&l, 4, names,
            (const char *const[]){exporters[i]->name, "export",
                                  describe_params(exporters[i]->options, params, sizeof params),
                                  exporters[i]->summary});
    return finish(&l);
}

static int list_figures(void)
{
    static const char *const names[] = {"figure", "from", "summary", "source"};
    struct listing l;
    start(&l, 4, names);
    for (size_t i = 0; figures[i]; i++) {
        const struct figure *f = figures[i];
        const char *from = f->kinds == FIGURE_RESULTS ? "results"
                           : f->kinds == FIGURE_TRACE ? "trace"
                           : f->kinds == FIGURE_SPEC  ? "file"
                                                      : "results, trace";
        add(&l, 4, names, (const char *const[]){f->name, from, f->summary, f->source});
    }
    return finish(&l);
}

static const struct {
    const char *name;
    int (*list)(void);
} lists[] = {{"engines", list_engines},   {"policies", list_policies}, {"platforms", list_platforms},
             {"programs", list_programs}, {"formats", list_formats},   {"figures", list_figures},
             {"workloads", list_programs}}; /* what programs were called before */

static int run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "platforms") == 0)
        return list_platform(argv[1]);
    if (argc != 1)
        return cmd_usage("one of engines, policies, platforms [NAME|FILE.ini], programs, formats, figures is needed");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].name, argv[0]) == 0)
            return lists[i].list();
    char hint[96];
    struct suggest suggest = {.word = argv[0]};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        suggest_offer(&suggest, lists[i].name);
    return cmd_usage("cannot list '%s'; expected engines, policies, platforms, programs, formats or figures%s", argv[0],
                     suggest_hint(&suggest, hint, sizeof hint));
}

const struct command cmd_list = {
    .name = "list",
    .summary = "list engines, policies, platforms, programs, formats or figures",
    .usage = "engines|policies|platforms [NAME|FILE.ini]|programs|formats|figures [--format table|csv|json]",
    .details =
        "Everything that can be named on the command line, with its parameters, defaults and source. The views of\n"
        "a program are the engines that it answers to; what generates a graph has none. 'platforms NAME' prints every\n"
        "number of that platform: what it rests on, its source, and its range where it is not known.",
    .examples = "  offchip list policies\n  offchip list platforms h200\n  offchip list programs --format json",
    .options = options,
    .run = run,
};
