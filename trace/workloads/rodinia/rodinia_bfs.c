/* rodinia-bfs: breadth-first search, a thread for each node and two kernels for each level.
 *
 * Blocks of 512 threads (of n, where that is less), as many as cover n nodes. Thread g:
 *     Kernel:  if (g < n) MASK[g]; if set: store MASK[g]; NODE[g].degree; if > 0: NODE[g].start; for each edge:
 *              EDGE[i]; VIS[id]; if not visited: COST[g]; store COST[id], UPD[id]; NODE[g].degree, .start again, as
 *              the stores might have changed them
 *     Kernel2: if (g < n) UPD[g]; if set: store MASK[g], VIS[g], OVER, UPD[g]
 * for every level, the last one too, which finds no new node. Lanes whose lists are longer go on while the others
 * wait. At level k MASK is set for nodes of level k, VIS for those up to k, UPD behind Kernel for those of level k +
 * 1: the search itself is done once, when the program is opened.
 * Arrays on 256 B from 0xC0000000 on: NODE (start, degree: 8 B a node), EDGE, MASK, UPD, VIS (a byte a node), COST,
 * OVER (a byte); the CPU has written all.
 * Worked example: a ring of 64 nodes, level 0: warp 0 loads MASK, then lane 0 its degree and start, and 5 loads for
 * each of its 2 edges; warp 1 loads MASK.
 * Uses and instructions: every value is used by the next instruction, two instructions before an access: assumed.
 * order=hoisted: degree and start are awaited together.
 * Source: Rodinia 3.1, cuda/bfs/bfs.cu, kernel.cu, kernel2.cu; n = 10^6, source 0: the F3FS artifact
 * (graph1MW_6.txt); registers: nvcc 13.0 -O3 for compute capability 7.5.
 * Differs: the graph is drawn anew (parts/bfs_graph.h); the copies of OVER between levels are left out. */
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/rodinia/emit.h"
#include "trace/workloads/rodinia/parts/bfs_graph.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 512, GUARD = 6, ARRAYS = 7 };
enum { NODE, EDGE, MASK, UPD, VIS, COST, OVER };

struct bfs_params {
    int64_t n, graph, seed, order, compute_ns;
};

struct bfs {
    struct bfs_params p;
    struct bfs_graph graph;
    struct program_alloc allocs[ARRAYS];
};

static const struct param bfs_params[] = {
    PARAM_INT_ROW(bfs_params, n, "", 1, 1 << 24, 1000000, "nodes"),
    PARAM_CHOICE_ROW(bfs_params, graph, "random|ring", 0, "2 to 4 partners drawn by each node, or a ring"),
    PARAM_INT_ROW(bfs_params, seed, "", 0, 0x1p53, 1, "of the graph"),
    RODINIA_ORDER_ROW(bfs_params),
    PARAM_NS_AUTO_ROW(bfs_params, compute_ns, 0, 1e9, "time of a warp's edge, its data at hand"),
    {0}};

static void bfs_close(void *state)
{
    bfs_graph_release(&((struct bfs *)state)->graph);
    free(state);
}

static void *bfs_open(const void *params, struct err *err)
{
    struct bfs *b = mem_zalloc(1, sizeof *b, err);
    if (!b)
        return NULL;
    b->p = *(const struct bfs_params *)params;
    uint64_t n = (uint64_t)b->p.n;
    if (bfs_graph_init(&b->graph, (uint32_t)n, b->p.graph == 1, (uint64_t)b->p.seed, err)) {
        bfs_close(b);
        return NULL;
    }
    const struct program_alloc arrays[ARRAYS] = {{.name = "graph_nodes", .bytes = 8 * n},
                                                 {.name = "graph_edges", .bytes = 4 * (uint64_t)b->graph.start[n]},
                                                 {.name = "graph_mask", .bytes = n},
                                                 {.name = "updating_mask", .bytes = n},
                                                 {.name = "graph_visited", .bytes = n},
                                                 {.name = "cost", .bytes = 4 * n},
                                                 {.name = "over", .bytes = 1}};
    for (unsigned i = 0; i < ARRAYS; i++) {
        b->allocs[i] = arrays[i];
        b->allocs[i].host = true;
    }
    program_place(b->allocs, ARRAYS, RODINIA_BASE, RODINIA_ALIGN);
    return b;
}

static const struct program_alloc *bfs_allocs(const void *state, size_t *n)
{
    *n = ARRAYS;
    return ((const struct bfs *)state)->allocs;
}

static uint32_t bfs_launches(const void *state)
{
    return 2 * ((const struct bfs *)state)->graph.levels;
}

static void bfs_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    uint32_t n = ((const struct bfs *)state)->graph.nodes, threads = n < THREADS ? n : THREADS;
    *out = (struct program_launch){.kernel = launch % 2 ? "Kernel2" : "Kernel",
                                   .blocks = (n + threads - 1) / threads,
                                   .threads = threads,
                                   .registers = launch % 2 ? 6 : 20};
}

