#include "trace/store/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"

/* --- what a signal handler removes --- */

/* The names are changed only between output_hold() and output_release(), so the handler finds them whole. */
static struct {
    atomic_bool used;
    char path[PATH_MAX];
} temporaries[OUTPUT_MAX];

static atomic_int holds, dying;

static void die(void)
{
    for (;;) {
        (void)raise(atomic_load(&dying));
        (void)pause(); /* blocked in this thread: another one dies of it */
    }
}

void output_hold(void)
{
    if (atomic_fetch_add(&holds, 1) == 0 && atomic_load(&dying))
        output_release();
}

void output_release(void)
{
    if (atomic_fetch_sub(&holds, 1) == 1 && atomic_load(&dying))
        die();
}

bool output_abandon(int signal)
{
    atomic_store(&dying, signal);
    if (atomic_load(&holds))
        return false;
    for (int i = 0; i < OUTPUT_MAX; i++)
        if (atomic_load(&temporaries[i].used))
            (void)unlink(temporaries[i].path);
    return true;
}

static int remember(const char *path, struct err *err)
{
    bool free_slot = false;
    for (int i = 0; i < OUTPUT_MAX; i++, free_slot = false)
        if (atomic_compare_exchange_strong(&temporaries[i].used, &free_slot, true)) {
            (void)snprintf(temporaries[i].path, sizeof temporaries[i].path, "%s", path);
            return i;
        }
    return err_set(err, "more than %d files are being written", OUTPUT_MAX);
}

static void forget(struct output *output)
{
    if (output->slot >= 0)
        atomic_store(&temporaries[output->slot].used, false);
    output->slot = -1;
}

/* --- names --- */

/* Also through a link that points at nothing. */
char *output_resolve(const char *path, struct err *err)
{
    char *whole = realpath(path, NULL), link[PATH_MAX], *made = NULL;
    if (whole)
        return whole;
    if (errno == ENOMEM) {
        (void)err_set(err, "out of memory");
        return NULL;
    }
    ssize_t n = readlink(path, link, sizeof link - 1);
    char *copy = mem_strdup(path, err), *name = mem_strdup(path, err);
    char *folder = copy && name ? realpath(dirname(copy), NULL) : NULL;
    const char *last = name ? basename(name) : "";
    if (n > 0)
        link[n] = 0;
    if (n > 0 && link[0] == '/')
        made = mem_strdup(link, err);
    else if (!folder)
        made = mem_strdup(path, err);
    else if (asprintf(&made, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, n > 0 ? link : last) < 0) {
        made = NULL;
        (void)err_set(err, "out of memory");
    }
    free(folder);
    free(copy);
    free(name);
    return made;
}

bool output_same(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    char *first = output_resolve(a, NULL), *second = output_resolve(b, NULL);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

static int exists(const char *path, struct err *err)
{
    return err_set(err, "'%s' exists; --force overwrites it", path);
}

static int cannot(const char *path, int code, struct err *err)
{
    return err_set(err, "cannot create '%s': %s", path, strerror(code));
}

static struct {
    dev_t device;
    ino_t inode;
} reserved[OUTPUT_MAX];
static int reserved_count;
static atomic_bool clash; /* one of them was an input */

void output_reserve(const char *path)
{
    struct stat st;
    if (reserved_count < OUTPUT_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        reserved[reserved_count].device = st.st_dev;
        reserved[reserved_count++].inode = st.st_ino;
    }
}

bool output_reserved(int fd)
{
    struct stat st;
    for (int i = 0; i < reserved_count && fstat(fd, &st) == 0; i++)
        if (reserved[i].device == st.st_dev && reserved[i].inode == st.st_ino) {
            atomic_store(&clash, true);
            return true;
        }
    return false;
}

int output_lock(const char *path, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, "cannot open '%s': %s", path, strerror(errno));
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
        return fd;
    (void)close(fd);
    return err_set(err, "'%s' is being written by another command", path);
}

/* --- making --- */

