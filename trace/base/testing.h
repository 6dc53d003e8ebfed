/* testing: one test program per X_test.c, over Check.
 *
 *     START_TEST(claim_in_words) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *     TEST_MAIN("X", claim_in_words)
 *
 * A test left off the list does not compile (unused variable). Every test runs in a process of its own. Files a test
 * writes go below testing_dir(), which is fresh for each program and removed at its end. */
#ifndef TRACE_BASE_TESTING_H
#define TRACE_BASE_TESTING_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds that one test may take; sanitised builds are slow. */
#define TESTING_TIMEOUT_S 300

static char testing_path[] = "/tmp/offchip-test-XXXXXX";

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

static inline int testing_main(const char *name, const TTest *const tests[], size_t count)
{
    if (!mkdtemp(testing_path)) {
        perror(testing_path);
        return 1;
    }
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tc = tcase_create(tests[i]->name);
        tcase_set_timeout(tc, TESTING_TIMEOUT_S);
        tcase_add_test(tc, tests[i]);
        suite_add_tcase(suite, tc);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", testing_path);
    if (system(command))
        perror(command);
    return failed != 0;
}

#define TEST_MAIN(name, ...)                                                                                           \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const TTest *const tests[] = {__VA_ARGS__};                                                                    \
        return testing_main(name, tests, sizeof tests / sizeof *tests);                                                \
    }

#endif
