#include "cmd/list/topic.h"

#include <string.h>

#include "cmd/console/printable.h"
#include "cmd/list/definitions.h"
#include "models/base/platform.h"
#include "replay/run/engine.h"
#include "trace/workloads/workload.h"

/* What it is and its definition; false: it is not what was asked for. */
static bool say(FILE *to, struct suggest *suggest, const char *name, const char *kind, const char *definition)
{
    suggest_offer(suggest, name);
    if (strcmp(name, suggest->word) != 0)
        return false;
    printable_print(to, "%s, %s: %s\n", name, kind, definition);
    return true;
}

/* Something with a source and a list of its own; how many that is, 0 or 1. */
static size_t say_with_list(FILE *to, struct suggest *suggest, const char *name, const char *kind, const char *summary,
                            const char *source, const char *list)
{
    if (!say(to, suggest, name, kind, summary))
        return 0;
    if (source && *source)
        printable_print(to, "    source: %s\n", source);
    printable_print(to, "    %s: offchip list %s %s\n", list, list, name);
    return 1;
}

/* A metric may be asked for by what tables call it, "time" for time_ns. */
static bool say_metric(FILE *to, struct suggest *suggest, const char *name, const char *kind, const char *definition,
                       bool metric)
{
    char label[80];
    if (!metric || strcmp(metric_label(name, label, sizeof label), suggest->word) != 0)
        return say(to, suggest, name, kind, definition);
    printable_print(to, "%s, %s: %s\n", name, kind, definition);
    return true;
}

/* Rows of lists whose first column is the owner, the second the name, the last the definition. */
static size_t definitions(FILE *to, struct suggest *suggest)
{
    static const struct {
        const char *kind;
        bool (*list)(struct listing *, const char *, struct suggest *);
    } lists[] = {{"a metric of", definitions_metrics},
                 {"a setting of", definitions_settings},
                 {"a parameter of", definitions_parameters},
                 {"a key of", definitions_keys},
                 {"a number of platforms,", definitions_numbers}};
    size_t found = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        struct listing l;
        (void)lists[k].list(&l, NULL, NULL);
        for (size_t at = l.columns; at + l.columns <= l.table.count; at += l.columns) {
            char *const *cells = l.table.cells + at;
            char kind[160];
            (void)snprintf(kind, sizeof kind, "%s %s", lists[k].kind, cells[0]);
            if (!say_metric(to, suggest, cells[1], kind, cells[l.columns - 1], k == 0))
                continue;
            found++;
            for (size_t c = 2; c + 1 < l.columns; c++)
                if (*cells[c])
                    printable_print(to, "    %s: %s\n", l.names[c], cells[c]);
        }
        listing_release(&l);
    }
    return found;
}

static size_t policies(FILE *to, struct suggest *suggest)
{
    size_t found = 0;
    for (size_t e = 0; engines[e]; e++)
        for (int axis = 0; axis < 2; axis++) {
            const struct policy_head *const *of = axis ? engines[e]->second : engines[e]->policies;
            char kind[96];
            (void)snprintf(kind, sizeof kind, "a policy of %s%s%s", engines[e]->name, axis ? ", which decides: " : "",
                           axis ? engines[e]->second_key : "");
            for (size_t i = 0; of && of[i]; i++)
                found += say_with_list(to, suggest, of[i]->name, kind, of[i]->summary, of[i]->source, "parameters");
        }
    return found;
}

static size_t programs(FILE *to, struct suggest *suggest)
{
    size_t found = 0;
    for (size_t i = 0; workload_types[i]; i++)
        found += say_with_list(to, suggest, workload_types[i]->name, "a program", workload_types[i]->summary,
                               workload_types[i]->source, "keys");
    return found;
}

static size_t platforms(FILE *to, struct suggest *suggest)
{
    size_t found = 0;
    char name[64];
    for (size_t i = 0; platform_shipped(i, name, sizeof name); i++) {
        suggest_offer(suggest, name);
        if (strcmp(name, suggest->word) != 0)
            continue;
        printable_print(to, "%s, a platform: offchip list platforms %s\n", name, name);
        found++;
    }
    return found;
}

size_t topic_print(FILE *to, struct suggest *suggest)
{
    size_t found = 0;
    for (size_t e = 0; engines[e]; e++)
        if (say(to, suggest, engines[e]->name, "an engine", engines[e]->summary)) {
            printable_print(to, "    metrics: offchip list metrics %s\n", engines[e]->name);
            printable_print(to, "    settings: offchip list settings %s\n", engines[e]->name);
            found++;
        }
    return found + policies(to, suggest) + programs(to, suggest) + platforms(to, suggest) + definitions(to, suggest);
}
