/* Figures of the zero-copy engine from results: what crossed the link, case by case. A case is an input on a platform
 * with its settings; bars of one case are its policies. */
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "trace/base/mem.h"

/* What a chart shows of a metric. */
struct shown {
    const char *title, *axis;
    const char *metric;
    double unit;
};

/* "speed-up over tree (ratio)": of what all cases are relative to. */
static void put_axis(FILE *script, const struct case_table *cases, const struct shown *shown)
{
    const char *over = NULL;
    bool one = strcmp(shown->metric, "speedup_ratio") == 0;
    for (size_t c = 0; c < cases->rows && one; c++) {
        const struct run *base = case_table_baseline(cases, c);
        one = base && (!over || strcmp(base->policy, over) == 0);
        over = base ? base->policy : NULL;
    }
    (void)fputs("set ylabel \"\".", script);
    plot_quote(script, strcmp(shown->metric, "speedup_ratio") != 0 ? shown->axis
                       : one                                       ? "speed-up over "
                                                                   : "speed-up over the baseline (ratio)");
    if (one && over) {
        (void)fputc('.', script);
        plot_quote(script, over);
        (void)fputs(".\" (ratio)\"", script);
    }
    (void)fputc('\n', script);
}

/* A metric by case and policy as clustered bars. */
static int clustered(const struct figure_input *input, FILE *script, const struct shown *shown, struct err *err)
{
    const struct case_table *cases = input->cases;
    struct chart chart;
    size_t known = 0, missing = 0;
    if (chart_init(&chart, "zerocopy", cases->row_labels, cases->rows, cases->series_labels, cases->series, err))
        return -1;
    for (size_t c = 0; c < cases->rows; c++)
        for (size_t p = 0; p < cases->series; p++) {
            struct chart_bar *bar = &chart.bars[c * cases->series + p];
            const bool took = chart_take(bar, case_table_cell(cases, c, p), shown->metric, shown->unit);
            known += took;
            missing += bar->run && !took;
        }
    plot_note_missing(input, missing, shown->metric);
    plot_note_unbound(input, shown->metric);
    if (known) {
        chart.labels = "case";
        plot_title_runs(script, shown->title, cases->set);
        put_axis(script, cases, shown);
        chart_write(input, script, &chart);
        (void)fputc('\n', script);
    }
    chart_release(&chart);
    return known ? 0 : err_set(err, "no run of the zerocopy engine has %s", shown->metric);
}

/* What a chart of parts shows: a group for each run. */
struct parts {
    const char *title, *axis;
    const char *const *metrics;
    char *const *names;
    size_t n;
    double unit;
    const char *total;    /* what they are parts of; NULL: nothing */
    const char *workload; /* of which alone; NULL: any */
};

static bool parts_of(const struct run *run, const struct parts *parts, struct chart_bar *bars)
{
    char name[128];
    double all = parts->unit;
    bool known = (!parts->total || run_metric(run, parts->total, &all)) && all > 0 &&
                 (!parts->workload || strcmp(run_workload(run, name, sizeof name), parts->workload) == 0);
    for (size_t m = 0; m < parts->n && known; m++)
        known = chart_take(&bars[m], run, parts->metrics[m], all);
    return known;
}

/* "merged: bfs kron" */
static char *run_label(const struct case_table *cases, size_t run)
{
    char *label = NULL;
    if (asprintf(&label, "%s: %s", cases->series_labels[cases->series_of[run]], cases->row_labels[cases->row_of[run]]) <
        0)
        label = NULL;
    return label;
}

static int by_run(const struct figure_input *input, FILE *script, const struct parts *parts, struct err *err)
{
    const struct case_table *cases = input->cases;
    const size_t all = cases->set->count;
    size_t rows = 0, missing = 0;
    char **names = mem_zalloc(all, sizeof *names, err);
    struct chart chart = {0};
    int rc = names ? chart_init(&chart, NULL, names, all, parts->names, parts->n, err) : -1;
    for (size_t s = 0; s < cases->series && !rc; s++) /* in the order of the policies */
        for (size_t i = 0; i < all && !rc; i++) {
            if (cases->twice[i] || cases->series_of[i] != s)
                continue;
            if (!parts_of(&cases->set->runs[i], parts, &chart.bars[rows * parts->n]))
                missing++;
            else if (!(names[rows++] = run_label(cases, i)))
                rc = err_set(err, "out of memory");
        }
    plot_note_missing(input, missing,
                      parts->workload ? "they are of other workloads, or lack its metrics" : parts->metrics[0]);
    if (!rc && rows) {
        chart.groups = rows;
        chart.stacked = parts->total != NULL;
        chart.labels = "policy: case";
        plot_title_runs(script, parts->title, cases->set);
        (void)fprintf(script, "set ylabel '%s'\n", parts->axis);
        chart_write(input, script, &chart);
        (void)fputc('\n', script);
    }
    for (size_t i = 0; names && i < rows; i++)
        free(names[i]);
    free((void *)names);
    chart_release(&chart);
    return rc || rows ? rc : err_set(err, "no run of the zerocopy engine has %s", parts->metrics[0]);
}

