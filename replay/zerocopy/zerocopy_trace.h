/* zerocopy_trace: the scans of a stored trace, launch by launch, as trace/workloads/scan.h has them.
 *
 * Made by `synth W -o F`, or by anything that writes SCAN records and the table of structures. Where the trace keeps
 * the keys of a scanning workload, the launch is set up as that workload would; else as neighbour lists read by blocks
 * of 128 threads. Lanes must ascend within a launch; lists of a launch must too, and lie inside their structure. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_TRACE_H
#define REPLAY_ZEROCOPY_ZEROCOPY_TRACE_H

#include "trace/store/store.h"
#include "trace/workloads/scan.h"

struct zerocopy_trace;

/* NULL with *err set if the trace holds no scans. The store must stay open. */
struct zerocopy_trace *zerocopy_trace_open(struct store *store, struct err *err);
void zerocopy_trace_close(struct zerocopy_trace *trace);

extern const struct scan_ops zerocopy_trace_ops; /* state: a struct zerocopy_trace * */

#endif
