/* suite: one access pattern each. */
#ifndef TRACE_WORKLOADS_MICRO_SUITE_H
#define TRACE_WORKLOADS_MICRO_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_array, workload_triad, workload_strided, workload_stencil,
    workload_launch_touch;

#endif
