/* gather: rows of a table in host memory, copied into a dense output in the order of a row stream.
 *
 * graph=...: the rows that k-hop neighbour sampling asks for, one launch for each batch (trace/graph/graph_sample.h).
 * rows=FILE: one row number a line; without it `count` rows drawn uniformly. The scans are the closed form of what the
 * program reads of the table.
 * Source: dissertation, chapter 3 (UnifiedTensor). */
#include "trace/workloads/ml/gather.h"

#include <ctype.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/graph/graph_build.h"
#include "trace/graph/graph_generate.h"
#include "trace/graph/graph_reorder.h"
#include "trace/graph/graph_sample.h"
#include "trace/import/input_stream.h"
#include "trace/program/emit.h"
#include "trace/workloads/graph/graph_source.h"

/* --- the kernel, access by access ---
 *
 * A launch copies the rows of one batch in a grid-stride loop: thread i copies element i, column i mod F of output row
 * i div F (F elements a row). It loads the row's number, the element, and stores it. kernel=shift rotates the column
 * that is read and written by (destination start - source start) mod 32 elements inside the row, if F > 32 and F mod 32
 * != 0, so that a warp's reads start on a 128 B line.
 * Worked example: rows of 480 B, shift, output row 0 from table row 1 (element 120): rotated by (0 - 120) mod 32 = 8,
 * so threads 0 to 31 read columns 8 to 39: bytes 512 to 639 of the table.
 * The reads of the table are those that the scans make under the pattern of the same name.
 * Source: dissertation, section 3.3, listing 3.2 (UnifiedTensor's aligned gather), which does not say how many blocks:
 * as many as the arrays' loop has by default.
 * Differs: row numbers of 8 bytes, listing 3.2 has 4; instructions between accesses are counted from that listing. */
/* What is gathered; stays the caller's. */
struct gather_rows {
    const uint64_t *rows; /* row numbers, those of all batches */
    uint64_t count;
    const uint64_t *ends; /* of batches, in rows; NULL: one batch */
    uint64_t batches;     /* 1 where ends is NULL */
    uint64_t table_rows, row_elements;
    uint32_t element; /* bytes */
    uint64_t table;   /* byte address of row 0 */
    int64_t threads_per_block;
    int64_t blocks; /* of a launch, at most; 0: as many as there are elements for: nobody loops */
    enum gather_kernel kernel;
};

struct gather_program {
    struct gather_rows of;
    struct program_alloc allocs[3];
};

enum { TABLE, INDEX, OUTPUT };
enum { LANES = PROGRAM_LANES, INDEX_BYTES = 8 };

/* Instructions of the source: i, its row and column and the end of the output; the element's address; the rotation. */
enum { START = 8, ADDRESS = 3, ROTATE = 6 };

/* Rows of a launch, and the first of them. */
static uint64_t batch_of(const struct gather_rows *g, uint32_t launch, uint64_t *first)
{
    *first = g->ends && launch ? g->ends[launch - 1] : 0;
    return (g->ends ? g->ends[launch] : g->count) - *first;
}

/* Fails if the kernel cannot be launched so. */
static int gather_program_init(struct gather_program *p, const struct gather_rows *rows, struct err *err)
{
    uint64_t most = 1, first;
    if (rows->threads_per_block % LANES)
        return err_set(err, "threads_per_block is %lld; expected a multiple of %d", (long long)rows->threads_per_block,
                       LANES);
    if (rows->batches > UINT32_MAX)
        return err_set(err, "%llu batches; the program has at most 2^32 - 1 launches",
                       (unsigned long long)rows->batches);
    for (uint32_t b = 0; b < rows->batches; b++) {
        uint64_t n = batch_of(rows, b, &first);
        most = n > most ? n : most;
    }
    uint64_t row_bytes = rows->row_elements * rows->element;
    p->of = *rows;
    p->allocs[TABLE] = (struct program_alloc){
        .name = "table", .addr = rows->table, .bytes = rows->table_rows * row_bytes, .host = true};
    p->allocs[INDEX] = (struct program_alloc){
        .name = "index", .bytes = (rows->count ? rows->count : 1) * INDEX_BYTES, .host = true, .device = true};
    p->allocs[OUTPUT] = (struct program_alloc){.name = "output", .bytes = most * row_bytes, .device = true};
    program_place(&p->allocs[INDEX], 2, 0, 0);
    return 0;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct gather_program *)state)->allocs;
}

