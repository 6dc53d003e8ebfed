/* Figure dram-pairs: what each pair of inputs does to each other: fairness above, system throughput below, a cluster
 * for each case, a bar for each policy. Where figures dram-fairness and dram-throughput aggregate over inputs, this one
 * sets them side by side: one kernel whose data is there, comes over the link, or stays with the CPU. */
#include <stdlib.h>
#include <string.h>

#include "replay/figure/chart.h"
#include "replay/results/case_keys.h"
#include "trace/base/mem.h"

enum { WIDTH = 1000, HEIGHT = 800, PANELS = 2 };

static const struct panel {
    const char *metric, *axis, *block;
} panels[PANELS] = {{"fairness_index", "fairness index\\n(ratio)", "f"},
                    {"system_throughput", "throughput\\n(ratio)", "t"}};

/* What rows differ in, as "resident.db": what all have in common is left to the title. NULL: no memory. */
static char *row_name(const struct case_table *cases, size_t row)
{
    char label[256] = "";
    for (size_t k = 0; k < cases->key_count; k++) {
        const char *text = cases->texts[row * cases->key_count + k];
        const size_t used = strlen(label);
        double number;
        const bool bare = case_keys_number(text, &number);
        if (*text)
            (void)snprintf(label + used, sizeof label - used, "%s%s%s%s", used ? " " : "", bare ? cases->keys[k] : "",
                           bare ? "=" : "", strncmp(text, "synth:", 6) == 0 ? text + 6 : text);
    }
    return mem_strdup(*label ? label : cases->row_labels[row], NULL);
}

/* Fill a panel's bars; a starved run has no throughput. Returns how many values there are. */
static size_t take(struct chart *chart, const struct case_table *cases, const char *metric)
{
    size_t known = 0;
    for (size_t row = 0; row < cases->rows; row++)
        for (size_t s = 0; s < cases->series; s++)
            known += chart_take(&chart->bars[row * cases->series + s], case_table_cell(cases, row, s), metric, 1);
    return known;
}

static int put_panels(const struct figure_input *input, FILE *script, char *const *names, struct err *err)
{
    const struct case_table *cases = input->cases;
    const size_t most = cases->rows * cases->series;
    plot_title_panels(script, "What two sides do to each other", input->runs);
    for (size_t i = 0; i < PANELS; i++) {
        struct chart chart;
        if (chart_init(&chart, "dram", names, cases->rows, cases->series_labels, cases->series, err))
            return -1;
        const size_t known = take(&chart, cases, panels[i].metric);
        if (i && known < most)
            plot_note_missing(input, most - known, "system throughput (a side starved, or there is but one)");
        chart.block = panels[i].block;
        chart.labels = "inputs";
        chart.panel = i;
        chart.panels = PANELS;
        (void)fprintf(script, "unset label\nset ylabel \"%s\"\n", panels[i].axis);
        if (known || i)
            chart_write(input, script, &chart);
        (void)fputc('\n', script);
        chart_release(&chart);
        if (!known && !i)
            return err_set(err, "no run of the dram engine has a fairness: expected pairs of inputs");
    }
    return 0;
}

static int pairs(const struct figure_input *input, FILE *script, struct err *err)
{
    const size_t rows = input->cases->rows;
    char **names = mem_zalloc(rows, sizeof *names, err);
    bool good = names != NULL;
    for (size_t i = 0; good && i < rows; i++)
        good = (names[i] = row_name(input->cases, i)) != NULL;
    int rc = good ? put_panels(input, script, names, err) : err_set(err, "out of memory");
    for (size_t i = 0; names && i < rows; i++)
        free(names[i]);
    free((void *)names);
    return rc;
}

const struct figure figure_dram_pairs = {
    .name = "dram-pairs",
    .summary = "each pair of inputs by policy: fairness and throughput",
    .needs = "dram runs of --mem beside --pim",
    .source = "ours",
    .kinds = FIGURE_RESULTS,
    .width = WIDTH,
    .height = HEIGHT,
    .write = pairs,
    .engine = "dram",
};