/* A file beside output->path. Its permissions will be those of what it replaces, or those of any new file. */
static int make_temporary(struct output *output, const struct stat *old, struct err *err)
{
    const char *slash = strrchr(output->path, '/');
    int folder = slash ? (int)(slash - output->path) + 1 : 0;
    if (asprintf(&output->temporary, "%.*s%.240s.XXXXXX", folder, output->path, output->path + folder) < 0) {
        output->temporary = NULL;
        return err_set(err, "out of memory");
    }
    output_hold();
    int fd = mkstemp(output->temporary), code = errno;
    output->slot = fd < 0 ? -1 : remember(output->temporary, err);
    if (fd >= 0 && output->slot < 0)
        (void)unlink(output->temporary);
    output_release();
    if (fd < 0)
        return cannot(output->path, code, err);
    mode_t mask = umask(0);
    (void)umask(mask);
    output->mode = old ? old->st_mode & 0777 : 0666 & ~mask;
    (void)close(fd);
    return output->slot < 0 ? -1 : 0;
}

static void release(struct output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (struct output){.slot = -1};
}

int output_begin(struct output *output, const char *path, bool replace, struct err *err)
{
    struct stat st;
    *output = (struct output){.replace = replace, .slot = -1};
    if (!path[0])
        return err_set(err, "the name of the file to write is empty");
    bool there = stat(path, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return err_set(err, "cannot create '%s': it is a folder", path);
    if (!there && errno != ENOENT)
        return cannot(path, errno, err);
    if (there && S_ISREG(st.st_mode) && !replace)
        return exists(path, err);
    output->path = there && !S_ISREG(st.st_mode) ? mem_strdup(path, err) : output_resolve(path, err);
    int rc = output->path ? 0 : -1;
    if (!rc && (!there || S_ISREG(st.st_mode)))
        rc = make_temporary(output, there ? &st : NULL, err);
    if (rc)
        release(output);
    return rc;
}

int output_open(struct output *output, const char *path, bool replace, struct err *err)
{
    if (output_begin(output, path, replace, err))
        return -1;
    output->file = output->temporary ? fopen(output->temporary, "r+be") : fopen(path, "wbe");
    if (output->file)
        return 0;
    int rc = cannot(path, errno, err);
    return output_close(output, rc, err);
}

int output_try(const char *path, bool replace, struct err *err)
{
    struct output output;
    if (output_begin(&output, path, replace, err))
        return -1;
    int rc = output.temporary || access(path, W_OK) == 0 ? 0 : cannot(path, errno, err);
    if (output.temporary)
        (void)unlink(output.temporary);
    forget(&output);
    release(&output);
    return rc;
}

/* --- taking its place --- */

static int sync_named(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd);
    int code = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = code;
    return failed ? -1 : 0;
}

int output_flush(struct output *output, struct err *err)
{
    errno = 0;
    bool failed = output->file && (fflush(output->file) || ferror(output->file));
    if (!failed && output->temporary)
        failed = output->file ? fsync(fileno(output->file)) != 0 : sync_named(output->temporary) != 0;
    output->synced = !failed && !output->file;
    return failed ? err_set(err, "cannot write '%s': %s", output->path,
                            errno ? strerror(errno) : "an earlier write failed")
                  : 0;
}

/* To its name; without replacing only if nobody else took it meanwhile. */
static int take_name(const struct output *output, struct err *err)
{
    if (atomic_load(&clash))
        return err_set(err, "the output '%s' is an input too", output->path);
    (void)chmod(output->temporary, output->mode);
    if (output->replace ? rename(output->temporary, output->path) == 0
                        : renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (!output->replace && (errno == EINVAL || errno == ENOSYS)) /* a file system without that */
        if (link(output->temporary, output->path) == 0) {
            (void)unlink(output->temporary);
            return 0;
        }
    return errno == EEXIST ? exists(output->path, err) : cannot(output->path, errno, err);
}

int output_close_all(struct output *outputs, size_t n, int rc, struct err *err)
{
    for (size_t i = 0; i < n && !rc; i++)
        rc = outputs[i].synced ? 0 : output_flush(&outputs[i], err);
    for (size_t i = 0; i < n; i++)
        if (outputs[i].file && fclose(outputs[i].file) && !rc)
            rc = err_set(err, "cannot write '%s': %s", outputs[i].path, strerror(errno));
    output_hold();
    for (size_t i = 0; i < n; i++) {
        if (!rc && outputs[i].temporary)
            rc = take_name(&outputs[i], err);
        if (rc && outputs[i].temporary)
            (void)unlink(outputs[i].temporary);
        forget(&outputs[i]);
        release(&outputs[i]);
    }
    output_release();
    return rc;
}

int output_close(struct output *output, int rc, struct err *err)
{
    return output->path ? output_close_all(output, 1, rc, err) : rc;
}
