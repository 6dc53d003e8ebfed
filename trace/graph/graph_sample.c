#include "trace/graph/graph_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_build.h"
#include "trace/graph/graph_generate.h"

int graph_sample_fan_outs(struct graph_sample *sample, const char *text, struct err *err)
{
    sample->hops = 0;
    const char *p = text + (*text == '[');
    while (*p && *p != ']') {
        char *end;
        long n = strtol(p, &end, 10);
        if (end == p || n < 1 || n > 100000 || sample->hops == GRAPH_SAMPLE_HOPS)
            return err_set(err, "fan_outs is '%.60s'; expected up to %d numbers such as [10,25]", text,
                           GRAPH_SAMPLE_HOPS);
        sample->fan_outs[sample->hops++] = (int)n;
        p = end + (*end == ',');
    }
    if (!sample->hops || (*text == '[' && (*p != ']' || p[1])))
        return err_set(err, "fan_outs is '%.60s'; expected numbers such as [10,25]", text);
    return 0;
}

/* What one run of sampling keeps. */
struct sampler {
    const struct graph *in;
    uint64_t random;
    uint32_t *known; /* of this batch, in order */
    uint64_t known_count;
    size_t known_cap;
    uint32_t *mark; /* batch in which a vertex became known, from 1 */
    uint64_t *rows;
    size_t count, cap;
    bool all;
};

static uint64_t draw(struct sampler *s, uint64_t below)
{
    s->random = random_mix(s->random);
    return (uint64_t)(((unsigned __int128)s->random * below) >> 64);
}

static int access_row(struct sampler *s, uint32_t v, uint32_t batch, struct err *err)
{
    bool new = s->mark[v] != batch;
    if (new || s->all) {
        if (MEM_ADD(s->rows, s->count, s->cap, err, v))
            return -1;
    }
    if (!new)
        return 0;
    s->mark[v] = batch;
    return MEM_ADD(s->known, s->known_count, s->known_cap, err, v);
}

/* Up to n neighbours of v, each once: Floyd's method over positions in the list. */
static int sample_vertex(struct sampler *s, uint32_t v, uint64_t n, uint32_t batch, struct err *err)
{
    uint64_t degree = graph_degree(s->in, v), first = s->in->offsets[v];
    if (degree <= n) {
        for (uint64_t i = 0; i < degree; i++)
            if (access_row(s, (uint32_t)graph_target(s->in, first + i), batch, err))
                return -1;
        return 0;
    }
    enum { FEW = 128 };
    uint64_t few[FEW], *chosen = n <= FEW ? few : mem_zalloc(n, sizeof *chosen, err);
    if (!chosen)
        return -1;
    int rc = 0;
    for (uint64_t k = 0; k < n && !rc; k++) {
        uint64_t j = degree - n + k, pick = draw(s, j + 1);
        for (uint64_t i = 0; i < k; i++)
            if (chosen[i] == pick) {
                pick = j;
                break;
            }
        chosen[k] = pick;
        rc = access_row(s, (uint32_t)graph_target(s->in, first + pick), batch, err);
    }
    if (chosen != few)
        free(chosen);
    return rc;
}

static int sample_batch(struct sampler *s, const struct graph_sample *how, const uint32_t *seeds, uint32_t batch,
                        struct err *err)
{
    s->known_count = 0;
    for (uint64_t i = 0; i < how->seeds; i++)
        if (access_row(s, seeds[i], batch, err))
            return -1;
    for (int h = how->hops; h-- > 0;) {
        uint64_t before = s->known_count;
        for (uint64_t i = 0; i < before; i++)
            if (sample_vertex(s, s->known[i], (uint64_t)how->fan_outs[h], batch, err))
                return -1;
    }
    return 0;
}

