/* workloads: the generated workloads, suite by suite. */
#ifndef TRACE_WORKLOADS_WORKLOADS_H
#define TRACE_WORKLOADS_WORKLOADS_H

#include "trace/workloads/workload.h"

/* graph/: traversals and generated graphs. */
extern const struct workload_type workload_bfs, workload_cc, workload_sssp, workload_pagerank, workload_expect,
    workload_kron, workload_urand, workload_fs, workload_ml, workload_sk, workload_uk5;

/* micro/: one access pattern each. */
extern const struct workload_type workload_array, workload_triad, workload_strided, workload_stencil,
    workload_launch_touch;

/* ml/: inputs and layers of machine learning. */
extern const struct workload_type workload_gather, workload_llm, workload_yolov2;

/* pim/: kernels of processing in memory, and the GPU kernels beside them. */
extern const struct workload_type workload_pim_add, workload_pim_copy, workload_pim_daxpy, workload_pim_scale,
    workload_pim_bn_fwd, workload_pim_bn_bwd, workload_pim_fc, workload_pim_kmeans, workload_pim_grim,
    workload_pim_softmax, workload_gpu_g1, workload_gpu_g2, workload_gpu_g3, workload_gpu_g4, workload_gpu_g5,
    workload_gpu_g6, workload_gpu_g7, workload_gpu_g8, workload_gpu_g9, workload_gpu_g10, workload_gpu_g11,
    workload_gpu_g12, workload_gpu_g13, workload_gpu_g14, workload_gpu_g15, workload_gpu_g16, workload_gpu_g17,
    workload_gpu_g18, workload_gpu_g19, workload_gpu_g20;

/* polybench/: loops of PolyBench/GPU. */
extern const struct workload_type workload_conv2d, workload_fdtd2d, workload_bicg;

/* rodinia/: loops of Rodinia, most as the F3FS artifact runs them. */
extern const struct workload_type workload_nw, workload_rodinia_nw, workload_rodinia_nn, workload_rodinia_pathfinder,
    workload_rodinia_gaussian, workload_rodinia_cfd, workload_rodinia_kmeans, workload_rodinia_huffman,
    workload_rodinia_sradv2, workload_rodinia_hotspot3d, workload_rodinia_hotspot, workload_rodinia_backprop,
    workload_rodinia_lud, workload_rodinia_srad_v1, workload_rodinia_bfs, workload_rodinia_streamcluster,
    workload_rodinia_btree, workload_rodinia_lavamd, workload_rodinia_dwt2d, workload_rodinia_heartwall,
    workload_rodinia_mummergpu;

#endif
