/* Figures of the uvm engine from results: speed-up, locality and granularity, case by case. A case is an input with its
 * settings; runs of one case are comparable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "replay/figure/figure_uvm.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

static const struct run *cell(const struct case_table *cases, size_t c, size_t p)
{
    return case_table_cell(cases, c, p);
}

static const struct run *baseline(const struct case_table *cases, size_t c)
{
    return case_table_baseline(cases, c);
}

/* Speed-up over the row's baseline with its bounds (equal where it is one number). False where times are unknown. */
static bool speedup(const struct case_table *cases, size_t c, const struct run *run, double v[3])
{
    double base, time;
    const struct run *b = baseline(cases, c);
    if (b && json_equal(run->relative_to, b->relative_to) && run_metric(run, "speedup_ratio", &v[0])) {
        v[1] = v[2] = v[0];
        if (run_interval(run, "speedup_ratio", &v[1], &v[2]))
            v[0] = sqrt(v[1] * v[2]);
        return v[0] > 0;
    }
    if (!b || !run_metric(b, "time_ns", &base) || !run_metric(run, "time_ns", &time) || time <= 0 || base <= 0)
        return false;
    v[0] = v[1] = v[2] = base / time;
    return true;
}

/* The policy all cases are compared with, or "the baseline". */
static const char *baseline_name(const struct case_table *cases)
{
    const char *name = NULL;
    for (size_t c = 0; c < cases->rows; c++)
        for (size_t p = 0; p < cases->series; p++) {
            if (!cell(cases, c, p) || cell(cases, c, p) != baseline(cases, c))
                continue;
            if (name && name != cases->series_labels[p])
                return "the baseline";
            name = cases->series_labels[p];
        }
    return name ? name : "the baseline";
}

static void speedup_axis(FILE *script, const struct case_table *cases)
{
    (void)fputs("set logscale y 2\nset format y '%g'\nset ylabel \"speed-up over \".", script);
    plot_quote(script, baseline_name(cases));
    (void)fputs(".\" (ratio)\"\n", script);
}

static void line_at_one(FILE *script)
{
    (void)fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n", script);
}

static int write_speedup(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    struct chart chart;
    size_t drawn = 0, missing = 0;
    if (chart_init(&chart, "uvm", cases->row_labels, cases->rows, cases->series_labels, cases->series, err))
        return -1;
    for (size_t c = 0; c < cases->rows; c++)
        for (size_t p = 0; p < cases->series; p++) {
            const struct run *run = cell(cases, c, p);
            double v[3];
            if (!run || run == baseline(cases, c))
                continue;
            const bool known = speedup(cases, c, run, v);
            chart.bars[c * cases->series + p] =
                known ? (struct chart_bar){true, v[0], v[1], v[2]} : (struct chart_bar){true, NAN, NAN, NAN};
            drawn += known;
            missing += !known;
        }
    plot_note_missing(input, missing, "their speed-up is not known");
    plot_note_unbound(input, "speedup_ratio");
    if (drawn) {
        chart.log = true;
        chart.labels = "case";
        plot_title_runs(script, "Speed-up of prefetch policies", cases->set);
        speedup_axis(script, cases);
        line_at_one(script);
        chart_write(input, script, &chart);
        (void)fputc('\n', script);
    }
    chart_release(&chart);
    return drawn ? 0 : err_set(err, "no run of the uvm engine has a time to compare");
}

/* Boxes of one series: x, quartiles and median; how many. */
static size_t locality_data(FILE *script, const struct case_table *cases, size_t p, size_t *runs)
{
    size_t drawn = 0;
    for (size_t c = 0; c < cases->rows; c++) {
        const struct run *run = cell(cases, c, p);
        double q1, median, q3, half, x = chart_at(c, p, cases->series, &half);
        *runs += run != NULL;
        if (!run || !run_metric(run, "r_p25", &q1) || !run_metric(run, "r_median", &median) ||
            !run_metric(run, "r_p75", &q3) || median <= 0)
            continue;
        const double thin = q3 / q1 < 1.04 ? 1.02 : 1; /* a box of no height would not be seen */
        if (!drawn++)
            (void)fprintf(script, "$p%zu << EOD\n", p);
        (void)fprintf(script, "%.6g %.9g %.9g %.9g\n", x, median, q1 / thin, q3 * thin);
    }
    (void)fputs(drawn ? "EOD\n" : "", script);
    return drawn;
}

