/* traversal: graph algorithms that really run, handing out the neighbour lists that each launch reads.
 *
 * Workloads bfs, sssp, cc and pagerank share the parameters, the frontier and the batches; an algorithm only says which
 * vertices are active first and, after a launch, next. All active vertices' lists are read in a launch, in vertex
 * order, those of the last level too; empty lists cost nothing. The edge list lies at byte 4096 + base_offset, its
 * 4-byte weights at a page of their own. The program (traversal_program.c) is the same launches, access by access; the
 * scans are its closed form. */
#pragma once

#include "trace/workloads/graph/graph_source.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

/* A set of vertices, one bit each: those whose lists a launch reads. */
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

struct traversal_params {
    struct graph_source source; /* first */
    const char *root;           /* NULL: `roots` of them; "auto": the vertex of the largest degree; or a number */
    int64_t roots;
    int64_t element; /* choice: 8, 4, 16 */
    int64_t base_offset;
    int64_t reuse;       /* enum scan_reuse */
    const char *weights; /* "LO:HI", NULL: the graph's own, else 8:72 */
    int64_t update;      /* choice: in place, jacobi */
    double tolerance;
    int64_t iterations; /* 0: until nothing changes */
    int64_t threads_per_block;
    int64_t kernel;     /* enum traversal_way */
    int64_t chunk;      /* vertices of a warp */
    int64_t compute_ns; /* PARAM_AUTO: by instructions */
};

/* Which kernel the program is. */
enum traversal_way { TRAVERSAL_NAIVE, TRAVERSAL_MERGED, TRAVERSAL_ALIGNED, TRAVERSAL_WAYS };

struct traversal {
    const struct traversal_algorithm *algorithm;
    const struct traversal_params *params;
    struct graph graph;
    struct frontier active, next;
    void *values;        /* the algorithm's own */
    uint64_t *roots;     /* those used, in order */
    uint64_t root_count; /* 1 for algorithms without a root */
    uint64_t root_at;    /* the one running */
    uint64_t cursor;     /* first vertex not yet handed out */
    int64_t round;       /* launches of this run so far */
    uint32_t launch;     /* of all runs */
    bool running;        /* a launch is being handed out */
    struct scan *scans;  /* SCAN_BATCH */
    struct scan_writer writer;
    struct traversal_program *programs[TRAVERSAL_WAYS]; /* those that were asked for */
    struct traversal_launches *launches;                /* theirs; NULL: none was */
    /* By element, where somebody asks, else NULL: its visit changes a value; the value is the vertex's own and not the
     * neighbour's. */
    uint64_t *changes, *own;
};

/* What the kernel of a visit accesses beside the lists, all of it in GPU memory. */
struct traversal_kernel {
    const char *name;     /* "bfs" */
    const char *values;   /* array of what a visit changes, "labels" */
    uint32_t value_bytes; /* of its element */
    bool values_written;  /* the CPU wrote it before the first launch; else the GPU */
    const char *own;      /* array whose element of the vertex itself is read in every turn; NULL: none */
    bool own_first;       /* and once before the list */
    bool flags;           /* whether a vertex is active is a byte of an array, else its value says so */
    bool clears;          /* the byte is cleared behind the list */
    bool raises; /* a visit that changes a value sets the vertex's byte in a second such array; the two take turns */
    bool reads;  /* a visit reads the neighbour's value */
    bool always; /* every visit changes the neighbour's value */
    bool atomic; /* values are changed by atomics */
    bool tells;  /* a visit that changes a value sets a word that the host looks at */
};

struct traversal_algorithm {
    bool rooted, weighted;
    bool changes_own; /* a visit may change the value of the vertex itself */
    uint32_t values;  /* of a vertex in traversal.values, 8 B each; 0: a bit, and a value for all */
    struct traversal_kernel kernel;
    /* Set t->active for a new run. */
    void (*begin)(struct traversal *t, uint64_t root);
    /* The launch over t->active is done: add the vertices of the next one to t->next (which is empty). Where t->changes
     * is not NULL, lists are read in order and visits that change a value are marked. */
    int (*advance)(struct traversal *t, struct err *err);
};

/* The visit of element i changes a value. */
static inline void traversal_mark(struct traversal *t, uint64_t i)
{
    if (t->changes)
        t->changes[i / 64] |= 1ULL << (i % 64);
}

/* Begin the traversal of root t->root_at anew. */
void traversal_begin(struct traversal *t);
/* Room for the frontiers, and for the algorithm's values. */
int traversal_make_room(struct traversal *t, struct err *err);
/* t->active becomes t->next, which is emptied. */
void traversal_swap(struct traversal *t);

extern const struct scan_ops traversal_ops;
extern const struct traversal_algorithm traversal_bfs, traversal_cc, traversal_sssp, traversal_pagerank;

/* --- traversal_program.c --- */

/* As workload_type.program and .program_as, of a traversal that is open. They run it once. */
int traversal_program(void *state, struct program *program, struct err *err);
int traversal_program_as(void *state, const char *kernel, struct program *program, struct err *err);
bool traversal_spare(void *state, double *elements); /* as workload_type.spare */
void traversal_program_free(struct traversal *t);    /* all of them */
