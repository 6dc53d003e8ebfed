/* traversal_program: the kernels of bfs, sssp, cc and pagerank, and of a sweep over all lists, access by access.
 *
 * A launch is a level or a round; its grid covers all vertices: naive a thread for each, merged and aligned a warp. A
 * warp looks whether its vertex is active (bfs: its label; else a byte of an array) and ends if not. Then offsets[v],
 * offsets[v + 1], and the list: load j of lane l is element first + j (naive), first + 32 j + l (merged), or likewise
 * from `first` rounded down to 128 B / element size on (aligned; lanes below the list's start are masked off, but in
 * sssp's kernel they load). Load j takes part in all lanes that have an element left: a warp goes on until its longest
 * lane is done. Behind each element comes its visit: the neighbour's value, sssp's weight, and what the visit changes
 * (the run, below). A sweep (cc or pagerank, iterations=1) visits nobody; four loads of its loop are issued together.
 * Worked example: bfs, kernel=merged, 8 B elements, list of 40: body 0 label and offsets; body 1 elements 0 to 31, 32
 * labels scattered over GPU memory, stores where the label was not set; body 2 elements 32 to 39 in 8 lanes.
 * The requests of the lists are those that the scans (traversal_ops) make under the pattern of the same name.
 * Source: EMOGI 382dbcc, bfs.cu, sssp.cu, cc.cu, pagerank.cu; fixtures/cuda/bfs.cu; unrolling by four of a loop without
 * a visit: H200, CUDA 13.0, 2026-11.
 * Differs: instructions between accesses are counted from the source (an address, a comparison, a branch: one each),
 * not from machine code; kernels that touch GPU memory only (EMOGI's `initialize` and `update`) are left out; sssp does
 * not leave a list when its own cost falls; the public code has no naive kernel but that of bfs. */
#ifndef TRACE_WORKLOADS_GRAPH_TRAVERSAL_PROGRAM_H
#define TRACE_WORKLOADS_GRAPH_TRAVERSAL_PROGRAM_H

#include "trace/workloads/graph/traversal.h"
#include "trace/workloads/workload.h"

/* As workload_type.program, of a state of traversal_open(). Runs the traversal once; what a run needs besides stands
 * below. */
int traversal_program(void *state, struct program *program, struct err *err);
/* As workload_type.program_as. */
int traversal_program_as(void *state, const char *kernel, struct program *program, struct err *err);
void traversal_program_free(struct traversal *t); /* all of them */

extern const struct traversal_algorithm traversal_bfs, traversal_cc, traversal_sssp, traversal_pagerank;

/* --- the run: the launches of a traversal in order, each with its frontier and the visits that change a value; what
 * the program of a traversal is made from ---
 *
 * A visit changes a value if it does so when the launch's lists are read one after the other, in vertex order and
 * element by element: of several visits that would lower the same value alike, the first. That is one of the orders a
 * GPU may take, and the same in every run.
 * A run takes the launches that are kept, and of memory 1 bit (cc: 2) an element. Where none are it has frontiers and
 * values of its own besides (2 bits a vertex; bfs 1 bit, the others 16 B a vertex), goes forward by itself and starts
 * anew to go back. It shares the graph, so runs may be on threads of their own.
 * Differs: on a GPU visits at the same time may all find the old value, and all change it.
 *
 * The launches are worked out once and shared by all runs. A frontier is kept as bits, 1 a vertex; of changes only the
 * words that are not 0, 24 B each. Where all launches together take more than `most`, none is kept and each run works
 * them out by itself. */

/* Word `word` of traversal.changes and .own. */
struct traversal_change {
    uint64_t word, changes, own;
};

struct traversal_launch {
    uint64_t *active; /* frontier.bits */
    uint64_t count;   /* its members */
    struct traversal_change *change;
    size_t changes;
};

struct traversal_launches {
    uint64_t *starts;            /* of roots: their first launches; [root_count]: all launches */
    struct traversal_launch *of; /* of each launch; NULL: they are not kept */
    size_t kept, cap;
    uint64_t bytes;
};

/* Runs the traversal once. changes: whether changing visits are wanted. most: bytes. To be closed even on failure. */
int traversal_launches_open(struct traversal_launches *l, const struct traversal *t, bool changes, uint64_t most,
                            struct err *err);
void traversal_launches_close(struct traversal_launches *l);

struct traversal_run {
    struct traversal t; /* a copy: t.active is the frontier of the launch, t.changes what it changes */
    const struct traversal_launches *launches;
    bool running; /* t stands at `launch` */
    uint32_t launch;
};

/* launches: must outlive the run; NULL: whoever finds them out. changes: whether changing visits are wanted, as when
 * the launches were opened. *run is to be closed even on failure. */
