/* traversal_program: the kernels of bfs, sssp, cc and pagerank, and of a sweep over all lists, access by access.
 *
 * A launch is a level or a round; its grid covers all vertices: naive a thread for each, merged and aligned a warp. A
 * warp looks whether its vertex is active (bfs: its label; else a byte of an array) and ends if not. Then offsets[v],
 * offsets[v + 1], and the list: load j of lane l is element first + j (naive), first + 32 j + l (merged), or likewise
 * from `first` rounded down to 128 B / element size on (aligned; lanes below the list's start are masked off, but in
 * sssp's kernel they load). Load j takes part in all lanes that have an element left: a warp goes on until its longest
 * lane is done. Behind each element comes its visit: the neighbour's value, sssp's weight, and what the visit changes
 * (traversal_run.h). A sweep (cc or pagerank, iterations=1) visits nobody; four loads of its loop are issued together.
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

/* As workload_type.program, of a state of traversal_open(). Runs the traversal once; what a run needs besides stands in
 * traversal_run.h. */
int traversal_program(void *state, struct program *program, struct err *err);
/* As workload_type.program_as. */
int traversal_program_as(void *state, const char *kernel, struct program *program, struct err *err);
void traversal_program_free(struct traversal *t); /* all of them */

extern const struct traversal_algorithm traversal_bfs, traversal_cc, traversal_sssp, traversal_pagerank;

#endif
