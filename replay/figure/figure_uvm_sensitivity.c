/* What a result hinges on: speed-up of policies over a number that a sweep varied, a cost of the platform or the
 * oversubscription. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "replay/figure/figures.h"
#include "replay/results/case_keys.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

/* A line is a row of the table under one policy. */
struct points {
    struct point {
        size_t line;
        double x, y, lo, hi;
    } * items;
    size_t count;
};

static int by_line_and_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static int collect(const struct figure_input *input, const struct case_table *table, struct points *points,
                   struct err *err)
{
    size_t missing = 0;
    points->items = mem_zalloc(table->set->count, sizeof *points->items, err);
    for (size_t i = 0; points->items && i < table->set->count; i++) {
        const struct run *run = &table->set->runs[i];
        double x;
        if (run->baseline || table->twice[i]) /* a baseline is the line at 1 */
            continue;
        struct chart_bar bar;
        if (case_keys_number(table->apart[i], &x) && chart_take(&bar, run, "speedup_ratio", 1) && bar.value > 0)
            points->items[points->count++] =
                (struct point){table->row_of[i] * table->series + table->series_of[i], x, bar.value, bar.lo, bar.hi};
        else
            missing++;
    }
    if (points->count)
        qsort(points->items, points->count, sizeof *points->items, by_line_and_x);
    plot_note_missing(input, missing, "they have no speed-up, or no number on this axis");
    return points->items ? 0 : -1;
}

/* The data of each line that has points. */
static void line_data(FILE *script, const struct points *points)
{
    size_t lines = 0;
    for (size_t i = 0; i < points->count; i++) {
        const struct point *p = &points->items[i];
        if (i == 0 || p[-1].line != p->line)
            (void)fprintf(script, "%s$l%zu << EOD\n", i ? "EOD\n" : "", lines++);
        (void)fprintf(script, "%.9g %.9g %.9g %.9g\n", p->x, p->y, p->lo, p->hi);
    }
    (void)fprintf(script, "EOD\n");
}

/* "bicg 150 %, tree" */
static char *line_label(const struct case_table *table, size_t line)
{
    char *label = NULL;
    if (asprintf(&label, "%s, %s", table->row_labels[line / table->series],
                 table->series_labels[line % table->series]) < 0)
        label = NULL;
    return label;
}

/* Lines have the colours of their policies; cases of one policy differ in dashes and points. */
static void plot_lines(FILE *script, const struct case_table *table, const struct points *points,
                       const struct style *styles)
{
    (void)fputs("plot ", script);
    for (size_t i = 0, l = 0; i < points->count; i++) {
        const size_t line = points->items[i].line;
        if (i && points->items[i - 1].line == line)
            continue;
        const struct style as = table->rows > 1 ? style_line(l) : styles[line % table->series];
        char *label = line_label(table, line);
        (void)fprintf(
            script,
            "%s$l%zu using 1:2:3:4 with yerrorlines linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype %d "
            "title ",
            l ? ", " : "", l, styles[line % table->series].colour, as.dash, as.point);
        plot_quote(script, label ? label : "");
        free(label);
        l++;
    }
    (void)fputc('\n', script);
}

static void legend(const struct figure_input *input, const struct case_table *table, const struct points *points)
{
    size_t lines = 0, longest = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (i && points->items[i - 1].line == points->items[i].line)
            continue;
        char *label = line_label(table, points->items[i].line);
        longest = label && strlen(label) > longest ? strlen(label) : longest;
        lines++;
        free(label);
    }
    plot_legend(input, lines, longest);
}

static const char *baseline_of(const struct run_set *runs)
{
    const char *name = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        const char *policy = json_string_value(json_object_get(runs->runs[i].relative_to, "policy"));
        if (!policy || (name && strcmp(name, policy) != 0))
            return "the baseline";
        name = policy;
    }
    return name ? name : "the baseline";
}

static int draw(const struct figure_input *input, FILE *script, const char *key, const struct case_table *table,
                const struct points *points, struct err *err)
{
    double lo = INFINITY, hi = 0;
    struct style *styles = mem_zalloc(table->series, sizeof *styles, err);
    if (!styles)
        return -1;
    style_policies("uvm", table->series_labels, table->series, styles);
    for (size_t i = 0; i < points->count; i++) {
        lo = fmin(lo, points->items[i].x);
        hi = fmax(hi, points->items[i].x);
    }
    line_data(script, points);
    legend(input, table, points);
    plot_title_runs(script, "What the speed-up hinges on", input->runs);
    (void)fputs("set xlabel \"\".", script);
    plot_quote(script, key);
    (void)fprintf(script, ".\" (%s)\"\nset ylabel \"speed-up over \".",
                  *metric_unit(key) ? metric_unit(key) : "number");
    plot_quote(script, baseline_of(input->runs));
    (void)fprintf(script,
                  ".\" (ratio)\"\nset logscale y 2\nset format y '%%g'\n%sset xrange [%.9g:%.9g]\n"
                  "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n",
                  lo > 0 && hi / lo >= 16 ? "set logscale x\n" : "", lo, hi);
    plot_lines(script, table, points, styles);
    free(styles);
    return 0;
}

static int write_sensitivity(const struct figure_input *input, FILE *script, struct err *err)
{
    char *key = case_keys_axis(input->runs);
    if (!key)
        return err_set(err,
                       "no setting differs between the runs; sweep one, such as --grid service_ns=4000|13000|30000");
    struct case_table table = {0};
    struct points points = {0};
    int rc = case_table_make(&table, input->runs, key, err) || style_sort(&table, err) ? -1 : 0;
    if (!rc)
        rc = collect(input, &table, &points, err);
    if (!rc && !points.count)
        rc = err_set(err, "no run of the uvm engine has a speed-up and a number for %.60s", key);
    if (!rc)
        rc = draw(input, script, key, &table, &points, err);
    free(points.items);
    case_table_release(&table);
    free(key);
    return rc;
}

const struct figure figure_uvm_sensitivity = {
    .name = "uvm-sensitivity",
    .summary = "speed-up over the setting or platform number that a sweep varied",
    .needs = "uvm runs, one number varied",
    .source = "ours",
    .kinds = FIGURE_RESULTS,
    .width = 1000,
    .height = 560,
    .write = write_sensitivity,
    .engine = "uvm",
};
