#include "trace/graph/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/graph/graph_build.h"

enum { PIECE = NPY_PIECE / 2 };

/* Edges in the order of the arrays. */
struct walk {
    const struct coo *coo;
    struct npy from, to, weights;
    uint64_t done, column;
    uint64_t u[NPY_PIECE], v[PIECE]; /* pairs come as both in u */
    double w[PIECE];
    size_t n;
};

static int walk_open(struct walk *k, const struct coo *coo, bool weights, struct err *err)
{
    k->coo = coo;
    k->done = k->column = 0;
    k->to.source = k->weights.source = NULL;
    if (npy_open(&k->from, &coo->from, coo->skip_from, err))
        return -1;
    if (coo->form == COO_ARRAYS && npy_open(&k->to, &coo->to, coo->skip_to, err))
        return -1;
    return weights && coo->weights.path ? npy_open(&k->weights, &coo->weights, 0, err) : 0;
}

static void walk_close(struct walk *k)
{
    npy_close(&k->from);
    npy_close(&k->to);
    npy_close(&k->weights);
}

/* The arrays end where their edges do; of two halves of one array only the second. */
static int walk_end(struct walk *k, struct err *err)
{
    if (k->weights.source && npy_end(&k->weights, err))
        return -1;
    if (k->coo->form == COO_ARRAYS && npy_end(&k->to, err))
        return -1;
    return k->from.at == k->from.shape.items ? npy_end(&k->from, err) : 0;
}

static void separate(struct walk *k)
{
    for (size_t i = 0; i < k->n; i++) {
        uint64_t u = k->u[2 * i];
        k->v[i] = k->u[2 * i + 1];
        k->u[i] = u;
    }
}

static void name_columns(struct walk *k)
{
    for (size_t i = 0; i < k->n; i++) {
        while (k->coo->offsets[k->column + 1] <= k->done + i)
            k->column++;
        k->v[i] = k->column;
    }
}

/* The next edges: 1, 0 at the end, -1. */
static int walk_next(struct walk *k, struct err *err)
{
    uint64_t left = k->coo->edges - k->done;
    k->n = left < PIECE ? (size_t)left : PIECE;
    if (!k->n)
        return walk_end(k, err);
    if (npy_ids(&k->from, k->u, k->coo->form == COO_PAIRS ? 2 * k->n : k->n, err))
        return -1;
    if (k->coo->form == COO_PAIRS)
        separate(k);
    else if (k->coo->form == COO_COLUMNS)
        name_columns(k);
    else if (npy_ids(&k->to, k->v, k->n, err))
        return -1;
    if (k->weights.source && npy_reals(&k->weights, k->w, k->n, err))
        return -1;
    k->done += k->n;
    return 1;
}

struct making {
    const struct graph_options *options;
    struct id_map labels;
    size_t cap;    /* of offsets */
    uint64_t most; /* ids are below */
    bool whole;
};

/* The vertices of the edges at hand. */
static int number_them(struct making *m, struct walk *k, struct err *err)
{
    for (size_t i = 0; i < k->n; i++) {
        uint32_t u, v;
        if (m->options->relabel) {
            if (id_map_number(&m->labels, k->u[i], &u, err) || id_map_number(&m->labels, k->v[i], &v, err))
                return -1;
            k->u[i] = u;
            k->v[i] = v;
        }
        uint64_t larger = k->u[i] > k->v[i] ? k->u[i] : k->v[i];
        if (larger >= m->most)
            return err_set(err, "edge %" PRIu64 " names vertex %" PRIu64 "; expected below %" PRIu64 "%s",
                           k->done - k->n + i, larger, m->most, k->coo->vertices ? "" : ", or --relabel");
    }
    return 0;
}

/* Of arrays that are packed the length is a claim: read them before anything is made as large as their ids ask for. */
static int survey(const struct coo *coo, struct walk *k, struct making *m, struct err *err)
{
    uint64_t largest = 0;
    int rc = walk_open(k, coo, true, err);
    while (!rc && (rc = walk_next(k, err)) > 0)
        for (size_t i = 0; i < k->n; i++) {
            largest = k->u[i] > largest ? k->u[i] : largest;
            largest = k->v[i] > largest ? k->v[i] : largest;
            rc = 0;
        }
    walk_close(k);
    return rc || m->options->relabel ? rc : graph_list_check(largest + 1, coo->edges, err);
}

static int grow(struct making *m, const struct coo *coo, uint64_t larger, struct graph *g, struct err *err)
{
    if (!m->options->relabel && !coo->vertices && graph_list_check(larger + 1, coo->edges, err))
        return -1;
    if (mem_grow((void **)&g->offsets, &m->cap, larger + 2, sizeof *g->offsets, err))
        return -1;
    memset(g->offsets + g->vertices + 1, 0, (larger + 1 - g->vertices) * sizeof *g->offsets);
    g->vertices = larger + 1;
    return 0;
}