int graph_sample_rows(const struct graph *in, const struct graph_sample *sample, uint64_t **rows, uint64_t *count,
                      uint64_t *ends, struct err *err)
{
    *rows = NULL;
    *count = 0;
    if (!sample->labelled_count || sample->labelled_count < sample->seeds)
        return err_set(err, "a batch has %llu seeds, and only %llu vertices are labelled",
                       (unsigned long long)sample->seeds, (unsigned long long)sample->labelled_count);
    for (uint64_t i = 0; i < sample->labelled_count; i++)
        if (sample->labelled[i] >= in->vertices)
            return err_set(err, "labelled vertex %u; expected below %llu, the graph's vertices", sample->labelled[i],
                           (unsigned long long)in->vertices);
    struct sampler s = {.in = in, .random = random_mix(sample->seed), .all = sample->all};
    s.mark = mem_zalloc(in->vertices, sizeof *s.mark, err);
    uint32_t *pool = s.mark ? mem_zalloc(sample->labelled_count, sizeof *pool, err) : NULL;
    int rc = pool ? 0 : -1;
    uint64_t used = sample->labelled_count;
    for (uint64_t b = 0; b < sample->batches && !rc; b++) {
        if (used + sample->seeds > sample->labelled_count) { /* a new epoch: shuffle */
            memcpy(pool, sample->labelled, sample->labelled_count * sizeof *pool);
            for (uint64_t i = sample->labelled_count; i-- > 1;) {
                uint64_t j = draw(&s, i + 1);
                uint32_t t = pool[i];
                pool[i] = pool[j];
                pool[j] = t;
            }
            used = 0;
        }
        rc = sample_batch(&s, sample, pool + used, (uint32_t)b + 1, err);
        used += sample->seeds;
        if (ends)
            ends[b] = s.count;
    }
    free(pool);
    free(s.mark);
    free(s.known);
    if (rc) {
        free(s.rows);
        return -1;
    }
    *rows = s.rows;
    *count = s.count;
    return 0;
}

int graph_sample_labels(uint64_t vertices, double percent, bool clustered, uint64_t seed, uint32_t **labelled,
                        uint64_t *count, struct err *err)
{
    enum { BLOCKS = 64 };
    uint64_t want = (uint64_t)ceil((double)vertices * percent / 100);
    want = want < 1 ? 1 : want > vertices ? vertices : want;
    *labelled = vertices <= UINT32_MAX ? mem_zalloc(want, sizeof **labelled, err) : NULL;
    *count = 0;
    if (!*labelled)
        return vertices <= UINT32_MAX ? -1 : err_set(err, "more than %u vertices", UINT32_MAX);
    uint64_t block = (vertices + BLOCKS - 1) / BLOCKS;
    uint64_t span = clustered ? (want + block - 1) / block * block : vertices;
    span = span < vertices ? span : vertices;
    /* Selection sampling: each of the span's vertices with the chance that is still needed. */
    uint64_t random = random_mix(seed ^ 0x6C6162656C73ULL), left = span;
    for (uint64_t v = 0; v < span && *count < want; v++, left--) {
        random = random_mix(random);
        if ((uint64_t)(((unsigned __int128)random * left) >> 64) < want - *count)
            (*labelled)[(*count)++] = (uint32_t)v;
    }
    return 0;
}

int graph_from_communities(const struct graph_communities *recipe, struct graph *graph, struct err *err)
{
    memset(graph, 0, sizeof *graph);
    uint64_t vertices = 1ULL << recipe->scale;
    if ((uint64_t)recipe->communities > vertices)
        return err_set(err, "%lld communities; the graph has only %llu vertices", (long long)recipe->communities,
                       (unsigned long long)vertices);
    struct graph_builder b = {0};
    uint64_t random = random_mix(recipe->seed * 48271), size = vertices / (uint64_t)recipe->communities;
    for (uint64_t v = 0; v < vertices; v++)
        for (int64_t i = 0; i < recipe->k; i++) {
            random = random_mix(random);
            bool inside = (double)(random >> 11) * 0x1p-53 < recipe->inside;
            random = random_mix(random);
            double x = (double)(random >> 11) * 0x1p-53;
            uint64_t base = v / size * size, span = base + size <= vertices ? size : vertices - base;
            if (recipe->skewed)
                x = x * x * x;
            uint64_t t = inside ? base + (uint64_t)(x * (double)span) : random % vertices;
            if (graph_builder_add(&b, (uint32_t)v, (uint32_t)t, false, 0, err)) {
                graph_builder_release(&b);
                return -1;
            }
        }
    return graph_builder_finish(&b, vertices, GRAPH_MIRROR | GRAPH_DROP_LOOPS | GRAPH_SORT | GRAPH_UNIQUE, graph, err);
}
