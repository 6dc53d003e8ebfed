/* Figures bars, stacked, shares and box: metrics of every run. A group of bars is a case, a bar in it a policy; of one
 * case, each policy is a group. With --over KEY a group is a policy under one case, a bar in it a value of the key. Of
 * stacked and shares a group is a run, with its metrics on top of each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/report/figure_form.h"
#include "trace/base/mem.h"

/* More could not be told apart. */
enum { MOST_BARS = 400, MOST_GROUPS = 40, MOST_SERIES = 24, WIDTH = 1000, HEIGHT = 560, PANEL_LETTERS = 11 };

/* Names of groups and series, freed with it. */
struct names {
    char **items;
    size_t count;
};

static int names_add(struct names *names, char *name, struct err *err)
{
    names->items[names->count] = name;
    return names->items[names->count++] ? 0 : err_set(err, "out of memory");
}

struct bars {
    struct figure_form form;
    struct names groups, series;
    bool box, joined; /* joined: a group is a run, a bar in it a metric, */
    bool shares;      /* as a part of their sum */
    bool single;      /* one case */
    bool third;       /* line of the title */
};

/* "f3fs, vcs=1": a run by all that it differs in. */
static char *label_of(const struct figure_form *form, size_t i)
{
    char *label = figure_form_label(form, i / form->value_count);
    if (label && form->values)
        (void)mem_append(&label, ", %s=%s", form->input->over, form->values[i % form->value_count]);
    return label;
}

static int name_joined(struct bars *b, struct err *err)
{
    const struct figure_form *form = &b->form;
    int rc = 0;
    for (size_t m = 0; m < form->metric_count && !rc; m++)
        rc = names_add(&b->series, mem_strdup(form->metrics[m], err), err);
    for (size_t i = 0; i < form->table.rows * form->table.series * form->value_count && !rc; i++)
        if (form->at[i])
            rc = names_add(&b->groups, label_of(form, i), err);
    return rc;
}

static int name_lines(struct bars *b, struct err *err)
{
    const struct figure_form *form = &b->form;
    const struct case_table *t = &form->table;
    int rc = 0;
    for (size_t v = 0; v < form->value_count && form->values && !rc; v++)
        rc = names_add(&b->series, mem_format("%s=%s", form->input->over, form->values[v]), err);
    for (size_t line = 0; line < t->rows * t->series && form->values && !rc; line++)
        rc = names_add(&b->groups, figure_form_label(form, line), err);
    for (size_t s = 0; s < t->series && !form->values && !rc; s++)
        rc = names_add(b->single ? &b->groups : &b->series, mem_strdup(t->series_labels[s], err), err);
    for (size_t row = 0; row < t->rows && !form->values && !rc; row++)
        rc = names_add(b->single ? &b->series : &b->groups, mem_strdup(b->single ? "" : t->row_labels[row], err), err);
    return rc;
}

static int name_all(struct bars *b, struct err *err)
{
    const struct figure_form *form = &b->form;
    const size_t most = form->table.rows * form->table.series * form->value_count + form->metric_count;
    b->groups.items = mem_zalloc(most, sizeof *b->groups.items, err);
    b->series.items = mem_zalloc(most, sizeof *b->series.items, err);
    if (!b->groups.items || !b->series.items || (b->joined ? name_joined(b, err) : name_lines(b, err)))
        return -1;
    if (b->series.count > MOST_SERIES || b->groups.count > MOST_GROUPS || b->groups.count * b->series.count > MOST_BARS)
        return err_set(
            err,
            "%zu groups of %zu bars could not be told apart; --aggregate combines inputs, 'plot lines' draws "
            "a number that varies as an axis",
            b->groups.count, b->series.count);
    return 0;
}

/* A box has its quartiles where a bar has its interval. */
static bool take_box(struct chart_bar *bar, const struct run *run, const char *median)
{
    char name[64];
    const int stem = (int)(strlen(median) - strlen("median"));
    double lo, hi;
    *bar = (struct chart_bar){run != NULL, NAN, NAN, NAN};
    (void)snprintf(name, sizeof name, "%.*sp25", stem, median);
    bool known = run && run_metric(run, name, &lo);
    (void)snprintf(name, sizeof name, "%.*sp75", stem, median);
    known = known && run_metric(run, name, &hi) && figure_form_take(bar, run, median);
    const double thin = known && hi < 1.04 * lo ? 1.02 : 1; /* a box of no height would not be seen */
    if (known)
        *bar = (struct chart_bar){true, bar->value, lo / thin, hi * thin};
    return known;
}

