#include "replay/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

enum { ROOM = 60, LINES_MAX = 4, NAME_MAX_CHARS = 400 };

/* Sine and cosine of 35 degrees, the slant of labels. */
static const double sine = 0.5736, cosine = 0.8192;
static const double across = 36; /* letters from the axis to the right end */

/* --- data --- */

int chart_init(struct chart *chart, const char *engine, char *const *groups, size_t group_count, char *const *series,
               size_t series_count, struct err *err)
{
    *chart = (struct chart){
        .groups = group_count, .series = series_count, .group_names = groups, .series_names = series, .block = "p"};
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

/* In the first of several panels the legend has what only others draw: the baseline of speed-ups. */
static bool is_named(const struct chart *chart, size_t s)
{
    return is_drawn(chart, s) || (chart->panels > 1 && !chart->panel && *chart->series_names[s]);
}

double chart_at(size_t group, size_t i, size_t n, double *half)
{
    const double width = fmin(0.84 / (double)n, 0.4);
    *half = width * 0.46;
    return (double)group + width * ((double)i - ((double)n - 1) / 2);
}

/* --- tics --- */

/* Break a text at blanks and signs into lines of `room` characters at most. How many; 0: a word or all is longer. */
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
static void measure(const struct chart *chart, struct names *names)
{
    const double n = (double)chart->groups;
    char text[NAME_MAX_CHARS];
    names->deep = 0;
    names->left = 8;
    for (size_t i = 0; i < chart->groups; i++) {
        fold(chart->group_names[i], names->lines, text, sizeof text);
        const double length = (double)longest_line(text) * PLOT_CHAR_WIDTH * names->scale;
        names->deep = fmax(names->deep, names->upright ? length + 1 : length * sine + (double)names->lines * 1.3);
        if (!names->upright)
            names->left = fmax(names->left, length * cosine + 1 - ((double)i + 0.6) / (n + 0.2) * across);
    }
}

static struct names names_of(const struct chart *chart)
{
    const double n = (double)chart->groups;
    char text[NAME_MAX_CHARS];
    struct names names = {.room = chart->groups ? ROOM / chart->groups : ROOM, .left = 8, .scale = 1};
    names.room -= names.room > 12 ? 2 : names.room > 2;
    names.level = names.room >= 2;
    for (size_t i = 0; i < chart->groups && names.level; i++) {
        const size_t got = wrap(chart->group_names[i], names.room, text, sizeof text);
        names.level = got > 0 && got <= LINES_MAX;
        names.lines = got > names.lines ? got : names.lines;
    }
    names.deep = (double)names.lines * 1.3 + 0.6;
    if (names.level)
        return names;
    names.lines = (size_t)fmax(1, across / n / 2.1 - 0.5);
    measure(chart, &names);
    if (n > 17 || names.left > 10) {
        names.upright = true;
        names.lines = (size_t)fmax(1, across / n / 1.4);
        names.scale = fmin(1, 34 / n);
        measure(chart, &names);
    }
    return names;
}

/* Margins of a panel, in letters: the title, a legend over the first, the names under the last. */
static void put_margins(const struct figure_input *input, FILE *script, const struct chart *chart, size_t entries,
                        size_t longest, const struct names *names)
{
    const double below = names->deep + (chart->labels ? 2.3 : 0.6);
    const double height = plot_taller(input, chart->panel ? 0 : fmax(0, below - 4));
    (void)fprintf(script, "set lmargin at screen %.4f\n", names->left / PLOT_LETTERS);
    if (chart->panels < 2) {
        (void)fprintf(script, "set bmargin at screen %.4f\n", below / height);
        return;
    }
    const double more = chart->third ? 0.9 : 0,
                 top = 3.8 + more + (entries ? PLOT_LINE * plot_legend_lines(entries, longest) : 0);
    const double each = (height - top - below) / (double)chart->panels;
    const double up = height - top - each * (double)chart->panel;
    if (!chart->panel) /* the legend stands under the title */
        (void)fprintf(script, "set size 1,%.4f\n", (height - 2.9 - more) / height);
    (void)fprintf(script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", up / height,
                  (up - each + (chart->panel + 1 < chart->panels ? 1.7 : 0)) / height);
}

static void put_names(FILE *script, const struct chart *chart, const struct names *names)
{
    char text[NAME_MAX_CHARS];
    for (size_t i = 0; i < chart->groups; i++) {
        (void)fputs(i ? ", " : "", script);
        if (names->level)
            (void)wrap(chart->group_names[i], names->room, text, sizeof text);
        else
            fold(chart->group_names[i], names->lines, text, sizeof text);
        if (names->scale < 1)
            (void)fprintf(script, "\"{/*%.2f \".", names->scale);
        put_lines(script, text);
        (void)fputs(names->scale < 1 ? ".\"}\"" : "", script);
        (void)fprintf(script, " %zu", i);
    }
}

/* Names at 0, 1, .., on several lines where there is room, else slanted, and the figure higher. */
static void put_tics(const struct figure_input *input, FILE *script, const struct chart *chart, size_t entries,
                     size_t longest)
{
    const struct names names = names_of(chart);
    const bool last = chart->panel + 1 >= chart->panels;
    put_margins(input, script, chart, entries, longest, &names);
    (void)fputs("set xtics scale 0 (", script);
    if (last)
        put_names(script, chart, &names);
    else
        (void)fputs("'' 0", script);
    (void)fprintf(script, ")%s\n", names.level ? "" : names.upright ? " rotate by 90 right" : " rotate by 35 right");
    if (chart->labels && last)
        (void)fprintf(script, "set label \"%s\" at graph 0.5, screen 0 offset 0,0.7 center # x\n", chart->labels);
    (void)fprintf(script, "set xrange [-0.6:%zu.6]\n", chart->groups ? chart->groups - 1 : 0);
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

/* x, value, ends of the interval (stacked: of the bar) and the group's name, of the series drawn as the k-th of n. */
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
    if (!is_drawn(chart, s))
        (void)fputs("NaN with boxes", script);
    else if (chart->box)
        (void)fprintf(script, "$%s%zu using 1:2:($1-%.6g):($1+%.6g):3:4 with boxxyerror", chart->block, s, half, half);
    else if (chart->stacked)
        (void)fprintf(script, "$%s%zu using 1:3:($1-0.36):($1+0.36):3:4 with boxxyerror", chart->block, s);
    else
        (void)fprintf(script, "$%s%zu using 1:(%.9g):($1-%.6g):($1+%.6g):(%.9g):2 with boxxyerror", chart->block, s,
                      chart->base, half, half, chart->base);
    style_put_fill(script, &chart->styles[s]);
    (void)fputs(*chart->series_names[s] ? " title " : " notitle", script);
    if (*chart->series_names[s])
        plot_quote(script, chart->series_names[s]);
    if (chart->box && is_drawn(chart, s))
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

/* The i-th tic from 1 on an axis by decades, by 1, 2, 5, or finer. */
static double log_tic(size_t fine, int i)
{
    static const double in_decade[][8] = {{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 8}};
    static const int counts[] = {1, 3, 8};
    const int decade = (int)floor((double)i / counts[fine]);
    return in_decade[fine][i - decade * counts[fine]] * pow(10, decade);
}

/* From a tic to a tic, four at least: a ratio of more than 5 has four by 1, 2, 5, and of more than 2 the finer. */
static void put_log_axis(FILE *script, double least, double most)
{
    const double ratio = most / least;
    const size_t fine = ratio > 100 ? 0 : ratio > 5 ? 1 : 2;
    const int skip = (int)fmin(40, fmax(1, ceil(log10(ratio) / 8)));
    int lo = (int)floor(log10(least)) * (fine == 0 ? 1 : fine == 1 ? 3 : 8), hi;
    while (log_tic(fine, lo + 1) <= least * (1 + 1e-9))
        lo++;
    (void)fprintf(script, "set logscale y\nset format y '%%g'\nset ytics (%.9g", log_tic(fine, lo));
    for (hi = lo; log_tic(fine, hi) < most * (1 - 1e-9);)
        (void)fprintf(script, ", %.9g", log_tic(fine, hi += skip));
    (void)fprintf(script, ")\nset yrange [%.9g:%.9g]\n", log_tic(fine, lo), log_tic(fine, hi));
}

void chart_axis(FILE *script, double least, double most, bool log)
{
    if (log) {
        put_log_axis(script, least, most);
    } else if (least <= 0) {
        (void)fprintf(script, "set yrange [0:%s]\nset ytics 0,%.9g\n", most > 0 ? "*" : "1",
                      chart_step(most > 0 ? most : 1));
    } else { /* a tenth at least: a difference that is nothing is not drawn as one */
        const double middle = (least + most) / 2, lo = fmin(least, middle * 0.95), hi = fmax(most, middle * 1.05);
        const double step = chart_step(hi - lo), from = floor(lo / step + 1e-9) * step;
        (void)fprintf(script, "set yrange [%.9g:%.9g]\nset ytics %.9g,%.9g\n", from, ceil(hi / step - 1e-9) * step,
                      from, step);
    }
}

void chart_write(const struct figure_input *input, FILE *script, const struct chart *chart)
{
    size_t n = 0, k = 0, drawn = 0, longest = 0, entries = 0;
    double half = 0.36, most = chart->base, least = INFINITY;
    bool *intervals = mem_zalloc(chart->series, sizeof *intervals, NULL);
    for (size_t s = 0; s < chart->series; s++)
        n += is_drawn(chart, s);
    for (size_t s = 0; s < chart->series; s++)
        if (is_drawn(chart, s)) {
            const bool any = put_series(script, chart, s, k++, n);
            if (intervals)
                intervals[s] = any;
        }
    for (size_t s = 0; s < chart->series; s++)
        if (is_named(chart, s)) {
            longest = strlen(chart->series_names[s]) > longest ? strlen(chart->series_names[s]) : longest;
            entries++;
        }
    for (size_t i = 0; i < chart->groups * chart->series; i++) {
        most = fmax(most, chart->bars[i].hi);
        least = fmin(least, chart->bars[i].lo);
    }
    if (!chart->panel && longest)
        plot_legend(input, script, entries, longest);
    else
        (void)fputs("set key off\n", script);
    put_tics(input, script, chart, entries, longest);
    for (size_t g = 1; g < chart->groups && !chart->stacked && n > 1; g++)
        (void)fprintf(script, "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb '#dddddd' back\n",
                      (double)g - 0.5, (double)g - 0.5);
    chart_axis(script, fmin(least, chart->base), most, chart->log);
    if (!chart->stacked && n)
        (void)chart_at(0, 0, n, &half);
    (void)fputs("plot ", script);
    for (size_t s = 0; s < chart->series; s++)
        if (is_named(chart, s)) {
            (void)fputs(drawn++ ? ", " : "", script);
            plot_series(script, chart, s, half, intervals && intervals[s]);
        }
    free(intervals);
}

enum { HUES = 10, TINTS = 5, FILLS = 7, DASHES = 5, POINTS = 8, PLAIN = 6 };

/* Okabe and Ito's colours for colour-blind people, without yellow, which white swallows; then three for long lists. */
static const unsigned hues[HUES] = {0x0072B2, 0xE69F00, 0x009E73, 0xD55E00, 0xCC79A7,
                                    0x56B4E9, 0x8A7A00, 0x444444, 0x7B3FA0, 0xA3C14A};
static const unsigned plain[PLAIN] = {0x22414F, 0x86A5B3, 0xC9D8DF, 0x6B543A, 0xC6AC8F, 0x9A9A9A};
/* How far to white, or (negative) to black. */
static const double tints[TINTS] = {0, 0.45, -0.35, 0.65, -0.6};
static const int fills[FILLS] = {0, 4, 1, 5, 2, 6, 7};
static const int dashes[DASHES] = {1, 2, 4, 5, 3};
static const int points[POINTS] = {7, 5, 9, 11, 13, 6, 4, 8};

/* --- where a policy stands --- */

struct place {
    size_t rank;    /* in the list of policies; those with another eviction policy come after all of them */
    size_t half;    /* of these, the rank of the first half */
    size_t variant; /* 0: no parameter is named */
    double number;  /* of the first parameter; NAN: it has none */
};

static unsigned long hash(const char *text)
{
    unsigned long h = 2166136261U;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619U & 0xffffffffU;
    return h;
}

/* The place of the list's policy that `name` begins with, up to ':', '+' or its end; *count: how many there are. */
static bool find(const struct policy_head *const *list, const char *name, size_t *at, size_t *count)
{
    const size_t length = strcspn(name, ":+");
    bool found = false;
    *count = 0;
    for (size_t i = 0; list && list[i]; i++, ++*count)
        if (!found && strlen(list[i]->name) == length && strncmp(list[i]->name, name, length) == 0) {
            found = true;
            *at = i;
        }
    return found;
}

static struct place place_of(const char *engine, const char *name)
{
    const struct engine *e = engine_of_results(engine);
    struct place p = {.number = NAN};
    size_t count = 0, second = 0, seconds = 0;
    if (!find(e ? e->policies : NULL, name, &p.rank, &count))
        p.rank = count + hash(name) % HUES; /* of another release, or "best fixed" */
    const char *plus = strchr(name, '+'), *equals = strchr(name, '=');
    if (plus && find(e ? e->second : NULL, plus + 1, &second, &seconds) && second) {
        p.half = p.rank;
        p.rank = count + second - 1; /* the first is what stands where none is named */
    }
    char value[64] = "";
    if (equals)
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(equals + 1, ",+"), equals + 1);
    if (!case_keys_number(value, &p.number))
        p.number = NAN;
    if (equals)
        p.variant = 1 + (p.number > 0 ? (size_t)fmax(0, round(log2(p.number))) / 2 : hash(value) % TINTS);
    p.variant += p.half;
    return p;
}

int style_order(const char *engine, const char *a, const char *b)
{
    const struct place p = place_of(engine, a), q = place_of(engine, b);
    if (p.rank != q.rank)
        return p.rank < q.rank ? -1 : 1;
    if (p.half != q.half)
        return p.half < q.half ? -1 : 1;
    if (!isnan(p.number) && !isnan(q.number) && p.number != q.number)
        return p.number < q.number ? -1 : 1;
    return strcmp(a, b);
}

/* --- looks --- */

static unsigned tinted(unsigned colour, double tint)
{
    unsigned out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        const double part = colour >> shift & 255;
        out |= (unsigned)lround(part + (tint > 0 ? (255 - part) * tint : part * tint)) << shift;
    }
    return out;
}

