/* Figures of the uvm engine from results: speed-up, locality and granularity, case by case. A case is an input with its
 * settings; runs of one case are comparable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A label of an axis, where gnuplot reads % as a format. */
static void tic_label(FILE *script, const char *text)
{
    char *escaped = mem_zalloc(2 * strlen(text) + 1, 1, NULL);
    size_t n = 0;
    for (; escaped && *text; text++) {
        if (*text == '%')
            escaped[n++] = '%';
        escaped[n++] = *text;
    }
    plot_quote(script, escaped ? escaped : "");
    free(escaped);
}

static bool differs(const struct run_set *set, const char *key)
{
    char first[256] = "", text[256];
    for (size_t i = 0; i < set->count; i++) {
        const char *value = run_key(&set->runs[i], key, text, sizeof text);
        if (i && strcmp(first, value ? value : "") != 0)
            return true;
        (void)snprintf(first, sizeof first, "%s", value ? value : "");
    }
    return false;
}

/* The title, and below it what all runs have in common. */
static void title(FILE *script, const struct run_set *set, const char *what)
{
    static const char *const keys[] = {"platform", "bytes", "oversubscription_pct"};
    char text[128], line[400];
    size_t used = 0;
    line[0] = 0;
    for (size_t k = 0; k < 3 && set->count; k++)
        if (!differs(set, keys[k]) && run_key(&set->runs[0], keys[k], text, sizeof text) && *text)
            used += (size_t)snprintf(line + used, sizeof line - used,
                                     k < 2               ? "%s%s"
                                     : strcmp(text, "0") ? "%sfootprint %s %% of memory"
                                                         : "%smemory sufficient%.0s",
                                     used ? ", " : "", text);
    (void)fprintf(script, "set title '%s'.\"\\n\".", what);
    plot_quote(script, line);
    (void)fputc('\n', script);
}

static void speedup_axis(FILE *script, const struct case_table *cases)
{
    (void)fputs("set logscale y 2\nset format y '%g'\nset ylabel \"speed-up over \".", script);
    plot_quote(script, baseline_name(cases));
    (void)fputc('\n', script);
}

static void case_tics(FILE *script, const struct case_table *cases)
{
    (void)fprintf(script, "set xtics (");
    for (size_t c = 0; c < cases->rows; c++) {
        (void)fputs(c ? ", " : "", script);
        tic_label(script, cases->row_labels[c]);
        (void)fprintf(script, " %zu", c);
    }
    (void)fprintf(script, ")%s\nset xrange [-0.6:%zu.6]\n", cases->rows > 6 ? " rotate by -35" : "", cases->rows - 1);
    for (size_t c = 1; c < cases->rows; c++)
        (void)fprintf(script, "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb '#eeeeee' back\n",
                      (double)c - 0.5, (double)c - 0.5);
}

/* Left edge and width of the bar of policy p. */
static double bar_at(const struct case_table *cases, size_t c, size_t p, double *width)
{
    *width = 0.84 / (double)cases->series;
    return (double)c - 0.42 + *width * (double)p;
}

/* Bars of policy p as data blocks $p and $i (its intervals); *missing: runs without a speed-up. Whether a bar differs
 * from 1. */
static bool speedup_data(FILE *script, const struct case_table *cases, size_t p, size_t *missing)
{
    bool any = false;
    (void)fprintf(script, "$p%zu << EOD\n", p);
    for (int intervals = 0; intervals < 2; intervals++) {
        for (size_t c = 0; c < cases->rows; c++) {
            const struct run *run = cell(cases, c, p);
            double v[3], width, left = bar_at(cases, c, p, &width);
            if (!run || run == baseline(cases, c))
                continue;
            if (!speedup(cases, c, run, v)) {
                *missing += !intervals;
                continue;
            }
            any = true;
            if (!intervals)
                (void)fprintf(script, "%.6g %.9g %.6g %.6g\n", left + width / 2, v[0], left, left + width * 0.92);
            else if (v[1] < v[2])
                (void)fprintf(script, "%.6g %.9g %.9g\n", left + width / 2, v[1], v[2] - v[1]);
        }
        (void)fprintf(script, intervals ? "NaN NaN NaN\nEOD\n" : "NaN NaN NaN NaN\nEOD\n$i%zu << EOD\n", p);
    }
    return any;
}

