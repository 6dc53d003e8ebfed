/* What a result hinges on: speed-up of policies over a number that a sweep varied, a cost of the platform or the
 * oversubscription. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "replay/results/case_keys.h"
#include "trace/base/mem.h"

/* A line is a row of the table under one policy. */
struct points {
    struct point {
        size_t line;
        double x, y;
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
        double x, y;
        if (run->baseline || table->twice[i]) /* a baseline is the line at 1 */
            continue;
        if (case_keys_number(table->apart[i], &x) && run_metric(run, "speedup_ratio", &y) && y > 0)
            points->items[points->count++] =
                (struct point){table->row_of[i] * table->series + table->series_of[i], x, y};
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
        (void)fprintf(script, "%.9g %.9g\n", p->x, p->y);
    }
    (void)fprintf(script, "EOD\n");
}

static void plot_lines(FILE *script, const struct case_table *table, const struct points *points)
{
    (void)fprintf(script, "plot ");
    for (size_t i = 0, l = 0; i < points->count; i++) {
        const size_t line = points->items[i].line;
        char *label = NULL;
        if (i && points->items[i - 1].line == line)
            continue;
        (void)fprintf(script, "%s$l%zu with linespoints linetype %zu dashtype %zu pointsize 0.7 title ", l ? ", " : "",
                      l, l % 8 + 1, l / 8 % 5 + 1);
        if (asprintf(&label, "%s, %s", table->row_labels[line / table->series],
                     table->series_labels[line % table->series]) < 0)
            label = NULL;
        plot_quote(script, label ? label : "");
        free(label);
        l++;
    }
    (void)fputc('\n', script);
}

static void draw(FILE *script, const char *key, const struct case_table *table, const struct points *points)
{
    double lo = INFINITY, hi = 0;
    for (size_t i = 0; i < points->count; i++) {
        lo = fmin(lo, points->items[i].x);
        hi = fmax(hi, points->items[i].x);
    }
    line_data(script, points);
    (void)fprintf(script, "set title 'What the speed-up hinges on'\nset xlabel ");
    plot_quote(script, key);
    (void)fprintf(script,
                  "\nset ylabel 'speed-up over the baseline'\nset logscale y 2\nset format y '%%g'\n"
                  "set key outside right top\n%sset xrange [%.9g:%.9g]\n"
                  "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n",
                  lo > 0 && hi / lo >= 16 ? "set logscale x\n" : "", lo, hi);
    plot_lines(script, table, points);
}

static int write_sensitivity(const struct figure_input *input, FILE *script, struct err *err)
{
    char *key = case_keys_axis(input->runs);
    if (!key)
        return err_set(err,
                       "no setting differs between the runs; sweep one, such as --grid service_ns=4000|13000|30000");
    struct case_table table = {0};
    struct points points = {0};
    int rc = case_table_make(&table, input->runs, key, err);
    if (!rc)
        rc = collect(input, &table, &points, err);
    if (!rc && !points.count)
        rc = err_set(err, "no run of the uvm engine has a speed-up and a number for %.60s", key);
    if (!rc)
        draw(script, key, &table, &points);
    free(points.items);
    case_table_release(&table);
    free(key);
    return rc;
}

const struct figure figure_uvm_sensitivity = {"uvm-sensitivity",
                                              "speed-up over the setting or platform number that a sweep varied",
                                              "ours",
                                              FIGURE_RESULTS,
                                              1000,
                                              480,
                                              write_sensitivity,
                                              "uvm"};
