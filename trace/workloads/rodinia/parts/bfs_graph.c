#include "trace/workloads/rodinia/parts/bfs_graph.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"

enum { LEAST = 2, DRAWN = 3 /* 2, 3 or 4 */ };

/* Go over all draws: count them in start[node + 2], or file them at start[node + 1]. */
static void draw(struct bfs_graph *g, bool ring, uint64_t seed, bool file)
{
    struct random r = {seed};
    for (uint32_t i = 0; i < g->nodes; i++) {
        uint32_t n = ring ? 1 : LEAST + random_below(&r, DRAWN);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t other = ring ? (i + 1) % g->nodes : random_below(&r, g->nodes);
            uint32_t pair[2][2] = {{i, other}, {other, i}};
            for (int way = 0; way < 2; way++)
                if (file)
                    g->edges[g->start[pair[way][0] + 1]++] = pair[way][1];
                else
                    g->start[pair[way][0] + 2]++;
        }
    }
}

/* Breadth first from node 0; `queue` has room for all nodes. */
static void find_levels(struct bfs_graph *g, uint32_t *queue)
{
    uint32_t end = 1;
    memset(g->level, 0xff, g->nodes * sizeof *g->level);
    g->level[0] = queue[0] = 0;
    for (uint32_t at = 0; at < end; at++) {
        uint32_t v = queue[at];
        g->levels = g->level[v] + 1;
        for (uint32_t i = g->start[v]; i < g->start[v + 1]; i++)
            if (g->level[g->edges[i]] == UINT32_MAX) {
                g->level[g->edges[i]] = g->levels;
                queue[end++] = g->edges[i];
            }
    }
}

int bfs_graph_init(struct bfs_graph *g, uint32_t nodes, bool ring, uint64_t seed, struct err *err)
{
    *g = (struct bfs_graph){.nodes = nodes};
    g->start = mem_zalloc((size_t)nodes + 2, sizeof *g->start, err);
    g->level = g->start ? mem_zalloc(nodes, sizeof *g->level, err) : NULL;
    if (!g->level)
        return -1;
    draw(g, ring, seed, false);
    for (uint32_t i = 2; i < nodes + 2; i++)
        g->start[i] += g->start[i - 1];
    g->edges = mem_zalloc(g->start[nodes + 1], sizeof *g->edges, err);
    uint32_t *queue = g->edges ? mem_zalloc(nodes, sizeof *queue, err) : NULL;
    if (!queue)
        return -1;
    draw(g, ring, seed, true);
    find_levels(g, queue);
    free(queue);
    return 0;
}

void bfs_graph_release(struct bfs_graph *g)
{
    free(g->start);
    free(g->edges);
    free(g->level);
    memset(g, 0, sizeof *g);
}