static void locality_plot(FILE *script, const struct case_table *cases, const struct style *styles, const size_t *boxes)
{
    double half;
    size_t n = 0;
    (void)chart_at(0, 0, cases->series, &half);
    (void)fputs("plot ", script);
    for (size_t p = 0; p < cases->series; p++) {
        if (!boxes[p])
            continue;
        (void)fprintf(script, "%s$p%zu using 1:2:($1-%.6g):($1+%.6g):3:4 with boxxyerror", n++ ? ", " : "", p, half,
                      half);
        style_put_fill(script, &styles[p]);
        (void)fputs(" title ", script);
        plot_quote(script, cases->series_labels[p]);
        (void)fprintf(
            script,
            ", $p%zu using ($1-%.6g):2:(%.6g):(0) with vectors nohead linecolor rgb '#000000' linewidth 2 notitle", p,
            half, 2 * half);
    }
    (void)fputc('\n', script);
}

int figure_uvm_locality_results(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t drawn = 0, runs = 0, longest = 0;
    size_t *boxes = mem_zalloc(cases->series, sizeof *boxes, err);
    struct style *styles = mem_zalloc(cases->series, sizeof *styles, err);
    for (size_t p = 0; boxes && styles && p < cases->series; p++) {
        drawn += boxes[p] = locality_data(script, cases, p, &runs);
        longest = strlen(cases->series_labels[p]) > longest ? strlen(cases->series_labels[p]) : longest;
    }
    if (drawn) {
        style_policies("uvm", cases->series_labels, cases->series, styles);
        plot_legend(input, cases->series, longest);
        plot_title_runs(script, "Locality of fault batches: quartiles and median over windows of 20", cases->set);
        (void)fputs("set logscale y\nset ylabel \"R: distinct VA blocks\\nover batches (ratio)\"\nset format y '%g'\n",
                    script);
        chart_tics(input, script,
                   &(struct chart_axis){.names = cases->row_labels, .count = cases->rows, .labels = "case"});
        locality_plot(script, cases, styles, boxes);
    }
    const bool good = boxes && styles;
    free(boxes);
    free(styles);
    if (!good)
        return -1;
    plot_note_missing(input, runs - drawn, "they have no r_median");
    return drawn ? 0 : err_set(err, "no run of the uvm engine has r_median; recordings give it for their own policy");
}

static bool is_fixed(const struct run *run)
{
    const struct policy_head *policy = engine_policy(run->engine, run->policy);
    return policy && policy->fixed;
}

/* Granularity of a run whose policy never changes it, in bytes; 0: it has none, or the run has no metrics. */
static double granularity(const struct run *run)
{
    double bytes;
    return is_fixed(run) && run_metric(run, "granularity_final_bytes", &bytes) ? bytes : 0;
}

/* What stands right of the granularities: the other policies. Their names' positions, room for all. */
static size_t others(const struct case_table *cases, size_t *at)
{
    size_t n = 0;
    for (size_t p = 0; p < cases->series; p++)
        for (size_t c = 0; c < cases->rows; c++)
            if (cell(cases, c, p) && !is_fixed(cell(cases, c, p)) && cell(cases, c, p) != baseline(cases, c)) {
                at[n++] = p;
                break;
            }
    return n;
}

/* Whether a run is the baseline of a row, the line at 1. */
static bool is_line(const struct case_table *cases, const struct run *run)
{
    return run == baseline(cases, cases->row_of[run - cases->set->runs]);
}

/* The points of a case: on the granularities as $cN, of the other policies as $oN. How many of each, and in *beside how
 * many of the others are no line at 1. */
static void granularity_data(FILE *script, const struct case_table *cases, size_t c, const size_t *other,
                             size_t other_count, size_t count[2], size_t *beside)
{
    double v[3];
    for (int level = 12; level <= 21; level++)
        for (size_t p = 0; p < cases->series; p++) {
            const struct run *run = cell(cases, c, p);
            if (!run || granularity(run) != (double)(1 << level) || !speedup(cases, c, run, v))
                continue;
            if (!count[0]++)
                (void)fprintf(script, "$c%zu << EOD\n", c);
            (void)fprintf(script, "%d %.9g %.9g %.9g\n", level - 12, v[0], v[1], v[2]);
        }
    (void)fputs(count[0] ? "EOD\n" : "", script);
    for (size_t i = 0; i < other_count; i++)
        if (cell(cases, c, other[i]) && speedup(cases, c, cell(cases, c, other[i]), v)) {
            if (!count[1]++)
                (void)fprintf(script, "$o%zu << EOD\n", c);
            (void)fprintf(script, "%zu %.9g %.9g %.9g\n", 11 + i, v[0], v[1], v[2]);
            *beside += !is_line(cases, cell(cases, c, other[i]));
        }
    (void)fputs(count[1] ? "EOD\n" : "", script);
}

