/* Figures of comparisons (replay/compare): the mechanisms' times with what is not known of them, and their bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "replay/figure/figures.h"
#include "replay/results/note.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

enum { ROWS_MAX = 24, ROWS_USUAL = 10, WIDTH = 760, HEIGHT = 430 };

static const double name_scale = 0.85; /* of letters in names, which are long */

/* Those with a time, in order. */
struct rows {
    const struct run *runs[ROWS_MAX];
    char *labels[ROWS_MAX];
    size_t count, more, without;
};

static void rows_release(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->labels[i]);
}

/* A run is named by its policy, and by its case where there are several. */
static char *label_of(const struct figure_input *input, size_t i)
{
    const struct case_table *t = input->cases;
    char *label = NULL;
    if (asprintf(&label, "%s%s%s", t->rows > 1 ? t->row_labels[t->row_of[i]] : "", t->rows > 1 ? ": " : "",
                 input->runs->runs[i].policy) < 0)
        return NULL;
    return label;
}

static int collect(const struct figure_input *input, struct rows *rows, struct err *err)
{
    *rows = (struct rows){0};
    for (size_t i = 0; i < input->runs->count; i++) {
        double time;
        if (input->cases->twice[i])
            continue;
        if (!run_metric(&input->runs->runs[i], "time_ns", &time) || !(time > 0))
            rows->without++;
        else if (rows->count == ROWS_MAX)
            rows->more++;
        else {
            rows->runs[rows->count] = &input->runs->runs[i];
            rows->labels[rows->count] = label_of(input, i);
            if (!rows->labels[rows->count++]) {
                rows_release(rows);
                return err_set(err, "out of memory");
            }
        }
    }
    plot_note_missing(input, rows->without, "no time is known of them");
    plot_note_missing(input, rows->more, "there is room for 24");
    plot_note_unbound(input, "time_ns");
    return rows->count ? 0 : err_set(err, "no mechanism has a time");
}

/* The lowest first in the script, so that the first row stands on top. */
static void y_axis(const struct figure_input *input, FILE *script, const struct rows *rows)
{
    (void)plot_taller(input, ((double)rows->count - ROWS_USUAL) * PLOT_LINE);
    (void)fprintf(script, "set yrange [%g:-0.6]\nset ytics scale 0 (", (double)rows->count - 0.4);
    for (size_t i = 0; i < rows->count; i++) {
        (void)fputs(i ? ", " : "", script);
        (void)fprintf(script, "\"{/*%.2f \".", name_scale);
        plot_quote(script, rows->labels[i]);
        (void)fprintf(script, ".\"}\" %zu", i);
    }
    (void)fputs(")\nset grid xtics noytics\nset border 1\nset key off\nset ylabel 'mechanism'\n", script);
}

/* --- times --- */

struct reach {
    double value, lo, hi;
    double far_lo, far; /* with the measured error of such times */
    bool measured, unbound;
};

static struct reach reach_of(const struct run *run)
{
    struct reach r;
    double error;
    r.value = 0;
    (void)run_metric(run, "time_ns", &r.value);
    if (!run_interval(run, "time_ns", &r.lo, &r.hi))
        r.lo = r.hi = r.value;
    r.measured = run_metric(run, "error_ratio", &error) && error > 0;
    r.far_lo = r.measured ? r.lo / (1 + error) : r.lo;
    r.far = r.measured ? r.hi * (1 + error) : r.hi;
    r.unbound = run_unbound(run, "time_ns");
    return r;
}

/* The share of the plot's width that texts beside the points take. */
static double room_beside(const struct rows *rows, size_t chars)
{
    size_t names = 0;
    for (size_t i = 0; i < rows->count; i++)
        names = strlen(rows->labels[i]) > names ? strlen(rows->labels[i]) : names;
    const double plot = PLOT_LETTERS - 5 - (double)names * PLOT_CHAR_WIDTH * name_scale;
    return fmin(0.75, ((double)chars * PLOT_CHAR_WIDTH + 2) / fmax(plot, 8));
}

/* y, value, ends of the interval, ends with the error, text, whose longest is returned; the first answers, the others'
 * points are hollow. */
static size_t time_data(FILE *script, const struct rows *rows, double unit, double *lo, double *hi)
{
    size_t longest = 0;
    (void)fputs("$t << EOD\n", script);
    *lo = INFINITY;
    *hi = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct reach r = reach_of(rows->runs[i]);
        char text[2][64], both[140];
        (void)units_human_ns(r.lo, text[0], sizeof text[0]);
        (void)units_human_ns(r.hi, text[1], sizeof text[1]);
        const bool one = strcmp(text[0], text[1]) == 0;
        (void)snprintf(both, sizeof both, "%s%s%s%s", r.unbound ? "~" : "", text[0], one ? "" : " to ",
                       one ? "" : text[1]);
        longest = strlen(both) > longest ? strlen(both) : longest;
        (void)fprintf(script, "%zu %.9g %.9g %.9g %.9g %.9g ", i, r.value / unit, r.lo / unit, r.hi / unit,
                      r.far_lo / unit, r.far / unit);
        plot_quote(script, both);
        (void)fputc('\n', script);
        *lo = fmin(*lo, r.far_lo / unit);
        *hi = fmax(*hi, r.far / unit);
    }
    (void)fputs("EOD\n", script);
    return longest;
}

