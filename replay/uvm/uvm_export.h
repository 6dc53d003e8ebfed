/* uvm_export: writes a simulated run as a recorder would: kernels, and CUPTI's unified-memory records.
 *
 * Each contiguous stretch of pages of one service and one cause is a migration record; a service's copies share its
 * time by bytes. Pages without data leave no record. A fault record is a batch. Memory that the CPU wrote before the
 * first launch was faulted in under the stock prefetcher; those faults come first. A trace names allocations, rows of
 * CUPTI do not. Origin says that both are simulated, and under which policy. Use: init, run with uvm_export_observer(),
 * write, release. Source: CUPTI's records in docs/trace-format.md; driver 545.23.06, uvm_va_block.c
 * (block_copy_resident_pages_between(): a record ends at every gap and every change of cause). */
#pragma once

#include <stdio.h>

#include "replay/uvm/uvm_driver.h"
#include "trace/base/mem.h"
#include "trace/event/actor.h"
#include "trace/store/store.h"

enum { UVM_EXPORT_START_NS = 1000000, UVM_EXPORT_CPU_FAULT_NS = 1000 };

struct uvm_export {
    struct record *records; /* in order of telling until written; a kernel's id: its row of names */
    size_t count, cap;
    struct mem_texts names; /* of kernels, each once */
    const struct actor_alloc *allocs;
    size_t alloc_count;
    int64_t zero_ns; /* of the first launch, in the recording's time */
    struct err err;
    bool failed;
};

/* What a recording is of, for its origin. */
struct uvm_export_facts {
    const char *policy;     /* label of prefetch and eviction */
    const char *gpu;        /* name that the platform's GPU gives; NULL or "": it has none */
    bool traced;            /* copies took their time under tracing */
    bool counters;          /* access counters moved pages as well */
    bool discards;          /* the program discarded memory */
    const uint32_t *advice; /* of each allocation beside its own (enum actor_advice); NULL: none */
};

/* The allocations stay the caller's. */
int uvm_export_init(struct uvm_export *x, const struct actor_alloc *allocs, size_t n, struct err *err);
void uvm_export_release(struct uvm_export *x);

/* The observer of the run to be exported; valid as long as *x. */
struct uvm_observer uvm_export_observer(struct uvm_export *x);

/* Write what was told: rows of cupti-csv, or an empty trace (not finished). Sorts the records by time. */
int uvm_export_csv(struct uvm_export *x, const struct uvm_export_facts *facts, FILE *to, struct err *err);
int uvm_export_store(struct uvm_export *x, const struct uvm_export_facts *facts, struct store *to, struct err *err);
