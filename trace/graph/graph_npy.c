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
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/graph/graph_build.h"
#include "trace/import/input_stream.h"

/* --- the members of a zip archive, stored or deflated, with sizes beyond 4 GiB (zip64) where need be ---
 *
 * A member stands behind its own header, one behind the other, up to the archive's directory. Headers are held against
 * the file: members must lie inside it, and no deflated one may claim more than deflate can make of its bytes.
 * Source: PKWARE APPNOTE 6.3.3; RFC 1951.
 *
 * Not by libzip (1.7.3 in Debian 12), which does not tell where a member lies: a member is a part of a file like any
 * other, which input_stream.h inflates a window at a time through a descriptor of its own. */

struct zip_member {
    char name[128]; /* longer ones are cut */
    struct input_stream_part part;
};

enum {
    HEADER_BYTES = 30,
    MOST_MEMBERS = 65535,
    MOST_RATIO = 1032, /* that deflate reaches: 258 bytes for 2 bits */
};

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

/* Sizes of 4 bytes that say "see zip64" are replaced from the extra field, in this order. */
static void widen(const unsigned char *extra, size_t n, struct input_stream_part *part)
{
    uint64_t *wide[] = {&part->bytes, &part->packed_bytes};
    for (size_t at = 0; at + 4 <= n;) {
        size_t length = little(extra + at + 2, 2), used = 0;
        if (length > n - at - 4)
            return;
        for (int i = 0; little(extra + at, 2) == 1 && i < 2; i++)
            if (*wide[i] == UINT32_MAX && used + 8 <= length) {
                *wide[i] = little(extra + at + 4 + used, 8);
                used += 8;
            }
        at += 4 + length;
    }
}

/* The name in a header, and the place and sizes of what stands behind it, of a file of so many bytes. */
static int take_header(const unsigned char *p, uint64_t at, uint64_t size, struct zip_member *m, struct err *err)
{
    size_t name = little(p + 26, 2), extra = little(p + 28, 2),
           kept = name < sizeof m->name ? name : sizeof m->name - 1;
    unsigned flags = (unsigned)little(p + 6, 2), method = (unsigned)little(p + 8, 2);
    *m = (struct zip_member){.part = {.at = at + HEADER_BYTES + name + extra,
                                      .crc = (uint32_t)little(p + 14, 4),
                                      .packed_bytes = little(p + 18, 4),
                                      .bytes = little(p + 22, 4),
                                      .deflated = method == 8}};
    for (size_t i = 0; i < kept; i++)
        m->name[i] = p[HEADER_BYTES + i] < ' ' ? '?' : (char)p[HEADER_BYTES + i];
    widen(p + HEADER_BYTES + name, extra, &m->part);
    const uint64_t packed = m->part.packed_bytes, bytes = m->part.bytes;
    if (method != 0 && method != 8)
        return err_set(err, "member '%s' is packed by method %u; expected stored or deflated", m->name, method);
    if (flags & 9)
        return err_set(err, "member '%s' is %s", m->name,
                       flags & 1 ? "encrypted" : "without its sizes before it: save the archive to a file, not a pipe");
    if (m->part.at > size || packed > size - m->part.at)
        return err_set(err, "member '%s' is said to have %llu bytes from byte %llu, of %llu", m->name,
                       (unsigned long long)packed, (unsigned long long)m->part.at, (unsigned long long)size);
    if (method ? bytes / MOST_RATIO > packed : bytes != packed)
        return err_set(err, "member '%s' is said to unpack %llu bytes to %llu", m->name, (unsigned long long)packed,
                       (unsigned long long)bytes);
    return 0;
}

/* The member whose header stands at *at, which moves behind it: 1, 0 at the directory, -1. */
static int next_member(int fd, uint64_t size, uint64_t *at, struct zip_member *m, struct err *err)
{
    unsigned char p[HEADER_BYTES + 2 * UINT16_MAX];
    ssize_t got = pread(fd, p, sizeof p, (off_t)*at);
    if (got >= 4 && (memcmp(p, "PK\1\2", 4) == 0 || memcmp(p, "PK\5\6", 4) == 0))
        return 0;
    if (got < HEADER_BYTES || HEADER_BYTES + little(p + 26, 2) + little(p + 28, 2) > (uint64_t)got)
        return err_set(err, "byte %llu: the file ends inside a member", (unsigned long long)size);
    if (memcmp(p, "PK\3\4", 4) != 0)
        return err_set(err, "byte %llu: no member of the archive begins here", (unsigned long long)*at);
    if (take_header(p, *at, size, m, err))
        return -1;
    *at = m->part.at + m->part.packed_bytes;
    return 1;
}

