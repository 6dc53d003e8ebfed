/* The launches of a traversal as scans, the closed form beside its program: batch by batch the lists of the active
 * vertices that have one. */
#include "trace/workloads/graph/traversal.h"

enum { EDGES_BASE = 4096 };
static const uint64_t weights_base = 1ULL << 46; /* an allocation of its own, a page boundary */

static void setup(void *state, struct scan_setup *s)
{
    const struct traversal *t = state;
    const struct traversal_params *p = t->params;
    uint32_t element = traversal_element_bytes(p);
    *s = (struct scan_setup){
        .shape = SCAN_LISTS,
        .reuse = (enum scan_reuse)p->reuse,
        .structures = {{"edges", EDGES_BASE + (uint64_t)p->base_offset, element, t->graph.elements},
                       {"weights", weights_base, 4, t->graph.elements}},
        .structure_count = t->algorithm->weighted ? 2 : 1,
        .threads_per_block = p->threads_per_block,
        .lanes = t->graph.vertices,
        .visits = !(!t->algorithm->rooted && p->iterations == 1),
        .unmasked_head = t->algorithm->weighted,
    };
}

static int start(void *state, struct err *err)
{
    (void)err;
    struct traversal *t = state;
    t->root_at = 0;
    t->launch = 0;
    traversal_begin(t);
    return 0;
}

/* The launch was handed out: find the next one, of this run or another. */
static int advance(struct traversal *t, struct err *err)
{
    t->launch++;
    t->round++;
    bool more = !t->params->iterations || t->round < t->params->iterations;
    if (more) {
        if (t->algorithm->advance(t, err))
            return -1;
        traversal_swap(t);
        t->cursor = 0;
    }
    t->running = more && t->active.count > 0;
    if (!t->running && t->root_at + 1 < t->root_count) {
        t->root_at++;
        traversal_begin(t);
    }
    return 0;
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    struct traversal *t = state;
    if (!t->running)
        return 0;
    const struct graph *g = &t->graph;
    uint64_t v = frontier_next(&t->active, t->cursor, g->vertices);
    uint64_t end = (v / SCAN_BATCH + 1) * SCAN_BATCH;
    if (end > g->vertices)
        end = g->vertices;
    size_t n = 0;
    for (; v < end; v = frontier_next(&t->active, v + 1, end))
        if (g->offsets[v + 1] > g->offsets[v])
            t->scans[n++] = (struct scan){g->offsets[v], g->offsets[v + 1] - g->offsets[v], v};
    t->cursor = end;
    bool last = frontier_next(&t->active, end, g->vertices) == g->vertices;
    *batch = (struct scan_batch){t->launch, t->scans, n, last};
    return last && advance(t, err) ? -1 : 1;
}

static uint64_t runs(void *state)
{
    return ((const struct traversal *)state)->root_count;
}

const struct scan_ops traversal_ops = {setup, start, next, runs};

int traversal_records(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    struct traversal *t = state;
    return scan_write(&t->writer, &traversal_ops, t, records, cap, n, err);
}
