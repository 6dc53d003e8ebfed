/* Figures of the dram engine from results. A bar is a policy under one case but for its inputs: each metric's own
 * aggregate over the inputs. Whatever else differs, settings, platform, version, makes bars of its own; virtual
 * channels stand side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "replay/results/case_keys.h"
#include "replay/results/note.h"
#include "replay/run/aggregate.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

/* Runs aggregated over inputs: rows (cases but for inputs and the key apart) x policies x values of the key. */
struct bars {
    struct run_set runs;
    struct case_table table;
    size_t fewest, most;   /* inputs in one run */
    char **values;         /* of the key, ascending; borrowed from the table */
    size_t value_count;    /* 1 where there is no such key */
    const struct run **at; /* [(row * series + policy) * value_count + value]; NULL: no such run */
};

static void bars_release(struct bars *bars)
{
    free((void *)bars->at);
    free((void *)bars->values);
    case_table_release(&bars->table);
    run_set_release(&bars->runs);
}

/* Runs that know all these metrics; how many do not is said. */
static int take_known(struct run_set *runs, const struct figure_input *input, const char *const *metrics, size_t n,
                      struct err *err)
{
    size_t missing = 0;
    int rc = 0;
    for (size_t i = 0; i < input->runs->count && !rc; i++) {
        bool known = true;
        for (size_t m = 0; m < n && known; m++) {
            double value;
            known = run_metric(&input->runs->runs[i], metrics[m], &value);
        }
        if (input->cases->twice[i])
            continue;
        missing += !known;
        if (known)
            rc = run_set_add(runs, &input->runs->runs[i], err);
    }
    if (!rc && missing)
        rc = note(input->notes, "%zu of %zu runs are not drawn: they have no %s (a side starved, or there is but one)",
                  missing, input->runs->count, metrics[0]);
    return rc || runs->count ? rc : err_set(err, "no run of the dram engine has %s", metrics[0]);
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    double p, q;
    const bool x_number = case_keys_number(x, &p), y_number = case_keys_number(y, &q);
    if (!x_number || !y_number)
        return x_number != y_number ? y_number - x_number : strcmp(x, y);
    return p != q ? (p > q) - (p < q) : strcmp(x, y);
}

static int index_bars(struct bars *bars, struct err *err)
{
    const struct case_table *t = &bars->table;
    bars->values = mem_zalloc(bars->runs.count, sizeof *bars->values, err);
    if (!bars->values)
        return -1;
    for (size_t i = 0; t->apart && i < bars->runs.count; i++)
        bars->values[i] = t->apart[i];
    if (t->apart)
        qsort(bars->values, bars->runs.count, sizeof *bars->values, by_number);
    for (size_t i = 0; t->apart && i < bars->runs.count; i++)
        if (i == 0 || strcmp(bars->values[i], bars->values[bars->value_count - 1]) != 0)
            bars->values[bars->value_count++] = bars->values[i];
    bars->value_count += !t->apart;
    bars->at = mem_zalloc(t->rows * t->series * bars->value_count, sizeof *bars->at, err);
    for (size_t i = 0; bars->at && i < bars->runs.count; i++) {
        size_t v = 0;
        while (t->apart && strcmp(bars->values[v], t->apart[i]) != 0)
            v++;
        bars->at[(t->row_of[i] * t->series + t->series_of[i]) * bars->value_count + v] = &bars->runs.runs[i];
    }
    return bars->at ? 0 : -1;
}

/* Runs of one case and policy that differ in their inputs, and in `apart`, become one for each value of that. */
static int bars_init(struct bars *bars, const struct figure_input *input, const char *const *metrics, size_t n,
                     const char *apart, struct err *err)
{
    *bars = (struct bars){0};
    size_t without;
    int rc = take_known(&bars->runs, input, metrics, n, err);
    if (!rc)
        rc = aggregate_inputs(&bars->runs, NULL, AGGREGATE_DECLARED, &bars->fewest, &bars->most, &without, err);
    if (!rc)
        rc = case_table_make(&bars->table, &bars->runs, apart, err) || index_bars(bars, err) ? -1 : 0;
    if (!rc && bars->fewest != bars->most)
        rc = note(input->notes, "not every bar is over the same inputs: of %zu to %zu", bars->fewest, bars->most);
    if (rc)
        bars_release(bars);
    return rc;
}

static const char *channels(const struct figure_input *input)
{
    char text[32];
    for (size_t i = 0; i < input->runs->count; i++)
        if (run_key(&input->runs->runs[i], "vcs", text, sizeof text))
            return "vcs";
    return NULL;
}