static uint32_t launches(const void *state)
{
    return (uint32_t)((const struct gather_program *)state)->of.batches;
}

/* Of a launch that copies so many elements. */
static uint64_t blocks_of(const struct gather_rows *g, uint64_t elements)
{
    uint64_t threads = (uint64_t)g->threads_per_block, blocks = (elements + threads - 1) / threads;
    if (g->blocks && blocks > (uint64_t)g->blocks)
        return (uint64_t)g->blocks;
    return blocks ? blocks : 1;
}

static void launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct gather_rows *g = &((const struct gather_program *)state)->of;
    uint64_t first;
    *out = (struct program_launch){.kernel = g->kernel == GATHER_SHIFT ? "gather_shift" : "gather_naive",
                                   .blocks = blocks_of(g, batch_of(g, number, &first) * g->row_elements),
                                   .threads = (uint32_t)g->threads_per_block,
                                   .waited = true};
}

/* Lanes that access neighbouring bytes, or all the same ones, need no address each. */
static void settle(struct program_access *a)
{
    if (!a->active)
        return;
    uint64_t stride = a->lane[1] - a->lane[0];
    if (a->active & 2 && stride != 0 && stride != a->bytes)
        return;
    for (unsigned l = 1; l < LANES && a->active >> l & 1; l++)
        if (a->lane[l] - a->lane[l - 1] != stride)
            return;
    a->addr = a->lane[0];
    a->lane_stride = a->active & 2 ? (int64_t)stride : a->bytes;
    a->lane = NULL;
}

static uint64_t *access_of(struct program_body *b, const struct gather_program *p, unsigned alloc, uint32_t active,
                           uint16_t before)
{
    struct program_access *a = program_load(b, p->allocs, alloc, 0, alloc == INDEX ? INDEX_BYTES : p->of.element);
    a->active = active;
    a->before = before;
    return program_scatter(b, a);
}

/* A warp that reads neighbours of one row and writes neighbours: no lane needs an address of its own. */
static void in_one_row(struct program_body *b, const struct gather_program *p, uint64_t number, uint64_t in,
                       uint64_t out, bool rotates)
{
    struct program_access *a = program_load(b, p->allocs, INDEX, number * INDEX_BYTES, INDEX_BYTES);
    a->lane_stride = 0;
    a->before = START;
    a = program_load(b, p->allocs, TABLE, in * p->of.element, p->of.element);
    a->before = rotates ? ADDRESS + ROTATE : ADDRESS;
    a = program_store(b, p->allocs, OUTPUT, out * p->of.element, p->of.element);
    a->before = ADDRESS;
}

static int body(void *run, uint32_t launch_number, uint64_t warp, uint32_t index, struct program_body *b,
                struct err *err)
{
    (void)err;
    const struct gather_program *p = run;
    const struct gather_rows *g = &p->of;
    uint64_t first, width = g->row_elements, elements = batch_of(g, launch_number, &first) * width;
    uint64_t step = blocks_of(g, elements) * (uint64_t)g->threads_per_block; /* the loop's */
    if (warp * LANES >= elements)
        return program_no_trip(index, START, b);
    if (warp * LANES + index * step >= elements)
        return 0;
    warp += index * step / LANES;
    b->last = warp * LANES + step >= elements;
    bool rotates = g->kernel == GATHER_SHIFT && width > LANES && width % LANES != 0;
    uint32_t active = program_first_lanes(elements - warp * LANES);
    uint64_t to = warp * LANES / width, at = warp * LANES % width; /* the row and column that the lane writes */
    if (active == UINT32_MAX && at + LANES <= width) {
        uint64_t from = g->rows[first + to], column = at + (rotates ? (to - from) * width % LANES : 0);
        column -= column >= width ? width : 0;
        if (column + LANES <= width) {
            in_one_row(b, p, first + to, from * width + column, to * width + column, rotates);
            return 1;
        }
    }
    uint64_t *numbers = access_of(b, p, INDEX, active, START);
    uint64_t *in = access_of(b, p, TABLE, active, rotates ? ADDRESS + ROTATE : ADDRESS);
    uint64_t *out = access_of(b, p, OUTPUT, active, ADDRESS);
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t from = g->rows[first + to], column = at;
        if (rotates)
            column += (to - from) * width % LANES;
        if (column >= width)
            column -= width;
        numbers[l] = p->allocs[INDEX].addr + (first + to) * INDEX_BYTES;
        in[l] = p->allocs[TABLE].addr + (from * width + column) * g->element;
        out[l] = p->allocs[OUTPUT].addr + (to * width + column) * g->element;
        if (warp * LANES + l + 1 >= elements)
            continue; /* lanes behind the last element access nothing */
        at = at + 1 < width ? at + 1 : 0;
        to += at == 0;
    }
    b->access[2].kind = RECORD_WRITE;
    b->access[2].use = 0;
    for (int i = 0; i < 3; i++)
        settle(&b->access[i]);
    return 1;
}

