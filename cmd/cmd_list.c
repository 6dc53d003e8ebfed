/* offchip list: what can be named on the command line. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/list/definitions.h"
#include "replay/figure/plot.h"
#include "replay/run/engine.h"
#include "replay/run/platform_json.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"

#define LISTS                                                                                                          \
    "engines, policies, platforms [NAME|FILE.ini], programs, formats, figures, metrics [ENGINE], settings [ENGINE], "  \
    "parameters [ENGINE|POLICY], keys [PROGRAM], numbers [SECTION]"

static int format;
static const struct opt options[] = {OPT_FORMAT(&format), {0}};

static int finish(struct listing *l)
{
    int status = EXIT_DONE;
    if (format == FORMAT_JSON)
        status = cmd_print_json(json_incref(l->array));
    else if (format == FORMAT_CSV)
        table_csv(&l->table, stdout);
    else
        table_print(&l->table, stdout);
    listing_release(l);
    return status;
}

static int list_engines(void)
{
    static const char *const names[] = {"engine", "platform", "policies", "summary"};
    struct listing l;
    listing_start(&l, 4, names);
    for (size_t i = 0; engines[i]; i++)
        listing_add(&l, (const char *const[]){engines[i]->name, engines[i]->default_platform,
                                              engines[i]->default_policies, engines[i]->summary});
    return finish(&l);
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

static int list_policies(void)
{
    static const char *const names[] = {"engine", "policy", "parameters", "summary", "source"};
    struct listing l;
    listing_start(&l, 5, names);
    for (size_t e = 0; engines[e]; e++)
        for (int axis = 0; axis < 2; axis++) {
            const struct policy_head *const *of = axis ? engines[e]->second : engines[e]->policies;
            for (size_t i = 0; of && of[i]; i++) {
                char params[1024], name[64];
                (void)snprintf(name, sizeof name, "%s%s", axis ? "+" : "", of[i]->name);
                listing_add(&l, (const char *const[]){engines[e]->name, name,
                                                      describe_params(of[i]->params, params, sizeof params),
                                                      of[i]->summary, of[i]->source});
            }
        }
    return finish(&l);
}

static int list_platforms(void)
{
    static const char *const names[] = {"platform", "summary"};
    struct listing l;
    listing_start(&l, 2, names);
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        if (!p) {
            (void)finish(&l);
            return cmd_fail(EXIT_DATA, "%s", err.msg);
        }
        listing_add(&l, (const char *const[]){name, platform_summary(p)});
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
    listing_start(&l, sizeof names / sizeof *names, names);
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

static int list_programs(void)
{
    static const char *const names[] = {"name", "views", "keys", "summary", "source"};
    struct listing l;
    listing_start(&l, 5, names);
    for (size_t i = 0; workload_types[i]; i++) {
        const struct workload_type *type = workload_types[i];
        const char *views[sizeof view_names / sizeof *view_names];
        char keys[1024];
        size_t count = 0;
        for (size_t v = 0; v < sizeof view_names / sizeof *view_names; v++)
            if (type->views >> v & 1)
                views[count++] = view_names[v];
        const char *const values[] = {type->name, NULL, describe_params(type->params, keys, sizeof keys), type->summary,
                                      type->source};
        listing_add_words(&l, values, 1, views, count);
    }
    return finish(&l);
}

static int list_formats(void)
{
    static const char *const names[] = {"format", "for", "options", "summary"};
    struct listing l;
    listing_start(&l, 4, names);
    char params[1024];
    for (size_t i = 0; readers[i]; i++)
        listing_add(&l, (const char *const[]){readers[i]->name, "import",
                                              describe_params(readers[i]->options, params, sizeof params),
                                              readers[i]->summary});
    for (size_t i = 0; exporters[i]; i++)
        listing_add(&l, (const char *const[]){exporters[i]->name, "export",
                                              describe_params(exporters[i]->options, params, sizeof params),
                                              exporters[i]->summary});
    return finish(&l);
}

static int list_figures(void)
{
    static const char *const names[] = {"figure", "from", "needs", "summary", "source"};
    struct listing l;
    listing_start(&l, 5, names);
    for (size_t i = 0; figures[i]; i++) {
        const struct figure *f = figures[i];
        const int kinds = f->kinds & ~FIGURE_WINDOW;
        const char *from = kinds == FIGURE_RESULTS ? "results"
                           : kinds == FIGURE_TRACE ? "trace"
                           : kinds == FIGURE_SPEC  ? "file"
                                                   : "results, trace";
        listing_add(&l, (const char *const[]){f->name, from, f->needs, f->summary, f->source});
    }
    return finish(&l);
}

static int unknown(const struct suggest *suggest, const char *what)
{
    char hint[SUGGEST_HINT];
    return cmd_usage("there is no %s '%s'%s", what, suggest->word, suggest_hint(suggest, hint, sizeof hint));
}

static const struct {
    const char *name;
    int (*all)(void);
    /* Or of an owner. */
    bool (*of)(struct listing *, const char *, struct suggest *);
    const char *owner;
} lists[] = {{"engines", list_engines, NULL, NULL},
             {"policies", list_policies, NULL, NULL},
             {"platforms", list_platforms, NULL, NULL},
             {"programs", list_programs, NULL, NULL},
             {"formats", list_formats, NULL, NULL},
             {"figures", list_figures, NULL, NULL},
             {"metrics", NULL, definitions_metrics, "engine"},
             {"settings", NULL, definitions_settings, "engine"},
             {"parameters", NULL, definitions_parameters, "engine or policy"},
             {"keys", NULL, definitions_keys, "program"},
             {"numbers", NULL, definitions_numbers, "section of platforms"},
             {"workloads", list_programs, NULL, NULL}}; /* what programs were called before */

