/* recorder: run a program with the injected library and write what it sends, one trace file per process.
 *
 * recorder_check() says before the start what is missing (the driver, CUPTI, our own library) or in the way; then
 * recorder_run() runs the program to its end. Children that use CUDA record too, each into a file of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/base/err.h"
#include "trace/recorder/recorder_trace.h"

struct recorder_options {
    const char *output;        /* file; %p is the process, %h the host; NULL: "offchip.db" */
    bool force;                /* replace existing files */
    bool unified_memory;       /* record unified memory, kernels, copies, allocations */
    bool counters;             /* record hardware counters per kernel */
    const char *counter_group; /* one of CUPTI_METRICS_GROUPS */
    bool accesses;             /* record single accesses, and nothing else of these */
    bool touches;              /* of accesses: each page's first read and first write in a launch only */
    int64_t every;             /* accesses: of one block in so many; counters: one launch; 0, 1: all */
    const char *kernel;        /* accesses, counters: only of kernels whose name matches this; NULL: all */
    const char *launches;      /* counters: "A..B", of the launches of those, from 0; NULL: all */
    int64_t limit;             /* accesses: at most so many of each process; 0: RECORD_PIPE_LIMIT_DEFAULT */
    const char *cupti;         /* NULL: recorder_find_part() */
    const char *sanitizer;     /* NULL: recorder_find_part() */
    const char *patch;         /* NULL: recorder_find_patch() */
    bool call_sites;           /* of managed allocations, too */
    bool faults;               /* single faults, by the driver's event queue */
    bool untraced;   /* nothing but how long the GPU is at work (RECORD_PIPE_TIME); the program's output goes nowhere */
    unsigned most_s; /* a program that runs longer gets SIGALRM; 0: none does */
    const char *plan;              /* to apply, as advice_plan_read() gives it; NULL: none */
    const char *command_line;      /* for the origin */
    const char *sysfs;             /* NULL: "/sys" */
    char *const *argv;             /* the program, ended by NULL */
    recorder_trace_cut *cut;       /* looks at a trace before it is finished */
    void (*say)(const char *text); /* hears each problem when it comes; may be NULL */
};

struct recorder_result {
    int status;   /* as waitpid() gives it */
    bool started; /* the program was started */
    struct recorder_trace_summary *files;
    size_t file_count, file_cap;
    bool failed;       /* a file could not be written to its end: see what is said */
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
