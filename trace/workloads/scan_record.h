/* scan_record: scans as records, for `synth W -o F`, and records as scans, for replaying F.
 *
 * One SCAN record for each scan and structure (flags: the structure's number), in order, and a KERNEL_END after each
 * launch. */
#ifndef TRACE_WORKLOADS_SCAN_RECORD_H
#define TRACE_WORKLOADS_SCAN_RECORD_H

#include "trace/event/record.h"
#include "trace/workloads/scan.h"

/* Where the writer stands; zeroed before the first call. */
struct scan_writer {
    bool started, in_batch;
    struct scan_setup setup;
    struct scan_batch batch;
    size_t scan, structure;
};

/* Fill at most cap records; *n = 0 at the end. */
int scan_write(struct scan_writer *writer, const struct scan_ops *ops, void *state, struct record *records, size_t cap,
               size_t *n, struct err *err);

#endif