/* The members of archive `path` in their order, freed with free(). At most 65,535. */
static int zip_members(const char *path, struct zip_member **members, size_t *n, struct err *err)
{
    struct stat st;
    struct zip_member m;
    uint64_t at = 0;
    size_t cap = 0;
    const int fd = regular_file_open(path, err);
    *members = NULL;
    *n = 0;
    int rc = fd < 0 ? -1 : fstat(fd, &st) ? err_set(err, "%s", strerror(errno)) : 0;
    while (!rc && (rc = next_member(fd, (uint64_t)st.st_size, &at, &m, err)) > 0)
        rc = *n == MOST_MEMBERS ? err_set(err, "the archive has more than %d members", MOST_MEMBERS)
                                : MEM_ADD(*members, *n, cap, err, m);
    if (fd >= 0)
        (void)close(fd);
    if (rc) {
        free(*members);
        *members = NULL;
        *n = 0;
    }
    return rc;
}

/* --- one array in NumPy's file form, a file of its own or a member of an .npz archive, read as a stream ---
 *
 * "\x93NUMPY", version 1.0, 2.0 or 3.0, the length of the header (2 bytes; from 2.0 on 4), the header as a Python
 * dictionary {'descr': '<i8', 'fortran_order': False, 'shape': (2, 10), }, then the items. Whole numbers of 1, 2, 4 and
 * 8 bytes, signed or not, booleans and floating-point numbers of 4 and 8 bytes in either byte order are read; all else
 * (objects, records, text, complex numbers) is refused with its descr.
 * Source: NumPy's numpy.lib.format (versions 1.0 to 3.0). */

/* Where an array is: `path` itself, or a part of it. */
struct npy_place {
    const char *path;
    const char *name;                     /* for messages */
    const struct input_stream_part *part; /* NULL: the whole file, packed or not */
};

struct npy_shape {
    char kind;      /* 'i', 'u', 'b', 'f' or 'S' (text: one item is what npy_text() gives) */
    unsigned width; /* bytes of an item */
    bool big;       /* big-endian */
    bool fortran;   /* the first index runs fastest */
    unsigned dimensions;
    uint64_t size[2]; /* of the first two */
    uint64_t items;   /* in all */
};

struct npy {
    struct input_stream *source;
    struct npy_shape shape;
    const char *name;
    uint64_t at; /* items taken */
};

enum { NPY_PIECE = 4096 };

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { HEADER_MOST = 65536 };

/* The value of a key in the header's dictionary; NULL if it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ')
        at++;
    if (*at++ != ':')
        return NULL;
    while (*at == ' ')
        at++;
    return at;
}

/* "'<i8'" */
static int parse_descr(const char *at, struct npy_shape *s, struct err *err)
{
    char quote = at ? *at : 0;
    const char *p = at ? at + 1 : "";
    unsigned width = 0;
    if ((quote == '\'' || quote == '"') && *p && strchr("<>|=", *p) && p[1]) {
        char kind = p[1];
        s->big = *p == '>';
        for (p += 2; isdigit((unsigned char)*p) && width < 65536; p++)
            width = 10 * width + (unsigned)(*p - '0');
        s->kind = kind == 'U' ? 'S' : kind;
        s->width = kind == 'U' ? 4 * width : width;
        bool text = (kind == 'S' || kind == 'U') && width, real = kind == 'f' && (width == 4 || width == 8);
        bool whole = (kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
        if (*p == quote && (text || real || whole || (kind == 'b' && width == 1)))
            return 0;
    }
    return err_set(err, "its items are %.*s; expected whole or floating-point numbers of 1 to 8 bytes",
                   at ? (int)strcspn(at, ",}\n") : 7, at ? at : "nothing");
}

/* "(2, 10)", "(5,)", "()" */
static int parse_shape(const char *at, struct npy_shape *s, struct err *err)
{
    s->items = 1;
    if (!at || *at++ != '(')
        return err_set(err, "its header has no shape");
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')')
            return 0;
        uint64_t size = 0;
        if (!isdigit((unsigned char)*at))
            return err_set(err, "its header's shape is not one of whole numbers");
        for (; isdigit((unsigned char)*at); at++) {
            if (size > (UINT64_MAX >> 8) / 10)
                return err_set(err, "its header's shape is too large");
            size = size * 10 + (uint64_t)(*at - '0');
        }
        if (*at == 'L')
            at++;
        if (s->dimensions < 2)
            s->size[s->dimensions] = size;
        s->dimensions++;
        if (s->dimensions > 32 || (size && s->items > (UINT64_MAX >> 8) / size))
            return err_set(err, "its header's shape is too large");
        s->items *= size;
    }
}

