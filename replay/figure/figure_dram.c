/* Figures of the dram engine from results. Runs of one policy (with the parameters in which the set differs) and one
 * number of virtual channels make one bar: the metric's own aggregate over the pairs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "trace/base/mem.h"

enum { LABEL = 128 };

/* What one bar is made from: by policy, for one and two virtual channels. */
struct bar {
    char policy[LABEL];
    double sum[2][2], log_sum[2]; /* [vcs - 1][first, second metric] */
    size_t n[2], zeros[2];
};

struct bars {
    struct bar *bar;
    size_t count;
};

static bool ours(const struct run *run)
{
    return strcmp(run->engine, "dram") == 0;
}

static int vcs_of(const struct run *run)
{
    char text[LABEL];
    const char *v = run_key(run, "vcs", text, sizeof text);
    return v && strcmp(v, "1") == 0 ? 0 : 1;
}

/* Collect one or two metrics; a run without the first is left out (a starved one has fairness 0 and no speed-ups). */
static int collect(struct bars *bars, const struct run_set *set, const char *first, const char *second, struct err *err)
{
    bars->count = 0;
    bars->bar = mem_zalloc(set->count + 1, sizeof *bars->bar, err);
    if (!bars->bar)
        return -1;
    for (size_t i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        double a, b = 0;
        if (!ours(run) || !run_metric(run, first, &a) || (second && !run_metric(run, second, &b)))
            continue;
        char label[LABEL];
        run_label(set, run, label, sizeof label);
        size_t k = 0;
        while (k < bars->count && strcmp(bars->bar[k].policy, label) != 0)
            k++;
        struct bar *bar = &bars->bar[k];
        if (k == bars->count) {
            bars->count++;
            (void)snprintf(bar->policy, sizeof bar->policy, "%s", label);
        }
        const int v = vcs_of(run);
        bar->sum[v][0] += a;
        bar->sum[v][1] += b;
        bar->log_sum[v] += a > 0 ? log(a) : 0;
        bar->zeros[v] += a <= 0;
        bar->n[v]++;
    }
    if (bars->count)
        return 0;
    free(bars->bar);
    return err_set(err, "no run of the dram engine has %s", first);
}

static void put(FILE *script, bool known, double value)
{
    if (known)
        (void)fprintf(script, " %.9g", value);
    else
        (void)fprintf(script, " NaN");
}

/* Clustered bars of one metric, for one and two virtual channels. */
static int clustered(const struct figure_input *input, FILE *script, const char *metric, bool geometric,
                     const char *ylabel, struct err *err)
{
    struct bars bars;
    if (collect(&bars, input->runs, metric, NULL, err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t k = 0; k < bars.count; k++) {
        const struct bar *b = &bars.bar[k];
        plot_quote(script, b->policy);
        for (int v = 0; v < 2; v++) {
            const double n = (double)b->n[v];
            put(script, b->n[v] > 0, geometric ? (b->zeros[v] ? 0 : exp(b->log_sum[v] / n)) : b->sum[v][0] / n);
        }
        (void)fputc('\n', script);
    }
    (void)fprintf(script,
                  "EOD\nset style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\nset ylabel '%s'\n"
                  "set xtics rotate by -25 font ',9'\nset key outside right top\n"
                  "plot $d using 2:xtic(1) title 'VC1' linetype 1, $d using 3 title 'VC2' linetype 2\n",
                  ylabel);
    free(bars.bar);
    return 0;
}

static int fairness(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "fairness_index", true, "fairness index, geometric mean (0: a side starved)", err);
}

static int switches(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "mode_switches", false, "mode switches, mean", err);
}

static int llm(const struct figure_input *input, FILE *script, struct err *err)
{
    double ideal = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        double v;
        if (ours(&input->runs->runs[i]) && run_metric(&input->runs->runs[i], "ideal_speedup_ratio", &v))
            ideal = v;
    }
    if (ideal > 0)
        (void)fprintf(script, "set arrow from graph 0, first %.6g to graph 1, first %.6g nohead dashtype 2\n", ideal,
                      ideal);
    return clustered(input, script, "concurrent_speedup_ratio", false,
                     "speed-up over one after the other (dashed: ideal)", err);
}

/* "f3fs VC2": a policy under v + 1 virtual channels. */
static void put_label(FILE *script, const struct bar *b, int v)
{
    char label[LABEL + 16]; /* " VC" and any int */
    (void)snprintf(label, sizeof label, "%s VC%d", b->policy, v + 1);
    plot_quote(script, label);
}

