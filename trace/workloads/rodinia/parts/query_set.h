/* query_set: the queries of rodinia-mummergpu: parts of the genome, some of their bases changed.
 *
 * Each begins at a place drawn evenly; a base is changed to one of the three others with a chance of `errors`.
 * Worked example: errors = 0: every query stands in the genome as it is. */
#ifndef TRACE_WORKLOADS_RODINIA_PARTS_QUERY_SET_H
#define TRACE_WORKLOADS_RODINIA_PARTS_QUERY_SET_H

#include "trace/workloads/rodinia/parts/genome_tree.h"

struct query_set {
    const struct genome_tree *tree;
    const uint8_t *letters;          /* bases 0 to 3 of all queries, one behind the other */
    uint32_t queries, length, match; /* length: of a query; match: how much of it must match, up to that */
};

/* Draw set->letters, which are then the caller's to free; all else is given, length at most the genome's. errors: 0
 * to 1. -1 with *err set: no letters. */
int query_set_draw(struct query_set *set, double errors, uint64_t seed, struct err *err);

#endif
