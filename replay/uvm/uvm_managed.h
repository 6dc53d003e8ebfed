/* uvm_managed: the cost of a program under unified memory; the one call for `replay uvm`, the baseline uvm of `replay
 * zerocopy` and managed memory of `replay placement`. Equal actors, platform, settings and policies give equal metrics.
 *
 * GPU memory: gpu_memory_bytes, else footprint / oversubscription_pct, else the platform's GPU memory, less ballast and
 * what [pcie] reserves; only a larger footprint is then short of memory. */
#pragma once

#include <stdio.h>

#include <stdbool.h>
#include <stdint.h>

#include "models/uvm/thrashing.h"
#include "replay/run/engine.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/event/actor.h"

/* Off, by how the lapse adapts, as enum uvm_lapse has it, or by the driver's version. */
enum uvm_thrashing_mode { UVM_THRASHING_OFF, UVM_THRASHING_FIXED, UVM_THRASHING_DRIVER = 4 };

/* Part of an engine's settings S, as its member `managed`; rows of its table by UVM_MANAGED_ROWS(S). */
struct uvm_managed_settings {
    int64_t oversubscription_pct;            /* footprint / available memory x 100; 0: not said */
    int64_t gpu_memory_bytes;                /* memory for managed data; 0: by oversubscription_pct */
    int64_t ballast;                         /* GPU memory that something else takes; 0: none */
    int64_t thrashing;                       /* enum uvm_thrashing_mode */
    int64_t access_counters;                 /* 1: notifications migrate what is mapped remotely */
    int64_t replay_policy;                   /* enum uvm_replay */
    const char *advise, *prefetch, *discard; /* struct uvm_hints; NULL: none */
};

#define UVM_MANAGED_ROW(S, F, type, unit, lo, hi, value, help)                                                         \
    {                                                                                                                  \
#F, type, unit, lo, hi, value, offsetof(struct S, managed.F), help, NULL                                       \
    }
#define UVM_MANAGED_ROWS(S)                                                                                            \
    UVM_MANAGED_ROW(S, oversubscription_pct, PARAM_INT, "%", 0, 100000, 0,                                             \
                    "footprint / available GPU memory x 100; 0: memory is sufficient"),                                \
        UVM_MANAGED_ROW(S, gpu_memory_bytes, PARAM_BYTES, "bytes", 0, 0x1p45, 0,                                       \
                        "GPU memory for managed data; 0: by oversubscription_pct"),                                    \
        UVM_MANAGED_ROW(S, ballast, PARAM_BYTES, "bytes", 0, 0x1p45, 0,                                                \
                        "of the platform's GPU memory, what another allocation takes first; 0: nothing"),              \
        UVM_MANAGED_ROW(S, advise, PARAM_TEXT, "text", 0, 0, 0,                                                        \
                        "[A:read-mostly,B:preferred-host,C:accessed-by]: advice of allocations, besides the "          \
                        "program's own; read-mostly-first: before the CPU writes"),                                    \
        UVM_MANAGED_ROW(                                                                                               \
            S, prefetch, PARAM_TEXT, "text", 0, 0, 0,                                                                  \
            "[A,B]: allocations that the program prefetches before its first launch, and behind the CPU's work"),      \
        UVM_MANAGED_ROW(S, discard, PARAM_TEXT, "text", 0, 0, 0,                                                       \
                        "[A,B]: allocations that the program discards behind each kernel (driver 580 and later)"),     \
        UVM_MANAGED_ROW(S, thrashing, PARAM_CHOICE, "off|fixed|driver590_spec|driver590_code|driver", 0, 0,            \
                        UVM_THRASHING_DRIVER,                                                                          \
                        "pages that CPU and GPU fight for are throttled and pinned, with a lapse as before driver "    \
                        "590, as 590's names say, as its code does, or by the driver's version"),                      \
        UVM_MANAGED_ROW(S, access_counters, PARAM_INT, "", 0, 1, 0,                                                    \
                        "1: what is mapped remotely comes by notification (the driver's default on x86 is 0)"),        \
        UVM_MANAGED_ROW(S, replay_policy, PARAM_CHOICE, "batch-flush|block|batch|once", 0, 0, UVM_REPLAY_BATCH_FLUSH,  \
                        "when accesses are repeated: behind each batch, the fault buffer flushed (the driver's "       \
                        "default), behind each VA block, each batch, each routine (uvm_perf_fault_replay_policy 2, "   \
                        "0, 1, 3)")

#define UVM_MANAGED_PAGING                                                                                             \
    "unified memory by this prefetcher and eviction, as replay uvm --policy has them, tree+random; in [] where "       \
    "there is a comma"

/* Where the recording of a simulated run goes, one of the two: engine_options of struct replay_job. */
struct uvm_recording_output {
    FILE *csv;           /* rows of cupti-csv */
    struct store *store; /* an empty trace; the engine does not finish it */
};

