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
static long fault_at;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAULT_AT");
    fault_at = at ? atol(at) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (f && fprintf(f, "%ld\n", atomic_load(&writes)) > 0)
        fclose(f);
}

static int full(int fd)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return 0;
    long n = atomic_fetch_add(&writes, 1) + 1;
    if (!fault_at || n < fault_at)
        return 0;
    errno = ENOSPC;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t n)
{
    return full(fd) ? -1 : REAL(write)(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    return full(fd) ? -1 : REAL(pwrite)(fd, data, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
    return full(fd) ? -1 : REAL(pwrite64)(fd, data, n, at);
}

int fsync(int fd)
{
    return full(fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return full(fd) ? -1 : REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t size)
{
    return full(fd) ? -1 : REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return full(fd) ? -1 : REAL(ftruncate64)(fd, size);
}
