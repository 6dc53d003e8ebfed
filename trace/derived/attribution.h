/* attribution: finds the kernel, allocation or NVTX range of a record.
 *
 * Kernels of one name are one owner, and so are ranges; allocations are separate. A record belongs to the kernel that
 * runs at its time, to the innermost range open at its time, or to the allocation that holds its address. Records of
 * several owners belong to (ambiguous); records of none also have an owner. Nothing changes after
 * attribution_init(). */
#pragma once

#include "trace/base/range_map.h"
#include "trace/store/store.h"

enum attribution_by { ATTRIBUTION_NONE, ATTRIBUTION_KERNEL, ATTRIBUTION_ALLOCATION, ATTRIBUTION_RANGE };

struct owner {
    char *name;           /* of an allocation: "3 managed a": number, kind and name, as far as they are known */
    uint64_t launches;    /* kernels and ranges: how many have the name */
    int64_t time_ns;      /* kernels and ranges: their durations together, as far as they are known */
    uint64_t untimed;     /* kernels: launches whose times are not known */
    uint64_t addr, bytes; /* allocations */
};

struct attribution {
    enum attribution_by by;
    struct owner *items; /* then one for several at once and one for none; none at all if the trace names no owner */
    size_t count, cap;
    struct range_map spans;
};

/* From the tables of a trace (ranges: from its records); with n > 0 only the kernels or allocations with these ids. On
 * failure nothing is to be released. */
int attribution_init(struct attribution *attribution, struct store *store, enum attribution_by by, const uint64_t *ids,
                     size_t n, struct err *err);
void attribution_release(struct attribution *attribution);

/* The owner of a time in ns, or of an address; attribution->count must not be 0. */
size_t attribution_find(const struct attribution *attribution, int64_t point);
