#include "trace/graph/graph_list.h"

#include <inttypes.h>

static int vertex(struct graph_list *list, uint64_t id, uint32_t *v, struct err *err)
{
    if (list->options->relabel)
        return dense_number(&list->labels, id, v, err);
    if (id >= UINT32_MAX - 1)
        return err_set(err, "vertex id %" PRIu64 " is too large; expected below 2^32 - 2, or --relabel", id);
    *v = (uint32_t)id;
    if (id + 1 > list->vertices)
        list->vertices = id + 1;
    return 0;
}

int graph_list_edge(struct graph_list *list, uint64_t from, uint64_t to, bool weighted, int32_t weight, struct err *err)
{
    uint32_t u, v;
    if (vertex(list, from, &u, err) || vertex(list, to, &v, err))
        return -1;
    return graph_builder_add(&list->builder, u, v, weighted, weight, err);
}

static bool far_apart(uint64_t vertices, uint64_t edges)
{
    return vertices > 64 * (edges + 1) && vertices > (1ULL << 24);
}

int graph_list_sides(uint64_t vertices, uint64_t entries, struct err *err)
{
    if (far_apart(vertices, entries))
        return err_set(err, "%" PRIu64 " rows or columns for %" PRIu64 " entries: too sparse to be a graph", vertices,
                       entries);
    return 0;
}

int graph_list_check(uint64_t vertices, uint64_t edges, struct err *err)
{
    if (far_apart(vertices, edges))
        return err_set(err, "the largest id is %" PRIu64 " but there are only %" PRIu64 " edges; expected --relabel",
                       vertices - 1, edges);
    return 0;
}

int graph_list_finish(struct graph_list *list, struct graph *graph, struct err *err)
{
    uint64_t vertices = list->options->relabel ? list->labels.count : list->vertices;
    if (graph_list_check(vertices, list->builder.count, err))
        return -1;
    return graph_builder_finish(&list->builder, vertices, list->options->undirected ? GRAPH_MIRROR : 0, graph, err);
}

void graph_list_release(struct graph_list *list)
{
    graph_builder_release(&list->builder);
    dense_release(&list->labels);
}
