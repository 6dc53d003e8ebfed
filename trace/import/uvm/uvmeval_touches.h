/* uvmeval_touches: the faults of a log as touches of actors, so that the uvm engine can replay them.
 *
 * The actors are the uTLBs (a log names no warps); a step is what one of them had outstanding in one batch, at most
 * ACTOR_LOADS pages. Allocations are the log's ranges that hold a fault, joined where they overlap, and a VA block
 * each for faults outside all of them; their data is taken to be on the host, since a log does not say. */
#ifndef TRACE_IMPORT_UVM_UVMEVAL_TOUCHES_H
#define TRACE_IMPORT_UVM_UVMEVAL_TOUCHES_H

#include "trace/store/store.h"

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
