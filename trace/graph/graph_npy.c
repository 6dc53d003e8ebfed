#include "trace/graph/graph_npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/graph/csr_arrays.h"
#include "trace/import/zip.h"

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
        rc = part == 0 ? csr_arrays_read(&(struct csr_arrays){.indptr = a, .indices = b}, graph, err)
                       : csr_arrays_ends(&(struct coo){.from = a, .to = b}, options, graph, err);
    } else {
        rc = csr_arrays_edges(&(struct npy_place){.path = path, .name = "the array"}, options, graph, err);
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
    return strcmp(form, "csc") == 0 ? csr_arrays_columns(&c, options, graph, err) : csr_arrays_read(&c, graph, err);
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
        return csr_arrays_ends(&coo, options, graph, err);
    }
    for (int i = 0; edges[i]; i++)
        if (find(z, "", 0, edges[i], &coo.from))
            return csr_arrays_edges(&coo.from, options, graph, err);
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
