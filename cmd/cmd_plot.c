/* offchip plot: a figure from results or a trace. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "replay/report/plot.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"

static const char *output, *metrics, *over, *platform, *from, *until;
static int aggregate;
static int64_t from_ns, until_ns = INT64_MAX;
static bool script, force;

static const struct opt options[] = {
    OPT_GROUP("What is drawn"),
    OPT("metric", 'm', OPT_JOIN, "LIST", &metrics, "metrics, comma-separated (default: what the engine ranks by)"),
    OPT("over", 0, OPT_TEXT, "KEY", &over, "lines: the axis; else a bar for each value of a key"),
    OPT("aggregate", 0, OPT_CHOICE, "none|declared|sum|min|max|mean|geomean", &aggregate,
        "of runs that differ in their inputs alone (default none)"),
    OPT("platform", 0, OPT_TEXT, "NAME|FILE.ini", &platform, "of a task file"),
    OPT("from", 0, OPT_TEXT, "TIME", &from, "timeline: what begins then or later, from the trace's start (2ms)"),
    OPT("to", 0, OPT_TEXT, "TIME", &until, "timeline: what begins before then"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "OUT.svg|png|pdf", &output, "where to draw (default: FIGURE.svg)"),
    OPT("script", 0, OPT_FLAG, NULL, &script, "print the gnuplot script with its data instead of drawing"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite the output"),
    {0}};

/* The file to draw into. */
static const char *target(const struct figure *figure, char *path, size_t size)
{
    (void)snprintf(path, size, "%s.svg", figure->name);
    return output ? output : path;
}

static int draw(const struct figure *figure, const struct figure_input *input)
{
    struct err err = {""};
    char path[300];
    const char *to = target(figure, path, sizeof path);
    int rc = script ? plot_script(figure, input, stdout, &err) : plot_draw(figure, input, to, force, &err);
    cmd_say_notes(input->limits);
    cmd_say_notes(input->notes);
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (!script)
        cmd_say("wrote %s", to);
    return EXIT_DONE;
}

/* From runs, a trace, or a file that the figure is of. */
static int plot(const struct figure *figure, int argc, char **argv)
{
    struct err err = {""};
    struct run_set runs = {0};
    const char *dot = strrchr(argv[0], '.');
    const bool results = figure->kinds & FIGURE_RESULTS, ini = dot && strcmp(dot, ".ini") == 0;
    const bool trace = !results && figure->kinds & FIGURE_TRACE && !(figure->kinds & FIGURE_SPEC && ini);
    struct figure_input input = {.path = argv[0],
                                 .runs = &runs,
                                 .metrics = metrics,
                                 .over = over,
                                 .aggregate = aggregate,
                                 .platform = platform,
                                 .window = from || until,
                                 .from_ns = from_ns,
                                 .to_ns = until_ns,
                                 .limits = json_array(),
                                 .notes = json_array()};
    int rc = trace && !(input.store = limits_open(argv[0], limits_collect, &input.limits, &err)) ? -1 : 0;
    for (int i = 0; results && i < argc && !rc; i++)
        rc = cmd_load_runs(&runs, argv[i], &err);
    rc = rc ? rc : cmd_say_limits(&runs, 1, &err);
    int status = rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : draw(figure, &input);
    store_close(input.store);
    json_decref(input.limits);
    json_decref(input.notes);
    run_set_release(&runs);
    return status;
}

/* Find the shortest metric that contains the word, or the part after its hyphen ("uvm-speedup"). */
struct wanted_metric {
    const char *word;
    char name[64];
};

static void look_at_metric(void *ctx, const char *name)
{
    struct wanted_metric *w = ctx;
    if (strlen(w->word) >= 4 && strstr(name, w->word) && (!*w->name || strlen(name) < strlen(w->name)))
        (void)snprintf(w->name, sizeof w->name, "%s", name);
}

static int no_figure(const char *name, const char *file)
{
    const char *hyphen = strchr(name, '-');
    struct wanted_metric w = {.word = hyphen ? hyphen + 1 : name};
    cmd_list_names("metrics", NULL, look_at_metric, &w);
    return *w.name ? cmd_usage("no figure is called '%s'; 'offchip plot bars %s --metric %s' draws that of each run",
                               name, file ? file : "RESULTS", w.name)
                   : cmd_no_such("figure", name);
}

static int run(int argc, char **argv)
{
    if (argc < 1)
        return cmd_usage("a figure is needed; see 'offchip list figures'");
    const struct figure *figure = figure_find(argv[0]);
    if (!figure && access(argv[0], F_OK) == 0)
        return cmd_usage("which figure of '%s'? 'offchip list figures' has those of a trace and of results", argv[0]);
    if (!figure)
        return no_figure(argv[0], argc > 1 ? argv[1] : NULL);
    if (output && !plot_can_draw(output))
        return cmd_usage("'%s' should end in .svg, .png or .pdf", output);
    struct err err = {""};
    if ((from && units_parse_ns(from, &from_ns, &err)) || (until && units_parse_ns(until, &until_ns, &err)))
        return cmd_usage("--from, --to: %s", err.msg);
    if (from_ns < 0 || from_ns >= until_ns)
        return cmd_usage("--from %s --to %s: nothing lies between", from ? from : "0", until ? until : "the end");
    if ((from || until) && !(figure->kinds & FIGURE_WINDOW))
        return cmd_usage("--from, --to: only timeline shows a part of the time");
    if (argc < 2)
        return cmd_usage("figure %s needs a file to be drawn from", figure->name);
    char path[300];
    cmd_reads_all((const char *const *)argv + 1, (size_t)argc - 1);
    int status = script ? EXIT_DONE : cmd_writes(target(figure, path, sizeof path), force);
    return status ? status : plot(figure, argc - 1, argv + 1);
}

const struct command cmd_plot = {
    .name = "plot",
    .summary = "draw a figure from results or a recording, by gnuplot",
    .usage = "FIGURE RESULTS|FILE... [OPTIONS]",
    .details = "'offchip list figures' names the figures and what each is drawn from.",
    .examples = "  offchip plot bars results.db --metric speedup_ratio -o speedup.png\n"
                "  offchip plot lines results.db --metric h2d_bytes --over oversubscription_pct\n"
                "  offchip plot timeline recording.db --from 150ms --to 160ms -o part.png",
    .options = options,
    .run = run,
};
