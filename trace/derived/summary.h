/* summary: what a trace holds, counted in one pass over its streams: per stream and kind, and per kernel, allocation
 * or range; and per fault batch. */
#pragma once

#include "trace/derived/attribution.h"
#include "trace/store/store.h"

/* sum + bytes, UINT64_MAX where that is more: it never comes round. */
static inline uint64_t summary_bytes(uint64_t sum, uint64_t bytes)
{
    return bytes < UINT64_MAX - sum ? sum + bytes : UINT64_MAX;
}

/* Records of one kind in one stream. */
struct summary_kind {
    uint64_t records, bytes;
    int64_t time_first, time_last; /* smallest start and largest end; 0 without records */
};

struct summary_stream {
    struct summary_kind kinds[RECORD_KINDS];
    int64_t time_first, time_last;
};

/* Unified-memory traffic of one owner: the kernels or ranges of a name, or an allocation. */
struct summary_row {
    uint64_t records, fault_records, cpu_faults;
    uint64_t h2d_bytes, fault_bytes, prefetch_bytes, d2h_bytes, evicted_bytes;
};

struct summary {
    struct summary_stream *streams;
    size_t stream_count;
    struct summary_row total; /* of streams in ns, whoever owns it */
    struct attribution owners;
    struct summary_row *rows; /* one for each of them */
    size_t row_count;         /* 0: the trace names no owner */
};

/* Count, for each owner too unless `by` is ATTRIBUTION_NONE. Of streams in ns a record belongs to the kernel that runs,
 * or the range that is innermost, at its start. */
int summary_init(struct summary *summary, struct store *store, enum attribution_by by, struct err *err);
void summary_release(struct summary *summary);

/* --- the fault batches of a trace one by one: when, how many faults of which kind, VA blocks and uTLBs ---
 *
 * When, pages and rule stand in table batches. Reads, writes, atomics and uTLBs are counted over FAULT records that say
 * their batch and uTLB (a driver's fault log, stream column utlb); a recording of CUPTI has one FAULT record a batch,
 * which does not say them: they stay unknown. */

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