static int toy(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"link_bytes_per_s", "host_dram_bytes_per_s"};
    static char pcie[] = "PCIe", dram[] = "host DRAM", *const names[] = {pcie, dram};
    static const struct parts parts = {.title = "Reads of an array in host memory",
                                       .axis = "bandwidth (GB/s)",
                                       .metrics = metrics,
                                       .names = names,
                                       .n = 2,
                                       .unit = 1e9,
                                       .workload = "array"};
    if (by_run(input, script, &parts, err))
        return err_at(err, "replay zerocopy synth:array,... makes what this figure shows");
    return 0;
}

static int sizes(const struct figure_input *input, FILE *script, struct err *err)
{
    static const char *const metrics[] = {"requests_32", "requests_64", "requests_96", "requests_128"};
    static char b32[] = "32 B", b64[] = "64 B", b96[] = "96 B",
                b128[] = "128 B", *const names[] = {b32, b64, b96, b128};
    static const struct parts parts = {.title = "PCIe read requests by size",
                                       .axis = "share of requests (ratio)",
                                       .metrics = metrics,
                                       .names = names,
                                       .n = 4,
                                       .total = "requests"};
    return by_run(input, script, &parts, err);
}

static int requests(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct shown shown = {"PCIe read requests", "requests (millions)", "requests", 1e6};
    return clustered(input, script, &shown, err);
}

static int bandwidth(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct shown shown = {"Bandwidth over the link", "bandwidth (GB/s)", "link_bytes_per_s", 1e9};
    return clustered(input, script, &shown, err);
}

static int amplification(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct shown shown = {"Read amplification", "bytes read / bytes of the structure (ratio)",
                                       "read_amplification_ratio", 1};
    return clustered(input, script, &shown, err);
}

static int speedup(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct shown shown = {"Speed-up of access patterns", "", "speedup_ratio", 1};
    return clustered(input, script, &shown, err);
}

#define PCIE_FIGURE(VARIABLE, NAME, SUMMARY, NEEDS, SOURCE, WRITE)                                                     \
    const struct figure VARIABLE = {.name = (NAME),                                                                    \
                                    .summary = (SUMMARY),                                                              \
                                    .needs = (NEEDS),                                                                  \
                                    .source = (SOURCE),                                                                \
                                    .kinds = FIGURE_RESULTS,                                                           \
                                    .width = 900,                                                                      \
                                    .height = 480,                                                                     \
                                    .write = (WRITE),                                                                  \
                                    .engine = "zerocopy"}

PCIE_FIGURE(figure_pcie_toy, "pcie-toy", "PCIe and host DRAM bandwidth of the toy patterns",
            "zerocopy runs of synth:array", "dissertation, figure 2.5", toy);
PCIE_FIGURE(figure_pcie_sizes, "pcie-sizes", "shares of PCIe read requests by size", "zerocopy runs of patterns",
            "dissertation, figure 2.6", sizes);
PCIE_FIGURE(figure_pcie_requests, "pcie-requests", "PCIe read requests by policy", "zerocopy runs of patterns",
            "dissertation, figure 2.8", requests);
PCIE_FIGURE(figure_pcie_bandwidth, "pcie-bandwidth", "bandwidth over the link by policy", "zerocopy runs",
            "dissertation, figure 2.9", bandwidth);
PCIE_FIGURE(figure_pcie_amplification, "pcie-amplification", "read amplification by policy", "zerocopy runs",
            "dissertation, figure 2.11", amplification);
PCIE_FIGURE(figure_pcie_speedup, "pcie-speedup", "speed-up by policy", "zerocopy runs of two policies",
            "dissertation, figures 2.10 and 2.12", speedup);
