/* testing_recorder: where the stand-ins of fixtures/standin were built, for tests that record with them; a recording
 * over the stand-in CUPTI. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <time.h>

#include "trace/base/testing.h"
#include "trace/recorder/recorder.h"
#include "trace/store/store.h"

static char testing_target[PATH_MAX + 32];

/* ThreadSanitizer has a thread of its own in the program: without a recorder, too, it then never ends. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESTING_MAIN_THREAD_STAYS 1
#endif
#endif
#ifndef TESTING_MAIN_THREAD_STAYS
#define TESTING_MAIN_THREAD_STAYS 0
#endif

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

static char testing_said[1 << 16]; /* problems of the last recording, a line each */
static size_t testing_problems;

static inline void testing_say(const char *text)
{
    const size_t n = strlen(testing_said);
    (void)snprintf(testing_said + n, sizeof testing_said - n, "%s\n", text);
    testing_problems++;
}

/* Record the target with these arguments, split at spaces, over the stand-in CUPTI; mode, if any, is its misbehaviour.
 * Of the options, the output and what to record are the caller's. */
static inline void testing_record(const struct recorder_options *options, const char *mode, const char *arguments,
                                  struct recorder_result *result)
{
    static char text[PATH_MAX + 2048], cupti[PATH_MAX + 32];
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
    o.say = o.say ? o.say : testing_say;
    *testing_said = testing_problems = 0;
    ck_assert_msg(recorder_run(&o, result, &err) == 0, "%s", err.msg);
}

static inline void testing_wait_ms(int ms)
{
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    (void)nanosleep(&t, NULL);
}

static inline int testing_count_row(void *n, const struct store_value *v, size_t columns)
{
    (void)v;
    (void)columns;
    ++*(int64_t *)n;
    return 0;
}

/* Records of the first stream of a trace, or rows of a table; -1: there is no trace. It may still be written. */
static inline int64_t testing_written(const char *path, const char *table)
{
    struct err ignored;
    struct store *store = access(path, F_OK) ? NULL : store_open(path, &ignored);
    int64_t n = 0;
    if (!store)
        return -1;
    if (!table)
        n = store_stream_count(store) ? (int64_t)store_stream(store, 0)->records : 0;
    else if (store_rows(store, table, testing_count_row, &n, &ignored))
        n = 0;
    store_close(store);
    return n;
}

/* Wait until a trace has come to hold so many; how many it does. However slow the machine is: a test that waits for an
 * event waits for it, and fails after two minutes. */
static inline int64_t testing_await_written(const char *path, const char *table, int64_t n)
{
    int64_t there = testing_written(path, table);
    for (int i = 0; i < 6000 && there < n; i++) {
        testing_wait_ms(20);
        there = testing_written(path, table);
    }
    return there;
}

/* Makes the file `go`, for which the program waits (await:FILE), when a trace has come to hold so many. */
struct testing_watch {
    const char *path, *table;
    int64_t n;
    char go[PATH_MAX];
    pthread_t thread;
};

static inline void *testing_watch_runs(void *arg)
{
    struct testing_watch *w = arg;
    if (testing_await_written(w->path, w->table, w->n) >= w->n)
        (void)fclose(fopen(w->go, "wb"));
    return NULL;
}

/* Arguments of the target: `before`, the wait, `after`. Valid until the next call; the watch ends by itself. */
static inline const char *testing_watch_start(struct testing_watch *w, const char *path, const char *table, int64_t n,
                                              const char *before, const char *after)
{
    static char arguments[PATH_MAX + 512];
    (void)unlink(path); /* of an earlier test */
    (void)snprintf(w->go, sizeof w->go, "%s.go", path);
    (void)unlink(w->go);
    (void)snprintf(arguments, sizeof arguments, "%s await:%s %s", before, w->go, after);
    w->path = path;
    w->table = table;
    w->n = n;
    ck_assert_int_eq(pthread_create(&w->thread, NULL, testing_watch_runs, w), 0);
    return arguments;
}

static inline void testing_watch_end(struct testing_watch *w)
{
    (void)pthread_join(w->thread, NULL);
}

/* Whether a problem with these words was told. */
static inline bool testing_told(const char *words)
{
    return strstr(testing_said, words) != NULL;
}
