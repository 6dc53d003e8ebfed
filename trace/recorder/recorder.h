/* recorder: run a program with the injected library and write what it sends, one trace file per process.
 *
 * recorder_check() says before the start what is missing (the driver, CUPTI, our own library) or in the way; then
 * recorder_run() runs the program to its end. Children that use CUDA record too, each into a file of its own. */
#ifndef TRACE_RECORDER_RECORDER_H
#define TRACE_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/err.h"
#include "trace/recorder/recorder_trace.h"

struct recorder_options {
    const char *output;            /* file; %p is the process, %h the host; NULL: "offchip.db" */
    bool force;                    /* replace existing files */
    bool unified_memory;           /* record unified memory, kernels, copies, allocations */
    bool counters;                 /* record hardware counters per kernel */
    const char *counter_group;     /* one of CUPTI_METRICS_GROUPS */
    bool accesses;                 /* record single accesses, and nothing else of these */
    bool touches;                  /* of accesses: each page's first read and first write in a launch only */
    int64_t every;                 /* accesses: of one block in so many; 0, 1: of all */
    const char *kernel;            /* accesses: only of kernels whose name matches this; NULL: all */
    int64_t limit;                 /* accesses: at most so many of each process; 0: RECORD_PIPE_LIMIT_DEFAULT */
    const char *library;           /* what the driver is to load; NULL: recorder_find_library() */
    const char *cupti;             /* NULL: recorder_find_cupti() */
    const char *sanitizer;         /* NULL: recorder_find_sanitizer() */
    const char *patch;             /* NULL: recorder_find_patch() */
    bool call_sites;               /* of managed allocations, too */
    const char *plan;              /* to apply, as plan_read() gives it; NULL: none */
    const char *command_line;      /* for the origin */
    const char *sysfs;             /* NULL: "/sys" */
    char *const *argv;             /* the program, ended by NULL */
    char *const *environment;      /* "NAME=value" to set besides, ended by NULL; may be NULL */
    void (*say)(const char *text); /* hears each problem when it comes; may be NULL */
};

struct recorder_result {
    int status;   /* as waitpid() gives it */
    bool started; /* the program was started */
    struct recorder_trace_summary *files;
    size_t file_count, file_cap;
    char **problems; /* sentences for the user, each with its process */
    size_t problem_count, problem_cap;
    bool failed;       /* a file could not be written to its end: see the problems */
    bool stopped;      /* the user did not want to wait any more; what was recorded until then is there */
    bool left_running; /* the program had not ended then */
};

/* What stands in the way, before anything is run. -1: *err says what is missing and what to do. *warning (may be left
 * empty) gets a sentence about something that will make the recording useless but not impossible. */
int recorder_check(const struct recorder_options *options, char *warning, size_t warning_bytes, struct err *err);

/* Run the program and record. -1 with *err set only if nothing was run: the output cannot be written, another recorder
 * writes it, a library is missing, the program cannot be started. Everything else is in *result, which is initialised
 * here and released with recorder_release() in both cases. SIGINT and SIGQUIT are left to the program while it runs,
 * SIGTERM and SIGHUP are passed on to it; a second one of these (but SIGQUIT), or one after its end, stops the wait for
 * what still records. One recording at a time. */
int recorder_run(const struct recorder_options *options, struct recorder_result *result, struct err *err);

void recorder_release(struct recorder_result *result);

/* liboffchip_inject.so, or for accesses liboffchip_accesses.so: OFFCHIP_INJECT, beside this program, or ../lib/offchip
 * from it. -1: *err says where it was looked for. */
int recorder_find_library(bool accesses, char *path, size_t size, struct err *err);

/* libcupti.so: OFFCHIP_CUPTI, or the best there is for `program` (recorder_search.h), with counters one that has the
 * range profiler. As above. */
int recorder_find_cupti(const char *program, bool counters, char *path, size_t size, struct err *err);

/* libsanitizer-public.so: as CUPTI, by OFFCHIP_SANITIZER. */
int recorder_find_sanitizer(const char *program, char *path, size_t size, struct err *err);

/* offchip_accesses.fatbin: OFFCHIP_ACCESS_PATCH, or where the library is looked for. */
int recorder_find_patch(char *path, size_t size, struct err *err);

/* --- of recorder_run(): where recorded programs connect to, and who may record into a file ---
 *
 * Both are names of Linux's abstract namespace (trace/recorder/wire/record_pipe.h), which the kernel frees with the
 * process that has them, however it ends: no file is left. They are of one network namespace: a program that the target
 * starts in another one (unshare -n, a container of its own) does not find the recorder and runs unrecorded. */

enum { RECORDER_SOCKET_NAME = 64 };

/* Listen; name gets what a program is told. The descriptor, or -1 with *err set. */
int recorder_socket_listen(char name[RECORDER_SOCKET_NAME], struct err *err);

/* The next connection, -1 if there is none. Only this user and root may connect: others are turned away. */
int recorder_socket_accept(int listener);

/* Have the file `path` for ourselves until the returned descriptor is closed. -1 with *err set if another recorder on
 * this machine writes it. */
int recorder_socket_claim(const char *path, struct err *err);

/* Start options->argv, which finds the recorder at `socket_name`. -1 with *err set if a library is missing or
 * the program cannot be run; then nothing runs. */
int recorder_start(const struct recorder_options *options, const char *socket_name, pid_t *child, struct err *err);

#endif
