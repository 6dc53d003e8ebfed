/* sanitizer_inject: the library that the CUDA driver loads into a program whose accesses are recorded
 * (liboffchip_accesses.so).
 *
 * CUDA_INJECTION64_PATH names it, as it does cupti_inject's; InitializeInjection() subscribes to the Sanitizer API.
 * When a module is loaded its global accesses are patched (trace/recorder/inject/sanitizer_patch.cu); when a chosen
 * kernel is launched the launch gets a ring in pinned memory (trace/recorder/wire/access_ring.h), which a helper thread
 * drains while the kernel runs; launches that overlap have one each, and are drained in turn. Parts: sanitizer_inject.c
 * (start, callbacks, end), sanitizer_inject_load.c (the library at run time), sanitizer_inject_kernel.c (which
 * kernels), sanitizer_inject_launch.c (launches), sanitizer_inject_ring.c (rings), sanitizer_inject_slot.c (accesses as
 * messages), sanitizer_inject_send.c (to the recorder).
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
#include "trace/recorder/wire/touch_table.h"

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

/* --- rings --- */

struct sanitizer_ring;

/* An access that came out of a ring. */
typedef void sanitizer_ring_take(const struct access_slot *slot);

struct sanitizer_ring_totals {
    bool sent;                      /* false: another launch never stopped being sent */
    bool read;                      /* false: the device did not say the following */
    uint64_t taken, capacity, lost; /* accesses: counted, that might be kept, that found no room */
    uint64_t full;                  /* touches of pages for which the table had no room */
};

void sanitizer_ring_start(const struct san_api *api, const struct sanitizer_wish *wish);
/* A ring for this launch, with a helper that drains it, for so many accesses; NULL: there is none. phase: of the blocks
 * that are sampled. */
struct sanitizer_ring *sanitizer_ring_begin(const struct san_launch *launch, uint64_t capacity, uint64_t phase,
                                            const struct record_pipe_message *message, sanitizer_ring_take *take);
/* Wait for the kernel, send what is left, and the launch's end. */
struct sanitizer_ring_totals sanitizer_ring_end(struct sanitizer_ring *ring, const struct san_launch *launch);
/* The launch failed and has no end. */
void sanitizer_ring_give_back(struct sanitizer_ring *ring);
/* The context's memory is gone. */
void sanitizer_ring_context_over(const void *context);
/* The process ends: stop draining. How many launches still have a ring. */
uint64_t sanitizer_ring_finish(void);

/* --- one launch at a time to the recorder --- */

void sanitizer_send_start(int64_t turn_ms);
/* It is then this launch's turn, in whatever thread, until the end. False: it is another one's, also after turn_ms, if
 * that was to be waited for: a kernel may run until something happens that our caller does next. Nobody waits for the
 * same one again. */
bool sanitizer_send_begin(const struct record_pipe_message *launch, bool wait);
void sanitizer_send_slot(const struct access_slot *slot);
void sanitizer_send_unfilled(uint64_t slots);
/* What was added, now. */
void sanitizer_send_flush(void);
void sanitizer_send_end(void);

#endif
