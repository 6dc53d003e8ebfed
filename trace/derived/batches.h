/* batches: which services were handled in one fetch from the GPU's fault buffer.
 *
 * The driver sorts a batch by address, so VA blocks ascend inside it. Where GPU fault records exist (CUPTI kind 4),
 * each is one batch, and services go to the record in whose time they lie, or right behind whose services they follow
 * in address and time, less than 1 ms after it ended (copies may lag behind the driver); records that overlap are told
 * apart by the ascending order and by their address, one page of the batch. Elsewhere a batch ends
 *   - where the block does not ascend;
 *   - at every gap over 50 us in a run of ascending blocks whose median gap is over 50 us (a batch costs the driver at
 *     least 60 us; inside one, services follow each other after some 2 us);
 *   - at a gap over 50 us in another run if the pieces together had more than 256 faulted pages, or the run has fewer
 *     than 8 services and the gap is over 5 times the median gap.
 * A batch that has a REPLAY record of its number lasts until it: CUPTI ends a batch before memory is made that comes
 * without data (H200: 2 us of 60), which no migration shows.
 * Confidence: 0.99 a fault record, 0.9 both ends certain, 0.7 an end by time, 0.5 an unsplit gap over 50 us inside, or
 * a service that lies in no fault record.
 * Source: driver 545.23.06, uvm_gpu_replayable_faults.c (sort and service order, 256 entries a batch); measured: H200,
 * driver 580.159.04, 2026-11 (gaps inside a batch: median 1.7 us; between batches: at least 55 us).
 * Use: batches_add() for every batch of records, batches_rebuild(), read, batches_release(). */
#pragma once

#include "trace/derived/recording.h"

/* --- services: the handling of one VA block inside one fault batch, rebuilt from migration records ---
 *
 * The driver splits the pages of a service, in address order, at every gap and at every change between faulted and
 * prefetched pages; each piece is one record, and a piece's begin time stamp is the end time stamp of the piece before.
 * So a new service begins where a record does not start when the previous one ended, or lies in another VA block, or
 * does not follow it in address. The faulted pages are those of cause 2, the prefetched ones those of cause 3.
 * Source: driver 545.23.06, uvm_va_block.c (block_copy_resident_pages_between, uvm_tools_record_block_migration);
 * measured: H200, driver 580.159.04, 2026-11: every join unambiguous in 264 and 1,005 services.
 * Use: services_add() for every batch of records, in any order of time, then services_rebuild(), then read; release. */

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

/* --- batches --- */

enum { BATCHES_FAULT_LIMIT = 256, BATCHES_GAP_NS = 50000 };

enum batch_rule {
    BATCH_FIRST,       /* the first service */
    BATCH_BLOCK,       /* the VA block does not ascend */
    BATCH_GAP,         /* a gap over 50 us where gaps usually are */
    BATCH_GAP_FULL,    /* a gap over 50 us, and more than 256 faulted pages without it */
    BATCH_GAP_OUTLIER, /* a gap over 50 us and over 5 median gaps in a short run */
    BATCH_RECORD,      /* a GPU fault record */
    BATCH_NO_RECORD    /* there are fault records, but none at the time of this service */
};

struct batch {
    size_t first, count; /* services [first, first + count); count 0: a fault record without a migration */
    int64_t start_ns, end_ns;
    uint64_t fault_pages;
    int64_t record; /* its fault record, -1: none */
    enum batch_rule rule;
    double confidence;
};

/* A GPU fault record (CUPTI kind 4). */
struct fault_record {
    int64_t start_ns, end_ns;
    uint64_t addr;  /* one faulted page of the batch */
    uint64_t value; /* fault groups of that page */
    uint64_t order;
    uint32_t number; /* of the driver, whose entries `value` then counts; 0: not known */
};

struct batches {
    struct services services; /* host to device */
    struct fault_record *records;
    size_t record_count, record_cap;
    struct replay {      /* recordings of single faults have them */
        uint32_t number; /* of the batch that it ended, 0: not known */
        int64_t time_ns;
    } * replays;
    size_t replay_count, replay_cap;
    struct batch *items; /* in order of start */
    size_t count, cap;
    size_t rebuilt;   /* batches by time and address alone */
    size_t confirmed; /* of these, how many hold exactly the services of one fault record */
};

void batches_init(struct batches *batches);
void batches_release(struct batches *batches);

int batches_add(struct batches *batches, const struct record *records, size_t n, struct err *err);
int batches_rebuild(struct batches *batches, struct err *err);

/* Rebuild the batches of every recording of a trace being made (all that was appended so far) and write its tables
 * batches and services, before store_finish(): what import and record call. The counts may be NULL. */
int batches_write(struct store *store, size_t *batch_count, size_t *service_count, struct err *err);
