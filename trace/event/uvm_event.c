#include "trace/event/uvm_event.h"

#include <stdbool.h>
#include <stddef.h>

static const enum record_kind kinds[UVM_COUNTER_KINDS] = {
    [UVM_COUNTER_BYTES_H2D] = RECORD_MIGRATE_H2D, [UVM_COUNTER_BYTES_D2H] = RECORD_MIGRATE_D2H,
    [UVM_COUNTER_CPU_FAULT] = RECORD_CPU_FAULT,   [UVM_COUNTER_GPU_FAULT] = RECORD_FAULT,
    [UVM_COUNTER_THRASHING] = RECORD_THRASH,      [UVM_COUNTER_THROTTLING] = RECORD_THROTTLE,
    [UVM_COUNTER_REMOTE_MAP] = RECORD_REMOTE_MAP, [UVM_COUNTER_BYTES_D2D] = RECORD_MIGRATE_D2D,
};

const char *uvm_event_record(const struct uvm_event *e, struct record *record)
{
    if (e->kind == 0 || e->kind >= UVM_COUNTER_KINDS)
        return "unknown counter kind";
    bool migration =
        e->kind == UVM_COUNTER_BYTES_H2D || e->kind == UVM_COUNTER_BYTES_D2H || e->kind == UVM_COUNTER_BYTES_D2D;
    bool ends = e->kind != UVM_COUNTER_CPU_FAULT && e->end != 0;
    if (e->start == 0)
        return "no start time";
    if (e->start > RECORD_TIME_MAX || e->end > RECORD_TIME_MAX)
        return "time out of range";
    if (ends && e->end < e->start)
        return "ends before it starts";
    if (migration && e->value == 0)
        return "migration of 0 bytes";
    if (migration && e->value > UINT64_MAX - e->addr)
        return "migration beyond the address space";
    if (e->flags > UINT32_MAX)
        return "flags out of range";
    *record = (struct record){
        .time = (int64_t)e->start,
        .duration = ends ? (int64_t)(e->end - e->start) : 0,
        .addr = e->addr,
        .flags = (uint32_t)e->flags,
        .kind = kinds[e->kind],
    };
    if (e->kind == UVM_COUNTER_CPU_FAULT)
        record->id = e->value;
    else
        record->bytes = e->value;
    return NULL;
}
