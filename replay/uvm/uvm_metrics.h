/* uvm_metrics: what a run comes to, as a whole, by kernel and by allocation; the table of the metrics. */
#pragma once

#include <math.h>

#include "models/uvm/locality.h"
#include "replay/run/outcome.h"
#include "replay/uvm/uvm_driver.h"

struct uvm_quartiles {
    double p25, median, p75; /* NAN: no window */
};

/* R of one kernel (all launches of one name). */
struct uvm_kernel_r {
    char kernel[32];
    uint64_t windows;
    struct uvm_quartiles r;
};

enum { UVM_KERNELS = 16 };

struct uvm_metrics {
    bool stopped;        /* time_ns is more than the run's stop_ns; nothing else is known */
    int64_t time_ns;     /* from the first launch to the end of the last, CPU phases left out */
    int64_t cpu_ns;      /* of CPU phases */
    int64_t prefetch_ns; /* of time_ns, the program's own prefetches before its first launch */
    uint64_t faults;     /* pages serviced as faulted; a page counts again when it faults again */
    uint64_t raw_faults; /* fault-buffer entries taken */
    uint64_t cpu_faults;
    uint64_t batches, fault_handler_runs;
    uint64_t services; /* VA blocks serviced, summed over batches */
    uint64_t h2d_bytes, d2h_bytes;
    uint64_t prefetched_bytes; /* made resident besides the faulted pages */
    uint64_t prefetched_used_bytes;
    uint64_t evictions;          /* VA blocks evicted */
    uint64_t evicted_bytes;      /* copied back by evictions; d2h_bytes has the CPU's faults besides */
    uint64_t refetched_bytes;    /* of them, of pages that came again within UVM_RETURN_BATCHES batches */
    double evicted_unused_ratio; /* of the pages that evictions sent away, prefetched and never touched; NAN: none */
    uint64_t dropped_bytes;      /* read-mostly pages evicted without a copy */
    uint64_t remote_touches;     /* page touches of turns that went over the link */
    uint64_t remote_bytes;       /* their payload */
    uint64_t throttles;          /* faults on thrashing pages put off, once a period */
    uint64_t pinned_pages;       /* thrashing pages */
    uint64_t counter_notifications;
    uint64_t mapped_faults;     /* of faults: only mapped remotely, or made writable */
    uint64_t structure_bytes;   /* allocations touched */
    uint64_t touched_bytes;     /* 4 KiB x distinct pages touched */
    uint64_t touches;           /* page touches of warps, re-tries included */
    uint64_t chunks;            /* 2 MiB chunks of GPU memory for managed data; 0: unlimited */
    uint64_t dropped_requests;  /* pages requested beyond UVM_PREFETCH_REQUESTS_MAX of a batch */
    uint64_t migration_records; /* that CUPTI would give */
    struct uvm_work work;       /* what the time of the driver went into */
    struct uvm_quartiles r;     /* distinct VA blocks / batches over windows of 20 batches */
    struct uvm_kernel_r kernels[UVM_KERNELS];
    size_t kernel_count;
    int64_t granularity_final_bytes; /* of the policy; 0: it has none */
};

/* --- breakdown of a run by kernel and by allocation --- */

/* Kernels of one name are one part. A batch belongs to the kernel that ran when it was fetched, an eviction to the
 * kernel whose service caused it; pages belong to their allocation. Parts of a kind add up to the run: in each of
 * uvm_account but prefetched_used of kernels, and over kernels in batches and time.
 * Use: zero it, add, read, release. */
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

/* The kernel of that name, or a new part. Valid until the next one is made. NULL with *err set. */
struct uvm_part *breakdown_kernel(struct breakdown *parts, const char *name, struct err *err);
struct uvm_part *breakdown_add(struct breakdown *parts, enum outcome_by by, const char *name, struct err *err);
void breakdown_release(struct breakdown *parts);

/* Whether the parts add up: -1 with *err set if not. */
int breakdown_check(const struct breakdown *parts, const struct uvm_account *total, uint64_t batches, int64_t time_ns,
                    struct err *err);

/* --- uvm_numbers: what the metrics of a run, of a kernel or of an allocation are worked out from --- */

/* A member that is not set is unknown, and so is every metric that needs it. */
struct uvm_numbers {
    struct uvm_value {
        double value;
        bool known;
        bool estimate; /* how far it is off is not known */
    } time_ns, faults, batches, fault_handler_runs, services;
    struct uvm_value h2d_bytes, d2h_bytes, prefetched_bytes, prefetched_used_bytes;
    struct uvm_value structure_bytes, touched_bytes;
    struct uvm_value blocks_per_batch_median, blocks_per_batch_p25, blocks_per_batch_p75, granularity_final_bytes,
        migration_records;
    struct uvm_value evictions, evicted_bytes, refetched_bytes, evicted_unused_ratio;
    struct uvm_value remote_bytes, counter_notifications, throttles, pinned_pages, mapped_faults;
};

/* A value that is not finite is unknown; one that is not sure is an estimate. */
static inline struct uvm_value uvm_value(double value, bool sure)
{
    return (struct uvm_value){value, isfinite(value), !sure};
}

static inline struct uvm_value uvm_count(uint64_t count, bool sure)
{
    return uvm_value((double)count, sure);
}

extern const struct metric uvm_metric_table[];

/* Set every metric of the table that the numbers tell. */
void uvm_numbers_report(struct uvm_numbers numbers, struct outcome *outcome);

/* Fill in a simulated run, as a whole and by part. */
int uvm_metrics_report(const struct uvm_metrics *metrics, const struct breakdown *parts, struct outcome *outcome,
                       struct err *err);

/* --- locality_windows: the locality measure R over windows of 20 batches: distinct VA blocks / batches --- */

/* Windows of batches follow each other over the whole run; a second set also ends at changes of kernel, so that R
 * belongs to one kernel. A window cut short there counts only where there is no whole one. Source: lee-2026, section
 * III, equation 1; windows instead of routines as docs/uvm-engine.md says. */
enum { UVM_WINDOW_BATCHES = 20 };

struct uvm_window_values {
    double *values;
    size_t count, cap;
};

struct locality_windows {
    struct uvm_locality *all, *one; /* over the run; within one kernel */
    struct uvm_window_values values;
    const char *kernels[UVM_KERNELS]; /* names met, in order */
    struct uvm_window_values by_kernel[UVM_KERNELS];
    size_t kernel_count, current;
};

int locality_windows_init(struct locality_windows *w, struct err *err);
void locality_windows_release(struct locality_windows *w);

/* One batch of `kernel`, with or without a service. Kernels after the first UVM_KERNELS names get no row. */
int locality_windows_add(struct locality_windows *w, const char *kernel, const struct uvm_batch *batch,
                         struct err *err);

/* Close the last windows and fill r and kernels of *metrics. */
int locality_windows_close(struct locality_windows *w, struct uvm_metrics *metrics, struct err *err);

/* Quartiles by linear interpolation; sorts the values. NAN where there are none. */
struct uvm_quartiles locality_windows_quartiles(double *values, size_t n);
