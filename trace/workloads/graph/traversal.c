#include "trace/workloads/graph/traversal.h"

#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/units.h"
#include "trace/graph/graph_generate.h"

static const struct param traversal_param_table[] = {
    GRAPH_SOURCE_ROWS,
    PARAM_TEXT_ROW(traversal_params, root, NULL,
                   "start vertex; auto: the one of largest degree; none given: `roots` of them"),
    PARAM_INT_ROW(
        traversal_params, roots, "", 1, 1e6, 64,
        "start vertices 0, V/roots, 2V/roots, ... that have out-edges, or the first that has; metrics are means"),
    PARAM_CHOICE_ROW(traversal_params, element, "8|4|16", 0,
                     "bytes of an element of the edge list, whatever the file has; int32 ids: 4"),
    PARAM_INT_ROW(traversal_params, base_offset, "bytes", 0, 4095, 0,
                  "of the edge list from a page boundary; whole elements, else a GPU traps"),
    PARAM_CHOICE_ROW(traversal_params, reuse, SCAN_REUSE_NAMES, 0, "which sectors are not requested again"),
    PARAM_TEXT_ROW(traversal_params, weights, NULL, "sssp: LO:HI, whole weights drawn from that range"),
    PARAM_CHOICE_ROW(traversal_params, update, "inplace|jacobi", 0,
                     "sssp, cc: a launch sees values written in it, or not"),
    PARAM_REAL_ROW(traversal_params, tolerance, "", 1e-12, 1e6, 0.001, "pagerank: smallest change that is passed on"),
    PARAM_INT_ROW(traversal_params, iterations, "", 0, 1e9, 0, "launches at most; 0: until nothing changes"),
    PARAM_INT_ROW(traversal_params, threads_per_block, "", 32, 1024, 128, "of the kernels (what L1 reuse spans)"),
    PARAM_CHOICE_ROW(traversal_params, kernel, "naive|merged|aligned", TRAVERSAL_ALIGNED,
                     "which kernel the program is; the zerocopy engine's policies try each"),
    PARAM_INT_ROW(traversal_params, chunk, "", 1, 1024, 1,
                  "merged, aligned: vertices that a warp of the program visits, one after the other (EMOGI's -t 2: 8)"),
    PARAM_NS_AUTO_ROW(traversal_params, compute_ns, 0, 1e9,
                      "of a turn whose data is all at hand; auto: by instructions"),
    {0}};

static uint32_t traversal_element_bytes(const struct traversal_params *p)
{
    static const uint32_t bytes[] = {8, 4, 16};
    return bytes[p->element];
}

/* Source: CUDA C++ programming guide, device memory accesses: an address must be a multiple of what is read from it. */
static int check_base(const struct traversal_params *p, struct err *err)
{
    if (p->base_offset % traversal_element_bytes(p) == 0)
        return 0;
    return err_set(err, "base_offset is %lld, elements have %u bytes; expected a multiple: a GPU traps on any other",
                   (long long)p->base_offset, traversal_element_bytes(p));
}

/* The root named, or the hub; of algorithms without one: 0. */
static int one_root(const struct traversal *t, uint64_t *root, struct err *err)
{
    int64_t v = 0;
    *root = t->algorithm->rooted ? graph_hub(&t->graph) : 0;
    if (!t->algorithm->rooted || strcmp(t->params->root, "auto") == 0)
        return 0;
    if (units_parse_int(t->params->root, &v, err))
        return err_at(err, "root");
    if (v < 0 || (uint64_t)v >= t->graph.vertices)
        return err_set(err, "root is %lld; expected 0 to %llu, or auto", (long long)v,
                       (unsigned long long)t->graph.vertices - 1);
    *root = (uint64_t)v;
    return 0;
}

static int choose_roots(struct traversal *t, struct err *err)
{
    bool one = t->params->root || !t->algorithm->rooted;
    uint64_t vertices = t->graph.vertices, most = one ? 1 : (uint64_t)t->params->roots;
    uint64_t step = vertices / most ? vertices / most : 1;
    t->roots = mem_zalloc(most, sizeof *t->roots, err);
    if (!t->roots)
        return -1;
    t->root_count = one;
    if (one)
        return one_root(t, t->roots, err);
    for (uint64_t v = 0, i = 0; v < vertices && i < most; v += step, i++)
        if (graph_degree(&t->graph, v))
            t->roots[t->root_count++] = v;
    for (uint64_t v = 0; !t->root_count; v++) /* the graph has edges */
        if (graph_degree(&t->graph, v))
            t->roots[t->root_count++] = v;
    return 0;
}

