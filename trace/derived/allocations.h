/* allocations: the memory a recorded program allocated and freed, in order of time, as rows of table allocations.
 *
 * A row is written when the allocation ends, or at the end of the recording; of more than ALLOCATIONS_LIVE_MAX at once
 * the further ones are written at once, without their end. Zeroed to start. */
#pragma once

#include "trace/event/record.h"
#include "trace/store/store.h"

enum { ALLOCATIONS_LIVE_MAX = 1 << 20 };

struct allocations {
    struct allocation {
        int64_t number;
        uint64_t addr, bytes;
        uint32_t kind;
        const char *name; /* not ours; NULL: none */
        int64_t start_ns;
    } * live; /* in order of number */
    size_t count, cap;
    int64_t next; /* number of the next one */
};

/* An ALLOC record: sets its id to the allocation's number. flags must be an enum record_alloc. name: of the row (its
 * call site), not copied; NULL: none. */
int allocations_add(struct allocations *allocations, struct store *store, struct record *record, const char *name,
                    struct err *err);

/* The allocation at addr, the newest there that had begun by then, ends; an unknown one (made before the recording) is
 * passed over. */
int allocations_end(struct allocations *allocations, struct store *store, uint64_t addr, int64_t time_ns,
                    struct err *err);

/* Write the rows of those that never ended. */
int allocations_finish(struct allocations *allocations, struct store *store, struct err *err);

void allocations_release(struct allocations *allocations);
