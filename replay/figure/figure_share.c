/* Figures pcie-share (bandwidth over the share of a GPU's multiprocessors) and legacy-runs (what copying back in longer
 * runs would have saved before demand paging). */
#include <stdlib.h>
#include <string.h>

#include "models/uvm/legacy.h"
#include "replay/figure/figures.h"

/* Whether run i is the first with its policy. */
static bool first_of_policy(const struct run_set *runs, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(runs->runs[j].policy, runs->runs[i].policy) == 0)
            return false;
    return true;
}

static int share(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct run_set *runs = input->runs;
    size_t curves = 0, points = 0;
    char plot[4096] = "";
    for (size_t i = 0; i < runs->count; i++) {
        if (!first_of_policy(runs, i))
            continue;
        (void)fprintf(script, "$c%zu << EOD\n", curves);
        for (size_t j = i; j < runs->count; j++) {
            char pct[64];
            double rate;
            if (strcmp(runs->runs[j].policy, runs->runs[i].policy) == 0 &&
                run_key(&runs->runs[j], "sm_share_pct", pct, sizeof pct) &&
                run_metric(&runs->runs[j], "bandwidth_bytes_per_s", &rate)) {
                (void)fprintf(script, "%s %.6g\n", pct, rate / 1e9);
                points++;
            }
        }
        (void)fputs("EOD\n", script);
        size_t used = strlen(plot);
        (void)snprintf(plot + used, sizeof plot - used, "%s$c%zu using 1:2 smooth unique with linespoints title '%s'",
                       curves ? ", " : "", curves, runs->runs[i].policy);
        curves++;
    }
    if (points < 2)
        return err_set(err, "no runs with sm_share_pct; make some with --grid sm_share_pct=2:100:7");
    (void)fprintf(
        script,
        "set title 'Bandwidth over the share of the multiprocessors'\nset xlabel '%% of the multiprocessors'\n"
        "set ylabel 'useful GB/s'\nset yrange [0:*]\nset xrange [0:100]\nset key bottom right\nplot %s\n",
        plot);
    return 0;
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
    (void)fprintf(script,
                  "EOD\nset title 'Copying 16 MiB back by CPU faults, %s (its own run: %lld pages)'\nset logscale x 2\n"
                  "set xlabel 'pages that one CPU fault brings back'\nset ylabel 'GB/s'\nset yrange [0:*]\n"
                  "set key bottom right\n"
                  "plot $d with linespoints title 'copy-back', %.6g title 'block copy' linetype 2, %.6g title "
                  "'mapped pinned memory' linetype 3 dashtype 2\n",
                  platform_name(platform), (long long)own, hw.copy_back_bytes_per_s / 1e9, hw.mapped_bytes_per_s / 1e9);
    platform_free(platform);
    return 0;
}

const struct figure figure_pcie_share = {"pcie-share",
                                         "bandwidth over the share of the multiprocessors that read",
                                         "Min 2022, section 3.3.4",
                                         FIGURE_RESULTS,
                                         800,
                                         480,
                                         share};
const struct figure figure_legacy_runs = {"legacy-runs",
                                          "managed memory of old: copy-back rate over pages per CPU fault",
                                          "Wilt 2017: the what-if it asks for",
                                          FIGURE_SPEC,
                                          800,
                                          480,
                                          legacy_runs};