static double unit_of(const struct rows *rows, const char **name)
{
    double hi = 0;
    for (size_t i = 0; i < rows->count; i++)
        hi = fmax(hi, reach_of(rows->runs[i]).far);
    *name = hi < 1e6 ? "us" : hi < 1e9 ? "ms" : "s";
    return hi < 1e6 ? 1e3 : hi < 1e9 ? 1e6 : 1e9;
}

static int write_times(const struct figure_input *input, FILE *script, struct err *err)
{
    struct rows rows;
    const char *name;
    double lo, hi;
    if (collect(input, &rows, err))
        return -1;
    double unit = unit_of(&rows, &name);
    const size_t text_chars = time_data(script, &rows, unit, &lo, &hi);
    y_axis(input, script, &rows);
    const bool decades = hi > 10 * lo;
    const double beside = room_beside(&rows, text_chars);
    char label[120];
    (void)snprintf(label, sizeof label, "time (%s)\\nthick: left open by the model; whiskers: and the measured error",
                   name);
    plot_xlabel(input, script, label, 2);
    (void)fprintf(script, "%sset xrange [%.9g:%.9g]\nset format x '%%g'\n", decades ? "set logscale x\n" : "",
                  decades ? lo / 1.1 : 0,
                  decades ? lo / 1.1 * pow(hi / lo * 1.1, 1 / (1 - beside)) : hi / (1 - beside));
    if (!decades)
        (void)fprintf(script, "set xtics 0,%.9g\n", chart_step(hi));
    plot_title_runs(script, "Time of each mechanism", input->runs);
    (void)fputs("plot $t using 2:1:5:6 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb '#444444', "
                "$t using 3:1:($4-$3):(0) with vectors nohead linewidth 7 linecolor rgb '#56B4E9', "
                "$t every ::0::0 using 2:1 with points pointtype 7 pointsize 1.3 linecolor rgb '#0072B2', "
                "$t every ::1 using 2:1 with points pointtype 6 pointsize 1.1 linewidth 2 linecolor rgb '#0072B2', "
                "$t using 6:1:7 with labels left offset 1,0\n",
                script);
    rows_release(&rows);
    return 0;
}

/* --- bytes --- */

static double bytes_of(const struct run *run, const char *metric, double unit)
{
    double value;
    return run_metric(run, metric, &value) ? value / unit : NAN;
}

static int write_bytes(const struct figure_input *input, FILE *script, struct err *err)
{
    struct rows rows;
    double most = 0;
    if (collect(input, &rows, err))
        return -1;
    for (size_t i = 0; i < rows.count; i++)
        most = fmax(most, fmax(bytes_of(rows.runs[i], "h2d_bytes", 1), bytes_of(rows.runs[i], "d2h_bytes", 1)));
    const char *name = most < 0x1p20 ? "KiB" : most < 0x1p30 ? "MiB" : "GiB";
    const double unit = most < 0x1p20 ? 0x1p10 : most < 0x1p30 ? 0x1p20 : 0x1p30;
    (void)fputs("$b << EOD\n", script);
    for (size_t i = 0; i < rows.count; i++)
        (void)fprintf(script, "%zu %.9g %.9g\n", i, bytes_of(rows.runs[i], "h2d_bytes", unit),
                      bytes_of(rows.runs[i], "d2h_bytes", unit));
    (void)fputs("EOD\n", script);
    y_axis(input, script, &rows);
    plot_title_runs(script, "Bytes over the link of each mechanism", input->runs);
    char label[60];
    (void)snprintf(label, sizeof label, "bytes over the link (%s)", name);
    plot_xlabel(input, script, label, 1);
    (void)fprintf(
        script,
        "set xrange [0:%.9g]\nset xtics 0,%.9g\nset key on\n"
        "set style fill solid 1 noborder\n"
        "plot $b using (0):($1-0.19):(0):2:($1-0.36):($1-0.02) with boxxyerror linetype 1 title 'to the GPU', "
        "$b using (0):($1+0.19):(0):3:($1+0.02):($1+0.36) with boxxyerror linetype 2 title 'to the host'\n",
        most > 0 ? most / unit * 1.05 : 1, chart_step(most > 0 ? most / unit : 1));
    rows_release(&rows);
    return 0;
}

const struct figure figure_compare_times = {
    .name = "compare-times",
    .summary = "the time of each mechanism, with its interval and measured error",
    .needs = "results of compare",
    .source = "ours",
    .kinds = FIGURE_RESULTS,
    .width = WIDTH,
    .height = HEIGHT,
    .write = write_times,
    .engine = "compare",
};

const struct figure figure_compare_bytes = {
    .name = "compare-bytes",
    .summary = "bytes over the link of each mechanism, both ways",
    .needs = "results of compare",
    .source = "ours",
    .kinds = FIGURE_RESULTS,
    .width = WIDTH,
    .height = HEIGHT,
    .write = write_bytes,
    .engine = "compare",
};
