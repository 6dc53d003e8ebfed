/* suite: loops of PolyBench/GPU. */
#ifndef TRACE_WORKLOADS_POLYBENCH_SUITE_H
#define TRACE_WORKLOADS_POLYBENCH_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_conv2d, workload_fdtd2d, workload_bicg;

#endif
