/* suite: kernels of processing in memory, and the GPU kernels beside them. */
#ifndef TRACE_WORKLOADS_PIM_SUITE_H
#define TRACE_WORKLOADS_PIM_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_pim_add, workload_pim_copy, workload_pim_daxpy, workload_pim_scale,
    workload_pim_bn_fwd, workload_pim_bn_bwd, workload_pim_fc, workload_pim_kmeans, workload_pim_grim,
    workload_pim_softmax, workload_gpu_g1, workload_gpu_g2, workload_gpu_g3, workload_gpu_g4, workload_gpu_g5,
    workload_gpu_g6, workload_gpu_g7, workload_gpu_g8, workload_gpu_g9, workload_gpu_g10, workload_gpu_g11,
    workload_gpu_g12, workload_gpu_g13, workload_gpu_g14, workload_gpu_g15, workload_gpu_g16, workload_gpu_g17,
    workload_gpu_g18, workload_gpu_g19, workload_gpu_g20;

#endif
