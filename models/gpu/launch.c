#include "models/gpu/launch.h"

#include <math.h>

#include "models/base/sections.h"
#include "trace/base/param.h"

const struct param launch_params[] = {
    PARAM_REAL_ROW(launch, enqueue_ns, "ns", 0, 1e9, 0, "the host's call of a launch that it does not wait for"),
    PARAM_REAL_ROW(launch, gap_ns, "ns", 0, 1e9, 0, "end of a kernel's work to the start of the next one's"),
    PARAM_REAL_ROW(launch, alone_ns, "ns", 0, 1e9, 0, "a launch that finds the GPU idle, besides its work"),
    PARAM_REAL_ROW(launch, wait_ns, "ns", 0, 1e9, 0, "end of work that the host waits for to its next call"),
    PARAM_REAL_ROW(launch, prefetch_call_ns, "ns", 0, 1e9, 0, "a prefetch of one array, besides its blocks"),
    PARAM_REAL_ROW(launch, prefetch_block_ns, "ns", 0, 1e9, 0, "of it, a VA block that is copied, besides its copy"),
    PARAM_REAL_ROW(launch, zero_bytes_per_s, "bytes/s", 1e6, 1e15, 5e11, "of it, VA blocks without data"),
    PARAM_REAL_ROW(launch, lock_bytes_per_s, "bytes/s", 1e6, 1e13, 4e9, "page-locking host memory"),
    PARAM_REAL_ROW(launch, pageable_bytes_per_s, "bytes/s", 1e6, 1e13, 7.3e9, "cudaMemcpy() from pageable memory"),
    {0}};

double launch_start_ns(const struct launch *p, double *free_ns, double end_ns)
{
    const double start = fmax(*free_ns + p->alone_ns, end_ns + p->gap_ns);
    *free_ns += p->enqueue_ns;
    return start;
}

double launch_wait_ns(const struct launch *p, double *free_ns, double end_ns)
{
    return *free_ns = end_ns + p->wait_ns;
}

double launch_row_ns(const struct launch *p, double n, double work_ns)
{
    return p->alone_ns + work_ns + (n - 1) * fmax(p->gap_ns, p->enqueue_ns - work_ns / n);
}
