/* Figure lines: a metric over a number that a sweep varied. A line is a policy under one case. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/report/figure_form.h"
#include "replay/results/case_table.h"
#include "replay/run/outcome.h"
#include "trace/base/mem.h"

enum { MOST_LINES = 24, MOST_TICS = 10, MOST_POINTS = 60, PLOT_ACROSS = 36 /* letters */ };

struct lines {
    struct figure_form form;
    const char *key;
    size_t count;               /* lines of the form */
    size_t *points;             /* [line] */
    struct style *styles;       /* [series] */
    double lo, hi, least, most; /* ends of both axes */
};

/* Count the points of all lines and find the ends of the axes. How many. */
static size_t measure(struct lines *l)
{
    struct chart_bar y;
    double x;
    size_t all = 0, elsewhere = 0;
    for (size_t i = 0; i < l->count * l->form.value_count; i++) {
        if (!l->form.at[i] || !figure_form_take(&y, l->form.at[i], l->form.metrics[0]))
            continue;
        if (!case_keys_number(l->form.values[i % l->form.value_count], &x)) {
            elsewhere++;
            continue;
        }
        l->lo = fmin(l->lo, x);
        l->hi = fmax(l->hi, x);
        l->least = fmin(l->least, y.lo);
        l->most = fmax(l->most, y.hi);
        l->points[i / l->form.value_count]++;
        all++;
    }
    if (figure_form_is_gain(l->form.metrics[0])) {
        l->least = fmin(l->least, 1);
        l->most = fmax(l->most, 1);
    }
    plot_note_missing(l->form.input, elsewhere, "they have no number on this axis");
    return all;
}

static void put_data(const struct lines *l, FILE *script, size_t line, double unit)
{
    struct chart_bar y;
    double x;
    (void)fprintf(script, "$l%zu << EOD\n", line);
    for (size_t v = 0; v < l->form.value_count; v++)
        if (figure_form_take(&y, l->form.at[line * l->form.value_count + v], l->form.metrics[0]) &&
            case_keys_number(l->form.values[v], &x))
            (void)fprintf(script, "%.9g %.9g %.9g %.9g\n", x, y.value / unit, y.lo / unit, y.hi / unit);
    (void)fputs("EOD\n", script);
}

static bool is_log(const struct lines *l)
{
    return l->least > 0 && l->most / l->least > (figure_form_is_gain(l->form.metrics[0]) ? 2 : 100);
}

/* Whether two lines cannot be told apart: nowhere further from each other than a line is wide. */
static bool same(const struct lines *l, size_t a, size_t b)
{
    const struct run *const *p = l->form.at + a * l->form.value_count, *const *q = l->form.at + b * l->form.value_count;
    struct chart_bar x, y;
    for (size_t v = 0; v < l->form.value_count; v++) {
        const bool any = figure_form_take(&x, p[v], l->form.metrics[0]);
        if (any != figure_form_take(&y, q[v], l->form.metrics[0]) ||
            (any && fabs(x.value - y.value) > 0.008 * (is_log(l) ? fmin(x.value, y.value) : l->most)))
            return false;
    }
    return true;
}

/* Label of a line; if it coincides with another, with that one's name. Freed by the caller. */
static char *label_of(const struct lines *l, size_t line)
{
    char *label = figure_form_label(&l->form, line);
    for (size_t i = 0; i < line && label; i++)
        if (l->points[i] && same(l, i, line)) {
            char *other = figure_form_label(&l->form, i);
            (void)mem_append(&label, " (on %s)", other ? other : "");
            free(other);
            break;
        }
    return label;
}

/* A line has its policy's colour; cases of one policy differ in dashes and points, of the only one in colours too. */
static void put_plot(const struct lines *l, FILE *script)
{
    const struct case_table *t = &l->form.table;
    size_t drawn = 0;
    (void)fputs("plot ", script);
    for (size_t i = 0; i < l->count; i++) {
        if (!l->points[i])
            continue;
        const struct style as = t->rows > 1 ? style_line(i) : l->styles[i % t->series];
        const unsigned colour = t->series > 1 ? l->styles[i % t->series].colour : as.colour;
        char *label = label_of(l, i);
        (void)fprintf(
            script,
            "%s$l%zu using 1:2:3:4 with yerrorlines linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype "
            "%d title ",
            drawn++ ? ", " : "", i, colour, as.dash, l->points[i] > MOST_POINTS ? 0 : as.point);
        plot_quote(script, label ? label : "");
        free(label);
    }
    (void)fputc('\n', script);
}

/* Room for the legend. How many lines there are. */
static size_t put_legend(const struct lines *l, FILE *script)
{
    size_t lines = 0, longest = 0;
    for (size_t i = 0; i < l->count; i++) {
        char *label = l->points[i] ? label_of(l, i) : NULL;
        longest = label && strlen(label) > longest ? strlen(label) : longest;
        lines += l->points[i] > 0;
        free(label);
    }
    plot_legend(l->form.input, script, lines, longest);
    return lines;
}