/* "f3fs", "f3fs mode=x": the policy and what rows differ in; `more` follows. */
static void put_label(FILE *script, const struct bars *bars, size_t bar, const char *more, const char *value)
{
    const struct case_table *t = &bars->table;
    char *label = NULL;
    const char *row = t->rows > 1 ? t->row_labels[bar / t->series] : "";
    if (asprintf(&label, "%s%s%s%s%s", t->series_labels[bar % t->series], *row ? " " : "", row, more, value) < 0)
        label = NULL;
    plot_quote(script, label ? label : "");
    free(label);
}

static void put(FILE *script, const struct run *run, const char *metric)
{
    double value;
    if (run && run_metric(run, metric, &value))
        (void)fprintf(script, " %.9g", value);
    else
        (void)fprintf(script, " NaN");
}

/* "mode switches, geomean over 180 inputs" */
static void put_axis(FILE *script, const struct bars *bars, const char *what, const char *metric)
{
    (void)fprintf(script, "set ylabel '%s", what);
    if (bars->most > 1)
        (void)fprintf(script, ", %s over %zu inputs", aggregate_name(AGGREGATE_DECLARED, engine_metric("dram", metric)),
                      bars->most);
    (void)fprintf(script, "'\n");
}

/* Clustered bars of one metric, for each number of virtual channels. */
static int clustered(const struct figure_input *input, FILE *script, const char *metric, const char *what,
                     struct err *err)
{
    struct bars bars;
    if (bars_init(&bars, input, &metric, 1, channels(input), err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t b = 0; b < bars.table.rows * bars.table.series; b++) {
        const struct run **at = &bars.at[b * bars.value_count];
        bool any = false;
        for (size_t v = 0; v < bars.value_count; v++)
            any |= at[v] != NULL;
        if (!any)
            continue;
        put_label(script, &bars, b, "", "");
        for (size_t v = 0; v < bars.value_count; v++)
            put(script, at[v], metric);
        (void)fputc('\n', script);
    }
    (void)fprintf(script, "EOD\nset style data histograms\nset style histogram clustered gap 1\n"
                          "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\n"
                          "set xtics rotate by -25 font ',9'\nset key outside right top\n");
    put_axis(script, &bars, what, metric);
    (void)fprintf(script, "plot ");
    for (size_t v = 0; v < bars.value_count; v++) {
        char name[64];
        (void)snprintf(name, sizeof name, "VC%s", bars.table.apart ? bars.values[v] : "");
        (void)fprintf(script, "%s$d using %zu:xtic(1) title ", v ? ", " : "", v + 2);
        plot_quote(script, name);
        (void)fprintf(script, " linetype %zu", v + 1);
    }
    (void)fputc('\n', script);
    bars_release(&bars);
    return 0;
}

static int fairness(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "fairness_index", "fairness index (0: a side starved)", err);
}

static int switches(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "mode_switches", "mode switches", err);
}

static int llm(const struct figure_input *input, FILE *script, struct err *err)
{
    double ideal = 0, v;
    bool same = true;
    for (size_t i = 0; i < input->runs->count; i++)
        if (run_metric(&input->runs->runs[i], "ideal_speedup_ratio", &v)) {
            same = same && (ideal == 0 || v == ideal);
            ideal = v;
        }
    if (ideal > 0 && same)
        (void)fprintf(script, "set arrow from graph 0, first %.6g to graph 1, first %.6g nohead dashtype 2\n", ideal,
                      ideal);
    else if (ideal > 0)
        (void)note(input->notes, "the ideal is not drawn: it is not the same for all runs");
    return clustered(input, script, "concurrent_speedup_ratio", "speed-up over one after the other (dashed: ideal)",
                     err);
}

/* Two metrics side by side for each policy and number of virtual channels. */
static int two_columns(const struct figure_input *input, FILE *script, const char *const metrics[2], struct bars *bars,
                       struct err *err)
{
    if (bars_init(bars, input, metrics, 2, channels(input), err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t b = 0; b < bars->table.rows * bars->table.series; b++)
        for (size_t v = 0; v < bars->value_count; v++) {
            const struct run *run = bars->at[b * bars->value_count + v];
            if (!run)
                continue;
            put_label(script, bars, b, bars->table.apart ? " VC" : "", bars->table.apart ? bars->values[v] : "");
            put(script, run, metrics[0]);
            put(script, run, metrics[1]);
            (void)fputc('\n', script);
        }
    (void)fprintf(script, "EOD\n");
    return 0;
}

/* Shares stacked: MEM below, PIM above; a pair of bars per policy. */
static int throughput(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"mem_speedup_ratio", "pim_speedup_ratio"};
    struct bars bars;
    if (two_columns(input, script, metrics, &bars, err))
        return -1;
    (void)fprintf(script, "set style data histograms\nset style histogram rowstacked\n"
                          "set style fill solid 0.9 border -1\nset boxwidth 0.8\nset yrange [0:*]\n"
                          "set xtics rotate by -40 font ',9'\nset key outside right top\n");
    put_axis(script, &bars, "system throughput (sum of speed-ups)", metrics[0]);
    (void)fprintf(script, "plot $d using 2:xtic(1) title 'MEM' linetype 1, $d using 3 title 'PIM' linetype 2\n");
    bars_release(&bars);
    return 0;
}

