/* Figure dram-pairs: what each pair of inputs does to each other: fairness above, system throughput below, a cluster
 * for each case, a bar for each policy. Where figures dram-fairness and dram-throughput aggregate over inputs, this one
 * sets them side by side: one kernel whose data is there, comes over the link, or stays with the CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"

enum { WIDTH = 1000, HEIGHT = 720, COLOURS = 8 /* of the common style: further policies are hatched */ };

struct panel {
    const char *metric, *axis;
};

/* What rows differ in, as "resident.db": what all have in common is left to the caption. */
static void put_label(FILE *script, const struct case_table *cases, size_t row)
{
    char label[256] = "";
    for (size_t k = 0; k < cases->key_count; k++) {
        const char *text = cases->texts[row * cases->key_count + k];
        const size_t used = strlen(label);
        if (*text)
            (void)snprintf(label + used, sizeof label - used, "%s%s", used ? " " : "", text);
    }
    plot_quote(script, *label ? label : cases->row_labels[row]);
}

/* Row label, then a column for each policy; a starved run has no throughput. Returns how many values there are. */
static size_t put_data(FILE *script, const struct case_table *cases, const struct panel *panel, int number)
{
    size_t known = 0;
    (void)fprintf(script, "$d%d << EOD\n", number);
    for (size_t row = 0; row < cases->rows; row++) {
        put_label(script, cases, row);
        for (size_t s = 0; s < cases->series; s++) {
            const struct run *run = case_table_cell(cases, row, s);
            double value;
            if (run && run_metric(run, panel->metric, &value)) {
                (void)fprintf(script, " %.9g", value);
                known++;
            } else {
                (void)fputs(" NaN", script);
            }
        }
        (void)fputc('\n', script);
    }
    (void)fputs("EOD\n", script);
    return known;
}

static void put_plot(FILE *script, const struct case_table *cases, const struct panel *panel, int number)
{
    (void)fprintf(script, "set ylabel '%s'\nplot ", panel->axis);
    for (size_t s = 0; s < cases->series; s++) {
        (void)fprintf(script, "%s$d%d using %zu:xtic(1) title ", s ? ", " : "", number, s + 2);
        plot_quote(script, cases->series_labels[s]);
        (void)fprintf(script, " linetype %zu", s % COLOURS + 1);
        if (s >= COLOURS)
            (void)fputs(" fillstyle pattern 4 border -1", script);
    }
    (void)fputc('\n', script);
}

static int pairs(const struct figure_input *input, FILE *script, struct err *err)
{
    static const struct panel panels[] = {{"fairness_index", "fairness index (0: a side starved)"},
                                          {"system_throughput", "throughput (sum of speed-ups)"}};
    const struct case_table *cases = input->cases;
    const size_t most = cases->rows * cases->series;
    size_t known[2];
    for (int i = 0; i < 2; i++)
        known[i] = put_data(script, cases, &panels[i], i);
    if (!known[0])
        return err_set(err, "no run of the dram engine has a fairness: expected pairs of inputs");
    if (known[1] < most)
        plot_note_missing(input, most - known[1], "system throughput (a side starved, or there is but one)");
    (void)fputs("set multiplot layout 2,1\nset style data histograms\nset style histogram clustered gap 1\n"
                "set style fill solid 0.9 border -1\nset boxwidth 0.9\nset yrange [0:*]\n"
                "set key outside right top\n",
                script);
    if (cases->rows > 4)
        (void)fputs("set xtics rotate by -20\n", script);
    for (int i = 0; i < 2; i++)
        put_plot(script, cases, &panels[i], i);
    (void)fputs("unset multiplot\n", script);
    return 0;
}

const struct figure figure_dram_pairs = {"dram-pairs", "each pair of inputs by policy: fairness and throughput",
                                         "ours",       FIGURE_RESULTS,
                                         WIDTH,        HEIGHT,
                                         pairs,        "dram"};
