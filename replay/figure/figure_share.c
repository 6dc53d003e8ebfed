/* Figures pcie-share (bandwidth over the share of a GPU's multiprocessors) and legacy-runs (what copying back in longer
 * runs would have saved before demand paging). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "replay/figure/chart.h"
#include "replay/figure/figures.h"
#include "trace/base/mem.h"

/* The points of one case under one policy, with their intervals; returns how many. */
static size_t share_curve(FILE *script, const struct case_table *table, size_t row, size_t series)
{
    size_t points = 0;
    for (size_t i = 0; i < table->set->count; i++) {
        struct chart_bar rate;
        if (table->row_of[i] != row || table->series_of[i] != series || table->twice[i] ||
            strcmp(table->apart[i], "-") == 0 || !chart_take(&rate, &table->set->runs[i], "bandwidth_bytes_per_s", 1e9))
            continue;
        if (!points++)
            (void)fprintf(script, "$c%zu << EOD\n", row * table->series + series);
        (void)fprintf(script, "%.9g %.6g %.6g %.6g\n", strtod(table->apart[i], NULL), rate.value, rate.lo, rate.hi);
    }
    (void)fputs(points ? "EOD\n" : "", script);
    return points;
}

/* The policy, and the case where there are several. */
static char *share_title(const struct case_table *table, size_t row, size_t series)
{
    char *title = NULL;
    const bool several = table->rows > 1;
    if (asprintf(&title, "%s%s%s", table->series_labels[series], several ? ": " : "",
                 several ? table->row_labels[row] : "") < 0)
        title = NULL;
    return title;
}

static void share_plot(const struct figure_input *input, FILE *script, const struct case_table *table,
                       const struct style *styles, const size_t *of)
{
    const size_t curves = table->rows * table->series;
    size_t n = 0, longest = 0;
    for (size_t c = 0; c < curves; c++) {
        char *title = share_title(table, c / table->series, c % table->series);
        longest = title && strlen(title) > longest ? strlen(title) : longest;
        n += of[c] > 0;
        free(title);
    }
    plot_legend(input, n, longest);
    (void)fputs("plot ", script);
    for (size_t c = 0, drawn = 0; c < curves; c++) {
        const struct style *style = &styles[c % table->series];
        if (!of[c])
            continue;
        char *title = share_title(table, c / table->series, c % table->series);
        (void)fprintf(
            script,
            "%s$c%zu using 1:2:3:4 with yerrorlines linecolor rgb '#%06X' linewidth 2.5 dashtype %d pointtype %d "
            "title ",
            drawn++ ? ", " : "", c, style->colour, style->dash, style_line(c).point);
        plot_quote(script, title ? title : "");
        free(title);
    }
    (void)fputc('\n', script);
}

static int share_curves(const struct figure_input *input, const struct case_table *table, FILE *script, struct err *err)
{
    const size_t curves = table->rows * table->series;
    size_t points = 0, runs = 0, *of = mem_zalloc(curves, sizeof *of, err);
    struct style *styles = mem_zalloc(table->series, sizeof *styles, err);
    for (size_t c = 0; of && styles && c < curves; c++)
        points += of[c] = share_curve(script, table, c / table->series, c % table->series);
    for (size_t i = 0; i < table->set->count; i++)
        runs += !table->twice[i];
    plot_note_missing(input, runs - points, "they have no sm_share_pct or no bandwidth");
    if (points) {
        style_policies("zerocopy", table->series_labels, table->series, styles);
        plot_title_runs(script, "Bandwidth over the share of the multiprocessors", table->set);
        (void)fputs("set xlabel 'share of the multiprocessors (%)'\nset ylabel 'useful bytes per time (GB/s)'\n"
                    "set yrange [0:*]\nset xrange [0:100]\n",
                    script);
        share_plot(input, script, table, styles, of);
    }
    const bool good = of && styles;
    free(of);
    free(styles);
    if (!good)
        return -1;
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
    rc = rc || case_table_make(&table, &runs, "sm_share_pct", err) || style_sort(&table, err) ||
                 share_curves(input, &table, script, err)
             ? -1
             : 0;
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
    char common[200];
    (void)snprintf(common, sizeof common, "%.100s; its own run: %lld pages", platform_name(platform), (long long)own);
    (void)fputs("EOD\n", script);
    plot_title(script, "Managed memory of old: 16 MiB back by CPU faults", common);
    plot_legend(input, 3, 20);
    (void)fprintf(
        script,
        "set logscale x 2\nset xlabel 'brought back by one CPU fault (pages)'\n"
        "set ylabel 'bandwidth (GB/s)'\nset yrange [0:*]\n"
        "plot $d with linespoints linetype 1 title 'copy-back', %.6g with lines title 'block copy' linetype 4, "
        "%.6g with lines title 'mapped pinned memory' linetype 2 dashtype 2\n",
        hw.copy_back_bytes_per_s / 1e9, hw.mapped_bytes_per_s / 1e9);
    platform_free(platform);
    return 0;
}

const struct figure figure_pcie_share = {
    .name = "pcie-share",
    .summary = "bandwidth over the share of the multiprocessors that read",
    .needs = "zerocopy runs of several sm_share_pct",
    .source = "Min 2022, section 3.3.4",
    .kinds = FIGURE_RESULTS,
    .width = 800,
    .height = 480,
    .write = share,
    .engine = "zerocopy",
};
const struct figure figure_legacy_runs = {
    .name = "legacy-runs",
    .summary = "managed memory of old: copy-back rate over pages per CPU fault",
    .needs = "a platform with [legacy]: gm200, gp100",
    .source = "Wilt 2017: the what-if it asks for",
    .kinds = FIGURE_SPEC,
    .width = 800,
    .height = 480,
    .write = legacy_runs,
};