/* Fairness and throughput side by side, in the order of the policies. */
static int ablation(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"fairness_index", "system_throughput"};
    struct bars bars;
    if (two_columns(input, script, metrics, &bars, err))
        return -1;
    (void)fprintf(
        script,
        "set style data histograms\nset style histogram clustered gap 1\n"
        "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\n"
        "set xtics rotate by -30 font ',9'\nset key outside right top\n"
        "plot $d using 2:xtic(1) title 'fairness index' linetype 1, $d using 3 title 'system throughput' linetype 2\n");
    bars_release(&bars);
    return 0;
}

/* --- sensitivity --- */

static bool differs(const struct run_set *set, const char *key)
{
    char first[256] = "", text[256];
    for (size_t i = 0; i < set->count; i++) {
        const char *v = run_key(&set->runs[i], key, text, sizeof text);
        if (v && *first && strcmp(v, first) != 0)
            return true;
        if (v && !*first)
            (void)snprintf(first, sizeof first, "%s", v);
    }
    return false;
}

/* The first of these keys that differs among the runs is the abscissa, else the setting with the most values; freed by
 * the caller. */
static char *abscissa(const struct run_set *set)
{
    static const char *const keys[] = {"mem_cap",    "pim_cap",      "cap",  "window_scale", "mem_window",
                                       "launch_gap", "relaunch_gap", "high", "low",          "threshold",
                                       "interval",   "window",       "set"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (differs(set, keys[k]))
            return mem_strdup(keys[k], NULL);
    struct run_set bare = {0};
    size_t without;
    char *axis = NULL;
    bool good = true;
    for (size_t i = 0; i < set->count && good; i++)
        good = run_set_add(&bare, &set->runs[i], NULL) == 0;
    if (good && aggregate_inputs(&bare, NULL, AGGREGATE_DECLARED, NULL, NULL, &without, NULL) == 0)
        axis = case_keys_axis(&bare);
    run_set_release(&bare);
    return axis;
}

/* The points of one line; returns how many. */
static size_t sensitivity_line(FILE *script, const struct bars *bars, size_t line, size_t *no_number)
{
    size_t points = 0;
    for (size_t v = 0; v < bars->value_count; v++) {
        const struct run *run = bars->at[line * bars->value_count + v];
        double x;
        if (run && !case_keys_number(bars->values[v], &x)) {
            ++*no_number;
            continue;
        }
        if (!run)
            continue;
        if (!points++)
            (void)fprintf(script, "$d%zu << EOD\n", line);
        (void)fprintf(script, "%.9g", x);
        put(script, run, "fairness_index");
        put(script, run, "system_throughput");
        (void)fputc('\n', script);
    }
    (void)fputs(points ? "EOD\n" : "", script);
    return points;
}

static void sensitivity_plot(FILE *script, const struct bars *bars, const size_t *points, size_t lines)
{
    static const char *const names[] = {"fairness index", "system throughput"};
    size_t drawn = 0, several = 0;
    for (size_t l = 0; l < lines; l++)
        several += points[l] > 0;
    (void)fprintf(script, "plot ");
    for (size_t l = 0; l < lines; l++)
        for (int m = 0; m < 2 && points[l]; m++) {
            (void)fprintf(script, "%s$d%zu using 1:%d with linespoints linetype %d dashtype %zu title ",
                          drawn++ ? ", " : "", l, m + 2, m + 1, l % 5 + 1);
            if (several > 1)
                put_label(script, bars, l, ": ", names[m]);
            else
                plot_quote(script, names[m]);
        }
    (void)fputc('\n', script);
}

static int sensitivity(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"fairness_index", "system_throughput"};
    char *key = abscissa(input->runs);
    if (!key)
        return err_set(err,
                       "the runs of the dram engine differ in no cap, window or gap; sweep one, for example --grid "
                       "f3fs.mem_cap=64|128|256|512");
    struct bars bars;
    int rc = bars_init(&bars, input, metrics, 2, key, err);
    const size_t lines = rc ? 0 : bars.table.rows * bars.table.series;
    size_t *points = mem_zalloc(lines, sizeof *points, err), no_number = 0, all = 0;
    for (size_t l = 0; l < lines && points; l++)
        all += points[l] = sensitivity_line(script, &bars, l, &no_number);
    plot_note_missing(input, no_number, "they have no number on this axis");
    if (!rc && !all)
        rc = err_set(err, "no run of the dram engine has a number for %.60s", key);
    if (!rc) {
        (void)fprintf(script, "set xlabel ");
        plot_quote(script, key);
        (void)fprintf(script, "\nset yrange [0:*]\nset key outside right top\n");
        put_axis(script, &bars, "index, ratio", metrics[1]);
        sensitivity_plot(script, &bars, points, lines);
    }
    if (lines)
        bars_release(&bars);
    free(points);
    free(key);
    return rc;
}

