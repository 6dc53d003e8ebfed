#include "replay/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { ROOM = 60, LINES_MAX = 4, NAME_MAX_CHARS = 400 };

/* Of what is slanted by 35 degrees. */
static const double sine = 0.5736, cosine = 0.8192;
static const double across = 36; /* letters from the axis to the right end */

/* --- data --- */

int chart_init(struct chart *chart, const char *engine, char *const *groups, size_t group_count, char *const *series,
               size_t series_count, struct err *err)
{
    *chart = (struct chart){.groups = group_count,
                            .series = series_count,
                            .group_names = groups,
                            .series_names = series,
                            .block = "p",
                            .base = 1};
    struct style *styles = mem_zalloc(series_count, sizeof *styles, err);
    chart->bars = mem_zalloc(group_count * series_count, sizeof *chart->bars, err);
    chart->styles = styles;
    if (!styles || !chart->bars) {
        chart_release(chart);
        return -1;
    }
    if (engine)
        style_policies(engine, series, series_count, styles);
    for (size_t s = 0; !engine && s < series_count; s++)
        styles[s] = style_plain(s);
    for (size_t i = 0; i < group_count * series_count; i++)
        chart->bars[i] = (struct chart_bar){false, NAN, NAN, NAN};
    return 0;
}

void chart_release(struct chart *chart)
{
    free(chart->bars);
    free((void *)chart->styles);
    chart->bars = NULL;
    chart->styles = NULL;
}

bool chart_take(struct chart_bar *bar, const struct run *run, const char *metric, double unit)
{
    double v;
    *bar = (struct chart_bar){run != NULL, NAN, NAN, NAN};
    if (!run || !run_metric(run, metric, &v))
        return false;
    bar->value = bar->lo = bar->hi = v / unit;
    if (run_interval(run, metric, &bar->lo, &bar->hi)) {
        bar->lo /= unit;
        bar->hi /= unit;
    }
    return true;
}

static bool is_drawn(const struct chart *chart, size_t s)
{
    for (size_t g = 0; g < chart->groups; g++)
        if (!isnan(chart->bars[g * chart->series + s].value))
            return true;
    return false;
}

double chart_at(size_t group, size_t i, size_t n, double *half)
{
    const double width = fmin(0.84 / (double)n, 0.4);
    *half = width * 0.46;
    return (double)group + width * ((double)i - ((double)n - 1) / 2);
}

/* --- tics --- */

/* Break a text at blanks and after signs into lines of at most `room` characters. The lines, or 0 if a word is longer
 * or the text is. */
static size_t wrap(const char *text, size_t room, char *out, size_t size)
{
    size_t lines = 1, column = 0, used = 0;
    while (*text && used + 2 < size) {
        size_t word = strcspn(text, " ,:+=/");
        word += strncmp(text + word, " %", 2) == 0 ? 2 : text[word] && text[word] != ' ';
        if (word > room)
            return 0;
        if (column && column + (text[-1] == ' ') + word > room) {
            if (out[used - 1] == ' ')
                used--;
            out[used++] = '\n';
            lines++;
            column = 0;
        }
        for (size_t i = 0; i < word && used + 2 < size; i++)
            out[used++] = text[i];
        column += word;
        text += word;
        if (*text == ' ') {
            text++;
            out[used++] = ' ';
            column++;
        }
    }
    out[used] = 0;
    return *text ? 0 : lines;
}

/* A name on its lines, as an expression of gnuplot; % begins a format there. */
static void put_lines(FILE *script, const char *text)
{
    char line[2 * NAME_MAX_CHARS + 1];
    for (const char *sep = "";; sep = ".\"\\n\".") {
        size_t n = 0, length = strcspn(text, "\n");
        for (size_t i = 0; i < length && n + 2 < sizeof line; i++) {
            if (text[i] == '%')
                line[n++] = '%';
            line[n++] = text[i];
        }
        line[n] = 0;
        (void)fputs(sep, script);
        plot_quote(script, line);
        if (!text[length])
            return;
        text += length + 1;
    }
}

