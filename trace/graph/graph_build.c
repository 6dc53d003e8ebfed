#include "trace/graph/graph_build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

int graph_builder_add(struct graph_builder *b, uint32_t from, uint32_t to, bool has_weight, int32_t weight,
                      struct err *err)
{
    if (mem_grow((void **)&b->edges, &b->cap, b->count + 1, sizeof *b->edges, err))
        return -1;
    if (has_weight && mem_grow((void **)&b->weights, &b->weight_cap, b->count + 1, sizeof *b->weights, err))
        return -1;
    b->edges[b->count] = (struct graph_edge){from, to};
    if (has_weight)
        b->weights[b->count] = weight;
    b->count++;
    return 0;
}

void graph_builder_release(struct graph_builder *b)
{
    free(b->edges);
    free(b->weights);
    memset(b, 0, sizeof *b);
}

/* Count the elements of every vertex into offsets[v + 1], then sum them up. */
static void count(const struct graph_builder *b, int flags, struct graph *g)
{
    for (size_t i = 0; i < b->count; i++) {
        struct graph_edge e = b->edges[i];
        if (e.from == e.to) {
            g->offsets[e.from + 1ULL] += !(flags & GRAPH_DROP_LOOPS);
            continue;
        }
        g->offsets[e.from + 1ULL]++;
        if (flags & GRAPH_MIRROR)
            g->offsets[e.to + 1ULL]++;
    }
    for (uint64_t v = 0; v < g->vertices; v++)
        g->offsets[v + 1] += g->offsets[v];
    g->elements = g->offsets[g->vertices];
}

static void place(struct graph *g, uint64_t *cursor, uint32_t from, uint32_t to, const int32_t *weight)
{
    uint64_t at = cursor[from]++;
    g->targets[at] = to;
    if (weight)
        g->weights[at] = *weight;
}

static void fill(const struct graph_builder *b, int flags, struct graph *g, uint64_t *cursor)
{
    for (size_t i = 0; i < b->count; i++) {
        struct graph_edge e = b->edges[i];
        const int32_t *w = b->weights ? &b->weights[i] : NULL;
        if (e.from == e.to && (flags & GRAPH_DROP_LOOPS))
            continue;
        place(g, cursor, e.from, e.to, w);
        if ((flags & GRAPH_MIRROR) && e.from != e.to)
            place(g, cursor, e.to, e.from, w);
    }
}

static void insertion_sort(uint32_t *ids, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        uint32_t id = ids[i];
        uint64_t j = i;
        for (; j > 0 && ids[j - 1] > id; j--)
            ids[j] = ids[j - 1];
        ids[j] = id;
    }
}

