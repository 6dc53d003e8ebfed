/* Figure compare-times: the time of each mechanism of a comparison (replay/compare), with its uncertainty. */
#include <math.h>
#include <string.h>

#include "replay/report/figure_form.h"
#include "replay/report/report.h"
#include "replay/results/runs.h"
#include "replay/run/engine.h"
#include "replay/run/verdict.h"
#include "trace/base/units.h"

enum { ROWS_MAX = 24, ROWS_USUAL = 10, WIDTH = 1000, HEIGHT = 580, NAME = 30 };

static const double text_scale = 0.85; /* of letters beside the plot; of longer names so that they take a third of it */

/* Those with a time, or more than one, in order, and the ends of the axis. */
struct rows {
    const struct run *runs[ROWS_MAX];
    char *labels[ROWS_MAX];
    struct verdict_answer answers[ROWS_MAX];
    size_t count, longest; /* of what stands beside them, in letters */
    double lo, hi;
    bool open; /* one that may be the best is an estimate, or more than a bound */
};

static double error_of(const struct run *run)
{
    double error;
    return run_metric(run, "error_ratio", &error) && error > 0 ? 1 + error : 1;
}

/* Take a row's time; one that is only a bound has NAN, and the bound as its lower end. */
static bool take(struct chart_bar *time, const struct run *run, double unit)
{
    double bound;
    if (chart_take(time, run, "time_ns", unit))
        return time->value > 0;
    if (!run_at_least(run, "time_ns", &bound) || !(bound > 0))
        return false;
    time->lo = time->hi = bound / unit;
    return true;
}

/* Who wins, of one case. */
static void judge(const struct figure_form *form, struct rows *rows)
{
    struct verdict v = {.metric = engine_metric("compare", "time_ns")};
    for (size_t i = 0; i < rows->count; i++) {
        rows->answers[i] = (struct verdict_answer){.name = rows->labels[i]};
        report_take(&v, &rows->answers[i], rows->runs[i], "time_ns", report_error(rows->runs[i]));
    }
    verdict_make(&v, rows->answers, form->table.rows == 1 ? rows->count : 0);
    rows->open = v.tied && v.pick == rows->count;
}

static int collect(const struct figure_form *form, struct rows *rows, struct err *err)
{
    struct chart_bar time;
    size_t more = 0, all = 0, missing = 0;
    for (size_t i = 0; i < form->runs.count; i++) {
        const struct run *run = &form->runs.runs[i];
        if (!take(&time, run, 1)) {
            missing++;
            continue;
        }
        more += all++ >= ROWS_MAX;
        if (all > ROWS_MAX)
            continue;
        rows->runs[rows->count] = run;
        rows->labels[rows->count] =
            figure_form_label(form, form->table.row_of[i] * form->table.series + form->table.series_of[i]);
        if (!rows->labels[rows->count++])
            return err_set(err, "out of memory");
        rows->lo = fmin(rows->lo, time.lo / error_of(run));
        rows->hi = fmax(rows->hi, time.hi * error_of(run));
    }
    judge(form, rows);
    plot_note_missing(form->input, more, "there is room for 24");
    if (missing)
        (void)note(form->input->notes, "%zu of %zu runs are not drawn: they have no time_ns", missing,
                   form->runs.count);
    plot_note_unbound(form->input, "time_ns");
    return rows->count ? 0 : err_set(err, "no run of the %s engine has time_ns to draw", form->engine);
}

/* The first row stands on top. */
static void y_axis(const struct figure_input *input, FILE *script, const struct rows *rows)
{
    size_t longest = 0;
    for (size_t i = 0; i < rows->count; i++)
        longest = strlen(rows->labels[i]) > longest ? strlen(rows->labels[i]) : longest;
    const double name_scale = fmin(text_scale, (double)NAME / (double)longest);
    (void)plot_taller(input, ((double)rows->count - ROWS_USUAL) * PLOT_LINE);
    (void)fprintf(script, "set lmargin %.1f\nset yrange [%g:-0.6]\nset ytics scale 0 (",
                  (double)longest * name_scale + 2, (double)rows->count - 0.4);
    for (size_t i = 0; i < rows->count; i++) {
        (void)fprintf(script, "%s\"{/*%.2f \".", i ? ", " : "", name_scale);
        plot_quote(script, rows->labels[i]);
        (void)fprintf(script, ".\"}\" %zu", i);
    }
    (void)fputs(")\nset grid xtics noytics\nset border 1\nset key off\n", script);
}