static size_t longest_line(const char *text)
{
    size_t most = 0, n;
    for (;; text += n + 1) {
        n = strcspn(text, "\n");
        most = n > most ? n : most;
        if (!text[n])
            return most;
    }
}

/* A name in at most `lines` lines, as short as they can be. */
static void fold(const char *name, size_t lines, char *text, size_t size)
{
    const size_t length = strlen(name);
    for (size_t room = (length + lines - 1) / lines; room < length; room++) {
        const size_t got = wrap(name, room, text, size);
        if (got && got <= lines)
            return;
    }
    (void)snprintf(text, size, "%s", name);
}

/* A categorical axis: names at 0, 1, .. */
struct axis {
    char *const *names;
    size_t count;
    const char *labels;   /* what they are ("case"); NULL: nothing */
    size_t panel, panels; /* of several over each other, all with this axis, it stands under the last; 0: of one */
    size_t entries, entry_chars; /* in the legend over it, if it has panels */
};

/* How names are written. */
struct names {
    bool level;        /* one or several lines each, else slanted */
    bool upright;      /* by 90 degrees: many */
    size_t lines;      /* at most */
    size_t room;       /* characters of a line, of level names */
    double scale;      /* of letters: very many */
    double deep, left; /* letters below the axis, and left of the figure's plot */
};

/* How deep and how far to the left names reach that are not level. */
static void measure(const struct axis *axis, struct names *names)
{
    const double n = (double)axis->count;
    char text[NAME_MAX_CHARS];
    names->deep = 0;
    names->left = 8;
    for (size_t i = 0; i < axis->count; i++) {
        fold(axis->names[i], names->lines, text, sizeof text);
        const double length = (double)longest_line(text) * PLOT_CHAR_WIDTH * names->scale;
        names->deep = fmax(names->deep, names->upright ? length + 1 : length * sine + (double)names->lines * 1.3);
        if (!names->upright)
            names->left = fmax(names->left, length * cosine + 1 - ((double)i + 0.6) / (n + 0.2) * across);
    }
}

static struct names names_of(const struct axis *axis)
{
    const double n = (double)axis->count;
    char text[NAME_MAX_CHARS];
    struct names names = {.room = axis->count ? ROOM / axis->count : ROOM, .left = 8, .scale = 1};
    names.room -= names.room > 12 ? 2 : names.room > 2;
    names.level = names.room >= 2;
    for (size_t i = 0; i < axis->count && names.level; i++) {
        const size_t got = wrap(axis->names[i], names.room, text, sizeof text);
        names.level = got > 0 && got <= LINES_MAX;
        names.lines = got > names.lines ? got : names.lines;
    }
    names.deep = (double)names.lines * 1.3 + 0.6;
    if (names.level)
        return names;
    names.lines = (size_t)fmax(1, across / n / 2.1 - 0.5);
    measure(axis, &names);
    if (n > 17 || names.left > 10) {
        names.upright = true;
        names.lines = (size_t)fmax(1, across / n / 1.4);
        names.scale = fmin(1, 34 / n);
        measure(axis, &names);
    }
    return names;
}

/* Margins of a panel, in letters: the title, a legend over the first, the names under the last. */
static void put_margins(const struct figure_input *input, FILE *script, const struct axis *axis,
                        const struct names *names)
{
    const double below = names->deep + (axis->labels ? 2.3 : 0.6);
    const double height = plot_taller(input, axis->panel ? 0 : fmax(0, below - 4));
    (void)fprintf(script, "set lmargin at screen %.4f\n", names->left / PLOT_LETTERS);
    if (axis->panels < 2) {
        (void)fprintf(script, "set bmargin at screen %.4f\n", below / height);
        return;
    }
    const double top = 3.8 + (axis->entries ? PLOT_LINE * plot_legend_lines(axis->entries, axis->entry_chars) : 0);
    const double each = (height - top - below) / (double)axis->panels;
    const double up = height - top - each * (double)axis->panel;
    if (!axis->panel) /* the legend stands under the title */
        (void)fprintf(script, "set size 1,%.4f\n", (height - 2.9) / height);
    (void)fprintf(script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", up / height,
                  (up - each + (axis->panel + 1 < axis->panels ? 1.7 : 0)) / height);
}

