/* zerocopy: the engine; one policy of it at work, fed the launches of a workload; its baselines. */
#pragma once

#include <stdio.h>

#include "models/gpu/launch.h"
#include "models/zerocopy/host_reads.h"
#include "models/zerocopy/link.h"
#include "models/zerocopy/pattern.h"
#include "replay/derive/derive.h"
#include "replay/run/engine.h"
#include "replay/uvm/uvm_managed.h"
#include "replay/zerocopy/zerocopy_tier.h"
#include "trace/store/store.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

extern const struct engine engine_zerocopy;

/* Returns the scans of a workload and fills *setup, or NULL: it has none, as it is or as its settings have it. */
const struct scan_ops *zerocopy_scans_of(const struct workload *workload, struct scan_setup *setup);

/* What the launches take under a pattern; zeroed: a free one. */
struct zerocopy_took {
    char pattern[32];
    struct host_reads_count *of; /* the launches; the caller frees it */
    uint32_t launches;
};

enum { ZEROCOPY_TOOK = 4 };

/* Options of a comparison: engine_options of struct replay_job. */
struct zerocopy_options {
    double stop_ns; /* stop reads that are proved to take longer: time_ns is then a lower bound (outcome.h), other
                       metrics are unknown; 0: none stop */
    const struct launch_weights *weights; /* of a program that the input may be; NULL: none are known */
    bool link_metrics_only;               /* metrics of the elements read may stay unknown */
    bool alike;                           /* of launches that weigh the same one is simulated (host_reads.h) */
    struct zerocopy_took *took;           /* of patterns that are simulated, at most ZEROCOPY_TOOK; NULL: none is asked
                                             again */
    bool again, same;                     /* it is there, for the same numbers (host_reads.h) */
};

struct zerocopy_settings {
    double gpu_memory_ratio; /* bytes of the first structure / GPU memory; 0: as `managed` says */
    struct uvm_managed_settings managed;
    struct tier_settings tier;
    double sm_share_pct;     /* of the multiprocessors that read */
    int64_t simulated_loads; /* of a launch, reuse=l1; 0: all */
};

/* What one translation of host memory covers: a page of the host. Rows in order may stay within. */
enum { ZEROCOPY_PAGE = 4096 };

/* What a run reads of the platform and the workload. */
struct zerocopy_context {
    const struct pcie *pcie;
    const struct gpu *gpu;
    const struct launch *calls;
    const struct platform *platform;
    const struct input *input;
    const struct zerocopy_settings *settings;
    struct scan_setup setup;
    struct tier *tier;                    /* what is served without the link */
    const struct derive_source *program;  /* of the input; NULL: it is none */
    const struct workload *workload;      /* the input; NULL: it is none */
    int threads;                          /* at most */
    double stop_ns;                       /* of struct zerocopy_options */
    const struct launch_weights *weights; /* likewise */
    bool alike;                           /* likewise, as the next three */
    struct zerocopy_took *took;
    bool again, same;
    bool counts_elements; /* elements are counted from the scans */
    /* `setup` is not known, but will be by this; NULL: it is known. -1 with *err set. */
    int (*describe)(void *reading, struct scan_setup *setup, struct err *err);
    void *reading;
    double served_elements; /* by it, of all launches */
    double rows, jumps;     /* that were asked for; of them, in another ZEROCOPY_PAGE than the row before */
    uint64_t page;          /* of the last row */
    FILE *launches;         /* --requests: a row for each launch and policy; NULL: none */
};

/* Sums over all launches. */
struct zerocopy_totals {
    struct request_mix mix;
    double time_ns, bound_ns[LINK_BOUNDS];
    double payload_bytes; /* over the link; whole unless an expectation */
    double remote_bytes;  /* of them, uvm: of accesses to pages that lie with the CPU */
    double d2h_bytes;     /* back over the link, if writes_known */
    bool writes_known;
    double host_dram_bytes;
    double needed_bytes; /* of the elements read */
    double elements;     /* of the first structure */
    bool elements_known; /* and with them needed_bytes */
    uint64_t launches;
};

struct zerocopy_run;

/* Another mechanism for the same reads. All hooks but `finish` may be NULL. */
struct zerocopy_baseline {
    struct policy_head head; /* .baseline is true */
    bool cpu_gathers;        /* the CPU gathers what is needed, and samples too */
    int (*open)(struct zerocopy_run *run, struct outcome *out, struct err *err);
    void (*launch)(struct zerocopy_run *run);
    int (*finish)(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err);
};

struct zerocopy_run {
    const char *name;                         /* of the policy */
    const struct zerocopy_pattern *pattern;   /* NULL: a baseline */
    const struct zerocopy_baseline *baseline; /* NULL: a pattern */
    const struct zerocopy_context *context;
    const void *params; /* of the policy */
    enum scan_reuse reuse;
    struct pattern_view views[2];
    struct pattern_counter *counters[2];
    double launch_elements; /* read in the launch that is going on */
    double host_ns;         /* when the host makes its next call; the launches before end at totals.time_ns */
    struct zerocopy_totals totals;
    bool simulated;         /* reuse=l1: `program` says it all, when the run is finished */
    struct program program; /* the workload's with this pattern's kernel */
    bool refused;           /* the policy is not defined for this input; a note says why */
};

