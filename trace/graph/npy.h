/* npy: one array in NumPy's file form, a file of its own or a member of an .npz archive, read as a stream.
 *
 * "\x93NUMPY", version 1.0, 2.0 or 3.0, the length of the header (2 bytes; from 2.0 on 4), the header as a Python
 * dictionary {'descr': '<i8', 'fortran_order': False, 'shape': (2, 10), }, then the items. Whole numbers of 1, 2, 4 and
 * 8 bytes, signed or not, booleans and floating-point numbers of 4 and 8 bytes in either byte order are read; all else
 * (objects, records, text, complex numbers) is refused with its descr.
 * Source: NumPy's numpy.lib.format (versions 1.0 to 3.0). */
#ifndef TRACE_GRAPH_NPY_H
#define TRACE_GRAPH_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/graph/graph.h"
#include "trace/import/input_stream.h"

/* --- the members of a zip archive, stored or deflated, with sizes beyond 4 GiB (zip64) where need be ---
 *
 * Everything is taken from the directory at the archive's end and held against the file: members must lie inside it,
 * and no deflated one may claim more than deflate can make of its bytes. Source: PKWARE APPNOTE 6.3.3; RFC 1951.
 *
 * Only the directory is read here, and not by libzip (1.7.3 in Debian 12), because a member is then a part of a file
 * like any other: source.h reads it from where it lies with the one function that inflates gzip too, a window at a
 * time, as many members at once as a graph has arrays (indptr, indices, data), each through a descriptor of its own,
 * checks size and sum, and says at which byte it stands. libzip does not tell where a member lies; it would need a
 * second kind of source, whose archive is opened once more for each reader, and bring OpenSSL and libbz2 (of encryption
 * and packings that NumPy does not write) into the program and its bundle. */

struct zip_member {
    char name[128]; /* longer ones are cut */
    struct input_stream_part part;
};

/* The members of archive `path` in the directory's order, freed with free(). At most 65,535. */
int zip_members(const char *path, struct zip_member **members, size_t *n, struct err *err);

/* --- one array --- */

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
    bool sure;        /* the file is as long as the header says: it is not packed */
};

struct npy {
    struct input_stream *source;
    struct npy_shape shape;
    const char *name;
    uint64_t at; /* items taken */
};

/* Open, read the header, pass over `skip` items. */
int npy_open(struct npy *array, const struct npy_place *place, uint64_t skip, struct err *err);
void npy_close(struct npy *array);

enum { NPY_PIECE = 4096 };

/* The next n <= NPY_PIECE items as ids; a negative one and one of an array that is not of whole numbers is an error
 * that names the item. */
int npy_ids(struct npy *array, uint64_t *ids, size_t n, struct err *err);
/* The next n <= NPY_PIECE items, of any kind but text. */
int npy_reals(struct npy *array, double *values, size_t n, struct err *err);
/* The only item of an array of text, in ASCII; false if it is none. */
bool npy_text(struct npy *array, char *text, size_t size);

/* An error unless the items end here; checks what an archive says of them. */
int npy_end(struct npy *array, struct err *err);

/* --- edges in arrays of sources and targets, one for each edge, into lists (coo.c) ---
 *
 * The arrays are read twice, so that beside the graph itself (4 bytes an element, 8 a vertex, 4 an element with
 * weights) nothing is kept that grows with it.
 *
 * First the elements of every vertex are counted, then they are put where they belong: lists keep the arrays' order. */

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

/* Weights are kept if all are whole 32-bit numbers. */
int coo_read(const struct coo *coo, const struct graph_options *options, struct graph *graph, struct err *err);

/* `count` weights of an array of as many into graph->weights, which stays NULL if they are not such. */
int coo_weights(const struct npy_place *place, uint64_t count, struct graph *graph, struct err *err);

#endif