static void put_names(FILE *script, const struct axis *axis, const struct names *names)
{
    char text[NAME_MAX_CHARS];
    for (size_t i = 0; i < axis->count; i++) {
        (void)fputs(i ? ", " : "", script);
        if (names->level)
            (void)wrap(axis->names[i], names->room, text, sizeof text);
        else
            fold(axis->names[i], names->lines, text, sizeof text);
        if (names->scale < 1)
            (void)fprintf(script, "\"{/*%.2f \".", names->scale);
        put_lines(script, text);
        (void)fputs(names->scale < 1 ? ".\"}\"" : "", script);
        (void)fprintf(script, " %zu", i);
    }
}

/* Names on several lines where there is room, else slanted, and the figure higher. */
static void put_tics(const struct figure_input *input, FILE *script, const struct axis *axis)
{
    const struct names names = names_of(axis);
    const bool last = axis->panel + 1 >= axis->panels;
    put_margins(input, script, axis, &names);
    (void)fputs("set xtics scale 0 (", script);
    if (last)
        put_names(script, axis, &names);
    else
        (void)fputs("'' 0", script);
    (void)fprintf(script, ")%s\n", names.level ? "" : names.upright ? " rotate by 90 right" : " rotate by 35 right");
    if (axis->labels && last)
        (void)fprintf(script, "set label \"%s\" at graph 0.5, screen 0 offset 0,0.7 center # x\n", axis->labels);
    (void)fprintf(script, "set xrange [-0.6:%zu.6]\n", axis->count ? axis->count - 1 : 0);
}

/* --- the script --- */

/* "n/a" and "0" where no bar can be seen. */
static void put_mark(FILE *script, const struct chart *chart, const struct chart_bar *bar, double x)
{
    const bool zero = bar->value == 0 && bar->hi == 0 && !chart->stacked && !chart->log;
    if (bar->run && (isnan(bar->value) || zero))
        (void)fprintf(script,
                      "set label \"{/*0.8 %s}\" at %.6g, graph 0.015 left rotate by 90 textcolor rgb '#555555'\n",
                      zero ? "0" : "n/a", x);
}

/* x, value, ends of the interval (of what is stacked, of the bar) and the group's name, for people, of the series that
 * is drawn as the k-th of n. */
static bool put_series(FILE *script, const struct chart *chart, size_t s, size_t k, size_t n)
{
    bool intervals = false;
    for (size_t g = 0; g < chart->groups && (!chart->stacked || !k); g++) {
        double half;
        put_mark(script, chart, &chart->bars[g * chart->series + s],
                 chart->stacked ? (double)g : chart_at(g, k, n, &half));
    }
    (void)fprintf(script, "$%s%zu << EOD\n", chart->block, s);
    for (size_t g = 0; g < chart->groups; g++) {
        const struct chart_bar *bar = &chart->bars[g * chart->series + s];
        double half, below = 0;
        for (size_t b = 0; chart->stacked && b < s; b++)
            below += fmax(0, chart->bars[g * chart->series + b].value); /* fmax: NAN is 0 */
        if (isnan(bar->value))
            continue;
        intervals |= bar->hi > bar->lo;
        if (chart->stacked)
            (void)fprintf(script, "%zu %.9g %.9g %.9g ", g, bar->value, below, below + bar->value);
        else
            (void)fprintf(script, "%.6g %.9g %.9g %.9g ", chart_at(g, k, n, &half), bar->value, bar->lo, bar->hi);
        plot_quote(script, chart->group_names[g]);
        (void)fputc('\n', script);
    }
    (void)fputs("EOD\n", script);
    return intervals;
}