static int parse_header(char *header, struct npy_shape *s, struct err *err)
{
    const char *order = value_of(header, "'fortran_order'");
    if (*header != '{' || !order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return err_set(err, "its header is no dictionary with descr, fortran_order and shape");
    s->fortran = *order == 'T';
    return parse_descr(value_of(header, "'descr'"), s, err) || parse_shape(value_of(header, "'shape'"), s, err) ? -1
                                                                                                                : 0;
}

static int read_header(struct input_stream *source, struct npy_shape *s, struct err *err)
{
    unsigned char head[12];
    size_t length;
    if (graph_read_bytes(source, head, 10, "NumPy's header", err))
        return -1;
    if (memcmp(head, magic, sizeof magic) != 0)
        return err_set(err, "byte 0: no array of NumPy begins here");
    if (head[6] < 1 || head[6] > 3)
        return err_set(err, "byte 6: version %u.%u of NumPy's form; expected 1.0 to 3.0", head[6], head[7]);
    length = head[8] | (size_t)head[9] << 8;
    if (head[6] > 1) {
        if (graph_read_bytes(source, head + 10, 2, "NumPy's header", err))
            return -1;
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > HEADER_MOST)
        return err_set(err, "byte 8: a header of %zu bytes; expected at most %d", length, HEADER_MOST);
    char *header = calloc(length + 1, 1);
    if (!header)
        return err_set(err, "out of memory");
    int rc = graph_read_bytes(source, header, length, "NumPy's header", err);
    if (!rc)
        rc = parse_header(header, s, err);
    free(header);
    return rc;
}

/* An error unless the bytes behind the header are those of the items, where that can be known before they are read. */
static int check_size(const struct npy_place *place, uint64_t header, const struct npy_shape *s, struct err *err)
{
    struct stat st;
    unsigned char first[6];
    uint64_t bytes = place->part ? place->part->bytes : 0, items = s->items * s->width;
    if (!place->part) {
        FILE *file = fopen(place->path, "rb");
        bool plain = file && fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, magic, 6) == 0 &&
                     fstat(fileno(file), &st) == 0;
        if (file)
            (void)fclose(file);
        if (!plain)
            return 0;
        bytes = (uint64_t)st.st_size;
    }
    if (bytes < header || bytes - header != items)
        return err_set(err, "byte %llu: %llu bytes of items; its shape needs %llu", (unsigned long long)header,
                       (unsigned long long)(bytes < header ? 0 : bytes - header), (unsigned long long)items);
    return 0;
}

static void npy_close(struct npy *a)
{
    input_stream_close(a->source);
    a->source = NULL;
}

/* Open, read the header, pass over `skip` items. */
static int npy_open(struct npy *a, const struct npy_place *place, uint64_t skip, struct err *err)
{
    *a = (struct npy){.name = place->name, .at = skip};
    a->source =
        place->part ? input_stream_open_part(place->path, place->part, err) : input_stream_open(place->path, err);
    if (!a->source)
        return -1;
    if (read_header(a->source, &a->shape, err) || check_size(place, input_stream_offset(a->source), &a->shape, err) ||
        (skip && input_stream_skip(a->source, skip * a->shape.width, err))) {
        npy_close(a);
        return err_at(err, "%s", place->name);
    }
    return 0;
}

static int take_items(struct npy *a, unsigned char *raw, size_t n, struct err *err)
{
    size_t width = a->shape.width;
    if (graph_read_bytes(a->source, raw, n * width, "the items", err))
        return err_at(err, "%s", a->name);
    if (a->shape.big && width > 1)
        for (unsigned char *p = raw; p < raw + n * width; p += width)
            for (size_t i = 0; i < width / 2; i++) {
                unsigned char byte = p[i];
                p[i] = p[width - 1 - i];
                p[width - 1 - i] = byte;
            }
    return 0;
}

