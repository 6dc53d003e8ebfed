/* Figures of PCIe captures: packets by type and size, and the latency of reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/report/chart.h"
#include "replay/report/tlp_sizes.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

/* More bars than this could not be told apart: sizes then share bars by powers of two. */
enum { MOST_BARS = 36, MOST_DIRECTIONS = 6, CURVE_POINTS = 1000, MOST_LABEL = 64 };

struct bar {
    char label[MOST_LABEL];
    double count[MOST_DIRECTIONS + 1]; /* the last: all other directions */
};

struct bars {
    struct bar *rows;
    size_t count, cap;
    char directions[MOST_DIRECTIONS][48];
    size_t direction_count;
    bool others;
};

/* --- sizes --- */

static size_t direction_of(struct bars *b, const char *name)
{
    for (size_t i = 0; i < b->direction_count; i++)
        if (strncmp(b->directions[i], name, sizeof b->directions[i] - 1) == 0)
            return i;
    if (b->direction_count == MOST_DIRECTIONS) {
        b->others = true;
        return MOST_DIRECTIONS;
    }
    (void)snprintf(b->directions[b->direction_count], sizeof b->directions[0], "%s", name);
    return b->direction_count++;
}

static void label_of(char *label, const char *type, int64_t size, bool grouped)
{
    if (!grouped || size < 2) {
        (void)snprintf(label, MOST_LABEL, "%s %lld", type, (long long)size);
        return;
    }
    int64_t low = 1;
    while (low * 2 <= size)
        low *= 2;
    (void)snprintf(label, MOST_LABEL, "%s %lld-%lld", type, (long long)low, (long long)(2 * low - 1));
}

static int add_bar(struct bars *b, const json_t *row, bool grouped, struct err *err)
{
    char label[MOST_LABEL];
    label_of(label, json_string_value(json_object_get(row, "type")),
             json_integer_value(json_object_get(row, "size_bytes")), grouped);
    size_t i = 0, d = direction_of(b, json_string_value(json_object_get(row, "direction")));
    while (i < b->count && strcmp(b->rows[i].label, label) != 0)
        i++;
    if (i == b->count) {
        if (MEM_ADD(b->rows, b->count, b->cap, err, (struct bar){.label = ""}))
            return -1;
        memcpy(b->rows[i].label, label, sizeof label);
    }
    b->rows[i].count[d] += (double)json_integer_value(json_object_get(row, "count"));
    return 0;
}

/* Bars of types and sizes, a part of each for every sender. */
static int write_bars(const struct figure_input *input, const struct bars *b, FILE *script, struct err *err)
{
    const size_t columns = b->direction_count + b->others;
    char senders[MOST_DIRECTIONS + 1][80], *series[MOST_DIRECTIONS + 1];
    char **names = mem_zalloc(b->count, sizeof *names, err);
    struct chart chart;
    for (size_t d = 0; d < columns; d++) {
        (void)snprintf(senders[d], sizeof senders[d], "from %s", d < b->direction_count ? b->directions[d] : "others");
        series[d] = senders[d];
    }
    for (size_t i = 0; names && i < b->count; i++)
        names[i] = b->rows[i].label;
    if (!names || chart_init(&chart, NULL, names, b->count, series, columns, err)) {
        free((void *)names);
        return -1;
    }
    for (size_t i = 0; i < b->count; i++)
        for (size_t d = 0; d < columns; d++) {
            const double n = b->rows[i].count[d < b->direction_count ? d : MOST_DIRECTIONS];
            if (n > 0)
                chart.bars[i * columns + d] = (struct chart_bar){true, n, n, n};
        }
    chart.stacked = true;
    chart.labels = "type and size (bytes)";
    plot_title(input, script, "PCIe packets by type, size and sender", input->path);
    (void)fputs("set ylabel 'packets (count)'\n", script);
    chart_write(input, script, &chart);
    (void)fputc('\n', script);
    chart_release(&chart);
    free((void *)names);
    return 0;
}