/* --- what each kernel is alone --- */

static void put_alone(FILE *script, const struct case_table *cases, size_t run)
{
    char *label = NULL;
    const char *row = cases->row_labels[cases->row_of[run]];
    if (cases->series > 1 && asprintf(&label, "%s %s", row, cases->series_labels[cases->series_of[run]]) < 0)
        label = NULL;
    plot_quote(script, label ? label : row);
    free(label);
}

static int character(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"noc_arrival_per_kcycle", "dram_arrival_per_kcycle", "bank_parallelism"};
    static const char *const titles[] = {"packets into the interconnect per 1000 cycles",
                                         "requests into the controller per 1000 cycles", "bank parallelism",
                                         "row-hit ratio"};
    size_t rows = 0, missing = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        const struct run *run = &input->runs->runs[i];
        double v[4], mem = 0, pim = 0;
        bool known = !run_metric(run, "mem_alone_cycles", &mem) || !run_metric(run, "pim_alone_cycles", &pim);
        for (int k = 0; k < 3; k++)
            known &= run_metric(run, metrics[k], &v[k]);
        known &= run_metric(run, "mem_row_hit_ratio", &v[3]) || run_metric(run, "pim_row_hit_ratio", &v[3]);
        missing += !known && !input->cases->twice[i];
        if (!known || input->cases->twice[i])
            continue;
        (void)fputs(rows++ ? "" : "$d << EOD\n", script);
        put_alone(script, input->cases, i);
        (void)fprintf(script, " %.9g %.9g %.9g %.9g\n", v[0], v[1], v[2], v[3]);
    }
    plot_note_missing(input, missing, "they are of two sides, or lack what the figure shows");
    if (!rows)
        return err_set(err,
                       "no run of the dram engine is of one side alone; replay dram --mem X, or --pim X, makes one");
    (void)fprintf(script,
                  "EOD\nset multiplot layout 2,2\nset style data histograms\nset style fill solid 0.9 border -1\n"
                  "set boxwidth 0.8\nset yrange [0:*]\nset xtics rotate by -45 font ',7'\nunset key\n");
    for (int k = 0; k < 4; k++)
        (void)fprintf(script, "set title '%s'\nplot $d using %d:xtic(1) linetype %d\n", titles[k], k + 2, k + 1);
    (void)fprintf(script, "unset multiplot\n");
    return 0;
}

const struct figure figure_dram_fairness = {"dram-fairness",
                                            "fairness by policy, one and two virtual channels",
                                            "gupta-2025-f3fs figure 8",
                                            FIGURE_RESULTS,
                                            900,
                                            480,
                                            fairness,
                                            "dram"};
const struct figure figure_dram_throughput = {"dram-throughput",
                                              "system throughput by policy, MEM and PIM shares stacked",
                                              "gupta-2025-f3fs figure 8",
                                              FIGURE_RESULTS,
                                              1000,
                                              520,
                                              throughput,
                                              "dram"};
const struct figure figure_dram_switches = {
    "dram-switches", "mode switches by policy", "gupta-2025-f3fs figure 10", FIGURE_RESULTS, 900, 480, switches,
    "dram"};
const struct figure figure_dram_sensitivity = {"dram-sensitivity",
                                               "fairness and throughput over a cap or a window",
                                               "gupta-2025-f3fs section VII",
                                               FIGURE_RESULTS,
                                               800,
                                               480,
                                               sensitivity,
                                               "dram"};
const struct figure figure_dram_ablation = {"dram-ablation",
                                            "fairness and throughput step by step",
                                            "gupta-2025-f3fs figure 14",
                                            FIGURE_RESULTS,
                                            800,
                                            480,
                                            ablation,
                                            "dram"};
const struct figure figure_dram_character = {"dram-character",
                                             "each kernel alone: arrival rates, parallelism, hit ratio",
                                             "gupta-2025-f3fs figure 4",
                                             FIGURE_RESULTS,
                                             1100,
                                             800,
                                             character,
                                             "dram"};
const struct figure figure_dram_llm = {"dram-llm",
                                       "collaborative language model: speed-up by policy",
                                       "gupta-2025-f3fs figure 11",
                                       FIGURE_RESULTS,
                                       900,
                                       480,
                                       llm,
                                       "dram"};
