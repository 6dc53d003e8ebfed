/* cupti_inject: the library that the CUDA driver loads into the recorded program (liboffchip_inject.so).
 *
 * CUDA_INJECTION64_PATH names the library; the driver loads it while it initialises and calls InitializeInjection().
 * Parts: cupti_inject.c (CUPTI at run time, start, helper thread, end), cupti_inject_activity.c (CUPTI's buffers),
 * cupti_inject_calls.c (allocations, advice, prefetches by callback, and their call sites), cupti_inject_apply_plan.c
 * (a plan is applied), cupti_inject_faults.c (the driver's queue of single faults), cupti_inject_counters.c (counters
 * per kernel), cupti_inject_other_users.c (the program's own use of CUPTI); what it shares with the recorder of
 * accesses: inject.h.
 *
 * The target is never harmed: every failure of ours is reported to the recorder, and the program runs on. No thread of
 * the program ever waits for the recorder: it appends to a queue with a cap, and the helper thread sends. Nothing here
 * writes to the program's standard streams, changes a signal handler the program has set, or raises SIGPIPE.
 * A process that forks: the child (which cannot use its parent's CUDA) drops everything of ours at once. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "trace/recorder/inject/inject.h"
#include "trace/recorder/wire/cupti_abi.h"

/* --- CUPTI --- */

/* Name and meaning of a result. */
const char *inject_result(const struct abi_cupti *cupti, abi_result result);

/* --- activity --- */

/* Take buffers, at most max_bytes together; kernels and copies are traced from now on if asked (tracing them and
 * counting do not go together). */
int inject_activity_start(const struct abi_cupti *cupti, size_t max_bytes, bool trace);
/* Configure and enable the unified-memory counters of devices 0..devices-1, of the whole process in one call; true once
 * done or refused for good. */
bool inject_activity_unified_memory(const struct abi_cupti *cupti, uint32_t devices);
/* Ask for what CUPTI dropped without telling a buffer, and report it. */
void inject_activity_dropped(const struct abi_cupti *cupti);

/* No kinds and no buffers any more: the program wants CUPTI for itself. */
void inject_activity_stop(const struct abi_cupti *cupti);
/* Records of unified memory so far. */
uint64_t inject_activity_um_records(void);

/* --- the driver's event queue (cupti_inject_faults.c; trace/recorder/wire/uvm_tools_abi.h) --- */

/* Open it for the address space of this process; false, with a problem reported: CUPTI's records are all there is.
 * Where it is open, single faults, batches, replays and evictions are its. */
bool inject_faults_start(const struct abi_cupti *cupti);
bool inject_faults_on(void);
/* Send what is in it; any thread. */
void inject_faults_drain(void);
/* Send the last of it and what was dropped, close it. */
void inject_faults_stop(void);
/* In a child of the program, which has no part of it. */
void inject_faults_forget(void);
/* A migration that CUPTI delivered: it is not to be filled in. */
void inject_faults_delivered(const struct abi_um_counter *c);
/* CUPTI has delivered its last: fill in what it lacks. */
void inject_faults_finish(void);

/* --- another user of CUPTI --- */

/* step_back is called, in the program's thread and before CUPTI is, whenever a library that is linked against CUPTI
 * begins to use it. inject_others_look() finds libraries loaded since. */
void inject_others_watch(void (*step_back)(const char *call));
void inject_others_look(void);

/* --- calls of the program --- */

/* Enable the callbacks of the subscriber; launches too if asked; time: how long the GPU is at work is told as kernels'
 * times. */
int inject_calls_enable(const struct abi_cupti *cupti, void *subscriber, bool launches, bool time);
void inject_calls_finish(void);
void inject_calls_callback(const struct abi_cupti *cupti, uint32_t domain, uint32_t id,
                           const struct abi_callback_data *data);

/* The program has waited for the GPU: what is complete is delivered now, unless that costs more than it may; the helper
 * does it then, within a millisecond. */
void inject_synced(void);

/* Whether managed memory was allocated. */
bool inject_calls_managed(void);

/* From now on managed allocations have their call sites. */
void inject_calls_want_sites(void);

/* --- a plan (cupti_inject_apply_plan.c) --- */

/* Apply this plan (trace/recorder/wire/record_pipe.h) from now on; false: there is none, or it cannot be applied. */
bool inject_plan_start(const struct abi_cupti *cupti, const char *text);
/* site: of the call; "" if it is not known. */
void inject_plan_allocated(uint64_t address, uint64_t bytes, const char *site);
/* Whether a plan names call sites. */
bool inject_plan_wants_sites(void);
void inject_plan_freed(uint64_t address);
/* Where the plan is PLAN_BRING: a launch follows in this stream; runs: others may still run. */
void inject_plan_bring(void *stream, bool runs);
/* Around each launch. */
void inject_plan_launch(const char *kernel, void *stream);
void inject_plan_launched(const char *kernel, void *stream);
/* Whether this thread's call is the plan's. */
bool inject_plan_gives(void);
/* Say what did not match. */
void inject_plan_finish(void);

/* --- counters --- */

/* Count every kernel of the first context that launches one, by the metrics of a group (cupti_metrics.h). Nothing
 * starts before the first launch; problems are reported. */
void inject_counters_want(void *cupti_library, const struct abi_cupti *cupti, const char *group);
/* Around each launch call of the program. The launches that RECORD_PIPE_KERNELS, _EVERY and _LAUNCHES choose. */
void inject_counters_launch_begins(abi_context context, const char *kernel, void *stream);
void inject_counters_launch_ends(bool succeeded);
/* A capture of a stream is about to begin, or has ended: nothing of the profiler's is done to the GPU meanwhile. */
void inject_counters_capture(bool begins);
/* Before the launch of a CUDA graph, which is not counted: CUPTI runs each of its passes on what the last one left in
 * memory (H200, CUDA 13.0). */
void inject_counters_graph(void);
/* The program has waited for the GPU. */
void inject_counters_synced(void);
/* How long the launch call under way has been, in s; its kernel's name is not known. 0: none. */
int64_t inject_counters_waits_s(void);
/* The context, or with NULL the program, ends: send the values that are left. */
void inject_counters_finish(abi_context context);