static int list_of(size_t which, const char *owner)
{
    struct listing l;
    struct suggest suggest = {.word = owner ? owner : ""};
    if (lists[which].of(&l, owner, &suggest))
        return finish(&l);
    listing_release(&l);
    return unknown(&suggest, lists[which].owner);
}

static int run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "platforms") == 0)
        return list_platform(argv[1]);
    if (argc < 1 || argc > 2)
        return cmd_usage("one of " LISTS " is needed");
    struct suggest suggest = {.word = argv[0]};
    char hint[SUGGEST_HINT];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        suggest_offer(&suggest, lists[i].name);
        if (strcmp(lists[i].name, argv[0]) != 0)
            continue;
        if (argc == 2 && !lists[i].of)
            return cmd_usage("'list %s' takes no further name", argv[0]);
        return lists[i].of ? list_of(i, argv[1]) : lists[i].all();
    }
    return cmd_usage("cannot list '%s'; expected one of " LISTS "%s", argv[0],
                     suggest_hint(&suggest, hint, sizeof hint));
}

const struct command cmd_list = {
    .name = "list",
    .summary = "list what can be named, set or is reported, with definitions",
    .usage = "engines|policies|programs|formats|figures|platforms [NAME|FILE.ini] [--format table|csv|json]\n"
             "       offchip list metrics|settings|parameters|keys|numbers [OF] [--format table|csv|json]",
    .details =
        "Everything that can be named on the command line, with its parameters, defaults and source. The views of\n"
        "a program are the engines that it answers to; what generates a graph has none. 'platforms NAME' prints every\n"
        "number of that platform: what it rests on, its source, and its range where it is not known.\n"
        "Definitions, units, defaults and ranges: metrics and settings of an engine, parameters of a policy, keys of "
        "a\n"
        "program, numbers of a platform's section; without OF, of all.",
    .examples = "  offchip list policies\n  offchip list platforms h200\n  offchip list metrics uvm\n"
                "  offchip list settings dram\n  offchip list keys conv2d\n  offchip list programs --format json",
    .options = options,
    .run = run,
};