/* Which of the lanes' nodes are of a level. */
static uint32_t of_level(const struct bfs *b, uint64_t first, uint32_t lanes, uint32_t level)
{
    uint32_t mask = 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        mask |= (uint32_t)(b->graph.level[first + l] == level) << l;
    }
    return mask;
}

/* A field of the lanes' own nodes, 0 or 1. */
static void load_node(const struct emit *e, uint64_t first, unsigned field)
{
    (void)emit_apart(emit_load(e, NODE, (int64_t)(2 * first + field), 2, 1), 2);
}

static void flag(struct emit *e, unsigned array, uint64_t first, bool store)
{
    e->bytes = 1;
    struct program_access *a = emit_load(e, array, (int64_t)first, 2, !store);
    a->kind = store ? RECORD_WRITE : RECORD_READ;
    e->bytes = 4;
}

/* Kernel, body 0: whether a node is of the level, and its list. */
static void begin(const struct bfs *b, struct emit *e, uint64_t first, uint32_t set)
{
    uint32_t listed = 0;
    flag(e, MASK, first, false);
    e->body->after = 2;
    if (!set)
        return;
    e->active = set;
    flag(e, MASK, first, true);
    load_node(e, first, 1);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        if (set >> l & 1 && b->graph.start[first + l + 1] > b->graph.start[first + l])
            listed |= 1u << l;
    e->active = listed;
    if (listed)
        load_node(e, first, 0);
}

/* Kernel, edge number i of the lanes that have one. */
static int visit(const struct bfs *b, struct emit *e, uint64_t first, uint32_t set, uint32_t level, uint32_t i)
{
    const struct bfs_graph *g = &b->graph;
    int64_t at[PROGRAM_LANES] = {0}, id[PROGRAM_LANES] = {0};
    uint32_t fresh = 0;
    e->active = 0;
    for (; set; set &= set - 1) {
        unsigned l = (unsigned)__builtin_ctz(set);
        if (g->start[first + l] + i >= g->start[first + l + 1])
            continue;
        at[l] = (int64_t)g->start[first + l] + i;
        id[l] = g->edges[at[l]];
        e->active |= 1u << l;
        fresh |= (uint32_t)(g->level[id[l]] > level) << l;
    }
    if (!e->active)
        return 0;
    (void)emit_gather(e, EDGE, at, 2, 1);
    e->bytes = 1;
    (void)emit_gather(e, VIS, id, 2, 1);
    e->bytes = 4;
    e->active = fresh;
    if (fresh) {
        (void)emit_load(e, COST, (int64_t)first, 2, 1);
        (void)emit_scatter(e, COST, id, 2);
        e->bytes = 1;
        (void)emit_scatter(e, UPD, id, 2);
        e->bytes = 4;
        uint32_t again = e->body->count;
        load_node(e, first, 1);
        load_node(e, first, 0);
        rodinia_order(e->body, again, (enum rodinia_order)b->p.order);
    }
    e->body->after = 3;
    return 1;
}

static int kernel2(struct emit *e, uint64_t first, uint32_t set)
{
    flag(e, UPD, first, false);
    e->active = set;
    if (set) {
        flag(e, MASK, first, true);
        flag(e, VIS, first, true);
        flag(e, OVER, 0, true);
        (void)emit_same(&e->body->access[e->body->count - 1]);
        flag(e, UPD, first, true);
    }
    e->body->after = 2;
    return 1;
}

static int bfs_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err)
{
    const struct bfs *b = run;
    struct program_launch shape;
    (void)err;
    bfs_launch(b, launch, &shape);
    struct program_warp at = program_warp_at(&shape, warp);
    uint64_t left = at.thread < b->graph.nodes ? b->graph.nodes - at.thread : 0;
    struct emit e = emit_to(body, b->allocs, program_first_lanes(left < at.lanes ? left : at.lanes));
    if (!e.active)
        return program_no_trip(index, GUARD, body);
    uint32_t set = of_level(b, at.thread, e.active, launch / 2 + launch % 2);
    if (launch % 2)
        return index == 0 ? kernel2(&e, at.thread, set) : 0;
    if (index > 0)
        return visit(b, &e, at.thread, set, launch / 2, index - 1);
    begin(b, &e, at.thread, set);
    return 1;
}

static const struct program_ops bfs_ops = {
    .allocs = bfs_allocs, .launches = bfs_launches, .launch = bfs_launch, .body = bfs_body};

static int bfs_program(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){&bfs_ops, state, ((const struct bfs *)state)->p.compute_ns};
    return 0;
}

const struct workload_type workload_rodinia_bfs = {
    .name = "rodinia-bfs",
    .summary = "breadth-first search with a thread for each node, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/bfs",
    .produces = WORKLOAD_PROGRAM,
    .views = VIEW_UVM | VIEW_ZEROCOPY | VIEW_DRAM | VIEW_PLACEMENT,
    .params = bfs_params,
    .params_size = sizeof(struct bfs_params),
    .open = bfs_open,
    .close = bfs_close,
    .program = bfs_program,
};
