/* Figures of PCIe captures: packets by type and size, and the latency of reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figures.h"
#include "replay/info/info_tlp.h"
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
        void *rows = b->rows;
        if (mem_grow(&rows, &b->cap, b->count + 1, sizeof *b->rows, err))
            return -1;
        b->rows = rows;
        memset(&b->rows[b->count++], 0, sizeof *b->rows);
        memcpy(b->rows[i].label, label, sizeof label);
    }
    b->rows[i].count[d] += (double)json_integer_value(json_object_get(row, "count"));
    return 0;
}

static void write_bars(const struct bars *b, FILE *script)
{
    size_t columns = b->direction_count + b->others;
    (void)fprintf(script, "$sizes << EOD\n");
    for (size_t i = 0; i < b->count; i++) {
        plot_quote(script, b->rows[i].label);
        for (size_t d = 0; d < columns; d++)
            (void)fprintf(script, " %.0f", b->rows[i].count[d < b->direction_count ? d : MOST_DIRECTIONS]);
        (void)fputc('\n', script);
    }
    (void)fprintf(script, "EOD\nset title 'PCIe packets by type and size'\nset xlabel 'type and bytes'\n"
                          "set ylabel 'packets'\nset style data histograms\nset style histogram rowstacked\n"
                          "set style fill solid 0.8\nset boxwidth 0.8\nset xtics rotate by -45 noenhanced\n"
                          "set key top right noenhanced\nset yrange [0:*]\nplot ");
    for (size_t d = 0; d < columns; d++) {
        char title[80];
        (void)snprintf(title, sizeof title, "from %s", d < b->direction_count ? b->directions[d] : "others");
        (void)fprintf(script, "%s$sizes using %zu:xtic(1) linetype %zu title ", d ? ", " : "", d + 2, d + 1);
        plot_quote(script, title);
    }
    (void)fputc('\n', script);
}

static int write_sizes(const struct figure_input *input, FILE *script, struct err *err)
{
    json_t *root = json_object(), *row;
    struct bars *b = mem_zalloc(1, sizeof *b, err);
    int rc = b && info_tlp_json(input->store, &root, err) == 0 ? json_tree_check(root, err) : -1;
    json_t *rows = json_object_get(root, "tlp_histogram");
    if (rc == 0 && json_array_size(rows) == 0)
        rc = err_set(err, "%s holds no PCIe packets", input->path);
    size_t i;
    if (rc == 0)
        json_array_foreach(rows, i, row) rc |= add_bar(b, row, json_array_size(rows) > MOST_BARS, err);
    if (rc == 0)
        write_bars(b, script);
    if (b)
        free(b->rows);
    free(b);
    json_decref(root);
    return rc;
}

const struct figure figure_tlp_sizes = {
    .name = "tlp-sizes",
    .summary = "PCIe packets of a capture by type, size and sender",
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
    struct quantile *q = info_tlp_latency(input->store, err);
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
    for (int i = 1; i <= 3; i++) {
        double at = (double)quantile_at(q, 0.25 * i) / 1e3;
        (void)fprintf(script,
                      "set arrow from %.6g, graph 0 to %.6g, graph 1 nohead dashtype 3 linecolor rgb '#888888'\n"
                      "set label '%.4g us' at %.6g, graph 0.%d3 offset 0.5, 0\n",
                      at, at, at, at, 3 - i);
    }
    (void)fprintf(script,
                  "set title 'Latency of %.0f PCIe reads, request to last completion'\nset xlabel 'us'\n"
                  "set ylabel 'share of reads'\nset yrange [0:1]\nset key off\n"
                  "plot $latency using 1:2 with steps linetype 1 linewidth 2\n",
                  curve.all);
    quantile_free(q);
    return 0;
}

const struct figure figure_tlp_latency = {
    .name = "tlp-latency",
    .summary = "how long the reads of a PCIe capture took, with quartiles",
    .source = "ours",
    .kinds = FIGURE_TRACE,
    .width = 800,
    .height = 480,
    .write = write_latency,
};
