/* testing: one test program per X_test.c, over Check.
 *
 *     START_TEST(claim_in_words) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     TEST_MAIN("X")
 *
 * START_TEST() itself adds a test to those that the program runs; START_LOOP(claim, times) one that runs several times,
 * _i from 0 on. Every test runs in a process of its own; with CK_FORK=no in the environment (make asan: a process costs
 * a tenth of a second there) all run in one, but where TESTING_FORK says that a test needs its own. Files a test writes
 * go below testing_dir(), which is fresh for each program and removed at its end. */
#pragma once

#include <check.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/err.h"

/* CK_FORK, defined before this header is included: a test of the program needs a process of its own. */
#ifndef TESTING_FORK
#define TESTING_FORK CK_FORK_GETENV
#endif

/* Seconds that one test may take; sanitised builds are slow. */
#define TESTING_TIMEOUT_S 300

/* Check writes to a file at every assertion that holds, to know the last one before a crash: of a line, the first. */
static inline void testing_mark(const char *file, int line)
{
    static bool told[8192];
    if (told[line % 8192])
        return;
    told[line % 8192] = true;
    _mark_point(file, line);
}
#define _mark_point testing_mark

static char testing_path[] = "/tmp/offchip-test-XXXXXX";

/* Calls whose last argument is &err, an error of the macro's own. This one returns `value`, */
#define RETURNS(call, value)                                                                                           \
    do {                                                                                                               \
        struct err err = {""};                                                                                         \
        long long returned_ = (long long)(call), expected_ = (long long)(value);                                       \
        ck_assert_msg(returned_ == expected_, "%s: %lld, not %lld: %s", #call, returned_, expected_, err.msg);         \
    } while (0)

/* this one 0, */
#define WORKS(call) RETURNS(call, 0)

/* this one -1, */
#define FAILS(call) FAILS_WITH(call, "")

/* with these words in its message, */
#define FAILS_WITH(call, words) FAILS_SO(call, strstr(err.msg, words) != NULL, words)

/* with this message, */
#define FAILS_AS(call, words) FAILS_SO(call, strcmp(err.msg, words) == 0, words)

#define FAILS_SO(call, so, words)                                                                                      \
    do {                                                                                                               \
        struct err err = {""};                                                                                         \
        ck_assert_msg((call) == -1, "%s: taken", #call);                                                               \
        ck_assert_msg(so, "found '%s'; expected '%s'", err.msg, words);                                                \
    } while (0)

/* this one NULL, with such words, */
#define GIVES_NONE(call, words) FAILS_WITH((call) ? 0 : -1, words)

/* and this one a pointer, which is the macro's value. */
#define GIVES(call)                                                                                                    \
    ({                                                                                                                 \
        struct err err = {""};                                                                                         \
        __typeof__(call) given_ = (call);                                                                              \
        ck_assert_msg(given_ != NULL, "%s: %s", #call, err.msg);                                                       \
        given_;                                                                                                        \
    })

/* The scratch directory of this test program. */
static inline const char *testing_dir(void)
{
    return testing_path;
}

/* The path of file `name` in the scratch directory; valid until the eighth next call. */
static inline const char *testing_file(const char *name)
{
    static char path[8][256];
    static int slot;
    slot = (slot + 1) % 8;
    (void)snprintf(path[slot], sizeof path[slot], "%s/%s", testing_path, name);
    return path[slot];
}

/* A text made as by printf, of 1,023 characters at most; valid until the 64th next call. */
__attribute__((format(printf, 1, 2))) static inline const char *testing_text(const char *format, ...)
{
    static char text[64][1024];
    static unsigned slot;
    va_list args;
    slot = (slot + 1) % 64;
    va_start(args, format);
    int n = vsnprintf(text[slot], sizeof text[slot], format, args);
    va_end(args);
    ck_assert(n >= 0 && n < (int)sizeof text[slot]);
    return text[slot];
}

/* The folder that this program was built in (build/ of build/test/trace/base/err); valid until the next call. */
static inline const char *testing_build(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    for (char *test = strstr(path, "/test/"); test; test = strstr(test + 1, "/test/"))
        if (!strstr(test + 1, "/test/"))
            *test = 0;
    return path;
}

/* Write `bytes` bytes to scratch file `name`; returns its path as testing_file() does. */
static inline const char *testing_write(const char *name, const void *data, size_t bytes)
{
    const char *path = testing_file(name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f)) {
        perror(path);
        abort();
    }
    return path;
}

/* act(0), act(1), .. in processes of their own at the same time: each is to be true. */
static inline void testing_at_once(int processes, bool (*act)(int process))
{
    for (int i = 0; i < processes; i++)
        if (fork() == 0)
            _exit(!act(i));
    for (int i = 0, status; i < processes; i++)
        ck_assert(wait(&status) > 0 && status == 0);
}

/* Whether one of `count` texts is NAME or NAME,KEY=VALUE,..: of programs, of which a test has a size each. */
static inline bool testing_names(const char *const *specs, size_t count, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(specs[i], name, n) == 0 && (specs[i][n] == ',' || !specs[i][n]))
            return true;
    return false;
}

/* How far a test's loop over many like cases steps: TESTS_EVERY where the environment has it, else 1. */
static inline int testing_step(void)
{
    const char *every = getenv("TESTS_EVERY");
    return every && atoi(every) > 1 ? atoi(every) : 1;
}

/* The tests, each with how often it runs, _i from 0 on. */
static struct testing_case {
    const TTest *test;
    size_t times;
} testing_cases[128];
static size_t testing_count;

static inline void testing_add(const TTest *test, size_t times)
{
    if (testing_count == sizeof testing_cases / sizeof *testing_cases)
        abort();
    testing_cases[testing_count++] = (struct testing_case){test, times};
}

#define START_LOOP(name, times)                                                                                        \
    static void name##_fn(int _i);                                                                                     \
    static const TTest name##_ttest = {#name, name##_fn, __FILE__, __LINE__};                                          \
    __attribute__((constructor)) static void name##_add(void)                                                          \
    {                                                                                                                  \
        testing_add(&name##_ttest, times);                                                                             \
    }                                                                                                                  \
    static void name##_fn(int _i __attribute__((unused)))

/* Check's own leaves it to a list which tests run. */
#undef START_TEST
#define START_TEST(name) START_LOOP(name, 1)

/* Of what runs several times every TESTS_EVERY-th where the environment has that number. */
static inline Suite *testing_suite(const char *name)
{
    Suite *suite = suite_create(name);
    for (const struct testing_case *c = testing_cases; c < testing_cases + testing_count; c++) {
        TCase *tc = tcase_create(c->test->name);
        tcase_set_timeout(tc, TESTING_TIMEOUT_S);
        for (int i = 0; i < (int)c->times; i += testing_step())
            tcase_add_loop_test(tc, c->test, i, i + 1);
        suite_add_tcase(suite, tc);
    }
    return suite;
}

static inline int testing_run(const char *name)
{
    SRunner *runner = srunner_create(testing_suite(name));
    if (!mkdtemp(testing_path)) {
        perror(testing_path);
        srunner_free(runner);
        return 1;
    }
    srunner_set_fork_status(runner, TESTING_FORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", testing_path);
    if (system(command))
        perror(command);
    return failed != 0;
}

#define TEST_MAIN(name)                                                                                                \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return testing_run(name);                                                                                      \
    }