/* y, value, ends of the interval, ends with the measured error of such times, text, whether it wins; of a bound: the
 * bound, from there to the end of the axis, and it has no point. */
static void put_data(FILE *script, struct rows *rows, double unit)
{
    (void)fputs("$t << EOD\n", script);
    for (size_t i = 0; i < rows->count; i++) {
        struct chart_bar t;
        char text[2][64], both[140];
        const double error = error_of(rows->runs[i]);
        const bool wins = rows->answers[i].wins && !rows->open;
        (void)take(&t, rows->runs[i], unit);
        const bool bound = isnan(t.value);
        (void)units_human_ns(t.lo * unit, text[0], sizeof text[0]);
        (void)units_human_ns(t.hi * unit, text[1], sizeof text[1]);
        const bool one = strcmp(text[0], text[1]) == 0;
        const char *low = strrchr(text[0], ' '), *high = strrchr(text[1], ' ');
        if (!one && low && high && strcmp(low, high) == 0) /* "4.99 to 5.43 ms" */
            text[0][low - text[0]] = 0;
        (void)snprintf(both, sizeof both, "%s%s%s%s",
                       bound                                   ? "> "
                       : run_unbound(rows->runs[i], "time_ns") ? "~"
                                                               : "",
                       text[0], one ? "" : " to ", one ? "" : text[1]);
        rows->longest = strlen(both) > rows->longest ? strlen(both) : rows->longest;
        (void)fprintf(script, "%zu %.9g %.9g %.9g %.9g %.9g ", i, bound ? t.lo : t.value, t.lo, t.hi,
                      bound ? t.lo : t.lo / error, bound ? rows->hi / unit : t.hi * error);
        plot_quote(script, both);
        (void)fprintf(script, " %d\n", bound ? 0 : wins ? 2 : 1);
    }
    (void)fputs("EOD\n", script);
}

/* Texts stand in a column right of the plot. */
static void draw(const struct figure_form *form, FILE *script, struct rows *rows)
{
    const char *name;
    const double unit = figure_form_unit(form, "time_ns", rows->hi, &name);
    const bool decades = rows->hi > 10 * rows->lo;
    put_data(script, rows, unit);
    y_axis(form->input, script, rows);
    char label[160];
    (void)snprintf(label, sizeof label,
                   "time%s (%s)\\nfilled: not beaten; thick: left open; whiskers: and the measured error",
                   decades ? ", log scale" : "", name);
    plot_xlabel(form->input, script, label, 2);
    (void)fprintf(script, "set rmargin %.1f\n%sset xrange [%.9g:%.9g]\nset format x '%%g'\n",
                  (double)rows->longest * text_scale + 3, decades ? "set logscale x\n" : "",
                  decades ? rows->lo / unit / 1.1 : 0, rows->hi / unit * 1.05);
    if (decades)
        plot_tics(script, rows->lo / unit, rows->hi / unit);
    else
        (void)fprintf(script, "set xtics 0,%.9g\n", chart_step(rows->hi / unit));
    (void)plot_title_runs(script, false, "Time of each mechanism", form->input->runs);
    (void)fprintf(
        script,
        "plot $t using 2:1:5:6 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb '#444444', "
        "$t using 3:1:($4-$3):(0) with vectors nohead linewidth 7 linecolor rgb '#56B4E9', "
        "$t using 2:($8==2?$1:NaN) with points pointtype 7 pointsize 1.3*dot linecolor rgb '#0072B2', "
        "$t using 2:($8==1?$1:NaN) with points pointtype 6 pointsize 1.1*dot linewidth 2 linecolor rgb '#0072B2', "
        "$t using (%.9g):1:7 with labels left offset 1,0\n",
        rows->hi / unit * 1.05);
}

static int write(const struct figure_input *input, FILE *script, struct err *err)
{
    struct figure_form form;
    struct rows rows = {.lo = INFINITY};
    if (figure_form_init(&form, input, "time_ns", NULL, err))
        return -1;
    int rc = collect(&form, &rows, err);
    if (!rc)
        draw(&form, script, &rows);
    for (size_t i = 0; i < rows.count; i++)
        free(rows.labels[i]);
    figure_form_release(&form);
    return rc;
}

const struct figure figure_compare_times = {
    .name = "compare-times",
    .summary = "the time of each mechanism, with its interval and measured error",
    .needs = "results of compare",
    .source = "ours",
    .kinds = FIGURE_RESULTS,
    .width = WIDTH,
    .height = HEIGHT,
    .write = write,
    .engine = "compare",
};