/* Fill in the bars of one metric, or of all that are joined. How many are known. */
static size_t fill(const struct bars *b, struct chart *chart, size_t metric)
{
    const struct figure_form *form = &b->form;
    size_t known = 0, g = 0;
    for (size_t i = 0; i < form->table.rows * form->table.series * form->value_count; i++) {
        const size_t at = b->joined ? g * form->metric_count : i;
        if (b->joined && !form->at[i])
            continue;
        for (size_t m = 0; m < (b->joined ? form->metric_count : 1); m++) {
            struct chart_bar *bar = &chart->bars[at + m];
            const char *name = form->metrics[b->joined ? m : metric];
            known += b->box ? take_box(bar, form->at[i], name) : figure_form_take(bar, form->at[i], name);
        }
        g++;
    }
    return known;
}

/* Divide values by the axis' unit, or by the sum of a group's parts. */
static const char *scale(const struct bars *b, struct chart *chart, size_t metric)
{
    const char *unit = "ratio";
    double most = 0;
    for (size_t i = 0; i < chart->groups * chart->series; i++)
        most = fmax(most, chart->bars[i].hi);
    double by = b->shares ? 1 : figure_form_unit(&b->form, b->form.metrics[metric], most, &unit);
    for (size_t g = 0; g < chart->groups; g++) {
        struct chart_bar *bars = &chart->bars[g * chart->series];
        double all = 0;
        for (size_t s = 0; s < chart->series; s++)
            all += fmax(0, bars[s].value);
        for (size_t s = 0; s < chart->series; s++) {
            const double d = b->shares ? all : by;
            bars[s] = (struct chart_bar){bars[s].run, bars[s].value / d, bars[s].lo / d, bars[s].hi / d};
        }
    }
    return unit;
}

/* Choose the axis: speed-ups are drawn from 1, logarithmic where one halves or doubles; so are values over decades. */
static void choose_axis(const struct bars *b, struct chart *chart, size_t metric)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < chart->groups * chart->series; i++)
        if (!isnan(chart->bars[i].value)) {
            least = fmin(least, chart->bars[i].lo);
            most = fmax(most, chart->bars[i].hi);
        }
    const bool gain = !b->joined && figure_form_is_gain(b->form.metrics[metric]);
    if (gain) {
        least = fmin(least, 1);
        most = fmax(most, 1);
    }
    chart->log = !chart->stacked && least > 0 && most / least > (gain ? 2 : b->box ? 10 : 100);
    chart->base = gain ? 1 : chart->log ? pow(10, floor(log10(least * 0.9))) : 0;
}

/* Label of the axis; for a box, whose metric is a median, without "median". */
static const char *axis_label(const struct bars *b, const char *metric, char *buf, size_t size)
{
    if (b->joined)
        return b->shares ? "share" : "sum";
    (void)figure_form_name(metric, buf, size);
    char *median = b->box ? strstr(buf, " median") : NULL;
    if (median)
        *median = 0;
    return buf;
}

static int draw_panel(const struct bars *b, FILE *script, size_t metric, struct err *err)
{
    const struct figure_form *form = &b->form;
    const bool policies = !b->joined && !form->values && !b->single;
    struct chart chart;
    char block[2] = {(char)('a' + metric), 0}, what[80];
    if (chart_init(&chart, policies ? form->engine : NULL, b->groups.items, b->groups.count, b->series.items,
                   b->series.count, err))
        return -1;
    const char *name = form->metrics[metric];
    const size_t known = fill(b, &chart, metric);
    int rc = figure_form_check(form, name, known, err);
    chart.block = block;
    chart.box = b->box;
    chart.stacked = b->joined;
    chart.labels = policies ? "case" : b->joined && form->table.rows > 1 ? "policy and case" : "policy";
    chart.panel = metric;
    chart.third = b->third;
    chart.panels = b->joined ? 1 : form->metric_count;
    const char *unit = scale(b, &chart, metric);
    choose_axis(b, &chart, metric);
    if (metric)
        (void)fputs("unset label\nunset arrow\nunset logscale\nset format y\n", script);
    figure_form_ylabel(form, script, name, axis_label(b, name, what, sizeof what), chart.log, unit, chart.panels > 1);
    if (!chart.stacked && figure_form_is_gain(name))
        figure_form_line_at_one(script);
    if (!rc)
        chart_write(form->input, script, &chart);
    (void)fputc('\n', script);
    chart_release(&chart);
    return rc;
}

