#include "trace/graph/csr_arrays.h"

#include <inttypes.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_list.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The shape of an array, which must have `dimensions`. */
static int look(const struct npy_place *place, unsigned dimensions, struct npy_shape *shape, struct err *err)
{
    struct npy a;
    if (npy_open(&a, place, 0, err))
        return -1;
    *shape = a.shape;
    npy_close(&a);
    if (shape->kind != 'i' && shape->kind != 'u')
        return err_set(err, "%s: its items are of type '%c%u'; ids are whole numbers ('i' or 'u')", place->name,
                       shape->kind, shape->width);
    if (shape->dimensions != dimensions)
        return err_set(err, "%s: an array of %u dimension%s; expected %u%s", place->name, shape->dimensions,
                       shape->dimensions == 1 ? "" : "s", dimensions,
                       dimensions == 2 ? ", edges as 2 x E or E x 2, or two arrays (indptr.npy and indices.npy beside "
                                         "each other)"
                                       : "");
    return 0;
}

static int read_offsets(const struct npy_place *place, uint64_t **offsets, uint64_t *n, struct err *err)
{
    struct npy_shape shape;
    struct npy a;
    size_t cap = 0;
    if (look(place, 1, &shape, err) || npy_open(&a, place, 0, err))
        return -1;
    int rc = shape.items && shape.items < UINT32_MAX
                 ? 0
                 : err_set(err, "%s: %" PRIu64 " offsets; expected 1 to 2^32 - 2, one more than vertices", place->name,
                           shape.items);
    for (uint64_t done = 0; !rc && done < shape.items;) {
        size_t piece = shape.items - done < NPY_PIECE ? (size_t)(shape.items - done) : NPY_PIECE;
        rc = mem_grow((void **)offsets, &cap, done + piece, sizeof **offsets, err);
        if (!rc)
            rc = npy_ids(&a, *offsets + done, piece, err);
        done += piece;
    }
    rc = rc || npy_end(&a, err) ? -1 : 0;
    npy_close(&a);
    *n = shape.items - 1;
    return rc;
}

static int check_offsets(const struct npy_place *place, const uint64_t *offsets, uint64_t n, uint64_t ids,
                         struct err *err)
{
    if (offsets[n] != ids)
        return err_set(err, "%s: the last offset is %" PRIu64 "; there are %" PRIu64 " ids", place->name, offsets[n],
                       ids);
    if (offsets[0])
        return err_set(err, "%s: the first offset is %" PRIu64 "; expected 0", place->name, offsets[0]);
    for (uint64_t v = 0; v < n; v++)
        if (offsets[v + 1] < offsets[v])
            return err_set(err, "%s: offset %" PRIu64 " is %" PRIu64 ", below the one before it (%" PRIu64 ")",
                           place->name, v + 1, offsets[v + 1], offsets[v]);
    return 0;
}

/* The vertices of a matrix of `lines` rows (or columns): a square one has as many, else the larger side. A side that is
 * only said, far beyond what `ids` entries can name, would cost memory that the file has not. */
static int sides(const struct csr_arrays *c, uint64_t lines, uint64_t ids, int side, uint64_t *vertices,
                 struct err *err)
{
    uint64_t said = c->shape[side];
    if ((c->shape[0] || c->shape[1]) && said != lines)
        return err_set(err, "%s: offsets of %" PRIu64 " lists; the shape says %" PRIu64, c->indptr.name, lines, said);
    *vertices = larger(lines, larger(c->shape[0], c->shape[1]));
    if (*vertices > lines && graph_list_sides(*vertices, ids, err))
        return err_at(err, "%s", c->indptr.name);
    return *vertices < UINT32_MAX - 1 ? 0 : err_set(err, "%" PRIu64 " vertices; ids are 32-bit", *vertices);
}

/* Lists of rows that the matrix has more columns than: empty ones. */
static int extend(struct graph *g, uint64_t lists, struct err *err)
{
    uint64_t *offsets = lists < g->vertices ? realloc(g->offsets, (g->vertices + 1) * sizeof *offsets) : g->offsets;
    if (!offsets)
        return err_set(err, "out of memory: %" PRIu64 " vertices", g->vertices);
    g->offsets = offsets;
    for (uint64_t v = lists; v < g->vertices; v++)
        offsets[v + 1] = offsets[lists];
    return 0;
}

