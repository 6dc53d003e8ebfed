/* offchip list: what can be named on the command line. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/lists.h"
#include "replay/run/engine.h"
#include "replay/run/platform_use.h"
#include "trace/base/param.h"
#include "trace/base/units.h"

#define LISTS                                                                                                          \
    "engines, policies [ENGINE], platforms [NAME|FILE.ini], programs, formats, figures, metrics [ENGINE], settings "   \
    "[ENGINE], parameters [ENGINE|POLICY], keys [PROGRAM], numbers [SECTION], or a name that one of them has"

static int format;
static const struct opt options[] = {OPT_FORMAT(&format), {0}};

static int finish(struct listing *l)
{
    int status = EXIT_DONE;
    if (l->err.msg[0])
        status = cmd_fail(EXIT_DATA, "%s", l->err.msg);
    else if (format == FORMAT_JSON)
        status = cmd_print_json(json_incref(l->array));
    else if (format == FORMAT_CSV)
        table_csv(&l->table, stdout);
    else
        table_print(&l->table, stdout);
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
    struct listing l = {0};
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

static int list_all(const struct list *list, const char *owner)
{
    struct listing l = {0};
    struct suggest suggest = {.word = owner};
    char hint[SUGGEST_HINT];
    if (owner && !list->owner)
        return cmd_usage("'list %s' takes no further name", list->name);
    if (list->fill(&l, owner, &suggest))
        return finish(&l);
    listing_release(&l);
    return cmd_usage("there is no %s '%s'%s", list->owner, owner, suggest_hint(&suggest, hint, sizeof hint));
}

/* What every list says of one name. */
static int list_name(const char *name)
{
    struct suggest suggest = {.word = name};
    char hint[SUGGEST_HINT];
    json_t *found = json_array();
    for (const struct list *list = lists; list->name; list++) {
        struct listing l = {.only = &suggest, .column = list->column};
        suggest_offer(&suggest, list->name);
        (void)list->fill(&l, NULL, &suggest);
        if (json_array_size(l.array) && format != FORMAT_JSON) {
            if (json_array_size(found))
                (void)putchar('\n');
            (format == FORMAT_CSV ? table_csv : table_print)(&l.table, stdout);
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

static int run(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "platforms") == 0)
        return list_platform(argv[1]);
    if (argc < 1 || argc > 2)
        return cmd_usage("one of " LISTS " is needed");
    const char *name = strcmp(argv[0], "workloads") ? argv[0] : "programs"; /* which were called that before */
    for (const struct list *list = lists; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list_all(list, argv[1]);
    return argc == 1 ? list_name(name) : cmd_usage("cannot list '%s'; expected one of " LISTS, name);
}

const struct command cmd_list = {
    .name = "list",
    .summary = "list what can be named, set or is reported, with definitions",
    .usage = "engines|policies|programs|formats|figures|platforms [NAME|FILE.ini] [--format table|csv|json]\n"
             "       offchip list metrics|settings|parameters|keys|numbers [OF] [--format table|csv|json]\n"
             "       offchip list NAME",
    .details =
        "Everything that can be named on the command line, with its parameters, defaults and source. The views of\n"
        "a program are the engines that it answers to; what generates a graph has none. 'platforms NAME' prints every\n"
        "number of that platform: what it rests on, its source, and its range where it is not known.\n"
        "Definitions, units, defaults and ranges: metrics and settings of an engine, parameters of a policy, keys of "
        "a\n"
        "program, numbers of a platform's section; without OF, of all. 'offchip list NAME' is what all lists say of "
        "one name.",
    .examples =
        "  offchip list policies\n  offchip list platforms h200\n  offchip list metrics uvm\n"
        "  offchip list oversubscription_pct\n  offchip list keys conv2d\n  offchip list programs --format json",
    .options = options,
    .run = run,
};