/* Items of one type to ids; the or of all is negative if one is. */
#define WIDEN(type)                                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        type item;                                                                                                     \
        memcpy(&item, raw + i * sizeof item, sizeof item);                                                             \
        ids[i] = (uint64_t)(int64_t)item;                                                                              \
        any |= ids[i];                                                                                                 \
    }

static uint64_t widen_ids(const struct npy_shape *s, const unsigned char *raw, uint64_t *ids, size_t n)
{
    uint64_t any = 0;
    if (s->kind == 'i' && s->width == 8)
        WIDEN(int64_t)
    else if (s->kind == 'i' && s->width == 4)
        WIDEN(int32_t)
    else if (s->kind == 'i' && s->width == 2)
        WIDEN(int16_t)
    else if (s->kind == 'i')
        WIDEN(int8_t)
    else if (s->width == 8)
        WIDEN(uint64_t)
    else if (s->width == 4)
        WIDEN(uint32_t)
    else if (s->width == 2)
        WIDEN(uint16_t)
    else
        WIDEN(uint8_t)
    return any;
}

/* The next n <= NPY_PIECE items as ids; a negative one and one of an array that is not of whole numbers is an error
 * that names the item. */
static int npy_ids(struct npy *a, uint64_t *ids, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    if (a->shape.kind != 'i' && a->shape.kind != 'u')
        return err_set(err, "%s: its items are of type '%c%u'; ids are whole numbers ('i' or 'u')", a->name,
                       a->shape.kind, a->shape.width);
    if (take_items(a, raw, n, err))
        return -1;
    if (widen_ids(&a->shape, raw, ids, n) >> 63)
        for (size_t i = 0; i < n; i++)
            if (ids[i] >> 63)
                return err_set(err, "%s: item %llu is %lld; expected an id or offset from 0", a->name,
                               (unsigned long long)(a->at + i), (long long)ids[i]);
    a->at += n;
    return 0;
}

/* The next n <= NPY_PIECE items, of any kind but text. */
static int npy_reals(struct npy *a, double *values, size_t n, struct err *err)
{
    unsigned char raw[NPY_PIECE * 8];
    uint64_t whole[NPY_PIECE];
    float narrow;
    if (a->shape.kind == 'S')
        return err_set(err, "%s: its items are text; expected numbers", a->name);
    if (take_items(a, raw, n, err))
        return -1;
    a->at += n;
    if (a->shape.kind == 'f' && a->shape.width == 8) {
        memcpy(values, raw, n * sizeof *values);
        return 0;
    }
    if (a->shape.kind != 'f')
        (void)widen_ids(&a->shape, raw, whole, n);
    for (size_t i = 0; i < n; i++) {
        if (a->shape.kind == 'f')
            memcpy(&narrow, raw + i * 4, 4);
        values[i] = a->shape.kind == 'f'   ? (double)narrow
                    : a->shape.kind == 'i' ? (double)(int64_t)whole[i]
                                           : (double)whole[i];
    }
    return 0;
}

/* The only item of an array of text, in ASCII; false if it is none. */
static bool npy_text(struct npy *a, char *text, size_t size)
{
    unsigned char raw[256];
    size_t n = a->shape.width, used = 0;
    if (a->shape.kind != 'S' || a->shape.items != 1 || n > sizeof raw ||
        graph_read_bytes(a->source, raw, n, "the text", NULL))
        return false;
    for (size_t i = 0; i < n && used < size - 1; i++)
        if (raw[i])
            text[used++] = (char)raw[i];
    text[used] = 0;
    return true;
}

/* An error unless the items end here; checks what an archive says of them. */
static int npy_end(struct npy *a, struct err *err)
{
    return graph_read_end(a->source, err) ? err_at(err, "%s", a->name) : 0;
}