/* Granularities, then the other policies, as names by their place on the axis. */
static int granularity_tics(const struct figure_input *input, FILE *script, const size_t *other, size_t n,
                            struct err *err)
{
    static const char *const sizes[] = {"4 KiB",   "8 KiB",   "16 KiB",  "32 KiB", "64 KiB",
                                        "128 KiB", "256 KiB", "512 KiB", "1 MiB",  "2 MiB"};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const size_t all = SIZES + (n ? n + 1 : 0);
    char **names = mem_zalloc(all, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < all; i++)
        names[i] = (char *)(i < SIZES ? sizes[i] : i == SIZES ? "" : input->cases->series_labels[other[i - SIZES - 1]]);
    const char *labels = n ? "migration granularity (bytes), and other policies" : "migration granularity (bytes)";
    chart_tics(input, script, &(struct chart_axis){.names = names, .count = all, .labels = labels});
    free((void *)names);
    return 0;
}

static void granularity_plot(FILE *script, const struct case_table *cases, size_t (*counts)[2])
{
    static const char *const with[] = {"yerrorlines", "yerrorbars"};
    size_t n = 0;
    (void)fputs("plot ", script);
    for (size_t c = 0; c < cases->rows; c++)
        for (int k = 0; k < 2; k++) {
            if (!counts[c][k])
                continue;
            (void)fprintf(script, "%s$%c%zu using 1:2:3:4 with %s linetype %zu ", n++ ? ", " : "", "co"[k], c, with[k],
                          1 + c);
            if (k && counts[c][0]) {
                (void)fputs("notitle", script);
                continue;
            }
            (void)fputs("title ", script);
            plot_quote(script, cases->row_labels[c]);
        }
    (void)fputc('\n', script);
}

/* A line for each case, in its own colour, dash and point. */
static int granularity_lines(FILE *script, const struct case_table *cases, struct err *err)
{
    struct style *styles = mem_zalloc(cases->rows, sizeof *styles, err);
    if (!styles)
        return -1;
    for (size_t c = 0; c < cases->rows; c++)
        styles[c] = style_line(c);
    style_put_lines(script, styles, cases->rows, 1);
    free(styles);
    return 0;
}

static int granularity_draw(const struct figure_input *input, FILE *script, const size_t *other, size_t n,
                            size_t (*counts)[2], struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t drawn = 0, beside = 0, runs = 0, longest = 0;
    for (size_t c = 0; c < cases->rows; c++) {
        granularity_data(script, cases, c, other, n, counts[c], &beside);
        drawn += counts[c][0];
        longest = strlen(cases->row_labels[c]) > longest ? strlen(cases->row_labels[c]) : longest;
    }
    for (size_t i = 0; i < cases->set->count; i++) /* `tree` as the baseline is the line at 1 */
        runs += !cases->twice[i] && (granularity(&cases->set->runs[i]) > 0 || !is_line(cases, &cases->set->runs[i]));
    plot_note_missing(input, runs - drawn - beside,
                      "their speed-up is not known, or their granularity is no power of two");
    plot_note_unbound(input, "speedup_ratio");
    if (!drawn)
        return err_set(err, "no run of policy fixed has a time; run it with several values of granularity");
    plot_legend(input, cases->rows, longest);
    plot_title_runs(script, "Speed-up by migration granularity", cases->set);
    speedup_axis(script, cases);
    line_at_one(script);
    if (granularity_lines(script, cases, err) || granularity_tics(input, script, other, n, err))
        return -1;
    granularity_plot(script, cases, counts);
    return 0;
}

static int write_granularity(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t *other = mem_zalloc(cases->series, sizeof *other, err);
    size_t(*counts)[2] = mem_zalloc(cases->rows, sizeof *counts, err);
    int rc = other && counts ? granularity_draw(input, script, other, others(cases, other), counts, err) : -1;
    free(other);
    free(counts);
    return rc;
}

const struct figure figure_uvm_speedup = {
    .name = "uvm-speedup",
    .summary = "speed-up of prefetch policies over the baseline, case by case",
    .needs = "uvm runs of two policies",
    .source = "lee-2026, figures 3 and 4",
    .kinds = FIGURE_RESULTS,
    .width = 1000,
    .height = 560,
    .write = write_speedup,
    .engine = "uvm",
};
const struct figure figure_uvm_granularity = {
    .name = "uvm-granularity",
    .summary = "speed-up over the migration granularity, one line per case",
    .needs = "uvm runs of fixed:granularity=..",
    .source = "lee-2026, figure 3, with the granularities between",
    .kinds = FIGURE_RESULTS,
    .width = 1000,
    .height = 560,
    .write = write_granularity,
    .engine = "uvm",
};
