/* inject: what the libraries that the CUDA driver loads into a recorded program share (cupti_inject.h, which records by
 * CUPTI, and sanitizer_inject.c, which records accesses).
 *
 * Parts: inject_outbox.c (the queue to `offchip record`), inject_driver.c (what the driver calls, threads, libraries at
 * run time, facts of the process and its devices). */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/recorder/wire/record_pipe.h"

/* --- outbox: messages on their way to the recorder; any thread may put --- */

/* Connect to the recorder. 0, or -1: there is none (the library stays asleep). max_bytes caps the queue. */
int inject_outbox_open(const char *socket_path, size_t max_bytes);
/* Append messages, all or none; past the cap they are counted as dropped. Never blocks on the recorder. */
void inject_put(const struct record_pipe_message *messages, size_t n);
/* As inject_put(); past the cap false, and nothing is counted: the caller may send and try again. */
bool inject_offer(const struct record_pipe_message *messages, size_t n);
/* The number of a text, which is sent the first time. Never fails: 0 is the text "?". */
uint64_t inject_text(const char *text);
void inject_fact(const char *key, const char *value);
void inject_fact_number(const char *key, int64_t value);
void inject_count(enum record_pipe_type skip_or_drop, const char *reason, uint64_t n);
void inject_problem(enum record_pipe_problem how, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Send what is queued, waiting for a slow recorder as long as it takes something every wait_ms. 0: all sent. */
int inject_outbox_send(int wait_ms);
/* The end mark, sent in the same way; what cannot be sent is reported as lost. */
void inject_outbox_goodbye(int wait_ms);
/* Close without a word: after fork in the child, or when the recorder is gone. */
void inject_outbox_abandon(void);

/* --- start, and threads of ours --- */

/* What either library does when the driver has loaded it, once. */
void inject_start(void);
/* Start a thread that no signal of the program's reaches. */
bool inject_thread(pthread_t *thread, void *(*run)(void *argument), void *argument);
/* Wait for its end, at most so long. */
void inject_join(pthread_t thread, int seconds);

/* --- libraries at run time --- */

struct inject_symbol {
    const char *name;
    void *where; /* of the function pointer */
    bool required;
};

/* Load a library with these functions; false with a problem reported: what it is called, how to get it, and which one
 * is too old. */
bool inject_load(void **library, const char *path, const struct inject_symbol *symbols, size_t n,
                 const char *const words[3]);
/* Fill the function pointers; the name of a required one that is missing, or NULL. */
const char *inject_symbols(void *library, const struct inject_symbol *symbols, size_t n);

/* --- which kernels --- */

/* Choose by this extended regular expression, NULL or "": all. False with a problem reported. */
bool inject_choose_by(const char *regex);
/* Whether a kernel, by its mangled name, is chosen: the expression is looked for in the mangled and in the demangled
 * name. */
bool inject_is_chosen(const char *name);
/* Whether a stream of the current context captures what is launched into it. */
bool inject_stream_captures(void *stream);

/* --- facts --- */

/* A number of the environment, or `value` if there is none in lo..hi. */
int64_t inject_env(const char *name, int64_t lo, int64_t hi, int64_t value);
/* Name and number of the process. */
void inject_process_facts(void);
/* The devices and the driver, which is in this process already. */
void inject_device_facts(void);
/* How many devices the process sees, at least 1. */
uint32_t inject_device_count(void);
/* How a device reaches ordinary memory of the host (malloc, stacks, files) without being asked: "" if none does, as far
 * as inject_device_facts() was told. */
const char *inject_pageable_access(void);
