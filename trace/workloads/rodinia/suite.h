/* suite: loops of Rodinia. */
#ifndef TRACE_WORKLOADS_RODINIA_SUITE_H
#define TRACE_WORKLOADS_RODINIA_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_nw;
extern const struct workload_type workload_rodinia_nn;
extern const struct workload_type workload_rodinia_pathfinder;
extern const struct workload_type workload_rodinia_gaussian;
extern const struct workload_type workload_rodinia_cfd;
extern const struct workload_type workload_rodinia_kmeans;
extern const struct workload_type workload_rodinia_huffman;
extern const struct workload_type workload_rodinia_sradv2;
extern const struct workload_type workload_rodinia_hotspot3d;
extern const struct workload_type workload_rodinia_hotspot;
extern const struct workload_type workload_rodinia_backprop;

/* As the F3FS artifact runs them. */
extern const struct workload_type workload_rodinia_nw, workload_rodinia_lud, workload_rodinia_srad_v1,
    workload_rodinia_bfs, workload_rodinia_streamcluster, workload_rodinia_btree, workload_rodinia_lavamd,
    workload_rodinia_dwt2d, workload_rodinia_heartwall, workload_rodinia_mummergpu;

#endif
