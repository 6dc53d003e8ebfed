/* gather: rows of a table in host memory, copied into a dense output in the order of a row stream.
 *
 * graph=...: the rows that k-hop neighbour sampling asks for, one launch for each batch (trace/graph/graph_sample.h).
 * rows=FILE: one row number a line; without it `count` rows drawn uniformly. Row r starts at byte r row_bytes. The
 * scans are the closed form of what the program (gather_program.c) reads of the table. Source: dissertation, chapter 3
 * (UnifiedTensor). */
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/workloads/ml/gather_rows.h"
#include "trace/workloads/workload.h"

static const struct param gather_params[] = {
    PARAM_BYTES_ROW(gather_params, row_bytes, GATHER_ELEMENT, 1 << 24, 1024, "of a row, a multiple of 4"),
    PARAM_TEXT_ROW(gather_params, rows, NULL, "file of row numbers, one a line; none: drawn uniformly"),
    PARAM_TEXT_ROW(gather_params, recorded, NULL,
                   "file of the row numbers of another run, one a line: what resident=recorded ranks by"),
    PARAM_INT_ROW(gather_params, count, "", 1, 1e9, 65536, "rows drawn where no file is given"),
    PARAM_INT_ROW(gather_params, table_rows, "", 0, 0x1p40, 0, "of the table; 0: what 512 MiB hold, or the file needs"),
    {"graph", PARAM_TEXT, "text", 0, 0, 0, offsetof(struct gather_params, source.graph),
     "rows by neighbour sampling in a file, kron, urand, fs, ml, sk, uk5, communities, skewed-communities", NULL},
    {"scale", PARAM_INT, "", 0, 31, 18, offsetof(struct gather_params, source.scale),
     "generated graphs: log2 of the vertices", NULL},
    {"k", PARAM_INT, "", 1, 1024, 16, offsetof(struct gather_params, source.k), "generated graphs: draws per vertex",
     NULL},
    {"seed", PARAM_INT, "", 0, 0x1p53, 1, offsetof(struct gather_params, source.seed), "of every draw", NULL},
    PARAM_TEXT_ROW(gather_params, fan_outs, "[10,25]", "neighbours sampled at each hop, the last around the seeds"),
    PARAM_INT_ROW(gather_params, seeds, "", 1, 1e9, 16, "labelled vertices that a batch starts from"),
    PARAM_INT_ROW(gather_params, batches, "", 1, 1e9, 64, "sampled batches"),
    PARAM_REAL_ROW(gather_params, labelled_pct, "%", 0, 100, 1.1, "of the vertices are labelled"),
    PARAM_CHOICE_ROW(gather_params, labels, "uniform|clustered", 0, "where labelled vertices lie"),
    PARAM_CHOICE_ROW(gather_params, accesses, "distinct|all", 0, "rows of a batch once, or at every access"),
    PARAM_INT_ROW(gather_params, communities, "", 1, 1 << 30, 64, "of the community graphs"),
    PARAM_REAL_ROW(gather_params, inside, "", 0, 1, 0.95, "share of a community graph's draws inside the community"),
    PARAM_CHOICE_ROW(gather_params, reuse, SCAN_REUSE_NAMES, 0, "which sectors are not requested again"),
    PARAM_INT_ROW(gather_params, threads_per_block, "", 32, 1024, 256, "of the kernel"),
    PARAM_INT_ROW(gather_params, blocks, "", 0, 2147483647, 1024,
                  "of the program's kernel, which loops; 0: as many as it needs not to"),
    PARAM_CHOICE_ROW(gather_params, kernel, "naive|shift", GATHER_SHIFT,
                     "which kernel the program is; the zerocopy engine's policies try each"),
    PARAM_NS_AUTO_ROW(gather_params, compute_ns, 0, 1e9, "of a warp whose data is all at hand; auto: by instructions"),
    {0}};

static void gather_close(void *state)
{
    struct gather *g = state;
    graph_release(&g->graph);
    free(g->labelled);
    free(g->ends);
    free(g->rows);
    free(g->recorded);
    free(g->scans);
    free(g);
}

