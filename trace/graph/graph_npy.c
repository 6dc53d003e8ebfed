/* graph_npy: graphs in arrays of NumPy, as SciPy, DGL, PyG, GraphSAINT and OGB keep them; format npy.
 *
 * A file NAME.npy of ids 2 x E (sources, then targets: PyG's edge_index) or E x 2 (a pair for each edge); or two files
 * beside each other of which one is named: ..indptr.npy with ..indices.npy (CSR), ..row.npy with ..col.npy, ..src.npy
 * with ..dst.npy; their common beginning names them too.
 * graph_npz, format npz: an archive with such arrays as members: indptr, indices [, data, shape, format] (SciPy's CSR
 * and CSC, DGL, GraphSAINT, also with a beginning such as adj_), row, col [, data, shape, format], src, dst, or one of
 * edge_index, edges, edge_list, arr_0.
 * Worked example: [[0, 0, 2], [1, 2, 0]] is 0 -> 1, 0 -> 2, 2 -> 0; so are indptr [0, 2, 2, 3], indices [1, 2, 0].
 * Weights (data) are kept if all are whole 32-bit numbers. Ids of edges may be mirrored (--undirected) and relabelled.
 * Refused: ids that are not whole numbers from 0; 2 x 2 (it can be both); arrays that do not fit each other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/graph/graph_build.h"
#include "trace/graph/npy.h"

/* --- arrays that are known by name: offsets and ids (CSR, CSC), sources and targets, or pairs --- */

struct csr_arrays {
    struct npy_place indptr, indices, data; /* data.path NULL: no weights */
    uint64_t shape[2];                      /* rows, columns; 0: not said */
};

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

/* Row v's targets are indices[indptr[v]] up to indices[indptr[v + 1]]. */
static int read_rows(const struct csr_arrays *c, struct graph *g, struct err *err)
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

