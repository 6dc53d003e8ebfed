/* recorder_probe: a library of NVIDIA's looked at in a process of its own: some crash where there is no driver. */
#ifndef TRACE_RECORDER_RECORDER_PROBE_H
#define TRACE_RECORDER_RECORDER_PROBE_H

#include <stdbool.h>

struct recorder_probe {
    bool loads;    /* it can be loaded */
    char why[160]; /* if not: why */
    unsigned api;  /* what cuptiGetVersion() gives; 0: it is no CUPTI */
    bool ranges;   /* it has the range profiler */
    bool since;    /* it is a Sanitizer library of CUDA 12 or later */
};

void recorder_probe(const char *path, struct recorder_probe *probe);

/* The CUDA version of a CUPTI of this API version; 0: not known. */
int recorder_probe_cuda_of(unsigned api);
/* The CUDA version that a path names last ("cuda-12.10/..." 12100, "libcupti.so.12" 12000); 0: none. */
int recorder_probe_path_version(const char *path);

#endif
