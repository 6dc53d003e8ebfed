/* Figures of the dram engine from results. A bar is a policy under one case but for its inputs: each metric's own
 * aggregate over the inputs. Whatever else differs, settings, platform, version, makes bars of its own; virtual
 * channels stand side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "replay/figure/figure_dram_bars.h"
#include "replay/results/note.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

/* --- charts of bars --- */

/* Names of groups and series that a chart borrows. */
struct names {
    char **groups, **series;
    size_t group_count, series_count;
};

static void names_release(struct names *names)
{
    for (size_t i = 0; names->groups && i < names->group_count; i++)
        free(names->groups[i]);
    for (size_t i = 0; names->series && i < names->series_count; i++)
        free(names->series[i]);
    free((void *)names->groups);
    free((void *)names->series);
}

static int names_init(struct names *names, size_t groups, size_t series, struct err *err)
{
    *names = (struct names){.groups = mem_zalloc(groups, sizeof *names->groups, err),
                            .series = mem_zalloc(series, sizeof *names->series, err),
                            .series_count = series};
    return names->groups && names->series ? 0 : -1;
}

/* Draw n metrics of the bars, a group for each policy: a series for each value of the key (one metric), or for each
 * metric (called by `titles`). */
struct plan {
    const char *title, *axis, *unit;
    const char *metrics[2], *titles[2];
    size_t n;
    bool stacked, as_given;
};

static size_t groups_of(const struct dram_bars *bars, const struct plan *plan)
{
    return bars->table.rows * bars->table.series * (plan->n > 1 ? bars->value_count : 1);
}

/* The runs of a group: for each series, its run. False: it has none. */
static bool group_runs(const struct dram_bars *bars, const struct plan *plan, size_t group, const struct run **runs)
{
    const size_t values = bars->value_count;
    bool any = false;
    for (size_t s = 0; s < (plan->n > 1 ? plan->n : values); s++) {
        runs[s] = plan->n > 1 ? bars->at[group] : bars->at[group * values + s];
        any |= runs[s] != NULL;
    }
    return any;
}

static int fill(struct names *names, struct chart_bar *out, const struct dram_bars *bars, const struct plan *plan,
                struct err *err)
{
    const struct run *runs[64];
    const size_t series = names->series_count, values = bars->value_count;
    for (size_t s = 0; s < series; s++) {
        names->series[s] = plan->n > 1 ? dram_bars_metric(bars, plan->titles[s], plan->metrics[s]) : NULL;
        if (plan->n == 1 &&
            asprintf(&names->series[s], "VC%s", bars->table.apart ? bars->values[s] : "s as the platform has them") < 0)
            names->series[s] = NULL;
        if (!names->series[s])
            return err_set(err, "out of memory");
    }
    for (size_t g = 0; g < groups_of(bars, plan); g++) {
        if (!group_runs(bars, plan, g, runs))
            continue;
        const bool channels = plan->n > 1 && bars->table.apart;
        char *label = dram_bars_label(bars, plan->n > 1 ? g / values : g, channels ? " VC" : "",
                                      channels ? bars->values[g % values] : "");
        if (!label)
            return err_set(err, "out of memory");
        for (size_t s = 0; s < series; s++)
            (void)chart_take(&out[names->group_count * series + s], runs[s], plan->metrics[plan->n > 1 ? s : 0], 1);
        names->groups[names->group_count++] = label;
    }
    return 0;
}

