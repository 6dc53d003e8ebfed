/* Figure tornado: how far the best answer leads the next, with each unknown number of the platform alone at both ends
 * of its range; from the "robust" that `replay --robust --format json` prints (replay/run/robust.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/report/plot.h"
#include "replay/results/runs.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/base/sorted.h"
#include "trace/derived/limits.h"

enum { ROWS_MAX = 16, ROWS_USUAL = 12, ROWS_LEAST = 6, JSON_MAX = 64 << 20, WIDTH = 1000, HEIGHT = 620 };

static const double half = 0.36;   /* of a bar's height, in rows */
static const double still = 0.001; /* what moves the lead by less is not drawn */

/* One number; margins are NAN where nothing is to be compared. */
struct bar {
    const char *name, *unit;
    const json_t *ends[2]; /* values at the low and the high end */
    double margins[2];
    double swing;
    size_t order;
};

struct tornado {
    struct bar *bars; /* of those that move the lead */
    size_t count, numbers;
    double margin, lo, hi; /* the lead of the platform as it is; the range of all that is drawn */
    double tie;            /* leads between 1 / (1 + tie) and 1 + tie are ties */
};

/* A lead, within what an axis can show; NAN: none. */
static double lead(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) && json_number_value(v) > 0 ? fmin(fmax(json_number_value(v), 1e-6), 1e6) : NAN;
}

static const char *text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

SORTED_AS(by_swing, struct bar, ORDER_OF(y->swing, x->swing) ?: ORDER_OF(x->order, y->order))

static void reach(struct tornado *t, double x)
{
    if (isfinite(x)) {
        t->lo = fmin(t->lo, x);
        t->hi = fmax(t->hi, x);
    }
}

static void take(struct tornado *t, const json_t *number)
{
    struct bar bar = {.name = text(number, "number"),
                      .unit = text(number, "unit"),
                      .ends = {json_object_get(number, "low"), json_object_get(number, "high")},
                      .margins = {lead(number, "low_margin"), lead(number, "high_margin")},
                      .order = t->count};
    double lo = fmin(bar.margins[0], bar.margins[1]), hi = fmax(bar.margins[0], bar.margins[1]);
    bar.swing =
        isnan(bar.margins[0]) || isnan(bar.margins[1]) ? INFINITY : log(fmax(hi, t->margin) / fmin(lo, t->margin));
    t->numbers++;
    if (bar.swing < still)
        return;
    t->bars[t->count++] = bar;
}

/* Lead within which the best ties with the next: its error, or the least of the others' if larger. */
static double tie_of(const json_t *robust)
{
    const json_t *errors = json_object_get(robust, "ties_within"), *names = json_object_get(robust, "answers");
    const char *best = text(robust, "best");
    double own = 0, least = INFINITY;
    size_t i;
    json_t *error;
    json_array_foreach(errors, i, error)
    {
        const char *name = json_string_value(json_array_get(names, i));
        double value = json_number_value(error);
        if (name && strcmp(name, best) == 0)
            own = value;
        else
            least = fmin(least, value);
    }
    return isfinite(least) ? fmin(fmax(own, least), 1e3) : 0;
}

static int collect(struct tornado *t, const json_t *robust, struct err *err)
{
    const json_t *numbers = json_object_get(robust, "numbers");
    size_t i;
    json_t *item;
    *t = (struct tornado){.margin = lead(robust, "margin"), .lo = 1, .hi = 1, .tie = tie_of(robust)};
    if (isnan(t->margin))
        return err_set(err, "fewer than two policies have an answer: there is no lead to draw");
    t->bars = mem_zalloc(json_array_size(numbers) + 1, sizeof *t->bars, err);
    if (!t->bars)
        return -1;
    json_array_foreach(numbers, i, item) take(t, item);
    sort_items(t->bars, t->count, sizeof *t->bars, by_swing);
    if (t->count)
        return 0;
    free(t->bars);
    return err_set(err, "no unknown number of the platform moves the lead of %.80s", text(robust, "best"));
}

/* --- the script --- */

/* "13000 ns", "12 GB/s", "blocked", "times 0.31" */
static void end_text(FILE *script, const struct bar *bar, int end)
{
    char value[200];
    const json_t *v = bar->ends[end];
    const char *lost = isnan(bar->margins[end]) ? " (no lead)" : "";
    double number = json_number_value(v);
    if (json_is_string(v))
        (void)snprintf(value, sizeof value, "%.100s%s", json_string_value(v), lost);
    else if (strcmp(bar->unit, "factor") == 0)
        (void)snprintf(value, sizeof value, "times %.3g%s", number, lost);
    else if (strcmp(bar->unit, "bytes/s") == 0)
        (void)snprintf(value, sizeof value, "%.4g GB/s%s", number / 1e9, lost);
    else
        (void)snprintf(value, sizeof value, "%.6g%s%.40s%s", number, *bar->unit ? " " : "", bar->unit, lost);
    plot_quote(script, value);
}

/* y, bars to the low and the high end, left (with the smaller lead) and right end, their texts, name. */
static void data(FILE *script, const struct tornado *t, size_t rows)
{
    (void)fputs("$t << EOD\n", script);
    for (size_t i = 0; i < rows; i++) {
        const struct bar *b = &t->bars[i];
        double ends[2];
        for (int e = 0; e < 2; e++)
            ends[e] = isnan(b->margins[e]) ? t->margin : b->margins[e];
        int left = ends[0] <= ends[1] ? 0 : 1;
        (void)fprintf(script, "%zu %.9g %.9g %.9g %.9g ", i, ends[0], ends[1], fmin(ends[left], t->margin),
                      fmax(ends[!left], t->margin));
        end_text(script, b, left);
        (void)fputc(' ', script);
        end_text(script, b, !left);
        (void)fputc(' ', script);
        plot_quote(script, b->name);
        (void)fputc('\n', script);
    }
    (void)fputs("EOD\n", script);
}

