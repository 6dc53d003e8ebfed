/* cfd_mesh: a stand-in for the unstructured mesh of rodinia-cfd.
 *
 * Neighbours of element i are p(i-1), p(i+1), p(i-x), p(i+x); outside the mesh is far field, with nothing to load; p
 * permutes the elements within windows of `window` (1: not at all). Elements from n on have the last one's neighbours,
 * as the program pads. How far a gather spreads is the one free number here: 1, 32 and 1024 give about 5, 6.5 and 29
 * sectors.
 * Worked example, n = 384, x = 16, window = 1: neighbours of 5: 4, 6, far field, 21. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_CFD_MESH_H
#define TRACE_WORKLOADS_RODINIA_PARTS_CFD_MESH_H

#include <stdint.h>

enum { CFD_NEIGHBOURS = 4 };

struct cfd_mesh {
    int64_t n, x, window; /* window: a power of two */
    uint32_t seed;
};

/* Neighbour j of an element, j < CFD_NEIGHBOURS; -1: far field. */
int64_t cfd_neighbour(const struct cfd_mesh *mesh, int64_t element, unsigned j);

#endif