static int draw(const struct figure_input *input, FILE *script, const struct plan *plan, double ideal, struct err *err)
{
    struct dram_bars bars;
    struct names names = {0};
    struct chart chart = {0};
    if (dram_bars_init(&bars, input, plan->metrics, plan->n, dram_bars_channels(input), plan->as_given, err))
        return -1;
    const size_t groups = groups_of(&bars, plan), series = plan->n > 1 ? plan->n : bars.value_count;
    struct chart_bar *values = mem_zalloc(groups * series, sizeof *values, err);
    int rc = !values || series > 64 || names_init(&names, groups, series, err) ||
                     fill(&names, values, &bars, plan, err) ||
                     chart_init(&chart, NULL, names.groups, names.group_count, names.series, series, err)
                 ? err_set(err, "out of memory")
                 : 0;
    if (!rc) {
        memcpy(chart.bars, values, names.group_count * series * sizeof *values);
        chart.stacked = plan->stacked;
        chart.labels = "policy";
        plot_title_runs(script, plan->title, input->runs);
        dram_bars_axis(script, &bars, plan->axis, plan->n > 1 ? NULL : plan->metrics[0], plan->unit);
        chart_write(input, script, &chart);
        if (ideal > 0)
            (void)fprintf(script, ", %.6g with lines linecolor rgb '#000000' dashtype 2 title 'ideal'", ideal);
        (void)fputc('\n', script);
    }
    free(values);
    chart_release(&chart);
    names_release(&names);
    dram_bars_release(&bars);
    return rc;
}

/* What a starved pair's fairness is at most: had its side ended when the run was stopped, it would have had that
 * speed-up. 1 where the other side's is not known. */
static double fairness_at_most(const struct run *run)
{
    static const char *const alone[] = {"mem_alone_cycles", "pim_alone_cycles"};
    static const char *const speedups[] = {"mem_speedup_ratio", "pim_speedup_ratio"};
    double cycles, stopped, other;
    for (int c = 0; c < 2; c++)
        if (!run_metric(run, speedups[c], &other) && run_metric(run, speedups[!c], &other) && other > 0 &&
            run_metric(run, alone[c], &cycles) && run_metric(run, "total_cycles", &stopped) && stopped > 0)
            return fmin(cycles / stopped / other, 1);
    return 1;
}

/* The runs, those that starved with an interval: 0 is their fairness, and of all inputs together, whatever the others'
 * is. */
static int bounded(const struct figure_input *input, struct run_set *runs, struct err *err)
{
    size_t starved = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        double lo, hi;
        if (run_set_add(runs, &input->runs->runs[i], err))
            return -1;
        struct run *run = &runs->runs[runs->count - 1];
        if (!run_starved(run) || run_interval(run, "fairness_index", &lo, &hi))
            continue;
        starved += !input->cases->twice[i];
        json_t *own = json_tree_copy(run->interval);
        if (!own || json_object_set_new(own, "fairness_index", json_pack("[f,f]", 0.0, fairness_at_most(run)))) {
            json_decref(own);
            return err_set(err, "out of memory");
        }
        json_decref(run->interval);
        run->interval = own;
    }
    if (starved)
        (void)note(input->notes,
                   "a side of %zu of %zu runs starved: 0 is their fairness, lines end at what it is at most", starved,
                   input->runs->count);
    return 0;
}

static int fairness(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct plan plan = {.title = "Fairness by policy",
                                     .axis = "fairness, 0 if a side starved",
                                     .unit = "ratio",
                                     .metrics = {"fairness_index"},
                                     .n = 1};
    struct run_set runs = {0};
    struct figure_input own = *input;
    int rc = bounded(input, &runs, err);
    own.runs = &runs;
    rc = rc ? rc : draw(&own, script, &plan, 0, err);
    run_set_release(&runs);
    return rc;
}

static int switches(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct plan plan = {.title = "Mode switches by policy",
                                     .axis = "mode switches",
                                     .unit = "count",
                                     .metrics = {"mode_switches"},
                                     .n = 1};
    return draw(input, script, &plan, 0, err);
}

/* Runs whose sides are of one program. */
static int collaborative(const struct figure_input *input, struct run_set *own, struct err *err)
{
    char text[32];
    double value;
    size_t others = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        const struct run *run = &input->runs->runs[i];
        if (run_key(run, "mem", text, sizeof text) || run_key(run, "pim", text, sizeof text) ||
            !run_metric(run, "concurrent_speedup_ratio", &value))
            others++;
        else if (run_set_add(own, run, err))
            return -1;
    }
    plot_note_missing(input, others, "their sides are not of one program, or a side starved");
    return own->count ? 0
                      : err_set(err, "no run of the dram engine is of a program with both sides; replay dram synth:llm "
                                     "makes one");
}

