/* uvmeval: the lines, batches and touches of a uvm-eval log, for the reader uvmeval.c, which says what there is. */
#ifndef TRACE_IMPORT_UVMEVAL_H
#define TRACE_IMPORT_UVMEVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/store/store.h"

/* --- one line, taken apart --- */

enum uvmeval_kind {
    UVMEVAL_OTHER,  /* a message of somebody else */
    UVMEVAL_BLANK,  /* empty, or a continuation line of kmsg */
    UVMEVAL_BAD,    /* one of ours by its letter, but not by its fields */
    UVMEVAL_START,  /* s */
    UVMEVAL_FAULT,  /* f, values[0..13] */
    UVMEVAL_END,    /* b; count 0 or 2: values[0] ns, values[1] status */
    UVMEVAL_BATCH,  /* b of batchd, values[0..29] */
    UVMEVAL_FAILED, /* e of batchd, values[0..30] */
    UVMEVAL_EVICT,  /* e, values[0] */
    UVMEVAL_PREFETCH,
    UVMEVAL_DISCARD,
    UVMEVAL_NOTICE, /* a */
    UVMEVAL_RANGE   /* values[0] start, values[1] bytes */
};

enum { UVMEVAL_FIELDS = 31 };

struct uvmeval_line {
    enum uvmeval_kind kind;
    bool numbered; /* from kmsg: sequence holds */
    uint64_t sequence;
    int count; /* of values */
    uint64_t values[UVMEVAL_FIELDS];
};

/* Take a line apart (ended by zero, without its line end). */
void uvmeval_line_parse(const char *text, struct uvmeval_line *line);

/* --- one batch while it is read, and what it becomes: records in the order of arrival, and rows of tables batches and
 * services --- */

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

/* --- the faults of a log as touches of actors, so that the uvm engine can replay them ---
 *
 * The actors are the uTLBs (a log names no warps); a step is what one of them had outstanding in one batch, at most
 * ACTOR_LOADS pages. Allocations are the log's ranges that hold a fault, joined where they overlap, and a VA block
 * each for faults outside all of them; their data is taken to be on the host, since a log does not say. */

/* Ranges, and VA blocks with faults. Zeroed to start. */
struct uvmeval_spans {
    struct uvmeval_span {
        uint64_t start, end;
        bool range; /* of the log; else a VA block with faults */
    } * items;
    size_t count, cap;
    uint64_t last_block; /* the last one added */
};

enum { UVMEVAL_SPANS_MAX = 1 << 22 };

int uvmeval_spans_range(struct uvmeval_spans *spans, uint64_t start, uint64_t bytes, struct err *err);
int uvmeval_spans_fault(struct uvmeval_spans *spans, uint64_t addr, struct err *err);

/* Write stream "touches" from the FAULT records of stream `faults`, which have been appended. Changes the spans.
 * *beside: faults that lie beside the range their VA block holds, and are left out. */
int uvmeval_touches_write(struct uvmeval_spans *spans, struct store *store, int faults, uint64_t *beside,
                          struct err *err);

#endif
