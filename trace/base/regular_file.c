#include "trace/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"

/* Bytes that a file is first taken to have; those of /proc state none. */
enum { FIRST_BYTES = 64 << 10 };

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "directory" : S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
}

int regular_file_open(const char *path, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, "cannot open '%.300s': %s", path, strerror(errno));
    int rc = fstat(fd, &st) ? err_set(err, "cannot read '%.300s': %s", path, strerror(errno)) : 0;
    if (!rc && !S_ISREG(st.st_mode))
        rc = err_set(err, "cannot open '%.300s': it is a %s, not a file", path, kind_of(st.st_mode));
    if (!rc)
        return fd;
    (void)close(fd);
    return -1;
}

/* Add what is left of fd to *text, room for one more byte included. */
static int read_rest(const char *path, int fd, char **text, size_t limit, size_t *bytes, struct err *err)
{
    size_t cap = 0;
    ssize_t got = 1;
    *bytes = 0;
    while (got > 0 && *bytes <= limit) {
        if (mem_grow((void **)text, &cap, *bytes + FIRST_BYTES, 1, err))
            return -1;
        do
            got = read(fd, *text + *bytes, cap - *bytes - 1);
        while (got < 0 && errno == EINTR);
        if (got < 0)
            return err_set(err, "cannot read '%.300s' at byte %zu: %s", path, *bytes, strerror(errno));
        *bytes += (size_t)got;
    }
    (*text)[*bytes] = 0;
    return *bytes > limit ? err_set(err, "'%.300s' is larger than %zu bytes, the most that is read", path, limit) : 0;
}

char *regular_file_read(const char *path, size_t limit, size_t *bytes, struct err *err)
{
    char *text = NULL;
    int fd = regular_file_open(path, err);
    if (fd < 0)
        return NULL;
    int rc = read_rest(path, fd, &text, limit, bytes, err);
    (void)close(fd);
    if (!rc)
        return text;
    free(text);
    return NULL;
}

bool regular_file_line(const char *path, const char *word, char *line, size_t size)
{
    const int fd = regular_file_open(path, NULL);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    bool found = false;
    while (f && !found && fgets(line, (int)size, f))
        found = strcasestr(line, word) != NULL;
    if (f)
        (void)fclose(f);
    line[found ? strcspn(line, "\n") : 0] = 0;
    return found;
}