static void plot_series(FILE *script, const struct chart *chart, size_t s, double half, bool intervals)
{
    if (chart->box)
        (void)fprintf(script, "$%s%zu using 1:2:($1-%.6g):($1+%.6g):3:4 with boxxyerror", chart->block, s, half, half);
    else if (chart->stacked)
        (void)fprintf(script, "$%s%zu using 1:3:($1-0.36):($1+0.36):3:4 with boxxyerror", chart->block, s);
    else
        (void)fprintf(script, "$%s%zu using 1:(%.9g):($1-%.6g):($1+%.6g):(%.9g):2 with boxxyerror", chart->block, s,
                      chart->log ? chart->base : 0, half, half, chart->log ? chart->base : 0);
    style_put_fill(script, &chart->styles[s]);
    (void)fputs(*chart->series_names[s] ? " title " : " notitle", script);
    if (*chart->series_names[s])
        plot_quote(script, chart->series_names[s]);
    if (chart->box)
        (void)fprintf(
            script,
            ", $%s%zu using ($1-%.6g):2:(%.6g):(0) with vectors nohead linecolor rgb '#000000' linewidth 2 dashtype 1 "
            "notitle",
            chart->block, s, half, 2 * half);
    else if (intervals)
        (void)fprintf(script,
                      ", $%s%zu using 1:($4>$3?$2:NaN):3:4 with yerrorbars linecolor rgb '#000000' linewidth 1.5 "
                      "dashtype 1 pointtype -1 notitle",
                      chart->block, s);
}

double chart_step(double most)
{
    const double decade = pow(10, floor(log10(most / 3)));
    const double times = most / 3 / decade;
    return decade * (times < 2 ? 1 : times < 5 ? 2 : 5);
}

void chart_write(const struct figure_input *input, FILE *script, const struct chart *chart)
{
    size_t n = 0, k = 0, drawn = 0, longest = 0;
    double half = 0.36, most = 0;
    bool *intervals = mem_zalloc(chart->series, sizeof *intervals, NULL);
    for (size_t s = 0; s < chart->series; s++)
        n += is_drawn(chart, s);
    for (size_t s = 0; s < chart->series; s++)
        if (is_drawn(chart, s)) {
            const bool any = put_series(script, chart, s, k++, n);
            longest = strlen(chart->series_names[s]) > longest ? strlen(chart->series_names[s]) : longest;
            if (intervals)
                intervals[s] = any;
        }
    for (size_t i = 0; i < chart->groups * chart->series; i++)
        most = fmax(most, chart->bars[i].hi);
    if (!chart->panel && longest)
        plot_legend(input, n, longest);
    else
        (void)fputs("set key off\n", script);
    const struct axis axis = {
        chart->group_names, chart->groups, chart->labels, chart->panel, chart->panels, n, longest};
    put_tics(input, script, &axis);
    for (size_t g = 1; g < chart->groups && !chart->stacked && n > 1; g++)
        (void)fprintf(script, "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb '#dddddd' back\n",
                      (double)g - 0.5, (double)g - 0.5);
    if (chart->log)
        (void)fprintf(script, "set logscale y %d\nset format y '%%g'\n%s", chart->log_of,
                      chart->panel ? "set yrange [*:*]\n" : "");
    else
        (void)fprintf(script, "set yrange [0:%s]\nset ytics 0,%.9g\n", most > 0 ? "*" : "1",
                      chart_step(most > 0 ? most : 1));
    if (!chart->stacked && n)
        (void)chart_at(0, 0, n, &half);
    (void)fputs("plot ", script);
    for (size_t s = 0; s < chart->series; s++)
        if (is_drawn(chart, s)) {
            (void)fputs(drawn++ ? ", " : "", script);
            plot_series(script, chart, s, half, intervals && intervals[s]);
        }
    free(intervals);
}