static int write_sizes(const struct figure_input *input, FILE *script, struct err *err)
{
    json_t *root = json_object(), *row;
    struct bars *b = mem_zalloc(1, sizeof *b, err);
    int rc = b && tlp_sizes_json(input->store, &root, err) == 0 ? json_tree_check(root, err) : -1;
    json_t *rows = json_object_get(root, "tlp_histogram");
    if (rc == 0 && json_array_size(rows) == 0)
        rc = err_set(err, "%s holds no PCIe packets", input->path);
    size_t i;
    if (rc == 0)
        json_array_foreach(rows, i, row) rc |= add_bar(b, row, json_array_size(rows) > MOST_BARS, err);
    if (rc == 0)
        rc = write_bars(input, b, script, err);
    if (b)
        free(b->rows);
    free(b);
    json_decref(root);
    return rc;
}

const struct figure figure_tlp_sizes = {
    .name = "tlp-sizes",
    .summary = "PCIe packets of a capture by type, size and sender",
    .needs = "a capture of PCIe packets",
    .source = "ours",
    .kinds = FIGURE_TRACE,
    .width = 900,
    .height = 480,
    .write = write_sizes,
};

/* --- latency --- */

struct curve {
    FILE *script;
    double all, drawn;
};

static void write_point(void *ctx, int64_t value, uint64_t at_or_below)
{
    struct curve *c = ctx;
    double share = (double)at_or_below / c->all;
    if (share - c->drawn < 1.0 / CURVE_POINTS && at_or_below < (uint64_t)c->all && c->drawn > 0)
        return;
    c->drawn = share;
    (void)fprintf(c->script, "%.6g %.6g\n", (double)value / 1e3, share);
}

static int write_latency(const struct figure_input *input, FILE *script, struct err *err)
{
    struct quantile *q = tlp_sizes_latency(input->store, err);
    if (!q)
        return -1;
    if (quantile_count(q) == 0) {
        quantile_free(q);
        return err_set(err, "%s holds no completed reads", input->path);
    }
    struct curve curve = {script, (double)quantile_count(q), 0};
    (void)fprintf(script, "$latency << EOD\n%.6g 0\n", (double)quantile_at(q, 0) / 1e3);
    quantile_walk(q, write_point, &curve);
    (void)fprintf(script, "EOD\n");
    const double most = (double)quantile_at(q, 1) / 1e3;
    for (int i = 1; i <= 3; i++) { /* below the curve, or above it where that would leave the plot */
        double at = (double)quantile_at(q, 0.25 * i) / 1e3;
        (void)fprintf(script,
                      "set arrow from %.6g, graph 0 to %.6g, graph 1 nohead dashtype 3 linecolor rgb '#888888'\n"
                      "set label '%d %%: %.4g us' at %.6g, %.2f %s point pointtype 7 offset %s\n",
                      at, at, 25 * i, at, at, 0.25 * i, 2 * at < most ? "left" : "right",
                      2 * at < most ? "0.8,-0.5" : "-0.8,0.5");
    }
    char common[80];
    (void)snprintf(common, sizeof common, "%.0f reads, from request to last completion", curve.all);
    plot_title(input, script, "Latency of PCIe reads", common);
    (void)fprintf(script,
                  "set xlabel 'latency (us)'\nset ylabel 'share of reads no slower (ratio)'\nset xrange [0:%.6g]\n"
                  "set yrange [0:1]\nset key off\nplot $latency using 1:2 with steps linetype 1 notitle\n",
                  most > 0 ? most * 1.05 : 1);
    quantile_free(q);
    return 0;
}

const struct figure figure_tlp_latency = {
    .name = "tlp-latency",
    .summary = "how long the reads of a PCIe capture took, with quartiles",
    .needs = "a capture with reads and completions",
    .source = "ours",
    .kinds = FIGURE_TRACE,
    .width = 800,
    .height = 480,
    .write = write_latency,
};
