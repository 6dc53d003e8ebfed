/* dram-sensitivity: fairness and throughput over a number that a sweep varied. */
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figure_dram_bars.h"
#include "replay/figure/style.h"
#include "replay/results/case_keys.h"
#include "replay/run/aggregate.h"
#include "trace/base/mem.h"

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

static void put(FILE *script, const struct run *run, const char *metric)
{
    double value;
    if (run && run_metric(run, metric, &value))
        (void)fprintf(script, " %.9g", value);
    else
        (void)fprintf(script, " NaN");
}

/* The points of one line; returns how many. */
static size_t sensitivity_line(FILE *script, const struct dram_bars *bars, size_t line, size_t *no_number)
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

/* Lines in their policies' colours: fairness whole with full points, throughput dashed with hollow ones; cases of one
 * policy differ in their points. */
static void sensitivity_plot(FILE *script, const struct dram_bars *bars, const size_t *points, size_t lines,
                             const struct style *styles)
{
    static const char *const names[] = {"fairness index", "system throughput"};
    static const char *const metrics[] = {"fairness_index", "system_throughput"};
    static const int marks[2][4] = {{7, 5, 9, 13}, {6, 4, 8, 12}};
    size_t drawn = 0, several = 0;
    for (size_t l = 0; l < lines; l++)
        several += points[l] > 0;
    (void)fprintf(script, "plot ");
    for (size_t l = 0; l < lines; l++)
        for (int m = 0; m < 2 && points[l]; m++) {
            char *name = dram_bars_metric(bars, names[m], metrics[m]);
            char *label = several > 1 ? dram_bars_label(bars, l, ": ", name ? name : names[m]) : NULL;
            (void)fprintf(
                script,
                "%s$d%zu using 1:%d with linespoints linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype "
                "%d title ",
                drawn++ ? ", " : "", l, m + 2, styles[l % bars->table.series].colour, m + 1,
                marks[m][(l + l / bars->table.series) % 4]);
            plot_quote(script, label ? label : name ? name : names[m]);
            free(label);
            free(name);
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
    struct dram_bars bars;
    int rc = dram_bars_init(&bars, input, metrics, 2, key, false, err);
    const size_t lines = rc ? 0 : bars.table.rows * bars.table.series;
    size_t *points = mem_zalloc(lines, sizeof *points, err), no_number = 0, all = 0;
    for (size_t l = 0; l < lines && points; l++)
        all += points[l] = sensitivity_line(script, &bars, l, &no_number);
    plot_note_missing(input, no_number, "they have no number on this axis");
    if (!rc && !all)
        rc = err_set(err, "no run of the dram engine has a number for %.60s", key);
    struct style *styles = rc ? NULL : mem_zalloc(bars.table.series, sizeof *styles, err);
    if (styles) {
        style_policies("dram", bars.table.series_labels, bars.table.series, styles);
        plot_legend(input, 2 * lines, lines > 1 ? 36 : 18);
        plot_title_runs(script, "Fairness and throughput over a setting", input->runs);
        (void)fputs("set yrange [0:*]\nset xlabel \"\".", script);
        plot_quote(script, key);
        (void)fprintf(script, ".\" (%s)\"\n", *metric_unit(key) ? metric_unit(key) : "number");
        dram_bars_axis(script, &bars, "index, sum of speed-ups", NULL, "ratio");
        sensitivity_plot(script, &bars, points, lines, styles);
    }
    rc = styles ? rc : -1;
    free(styles);
    if (lines)
        dram_bars_release(&bars);
    free(points);
    free(key);
    return rc;
}

const struct figure figure_dram_sensitivity = {
    .name = "dram-sensitivity",
    .summary = "fairness and throughput over a cap or a window",
    .needs = "dram runs, one cap, window or gap varied",
    .source = "gupta-2025-f3fs section VII",
    .kinds = FIGURE_RESULTS,
    .width = 800,
    .height = 480,
    .write = sensitivity,
    .engine = "dram",
};
