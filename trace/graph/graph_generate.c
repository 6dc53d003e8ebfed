#include "trace/graph/graph_generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_build.h"

/* --- kron and urand --- */

static int check_size(int scale, int64_t k, struct err *err)
{
    if (scale < 0 || scale > 31 || k < 1 || k > 1024)
        return err_set(err, "scale %d and k %lld; expected scale 0 to 31 and k 1 to 1024", scale, (long long)k);
    return 0;
}

/* Room for n edges. */
static int reserve(struct graph_builder *b, uint64_t n, struct err *err)
{
    b->edges = mem_zalloc(n, sizeof *b->edges, err);
    if (!b->edges)
        return err_at(err, "a graph of %llu edges", (unsigned long long)n);
    b->cap = b->count = n;
    return 0;
}

static uint32_t *permutation(uint64_t n, uint64_t seed, struct err *err)
{
    uint32_t *perm = mem_zalloc(n, sizeof *perm, err);
    if (!perm)
        return NULL;
    for (uint64_t i = 0; i < n; i++)
        perm[i] = (uint32_t)i;
    random_shuffle(perm, n, seed);
    return perm;
}

enum { BESIDE = 16 }; /* edges that are drawn beside each other: each bit waits for the one before it */

/* Edges j to j + BESIDE - 1. */
static inline __attribute__((always_inline)) void kron_edges(int scale, uint64_t seed, uint64_t j,
                                                             struct graph_edge edge[BESIDE])
{
    uint64_t r[BESIDE];
    uint32_t u[BESIDE] = {0}, v[BESIDE] = {0};
    for (int i = 0; i < BESIDE; i++)
        r[i] = random_mix(seed * 104729 + j + (uint64_t)i);
    for (int b = 0; b < scale; b++)
        for (int i = 0; i < BESIDE; i++) {
            r[i] = random_mix(r[i]);
            uint32_t p = (uint32_t)(r[i] >> 32) % 100;
            u[i] = u[i] << 1 | (p >= 76); /* no branches: nobody could foretell them */
            v[i] = v[i] << 1 | ((p >= 57) ^ (p >= 76) ^ (p >= 95));
        }
    for (int i = 0; i < BESIDE; i++)
        edge[i] = (struct graph_edge){u[i], v[i]};
}

typedef void kron_fn(int scale, uint64_t seed, uint64_t j, struct graph_edge edge[BESIDE]);

static void kron_plain(int scale, uint64_t seed, uint64_t j, struct graph_edge edge[BESIDE])
{
    kron_edges(scale, seed, j, edge);
}

#ifdef __x86_64__
/* Eight 64-bit products at once: a fifth of the time. */
__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw"))) static void
kron_wide(int scale, uint64_t seed, uint64_t j, struct graph_edge edge[BESIDE])
{
    kron_edges(scale, seed, j, edge);
}
#endif

static kron_fn *kron_best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return kron_wide;
#endif
    return kron_plain;
}

enum { BUILD_SIMPLE = GRAPH_MIRROR | GRAPH_DROP_LOOPS | GRAPH_SORT | GRAPH_UNIQUE };

int graph_kron(int scale, int64_t k, uint64_t seed, struct graph *graph, struct err *err)
{
    if (check_size(scale, k, err))
        return -1;
    uint64_t vertices = 1ULL << scale, edges = vertices * (uint64_t)k;
    uint32_t *perm = permutation(vertices, seed, err);
    struct graph_builder b = {0};
    if (!perm || reserve(&b, edges, err)) {
        free(perm);
        return -1;
    }
    kron_fn *const draw = kron_best();
#pragma omp parallel for schedule(static)
    for (uint64_t j = 0; j < edges; j += BESIDE) {
        struct graph_edge e[BESIDE];
        draw(scale, seed, j, e);
        for (uint64_t i = 0; i < BESIDE && j + i < edges; i++)
            b.edges[j + i] = (struct graph_edge){perm[e[i].from], perm[e[i].to]};
    }
    free(perm);
    return graph_builder_finish(&b, vertices, BUILD_SIMPLE, graph, err);
}

int graph_urand(int scale, int64_t k, uint64_t seed, struct graph *graph, struct err *err)
{
    if (check_size(scale, k, err))
        return -1;
    uint64_t vertices = 1ULL << scale, edges = vertices * (uint64_t)k;
    struct graph_builder b = {0};
    if (reserve(&b, edges, err))
        return -1;
#pragma omp parallel for schedule(static)
    for (uint64_t j = 0; j < edges; j++)
        b.edges[j] = (struct graph_edge){(uint32_t)(random_mix(seed * 7919 + 2 * j) & (vertices - 1)),
                                         (uint32_t)(random_mix(seed * 7919 + 2 * j + 1) & (vertices - 1))};
    return graph_builder_finish(&b, vertices, BUILD_SIMPLE, graph, err);
}

/* --- stand-ins by degree --- */

