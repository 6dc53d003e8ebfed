/* sanitizer_inject: the library that the CUDA driver loads into a program whose accesses are recorded
 * (liboffchip_accesses.so).
 *
 * CUDA_INJECTION64_PATH names it, as it does cupti_inject's; InitializeInjection() subscribes to the Sanitizer API.
 * When a module is loaded its global accesses are patched (trace/recorder/inject/sanitizer_patch.cu); when a chosen
 * kernel is launched the launch gets a ring in pinned memory (trace/recorder/wire/access_ring.h), which a helper thread
 * drains while the kernel runs; launches that overlap have one each, and are drained in turn. Parts: sanitizer_inject.c
 * (start, callbacks, end), sanitizer_inject_launch.c (which kernels; a launch, its ring, its accesses as messages).
 *
 * The program is never harmed: it runs on whatever fails here, and a launch that cannot be recorded runs with a null
 * ring, which the patch passes over. There is no signal handler; a program that dies loses of the launch under way
 * what had not been sent. What a launch costs is waiting: launches follow one another, and the program waits for the
 * recorder while it takes the accesses, at most SEND_WAIT_MS at a time. */
#ifndef TRACE_RECORDER_INJECT_SANITIZER_INJECT_H
#define TRACE_RECORDER_INJECT_SANITIZER_INJECT_H

#include <stdbool.h>

#include "trace/recorder/inject/inject.h"
#include "trace/recorder/wire/access_ring.h"
#include "trace/recorder/wire/sanitizer_abi.h"

/* --- which kernels --- */

/* Choose by this extended regular expression, NULL or "": all. False with a problem reported. */
bool sanitizer_choose(const char *regex);
/* Whether a kernel, by its mangled name, is chosen: the expression is looked for in the mangled and in the demangled
 * name. */
bool sanitizer_chosen(const char *name);

/* --- launches --- */

struct sanitizer_wish {
    uint64_t limit;                  /* accesses in all */
    uint64_t every;                  /* one block in so many; 0, 1: all */
    bool touches;                    /* pages first touched, not accesses: without a limit */
    uint64_t ring_bytes, ring_ticks; /* of a ring; how long an access waits for room in it */
    int64_t turn_ms;                 /* how long a launch that is over waits until it can be sent */
};
void sanitizer_launch_start(const struct san_api *api, const struct sanitizer_wish *wish);
/* In the thread that launches; the end is of the last begin there. */
void sanitizer_launch_begin(const struct san_launch *launch);
void sanitizer_launch_end(const struct san_launch *launch);
/* Say what the limit has cost, and that no kernel was the wanted one. */
void sanitizer_launch_finish(void);
/* The context's memory is gone. */
void sanitizer_launch_context_over(const void *context);

#endif
