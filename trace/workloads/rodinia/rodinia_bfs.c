/* rodinia-bfs: breadth-first search, a thread for each node and two kernels for each level, the last one too, which
 * finds no new node.
 *
 * Kernel visits the edges of the nodes of a level: after a node that was not visited the thread loads its own degree
 * and start again, as the stores might have changed them. Kernel2 moves what was found on. Lanes with longer lists go
 * on while the others wait. At level k MASK is set for nodes of level k, VIS for those up to k, UPD behind Kernel for
 * those of level k + 1: the search itself is done once, when the program is opened.
 * graph=random, as Rodinia's generator: each node in turn draws 2, 3 or 4 partners among all nodes; both get an edge,
 * in the order of drawing. ring: node i and its neighbours i-1, i+1.
 * Worked example: a ring of 64 nodes, level 0: warp 0 loads MASK, then lane 0 its degree and start, and 5 loads for
 * each of its 2 edges; warp 1 loads MASK. A ring of 4 from node 0: levels 0, 1, 2, 1.
 * Uses and instructions: assumed. order=hoisted: degree and start are awaited together.
 * Source: Rodinia 3.1, cuda/bfs/bfs.cu, kernel.cu, kernel2.cu, data/bfs/inputGen/graphgen.cpp; n = 10^6, source 0: the
 * F3FS artifact (graph1MW_6.txt).
 * Differs: the graph is drawn by another random generator; the copies of OVER between levels are left out. */
#include <string.h>

#include "trace/program/layout.h"
#include "trace/workloads/rodinia/rodinia.h"

enum { THREADS = 512, GUARD = 6, LEAST = 2, DRAWN = 3 /* 2, 3 or 4 partners */, AHEAD = 16, TWICE = 32, THRICE = 48 };
enum { NODE, EDGE, MASK, UPD, VIS, COST, OVER };

struct bfs {
    struct layout layout;
    int64_t n, graph, seed;
    uint32_t *start;         /* n + 1: of the list of each */
    uint32_t *edges, *level; /* level: UINT32_MAX: never reached */
    uint32_t levels;         /* 1 + the highest */
};

static const struct param bfs_keys[] = {
    PARAM_INT_ROW(bfs, n, "", 1, 1 << 24, 1000000, "nodes"),
    PARAM_CHOICE_ROW(bfs, graph, "random|ring", 0, "2 to 4 partners drawn by each node, or a ring"),
    PARAM_INT_ROW(bfs, seed, "", 0, 0x1p53, 1, "of the graph"),
    RODINIA_KEYS("time of a warp's edge, its data at hand")};

/* --- the kernels --- */

/* Which of the lanes' nodes are of a level. */
static uint32_t of_level(const struct emit *e, uint32_t level)
{
    const uint32_t *levels = ((const struct bfs *)e->state)->level + e->at.thread;
    uint32_t mask = 0;
    EMIT_LANES (l, e->active)
        mask |= (uint32_t)(levels[l] == level) << l;
    return mask;
}

/* A field of the lanes' own nodes: 0, the start of the list; 1, the degree. */
static void load_node(const struct emit *e, unsigned field)
{
    emit_apart(emit_load(e, NODE, 2 * e->at.thread + field, 2, 1), 2);
}

/* The lanes' own flags, a byte each: a load, or a store. */
static struct program_access *flag(const struct emit *e, unsigned array, bool store)
{
    struct emit flags = emit_of(e, 1);
    struct program_access *a = emit_load(&flags, array, e->at.thread, 2, 1);
    return store ? emit_as(a, RECORD_WRITE) : a;
}

