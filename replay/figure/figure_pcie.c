/* Figures of the zero-copy engine from results: what crossed the link, case by case. A case is an input on a platform
 * with its settings; bars of one case are its policies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "trace/base/mem.h"

/* Whether any run of a policy has a metric. */
static bool any_has(const struct case_table *cases, size_t policy, const char *metric)
{
    double v;
    for (size_t c = 0; c < cases->rows; c++) {
        const struct run *run = case_table_cell(cases, c, policy);
        if (run && run_metric(run, metric, &v))
            return true;
    }
    return false;
}

/* One row of bars under the case's label: the policies kept, NaN where a run has no such number. */
static void put_case(FILE *script, const struct case_table *cases, size_t c, const bool *keep, const char *metric,
                     double unit, size_t *missing)
{
    (void)fputc('\n', script);
    plot_quote(script, cases->row_labels[c]);
    for (size_t p = 0; p < cases->series; p++) {
        double v;
        const struct run *run = case_table_cell(cases, c, p);
        const bool known = run && run_metric(run, metric, &v);
        *missing += run && !known;
        if (keep[p] && known)
            (void)fprintf(script, " %.9g", v / unit);
        else if (keep[p])
            (void)fprintf(script, " NaN");
    }
}

/* A metric by case and policy as clustered bars. Policies of which no run has it are left out. */
static int clustered(const struct figure_input *input, FILE *script, const char *metric, double unit,
                     const char *ylabel, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t shown = 0, missing = 0;
    bool *keep = mem_zalloc(cases->series, sizeof *keep, err);
    if (!keep)
        return -1;
    (void)fprintf(script, "$d << EOD\ncase");
    for (size_t p = 0; p < cases->series; p++) {
        if (!(keep[p] = any_has(cases, p, metric)))
            continue;
        shown++;
        (void)fputc(' ', script);
        plot_quote(script, cases->series_labels[p]);
    }
    for (size_t c = 0; c < cases->rows; c++)
        put_case(script, cases, c, keep, metric, unit, &missing);
    free(keep);
    (void)fprintf(script,
                  "\nEOD\nset style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\nset ylabel '%s'\n"
                  "set xtics rotate by -25 font ',9'\nset key outside right top\n"
                  "plot for [i=2:%zu] $d using i:xtic(1) title columnheader(i) linetype i-1\n",
                  ylabel, shown + 1);
    plot_note_missing(input, missing, metric);
    return shown ? 0 : err_set(err, "no run of the zerocopy engine has %s", metric);
}

/* The label of a run's bar: "merged: bfs kron". */
static void put_label(FILE *script, const struct case_table *cases, size_t run)
{
    char *label = NULL;
    if (asprintf(&label, "%s: %s", cases->series_labels[cases->series_of[run]], cases->row_labels[cases->row_of[run]]) <
        0)
        label = NULL;
    plot_quote(script, label ? label : "");
    free(label);
}

/* One bar or group of bars for each run: columns of numbers under a label "policy: case". */
static int by_run(const struct figure_input *input, FILE *script, const char *const *metrics, size_t n, double unit,
                  const char *total, const char *workload, struct err *err)
{
    const struct case_table *cases = input->cases;
    size_t rows = 0, missing = 0;
    for (size_t i = 0; i < cases->set->count; i++) {
        const struct run *run = &cases->set->runs[i];
        char name[128];
        double all = unit, v[4];
        bool known = (!total || run_metric(run, total, &all)) && all > 0;
        for (size_t m = 0; m < n && known; m++)
            known = run_metric(run, metrics[m], &v[m]);
        if (cases->twice[i])
            continue;
        if (!known || (workload && strcmp(run_workload(run, name, sizeof name), workload) != 0)) {
            missing++;
            continue;
        }
        (void)fputs(rows++ ? "" : "$d << EOD\n", script);
        put_label(script, cases, i);
        for (size_t m = 0; m < n; m++)
            (void)fprintf(script, " %.9g", v[m] / all);
        (void)fputc('\n', script);
    }
    (void)fputs(rows ? "EOD\n" : "", script);
    plot_note_missing(input, missing, workload ? "they are of other workloads, or lack its metrics" : metrics[0]);
    return rows ? 0 : err_set(err, "no run of the zerocopy engine has %s", metrics[0]);
}

static int toy(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"link_bytes_per_s", "host_dram_bytes_per_s"};
    if (by_run(input, script, metrics, 2, 1e9, NULL, "array", err))
        return err_at(err, "replay zerocopy synth:array,... makes what this figure shows");
    (void)fprintf(script, "set style data histograms\nset style histogram clustered gap 1\n"
                          "set style fill solid 0.9 border -1\nset yrange [0:*]\nset ylabel 'GB/s'\n"
                          "set xtics rotate by -25 font ',9'\n"
                          "plot $d using 2:xtic(1) title 'PCIe' linetype 1, $d using 3 title 'host DRAM' linetype 2\n");
    return 0;
}

static int sizes(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"requests_32", "requests_64", "requests_96", "requests_128"};
    if (by_run(input, script, metrics, 4, 1, "requests", NULL, err))
        return -1;
    (void)fprintf(script,
                  "set style data histograms\nset style histogram rowstacked\n"
                  "set style fill solid 0.9 border -1\nset boxwidth 0.8\nset yrange [0:1]\n"
                  "set ylabel 'share of requests'\nset xtics rotate by -25 font ',9'\nset key outside right top\n"
                  "plot for [i=2:5] $d using i:xtic(1) title word('32 64 96 128', i-1).' B' linetype i-1\n");
    return 0;
}

static int requests(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "requests", 1e6, "million requests", err);
}

static int bandwidth(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "link_bytes_per_s", 1e9, "GB/s over the link", err);
}

static int amplification(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "read_amplification_ratio", 1, "bytes read / bytes of the structure", err);
}

static int speedup(const struct figure_input *input, FILE *script, struct err *err)
{
    return clustered(input, script, "speedup_ratio", 1, "speed-up", err);
}

#define PCIE_FIGURE(VARIABLE, NAME, SUMMARY, SOURCE, WRITE)                                                            \
    const struct figure VARIABLE = {NAME, SUMMARY, SOURCE, FIGURE_RESULTS, 900, 480, WRITE, "zerocopy"}

PCIE_FIGURE(figure_pcie_toy, "pcie-toy", "PCIe and host DRAM bandwidth of the toy patterns", "dissertation, figure 2.5",
            toy);
PCIE_FIGURE(figure_pcie_sizes, "pcie-sizes", "shares of PCIe read requests by size", "dissertation, figure 2.6", sizes);
PCIE_FIGURE(figure_pcie_requests, "pcie-requests", "PCIe read requests by policy", "dissertation, figure 2.8",
            requests);
PCIE_FIGURE(figure_pcie_bandwidth, "pcie-bandwidth", "bandwidth over the link by policy", "dissertation, figure 2.9",
            bandwidth);
PCIE_FIGURE(figure_pcie_amplification, "pcie-amplification", "read amplification by policy",
            "dissertation, figure 2.11", amplification);
PCIE_FIGURE(figure_pcie_speedup, "pcie-speedup", "speed-up by policy", "dissertation, figures 2.10 and 2.12", speedup);
