/* uvmeval_batch: one batch of a uvm-eval log while it is read, and what it becomes: records in the order of arrival,
 * and rows of tables batches and services. */
#ifndef TRACE_IMPORT_UVM_UVMEVAL_BATCH_H
#define TRACE_IMPORT_UVM_UVMEVAL_BATCH_H

#include "trace/import/uvm/uvmeval_line.h"
#include "trace/store/store.h"

/* Fields of an f line. */
enum {
    F_ADDR,
    F_TIME,
    F_TYPE,
    F_ACCESS,
    F_MASK,
    F_INSTANCES,
    F_CLIENT_TYPE,
    F_ENGINE_TYPE,
    F_CLIENT,
    F_ENGINE,
    F_UTLB,
    F_GPC
};

enum { UVMEVAL_EXTRAS = 4 };

/* Zeroed to start. */
struct uvmeval_batch {
    struct uvmeval_item {
        struct record record;
        int64_t extra[UVMEVAL_EXTRAS]; /* utlb, gpc, client, fault type */
        uint64_t position;
    } * items; /* faults, evictions, prefetched pages */
    size_t count, cap;
    int64_t number;         /* of the batch, over the whole trace */
    int64_t services;       /* written so far */
    int64_t last_time;      /* of the last fault seen, for lines without a time of their own */
    uint64_t evict_bytes;   /* of an e line; 0: find out */
    struct record *records; /* room for writing */
    int64_t *columns;
    size_t room;
};

int uvmeval_batch_fault(struct uvmeval_batch *batch, const uint64_t *fields, struct err *err);
int uvmeval_batch_page(struct uvmeval_batch *batch, enum record_kind kind, uint64_t addr, struct err *err);

/* Write the batch and empty it. duration_ns < 0: the log does not say. A batch without its end has a lower confidence.
 */
int uvmeval_batch_write(struct uvmeval_batch *batch, struct store *store, int stream, int64_t duration_ns, bool ended,
                        struct err *err);

void uvmeval_batch_release(struct uvmeval_batch *batch);

#endif
