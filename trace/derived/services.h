/* services: the handling of one VA block inside one fault batch, rebuilt from migration records.
 *
 * The driver splits the pages of a service, in address order, at every gap and at every change between faulted and
 * prefetched pages; each piece is one record, and a piece's begin time stamp is the end time stamp of the piece before.
 * So a new service begins where a record does not start when the previous one ended, or lies in another VA block, or
 * does not follow it in address. The faulted pages are those of cause 2, the prefetched ones those of cause 3.
 * Source: driver 545.23.06, uvm_va_block.c (block_copy_resident_pages_between, uvm_tools_record_block_migration);
 * measured: H200, driver 580.159.04, 2026-11: every join unambiguous in 264 and 1,005 services.
 * Use: services_add() for every batch of records, in any order of time, then services_rebuild(), then read; release. */
#ifndef TRACE_DERIVED_SERVICES_H
#define TRACE_DERIVED_SERVICES_H

#include <stddef.h>

#include "trace/base/err.h"
#include "trace/event/record.h"

enum { SERVICES_PAGE_BYTES = 4096, SERVICES_BLOCK_BYTES = 2 << 20 };

/* One migration record. */
struct migration {
    int64_t start_ns, end_ns;
    uint64_t addr, bytes; /* bytes >= 1, addr + bytes does not wrap */
    uint64_t order;       /* position among the records added */
    uint32_t cause;       /* enum record_cause */
};

struct service {
    int64_t start_ns, end_ns;
    uint64_t block_addr; /* of the VA block, 2 MiB-aligned */
    uint64_t fault_bytes, prefetch_bytes;
    size_t first;     /* index of its first migration */
    uint32_t records; /* its migrations: [first, first + records) */
    uint32_t fault_pages, prefetch_pages;
};

struct services {
    enum record_kind kind; /* RECORD_MIGRATE_H2D or RECORD_MIGRATE_D2H */
    /* Those of `kind` with cause fault or prefetch, in order of (start, position) once rebuilt. */
    struct migration *migrations;
    size_t migration_count, migration_cap;
    struct service *items; /* in order of start */
    size_t count, cap;
};

void services_init(struct services *services, enum record_kind kind);
void services_release(struct services *services);

/* Take what concerns services of n records; the rest is passed over. */
int services_add(struct services *services, const struct record *records, size_t n, struct err *err);

/* Sort the migrations and fill items. */
int services_rebuild(struct services *services, struct err *err);

#endif