static int draw_weights(struct traversal *t, struct err *err)
{
    int64_t lo = 8, hi = 72; /* EMOGI's range for graphs without weights: dissertation, section 2.5.1 */
    const char *text = t->params->weights;
    if (!text && t->graph.weights)
        return 0;
    if (text && (units_parse_range(text, &lo, &hi, err) || lo < 0 || hi < lo || hi > INT32_MAX))
        return err_set(err, "weights is '%.60s'; expected LO:HI, whole, 0 <= LO <= HI", text);
    return graph_add_weights(&t->graph, (int32_t)lo, (int32_t)hi, (uint64_t)t->params->source.seed, err);
}

static int check_weights(const struct graph *graph, struct err *err)
{
    for (uint64_t i = 0; i < graph->elements; i++)
        if (graph->weights[i] < 0)
            return err_set(err, "weight %d of element %llu is negative; sssp needs weights from 0", graph->weights[i],
                           (unsigned long long)i);
    return 0;
}

static int prepare(struct traversal *t, struct err *err)
{
    if (check_base(t->params, err) || graph_source_open(&t->params->source, &t->graph, err))
        return -1;
    if (t->graph.elements == 0)
        return err_set(err, "the graph has no edges");
    if (t->algorithm->weighted && (draw_weights(t, err) || check_weights(&t->graph, err)))
        return -1;
    t->scans = mem_zalloc(SCAN_BATCH, sizeof *t->scans, err);
    return !t->scans || traversal_make_room(t, err) || choose_roots(t, err) ? -1 : 0;
}

int traversal_make_room(struct traversal *t, struct err *err)
{
    const uint64_t vertices = t->graph.vertices, values = t->algorithm->values;
    if (frontier_init(&t->active, vertices, err) || frontier_init(&t->next, vertices, err))
        return -1;
    t->values = mem_zalloc(values ? values * vertices : vertices / 64 + 3, sizeof(uint64_t), err);
    return t->values ? 0 : -1;
}

static void traversal_close(void *state)
{
    struct traversal *t = state;
    traversal_program_free(t);
    graph_release(&t->graph);
    free(t->active.bits);
    free(t->next.bits);
    free(t->values);
    free(t->roots);
    free(t->scans);
    free(t);
}

static void *traversal_open(const struct traversal_algorithm *algorithm, const void *params, struct err *err)
{
    struct traversal *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    t->algorithm = algorithm;
    t->params = params;
    if (prepare(t, err)) {
        traversal_close(t);
        return NULL;
    }
    return t;
}

void traversal_begin(struct traversal *t)
{
    frontier_clear(&t->active);
    frontier_clear(&t->next);
    t->algorithm->begin(t, t->roots[t->root_at]);
    t->cursor = t->round = 0;
    t->running = true;
}

void traversal_swap(struct traversal *t)
{
    struct frontier done = t->active;
    t->active = t->next;
    t->next = done;
    frontier_clear(&t->next);
}

int frontier_init(struct frontier *f, uint64_t vertices, struct err *err)
{
    *f = (struct frontier){mem_zalloc(vertices / 64 + 1, sizeof *f->bits, err), 0, vertices};
    return f->bits ? 0 : -1;
}

void frontier_clear(struct frontier *f)
{
    memset(f->bits, 0, (f->vertices / 64 + 1) * sizeof *f->bits);
    f->count = 0;
}

void frontier_fill(struct frontier *f)
{
    memset(f->bits, 0xff, f->vertices / 64 * sizeof *f->bits);
    f->bits[f->vertices / 64] = (1ULL << (f->vertices % 64)) - 1;
    f->count = f->vertices;
}

uint64_t frontier_next(const struct frontier *f, uint64_t v, uint64_t end)
{
    while (v < end) {
        uint64_t word = f->bits[v / 64] >> (v % 64);
        if (word) {
            v += (uint64_t)__builtin_ctzll(word);
            return v < end ? v : end;
        }
        v = (v / 64 + 1) * 64;
    }
    return end;
}

