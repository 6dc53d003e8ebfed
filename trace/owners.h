/* owners: to which kernel, or to which allocation, a record belongs.
 *
 * Kernels of one name are one owner, allocations are told apart. A record belongs to the kernel that runs at its time,
 * or to the allocation that holds its address. What lies in several owners at once has one of its own, (ambiguous), and
 * so has what lies in none.
 * Use: owners_init(), owners_find() for each record, owners_release(). Nothing changes after init. */
#ifndef TRACE_OWNERS_H
#define TRACE_OWNERS_H

#include "trace/spans.h"
#include "trace/store.h"

enum owners_by { OWNERS_KERNEL, OWNERS_ALLOCATION };

struct owner {
    char *name;           /* of an allocation: "3 managed a": number, kind and name, as far as they are known */
    uint64_t launches;    /* kernels: how many have the name */
    int64_t time_ns;      /* kernels: their durations together */
    uint64_t addr, bytes; /* allocations */
};

struct owners {
    enum owners_by by;
    struct owner *items; /* then one for several at once and one for none; none at all if the trace names no owner */
    size_t count, cap;
    struct spans spans;
};

/* From the tables of a trace; with n > 0 only the rows with these ids. On failure nothing is to be released. */
int owners_init(struct owners *owners, struct store *store, enum owners_by by, const uint64_t *ids, size_t n,
                struct err *err);
void owners_release(struct owners *owners);

/* The owner of a time in ns, or of an address; owners->count must not be 0. */
size_t owners_find(const struct owners *owners, int64_t point);

#endif
