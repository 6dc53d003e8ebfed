/* Figures of the zero-copy engine from results: what crossed the link, case by case. A case is an input on a platform
 * with its settings; bars of one case are its policies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "trace/base/mem.h"

enum { LABEL = 128 };

/* The runs of the zero-copy engine: cases down, policies across. */
struct grid {
    char (*cases)[LABEL];
    char (*policies)[LABEL];
    size_t case_count, policy_count;
    const struct run **cells; /* [case * policy_count + policy]; NULL: no such run */
};

static void grid_release(struct grid *grid)
{
    free(grid->cases);
    free(grid->policies);
    free((void *)grid->cells);
}

static bool differs(const struct run_set *set, const char *key)
{
    char first[LABEL] = "", text[LABEL];
    for (size_t i = 0; i < set->count; i++) {
        const char *value = run_key(&set->runs[i], key, text, sizeof text);
        if (i && strcmp(first, value ? value : "") != 0)
            return true;
        (void)snprintf(first, sizeof first, "%s", value ? value : "");
    }
    return false;
}

/* A path's last part, for labels. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "bfs kron 4 a100": the workload and what else differs. */
static void case_label(const struct run_set *set, const struct run *run, char *label)
{
    static const char *const keys[] = {"graph", "scale", "element",          "bytes",   "chunk", "offset", "row_bytes",
                                       "reuse", "root",  "gpu_memory_ratio", "platform"};
    char text[LABEL];
    size_t used = (size_t)snprintf(label, LABEL, "%s", run_workload(run, text, sizeof text));
    for (size_t k = 0; k < sizeof keys / sizeof *keys && used < LABEL; k++)
        if ((k == 0 || differs(set, keys[k])) && run_key(run, keys[k], text, sizeof text))
            used += (size_t)snprintf(label + used, LABEL - used, " %s", last_part(text));
}

static size_t find_or_add(char (*names)[LABEL], size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    (void)snprintf(names[*count], LABEL, "%s", name);
    return (*count)++;
}

static bool ours(const struct run *run)
{
    return strcmp(run->engine, "zerocopy") == 0;
}

static int grid_make(struct grid *grid, const struct run_set *set, struct err *err)
{
    size_t n = set->count ? set->count : 1;
    *grid = (struct grid){0};
    grid->cases = mem_zalloc(n, sizeof *grid->cases, err);
    grid->policies = mem_zalloc(n, sizeof *grid->policies, err);
    size_t *at = mem_zalloc(n, 2 * sizeof *at, err);
    if (!grid->cases || !grid->policies || !at) {
        free(at);
        grid_release(grid);
        return -1;
    }
    for (size_t i = 0; i < set->count; i++) {
        char label[LABEL];
        if (!ours(&set->runs[i]))
            continue;
        case_label(set, &set->runs[i], label);
        at[2 * i] = find_or_add(grid->cases, &grid->case_count, label);
        at[2 * i + 1] = find_or_add(grid->policies, &grid->policy_count, set->runs[i].policy);
    }
    grid->cells = mem_zalloc(grid->case_count * grid->policy_count + 1, sizeof *grid->cells, err);
    for (size_t i = 0; grid->cells && i < set->count; i++)
        if (ours(&set->runs[i]))
            grid->cells[at[2 * i] * grid->policy_count + at[2 * i + 1]] = &set->runs[i];
    free(at);
    if (grid->cells && grid->case_count)
        return 0;
    int rc = grid->cells ? err_set(err, "the results hold no run of the zerocopy engine") : -1;
    grid_release(grid);
    return rc;
}

/* A metric by case and policy as clustered bars. Policies of which no run has it are left out. */
static int clustered(const struct figure_input *input, FILE *script, const char *metric, double unit,
                     const char *ylabel, struct err *err)
{
    struct grid grid;
    if (grid_make(&grid, input->runs, err))
        return -1;
    size_t shown = 0;
    (void)fprintf(script, "$d << EOD\ncase");
    bool *keep = mem_zalloc(grid.policy_count, sizeof *keep, err);
    for (size_t p = 0; keep && p < grid.policy_count; p++) {
        double v;
        for (size_t c = 0; c < grid.case_count; c++) {
            const struct run *run = grid.cells[c * grid.policy_count + p];
            keep[p] = keep[p] || (run && run_metric(run, metric, &v));
        }
        if (!keep[p])
            continue;
        shown++;
        (void)fputc(' ', script);
        plot_quote(script, grid.policies[p]);
    }
    for (size_t c = 0; keep && c < grid.case_count; c++) {
        (void)fputc('\n', script);
        plot_quote(script, grid.cases[c]);
        for (size_t p = 0; p < grid.policy_count; p++) {
            double v;
            const struct run *run = grid.cells[c * grid.policy_count + p];
            if (keep[p] && run && run_metric(run, metric, &v))
                (void)fprintf(script, " %.9g", v / unit);
            else if (keep[p])
                (void)fprintf(script, " NaN");
        }
    }
    (void)fprintf(script,
                  "\nEOD\nset style data histograms\nset style histogram clustered gap 1\n"
                  "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\nset ylabel '%s'\n"
                  "set xtics rotate by -25 font ',9'\nset key outside right top\n"
                  "plot for [i=2:%zu] $d using i:xtic(1) title columnheader(i) linetype i-1\n",
                  ylabel, shown + 1);
    free(keep);
    grid_release(&grid);
    if (!shown)
        return err_set(err, "no run of the zerocopy engine has %s", metric);
    return 0;
}

/* One bar or group of bars for each run: columns of numbers under a label "case, policy". */
static int by_run(const struct figure_input *input, FILE *script, const char *const *metrics, size_t n, double unit,
                  const char *total, const char *workload, struct err *err)
{
    size_t rows = 0;
    for (size_t i = 0; i < input->runs->count; i++) {
        const struct run *run = &input->runs->runs[i];
        char label[LABEL], name[LABEL];
        double all = unit, v[4];
        bool known = ours(run) && (!total || run_metric(run, total, &all)) && all > 0;
        for (size_t m = 0; m < n && known; m++)
            known = run_metric(run, metrics[m], &v[m]);
        if (!known || (workload && strcmp(run_workload(run, name, sizeof name), workload) != 0))
            continue;
        case_label(input->runs, run, label);
        (void)fputs(rows++ ? "" : "$d << EOD\n", script);
        (void)snprintf(name, sizeof name, "%.20s: %.100s", run->policy, label);
        plot_quote(script, name);
        for (size_t m = 0; m < n; m++)
            (void)fprintf(script, " %.9g", v[m] / all);
        (void)fputc('\n', script);
    }
    (void)fputs(rows ? "EOD\n" : "", script);
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
    const struct figure VARIABLE = {NAME, SUMMARY, SOURCE, FIGURE_RESULTS, 900, 480, WRITE}

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
