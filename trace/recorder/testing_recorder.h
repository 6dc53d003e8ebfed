/* testing_recorder: where the stand-ins of fixtures/standin were built, for tests that record with them; a recording
 * over the stand-in CUPTI. */
#ifndef TRACE_RECORDER_TESTING_RECORDER_H
#define TRACE_RECORDER_TESTING_RECORDER_H

#include <limits.h>

#include "trace/base/testing.h"
#include "trace/recorder/recorder.h"

static char testing_target[PATH_MAX + 32];

/* Make a loader find the stand-in driver, and the recorder the library of this build that it injects. */
static inline void testing_find_build(const char *library)
{
    char path[PATH_MAX + 64];
    (void)snprintf(testing_target, sizeof testing_target, "%s/standin/target", testing_build());
    (void)snprintf(path, sizeof path, "%s/standin", testing_build());
    setenv("LD_LIBRARY_PATH", path, 1);
    (void)snprintf(path, sizeof path, "%s/%s", testing_build(), library);
    setenv("OFFCHIP_INJECT", path, 1);
    /* A sanitised target dies as any other: its sanitiser's own signal handlers stay away. */
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("STANDIN_MODE");
}

enum { TESTING_ARGS = 96 };

/* Split `arguments`, which are changed, at spaces behind the target; argv has room for TESTING_ARGS. */
static inline void testing_argv(char *arguments, char **argv)
{
    int n = 0;
    argv[n++] = testing_target;
    for (char *a = strtok(arguments, " "); a && n < TESTING_ARGS - 1; a = strtok(NULL, " "))
        argv[n++] = a;
    argv[n] = NULL;
}

/* Record the target with these arguments, split at spaces, over the stand-in CUPTI; mode, if any, is its misbehaviour.
 * Of the options, the output and what to record are the caller's. */
static inline void testing_record(const struct recorder_options *options, const char *mode, const char *arguments,
                                  struct recorder_result *result)
{
    static char text[2048], cupti[PATH_MAX + 32];
    char *argv[TESTING_ARGS];
    struct err err;
    struct recorder_options o = *options;
    testing_find_build("liboffchip_inject.so");
    (void)unlink(o.output); /* of an earlier test */
    if (mode)
        setenv("STANDIN_MODE", mode, 1);
    (void)snprintf(text, sizeof text, "%s", arguments);
    testing_argv(text, argv);
    (void)snprintf(cupti, sizeof cupti, "%s/standin/libcupti.so", testing_build());
    o.cupti = cupti;
    o.command_line = "offchip record -- target";
    o.sysfs = testing_file("sys");
    o.argv = argv;
    ck_assert_msg(recorder_run(&o, result, &err) == 0, "%s", err.msg);
}

/* Whether a problem with these words was told. */
static inline bool testing_told(const struct recorder_result *result, const char *words)
{
    for (size_t i = 0; i < result->problem_count; i++)
        if (strstr(result->problems[i], words))
            return true;
    return false;
}

#endif