static int write_speedup(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    bool *any = mem_zalloc(cases->series, sizeof *any, err);
    size_t drawn = 0, missing = 0;
    for (size_t p = 0; any && p < cases->series; p++)
        drawn += any[p] = speedup_data(script, cases, p, &missing);
    plot_note_missing(input, missing, "their speed-up is not known");
    plot_note_unbound(input, "speedup_ratio");
    if (drawn) {
        speedup_axis(script, cases);
        (void)fprintf(script, "set key outside right top\nset style fill solid 0.9 noborder\n");
        title(script, cases->set, "Speed-up of prefetch policies: bars start at 1, black lines are intervals");
        case_tics(script, cases);
        (void)fprintf(script, "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n"
                              "plot ");
    }
    for (size_t p = 0, n = 0; drawn && p < cases->series; p++) {
        if (!any[p])
            continue;
        (void)fprintf(script, "%s$p%zu using 1:(1):3:4:(1):2 with boxxyerror linetype %zu title ", n++ ? ", " : "", p,
                      p % 8 + 1);
        plot_quote(script, cases->series_labels[p]);
        (void)fprintf(script, ", $i%zu using 1:2:(0):3 with vectors nohead linetype 8 linewidth 1.5 notitle", p);
    }
    (void)fputc('\n', script);
    int rc = drawn ? 0 : any ? err_set(err, "no run of the uvm engine has a time to compare") : -1;
    free(any);
    return rc;
}