static void *gather_open(const void *params, struct err *err)
{
    struct gather *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return NULL;
    g->p = *(const struct gather_params *)params;
    g->elements = (uint64_t)g->p.row_bytes / GATHER_ELEMENT;
    g->scans = mem_zalloc(SCAN_BATCH, sizeof *g->scans, err);
    int rc = g->scans ? 0 : -1;
    if (!rc && g->p.row_bytes % GATHER_ELEMENT)
        rc = err_set(err, "row_bytes is %lld; expected a multiple of 4", (long long)g->p.row_bytes);
    if (!rc)
        rc = gather_rows_find(g, err);
    if (rc) {
        gather_close(g);
        return NULL;
    }
    return g;
}

static void setup(void *state, struct scan_setup *s)
{
    const struct gather *g = state;
    *s = (struct scan_setup){
        .shape = SCAN_ROWS,
        .reuse = (enum scan_reuse)g->p.reuse,
        .structures = {{"table", 0, GATHER_ELEMENT, g->table_rows * g->elements}},
        .structure_count = 1,
        .row_elements = (int64_t)g->elements,
        .threads_per_block = g->p.threads_per_block,
        .lanes = g->n,
        .graph = g->ends ? &g->graph : NULL,
        .labelled = g->labelled,
        .labelled_count = g->labelled_count,
        .batches = g->batches,
        .recorded = g->recorded,
    };
}

static int start(void *state, struct err *err)
{
    (void)err;
    ((struct gather *)state)->at = ((struct gather *)state)->batch = 0;
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    (void)err;
    struct gather *g = state;
    if (g->at == g->n)
        return 0;
    uint64_t start = g->ends && g->batch ? g->ends[g->batch - 1] : 0, end = g->ends ? g->ends[g->batch] : g->n;
    size_t n = end - g->at < SCAN_BATCH ? (size_t)(end - g->at) : SCAN_BATCH;
    for (size_t i = 0; i < n; i++)
        g->scans[i] = (struct scan){g->rows[g->at + i] * g->elements, g->elements, g->at + i - start};
    g->at += n;
    *batch = (struct scan_batch){(uint32_t)g->batch, g->scans, n, g->at == end};
    g->batch += g->at == end;
    return 1;
}

static uint64_t runs(void *state)
{
    (void)state;
    return 1;
}

static const struct scan_ops gather_ops = {setup, start, next, runs};

static int gather_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct gather *g = state;
    return scan_write(&g->writer, &gather_ops, g, records, cap, n, err);
}

static int program_of(struct gather *g, enum gather_kernel kernel, struct program *out, struct err *err)
{
    const struct gather_rows rows = {.rows = g->rows,
                                     .count = g->n,
                                     .ends = g->ends,
                                     .batches = g->ends ? g->batches : 1,
                                     .table_rows = g->table_rows,
                                     .row_elements = g->elements,
                                     .threads_per_block = g->p.threads_per_block,
                                     .blocks = g->p.blocks,
                                     .kernel = kernel};
    *out = (struct program){.ops = &gather_program_ops, .state = &g->programs[kernel], .compute_ns = g->p.compute_ns};
    return gather_program_init(&g->programs[kernel], &rows, err);
}

static int program(void *state, struct program *out, struct err *err)
{
    struct gather *g = state;
    return program_of(g, (enum gather_kernel)g->p.kernel, out, err);
}

static int program_as(void *state, const char *kernel, struct program *out, struct err *err)
{
    if (strcmp(kernel, "naive") == 0)
        return program_of(state, GATHER_NAIVE, out, err) ? -1 : 1;
    if (strcmp(kernel, "shift") == 0)
        return program_of(state, GATHER_SHIFT, out, err) ? -1 : 1;
    return 0;
}

const struct workload_type workload_gather = {
    .name = "gather",
    .summary = "rows of a table in host memory gathered into a dense output",
    .source = "dissertation, chapter 3 (UnifiedTensor)",
    .produces = WORKLOAD_SCANS,
    .params = gather_params,
    .params_size = sizeof(struct gather_params),
    .open = gather_open,
    .close = gather_close,
    .ops = &gather_ops,
    .next = gather_next,
    .views = VIEW_ALL,
    .program = program,
    .program_as = program_as,
};
