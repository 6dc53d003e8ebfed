/* uvm_evict_capacity: the parameter that eviction policies share. */
#ifndef MODELS_UVM_UVM_EVICT_CAPACITY_H
#define MODELS_UVM_UVM_EVICT_CAPACITY_H

#include "models/uvm/uvm_evict.h"
#include "trace/base/param.h"

/* A state of the policies without further parameters, and its table. */
struct uvm_evict_plain {
    int64_t capacity; /* enum uvm_evict_capacity */
};
enum uvm_evict_capacity { UVM_EVICT_CHUNK, UVM_EVICT_PIECE };
extern const struct param uvm_evict_plain_params[] PLUGIN_API(uvm_evict_plain_params);

/* The row `capacity` of struct S, which has a field of that name. */
#define UVM_EVICT_CAPACITY_ROW(S, value)                                                                               \
    PARAM_CHOICE_ROW(S, capacity, "chunk|piece", value,                                                                \
                     "what memory is handed out in: 2 MiB chunks, or 64 KiB pieces, which no driver does")

#endif
