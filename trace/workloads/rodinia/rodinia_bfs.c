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

#include "trace/workloads/rodinia/parts/bfs_graph.h"
#include "trace/workloads/rodinia/rodinia.h"
#include "trace/workloads/rodinia/suite.h"

enum { THREADS = 512, GUARD = 6 };
enum { NODE, EDGE, MASK, UPD, VIS, COST, OVER };

struct bfs_params {
    int64_t n, graph, seed, order, compute_ns;
};

struct bfs {
    struct plan plan;
    struct bfs_graph graph;
};

static const struct param bfs_params[] = {
    PARAM_INT_ROW(bfs_params, n, "", 1, 1 << 24, 1000000, "nodes"),
    PARAM_CHOICE_ROW(bfs_params, graph, "random|ring", 0, "2 to 4 partners drawn by each node, or a ring"),
    PARAM_INT_ROW(bfs_params, seed, "", 0, 0x1p53, 1, "of the graph"),
    RODINIA_ORDER_ROW(bfs_params),
    PARAM_NS_AUTO_ROW(bfs_params, compute_ns, 0, 1e9, "time of a warp's edge, its data at hand"),
    {0}};

/* Which of the lanes' nodes are of a level. */
static uint32_t of_level(const struct emit *e, uint32_t level)
{
    const uint32_t *levels = ((const struct bfs *)e->state)->graph.level + e->at.thread;
    uint32_t mask = 0;
    for (uint32_t lanes = e->active; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        mask |= (uint32_t)(levels[l] == level) << l;
    }
    return mask;
}

/* A field of the lanes' own nodes: 0, the start of the list; 1, the degree. */
static void load_node(const struct emit *e, unsigned field)
{
    emit_apart(emit_load(e, NODE, 2 * (int64_t)e->at.thread + field, 2, 1), 2);
}

/* The lanes' own flags, a byte each. */
static void load_flag(const struct emit *e, unsigned array)
{
    struct emit flags = emit_of(e, 1);
    emit_load(&flags, array, (int64_t)e->at.thread, 2, 1);
}

static void set_flag(const struct emit *e, unsigned array)
{
    struct emit flags = emit_of(e, 1);
    emit_store(&flags, array, (int64_t)e->at.thread, 2);
}

/* Edge number i of the lanes that have one. */
static int visit(struct emit *e, uint32_t set, uint32_t level, uint32_t i)
{
    const struct bfs_graph *g = &((const struct bfs *)e->state)->graph;
    int64_t at[PROGRAM_LANES] = {0}, id[PROGRAM_LANES] = {0};
    uint32_t fresh = 0;
    e->active = 0;
    for (; set; set &= set - 1) {
        unsigned l = (unsigned)__builtin_ctz(set);
        const uint32_t *start = &g->start[e->at.thread + l];
        if (start[0] + i >= start[1])
            continue;
        at[l] = (int64_t)start[0] + i;
        id[l] = g->edges[at[l]];
        e->active |= 1u << l;
        fresh |= (uint32_t)(g->level[id[l]] > level) << l;
        if (start[0] + i + 1 < start[1])
            __builtin_prefetch(&g->level[g->edges[at[l] + 1]]); /* of the next edge; they lie anywhere */
    }
    if (!e->active)
        return 0;
    struct emit flags = emit_of(e, 1);
    emit_gather(e, EDGE, at, 2, 1);
    emit_gather(&flags, VIS, id, 2, 1);
    e->active = flags.active = fresh;
    if (fresh) {
        emit_load(e, COST, (int64_t)e->at.thread, 2, 1);
        emit_scatter(e, COST, id, 2);
        emit_scatter(&flags, UPD, id, 2);
        uint32_t again = e->body->count;
        load_node(e, 1);
        load_node(e, 0);
        emit_hoist(e, again);
    }
    return emit_end(e, 3);
}

/* Body 0: whether a node is of the level, and its list; then one for each edge. */
static int kernel(struct emit *e)
{
    const struct bfs *b = e->state;
    uint32_t level = e->launch / 2;
    uint32_t set = of_level(e, level);
    if (e->index > 0)
        return visit(e, set, level, e->index - 1);
    load_flag(e, MASK);
    e->active = set;
    if (set) {
        set_flag(e, MASK);
        load_node(e, 1);
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            if (set >> l & 1 && b->graph.start[e->at.thread + l + 1] == b->graph.start[e->at.thread + l])
                e->active &= ~(1u << l);
        if (e->active)
            load_node(e, 0);
    }
    return emit_end(e, 2);
}

static int kernel2(struct emit *e)
{
    load_flag(e, UPD);
    e->active = of_level(e, e->launch / 2 + 1);
    if (e->active) {
        set_flag(e, MASK);
        set_flag(e, VIS);
        struct emit over = emit_of(e, 1);
        emit_same(emit_store(&over, OVER, 0, 2));
        set_flag(e, UPD);
    }
    return emit_end(e, 2);
}

static void bfs_close(void *state)
{
    bfs_graph_release(&((struct bfs *)state)->graph);
    free(state);
}

static void *bfs_open(const void *params, struct err *err)
{
    const struct bfs_params *p = params;
    struct bfs *b = rodinia_new(sizeof *b, p->order, p->compute_ns, err);
    uint64_t n = (uint64_t)p->n;
    if (!b)
        return NULL;
    if (bfs_graph_init(&b->graph, (uint32_t)n, p->graph == 1, (uint64_t)p->seed, err)) {
        bfs_close(b);
        return NULL;
    }
    plan_input(&b->plan, "graph_nodes", 8 * n);
    plan_input(&b->plan, "graph_edges", 4 * (uint64_t)b->graph.start[n]);
    plan_input(&b->plan, "graph_mask", n);
    plan_input(&b->plan, "updating_mask", n);
    plan_input(&b->plan, "graph_visited", n);
    plan_input(&b->plan, "cost", 4 * n);
    plan_input(&b->plan, "over", 1);
    uint32_t threads = n < THREADS ? (uint32_t)n : THREADS;
    plan_kernel(&b->plan, kernel, "Kernel", plan_blocks(n, threads), threads, 20, 0);
    plan_guard(&b->plan, n, GUARD);
    plan_straight(&b->plan, kernel2, "Kernel2", plan_blocks(n, threads), threads, 6, 0);
    plan_guard(&b->plan, n, GUARD);
    b->plan.launches = 2 * b->graph.levels;
    return b;
}

const struct workload_type workload_rodinia_bfs = {
    .name = "rodinia-bfs",
    .summary = "breadth-first search with a thread for each node, as the F3FS artifact runs it",
    .source = "Rodinia 3.1 cuda/bfs",
    WORKLOAD_WITH_KEYS(bfs),
    .close = bfs_close,
    .program = plan_program,
};