/* Shares stacked: MEM below, PIM above; a pair of bars per policy. */
static int throughput(const struct figure_input *input, FILE *script, struct err *err)
{
    struct bars bars;
    if (collect(&bars, input->runs, "mem_speedup_ratio", "pim_speedup_ratio", err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t k = 0; k < bars.count; k++)
        for (int v = 0; v < 2; v++) {
            const struct bar *b = &bars.bar[k];
            if (!b->n[v])
                continue;
            put_label(script, b, v);
            (void)fprintf(script, " %.9g %.9g\n", b->sum[v][0] / (double)b->n[v], b->sum[v][1] / (double)b->n[v]);
        }
    (void)fprintf(script, "EOD\nset style data histograms\nset style histogram rowstacked\n"
                          "set style fill solid 0.9 border -1\nset boxwidth 0.8\nset yrange [0:*]\n"
                          "set ylabel 'system throughput (sum of speed-ups), mean'\nset xtics rotate by -40 font ',9'\n"
                          "set key outside right top\n"
                          "plot $d using 2:xtic(1) title 'MEM' linetype 1, $d using 3 title 'PIM' linetype 2\n");
    free(bars.bar);
    return 0;
}

/* Fairness and throughput side by side, in the order of the policies. */
static int ablation(const struct figure_input *input, FILE *script, struct err *err)
{
    struct bars bars;
    if (collect(&bars, input->runs, "fairness_index", "system_throughput", err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t k = 0; k < bars.count; k++)
        for (int v = 0; v < 2; v++) {
            const struct bar *b = &bars.bar[k];
            if (!b->n[v])
                continue;
            put_label(script, b, v);
            put(script, true, b->zeros[v] ? 0 : exp(b->log_sum[v] / (double)b->n[v]));
            put(script, true, b->sum[v][1] / (double)b->n[v]);
            (void)fputc('\n', script);
        }
    (void)fprintf(
        script,
        "EOD\nset style data histograms\nset style histogram clustered gap 1\n"
        "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\n"
        "set xtics rotate by -30 font ',9'\nset key outside right top\n"
        "plot $d using 2:xtic(1) title 'fairness index' linetype 1, $d using 3 title 'system throughput' linetype 2\n");
    free(bars.bar);
    return 0;
}

/* --- sensitivity --- */

struct point {
    double x, fairness, throughput;
    size_t n;
};

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

/* The first of these keys that differs among the runs is the abscissa. */
static const char *abscissa(const struct run_set *set)
{
    static const char *const keys[] = {"mem_cap",    "pim_cap",      "cap",  "window_scale", "mem_window",
                                       "launch_gap", "relaunch_gap", "high", "low",          "threshold",
                                       "interval",   "window",       "set"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        char first[LABEL] = "", text[LABEL];
        for (size_t i = 0; i < set->count; i++) {
            const char *v = ours(&set->runs[i]) ? run_key(&set->runs[i], keys[k], text, sizeof text) : NULL;
            if (v && *first && strcmp(v, first) != 0)
                return keys[k];
            if (v && !*first)
                (void)snprintf(first, sizeof first, "%s", v);
        }
    }
    return NULL;
}

static int sensitivity(const struct figure_input *input, FILE *script, struct err *err)
{
    const char *key = abscissa(input->runs);
    if (!key)
        return err_set(err,
                       "the runs of the dram engine differ in no cap, window or gap; sweep one, for example --grid "
                       "f3fs.mem_cap=64|128|256|512");
    struct point *points = mem_zalloc(input->runs->count + 1, sizeof *points, err);
    if (!points)
        return -1;
    size_t n = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        const struct run *run = &input->runs->runs[i];
        char text[LABEL];
        double f, t;
        const char *v = ours(run) ? run_key(run, key, text, sizeof text) : NULL;
        if (!v || !run_metric(run, "fairness_index", &f) || !run_metric(run, "system_throughput", &t))
            continue;
        const double x = strtod(v, NULL);
        size_t k = 0;
        while (k < n && points[k].x != x)
            k++;
        n += k == n;
        points[k].x = x;
        points[k].fairness += f;
        points[k].throughput += t;
        points[k].n++;
    }
    qsort(points, n, sizeof *points, by_x);
    (void)fprintf(script, "$d << EOD\n");
    for (size_t k = 0; k < n; k++)
        (void)fprintf(script, "%.9g %.9g %.9g\n", points[k].x, points[k].fairness / (double)points[k].n,
                      points[k].throughput / (double)points[k].n);
    (void)fprintf(script, "EOD\nset xlabel ");
    plot_quote(script, key);
    (void)fprintf(script, "\nset ylabel 'mean'\nset yrange [0:*]\nset key outside right top\n"
                          "plot $d using 1:2 with linespoints title 'fairness index' linetype 1, "
                          "$d using 1:3 with linespoints title 'system throughput' linetype 2\n");
    free(points);
    return n ? 0 : err_set(err, "no run of the dram engine has fairness_index and system_throughput");
}

/* --- what each kernel is alone --- */

static int character(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"noc_arrival_per_kcycle", "dram_arrival_per_kcycle", "bank_parallelism"};
    static const char *const titles[] = {"packets into the interconnect per 1000 cycles",
                                         "requests into the controller per 1000 cycles", "bank parallelism",
                                         "row-hit ratio"};
    size_t rows = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        const struct run *run = &input->runs->runs[i];
        double v[4], mem = 0, pim = 0;
        char label[LABEL];
        if (!ours(run) || (run_metric(run, "mem_alone_cycles", &mem) && run_metric(run, "pim_alone_cycles", &pim)))
            continue;
        bool known = true;
        for (int k = 0; k < 3; k++)
            known &= run_metric(run, metrics[k], &v[k]);
        known &= run_metric(run, "mem_row_hit_ratio", &v[3]) || run_metric(run, "pim_row_hit_ratio", &v[3]);
        if (!known)
            continue;
        (void)fputs(rows++ ? "" : "$d << EOD\n", script);
        plot_quote(script, run_workload(run, label, sizeof label));
        (void)fprintf(script, " %.9g %.9g %.9g %.9g\n", v[0], v[1], v[2], v[3]);
    }
    if (!rows)
        return err_set(err,
                       "no run of the dram engine is of one side alone; replay dram --mem X, or --pim X, makes one");
    (void)fprintf(script,
                  "EOD\nset multiplot layout 2,2\nset style data histograms\nset style fill solid 0.9 border -1\n"
                  "set boxwidth 0.8\nset yrange [0:*]\nset xtics rotate by -45 font ',7'\nunset key\n");
    for (int k = 0; k < 4; k++)
        (void)fprintf(script, "set title '%s'\nplot $d using %d:xtic(1) linetype %d\n", titles[k], k + 2, k + 1);
    (void)fprintf(script, "unset multiplot\n");
    return 0;
}

