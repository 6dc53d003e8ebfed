/* uvm_event: one unified-memory counter record of CUPTI, from whatever brought it (the recorder, an nsys export), as a
 * struct record; the one place that says what its fields mean and which records are not believable.
 *
 * Source: CUpti_ActivityUnifiedMemoryCounter2/3 (CUDA 13.0 header); measured: H200, driver 580.159.04, 2026-11 (kind 3
 * has no end and its value is a program counter; kind 4 is one batch of faults). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/event/record.h"

/* CUpti_ActivityUnifiedMemoryCounterKind. */
enum uvm_counter_kind {
    UVM_COUNTER_BYTES_H2D = 1,
    UVM_COUNTER_BYTES_D2H,
    UVM_COUNTER_CPU_FAULT,
    UVM_COUNTER_GPU_FAULT,
    UVM_COUNTER_THRASHING,
    UVM_COUNTER_THROTTLING,
    UVM_COUNTER_REMOTE_MAP,
    UVM_COUNTER_BYTES_D2D,
    UVM_COUNTER_KINDS
};

struct uvm_event {
    uint64_t kind;       /* enum uvm_counter_kind, as found */
    uint64_t start, end; /* ns; end 0: none */
    uint64_t addr, value;
    uint64_t flags; /* cause or access type */
};

/* Fill *record. NULL, or why the event is left out: a short phrase for table skipped. */
const char *uvm_event_record(const struct uvm_event *event, struct record *record);

/* Extra columns process_id, src_id and dst_id of a record: its GPUs, where it has any. */
static inline void uvm_event_owner(const struct record *r, int64_t process, int64_t src, int64_t dst, int64_t extra[3])
{
    const uint32_t way = r->kind == RECORD_COPY ? r->flags : 0;
    const bool between = r->kind == RECORD_MIGRATE_D2D || way == RECORD_COPY_D2D || way == RECORD_COPY_P2P;
    const bool from = between || r->kind == RECORD_MIGRATE_D2H || r->kind == RECORD_FAULT || r->kind == RECORD_KERNEL ||
                      way == RECORD_COPY_D2H;
    const bool to = between || r->kind == RECORD_MIGRATE_H2D || way == RECORD_COPY_H2D;
    extra[0] = process;
    extra[1] = from ? src : 0;
    extra[2] = to ? dst : 0;
}

/* The direction of an explicit copy: enum record_copy of a CUpti_ActivityMemcpyKind; 0: of another kind. */
static inline uint32_t uvm_event_copy(int64_t kind)
{
    static const uint8_t directions[] = {0,
                                         RECORD_COPY_H2D,
                                         RECORD_COPY_D2H,
                                         RECORD_COPY_H2D, /* to an array */
                                         RECORD_COPY_D2H, /* from one */
                                         RECORD_COPY_D2D,
                                         RECORD_COPY_D2D,
                                         RECORD_COPY_D2D,
                                         RECORD_COPY_D2D,
                                         RECORD_COPY_H2H,
                                         RECORD_COPY_P2P};
    return kind > 0 && kind <= 10 ? directions[kind] : 0;
}
