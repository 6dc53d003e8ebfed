/* offchip completion: the bash completion script: cmd/completion.bash, with tables of all names filled in. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "replay/figure/plot.h"
#include "replay/run/engine.h"
#include "trace/base/embedded.h"
#include "trace/export/exporter.h"
#include "trace/import/reader.h"
#include "trace/workloads/workload.h"

static const struct opt options[] = {{0}};

/* Names of a table as words, each with `end` behind it. */
static void words(const struct param *table, const char *end)
{
    for (const struct param *p = table; p && p->name; p++)
        printf(" %s%s", p->name, end);
}

/* "a|b|c" as words. */
static void choices(const char *names)
{
    for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|')
        printf(" %.*s", (int)strcspn(p, "|"), p);
}

static bool has_choices(const struct opt *o)
{
    return o->type == OPT_CHOICE;
}

/* A bash function whose argument picks a row. */
static void begin(const char *function, const char *pick)
{
    printf("_offchip_%s() {\n    case %s in\n", function, pick);
}

static void end(void)
{
    puts("    esac\n}");
}

static void row(const char *name)
{
    printf("    %s) echo \"", name);
}

static void variables(void)
{
    printf("_offchip_commands=\"");
    for (size_t i = 0; commands[i]; i++)
        printf(" %s", commands[i]->name);
    printf("\"\n_offchip_platforms=\"");
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++)
        printf(" %s", name);
    printf("\"\n_offchip_workloads=\"");
    for (size_t i = 0; workload_types[i]; i++)
        printf(" %s", workload_types[i]->name);
    printf("\"\n_offchip_numbers=\"");
    for (size_t i = 0; platform_sections[i]; i++)
        words(platform_sections[i]->params, "=");
    printf("\"\n_offchip_all_settings=\"");
    for (size_t i = 0; engines[i]; i++)
        words(engines[i]->settings, "");
    printf("\"\n_offchip_metrics=\"");
    for (size_t i = 0; engines[i]; i++)
        for (const struct metric *m = engines[i]->metrics; m->name; m++)
            printf(" %s", m->name);
    printf("\"\n_offchip_options=\"");
    for (size_t i = 0; readers[i]; i++)
        words(readers[i]->options, "=");
    for (size_t i = 0; exporters[i]; i++)
        words(exporters[i]->options, "=");
    puts("\"");
}

static void params_of(const struct policy_head *const *policies)
{
    for (size_t i = 0; policies && policies[i]; i++)
        if (policies[i]->params) {
            row(policies[i]->name);
            words(policies[i]->params, "=");
            puts("\" ;;");
        }
}

static void by_engine(void)
{
    begin("policies", "$1");
    for (size_t e = 0; engines[e]; e++) {
        row(engines[e]->name);
        for (size_t i = 0; engines[e]->policies[i]; i++)
            printf(" %s", engines[e]->policies[i]->name);
        puts("\" ;;");
    }
    end();
    begin("seconds", "$1");
    for (size_t e = 0; engines[e]; e++)
        if (engines[e]->second) {
            row(engines[e]->name);
            for (size_t i = 0; engines[e]->second[i]; i++)
                printf(" %s", engines[e]->second[i]->name);
            puts("\" ;;");
        }
    end();
    begin("settings", "$1");
    for (size_t e = 0; engines[e]; e++) {
        row(engines[e]->name);
        words(engines[e]->settings, "=");
        puts("\" ;;");
    }
    end();
    begin("params", "$1");
    for (size_t e = 0; engines[e]; e++) {
        params_of(engines[e]->policies);
        params_of(engines[e]->second);
    }
    end();
    begin("keys", "$1");
    for (size_t i = 0; workload_types[i]; i++) {
        row(workload_types[i]->name);
        words(workload_types[i]->params, "=");
        puts("\" ;;");
    }
    end();
}

static void values_of(const char *owner, const struct param *table)
{
    for (const struct param *p = table; p && p->name; p++)
        if (p->type == PARAM_CHOICE) {
            printf("    \"%s %s\") echo \"", owner, p->name);
            choices(p->unit);
            puts("\" ;;");
        }
}