/* Column v's sources are. */
static int read_columns(const struct csr_arrays *c, const struct graph_options *options, struct graph *g,
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

/* Sources coo->from, targets coo->to, 1-dimensional and of one length; weights and vertices as in struct coo. */
static int read_ends(struct coo *coo, const struct graph_options *options, struct graph *g, struct err *err)
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

/* One array, 2 x E or E x 2. */
static int read_edges(const struct npy_place *place, const struct graph_options *options, struct graph *g,
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

/* --- one .npy file, or two --- */

static const char *const parts[] = {"indptr.npy", "indices.npy", "row.npy", "col.npy", "src.npy", "dst.npy", NULL};

/* What a path says: the length of its beginning, and the even number of its part or -1. */
static size_t beginning(const char *path, int *part)
{
    size_t n = strlen(path);
    *part = -1;
    for (int i = 0; parts[i]; i++) {
        size_t m = strlen(parts[i]);
        if (n >= m && strcmp(path + n - m, parts[i]) == 0) {
            *part = i / 2 * 2;
            return n - m;
        }
    }
    return n;
}

/* The names of two files that belong together, which are both there; false if `path` does not stand for such. */
static bool find_pair(const char *path, int *part, char names[2][4096])
{
    int named;
    size_t n = beginning(path, &named);
    if (n + 16 > 4096)
        return false;
    for (*part = 0; parts[*part]; *part += 2) {
        if (named >= 0 && *part != named)
            continue;
        for (int i = 0; i < 2; i++)
            (void)snprintf(names[i], 4096, "%.*s%s", (int)n, path, parts[*part + i]);
        if (access(names[0], R_OK) == 0 && access(names[1], R_OK) == 0)
            return true;
    }
    return false;
}

static enum graph_probe probe_npy(const char *path, const unsigned char *head, size_t n)
{
    char names[2][4096];
    int part;
    if (n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0)
        return GRAPH_YES;
    return n == 0 && find_pair(path, &part, names) ? GRAPH_YES : GRAPH_NO;
}

static int read_npy(const char *path, const struct graph_options *options, struct graph *graph, struct err *err)
{
    char names[2][4096];
    int part, rc;
    if (find_pair(path, &part, names)) {
        struct npy_place a = {.path = names[0], .name = parts[part]}, b = {.path = names[1], .name = parts[part + 1]};
        rc = part == 0 ? read_rows(&(struct csr_arrays){.indptr = a, .indices = b}, graph, err)
                       : read_ends(&(struct coo){.from = a, .to = b}, options, graph, err);
    } else {
        rc = read_edges(&(struct npy_place){.path = path, .name = "the array"}, options, graph, err);
    }
    return rc ? err_at(err, "%s", path) : 0;
}

/* --- an archive --- */

struct archive {
    const char *path;
    struct zip_member *members;
    size_t n;
};

/* The member that is called beginning + name + ".npy". */
static bool find(const struct archive *z, const char *begin, size_t n, const char *name, struct npy_place *place)
{
    for (size_t i = 0; i < z->n; i++) {
        const char *s = z->members[i].name;
        if (strncmp(s, begin, n) == 0 && strncmp(s + n, name, strlen(name)) == 0 &&
            strcmp(s + n + strlen(name), ".npy") == 0) {
            *place = (struct npy_place){z->path, s, &z->members[i].part};
            return true;
        }
    }
    return false;
}

static int no_graph(const struct archive *z, struct err *err)
{
    char names[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < z->n && used < sizeof names - 1; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", z->members[i].name);
    return err_set(
        err,
        "it holds %s; expected arrays indptr and indices, row and col, src and dst, or edge_index (of a PyTorch "
        "file: numpy.save(\"edges.npy\", edge_index.numpy()))",
        z->n ? names : "nothing");
}

/* Which member is an indptr: the only one, else the one called adj_indptr or adj_matrix.indptr; -1, -2: several. */
static int find_indptr(const struct archive *z, size_t *begin)
{
    int found = -1, several = 0, adjacency = -1;
    for (size_t i = 0; i < z->n; i++) {
        const char *s = z->members[i].name;
        size_t n = strlen(s), m = strlen("indptr.npy");
        if (n < m || strcmp(s + n - m, "indptr.npy") != 0)
            continue;
        found = (int)i;
        several++;
        if (strncmp(s, "adj", 3) == 0)
            adjacency = adjacency == -1 ? (int)i : -2;
    }
    if (several > 1)
        found = adjacency >= 0 ? adjacency : -2;
    if (found >= 0)
        *begin = strlen(z->members[found].name) - strlen("indptr.npy");
    return found;
}

/* SciPy says what its arrays are: "csr", "csc" or "coo". */
static int form_of(const struct archive *z, const char *begin, size_t n, const char *expected, char form[8],
                   struct err *err)
{
    struct npy_place place;
    struct npy text;
    (void)snprintf(form, 8, "%.7s", expected);
    if (!find(z, begin, n, "format", &place))
        return 0;
    if (npy_open(&text, &place, 0, err))
        return -1;
    bool known = npy_text(&text, form, 8) &&
                 (strcmp(form, expected) == 0 || (strcmp(expected, "csr") == 0 && strcmp(form, "csc") == 0));
    npy_close(&text);
    return known ? 0 : err_set(err, "format.npy: '%.7s'; expected csr, csc or coo and its arrays", form);
}

/* Rows and columns, 0 where the archive does not say. */
static int shape_of(const struct archive *z, const char *begin, size_t n, uint64_t shape[2], struct err *err)
{
    struct npy_place place;
    struct npy a;
    shape[0] = shape[1] = 0;
    if (!find(z, begin, n, "shape", &place))
        return 0;
    if (npy_open(&a, &place, 0, err))
        return -1;
    int rc = a.shape.items == 2 ? npy_ids(&a, shape, 2, err)
                                : err_set(err, "%s: %" PRIu64 " numbers; expected 2", place.name, a.shape.items);
    npy_close(&a);
    return rc;
}

static int read_compressed(const struct archive *z, int indptr, size_t n, const struct graph_options *options,
                           struct graph *graph, struct err *err)
{
    const char *begin = z->members[indptr].name;
    struct csr_arrays c = {.indptr = {z->path, begin, &z->members[indptr].part}};
    char form[8];
    if (form_of(z, begin, n, "csr", form, err) || shape_of(z, begin, n, c.shape, err))
        return -1;
    if (!find(z, begin, n, "indices", &c.indices))
        return no_graph(z, err);
    (void)find(z, begin, n, "data", &c.data);
    return strcmp(form, "csc") == 0 ? read_columns(&c, options, graph, err) : read_rows(&c, graph, err);
}

static int read_members(const struct archive *z, const struct graph_options *options, struct graph *graph,
                        struct err *err)
{
    static const char *const edges[] = {"edge_index", "edges", "edge_list", "arr_0", NULL};
    size_t begin = 0;
    uint64_t shape[2];
    char form[8];
    int indptr = find_indptr(z, &begin);
    if (indptr >= 0)
        return read_compressed(z, indptr, begin, options, graph, err);
    if (indptr == -2)
        return err_set(err, "it holds several arrays indptr; expected one, or one that begins with adj");
    struct coo coo = {.form = COO_ARRAYS};
    if ((find(z, "", 0, "row", &coo.from) && find(z, "", 0, "col", &coo.to)) ||
        (find(z, "", 0, "src", &coo.from) && find(z, "", 0, "dst", &coo.to))) {
        if (form_of(z, "", 0, "coo", form, err) || shape_of(z, "", 0, shape, err))
            return -1;
        coo.vertices = shape[0] > shape[1] ? shape[0] : shape[1];
        (void)find(z, "", 0, "data", &coo.weights);
        return read_ends(&coo, options, graph, err);
    }
    for (int i = 0; edges[i]; i++)
        if (find(z, "", 0, edges[i], &coo.from))
            return read_edges(&coo.from, options, graph, err);
    return no_graph(z, err);
}

static enum graph_probe probe_npz(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    bool is = n >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
    return is ? GRAPH_YES : GRAPH_NO;
}

static int read_npz(const char *path, const struct graph_options *options, struct graph *graph, struct err *err)
{
    struct archive z = {.path = path};
    int rc = zip_members(path, &z.members, &z.n, err);
    if (!rc)
        rc = read_members(&z, options, graph, err);
    free(z.members);
    return rc ? err_at(err, "%s", path) : 0;
}

const struct graph_format graph_npy = {
    .name = "npy",
    .suffix = ".npy",
    .summary = "NumPy: ids 2 x E or E x 2, or indptr.npy with indices.npy (row with col, src with dst); read only",
    .probe = probe_npy,
    .read = read_npy,
    .parts = parts,
};

const struct graph_format graph_npz = {
    .name = "npz",
    .suffix = ".npz",
    .summary = "archive of NumPy's arrays: SciPy's CSR, CSC and COO, DGL, PyG's edge_index; read only",
    .probe = probe_npz,
    .read = read_npz,
};
