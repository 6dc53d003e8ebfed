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

#include "trace/import/source.h"

/* Where an array is: `path` itself, or a part of it. */
struct npy_place {
    const char *path;
    const char *name;               /* for messages */
    const struct source_part *part; /* NULL: the whole file, packed or not */
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
    struct source *source;
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

#endif