int graph_npy_numbers(const char *path, uint64_t **numbers, size_t *n, struct err *err)
{
    const struct npy_place place = {path, path, NULL};
    struct npy a;
    *numbers = NULL;
    if (npy_open(&a, &place, 0, err))
        return -1;
    int rc = a.shape.fortran && a.shape.dimensions > 1
                 ? err_set(err, "%s: its first index runs fastest; expected C order, np.ascontiguousarray()", path)
                 : 0;
    *n = (size_t)a.shape.items;
    *numbers = rc ? NULL : mem_zalloc(*n + 1, sizeof **numbers, err);
    rc = *numbers ? rc : -1;
    for (size_t at = 0; at < *n && !rc; at += NPY_PIECE)
        rc = npy_ids(&a, *numbers + at, *n - at < NPY_PIECE ? *n - at : NPY_PIECE, err);
    rc = rc ? rc : npy_end(&a, err);
    npy_close(&a);
    return rc;
}

/* --- edges in arrays of sources and targets, one for each edge, into lists, which keep the arrays' order --- */

enum coo_form {
    COO_PAIRS,   /* `from` holds source, target, source, target ... */
    COO_ARRAYS,  /* `from` holds the sources after skip_from items, `to` the targets after skip_to */
    COO_COLUMNS, /* `from` holds the sources of the edges to column 0, 1 ..., of which offsets[] says where they begin
                  */
};

struct coo {
    enum coo_form form;
    struct npy_place from, to, weights; /* weights.path NULL: none */
    uint64_t skip_from, skip_to;
    const uint64_t *offsets; /* COO_COLUMNS: columns + 1 values, checked */
    uint64_t edges;
    uint64_t vertices; /* known from elsewhere; 0: the largest id + 1 */
};

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

static int walk_open(struct walk *k, const struct coo *coo, struct err *err)
{
    k->coo = coo;
    k->done = k->column = 0;
    k->to.source = k->weights.source = NULL;
    if (npy_open(&k->from, &coo->from, coo->skip_from, err))
        return -1;
    if (coo->form == COO_ARRAYS && npy_open(&k->to, &coo->to, coo->skip_to, err))
        return -1;
    return coo->weights.path ? npy_open(&k->weights, &coo->weights, 0, err) : 0;
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

static bool fits(double weight)
{
    return weight == floor(weight) && fabs(weight) <= INT32_MAX;
}

/* The edges at hand; *whole: all weights so far fit. */
static int take_edges(struct graph_list *list, const struct walk *k, bool *whole, struct err *err)
{
    const uint64_t most = k->coo->vertices ? k->coo->vertices : UINT32_MAX - 1;
    for (size_t i = 0; i < k->n; i++) {
        const uint64_t larger = k->u[i] > k->v[i] ? k->u[i] : k->v[i];
        if (larger >= most && !list->options->relabel)
            return err_set(err, "edge %" PRIu64 " names vertex %" PRIu64 "; expected below %" PRIu64 "%s",
                           k->done - k->n + i, larger, most, k->coo->vertices ? "" : ", or --relabel");
        *whole = *whole && (!k->weights.source || fits(k->w[i]));
        const int32_t weight = k->weights.source && *whole ? (int32_t)k->w[i] : 0;
        if (graph_list_edge(list, k->u[i], k->v[i], k->weights.source, weight, err))
            return -1;
    }
    return 0;
}

/* Weights are kept if all are whole 32-bit numbers. */
static int coo_read(const struct coo *coo, const struct graph_options *options, struct graph *g, struct err *err)
{
    struct graph_list list = {.options = options, .vertices = coo->vertices};
    struct walk *k = mem_zalloc(1, sizeof *k, err);
    bool whole = true;
    if (!k)
        return -1;
    *g = (struct graph){0};
    int rc = walk_open(k, coo, err);
    while (!rc && (rc = walk_next(k, err)) > 0)
        rc = take_edges(&list, k, &whole, err);
    walk_close(k);
    free(k);
    rc = rc || graph_list_finish(&list, g, err) ? -1 : 0;
    graph_list_release(&list);
    if (!rc && !whole) {
        free(g->weights);
        g->weights = NULL;
    }
    return rc;
}

/* `count` weights of an array of as many into graph->weights, which stays NULL if they are not such. */
static int coo_weights(const struct npy_place *place, uint64_t count, struct graph *g, struct err *err)
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

static bool probe_npy(const char *path, const unsigned char *head, size_t n)
{
    char names[2][4096];
    int part;
    if (n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0)
        return true;
    return n == 0 && find_pair(path, &part, names);
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
    for (size_t i = 0; i < z->n; i++)
        (void)mem_add_text(names, sizeof names, "%s%s", i ? ", " : "", z->members[i].name);
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

static bool probe_npz(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    bool is = n >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
    return is;
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