static double unit(uint64_t x)
{
    return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

/* Standard normal, by Box and Muller. */
static double normal(uint64_t seed, uint64_t i)
{
    double a = unit(random_mix(seed ^ random_mix(2 * i))), b = unit(random_mix(seed ^ random_mix(2 * i + 1)));
    return sqrt(-2 * log(a)) * cos(2 * 3.14159265358979323846 * b);
}

/* Degree of vertex v: log-normal with the wanted mean, rounded at random so that the mean holds, capped. */
static uint64_t degree_of(const struct graph_degrees *d, uint64_t v)
{
    double mu = log(d->mean) - d->sigma * d->sigma / 2;
    double x = exp(mu + d->sigma * normal(d->seed, v));
    if (d->cap && x > (double)d->cap)
        x = (double)d->cap;
    if (x > 0x1p31)
        x = 0x1p31;
    uint64_t whole = (uint64_t)x;
    return whole + (unit(random_mix(d->seed * 31 + v)) < x - (double)whole);
}

/* Target i of vertex v. */
static uint32_t target_of(const struct graph_degrees *d, uint64_t v, uint64_t i)
{
    uint64_t r = random_mix(random_mix(d->seed * 6364136223846793005ULL + v) + i);
    uint64_t s = random_mix(r);
    if (unit(s) >= d->local)
        return (uint32_t)(r % d->vertices);
    uint64_t span = 2 * d->reach + 1 < d->vertices ? 2 * d->reach + 1 : d->vertices;
    return (uint32_t)((v + d->vertices - span / 2 + r % span) % d->vertices);
}

static int directed(const struct graph_degrees *d, struct graph *g, struct err *err)
{
    g->vertices = d->vertices;
    g->offsets = mem_zalloc(d->vertices + 1, sizeof *g->offsets, err);
    if (!g->offsets)
        return -1;
    for (uint64_t v = 0; v < d->vertices; v++)
        g->offsets[v + 1] = g->offsets[v] + degree_of(d, v);
    g->elements = g->offsets[d->vertices];
    g->targets = mem_zalloc(g->elements, sizeof *g->targets, err);
    if (!g->targets)
        return -1;
#pragma omp parallel for schedule(static)
    for (uint64_t v = 0; v < d->vertices; v++)
        for (uint64_t i = 0; i < g->offsets[v + 1] - g->offsets[v]; i++)
            g->targets[g->offsets[v] + i] = target_of(d, v, i);
    return 0;
}

/* Stub matching: the stubs of all vertices, shuffled, are joined in pairs. */
static int matched(const struct graph_degrees *d, struct graph *g, struct err *err)
{
    uint64_t stubs = 0;
    for (uint64_t v = 0; v < d->vertices; v++)
        stubs += degree_of(d, v);
    uint32_t *ends = mem_zalloc(stubs, sizeof *ends, err);
    struct graph_builder b = {0};
    if (!ends || reserve(&b, stubs / 2, err)) {
        free(ends);
        return -1;
    }
    uint64_t at = 0;
    for (uint64_t v = 0; v < d->vertices; v++)
        for (uint64_t n = degree_of(d, v); n > 0; n--)
            ends[at++] = (uint32_t)v;
    random_shuffle(ends, stubs, d->seed);
    for (uint64_t j = 0; j < stubs / 2; j++)
        b.edges[j] = (struct graph_edge){ends[2 * j], ends[2 * j + 1]};
    free(ends);
    return graph_builder_finish(&b, d->vertices, GRAPH_MIRROR | GRAPH_SORT, g, err);
}

int graph_from_degrees(const struct graph_degrees *d, struct graph *g, struct err *err)
{
    memset(g, 0, sizeof *g);
    if (d->vertices < 1 || d->vertices > (1ULL << 31) || !(d->mean > 0) || !(d->sigma >= 0) || d->local < 0 ||
        d->local > 1)
        return err_set(err, "degrees need 1 to 2^31 vertices, a mean above 0, sigma from 0, local 0 to 1");
    if (d->mean * (double)d->vertices > 0x1p38)
        return err_set(err, "%.3g elements are too many", d->mean * (double)d->vertices);
    int rc = d->mirror ? matched(d, g, err) : directed(d, g, err);
    if (rc)
        graph_release(g);
    return rc;
}

int graph_add_weights(struct graph *g, int32_t lo, int32_t hi, uint64_t seed, struct err *err)
{
    if (lo > hi)
        return err_set(err, "weights from %d to %d: the range is empty", lo, hi);
    if (!g->weights)
        g->weights = mem_zalloc(g->elements, sizeof *g->weights, err);
    if (!g->weights)
        return -1;
    uint64_t span = (uint64_t)((int64_t)hi - lo) + 1;
#pragma omp parallel for schedule(static)
    for (uint64_t v = 0; v < g->vertices; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            uint64_t t = graph_target(g, i), a = v < t ? v : t, b = v < t ? t : v;
            g->weights[i] = (int32_t)(lo + (int64_t)(random_mix(random_mix(seed + a) ^ (b << 1)) % span));
        }
    return 0;
}