static void title(const struct figure_input *input, FILE *script, const struct tornado *t, const json_t *robust)
{
    char line[400], wins[80] = "";
    const char *best = text(robust, "best");
    const json_t *all = json_object_get(robust, "wins");
    size_t i;
    json_t *answer;
    json_array_foreach(json_object_get(robust, "answers"), i, answer)
    {
        if (i < json_array_size(all) && json_is_string(answer) && strcmp(json_string_value(answer), best) == 0)
            (void)snprintf(wins, sizeof wins, "; wins in %lld of %lld draws",
                           (long long)json_integer_value(json_array_get(all, i)),
                           (long long)json_integer_value(json_object_get(robust, "draws")));
    }
    (void)snprintf(line, sizeof line, "Lead of %.200s over the next best", best);
    char common[200];
    (void)snprintf(common, sizeof common, "%.3g as the platform is%s", t->margin, wins);
    plot_title(input, script, line, common);
}

static void draw(const struct figure_input *input, FILE *script, const struct tornado *t, const json_t *robust,
                 size_t rows)
{
    const double high = fmax((double)rows, ROWS_LEAST), blank = (high - (double)rows) / 2;
    (void)plot_taller(input, (high - ROWS_USUAL) * PLOT_LINE);
    double pad = pow(t->hi / t->lo, 0.3), lo = t->lo / fmax(pad, 1.02), hi = t->hi * fmax(pad, 1.02);
    title(input, script, t, robust);
    plot_xlabel(input, script,
                "lead: time of the next best over the best's (ratio), one number\\n"
                "alone at the end of its range; left of 1 another is best",
                2);
    (void)fprintf(script,
                  "set logscale x\nset xrange [%.9g:%.9g]\nset yrange [%g:%g]\nset ylabel 'number of the platform'\n"
                  "set grid xtics noytics\n"
                  "set border 1\nset ytics scale 0\nset style fill solid "
                  "0.9 noborder\n",
                  lo, hi, (double)rows - 0.2 + blank, -0.7 - blank);
    plot_tics(script, lo, hi);
    if (t->tie > 0)
        (void)fprintf(script,
                      "set object 1 rectangle from %.9g, graph 0 to %.9g, graph 1 behind fillcolor rgb '#eeeeee' "
                      "fillstyle solid 1 noborder\n",
                      fmax(lo, 1 / (1 + t->tie)), fmin(hi, 1 + t->tie));
    (void)fprintf(script,
                  "set arrow from 1, graph 0 to 1, graph 1 nohead linecolor rgb '#444444' dashtype 2\n"
                  "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead linecolor rgb '#444444'\n",
                  t->margin, t->margin);
    data(script, t, rows);
    (void)fprintf(script,
                  "plot $t using 2:1:(%.9g):2:($1-%g):1:ytic(8) with boxxyerror linetype 1 title 'low end', "
                  "$t using 3:1:(%.9g):3:1:($1+%g) with boxxyerror linetype 2 title 'high end', "
                  "$t using 4:1:6 with labels right offset -0.6,0 notitle, "
                  "$t using 5:1:7 with labels left offset 0.6,0 notitle%s\n",
                  t->margin, half, t->margin, half,
                  t->tie > 0 ? ", NaN with boxes linecolor rgb '#dddddd' title 'a tie'" : "");
}

static int write_robust(const struct figure_input *input, const json_t *robust, FILE *script, struct err *err)
{
    struct tornado t;
    if (collect(&t, robust, err))
        return -1;
    const size_t rows = t.count < ROWS_MAX ? t.count : ROWS_MAX;
    reach(&t, t.margin);
    for (size_t i = 0; i < rows; i++) {
        reach(&t, t.bars[i].margins[0]);
        reach(&t, t.bars[i].margins[1]);
    }
    draw(input, script, &t, robust, rows);
    if (t.numbers > rows)
        (void)note(input->notes, "%zu of %zu numbers are not drawn: each moves the lead by less than %.1f %%",
                   t.numbers - rows, t.numbers, 100 * (exp(t.count > rows ? t.bars[rows].swing : still) - 1) + 0.05);
    free(t.bars);
    return 0;
}

/* What limits the inputs of the runs that stand beside. */
static void take_limits(const json_t *root, json_t *limits)
{
    size_t r, n;
    json_t *run, *said;
    json_array_foreach(json_object_get(root, "runs"), r, run)
    {
        json_array_foreach(json_object_get(run, "notes"), n, said)
        {
            if (limits_note(json_string_value(said)))
                (void)note(limits, "%s", json_string_value(said));
        }
    }
}

static int write(const struct figure_input *input, FILE *script, struct err *err)
{
    if (input->json)
        return write_robust(input, input->json, script, err);
    size_t bytes;
    char *content = regular_file_read(input->path, JSON_MAX, &bytes, err);
    if (!content)
        return -1;
    json_t *root = json_tree_parse(content, bytes, NULL);
    free(content);
    const json_t *robust = json_object_get(root, "robust");
    take_limits(root, input->limits);
    int rc = json_is_object(robust) ? write_robust(input, robust, script, err)
                                    : err_set(err,
                                              "'%s' has no \"robust\"; expected what 'offchip replay --robust N "
                                              "--format json' prints",
                                              input->path);
    json_decref(root);
    return rc;
}

const struct figure figure_tornado = {
    .name = "tornado",
    .summary = "how far the best answer leads with each unknown number at both ends",
    .needs = "JSON of replay --robust",
    .source = "ours",
    .kinds = FIGURE_SPEC,
    .width = WIDTH,
    .height = HEIGHT,
    .write = write,
};