const struct figure figure_dram_fairness = {"dram-fairness",
                                            "fairness by policy, one and two virtual channels",
                                            "gupta-2025-f3fs figure 8",
                                            FIGURE_RESULTS,
                                            900,
                                            480,
                                            fairness};
const struct figure figure_dram_throughput = {"dram-throughput",
                                              "system throughput by policy, MEM and PIM shares stacked",
                                              "gupta-2025-f3fs figure 8",
                                              FIGURE_RESULTS,
                                              1000,
                                              520,
                                              throughput};
const struct figure figure_dram_switches = {
    "dram-switches", "mode switches by policy", "gupta-2025-f3fs figure 10", FIGURE_RESULTS, 900, 480, switches};
const struct figure figure_dram_sensitivity = {"dram-sensitivity",
                                               "fairness and throughput over a cap or a window",
                                               "gupta-2025-f3fs section VII",
                                               FIGURE_RESULTS,
                                               800,
                                               480,
                                               sensitivity};
const struct figure figure_dram_ablation = {
    "dram-ablation", "fairness and throughput step by step", "gupta-2025-f3fs figure 14", FIGURE_RESULTS, 800, 480,
    ablation};
const struct figure figure_dram_character = {"dram-character",
                                             "each kernel alone: arrival rates, parallelism, hit ratio",
                                             "gupta-2025-f3fs figure 4",
                                             FIGURE_RESULTS,
                                             1100,
                                             800,
                                             character};
const struct figure figure_dram_llm = {"dram-llm",
                                       "collaborative language model: speed-up by policy",
                                       "gupta-2025-f3fs figure 11",
                                       FIGURE_RESULTS,
                                       900,
                                       480,
                                       llm};
