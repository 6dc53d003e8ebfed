/* frontier: a set of vertices, one bit each: those whose lists a launch reads. */
#ifndef TRACE_WORKLOADS_GRAPH_FRONTIER_H
#define TRACE_WORKLOADS_GRAPH_FRONTIER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

struct frontier {
    uint64_t *bits;
    uint64_t count, vertices; /* members; of the graph */
};

/* None of so many vertices. Release bits with free(). */
int frontier_init(struct frontier *frontier, uint64_t vertices, struct err *err);

/* None; all. */
void frontier_clear(struct frontier *frontier);
void frontier_fill(struct frontier *frontier);

/* The first member from v on, or `end`. */
uint64_t frontier_next(const struct frontier *frontier, uint64_t v, uint64_t end);

static inline bool frontier_has(const struct frontier *f, uint64_t v)
{
    return (f->bits[v / 64] >> (v % 64)) & 1;
}

static inline void frontier_add(struct frontier *f, uint64_t v)
{
    uint64_t bit = 1ULL << (v % 64);
    f->count += !(f->bits[v / 64] & bit);
    f->bits[v / 64] |= bit;
}

#endif