static void by_choice(void)
{
    begin("values", "\"$1 $2\"");
    for (size_t e = 0; engines[e]; e++) {
        values_of(engines[e]->name, engines[e]->settings);
        for (size_t i = 0; engines[e]->policies[i]; i++)
            values_of(engines[e]->policies[i]->name, engines[e]->policies[i]->params);
        for (size_t i = 0; engines[e]->second && engines[e]->second[i]; i++)
            values_of(engines[e]->second[i]->name, engines[e]->second[i]->params);
    }
    for (size_t i = 0; workload_types[i]; i++)
        values_of(workload_types[i]->name, workload_types[i]->params);
    end();
}

static bool takes_value(const struct opt *o)
{
    return o->type != OPT_FLAG;
}

static void by_command(void)
{
    begin("long", "$1");
    for (size_t i = 0; commands[i]; i++) {
        row(commands[i]->name);
        for (const struct opt *o = commands[i]->options; o->name; o++)
            printf(" --%s", o->name);
        for (const struct opt *o = opt_common; o->name; o++)
            printf(" --%s", o->name);
        puts("\" ;;");
    }
    end();
    begin("takes_value", "\"$1 $2\"");
    printf("    *\" --progress\") return 0 ;;\n");
    for (size_t i = 0; commands[i]; i++)
        for (const struct opt *o = commands[i]->options; o->name; o++)
            if (takes_value(o)) {
                printf("    \"%s --%s\"", commands[i]->name, o->name);
                if (o->letter)
                    printf(" | \"%s -%c\"", commands[i]->name, o->letter);
                puts(") return 0 ;;");
            }
    puts("    *) return 1 ;;");
    end();
    begin("choices", "\"$1 $2\"");
    puts("    *\" --progress\") echo \"auto always never\" ;;");
    for (size_t i = 0; commands[i]; i++)
        for (const struct opt *o = commands[i]->options; o->name; o++)
            if (has_choices(o)) {
                printf("    \"%s --%s\") echo \"", commands[i]->name, o->name);
                choices(o->arg);
                puts("\" ;;");
            }
    printf("    \"import --format\") echo \"");
    for (size_t i = 0; readers[i]; i++)
        printf(" %s", readers[i]->name);
    printf("\" ;;\n    \"export --format\") echo \"");
    for (size_t i = 0; exporters[i]; i++)
        printf(" %s", exporters[i]->name);
    puts("\" ;;");
    end();
}

static void first_operands(void)
{
    begin("first", "$1");
    printf("    replay | sweep) echo \"");
    for (size_t i = 0; engines[i]; i++)
        printf(" %s", engines[i]->name);
    printf("\" ;;\n    plot) echo \"");
    for (size_t i = 0; figures[i]; i++)
        printf(" %s", figures[i]->name);
    puts("\" ;;\n    list) echo \"engines policies platforms programs formats figures\" ;;\n"
         "    calibrate) echo \"uvm zerocopy placement\" ;;\n    derive) echo \"touches requests dram accesses\" ;;\n"
         "    graph) echo \"convert reorder score\" ;;");
    end();
}

static int run(int argc, char **argv)
{
    (void)argv;
    if (argc)
        return cmd_usage("completion takes no operands");
    static const char mark[] = "@TABLES@\n";
    for (size_t i = 0; embedded_files[i].path; i++) {
        const char *text = embedded_files[i].text, *hole = strstr(text, mark);
        if (strcmp(embedded_files[i].path, "cmd/completion.bash") != 0 || !hole)
            continue;
        (void)fwrite(text, 1, (size_t)(hole - text), stdout);
        variables();
        by_engine();
        by_choice();
        by_command();
        first_operands();
        (void)fputs(hole + sizeof mark - 1, stdout);
    }
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print the bash completion script",
    .usage = "> FILE",
    .details = "'make install' puts it where bash looks for it.",
    .examples = "  offchip completion > ~/.local/share/bash-completion/completions/offchip\n"
                "  source <(offchip completion)",
    .options = options,
    .run = run,
};