/* The ideal of all runs: "", else why it is not drawn; NULL: there is none. */
static const char *ideal_of(const struct run_set *runs, double *ideal)
{
    double v;
    *ideal = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (run_metric(&runs->runs[i], "ideal_speedup_ratio", &v)) {
            if (*ideal > 0 && v != *ideal)
                return "the ideal is not drawn: it is not the same for all runs";
            *ideal = v;
        }
    return *ideal > 0 ? "" : NULL;
}

static int llm(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct plan plan = {.title = "GPU and PIM at once: speed-up by policy",
                                     .axis = "speed-up over one after the other",
                                     .unit = "ratio",
                                     .metrics = {"concurrent_speedup_ratio"},
                                     .n = 1};
    struct run_set own = {0};
    struct case_table cases = {0};
    double ideal;
    /* One program is on both sides: runs of two inputs are no such thing. */
    int rc = collaborative(input, &own, err);
    if (!rc)
        rc = case_table_make(&cases, &own, NULL, err);
    struct figure_input of = *input;
    of.runs = &own;
    of.cases = &cases;
    const char *one = rc ? NULL : ideal_of(&own, &ideal);
    if (one && *one)
        (void)note(input->notes, "%s", one);
    rc = rc ? rc : draw(&of, script, &plan, one && !*one ? ideal : 0, err);
    case_table_release(&cases);
    run_set_release(&own);
    return rc;
}

/* Shares stacked: MEM below, PIM above; a bar for each policy and number of virtual channels. */
static int throughput(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct plan plan = {.title = "System throughput by policy",
                                     .axis = "sum of speed-ups",
                                     .unit = "ratio",
                                     .metrics = {"mem_speedup_ratio", "pim_speedup_ratio"},
                                     .titles = {"MEM", "PIM"},
                                     .n = 2,
                                     .stacked = true};
    return draw(input, script, &plan, 0, err);
}

/* Fairness and throughput side by side, step by step: policies as they were given. */
static int ablation(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct plan plan = {.title = "Fairness and throughput, step by step",
                                     .axis = "index, sum of speed-ups",
                                     .unit = "ratio",
                                     .metrics = {"fairness_index", "system_throughput"},
                                     .titles = {"fairness index", "system throughput"},
                                     .n = 2,
                                     .as_given = true};
    return draw(input, script, &plan, 0, err);
}

/* --- what each kernel is alone --- */

enum { TRAITS = 4 };
static const char *const traits[TRAITS] = {"noc_arrival_per_kcycle", "dram_arrival_per_kcycle", "bank_parallelism",
                                           "mem_row_hit_ratio"};

static bool traits_of(const struct run *run, double v[TRAITS])
{
    double mem = 0, pim = 0;
    bool known = !run_metric(run, "mem_alone_cycles", &mem) || !run_metric(run, "pim_alone_cycles", &pim);
    for (int k = 0; k + 1 < TRAITS; k++)
        known &= run_metric(run, traits[k], &v[k]);
    return known && (run_metric(run, traits[TRAITS - 1], &v[TRAITS - 1]) ||
                     run_metric(run, "pim_row_hit_ratio", &v[TRAITS - 1]));
}

static char *alone_label(const struct case_table *cases, size_t run)
{
    char *label = NULL;
    const char *row = cases->row_labels[cases->row_of[run]];
    const bool several = cases->series > 1;
    if (asprintf(&label, "%s%s%s", row, several ? " " : "",
                 several ? cases->series_labels[cases->series_of[run]] : "") < 0)
        label = NULL;
    return label;
}