static const char *unit_of(const char *key)
{
    const size_t n = strlen(key);
    return *metric_unit(key) ? metric_unit(key) : n > 4 && strcmp(key + n - 4, "_pct") == 0 ? "%" : "number";
}

/* Put tics: a few values as they were given ("64KiB"), without those that would overlap. */
static void put_tics(const struct lines *l, FILE *script, bool wide)
{
    const double all = wide ? log(l->hi / l->lo) : l->hi - l->lo;
    double x, end = -PLOT_ACROSS;
    for (size_t v = 0, n = 0; v < l->form.value_count && l->form.value_count <= MOST_TICS; v++)
        if (case_keys_number(l->form.values[v], &x)) {
            const double at = PLOT_ACROSS * (all > 0 ? (wide ? log(x / l->lo) : x - l->lo) / all : 0);
            const double half = (double)strlen(l->form.values[v]) * PLOT_CHAR_WIDTH / 2;
            const bool fits = at - half > end + 0.3;
            (void)fputs(n++ ? "set xtics add (" : "set xtics (", script);
            plot_quote(script, fits ? l->form.values[v] : "");
            (void)fprintf(script, " %.9g)\n", x);
            end = fits ? at + half : end;
        }
}

static void put_axes(const struct lines *l, FILE *script, double by, const char *unit)
{
    const char *metric = l->form.metrics[0];
    const bool gain = figure_form_is_gain(metric), log = is_log(l);
    const bool wide = l->lo > 0 && l->hi / l->lo >= 16;
    char name[80], title[200];
    (void)snprintf(title, sizeof title, "%s over %.80s", metric, l->key);
    (void)plot_title_runs(script, false, title, l->form.input->runs);
    (void)fputs("set xlabel \"\".", script);
    plot_quote(script, l->key);
    (void)fprintf(script, ".\"%s (%s)\"\n", wide ? ", log scale" : "", unit_of(l->key));
    figure_form_ylabel(&l->form, script, metric, figure_form_name(metric, name, sizeof name), log, unit, false);
    chart_axis(script, gain || log ? l->least / by : 0, l->most / by, log);
    if (gain)
        figure_form_line_at_one(script);
    if (wide)
        (void)fputs("set logscale x\nset format x '%g'\n", script);
    put_tics(l, script, wide);
    if (l->hi > l->lo)
        (void)fprintf(script, "set xrange [%.9g:%.9g]\n", l->lo, l->hi);
}

static int draw(struct lines *l, FILE *script, struct err *err)
{
    const struct case_table *t = &l->form.table;
    const char *unit;
    l->count = t->rows * t->series;
    l->points = mem_zalloc(l->count, sizeof *l->points, err);
    l->styles = mem_zalloc(t->series, sizeof *l->styles, err);
    if (!l->points || !l->styles || figure_form_check(&l->form, l->form.metrics[0], measure(l), err))
        return -1;
    const size_t lines = put_legend(l, script);
    if (lines > MOST_LINES)
        return err_set(err, "%zu lines could not be told apart; --aggregate combines inputs", lines);
    style_policies(l->form.engine, t->series_labels, t->series, l->styles);
    const double by = figure_form_unit(&l->form, l->form.metrics[0], l->most, &unit);
    for (size_t i = 0; i < l->count; i++)
        if (l->points[i])
            put_data(l, script, i, by);
    put_axes(l, script, by, unit);
    put_plot(l, script);
    return 0;
}

static int lines(const struct figure_input *input, FILE *script, struct err *err)
{
    struct lines l = {.lo = INFINITY, .hi = -INFINITY, .least = INFINITY};
    char *key = input->over ? mem_strdup(input->over, err) : case_keys_axis(input->runs);
    if (!key)
        return err_set(err,
                       "no setting differs between the runs; sweep one, such as --grid service_ns=4000|13000|30000, "
                       "or name a parameter of a policy by --over");
    l.key = key;
    int rc = figure_form_init(&l.form, input, NULL, key, err);
    if (!rc && l.form.metric_count > 1)
        rc = err_set(err, "figure lines draws one metric");
    rc = rc ? rc : draw(&l, script, err);
    figure_form_release(&l.form);
    free(l.points);
    free(l.styles);
    free(key);
    return rc;
}

const struct figure figure_lines = {
    .name = "lines",
    .summary = "a metric over a number that a sweep varied, a line for each case and policy",
    .needs = "runs of one engine, one number varied",
    .source = "the line charts of all papers",
    .kinds = FIGURE_RESULTS,
    .width = 1000,
    .height = 560,
    .write = lines,
};
