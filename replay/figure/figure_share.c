/* Figures pcie-share (bandwidth over the share of a GPU's multiprocessors) and legacy-runs (what copying back in longer
 * runs would have saved before demand paging). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "replay/figure/figures.h"
#include "trace/base/mem.h"

/* The points of one case under one policy; returns how many. */
static size_t share_curve(FILE *script, const struct case_table *table, size_t row, size_t series)
{
    size_t points = 0;
    for (size_t i = 0; i < table->set->count; i++) {
        double rate;
        if (table->row_of[i] != row || table->series_of[i] != series || table->twice[i] ||
            strcmp(table->apart[i], "-") == 0 || !run_metric(&table->set->runs[i], "bandwidth_bytes_per_s", &rate))
            continue;
        if (!points++)
            (void)fprintf(script, "$c%zu << EOD\n", row * table->series + series);
        (void)fprintf(script, "%.9g %.6g\n", strtod(table->apart[i], NULL), rate / 1e9);
    }
    (void)fputs(points ? "EOD\n" : "", script);
    return points;
}

/* The policy, and the case where there are several. */
static void share_title(FILE *script, const struct case_table *table, size_t row, size_t series)
{
    char *title = NULL;
    const bool several = table->rows > 1;
    if (asprintf(&title, "%s%s%s", table->series_labels[series], several ? ": " : "",
                 several ? table->row_labels[row] : "") < 0)
        title = NULL;
    plot_quote(script, title ? title : "");
    free(title);
}

static int share_curves(const struct figure_input *input, const struct case_table *table, FILE *script, struct err *err)
{
    const size_t curves = table->rows * table->series;
    size_t points = 0, runs = 0, *of = mem_zalloc(curves, sizeof *of, err);
    if (!of)
        return -1;
    for (size_t c = 0; c < curves; c++)
        points += of[c] = share_curve(script, table, c / table->series, c % table->series);
    for (size_t i = 0; i < table->set->count; i++)
        runs += !table->twice[i];
    plot_note_missing(input, runs - points, "they have no sm_share_pct or no bandwidth");
    (void)fprintf(script, "set title 'Bandwidth over the share of the multiprocessors'\nset xlabel '%% of the "
                          "multiprocessors'\nset ylabel 'useful GB/s'\nset yrange [0:*]\nset xrange [0:100]\n"
                          "set key bottom right\nplot ");
    for (size_t c = 0, n = 0; c < curves; c++)
        if (of[c]) {
            (void)fprintf(script, "%s$c%zu using 1:2 with linespoints title ", n++ ? ", " : "", c);
            share_title(script, table, c / table->series, c % table->series);
        }
    (void)fputc('\n', script);
    free(of);
    return points < 2 ? err_set(err, "no runs with sm_share_pct; make some with --grid sm_share_pct=2:100:7") : 0;
}

static int by_share(const void *a, const void *b)
{
    char x[64], y[64];
    const char *of_a = run_key(a, "sm_share_pct", x, sizeof x), *of_b = run_key(b, "sm_share_pct", y, sizeof y);
    const double p = of_a ? strtod(of_a, NULL) : 0, q = of_b ? strtod(of_b, NULL) : 0;
    return (p > q) - (p < q);
}

static int share(const struct figure_input *input, FILE *script, struct err *err)
{
    struct run_set runs = {0};
    struct case_table table = {0};
    int rc = run_set_add_engine(&runs, input->runs, "zerocopy", err);
    if (!rc)
        qsort(runs.runs, runs.count, sizeof *runs.runs, by_share);
    rc = rc || case_table_make(&table, &runs, "sm_share_pct", err) || share_curves(input, &table, script, err) ? -1 : 0;
    case_table_release(&table);
    run_set_release(&runs);
    return rc;
}

static int legacy_runs(const struct figure_input *input, FILE *script, struct err *err)
{
    struct platform *platform = platform_load(input->path, err);
    if (!platform)
        return -1;
    if (!platform_has(platform, "legacy")) {
        platform_free(platform);
        return err_set(err, "platform '%.60s' has no [legacy] numbers; try gm200 or gp100", input->path);
    }
    struct legacy_platform hw = *(const struct legacy_platform *)platform_section_get(platform, "legacy");
    static const int64_t pages = 4096; /* 16 MiB, the largest row of the published tables */
    int64_t own = hw.run_pages;
    (void)fputs("$d << EOD\n", script);
    for (hw.run_pages = 1; hw.run_pages <= 512; hw.run_pages *= 2) {
        struct legacy_cost c;
        legacy_launch(&hw, pages, LEGACY_WRITE, &c);
        (void)fprintf(script, "%lld %.6g\n", (long long)hw.run_pages,
                      (double)c.d2h_bytes / (c.fault_ns + c.copy_back_ns));
    }
    (void)fputs("EOD\nset title \"Copying 16 MiB back by CPU faults, \".", script);
    plot_quote(script, platform_name(platform));
    (void)fprintf(script,
                  ".\" (its own run: %lld pages)\"\nset logscale x 2\n"
                  "set xlabel 'pages that one CPU fault brings back'\nset ylabel 'GB/s'\nset yrange [0:*]\n"
                  "set key bottom right\n"
                  "plot $d with linespoints title 'copy-back', %.6g title 'block copy' linetype 2, %.6g title "
                  "'mapped pinned memory' linetype 3 dashtype 2\n",
                  (long long)own, hw.copy_back_bytes_per_s / 1e9, hw.mapped_bytes_per_s / 1e9);
    platform_free(platform);
    return 0;
}

const struct figure figure_pcie_share = {"pcie-share",
                                         "bandwidth over the share of the multiprocessors that read",
                                         "Min 2022, section 3.3.4",
                                         FIGURE_RESULTS,
                                         800,
                                         480,
                                         share,
                                         "zerocopy"};
const struct figure figure_legacy_runs = {"legacy-runs",
                                          "managed memory of old: copy-back rate over pages per CPU fault",
                                          "Wilt 2017: the what-if it asks for",
                                          FIGURE_SPEC,
                                          800,
                                          480,
                                          legacy_runs,
                                          NULL};