/* Looks that a figure has used. */
struct used {
    bool fills[FILLS], points[POINTS], dashes[DASHES];
};

/* The first that is free from `from` on, or that one itself. */
static size_t take(bool *used, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        if (!used[(from + i) % n]) {
            used[(from + i) % n] = true;
            return (from + i) % n;
        }
    return from % n;
}

static bool has_colour(const struct style *styles, size_t n, unsigned colour)
{
    for (size_t i = 0; i < n; i++)
        if (styles[i].colour == colour)
            return true;
    return false;
}

void style_policies(const char *engine, char *const *names, size_t n, struct style *out)
{
    struct used used = {0};
    for (size_t i = 0; i < n; i++) {
        const struct place p = place_of(engine, names[i]);
        const size_t turn = p.rank / HUES; /* hues begin anew, darker */
        size_t tint = (p.variant + 2 * turn) % TINTS;
        const unsigned hue = hues[p.rank % HUES];
        for (size_t k = 0; k < TINTS && has_colour(out, i, tinted(hue, tints[tint])); k++)
            tint = (tint + 1) % TINTS;
        out[i].colour = tinted(hue, tints[tint]);
        out[i].fill = fills[take(used.fills, FILLS, p.rank + p.variant)];
        out[i].point = points[take(used.points, POINTS, p.rank + p.variant)];
        out[i].dash = dashes[take(used.dashes, DASHES, p.rank + p.variant)];
    }
}

