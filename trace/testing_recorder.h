/* testing_recorder: where the stand-ins of fixtures/standin were built, for tests that record with them; a recording
 * over the stand-in CUPTI. */
#ifndef TRACE_TESTING_RECORDER_H
#define TRACE_TESTING_RECORDER_H

#include <limits.h>

#include "trace/recorder.h"
#include "trace/testing.h"

static char testing_build[PATH_MAX], testing_target[PATH_MAX + 32];

/* Find the build folder of this test, and make a loader find the stand-in driver. */
static inline void testing_find_build(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", testing_build, sizeof testing_build - 1);
    ck_assert_int_gt(n, 0);
    testing_build[n] = 0;
    for (int up = 0; up < 3; up++) /* build/test/trace/recorder */
        *strrchr(testing_build, '/') = 0;
    (void)snprintf(testing_target, sizeof testing_target, "%s/standin/target", testing_build);
    (void)snprintf(path, sizeof path, "%.4000s/standin", testing_build);
    setenv("LD_LIBRARY_PATH", path, 1);
    /* A sanitised target dies as any other: its sanitiser's own signal handlers stay away. */
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("STANDIN_MODE");
}

/* Split `arguments`, which are changed, at spaces behind the target; argv has room for 32. */
static inline void testing_argv(char *arguments, char **argv)
{
    int n = 0;
    argv[n++] = testing_target;
    for (char *a = strtok(arguments, " "); a && n < 31; a = strtok(NULL, " "))
        argv[n++] = a;
    argv[n] = NULL;
}

/* Record the target with these arguments, split at spaces, over the stand-in CUPTI; mode, if any, is its misbehaviour.
 * Of the options, the output and what to record are the caller's. */
static inline void testing_record(const struct recorder_options *options, const char *mode, const char *arguments,
                                  struct recorder_result *result)
{
    static char text[512], cupti[PATH_MAX + 32];
    char *argv[32];
    struct err err;
    struct recorder_options o = *options;
    testing_find_build();
    (void)unlink(o.output); /* of an earlier test */
    if (mode)
        setenv("STANDIN_MODE", mode, 1);
    (void)snprintf(text, sizeof text, "%s", arguments);
    testing_argv(text, argv);
    (void)snprintf(cupti, sizeof cupti, "%s/standin/libcupti.so", testing_build);
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