static const struct program_ops gather_program_ops = {
    .allocs = allocs, .launches = launches, .launch = launch, .body = body};

/* --- the workload --- */

struct gather_params {
    struct graph_source source; /* first; its seed is that of every draw */
    int64_t row_bytes, count, table_rows, reuse, threads_per_block, blocks, kernel, compute_ns;
    const char *rows, *recorded, *fan_outs;
    int64_t seeds, batches, labels, accesses, order;
    double labelled_pct, inside;
    int64_t communities;
};

/* The state of the workload. */
struct gather {
    struct gather_params p;
    uint64_t *rows;
    size_t n;
    double *recorded; /* accesses to each row; NULL: none */
    uint64_t table_rows, elements, at;
    uint32_t element;   /* bytes */
    struct graph graph; /* of neighbour sampling; empty otherwise */
    uint32_t *labelled;
    uint64_t labelled_count;
    uint64_t *ends; /* of each batch, in rows; NULL: one launch for all */
    uint64_t batches, batch;
    struct scan *scans;
    struct scan_writer writer;
    struct gather_program programs[2]; /* by enum gather_kernel */
};

static const struct param gather_keys[] = {
    PARAM_BYTES_ROW(gather_params, row_bytes, GATHER_ELEMENT, 1 << 24, 1024, "of a row, a multiple of 4"),
    PARAM_TEXT_ROW(gather_params, rows, NULL,
                   "row numbers: .npy, text, or a trace of accesses, FILE[@FIRST-LAST]; none: drawn"),
    PARAM_TEXT_ROW(gather_params, recorded, NULL,
                   "file of the row numbers of another run: what resident=recorded ranks by"),
    PARAM_INT_ROW(gather_params, count, "", 1, 1e9, 65536, "rows drawn where no file is given"),
    PARAM_INT_ROW(gather_params, table_rows, "", 0, 0x1p40, 0, "of the table; 0: what 512 MiB hold, or the file needs"),
    PARAM_TEXT_ROW(
        graph_source, graph, NULL,
        "rows by neighbour sampling in a file, kron, urand, fs, ml, sk, uk5, communities, skewed-communities"),
    PARAM_INT_ROW(graph_source, scale, "", 0, 31, 18, "generated graphs: log2 of the vertices"),
    PARAM_INT_ROW(graph_source, k, "", 1, 1024, 16, "generated graphs: draws per vertex"),
    PARAM_INT_ROW(graph_source, seed, "", 0, 0x1p53, 1, "of every draw"),
    PARAM_TEXT_ROW(gather_params, fan_outs, "[10,25]", "neighbours sampled at each hop, the last around the seeds"),
    PARAM_INT_ROW(gather_params, seeds, "", 1, 1e9, 16, "labelled vertices that a batch starts from"),
    PARAM_INT_ROW(gather_params, batches, "", 1, 1e9, 64, "sampled batches"),
    PARAM_REAL_ROW(gather_params, labelled_pct, "%", 0, 100, 1.1, "of the vertices are labelled"),
    PARAM_CHOICE_ROW(gather_params, labels, "uniform|clustered", 0, "where labelled vertices lie"),
    PARAM_CHOICE_ROW(gather_params, accesses, "distinct|all", 0, "rows of a batch once, or at every access"),
    PARAM_CHOICE_ROW(gather_params, order, "given|sorted", 0, "rows of a batch as they come, or by number"),
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

/* --- which rows are copied, in which order --- */

/* The numbers of a line; those of the first may be names. */
static int read_line(const char *p, unsigned long long number, uint64_t **rows, size_t *n, size_t *cap, struct err *err)
{
    uint64_t row;
    while (*p) {
        p += strspn(p, " \t\r,;");
        if (!*p || (number == 1 && !isdigit((unsigned char)*p)))
            return 0;
        const char *at = p;
        if (!graph_take_u64(&p, &row) || !strchr(" \t\r,;", *p))
            return err_set(err, "line %llu: '%.40s' is no row number", number, at);
        if (MEM_ADD(*rows, *n, *cap, err, row))
            return -1;
    }
    return 0;
}

static int read_text(const char *path, uint64_t limit, uint64_t **rows, size_t *n, struct err *err)
{
    struct input_stream *source = input_stream_open(path, err);
    char *line;
    size_t length, cap = 0, before;
    int rc = source ? 1 : -1;
    while (rc > 0 && (rc = input_stream_line(source, &line, &length, err)) > 0) {
        const unsigned long long at = input_stream_line_number(source);
        before = *n;
        if (*line != '#' && read_line(line, at, rows, n, &cap, err))
            rc = err_at(err, "%s", path);
        for (size_t i = before; i < *n && rc > 0; i++)
            if ((*rows)[i] >= limit)
                rc = err_set(err, "%s: line %llu: row %llu; the table has %llu", path, at,
                             (unsigned long long)(*rows)[i], (unsigned long long)limit);
    }
    input_stream_close(source);
    return rc;
}

int gather_read_rows(const char *path, int64_t row_bytes, struct gather_lookups *out, struct err *err)
{
    static const uint64_t most = 1ULL << 40;
    const size_t length = strlen(path);
    const uint64_t limit = out->table_rows ? out->table_rows : most;
    const bool npy = length >= 4 && strcmp(path + length - 4, ".npy") == 0;
    int rc = npy ? graph_npy_numbers(path, &out->rows, &out->n, err) : gather_recorded_rows(path, row_bytes, out, err);
    if (!npy && !rc)
        rc = read_text(path, limit, &out->rows, &out->n, err);
    if (rc >= 0 && out->table_rows > most)
        return err_set(err, "%s: a table of more than 2^40 rows", path);
    for (size_t i = 0; i < out->n && rc >= 0; i++)
        if (out->rows[i] >= limit)
            return err_set(err, "%s: item %zu: row %llu; the table has %llu", path, i, (unsigned long long)out->rows[i],
                           (unsigned long long)limit);
        else if (out->rows[i] >= out->table_rows)
            out->table_rows = out->rows[i] + 1;
    return rc < 0 || out->n ? rc : err_set(err, "%s: no row numbers", path);
}

static int read_rows(struct gather *g, struct err *err)
{
    struct gather_lookups in = {.table_rows = g->table_rows};
    const int rc = gather_read_rows(g->p.rows, g->p.row_bytes, &in, err);
    g->rows = in.rows;
    g->n = in.n;
    g->table_rows = in.table_rows;
    return rc < 0 ? -1 : 0;
}

/* How often another run asked for each row. */
static int read_recorded(struct gather *g, struct err *err)
{
    struct gather_lookups in = {.table_rows = g->table_rows};
    int rc = gather_read_rows(g->p.recorded, g->p.row_bytes, &in, err) < 0 ? -1 : 0;
    if (!rc && !(g->recorded = mem_zalloc(g->table_rows, sizeof *g->recorded, err)))
        rc = -1;
    for (size_t i = 0; i < in.n && !rc; i++)
        g->recorded[in.rows[i]]++;
    free(in.rows);
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

/* Fill rows, n and, where the keys ask for them, recorded, graph, labelled, ends and batches from g->p; all
 * else of them is zero before. What has been filled is the caller's to free in any case. */
static int gather_rows_find(struct gather *g, struct err *err)
{
    int rc = g->rows ? 0 : g->p.rows ? read_rows(g, err) : g->p.source.graph ? sample_rows(g, err) : draw_rows(g, err);
    for (size_t b = 0, from = 0; !rc && g->p.order && b < (g->ends ? g->batches : 1); b++) {
        const size_t end = g->ends ? (size_t)g->ends[b] : g->n;
        sort_items(g->rows + from, end - from, sizeof *g->rows, sorted_by_u64);
        from = end;
    }
    return !rc && g->p.recorded ? read_recorded(g, err) : rc;
}

/* --- opened, and read as scans --- */

void gather_close(void *state)
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

static int gather_init(struct gather *g, struct err *err)
{
    g->element = g->element ? g->element : GATHER_ELEMENT;
    g->elements = (uint64_t)g->p.row_bytes / g->element;
    g->table_rows = (uint64_t)g->p.table_rows;
    g->scans = mem_zalloc(SCAN_BATCH, sizeof *g->scans, err);
    if (!g->scans)
        return -1;
    if (g->p.row_bytes % (int64_t)g->element)
        return err_set(err, "row_bytes is %lld; expected a multiple of %d", (long long)g->p.row_bytes, (int)g->element);
    return gather_rows_find(g, err);
}

void *gather_new(const struct gather_given *given, struct err *err)
{
    struct gather *g = mem_zalloc(1, sizeof *g, err);
    if (!g) {
        free(given->rows);
        return NULL;
    }
    param_defaults(gather_keys, &g->p);
    g->p.row_bytes = given->row_bytes;
    g->p.table_rows = (int64_t)given->table_rows;
    g->p.reuse = given->reuse;
    g->p.order = given->sorted;
    g->p.recorded = given->recorded;
    g->p.kernel = GATHER_NAIVE;
    g->element = (uint32_t)given->element;
    g->rows = given->rows;
    g->n = given->n;
    g->batches = given->batches;
    g->ends = given->batches > 1 ? mem_zalloc(given->batches, sizeof *g->ends, err) : NULL;
    for (uint64_t b = 0; g->ends && b < g->batches; b++)
        g->ends[b] = (uint64_t)((unsigned __int128)g->n * (b + 1) / g->batches);
    if (given->batches > 1 && !g->ends) {
        gather_close(g);
        return NULL;
    }
    if (gather_init(g, err) == 0)
        return g;
    gather_close(g);
    return NULL;
}

static void setup(void *state, struct scan_setup *s)
{
    const struct gather *g = state;
    *s = (struct scan_setup){
        .shape = SCAN_ROWS,
        .reuse = (enum scan_reuse)g->p.reuse,
        .structures = {{"table", 0, g->element, g->table_rows * g->elements}},
        .structure_count = 1,
        .row_elements = (int64_t)g->elements,
        .threads_per_block = g->p.threads_per_block,
        .lanes = g->n,
        .graph = g->graph.vertices ? &g->graph : NULL,
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

const struct scan_ops gather_ops = {setup, start, next, NULL};

int gather_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
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
                                     .element = g->element,
                                     .threads_per_block = g->p.threads_per_block,
                                     .blocks = g->p.blocks,
                                     .kernel = kernel};
    *out = (struct program){.ops = &gather_program_ops, .state = &g->programs[kernel], .compute_ns = g->p.compute_ns};
    return gather_program_init(&g->programs[kernel], &rows, err);
}

int gather_as_program(void *state, struct program *out, struct err *err)
{
    struct gather *g = state;
    return program_of(g, (enum gather_kernel)g->p.kernel, out, err);
}

int gather_as_kernel(void *state, const char *kernel, struct program *out, struct err *err)
{
    const bool naive = strcmp(kernel, "naive") == 0;
    if (!naive && strcmp(kernel, "shift") != 0)
        return 0;
    return program_of(state, naive ? GATHER_NAIVE : GATHER_SHIFT, out, err) ? -1 : 1;
}

WORKLOAD(gather, workload_gather, "gather", "rows of a table in host memory gathered into a dense output",
         "dissertation, chapter 3 (UnifiedTensor)", workload_new, gather_close, GATHER_VIEWS);