struct style style_plain(size_t i)
{
    static const int own[PLAIN] = {0, 0, 0, 8, 5, 1}; /* 8: empty, the lightest shade */
    return (struct style){.colour = plain[i % PLAIN],
                          .fill = i < PLAIN ? own[i] : fills[1 + i % (FILLS - 1)],
                          .dash = dashes[i % DASHES],
                          .point = points[i % POINTS]};
}

struct style style_line(size_t i)
{
    return (struct style){.colour = tinted(hues[i % HUES], tints[i / HUES % TINTS]),
                          .fill = fills[i % FILLS],
                          .dash = dashes[i % DASHES],
                          .point = points[i % POINTS]};
}

/* --- order --- */

struct slot {
    const char *engine;
    char *name;
    size_t at;
};

static int by_policy(const void *a, const void *b)
{
    const struct slot *p = a, *q = b;
    const int order = style_order(p->engine, p->name, q->name);
    return order ? order : (p->at > q->at) - (p->at < q->at);
}

int style_sort(struct case_table *t, struct err *err)
{
    const struct engine *engine = t->set->count ? engine_of_results(t->set->runs[0].engine) : NULL;
    if (t->series < 2 || !engine || !engine->policies || !engine->policies[0])
        return 0;
    struct slot *slots = mem_zalloc(t->series, sizeof *slots, err);
    size_t *to = slots ? mem_zalloc(t->series, sizeof *to, err) : NULL;
    for (size_t s = 0; to && s < t->series; s++)
        slots[s] = (struct slot){engine->name, t->series_labels[s], s};
    if (to)
        sort_items(slots, t->series, sizeof *slots, by_policy);
    for (size_t s = 0; to && s < t->series; s++) {
        to[slots[s].at] = s;
        t->series_labels[s] = slots[s].name;
    }
    for (size_t i = 0; to && i < t->set->count; i++)
        t->series_of[i] = to[t->series_of[i]];
    const bool good = to != NULL;
    free(slots);
    free(to);
    return good ? 0 : -1;
}

/* --- gnuplot --- */

void style_put_lines(FILE *script)
{
    for (size_t i = 0; i < 8; i++) {
        const struct style s = style_plain(i);
        (void)fprintf(script, "set linetype %zu linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype %d\n", i + 1,
                      s.colour, s.dash, s.point);
    }
}

void style_put_fill(FILE *script, const struct style *style)
{
    const bool pale = (style->colour >> 16) + (style->colour >> 8 & 255) > 400; /* an edge of it would not be seen */
    (void)fprintf(script, " linecolor rgb '#%06X' dashtype 1 linewidth 2 fillstyle %s %d border linecolor rgb '#%06X'",
                  style->colour, style->fill ? "pattern" : "solid", style->fill ? style->fill : 1,
                  pale && style->fill ? tinted(style->colour, -0.4) : style->colour);
}
