/* query_walk: how the lanes of a warp follow their queries through a suffix tree, in lockstep, for rodinia-mummergpu.
 *
 * A query is the letter q, its bases and a zero byte. From each start whose rest is long enough: the next letter;
 * while there is one: the children of the node, the child, the letter behind the edge's first; letter by letter the
 * reference and the next letter, until they differ or the edge ends; a match long enough is stored, and the walk goes
 * on behind the suffix link of the edge's upper node, as much further down as was matched on the edge. Lanes that are
 * done with a loop wait for the others at its end.
 * Source: Rodinia 3.1, cuda/mummergpu/src/mummergpu_kernel.cu, mummergpuKernel. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_QUERY_WALK_H
#define TRACE_WORKLOADS_RODINIA_PARTS_QUERY_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/program/program.h"
#include "trace/workloads/rodinia/parts/query_set.h"

enum query_array { QUERY_LETTER, QUERY_CHILD, QUERY_NODE, QUERY_REFERENCE, QUERY_RESULT };

/* One instruction of a warp. */
struct query_access {
    uint8_t array;   /* enum query_array; only results are stored */
    bool last;       /* of a body */
    uint32_t active; /* lanes */
    /* Letters: byte of all queries; nodes: number; reference: base; results: 8 B each. */
    uint32_t index[PROGRAM_LANES];
};

struct query_walk {
    struct query_access *list;
    size_t n, cap;
    size_t *body; /* where each begins */
    size_t bodies, body_cap;
};

/* What the warp of queries `first` to `first` + 31 does. A zeroed walk, or one to be filled anew; released with
 * query_walk_release(). */
int query_walk_init(struct query_walk *walk, const struct query_set *set, uint32_t first, struct err *err);
void query_walk_release(struct query_walk *walk);

#endif
