/* Preloaded: the FAULT_AT-th write to a file and all later ones fail as on a full disk (no FAULT_AT: none does). At the
 * end the number of writes is added to the file FAULT_COUNT. Only calls through the C library's symbols are seen, so
 * SQLite's and not those of FILE streams; the small file systems take care of these. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long writes;

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f && fprintf(f, "%ld\n", atomic_load(&writes)) > 0)
        fclose(f);
}

static int full(int fd)
{
    const char *at = getenv("FAULT_AT");
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    long n = atomic_fetch_add(&writes, 1) + 1;
    if (!at || n < atol(at))
        return 0;
    errno = ENOSPC;
    return 1;
}

/* A function of the C library, in front of which it fails. */
#define FAIL(TYPE, NAME, PARAMETERS, ...)                                                                              \
    TYPE NAME PARAMETERS                                                                                               \
    {                                                                                                                  \
        return full(fd) ? -1 : ((__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME))(__VA_ARGS__);                             \
    }
FAIL(ssize_t, write, (int fd, const void *data, size_t n), fd, data, n)
FAIL(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), fd, data, n, at)
FAIL(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), fd, data, n, at)
FAIL(int, fsync, (int fd), fd)
FAIL(int, fdatasync, (int fd), fd)
FAIL(int, ftruncate, (int fd, off_t size), fd, size)
FAIL(int, ftruncate64, (int fd, off64_t size), fd, size)