/* --- the launches as scans: batch by batch the lists of the active vertices that have one --- */

enum { EDGES_BASE = 4096 };
static const uint64_t weights_base = 1ULL << 46; /* an allocation of its own, a page boundary */

static void setup(void *state, struct scan_setup *s)
{
    const struct traversal *t = state;
    const struct traversal_params *p = t->params;
    uint32_t element = traversal_element_bytes(p);
    *s = (struct scan_setup){
        .shape = SCAN_LISTS,
        .reuse = (enum scan_reuse)p->reuse,
        .structures = {{"edges", EDGES_BASE + (uint64_t)p->base_offset, element, t->graph.elements},
                       {"weights", weights_base, 4, t->graph.elements}},
        .structure_count = t->algorithm->weighted ? 2 : 1,
        .threads_per_block = p->threads_per_block,
        .lanes = t->graph.vertices,
        .visits = !(!t->algorithm->rooted && p->iterations == 1),
        .unmasked_head = t->algorithm->weighted,
    };
}

static int start(void *state, struct err *err)
{
    (void)err;
    struct traversal *t = state;
    t->root_at = 0;
    t->launch = 0;
    traversal_begin(t);
    return 0;
}

/* The launch was handed out: find the next one, of this run or another. */
static int advance(struct traversal *t, struct err *err)
{
    t->launch++;
    t->round++;
    bool more = !t->params->iterations || t->round < t->params->iterations;
    if (more) {
        if (t->algorithm->advance(t, err))
            return -1;
        traversal_swap(t);
        t->cursor = 0;
    }
    t->running = more && t->active.count > 0;
    if (!t->running && t->root_at + 1 < t->root_count) {
        t->root_at++;
        traversal_begin(t);
    }
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    struct traversal *t = state;
    if (!t->running)
        return 0;
    const struct graph *g = &t->graph;
    uint64_t v = frontier_next(&t->active, t->cursor, g->vertices);
    uint64_t end = (v / SCAN_BATCH + 1) * SCAN_BATCH;
    if (end > g->vertices)
        end = g->vertices;
    size_t n = 0;
    for (; v < end; v = frontier_next(&t->active, v + 1, end))
        if (g->offsets[v + 1] > g->offsets[v])
            t->scans[n++] = (struct scan){g->offsets[v], g->offsets[v + 1] - g->offsets[v], v};
    t->cursor = end;
    bool last = frontier_next(&t->active, end, g->vertices) == g->vertices;
    *batch = (struct scan_batch){t->launch, t->scans, n, last};
    return last && advance(t, err) ? -1 : 1;
}

static uint64_t runs(void *state)
{
    return ((const struct traversal *)state)->root_count;
}

const struct scan_ops traversal_ops = {setup, start, next, runs};

static int traversal_records(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct traversal *t = state;
    return scan_write(&t->writer, &traversal_ops, t, records, cap, n, err);
}

/* Algorithm X as scans and as a program. */
#define TRAVERSAL(X, SUMMARY, FROM)                                                                                    \
    WORKLOAD_NEW(workload_##X, traversal_params, #X, SUMMARY, "dissertation, section " FROM, traversal_param_table,    \
                 traversal_open, &traversal_##X, traversal_close, .produces = WORKLOAD_SCANS, .ops = &traversal_ops,   \
                 .next = traversal_records, .views = VIEW_ALL, .program = traversal_program,                           \
                 .program_as = traversal_program_as, .spare = traversal_spare)
TRAVERSAL(bfs, "breadth-first search by levels over a graph in host memory", "2.4; EMOGI 382dbcc, bfs.cu");
TRAVERSAL(cc, "connected components by label propagation over a graph in host memory", "2.5; EMOGI 382dbcc, cc.cu");
TRAVERSAL(sssp, "shortest paths by frontier relaxations over a weighted graph in host memory",
          "2.5; EMOGI 382dbcc, sssp.cu");
TRAVERSAL(pagerank, "delta-push PageRank over a graph in host memory", "2.5; EMOGI 382dbcc, pagerank.cu");
