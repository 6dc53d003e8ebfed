#include "trace/derived/allocations.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static int write_row(struct store *store, const struct allocation *a, const int64_t *end_ns, struct err *err)
{
    static const char *const names[] = {"", "device", "managed", "pinned", "registered"};
    return STORE_ROW(store, "allocations", err, STORE_V_INT(a->number), STORE_V_INT(a->addr), STORE_V_INT(a->bytes),
                     STORE_V_TEXT(names[a->kind]), a->name ? STORE_V_TEXT(a->name) : STORE_V_NULL,
                     STORE_V_INT(a->start_ns), end_ns ? STORE_V_INT(*end_ns) : STORE_V_NULL);
}

int allocations_add(struct allocations *l, struct store *store, struct record *record, const char *name,
                    struct err *err)
{
    assert(record->flags >= RECORD_ALLOC_DEVICE && record->flags <= RECORD_ALLOC_REGISTERED);
    record->id = (uint64_t)l->next++;
    const struct allocation a = {(int64_t)record->id, record->addr, record->bytes, record->flags, name, record->time};
    if (l->count == ALLOCATIONS_LIVE_MAX)
        return write_row(store, &a, NULL, err);
    return MEM_ADD(l->live, l->count, l->cap, err, a);
}

int allocations_end(struct allocations *l, struct store *store, uint64_t addr, int64_t time_ns, struct err *err)
{
    for (size_t i = l->count; i-- > 0;) /* programs mostly free what they made last */
        if (l->live[i].addr == addr && l->live[i].start_ns <= time_ns) {
            const struct allocation a = l->live[i];
            memmove(&l->live[i], &l->live[i + 1], (l->count - i - 1) * sizeof a);
            l->count--;
            return write_row(store, &a, &time_ns, err);
        }
    return 0;
}

int allocations_finish(struct allocations *l, struct store *store, struct err *err)
{
    for (size_t i = 0; i < l->count; i++)
        if (write_row(store, &l->live[i], NULL, err))
            return -1;
    l->count = 0;
    return 0;
}

void allocations_release(struct allocations *l)
{
    free(l->live);
    *l = (struct allocations){0};
}
