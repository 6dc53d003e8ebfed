#include "trace/graph/graph_reorder.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* --- ranks: least significant digit first, so that equal scores keep the order of ids --- */

struct keyed {
    uint64_t key;
    uint32_t id;
};

/* Bits that sort like the number, largest first. */
static uint64_t descending(double score)
{
    uint64_t bits;
    score += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof bits);
    bits = bits >> 63 ? ~bits : bits | 1ULL << 63;
    return ~bits;
}

static void radix_pass(const struct keyed *from, struct keyed *to, uint64_t n, int shift)
{
    enum { BUCKETS = 1 << 16 };
    static _Thread_local uint64_t at[BUCKETS];
    memset(at, 0, sizeof at);
    for (uint64_t i = 0; i < n; i++)
        at[from[i].key >> shift & (BUCKETS - 1)]++;
    uint64_t sum = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        uint64_t here = at[b];
        at[b] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < n; i++)
        to[at[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

uint32_t *graph_rank(const double *score, uint64_t vertices, struct err *err)
{
    if (vertices > UINT32_MAX) {
        err_set(err, "%llu vertices; at most %u can be ranked", (unsigned long long)vertices, UINT32_MAX);
        return NULL;
    }
    struct keyed *a = mem_zalloc(vertices, sizeof *a, err), *b = a ? mem_zalloc(vertices, sizeof *b, err) : NULL;
    uint32_t *map = b ? mem_zalloc(vertices, sizeof *map, err) : NULL;
    if (map) {
        for (uint64_t v = 0; v < vertices; v++)
            a[v] = (struct keyed){descending(score[v]), (uint32_t)v};
        for (int shift = 0; shift < 64; shift += 32) {
            radix_pass(a, b, vertices, shift);
            radix_pass(b, a, vertices, shift + 16);
        }
        for (uint64_t i = 0; i < vertices; i++)
            map[a[i].id] = (uint32_t)i;
    }
    free(a);
    free(b);
    return map;
}

/* --- renumbering --- */

static int check_permutation(const uint32_t *map, uint64_t n, struct err *err)
{
    unsigned char *seen = mem_zalloc((n + 7) / 8, 1, err);
    if (!seen)
        return -1;
    int rc = 0;
    for (uint64_t v = 0; v < n && !rc; v++) {
        if (map[v] >= n || (seen[map[v] / 8] >> (map[v] % 8) & 1))
            rc = err_set(err, "the mapping is no permutation: vertex %llu goes to %u", (unsigned long long)v, map[v]);
        else
            seen[map[v] / 8] |= (unsigned char)(1 << (map[v] % 8));
    }
    free(seen);
    return rc;
}

static int allocate(struct graph *out, const struct graph *like, struct err *err)
{
    memset(out, 0, sizeof *out);
    out->vertices = like->vertices;
    out->elements = like->elements;
    out->symmetric = like->symmetric;
    out->offsets = mem_zalloc(like->vertices + 1, sizeof *out->offsets, err);
    out->targets = mem_zalloc(like->elements, sizeof *out->targets, err);
    if (like->weights)
        out->weights = mem_zalloc(like->elements, sizeof *out->weights, err);
    if (!out->offsets || !out->targets || (like->weights && !out->weights)) {
        graph_release(out);
        return -1;
    }
    return 0;
}

int graph_reorder(const struct graph *graph, const uint32_t *map, struct graph *out, struct err *err)
{
    memset(out, 0, sizeof *out);
    if (graph->vertices > UINT32_MAX)
        return err_set(err, "%llu vertices; at most %u can be renumbered", (unsigned long long)graph->vertices,
                       UINT32_MAX);
    if (check_permutation(map, graph->vertices, err) || allocate(out, graph, err))
        return -1;
    for (uint64_t v = 0; v < graph->vertices; v++)
        out->offsets[map[v] + 1ULL] = graph_degree(graph, v);
    for (uint64_t v = 0; v < graph->vertices; v++)
        out->offsets[v + 1] += out->offsets[v];
#pragma omp parallel for schedule(dynamic, 4096)
    for (uint64_t v = 0; v < graph->vertices; v++) {
        uint64_t to = out->offsets[map[v]];
        for (uint64_t i = graph->offsets[v]; i < graph->offsets[v + 1]; i++, to++) {
            out->targets[to] = map[graph_target(graph, i)];
            if (graph->weights)
                out->weights[to] = graph->weights[i];
        }
    }
    return 0;
}

uint64_t *graph_in_degrees(const struct graph *graph, struct err *err)
{
    uint64_t *in = mem_zalloc(graph->vertices, sizeof *in, err);
    if (!in)
        return NULL;
    if (graph->symmetric) {
        for (uint64_t v = 0; v < graph->vertices; v++)
            in[v] = graph_degree(graph, v);
        return in;
    }
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < graph->elements; i++) {
        uint64_t *slot = &in[graph_target(graph, i)];
#pragma omp atomic
        (*slot)++;
    }
    return in;
}

int graph_transpose(const struct graph *graph, struct graph *out, struct err *err)
{
    memset(out, 0, sizeof *out);
    if (graph->vertices > UINT32_MAX)
        return err_set(err, "%llu vertices; at most %u can be transposed", (unsigned long long)graph->vertices,
                       UINT32_MAX);
    uint64_t *next = graph_in_degrees(graph, err);
    if (!next || allocate(out, graph, err)) {
        free(next);
        return -1;
    }
    for (uint64_t v = 0; v < graph->vertices; v++) {
        out->offsets[v + 1] = out->offsets[v] + next[v];
        next[v] = out->offsets[v];
    }
    for (uint64_t u = 0; u < graph->vertices; u++)
        for (uint64_t i = graph->offsets[u]; i < graph->offsets[u + 1]; i++) {
            uint64_t to = next[graph_target(graph, i)]++;
            out->targets[to] = (uint32_t)u;
            if (graph->weights)
                out->weights[to] = graph->weights[i];
        }
    free(next);
    return 0;
}