static int read_targets(const struct npy_place *place, struct graph *g, struct err *err)
{
    uint64_t ids[NPY_PIECE];
    struct npy a;
    size_t cap = 0;
    int rc = npy_open(&a, place, 0, err);
    if (rc)
        return -1;
    rc = mem_grow((void **)&g->targets, &cap, 1, sizeof *g->targets, err);
    for (uint64_t done = 0; !rc && done < g->elements;) {
        size_t n = g->elements - done < NPY_PIECE ? (size_t)(g->elements - done) : NPY_PIECE;
        if ((rc = npy_ids(&a, ids, n, err)) ||
            (rc = mem_grow((void **)&g->targets, &cap, done + n, sizeof *g->targets, err)))
            break;
        for (size_t i = 0; i < n && !rc; i++) {
            if (ids[i] >= g->vertices)
                rc = err_set(err, "%s: item %" PRIu64 " names vertex %" PRIu64 "; expected below %" PRIu64, place->name,
                             done + i, ids[i], g->vertices);
            g->targets[done + i] = (uint32_t)ids[i];
        }
        done += n;
    }
    rc = rc || npy_end(&a, err) ? -1 : 0;
    npy_close(&a);
    return rc;
}

int csr_arrays_read(const struct csr_arrays *c, struct graph *g, struct err *err)
{
    struct npy_shape ids;
    uint64_t lists = 0;
    *g = (struct graph){0};
    if (look(&c->indices, 1, &ids, err) || read_offsets(&c->indptr, &g->offsets, &lists, err) ||
        check_offsets(&c->indptr, g->offsets, lists, ids.items, err) ||
        sides(c, lists, ids.items, 0, &g->vertices, err))
        return -1;
    g->elements = ids.items;
    if (extend(g, lists, err) || read_targets(&c->indices, g, err))
        return -1;
    return c->data.path ? coo_weights(&c->data, g->elements, g, err) : 0;
}

int csr_arrays_columns(const struct csr_arrays *c, const struct graph_options *options, struct graph *g,
                       struct err *err)
{
    struct coo coo = {.form = COO_COLUMNS, .from = c->indices, .weights = c->data};
    uint64_t *offsets = NULL, lists = 0;
    struct npy_shape ids;
    int rc = look(&c->indices, 1, &ids, err);
    if (!rc && (rc = read_offsets(&c->indptr, &offsets, &lists, err)) == 0)
        rc = check_offsets(&c->indptr, offsets, lists, ids.items, err) ||
                     sides(c, lists, ids.items, 1, &coo.vertices, err)
                 ? -1
                 : 0;
    coo.offsets = offsets;
    coo.edges = ids.items;
    if (!rc)
        rc = coo_read(&coo, options, g, err);
    free(offsets);
    return rc;
}

int csr_arrays_ends(struct coo *coo, const struct graph_options *options, struct graph *g, struct err *err)
{
    struct npy_shape from, to;
    if (look(&coo->from, 1, &from, err) || look(&coo->to, 1, &to, err))
        return -1;
    if (from.items != to.items)
        return err_set(err, "%s has %" PRIu64 " items, %s %" PRIu64 "; expected as many", coo->from.name, from.items,
                       coo->to.name, to.items);
    coo->form = COO_ARRAYS;
    coo->edges = from.items;
    if (graph_list_sides(coo->vertices, coo->edges, err))
        return err_at(err, "%s", coo->from.name);
    return coo_read(coo, options, g, err);
}

int csr_arrays_edges(const struct npy_place *place, const struct graph_options *options, struct graph *g,
                     struct err *err)
{
    struct npy_shape s;
    struct coo coo = {.form = COO_PAIRS, .from = *place, .to = *place};
    if (look(place, 2, &s, err))
        return -1;
    if (s.size[0] != 2 && s.size[1] != 2)
        return err_set(err, "%s: %" PRIu64 " x %" PRIu64 " ids; expected edges as 2 x E or E x 2", place->name,
                       s.size[0], s.size[1]);
    if (s.size[0] == s.size[1])
        return err_set(err, "%s: 2 x 2 ids can be read by rows and by columns; expected more or fewer than two edges",
                       place->name);
    coo.edges = s.items / 2;
    if ((s.size[0] == 2) != s.fortran) {
        coo.form = COO_ARRAYS;
        coo.skip_to = coo.edges;
    }
    return coo_read(&coo, options, g, err);
}
