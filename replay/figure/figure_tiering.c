/* Figure tiering: cumulative share of the rows asked for over the rows ranked by each score. Drawn from the spec of a
 * gather, such as synth:gather,graph=kron,scale=18. */
#include <stdlib.h>

#include "models/zerocopy/score.h"
#include "replay/figure/figures.h"
#include "replay/run/input.h"
#include "trace/base/mem.h"
#include "trace/graph/graph_reorder.h"
#include "trace/workloads/scan.h"

enum { POINTS = 100 };

/* Accesses of each row. */
static uint64_t *count_rows(const struct scan_ops *ops, void *state, const struct scan_setup *setup, uint64_t *total,
                            struct err *err)
{
    uint64_t *counts = mem_zalloc(setup->graph->vertices, sizeof *counts, err);
    struct scan_batch batch;
    int more = counts ? (ops->start(state, err) ? -1 : 1) : -1;
    while (more > 0 && (more = ops->next(state, &batch, err)) > 0)
        for (size_t i = 0; i < batch.n; i++) {
            counts[batch.scans[i].first / (uint64_t)setup->row_elements]++;
            ++*total;
        }
    if (more < 0) {
        free(counts);
        return NULL;
    }
    return counts;
}

static int curve(FILE *script, const struct scan_setup *setup, enum score_kind kind, const uint64_t *counts,
                 uint64_t total, struct err *err)
{
    struct score_options how = {
        .damping = SCORE_DAMPING, .labelled = setup->labelled, .labelled_count = setup->labelled_count};
    uint64_t n = setup->graph->vertices;
    double *score = score_vertices(setup->graph, kind, &how, err);
    uint32_t *rank = score ? graph_rank(score, n, err) : NULL;
    double bins[POINTS + 1] = {0};
    for (uint64_t v = 0; rank && v < n; v++)
        bins[1 + (uint64_t)rank[v] * POINTS / n] += (double)counts[v];
    (void)fprintf(script, "$%c << EOD\n", 'a' + (int)kind);
    double sum = 0;
    for (int i = 0; i <= POINTS; i++) {
        sum += bins[i];
        (void)fprintf(script, "%d %.6g\n", i * 100 / POINTS, 100 * sum / (double)total);
    }
    (void)fputs("EOD\n", script);
    free(score);
    free(rank);
    return rank ? 0 : -1;
}

static int write(const struct figure_input *input, FILE *script, struct err *err)
{
    struct input in;
    if (input_open(&in, input->path, "", false, err))
        return -1;
    const struct workload_type *type = in.workload.type;
    struct scan_setup setup = {0};
    if (type && type->produces == WORKLOAD_SCANS)
        ((const struct scan_ops *)type->ops)->setup(in.workload.state, &setup);
    if (!setup.graph) {
        input_close(&in);
        return err_set(err, "'%.200s' gathers no rows of a graph; expected synth:gather,graph=...", input->path);
    }
    uint64_t total = 0;
    uint64_t *counts = count_rows(type->ops, in.workload.state, &setup, &total, err);
    int rc = counts ? 0 : -1;
    for (int kind = SCORE_DEGREE; kind < SCORE_KINDS && !rc; kind++)
        rc = curve(script, &setup, (enum score_kind)kind, counts, total, err);
    free(counts);
    if (!rc) {
        plot_title(script, "Accesses served by the best rows", input->path);
        plot_legend(input, 3, 16);
        (void)fputs("set xlabel 'rows, best first (%)'\nset ylabel 'accesses (%)'\nset xrange [0:100]\n"
                    "set yrange [0:100]\n"
                    "plot $b with lines title 'degree' linetype 1, $c with lines title 'reverse PageRank' linetype 2, "
                    "$d with lines title 'weighted' linetype 4\n",
                    script);
    }
    input_close(&in);
    return rc;
}

const struct figure figure_tiering = {
    .name = "tiering",
    .summary = "cumulative accesses by ranked rows, for each score",
    .needs = "a gather: synth:gather,graph=..",
    .source = "Min 2022, figure 4.8",
    .kinds = FIGURE_SPEC,
    .width = 800,
    .height = 520,
    .write = write,
};
