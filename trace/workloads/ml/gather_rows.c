#include "trace/workloads/ml/gather_rows.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_generate.h"
#include "trace/graph/graph_reorder.h"
#include "trace/graph/graph_sample.h"
#include "trace/graph/graph_text.h"
#include "trace/import/source.h"

/* Row numbers, one a line, below `limit`. */
static int read_file(const char *path, uint64_t limit, uint64_t **rows, size_t *n, size_t *cap, struct err *err)
{
    struct source *source = source_open(path, err);
    if (!source)
        return -1;
    char *line;
    size_t length;
    int rc;
    while ((rc = source_line(source, &line, &length, err)) > 0) {
        const char *p = line;
        uint64_t row;
        unsigned long long at = source_line_number(source);
        if (*line == '#' || graph_line_done(line))
            continue;
        if (!graph_take_u64(&p, &row) || !graph_line_done(p) || row >= (1ULL << 40)) {
            rc = err_set(err, "%s: line %llu: '%.40s' is no row number", path, at, line);
            break;
        }
        if (row >= limit) {
            rc = err_set(err, "%s: line %llu: row %llu; the table has %llu", path, at, (unsigned long long)row,
                         (unsigned long long)limit);
            break;
        }
        if ((rc = mem_grow((void **)rows, cap, *n + 1, sizeof **rows, err)))
            break;
        (*rows)[(*n)++] = row;
    }
    source_close(source);
    return rc == 0 && *n == 0 ? err_set(err, "%s: no row numbers", path) : rc;
}

static int read_rows(struct gather *g, struct err *err)
{
    if (read_file(g->p.rows, g->table_rows ? g->table_rows : UINT64_MAX, &g->rows, &g->n, &g->cap, err))
        return -1;
    for (size_t i = 0; i < g->n && !g->p.table_rows; i++)
        if (g->rows[i] >= g->table_rows)
            g->table_rows = g->rows[i] + 1;
    return 0;
}

/* How often another run asked for each row. */
static int read_recorded(struct gather *g, struct err *err)
{
    uint64_t *rows = NULL;
    size_t n = 0, cap = 0;
    int rc = read_file(g->p.recorded, g->table_rows, &rows, &n, &cap, err);
    if (!rc && !(g->recorded = mem_zalloc(g->table_rows, sizeof *g->recorded, err)))
        rc = -1;
    for (size_t i = 0; i < n && !rc; i++)
        g->recorded[rows[i]]++;
    free(rows);
    return rc;
}

static int draw_rows(struct gather *g, struct err *err)
{
    enum { TABLE_BYTES = 512 << 20 };
    if (!g->table_rows)
        g->table_rows = (uint64_t)(TABLE_BYTES / g->p.row_bytes);
    g->n = (size_t)g->p.count;
    g->rows = mem_zalloc(g->n, sizeof *g->rows, err);
    if (!g->rows)
        return -1;
    for (size_t i = 0; i < g->n; i++)
        g->rows[i] = random_mix((uint64_t)g->p.source.seed * 7919 + i) % g->table_rows;
    return 0;
}

static int open_graph(struct gather *g, struct err *err)
{
    bool skewed = strcmp(g->p.source.graph, "skewed-communities") == 0;
    if (!skewed && strcmp(g->p.source.graph, "communities") != 0)
        return graph_source_open(&g->p.source, &g->graph, err);
    const struct graph_communities recipe = {.scale = (int)g->p.source.scale,
                                             .k = g->p.source.k,
                                             .communities = g->p.communities,
                                             .inside = g->p.inside,
                                             .skewed = skewed,
                                             .seed = (uint64_t)g->p.source.seed};
    return graph_from_communities(&recipe, &g->graph, err);
}

static int sample_rows(struct gather *g, struct err *err)
{
    struct graph_sample how = {.seeds = (uint64_t)g->p.seeds,
                               .batches = (uint64_t)g->p.batches,
                               .all = g->p.accesses == 1,
                               .seed = (uint64_t)g->p.source.seed};
    if (graph_sample_fan_outs(&how, g->p.fan_outs, err) || open_graph(g, err) ||
        graph_sample_labels(g->graph.vertices, g->p.labelled_pct, g->p.labels == 1, how.seed, &g->labelled,
                            &g->labelled_count, err))
        return -1;
    how.labelled = g->labelled;
    how.labelled_count = g->labelled_count;
    g->batches = how.batches;
    g->ends = mem_zalloc(how.batches, sizeof *g->ends, err);
    if (!g->ends)
        return -1;
    struct graph reversed = {0};
    if (!g->graph.symmetric && graph_transpose(&g->graph, &reversed, err))
        return -1;
    uint64_t count = 0;
    int rc = graph_sample_rows(g->graph.symmetric ? &g->graph : &reversed, &how, &g->rows, &count, g->ends, err);
    graph_release(&reversed);
    g->n = (size_t)count;
    if (!g->table_rows)
        g->table_rows = g->graph.vertices;
    if (!rc && g->table_rows < g->graph.vertices)
        rc = err_set(err, "table_rows is %llu; the graph has %llu vertices", (unsigned long long)g->table_rows,
                     (unsigned long long)g->graph.vertices);
    return rc;
}

int gather_rows_find(struct gather *g, struct err *err)
{
    g->table_rows = (uint64_t)g->p.table_rows;
    int rc = g->p.rows ? read_rows(g, err) : g->p.source.graph ? sample_rows(g, err) : draw_rows(g, err);
    return !rc && g->p.recorded ? read_recorded(g, err) : rc;
}