int figure_uvm_locality_results(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t drawn = 0, runs = 0;
    for (size_t p = 0; p < cases->series; p++) {
        (void)fprintf(script, "$p%zu << EOD\n", p);
        for (size_t c = 0; c < cases->rows; c++) {
            const struct run *run = cell(cases, c, p);
            double q1, median, q3, width, left = bar_at(cases, c, p, &width);
            runs += run != NULL;
            if (!run || !run_metric(run, "r_p25", &q1) || !run_metric(run, "r_median", &median) ||
                !run_metric(run, "r_p75", &q3) || median <= 0)
                continue;
            double thin = q3 / q1 < 1.04 ? 1.02 : 1; /* a box of no height would not be seen */
            (void)fprintf(script, "%.6g %.9g %.9g %.9g %.6g %.6g\n", left + width / 2, median, q1 / thin, q3 * thin,
                          left, left + width * 0.92);
            drawn++;
        }
        (void)fprintf(script, "NaN NaN NaN NaN NaN NaN\nEOD\n");
    }
    if (drawn) {
        title(script, cases->set, "Locality of fault batches: quartiles over windows of 20 batches");
        (void)fprintf(script, "set logscale y\nset ylabel 'R: distinct VA blocks / batches'\n"
                              "set key outside right top\nset style fill solid 0.6 noborder\nset format y '%%g'\n");
        case_tics(script, cases);
        (void)fprintf(script, "plot ");
        for (size_t p = 0; p < cases->series; p++) {
            (void)fprintf(script, "%s$p%zu using 1:2:5:6:3:4 with boxxyerror linetype %zu title ", p ? ", " : "", p,
                          p % 8 + 1);
            plot_quote(script, cases->series_labels[p]);
            (void)fprintf(script, ", $p%zu using 5:2:($6-$5):(0) with vectors nohead linetype 8 linewidth 2 notitle",
                          p);
        }
        (void)fputc('\n', script);
    }
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

static void granularity_data(FILE *script, const struct case_table *cases, const size_t *other, size_t other_count,
                             size_t *drawn, size_t *beside)
{
    double v[3];
    for (size_t c = 0; c < cases->rows; c++) {
        (void)fprintf(script, "$c%zu << EOD\n", c);
        for (int level = 12; level <= 21; level++)
            for (size_t p = 0; p < cases->series; p++) {
                const struct run *run = cell(cases, c, p);
                if (!run || granularity(run) != (double)(1 << level) || !speedup(cases, c, run, v))
                    continue;
                (void)fprintf(script, "%d %.9g %.9g %.9g\n", level, v[0], v[1], v[2]);
                ++*drawn;
            }
        (void)fprintf(script, "NaN NaN NaN NaN\nEOD\n$o%zu << EOD\n", c);
        for (size_t i = 0; i < other_count; i++)
            if (cell(cases, c, other[i]) && speedup(cases, c, cell(cases, c, other[i]), v)) {
                (void)fprintf(script, "%zu %.9g %.9g %.9g\n", 23 + i, v[0], v[1], v[2]);
                *beside += !is_line(cases, cell(cases, c, other[i]));
            }
        (void)fprintf(script, "NaN NaN NaN NaN\nEOD\n");
    }
}

/* Colour by workload, dashes by the case of that workload. */
static void line_style(const struct case_table *cases, size_t c, size_t *linetype, size_t *dashtype)
{
    size_t n = strcspn(cases->row_labels[c], " ");
    *linetype = 1;
    *dashtype = 1;
    for (size_t k = 0; k < c; k++) {
        if (strncmp(cases->row_labels[k], cases->row_labels[c], n + 1) == 0) {
            ++*dashtype;
            continue;
        }
        bool first = true;
        for (size_t j = 0; j < k; j++)
            first &= strncmp(cases->row_labels[j], cases->row_labels[k], strcspn(cases->row_labels[k], " ") + 1) != 0;
        *linetype += first;
    }
    *linetype = (*linetype - 1) % 8 + 1;
    *dashtype = (*dashtype - 1) % 5 + 1;
}

static int write_granularity(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t *other = mem_zalloc(cases->series, sizeof *other, err);
    if (!other)
        return -1;
    size_t n = others(cases, other), drawn = 0, beside = 0, runs = 0;
    granularity_data(script, cases, other, n, &drawn, &beside);
    for (size_t i = 0; i < cases->set->count; i++) /* `tree` as the baseline is the line at 1 */
        runs += !cases->twice[i] && (granularity(&cases->set->runs[i]) > 0 || !is_line(cases, &cases->set->runs[i]));
    plot_note_missing(input, runs - drawn - beside,
                      "their speed-up is not known, or their granularity is no power of two");
    title(script, cases->set, "Speed-up by migration granularity");
    speedup_axis(script, cases);
    (void)fprintf(script,
                  "set xrange [11.5:%zu.5]\nset key outside right top\n"
                  "set xtics ('4 KiB' 12, '16 KiB' 14, '64 KiB' 16, '128 KiB' 17, '256 KiB' 18, '512 KiB' 19, "
                  "'1 MiB' 20, '2 MiB' 21",
                  n ? 22 + n : 21);
    for (size_t i = 0; i < n; i++) {
        (void)fputs(", ", script);
        tic_label(script, cases->series_labels[other[i]]);
        (void)fprintf(script, " %zu", 23 + i);
    }
    (void)fprintf(script, ") rotate by -35\n"
                          "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\nplot ");
    for (size_t c = 0; c < cases->rows; c++) {
        size_t linetype, dashtype;
        line_style(cases, c, &linetype, &dashtype);
        (void)fprintf(script, "%s$c%zu using 1:2:3:4 with yerrorlines linetype %zu dashtype %zu title ", c ? ", " : "",
                      c, linetype, dashtype);
        plot_quote(script, cases->row_labels[c]);
        (void)fprintf(script, ", $o%zu using 1:2:3:4 with yerrorbars linetype %zu notitle", c, linetype);
    }
    (void)fputc('\n', script);
    free(other);
    return drawn ? 0 : err_set(err, "no run of policy fixed has a time; run it with several values of granularity");
}

const struct figure figure_uvm_speedup = {"uvm-speedup",
                                          "speed-up of prefetch policies over the baseline, case by case",
                                          "lee-2026, figures 3 and 4",
                                          FIGURE_RESULTS,
                                          1000,
                                          480,
                                          write_speedup,
                                          "uvm"};
const struct figure figure_uvm_granularity = {"uvm-granularity",
                                              "speed-up over the migration granularity, one line per case",
                                              "lee-2026, figure 3, with the granularities between",
                                              FIGURE_RESULTS,
                                              1000,
                                              480,
                                              write_granularity,
                                              "uvm"};
