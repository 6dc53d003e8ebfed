/* The generated workloads. A new one is its file in a folder of trace/workloads/, its name in that folder's header and
 * a line here. */
#include "trace/workloads/graph/suite.h"
#include "trace/workloads/micro/suite.h"
#include "trace/workloads/ml/suite.h"
#include "trace/workloads/pim/suite.h"
#include "trace/workloads/polybench/suite.h"
#include "trace/workloads/rodinia/suite.h"
#include "trace/workloads/workload.h"

const struct workload_type *const workload_types[] = {
    /* DRAM requests */ &workload_pim_add,
    &workload_pim_copy,
    &workload_pim_daxpy,
    &workload_pim_scale,
    &workload_pim_bn_fwd,
    &workload_pim_bn_bwd,
    &workload_pim_fc,
    &workload_pim_kmeans,
    &workload_pim_grim,
    &workload_pim_softmax,
    &workload_gpu_g1,
    &workload_gpu_g2,
    &workload_gpu_g3,
    &workload_gpu_g4,
    &workload_gpu_g5,
    &workload_gpu_g6,
    &workload_gpu_g7,
    &workload_gpu_g8,
    &workload_gpu_g9,
    &workload_gpu_g10,
    &workload_gpu_g11,
    &workload_gpu_g12,
    &workload_gpu_g13,
    &workload_gpu_g14,
    &workload_gpu_g15,
    &workload_gpu_g16,
    &workload_gpu_g17,
    &workload_gpu_g18,
    &workload_gpu_g19,
    &workload_gpu_g20,
    &workload_llm,
    /* page touches */ &workload_conv2d,
    &workload_fdtd2d,
    &workload_bicg,
    &workload_nw,
    /* Rodinia as it comes */ &workload_rodinia_nw,
    &workload_rodinia_lud,
    &workload_triad,
    /* launches */ &workload_launch_touch,
    /* scans of host memory, graphs */ &workload_array,
    &workload_bfs,
    &workload_cc,
    &workload_sssp,
    &workload_pagerank,
    &workload_gather,
    &workload_expect,
    &workload_kron,
    &workload_urand,
    &workload_fs,
    &workload_ml,
    &workload_sk,
    &workload_uk5,
    NULL};