/* Open, feed, end each launch, finish (metrics into *out; `runs` traversals were run), close. A policy that the input
 * does not suit leaves its metrics unknown and says why in a note; the other calls then do nothing. */
int zerocopy_run_open(struct zerocopy_run *run, const struct replay_policy *policy,
                      const struct zerocopy_context *context, struct outcome *out, struct err *err);
int zerocopy_run_scans(struct zerocopy_run *run, const struct scan *scans, size_t n, struct err *err);
int zerocopy_run_launch(struct zerocopy_run *run, uint32_t launch, struct err *err);
int zerocopy_run_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err);
void zerocopy_run_close(struct zerocopy_run *run);

/* Add a launch that asks this of the link: its time and its requests, and its row of --requests. waited: the host waits
 * for its end. */
void zerocopy_run_add_launch(struct zerocopy_run *run, uint32_t launch, const struct link_launch *asked, bool waited);

/* Time of one load of a lane's own whose next depends on it, ns: the load, and where the kernel waits for memory of the
 * GPU between two of them, that; 0: the platform does not say, or the loads do not depend on each other. */
double zerocopy_dependent_ns(const struct zerocopy_context *context);

/* Bytes of all structures together; elements of one scan in bytes over all structures. */
double zerocopy_structure_bytes(const struct scan_setup *setup);
double zerocopy_element_bytes(const struct scan_setup *setup);

/* Store what every policy stores. link: counted requests; without it those metrics stay unknown. */
void zerocopy_metrics(const struct zerocopy_totals *totals, const struct scan_setup *setup, double runs, bool link,
                      struct outcome *out);

/* beside_ratio, once link_bytes_per_s stands. Example: a kernel on a tenth of the multiprocessors that writes 50 GB/s
 * of 3.3 TB/s: 1 to 1.11; a copy as fast: 1 to 1.015. */
void zerocopy_bound_beside(const struct zerocopy_run *run, struct outcome *out);

extern const struct metric zerocopy_metric_table[];

/* Other mechanisms for the same reads. A new one takes a line here and one in the list of zerocopy.c.
 *
 * copy: one block copy of the structure. dma: the CPU gathers rows into a staging buffer, then a block copy. subgraph:
 * as dma, for each level's active lists (as Subway; finding them is in cpu_lists_bytes_per_s). copy-blocks: a copy for
 * each row, by one call for a launch or one each. uvm: the program under unified memory (replay/uvm/uvm_managed.h).
 * Source: dissertation, sections 2.5 (subgraph) and 3.5 (dma); Subway: Sabet et al., EuroSys 2020. */
extern const struct zerocopy_baseline zerocopy_dma, zerocopy_copy, zerocopy_copy_blocks, zerocopy_subgraph,
    zerocopy_uvm;

/* The policy as-written: the requests of the program's own loads of host memory.
 *
 * Each load of each warp asks for the sectors it touches (models/zerocopy/warp.h), in program order, less those that
 * the reuse rule holds. Memory that the program keeps on the GPU makes no requests. Time is the link model's
 * (models/zerocopy/link.h): the launch's shape gives resident warps, dependencies the loads under way together, and the
 * warp with the most waits the dependent loads. Worked example: 2,048 warps that load 128 B of a and 128 B of b
 * together, then store 128 B of c: 4,096 requests of 128 B in 2,048 waits, two loads at once; 2,048 writes of 128 B.
 * Differs: writes are posted and cost no time; atomics over the link are counted only. Every load of a recording is
 * waited for, since it does not show dependencies. Refused without a program in the context. */
extern const struct zerocopy_baseline zerocopy_loads;

/* Whether a policy is as-written with reuse=l1: it is simulated, and asks for no scans. */
bool zerocopy_loads_simulate(const struct replay_policy *policy);

/* All launches of the program into the run's totals, and its metrics and notes into *out: their requests and times are
 * those of its warps, L1s and link, simulated (models/zerocopy/host_reads.h). */
int zerocopy_simulate(struct zerocopy_run *run, const struct program *program, uint64_t runs, struct outcome *out,
                      struct err *err);

/* The scans of a stored trace, launch by launch, as in trace/workloads/scan.h; written by `synth W -o F` or by anything
 * that writes SCAN records and the table of structures. A trace with the keys of a scanning workload sets up its
 * launches; others are neighbour lists read by blocks of 128 threads. Lanes and lists of a launch must ascend, and
 * lists lie inside their structure. */
struct zerocopy_trace;

/* NULL with *err set if the trace holds no scans. The store must stay open. */
struct zerocopy_trace *zerocopy_trace_open(struct store *store, struct err *err);
void zerocopy_trace_close(struct zerocopy_trace *trace);

extern const struct scan_ops zerocopy_trace_ops; /* state: a struct zerocopy_trace * */