/* One question. Zero where not said otherwise. */
struct uvm_managed {
    const struct actor_ops *ops; /* replay/uvm/actor_input.h */
    const void *state;
    const struct store *store; /* that the actors were read from: a recording's own driver wins; NULL: generated */
    const struct platform *platform;
    const struct gpu *gpu;              /* a part of the platform's; NULL: all of it */
    const struct replay_policy *policy; /* of the uvm engine; NULL: the driver's own */
    const struct replay_policy *other;  /* runs in lockstep with `policy` (struct uvm_lockstep) */
    bool *diverged; /* with `other`: set if its plans differ; if not, the metrics but the granularity are also its */
    const struct uvm_managed_settings *settings; /* NULL: the defaults of UVM_MANAGED_ROWS */
    bool traced;                                 /* as under CUPTI's tracing */
    const struct uvm_later *later;               /* as in struct uvm_run, and the two below */
    int64_t stop_ns;
    struct uvm_time *times;
    struct progress *progress;
    struct breakdown *parts; /* as in struct uvm_run, and the three below */
    void (*on_batch)(void *ctx, const struct uvm_finished_batch *seen);
    void *ctx;
    const struct uvm_recording_output *recording; /* gets what a recorder would have seen; NULL: not wanted */
};

/* 0, or -1 with *err set: as uvm_simulate(), uvm_managed_check(), bad hints, discards before driver 580, remote
 * accesses without [pcie]. */
int uvm_managed_run(const struct uvm_managed *m, struct uvm_metrics *metrics, struct err *err);

/* What happened in a run, from which follows what numbers of its platform it read. Zeroed: not known. */
struct uvm_managed_activity {
    bool known;
    bool faulted, evicted, remote, prefetched; /* there was a batch, an eviction, an access over the link, a prefetch */
};

struct uvm_managed_activity uvm_managed_activity(const struct uvm_metrics *metrics);

/* Returns whether an untraced run with that activity reads the same numbers of both; false where not known. */
bool uvm_managed_same(const struct platform *a, const struct platform *b, struct uvm_managed_activity activity);

/* Bytes that a footprint of `bytes` has; 0: all it needs. The rule of the head of this file. */
int64_t uvm_managed_memory(const struct uvm_managed *m, uint64_t bytes);

/* Whether that is a block of 2 MiB at least; -1 with *err set. */
int uvm_managed_check(const struct uvm_managed *m, struct err *err);

/* Say so where blocks of 2 MiB are far more than the data, and memory is a share of them. */
void uvm_managed_note_blocks(const struct uvm_managed *m, const struct uvm_metrics *metrics, struct outcome *outcome);

/* The same, and say so where memory was too little and nobody had said how much there is. */
void uvm_managed_note(const struct uvm_managed *m, const struct uvm_metrics *metrics, struct outcome *outcome);

/* A prefetcher with its eviction, "tree", "fixed:granularity=4KiB+random:seed=2", as `replay uvm --policy` has it, in
 * [] where it has a comma (UVM_MANAGED_PAGING, a parameter of other engines); *err says what is wrong with it. text:
 * NULL for the driver's own, then *list is empty. Released with policy_list_release() in any case. */
int uvm_managed_policy(struct policy_list *list, const char *text, struct err *err);

/* --- what changed between versions of the driver --- */

/* The major version in a driver's text, 580 of "... Kernel Module 580.159.04"; 0: there is none, as in NULL. */
int64_t uvm_version_in(const char *text);

/* How the lapse of thrashing detection adapts. Read in uvm_perf_thrashing.c of 525.60.13 to 580.126.20 (fixed),
 * 590.48.01 and 595.45.04 (adapting, as it is written). */
enum uvm_lapse uvm_version_lapse(int64_t driver);

enum { UVM_VERSION_DISCARDS = 580 };

/* Whether a program can discard memory. Read in 570.148.08 (no) and 580.126.20 (yes). */
bool uvm_version_discards(int64_t driver);

/* Advice and calls of a program about its memory, as settings: advise=[A:read-mostly,B:preferred-host], prefetch=[A,B]
 * and discard=[A,B]; "all" means every allocation.
 *
 * Advice: read-mostly, preferred-host, accessed-by (cudaMemAdvise of the GPU), several for one allocation. Prefetch:
 * cudaMemPrefetchAsync of all of it, as struct uvm_run says. Discard: cuMemDiscardBatchAsync of all of it after each
 * kernel (uvm_memory_discard()); the call costs nothing here (not known). */
struct uvm_hints {
    uint32_t *advice; /* by allocation, enum actor_advice; NULL: none */
    bool *prefetch;   /* by allocation; NULL: none */
    bool *discard;    /* likewise */
};

/* The texts of the settings, or NULL. -1 with *err set: an unknown allocation or advice. Released in any case. */
int uvm_hints_init(struct uvm_hints *h, const struct actor_alloc *allocs, size_t n, const char *advise,
                   const char *prefetch, const char *discard, struct err *err);
void uvm_hints_release(struct uvm_hints *h);