static int character_panels(const struct figure_input *input, FILE *script, char *const *names, size_t count,
                            double (*values)[TRAITS], struct err *err)
{
    static const char *const axes[TRAITS] = {"NoC packets\\n(per kcycle)", "DRAM requests\\n(per kcycle)",
                                             "parallelism\\n(banks)", "row hits\\n(ratio)"};
    char *const series[] = {(char *)"alone"};
    plot_title_panels(script, "Each kernel alone", input->runs);
    for (size_t k = 0; k < TRAITS; k++) {
        struct chart chart;
        char block[2] = {(char)('a' + k), 0};
        if (chart_init(&chart, NULL, names, count, series, 1, err))
            return -1;
        for (size_t i = 0; i < count; i++)
            chart.bars[i] = (struct chart_bar){true, values[i][k], values[i][k], values[i][k]};
        chart.unnamed = true;
        chart.labels = "kernel";
        chart.block = block;
        chart.panel = k;
        chart.panels = TRAITS;
        (void)fprintf(script, "unset label\nset ylabel \"%s\"\n", axes[k]);
        chart_write(input, script, &chart);
        (void)fputc('\n', script);
        chart_release(&chart);
    }
    return 0;
}

static int character(const struct figure_input *input, FILE *script, struct err *err)
{
    size_t rows = 0, missing = 0;
    const size_t all = input->runs->count;
    char **names = mem_zalloc(all, sizeof *names, err);
    double(*values)[TRAITS] = mem_zalloc(all, sizeof *values, err);
    int rc = names && values ? 0 : -1;
    for (size_t i = 0; i < all && !rc; i++) {
        if (input->cases->twice[i])
            continue;
        if (!traits_of(&input->runs->runs[i], values[rows]))
            missing++;
        else if (!(names[rows++] = alone_label(input->cases, i)))
            rc = err_set(err, "out of memory");
    }
    plot_note_missing(input, missing, "they are of two sides, or lack what the figure shows");
    if (!rc && !rows)
        rc = err_set(err, "no run of the dram engine is of one side alone; replay dram --mem X, or --pim X, makes one");
    if (!rc)
        rc = character_panels(input, script, names, rows, values, err);
    for (size_t i = 0; names && i < rows; i++)
        free(names[i]);
    free((void *)names);
    free(values);
    return rc;
}

const struct figure figure_dram_fairness = {
    .name = "dram-fairness",
    .summary = "fairness by policy, one and two virtual channels",
    .needs = "dram runs of --mem beside --pim",
    .source = "gupta-2025-f3fs figure 8",
    .kinds = FIGURE_RESULTS,
    .width = 900,
    .height = 560,
    .write = fairness,
    .engine = "dram",
};
const struct figure figure_dram_throughput = {
    .name = "dram-throughput",
    .summary = "system throughput by policy, MEM and PIM shares stacked",
    .needs = "dram runs of --mem beside --pim",
    .source = "gupta-2025-f3fs figure 8",
    .kinds = FIGURE_RESULTS,
    .width = 1000,
    .height = 600,
    .write = throughput,
    .engine = "dram",
};
const struct figure figure_dram_switches = {
    .name = "dram-switches",
    .summary = "mode switches by policy",
    .needs = "dram runs",
    .source = "gupta-2025-f3fs figure 10",
    .kinds = FIGURE_RESULTS,
    .width = 900,
    .height = 560,
    .write = switches,
    .engine = "dram",
};
const struct figure figure_dram_ablation = {
    .name = "dram-ablation",
    .summary = "fairness and throughput step by step",
    .needs = "dram runs of --mem beside --pim, policies in the order given",
    .source = "gupta-2025-f3fs figure 14",
    .kinds = FIGURE_RESULTS,
    .width = 800,
    .height = 500,
    .write = ablation,
    .engine = "dram",
    .as_given = true,
};
const struct figure figure_dram_character = {
    .name = "dram-character",
    .summary = "each kernel alone: arrival rates, parallelism, hit ratio",
    .needs = "dram runs of one side alone",
    .source = "gupta-2025-f3fs figure 4",
    .kinds = FIGURE_RESULTS,
    .width = 1100,
    .height = 1100,
    .write = character,
    .engine = "dram",
};
const struct figure figure_dram_llm = {
    .name = "dram-llm",
    .summary = "collaborative language model: speed-up by policy",
    .needs = "dram runs of a program with both sides: synth:llm",
    .source = "gupta-2025-f3fs figure 11",
    .kinds = FIGURE_RESULTS,
    .width = 900,
    .height = 560,
    .write = llm,
    .engine = "dram",
};
