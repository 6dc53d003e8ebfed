/* suite: inputs and layers of machine learning. */
#ifndef TRACE_WORKLOADS_ML_SUITE_H
#define TRACE_WORKLOADS_ML_SUITE_H

#include "trace/workloads/workload.h"

extern const struct workload_type workload_gather, workload_llm, workload_yolov2;

#endif