/* A byte at a time, the lowest first; `other` is scratch of the same size. */
static void radix_sort(uint32_t *ids, uint32_t *other, uint64_t n)
{
    uint32_t differ = 0, *at = ids;
    for (uint64_t i = 1; i < n; i++)
        differ |= ids[i] ^ ids[0];
    for (unsigned shift = 0; shift < 32; shift += 8) {
        uint64_t start[257] = {0};
        if (!(differ >> shift & 255))
            continue;
        for (uint64_t i = 0; i < n; i++)
            start[(at[i] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            start[i + 1] += start[i];
        for (uint64_t i = 0; i < n; i++)
            other[start[at[i] >> shift & 255]++] = at[i];
        uint32_t *t = at;
        at = other;
        other = t;
    }
    if (at != ids)
        memcpy(ids, at, n * sizeof *ids);
}

/* Short lists in pieces, which are merged. */
static void sort_list(uint32_t *ids, uint32_t *other, uint64_t n)
{
    enum { FEW = 24, MANY = 512 };
    if (n > MANY) {
        radix_sort(ids, other, n);
        return;
    }
    for (uint64_t i = 0; i < n; i += FEW)
        insertion_sort(ids + i, n - i < FEW ? n - i : FEW);
    uint32_t *from = ids, *to = other;
    for (uint64_t width = FEW; width < n; width *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * width) {
            uint64_t a = i, middle = i + width < n ? i + width : n, b = middle,
                     end = i + 2 * width < n ? i + 2 * width : n;
            for (uint64_t k = i; k < end; k++)
                to[k] = a < middle && (b == end || from[a] <= from[b]) ? from[a++] : from[b++];
        }
        uint32_t *t = from;
        from = to;
        to = t;
    }
    if (from != ids)
        memcpy(ids, from, n * sizeof *ids);
}

static uint64_t longest(const struct graph *g)
{
    uint64_t most = 0;
    for (uint64_t v = 0; v < g->vertices; v++)
        most = graph_degree(g, v) > most ? graph_degree(g, v) : most;
    return most;
}

/* Lists without weights: sort the ids alone. */
static int sort_plain(struct graph *g, struct err *err)
{
    const uint64_t most = longest(g);
    int failed = 0;
#pragma omp parallel reduction(+ : failed)
    {
        struct err own;
        uint32_t *scratch = mem_zalloc(most, sizeof *scratch, &own);
        failed = !scratch;
#pragma omp for schedule(dynamic, 4096)
        for (uint64_t v = 0; v < g->vertices; v++)
            if (scratch)
                sort_list(g->targets + g->offsets[v], scratch, graph_degree(g, v));
        free(scratch);
    }
    return failed ? err_set(err, "out of memory: lists of %llu ids to sort", (unsigned long long)most) : 0;
}

struct weighted {
    uint32_t id;
    int32_t weight;
    uint64_t order;
};

static int by_id_then_order(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int sort_weighted(struct graph *g, struct err *err)
{
    struct weighted *list = NULL;
    size_t cap = 0;
    for (uint64_t v = 0; v < g->vertices; v++) {
        uint64_t n = graph_degree(g, v), start = g->offsets[v];
        if (n < 2)
            continue;
        if (mem_grow((void **)&list, &cap, n, sizeof *list, err)) {
            free(list);
            return -1;
        }
        for (uint64_t i = 0; i < n; i++)
            list[i] = (struct weighted){g->targets[start + i], g->weights[start + i], i};
        qsort(list, n, sizeof *list, by_id_then_order);
        for (uint64_t i = 0; i < n; i++) {
            g->targets[start + i] = list[i].id;
            g->weights[start + i] = list[i].weight;
        }
    }
    free(list);
    return 0;
}

/* Keep the first of equal neighbours, moving everything down in place. */
static void unique(struct graph *g)
{
    uint64_t to = 0, start = 0;
    for (uint64_t v = 0; v < g->vertices; v++) {
        uint64_t end = g->offsets[v + 1], first = to;
        for (uint64_t i = start; i < end; i++) {
            if (to > first && g->targets[to - 1] == g->targets[i])
                continue;
            g->targets[to] = g->targets[i];
            if (g->weights)
                g->weights[to] = g->weights[i];
            to++;
        }
        start = end;
        g->offsets[v + 1] = to;
    }
    g->elements = to;
    uint32_t *smaller = realloc(g->targets, (to ? to : 1) * sizeof *smaller);
    if (smaller)
        g->targets = smaller;
}

static int build(struct graph_builder *b, uint64_t vertices, int flags, struct graph *g, struct err *err)
{
    if (vertices >= SIZE_MAX / sizeof(uint64_t) - 1)
        return err_set(err, "%llu vertices are too many", (unsigned long long)vertices);
    g->vertices = vertices;
    g->symmetric = (flags & GRAPH_MIRROR) != 0;
    g->offsets = mem_zalloc(vertices + 1, sizeof *g->offsets, err);
    if (!g->offsets)
        return -1;
    count(b, flags, g);
    g->targets = mem_zalloc(g->elements, sizeof *g->targets, err);
    if (!g->targets || (b->weights && !(g->weights = mem_zalloc(g->elements, sizeof *g->weights, err))))
        return -1;
    uint64_t *cursor = mem_zalloc(vertices + 1, sizeof *cursor, err);
    if (!cursor)
        return -1;
    memcpy(cursor, g->offsets, (vertices + 1) * sizeof *cursor);
    fill(b, flags, g, cursor);
    free(cursor);
    graph_builder_release(b);
    if ((flags & GRAPH_SORT) && g->weights && sort_weighted(g, err))
        return -1;
    if ((flags & GRAPH_SORT) && !g->weights && sort_plain(g, err))
        return -1;
    if (flags & GRAPH_UNIQUE)
        unique(g);
    return 0;
}

int graph_builder_finish(struct graph_builder *b, uint64_t vertices, int flags, struct graph *g, struct err *err)
{
    memset(g, 0, sizeof *g);
    int rc = build(b, vertices, flags, g, err);
    graph_builder_release(b);
    if (rc)
        graph_release(g);
    return rc;
}

static int vertex(struct graph_list *list, uint64_t id, uint32_t *v, struct err *err)
{
    if (list->options->relabel)
        return id_map_number(&list->labels, id, v, err);
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
    id_map_release(&list->labels);
}
