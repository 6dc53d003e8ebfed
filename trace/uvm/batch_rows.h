/* batch_rows: the fault batches of a trace one by one: when, how many faults of which kind, how many VA blocks and
 * uTLBs.
 *
 * When, pages and rule stand in table batches. Reads, writes, atomics and uTLBs are counted over FAULT records that say
 * their batch and uTLB (a driver's fault log, stream column utlb); a recording of CUPTI has one FAULT record a batch,
 * which does not say them: they stay unknown. */
#ifndef TRACE_UVM_BATCH_ROWS_H
#define TRACE_UVM_BATCH_ROWS_H

#include "trace/store/store.h"

enum { BATCH_UNKNOWN = -1 };

/* Numbers may be BATCH_UNKNOWN. */
struct batch_row {
    int64_t batch;
    int64_t start_ns, time_ns;
    int64_t raw_faults;  /* entries of the fault buffer */
    int64_t fault_pages; /* distinct pages */
    int64_t reads, writes, atomics;
    int64_t blocks; /* distinct VA blocks */
    int64_t utlbs;  /* distinct */
    char rule[24];
    double confidence; /* negative: unknown */
};

struct batch_rows {
    struct batch_row *items; /* in order of batch */
    size_t count, cap;
};

int batch_rows_init(struct batch_rows *rows, struct store *store, struct err *err);
void batch_rows_release(struct batch_rows *rows);

#endif
