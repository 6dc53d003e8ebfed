/* breakdown: what of a run belongs to which kernel, and to which allocation.
 *
 * Kernels of one name are one part. A batch belongs to the kernel that ran when it was fetched, an eviction to the
 * kernel whose service caused it; pages belong to their allocation. Parts of a kind add up to the run: in each of
 * uvm_account but prefetched_used of kernels, and over kernels in batches and time.
 * Use: zero it, add, read, release. */
#ifndef REPLAY_UVM_BREAKDOWN_H
#define REPLAY_UVM_BREAKDOWN_H

#include "replay/run/outcome.h"
#include "replay/uvm/uvm_memory.h"

struct uvm_part {
    char *name;
    struct uvm_account account;
    int64_t time_ns;                         /* kernels */
    uint64_t batches;                        /* kernels */
    uint64_t structure_bytes, touched_pages; /* allocations; the former 0 if nothing of it was touched */
};

struct breakdown {
    struct uvm_part_list {
        struct uvm_part *items;
        size_t count, cap;
    } by[OUTCOME_BYS];
    size_t last; /* kernel asked for last */
};

/* The kernel of that name, made at first need; an allocation, always made. Valid until the next one is made. NULL with
 * *err set. */
struct uvm_part *breakdown_kernel(struct breakdown *parts, const char *name, struct err *err);
struct uvm_part *breakdown_allocation(struct breakdown *parts, const char *name, struct err *err);
void breakdown_release(struct breakdown *parts);

/* Whether the parts add up: -1 with *err set if not. */
int breakdown_check(const struct breakdown *parts, const struct uvm_account *total, uint64_t batches, int64_t time_ns,
                    struct err *err);

/* Add them to a run of the uvm engine. */
int breakdown_report(const struct breakdown *parts, struct outcome *outcome, struct err *err);

#endif
