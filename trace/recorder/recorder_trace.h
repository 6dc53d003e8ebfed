/* recorder_trace: the messages of one recorded process, turned into one trace file (docs/trace-format.md).
 *
 * The file is created when the first event is written: in place, and at the end where that comes sooner. Events stand
 * in the order of their times, but for one that comes after a later one was written: a kernel is known at its end only,
 * and one that took longer than RECORDER_TRACE_HOLD_MS stands behind what happened in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/recorder/wire/record_pipe.h"
#include "trace/store/store.h"

struct recorder_trace;

enum { RECORDER_TRACE_PATH = 512 };

/* Whether what is in a trace shows that its end is missing, though nothing is known to be lost. NULL: nobody looks. */
typedef bool recorder_trace_cut(struct store *store);

struct recorder_trace_options {
    const char *path;   /* with %p (process) and %h (host); copied */
    bool numbered;      /* put the process number into a path that has no %p */
    bool force;         /* replace an existing file */
    bool accesses;      /* launches and accesses are recorded, nothing else */
    bool only_counters; /* no events but allocations, advice and prefetches */
    recorder_trace_cut *cut;
    const char *command_line;
    const char *sysfs; /* where module parameters are read: "/sys" */
};

/* What became of it. */
struct recorder_trace_summary {
    char path[RECORDER_TRACE_PATH]; /* "" if no file was written */
    int64_t process;
    uint64_t records, skipped, dropped;
    bool ended;    /* the process ended in good order */
    bool complete; /* ended, and nothing was lost */
    bool cut;      /* it would be, but its own records say that its end is missing */
    bool fatal;    /* nothing could be recorded, see the problems */
};

/* The file of a process: the pattern with %p (process), %h (host) and %% replaced; if it has no %p and `numbered`,
 * ".PID" in front of the last dot of its name. */
int recorder_trace_path(const char *pattern, int64_t process, bool numbered, char path[RECORDER_TRACE_PATH],
                        struct err *err);

struct recorder_trace *recorder_trace_new(const struct recorder_trace_options *options, struct err *err);

/* Take n messages. A message that makes no sense is an error: the rest of the connection is not to be trusted. */
int recorder_trace_put(struct recorder_trace *trace, const struct record_pipe_message *messages, size_t n,
                       struct err *err);

/* Some time has passed: what came RECORDER_TRACE_HOLD_MS ago and before goes to the disk, so that a killed recorder has
 * lost at most a second. now_ms: of a clock that does not go back. */
enum { RECORDER_TRACE_HOLD_MS = 300 };
int recorder_trace_tick(struct recorder_trace *trace, int64_t now_ms, struct err *err);

/* Take a loss report (a HELLO) if it is about this process; false: it is not. */
bool recorder_trace_lost(struct recorder_trace *trace, const struct record_pipe_message *report);

/* A connection that was not one of a recorded process. */
void recorder_trace_discard(struct recorder_trace *trace);

/* The connection is over: write what is held back, close the file. The trace is freed, also on failure.
 */
int recorder_trace_finish(struct recorder_trace *trace, struct recorder_trace_summary *summary, struct err *err);

/* Sentences the process reported so far: index from 0, NULL past the last. Valid until finish. */
const char *recorder_trace_problem(const struct recorder_trace *trace, size_t index);