/* offsets[v + 1] becomes the number of v's elements. */
static int count(const struct coo *coo, struct walk *k, struct making *m, struct graph *g, struct err *err)
{
    int rc = walk_open(k, coo, false, err);
    while (!rc && (rc = walk_next(k, err)) > 0) {
        rc = number_them(m, k, err);
        for (size_t i = 0; i < k->n && !rc; i++) {
            uint64_t u = k->u[i], v = k->v[i], larger = u > v ? u : v;
            if (larger >= g->vertices && (rc = grow(m, coo, larger, g, err)))
                break;
            g->offsets[u + 1]++;
            if (m->options->undirected && u != v)
                g->offsets[v + 1]++;
        }
    }
    walk_close(k);
    return rc;
}

/* -1: there is no room, since the second reading gave other edges than the first. */
static int put(struct graph *g, uint64_t from, uint64_t to, int32_t weight)
{
    if (g->offsets[from] >= g->elements)
        return -1;
    uint64_t at = g->offsets[from]++;
    g->targets[at] = (uint32_t)to;
    if (g->weights)
        g->weights[at] = weight;
    return 0;
}

static bool fits(double weight)
{
    return weight == floor(weight) && fabs(weight) <= INT32_MAX;
}

/* offsets[v] is where v's next element goes, and where v + 1's begin when all are there. */
static int fill(const struct coo *coo, struct walk *k, struct making *m, struct graph *g, struct err *err)
{
    int rc = walk_open(k, coo, true, err);
    while (!rc && (rc = walk_next(k, err)) > 0) {
        rc = number_them(m, k, err);
        for (size_t i = 0; i < k->n && !rc; i++) {
            uint64_t u = k->u[i], v = k->v[i];
            m->whole = m->whole && (!g->weights || fits(k->w[i]));
            int32_t weight = g->weights && m->whole ? (int32_t)k->w[i] : 0;
            bool mirrored = m->options->undirected && u != v;
            if (u >= g->vertices || v >= g->vertices || put(g, u, v, weight) || (mirrored && put(g, v, u, weight)))
                rc = err_set(err, "edge %" PRIu64 " is not what it was before: the file changes", k->done - k->n + i);
        }
    }
    walk_close(k);
    memmove(g->offsets + 1, g->offsets, g->vertices * sizeof *g->offsets);
    g->offsets[0] = 0;
    return rc;
}

static int make(const struct coo *coo, struct walk *k, struct making *m, struct graph *g, struct err *err)
{
    if (!(g->offsets = mem_zalloc(coo->vertices + 2, sizeof *g->offsets, err)))
        return -1;
    m->cap = coo->vertices + 2;
    g->vertices = coo->vertices;
    if (count(coo, k, m, g, err))
        return -1;
    for (uint64_t v = 0; v < g->vertices; v++)
        g->offsets[v + 1] += g->offsets[v];
    g->elements = g->offsets[g->vertices];
    g->targets = mem_zalloc(g->elements, sizeof *g->targets, err);
    if (coo->weights.path)
        g->weights = mem_zalloc(g->elements, sizeof *g->weights, err);
    if (!g->targets || (coo->weights.path && !g->weights) || fill(coo, k, m, g, err))
        return -1;
    if (!m->whole) {
        free(g->weights);
        g->weights = NULL;
    }
    g->symmetric = m->options->undirected;
    return 0;
}

int coo_read(const struct coo *coo, const struct graph_options *options, struct graph *g, struct err *err)
{
    struct making m = {.options = options, .most = coo->vertices ? coo->vertices : UINT32_MAX - 1, .whole = true};
    struct walk *k = mem_zalloc(1, sizeof *k, err);
    if (!k)
        return -1;
    *g = (struct graph){0};
    int rc = npy_open(&k->from, &coo->from, 0, err);
    bool sure = !rc && k->from.shape.sure;
    npy_close(&k->from);
    if (!rc && !sure)
        rc = survey(coo, k, &m, err);
    if (!rc)
        rc = make(coo, k, &m, g, err);
    id_map_release(&m.labels);
    free(k);
    return rc;
}

int coo_weights(const struct npy_place *place, uint64_t count, struct graph *g, struct err *err)
{
    double piece[NPY_PIECE];
    size_t cap = 0;
    bool whole = true;
    struct npy a;
    if (npy_open(&a, place, 0, err))
        return -1;
    int rc = a.shape.items == count
                 ? 0
                 : err_set(err, "%s: %" PRIu64 " weights; expected %" PRIu64 ", one for each element", place->name,
                           a.shape.items, count);
    for (uint64_t done = 0; !rc && done < count;) {
        size_t n = count - done < NPY_PIECE ? (size_t)(count - done) : NPY_PIECE;
        if ((rc = npy_reals(&a, piece, n, err)) ||
            (rc = mem_grow((void **)&g->weights, &cap, done + n, sizeof *g->weights, err)))
            break;
        for (size_t i = 0; i < n; i++) {
            whole = whole && fits(piece[i]);
            g->weights[done + i] = whole ? (int32_t)piece[i] : 0;
        }
        done += n;
    }
    rc = rc || npy_end(&a, err) ? -1 : 0;
    npy_close(&a);
    if (rc || !whole) {
        free(g->weights);
        g->weights = NULL;
    }
    return rc;
}