/* Edge number i of the lanes that have one. */
static int visit(struct emit *e, uint32_t set, uint32_t level, uint32_t i)
{
    const struct bfs *b = e->state;
    int64_t at[PROGRAM_LANES] = {0}, id[PROGRAM_LANES] = {0};
    uint32_t fresh = 0;
    e->active = 0;
    EMIT_LANES (l, set) {
        const uint32_t *start = &b->start[e->at.thread + l];
        if (start[0] + i >= start[1])
            continue;
        at[l] = (int64_t)start[0] + i;
        id[l] = b->edges[at[l]];
        e->active |= 1u << l;
        fresh |= (uint32_t)(b->level[id[l]] > level) << l;
        if (start[0] + i + 1 < start[1])
            __builtin_prefetch(&b->level[b->edges[at[l] + 1]]); /* of the next edge; they lie anywhere */
    }
    if (!e->active)
        return 0;
    struct emit flags = emit_of(e, 1);
    emit_gather(e, EDGE, at, 2, 1);
    emit_gather(&flags, VIS, id, 2, 1);
    e->active = flags.active = fresh;
    if (fresh) {
        emit_load(e, COST, e->at.thread, 2, 1);
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
    const uint32_t *start = ((const struct bfs *)e->state)->start + e->at.thread, level = e->launch / 2;
    uint32_t set = of_level(e, level);
    if (e->index > 0)
        return visit(e, set, level, e->index - 1);
    flag(e, MASK, false);
    e->active = set;
    if (set) {
        flag(e, MASK, true);
        load_node(e, 1);
        EMIT_LANES (l, set)
            if (start[l + 1] == start[l])
                e->active &= ~(1u << l);
        if (e->active)
            load_node(e, 0);
    }
    return emit_end(e, 2);
}

static int kernel2(struct emit *e)
{
    flag(e, UPD, false);
    e->active = of_level(e, e->launch / 2 + 1);
    if (e->active) {
        struct emit over = emit_of(e, 1);
        flag(e, MASK, true);
        flag(e, VIS, true);
        emit_same(emit_store(&over, OVER, 0, 2));
        flag(e, UPD, true);
    }
    return emit_end(e, 2);
}

/* --- the graph, and in which level each node is reached --- */

/* An edge both ways: counted in start[node + 2], or filed at start[node + 1]. */
static void enter(struct bfs *b, const uint32_t pair[2], bool file)
{
    for (int way = 0; way < 2; way++)
        if (file)
            b->edges[b->start[pair[way] + 1]++] = pair[1 - way];
        else
            b->start[pair[way] + 2]++;
}

/* Go over all draws, in their order: what they need lies anywhere, and is fetched before. */
static void draw(struct bfs *b, bool file)
{
    struct random r = {b->seed};
    const uint32_t nodes = (uint32_t)b->n;
    uint32_t late[TWICE][2];
    uint64_t drawn = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t n = b->graph ? 1 : LEAST + random_below(&r, DRAWN);
        for (uint32_t k = 0; k < n; k++, drawn++) {
            uint32_t *pair = late[drawn % TWICE];
            if (drawn >= TWICE)
                enter(b, pair, file);
            pair[0] = i;
            pair[1] = b->graph ? (i + 1) % nodes : random_below(&r, nodes);
            __builtin_prefetch(&b->start[pair[1] + 1], 1);
            if (file && drawn >= AHEAD)
                __builtin_prefetch(&b->edges[b->start[late[(drawn - AHEAD) % TWICE][1] + 1]], 1);
        }
    }
    for (uint64_t d = drawn < TWICE ? 0 : drawn - TWICE; d < drawn; d++)
        enter(b, late[d % TWICE], file);
}

/* Fetch what nodes further back in the queue need: start, list, levels. */
static void expect(const struct bfs *b, const uint32_t *queue, uint32_t n)
{
    if (n > THRICE)
        __builtin_prefetch(&b->start[queue[THRICE]]);
    if (n > TWICE)
        __builtin_prefetch(&b->edges[b->start[queue[TWICE]]]);
    for (uint32_t i = 0, v = queue[n > AHEAD ? AHEAD : 0]; i < b->start[v + 1] - b->start[v]; i++)
        __builtin_prefetch(&b->level[b->edges[b->start[v] + i]]);
}

/* Breadth first from node 0; `queue` has room for all nodes. */
static void find_levels(struct bfs *b, uint32_t *queue)
{
    uint32_t end = 1;
    memset(b->level, 0xff, b->n * sizeof *b->level);
    b->level[0] = queue[0] = 0;
    for (uint32_t at = 0; at < end; at++) {
        uint32_t v = queue[at];
        expect(b, queue + at, end - at);
        b->levels = b->level[v] + 1;
        for (uint32_t i = b->start[v]; i < b->start[v + 1]; i++)
            if (b->level[b->edges[i]] == UINT32_MAX) {
                b->level[b->edges[i]] = b->levels;
                queue[end++] = b->edges[i];
            }
    }
}

static int search(struct bfs *b, struct err *err)
{
    b->start = mem_zalloc(b->n + 2, sizeof *b->start, err);
    b->level = b->start ? mem_zalloc(b->n, 2 * sizeof *b->level, err) : NULL;
    if (!b->level)
        return -1;
    draw(b, false);
    for (int64_t i = 2; i < b->n + 2; i++)
        b->start[i] += b->start[i - 1];
    b->edges = mem_zalloc(b->start[b->n + 1], sizeof *b->edges, err);
    if (!b->edges)
        return -1;
    draw(b, true);
    find_levels(b, b->level + b->n);
    return 0;
}

static void bfs_close(void *state)
{
    struct bfs *b = state;
    free(b->start);
    free(b->edges);
    free(b->level);
    free(b);
}

static int bfs_init(struct bfs *b, struct err *err)
{
    uint64_t n = b->n;
    uint32_t threads = n < THREADS ? (uint32_t)n : THREADS;
    if (search(b, err))
        return -1;
    LAYOUT_ARRAYS(&b->layout, {"+graph_nodes", 8 * n}, {"+graph_edges", 4 * (uint64_t)b->start[n]},
                  {"+graph_mask|updating_mask|graph_visited", n}, {"+cost", 4 * n}, {"+over", 1});
    layout_kernel(&b->layout, kernel, "Kernel", layout_blocks(n, threads), threads, 20, 0);
    layout_guard(&b->layout, n, GUARD);
    layout_straight(&b->layout, kernel2, "Kernel2", layout_blocks(n, threads), threads, 6, 0);
    layout_guard(&b->layout, n, GUARD);
    b->layout.kernel[1].launch.waited = true; /* whether a level follows is read behind it */
    b->layout.launches = 2 * b->levels;
    return 0;
}

RODINIA(bfs, "bfs", "bfs", "breadth-first search with a thread for each node, as the F3FS artifact runs it", bfs_close);