int traversal_run_open(struct traversal_run *run, const struct traversal *t, const struct traversal_launches *launches,
                       bool changes, struct err *err);
void traversal_run_close(struct traversal_run *run);

/* Of a run without launches: find out what the launch that it stands at changes, and the next frontier; changes are no
 * longer wanted. */
int traversal_run_advance(struct traversal_run *run, struct err *err);
void traversal_run_forget(struct traversal_run *run);

/* Go to a launch. */
int traversal_run_seek(struct traversal_run *run, uint32_t launch, struct err *err);

/* Whether the visit of element i changes a value in this launch (false for pagerank, where every visit does). */
static inline bool traversal_run_changes(const struct traversal_run *run, uint64_t i)
{
    return run->t.changes && (run->t.changes[i / 64] >> (i % 64)) & 1;
}

/* ... of the vertex whose list it is. */
static inline bool traversal_run_changes_own(const struct traversal_run *run, uint64_t i)
{
    return run->t.own && (run->t.own[i / 64] >> (i % 64)) & 1;
}

/* --- what a warp of a traversal's kernel does: whether its vertices are active, their lists, the visits behind each
 * element; and where it finds the arrays --- */

/* Which elements of neighbour lists the lanes of a warp load, load by load.
 *
 * A list for each lane (naive): lane l of load j reads element first + j of its vertex's list. One list for the warp
 * (merged, aligned): element from + 32 j + l, where `from` is the list's first, rounded down to a multiple of `round`;
 * what lies before the list is masked off, unless the kernel loads before it tests (EMOGI's SSSP).
 * Example: a list of elements 5 to 40, round 16: load 0 is elements 0 to 31 (lanes 0 to 4 masked), load 1 elements 32
 * to 40. */
struct traversal_shape {
    bool each;          /* a list for each lane */
    uint64_t round;     /* else: elements to round down to, 1 to 32; 1: not at all */
    bool unmasked_head; /* likewise */
};

/* Of one warp. */
struct traversal_lists {
    bool each, unmasked_head;
    uint64_t vertex;                                   /* of lane 0 */
    uint32_t lanes, active;                            /* those with a vertex; whose vertex is in the frontier */
    uint64_t first[PROGRAM_LANES], end[PROGRAM_LANES]; /* elements, of active lanes; one list: [0] */
    uint64_t from;                                     /* one list: element of lane 0 in load 0 */
    uint64_t loads;                                    /* of the longest lane; 0 where none is active */
};

struct traversal_load {
    uint32_t reads, list;      /* lanes that load an element; those of them whose element is in the list */
    int64_t at[PROGRAM_LANES]; /* the elements; lanes that load none: not filled */
};

/* False if no lane of the warp has a vertex. The frontier is t->active. */
bool traversal_lists(const struct traversal *t, const struct traversal_shape *shape, uint64_t warp,
                     struct traversal_lists *lists);

/* Load j < lists->loads. */
void traversal_load(const struct traversal_lists *lists, uint64_t j, struct traversal_load *load);

/* The first load after j, which is `load`, in which other lanes take part. */
uint64_t traversal_same_until(const struct traversal_lists *lists, const struct traversal_load *load, uint64_t j);

enum { TRAVERSAL_ARRAYS = 10, TRAVERSAL_NONE = 255, TRAVERSAL_UNROLL = 4 };

/* The state of the program. */
struct traversal_program {
    struct layout layout;
    const struct traversal *t;
    const struct traversal_kernel *kernel;
    char name[32];
    uint8_t edges, weights, offsets, values, own, flags[2], changed; /* arrays; TRAVERSAL_NONE: no such */
    uint8_t bytes[TRAVERSAL_ARRAYS];                                 /* of an element */
    int64_t first_edge;                                              /* element 0 of the lists in its array */
    struct traversal_shape shape;
    bool visits;
};

/* A run. The warp asked for last is mostly asked for again. */
struct traversal_warps {
    struct layout_run layout_run;
    struct traversal_run at;
    bool known; /* what follows is of warp `warp` of the launch that `at` stands at */
    uint64_t warp;
    struct traversal_lists lists;
    uint32_t part;   /* of a sweep: */
    uint64_t part_j; /* the load that it begins with */
};

/* Go to the warp at e->at: its lists into warps->lists, 1; 0: it has no vertex; -1 with *e->err set. */
int traversal_warps_go(struct traversal_warps *warps, const struct emit *e);

/* The kernel. Body 0: the head; then one for each load and its visits, and one that clears the flag; of a sweep, one
 * for loads in fours that the same lanes make. */
layout_body traversal_warp;

#endif
