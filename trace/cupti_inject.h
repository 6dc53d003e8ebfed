/* cupti_inject: the library that the CUDA driver loads into the recorded program (liboffchip_inject.so).
 *
 * CUDA_INJECTION64_PATH names the library; the driver loads it while it initialises and calls InitializeInjection().
 * Parts: cupti_inject.c (start, helper thread, end), cupti_inject_load.c (CUPTI and the driver at run time),
 * cupti_inject_outbox.c (the queue to `offchip record`), cupti_inject_activity.c (CUPTI's buffers),
 * cupti_inject_api.c (allocations, advice, prefetches by callback), cupti_inject_counters.c (counters per kernel).
 *
 * The target is never harmed: every failure of ours is reported to the recorder, and the program runs on. No thread of
 * the program ever waits for the recorder: it appends to a queue with a cap, and the helper thread sends. Nothing here
 * writes to the program's standard streams, changes a signal handler the program has set, or raises SIGPIPE.
 * A process that forks: the child (which cannot use its parent's CUDA) drops everything of ours at once. */
#ifndef TRACE_CUPTI_INJECT_H
#define TRACE_CUPTI_INJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "trace/cupti_abi.h"
#include "trace/record_pipe.h"

/* --- outbox: messages on their way to the recorder; any thread may put --- */

/* Connect to the recorder. 0, or -1: there is none (the library stays asleep). max_bytes caps the queue. */
int inject_outbox_open(const char *socket_path, size_t max_bytes);
/* Append messages; past the cap they are counted as dropped. Never blocks on the recorder. */
void inject_put(const struct record_pipe_message *messages, size_t n);
/* The number of a text, which is sent the first time. Never fails: 0 is the text "?". */
uint64_t inject_text(const char *text);
void inject_fact(const char *key, const char *value);
void inject_count(enum record_pipe_type skip_or_drop, const char *reason, uint64_t n);
void inject_problem(enum record_pipe_problem how, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Send what is queued, waiting at most wait_ms for a slow recorder. One thread at a time. 0: all sent. */
int inject_outbox_send(int wait_ms);
/* Close without a word: after fork in the child, or when the recorder is gone. */
void inject_outbox_abandon(void);

/* --- CUPTI and the driver --- */

/* Load `path` (or libcupti.so); false with a problem reported. */
bool inject_load_cupti(struct abi_cupti *cupti, void **library, const char *path);
/* What the driver, already in this process, exports; false if something is missing. */
bool inject_load_driver(struct abi_driver *driver);
/* Name and meaning of a result. */
const char *inject_result(const struct abi_cupti *cupti, abi_result result);
/* Send facts about the devices and the driver. */
void inject_device_facts(void);

/* --- activity --- */

/* Take buffers, at most max_bytes together; kernels and copies are traced from now on if asked (tracing them and
 * counting do not go together). */
int inject_activity_start(const struct abi_cupti *cupti, size_t max_bytes, bool trace);
/* Configure and enable the unified-memory counters of the context's device; true once done or refused for good. */
bool inject_activity_unified_memory(const struct abi_cupti *cupti, uint32_t device);
/* Ask for what CUPTI dropped without telling a buffer, and report it. */
void inject_activity_dropped(const struct abi_cupti *cupti);

/* --- calls of the program --- */

/* Enable the callbacks of the subscriber; launches too if asked. */
int inject_api_enable(const struct abi_cupti *cupti, void *subscriber, bool launches);
void inject_api_callback(const struct abi_cupti *cupti, uint32_t domain, uint32_t id,
                         const struct abi_callback_data *data);

/* --- counters --- */

/* Start profiling the context, kernel by kernel; problems are reported. group: "l2" or "pcie". */
void inject_counters_start(void *cupti_library, const struct abi_cupti *cupti, abi_context context, uint32_t device,
                           const char *group);
/* A kernel is launched: ranges are numbered in the order of launches. */
void inject_counters_launch(const char *kernel);
/* Stop, decode and send the values of every kernel. */
void inject_counters_finish(const struct abi_cupti *cupti);

#endif