static void put_title(struct bars *b, FILE *script)
{
    const struct figure_form *form = &b->form;
    char title[200];
    if (form->metric_count > 2)
        (void)snprintf(title, sizeof title, "%zu metrics by policy", form->metric_count);
    else
        (void)snprintf(title, sizeof title, "%s%s%s%s", form->metrics[0], form->metric_count > 1 ? ", " : "",
                       form->metric_count > 1 ? form->metrics[1] : "", b->box ? " and quartiles" : " by policy");
    b->third = plot_title_runs(script, form->metric_count > 1 && !b->joined, title, form->input->runs);
}

static int draw(struct bars *b, const struct figure_input *input, FILE *script, struct err *err)
{
    b->single = b->form.table.rows == 1 && !b->joined && !b->form.values;
    int rc = name_all(b, err);
    const size_t panels = b->joined ? 1 : b->form.metric_count;
    if (!rc)
        put_title(b, script);
    if (!rc)
        (void)plot_taller(input, PANEL_LETTERS * (double)(panels - 1));
    for (size_t m = 0; m < panels && !rc; m++)
        rc = draw_panel(b, script, m, err);
    mem_free_texts(b->groups.items, b->groups.count);
    mem_free_texts(b->series.items, b->series.count);
    figure_form_release(&b->form);
    return rc;
}

static int bars(const struct figure_input *input, FILE *script, struct err *err)
{
    struct bars b = {0};
    return figure_form_init(&b.form, input, NULL, input->over, err) ? -1 : draw(&b, input, script, err);
}

static int joined(struct bars *b, const struct figure_input *input, FILE *script, struct err *err)
{
    if (figure_form_init(&b->form, input, NULL, input->over, err))
        return -1;
    if (b->form.metric_count > 1)
        return draw(b, input, script, err);
    figure_form_release(&b->form);
    return err_set(err, "one metric has no parts: --metric h2d_bytes,d2h_bytes names two; figure bars draws one");
}

static int stacked(const struct figure_input *input, FILE *script, struct err *err)
{
    return joined(&(struct bars){.joined = true}, input, script, err);
}

static int shares(const struct figure_input *input, FILE *script, struct err *err)
{
    return joined(&(struct bars){.joined = true, .shares = true}, input, script, err);
}

static int box(const struct figure_input *input, FILE *script, struct err *err)
{
    struct bars b = {.box = true};
    if (figure_form_init(&b.form, input, "blocks_per_batch_median", input->over, err))
        return -1;
    for (size_t m = 0; m < b.form.metric_count; m++) {
        const char *end = strstr(b.form.metrics[m], "median");
        if (!end || end[strlen("median")]) {
            figure_form_release(&b.form);
            return err_set(err, "a box needs a median and its quartiles, such as blocks_per_batch_median, "
                                "blocks_per_batch_p25 and blocks_per_batch_p75");
        }
    }
    return draw(&b, input, script, err);
}

#define BARS_FIGURE(NAME, SUMMARY, NEEDS, SOURCE)                                                                      \
    const struct figure figure_##NAME = {.name = #NAME,                                                                \
                                         .summary = (SUMMARY),                                                         \
                                         .needs = (NEEDS),                                                             \
                                         .source = (SOURCE),                                                           \
                                         .kinds = FIGURE_RESULTS,                                                      \
                                         .width = WIDTH,                                                               \
                                         .height = HEIGHT,                                                             \
                                         .write = (NAME)}

BARS_FIGURE(bars, "metrics by case and policy, a plot for each", "runs of one engine", "the bar charts of all papers");
BARS_FIGURE(stacked, "metrics of each run on top of each other", "runs of one engine", "gupta-2025-f3fs, figure 8");
BARS_FIGURE(shares, "metrics of each run as shares of their sum", "runs of one engine", "dissertation, figure 2.6");
BARS_FIGURE(box, "median and quartiles of a metric by case and policy",
            "runs with blocks_per_batch_median, blocks_per_batch_p25 and blocks_per_batch_p75", "lee-2026, figure 1");
