/* verify_block: one 2 MiB stretch of a recording played against the rules that made it.
 *
 * The records say where each page is: CPU faults populate pages on the CPU (by the driver's tree, as on the GPU),
 * host-to-device records move them to the GPU, device-to-host records back. Each service's prefetch is predicted from
 * its faulted pages and the pages resident before it, and compared. Contradictions are counted by kind.
 *
 * Pages that the CPU never held move without a record (the driver zeroes them on the GPU): where CPU faults are
 * recorded a predicted page counts only if the CPU ever held it. Allocation edges cut the stretch into VA blocks; edges
 * that are not recorded are looked for by verify_block_infer(). Source: driver 545.23.06, uvm_va_block.c,
 * uvm_perf_prefetch.c; measured: H200, driver 580.159.04, 2026-11 (264 of 264 and 1,005 of 1,005 services, 768 of 768
 * CPU faults). */
#pragma once

#include <stdbool.h>

#include "models/uvm/page_mask.h"
#include "trace/derived/batches.h"

enum verify_event_type {
    VERIFY_ALLOC,        /* [first, first + pages) is new memory */
    VERIFY_CPU_READ,     /* CPU fault on page `first` */
    VERIFY_CPU_WRITE,    /* the same, writing */
    VERIFY_H2D,          /* service `service` of the host-to-device services, in this stretch */
    VERIFY_D2H,          /* service `service` of the device-to-host services */
    VERIFY_H2D_OTHER,    /* moved by the program or by access counters */
    VERIFY_D2H_OTHER,    /* moved by the program or evicted */
    VERIFY_FAULT_RECORD, /* a fault batch that names page `first` is over */
    VERIFY_HELD_BACK,    /* thrashing, throttling, a remote mapping or advice: faults here need not move anything */
    VERIFY_DUPLICATED,   /* advised read-mostly: both sides may hold a page */
    VERIFY_SENT_GPU,     /* the program prefetches [first, first + pages) to the GPU: new pages are zeroed there */
    VERIFY_SENT_CPU      /* the same to the CPU */
};

struct verify_event {
    int64_t time_ns;
    uint64_t block;   /* address of the stretch */
    uint64_t order;   /* among equal times */
    uint32_t service; /* VERIFY_H2D, VERIFY_D2H */
    uint16_t first, pages;
    uint16_t type;
};

/* What contradicts the rules. */
enum verify_violation {
    VERIFY_MISMATCH,       /* services whose prefetch the rule does not give, all pages of the block known */
    VERIFY_MISMATCH_OPEN,  /* the same where pages may have been populated unseen: no proof of a loss */
    VERIFY_TWICE,          /* pages moved to the GPU while they were there */
    VERIFY_CPU_READ_LOST,  /* CPU read faults on pages on the GPU, without a migration back */
    VERIFY_CPU_WRITE_LOST, /* the same for write faults */
    VERIFY_RETURNED,       /* pages moved back from the GPU that no record moved there */
    VERIFY_NAMED,          /* pages that a fault batch names, the CPU held and no record moves */
    VERIFY_UNPOPULATED,    /* pages moved to the GPU that no recorded CPU fault had populated: no proof of a loss */
    VERIFY_VIOLATIONS
};

struct verify_place {
    int64_t time_ns;
    uint64_t addr;
    unsigned surplus, missing; /* VERIFY_MISMATCH: predicted and not recorded, recorded and not predicted pages */
};

/* Counts of one stretch, and summed over all. */
struct verify_counts {
    uint64_t services, exact;                                 /* host to device */
    uint64_t predicted_pages, prefetched_pages, agreed_pages; /* agreed: in both */
    uint64_t d2h_services, d2h_exact;                         /* CPU faults served from the GPU */
    uint64_t cpu_faults, cpu_writes_answered;                 /* answered: by a migration back */
    uint64_t cpu_pages, moved_pages, unmoved_pages;           /* populated on the CPU; moved to the GPU; the rest */
    uint64_t violations[VERIFY_VIOLATIONS];
    struct verify_place place[VERIFY_VIOLATIONS]; /* the first, where violations > 0 */
};

/* Add one stretch's counts; places keep the earliest. */
void verify_counts_add(struct verify_counts *sum, const struct verify_counts *one);

enum { VERIFY_EDGES = 6 };

/* Where allocations begin or end inside the stretch: pages 1 to 511, ascending. */
struct verify_edges {
    uint16_t page[VERIFY_EDGES];
    unsigned count;
};

/* Add one to the first *count pages, unless it lies outside, is there, or there are `most`. */
void verify_edge_add(uint16_t *pages, unsigned *count, unsigned most, uint64_t page);

struct verify_block {
    const struct verify_event *events; /* of this stretch, in order of (time, order) */
    size_t count;
    const struct services *h2d, *d2h;
    int threshold; /* of the tree, percent; above 100: prefetching is off */
    bool renewed;  /* a CPU write fault on a page on the GPU means memory freed and allocated again */
};

/* Play the events. *counts is overwritten. */
void verify_block_play(const struct verify_block *block, const struct verify_edges *edges,
                       struct verify_counts *counts);

/* Look for edges under which nothing in the stretch contradicts the rules, if something does in *counts (played without
 * edges). On success *edges and *counts hold them and true is returned. *budget: plays still allowed, counted down. */
bool verify_block_infer(const struct verify_block *block, struct verify_edges *edges, struct verify_counts *counts,
                        long *budget);
