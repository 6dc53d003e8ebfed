#include "trace/store/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
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

/* Also when a library ends the program, as OpenMP's does that gets no thread. */
static void remove_all(void)
{
    for (int i = 0; i < OUTPUT_MAX; i++)
        if (atomic_load(&temporaries[i].used))
            (void)unlink(temporaries[i].path);
}

bool output_abandon(int signal)
{
    atomic_store(&dying, signal);
    if (atomic_load(&holds))
        return false;
    remove_all();
    return true;
}

static int remember(const char *path, struct err *err)
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    bool free_slot = false;
    if (!atomic_flag_test_and_set(&registered))
        (void)atexit(remove_all);
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

/* --- locks --- */

/* Behind every byte that SQLite locks; it goes with the last descriptor of this opening. */
static int lock_file(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &whole);
}

/* Whether it is the file of that name, not one that another has replaced. */
static bool is_named(int fd, const char *path)
{
    struct stat own, named;
    return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

int output_lock(const char *path, int wait_ms, struct err *err)
{
    enum { STEP_MS = 5 };
    for (int waited = 0; waited <= wait_ms;) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return err_set(err, "cannot open '%s': %s", path, strerror(errno));
        const bool locked = lock_file(fd) == 0;
        if (locked && is_named(fd, path))
            return fd;
        const int code = errno;
        (void)close(fd);
        if (!locked && code != EAGAIN && code != EACCES)
            return err_set(err, "cannot lock '%s': %s", path, strerror(code));
        if (locked)
            continue;
        waited += STEP_MS;
        if (waited <= wait_ms)
            (void)usleep(STEP_MS * 1000);
    }
    return err_set(err, "'%s' is being written by another command", path);
}

/* --- making --- */

#define MARK ".offchip-"
enum { NAME_CUT = 240, RANDOM = 6 }; /* of a temporary: NAME_CUT bytes of the name, MARK, RANDOM letters: 255 */

/* The folder of a path with its '/', or "./"; returns where in the path its name begins. */
static int folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int n = slash ? (int)(slash - path) + 1 : 0;
    (void)snprintf(folder, PATH_MAX, "%.*s", n ? n : 2, n ? path : "./");
    return n;
}

/* What killed commands left of this file: temporaries that nobody holds. It reads the whole folder. */
static void remove_left(const char *path)
{
    char folder[PATH_MAX], begin[NAME_CUT + sizeof MARK];
    (void)snprintf(begin, sizeof begin, "%.*s" MARK, NAME_CUT, path + folder_of(path, folder));
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (strncmp(e->d_name, begin, strlen(begin)) != 0 || strlen(e->d_name) != strlen(begin) + RANDOM)
            continue;
        const int fd = openat(dirfd(dir), e->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lock_file(fd) == 0)
            (void)unlinkat(dirfd(dir), e->d_name, 0);
        if (fd >= 0)
            (void)close(fd);
    }
    if (dir)
        (void)closedir(dir);
}

/* A descriptor that is none of the first three, which may be closed; closes fd. */
static int above_standard(int fd)
{
    const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd >= 0)
        (void)close(fd);
    return moved;
}

/* Give a file without a name one. */
static int give_name(int fd, const char *name)
{
    char own[40];
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A file without a name in the folder of output->path. -1: the file system has none, or it could get no name. */
static int make_nameless(const struct output *output)
{
    char folder[PATH_MAX], own[40];
    (void)folder_of(output->path, folder);
    int fd = above_standard(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(own, F_OK) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* A name for a temporary, to be filled in by mkostemp(). */
static int name_temporary(struct output *output, struct err *err)
{
    char folder[PATH_MAX];
    const int n = folder_of(output->path, folder);
    free(output->temporary);
    output->temporary = mem_format("%s%.*s" MARK "XXXXXX", folder, NAME_CUT, output->path + n);
    return output->temporary ? 0 : err_set(err, "out of memory");
}

/* A file beside output->path, locked: whoever looks for what is left finds it in use. */
static int make_named(struct output *output, struct err *err)
{
    struct stat st;
    int code = 0;
    for (bool whole = false; !whole;) {
        if (name_temporary(output, err))
            return -1;
        output_hold();
        int fd = mkostemp(output->temporary, O_CLOEXEC);
        code = errno;
        output->slot = fd < 0 ? -1 : remember(output->temporary, err);
        if (fd >= 0 && output->slot < 0)
            (void)unlink(output->temporary);
        output_release();
        if (fd < 0)
            return cannot(output->path, code, err);
        output->fd = above_standard(fd);
        code = errno;
        if (output->slot < 0)
            return -1;
        if (output->fd < 0)
            return cannot(output->path, code, err);
        (void)lock_file(output->fd);
        whole = fstat(output->fd, &st) || st.st_nlink; /* not taken for one that is left, just before */
        if (!whole) {
            forget(output);
            (void)close(output->fd);
        }
    }
    return 0;
}

/* A file in the folder of output->path. Its permissions will be those of what it replaces, or those of any new file. */
static int make_temporary(struct output *output, const struct stat *old, bool named, struct err *err)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    output->mode = old ? old->st_mode & 0777 : 0666 & ~mask;
    output->fd = named ? -1 : make_nameless(output);
    if (output->fd >= 0)
        return 0;
    output->fd = 0;
    return make_named(output, err);
}

static void release(struct output *output)
{
    if (output->fd > 0)
        (void)close(output->fd);
    free(output->path);
    free(output->temporary);
    *output = (struct output){.slot = -1};
}

static int begin(struct output *output, const char *path, bool replace, bool named, struct err *err)
{
    struct stat st;
    *output = (struct output){.replace = replace, .slot = -1};
    if (!path[0])
        return err_set(err, "the name of the file to write is empty");
    if (strcmp(path, "-") == 0)
        return err_set(err, "this goes to a file, not to standard output: name one ('./-' is one called -)");
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
        rc = make_temporary(output, there ? &st : NULL, named, err);
    if (rc && output->slot >= 0)
        (void)unlink(output->temporary);
    if (rc) {
        forget(output);
        release(output);
    }
    return rc;
}

int output_begin(struct output *output, const char *path, bool replace, bool named, struct err *err)
{
    const int rc = begin(output, path, replace, named, err);
    if (!rc && output->fd)
        remove_left(output->path);
    return rc;
}

int output_open(struct output *output, const char *path, bool replace, struct err *err)
{
    if (output_begin(output, path, replace, false, err))
        return -1;
    const int fd = output->fd ? fcntl(output->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                              : above_standard(open(path, O_WRONLY | O_CLOEXEC));
    output->file = fd < 0 ? NULL : fdopen(fd, output->fd ? "r+b" : "wb");
    if (output->file)
        return 0;
    int rc = cannot(path, errno, err);
    if (fd >= 0)
        (void)close(fd);
    return output_close(output, rc, err);
}

int output_try(const char *path, bool replace, struct err *err)
{
    struct output output;
    if (begin(&output, path, replace, false, err))
        return -1;
    int rc = output.fd || access(path, W_OK) == 0 ? 0 : cannot(path, errno, err);
    if (output.temporary)
        (void)unlink(output.temporary);
    forget(&output);
    release(&output);
    return rc;
}

FILE *output_aside(bool memory, struct err *err)
{
    const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    char name[PATH_MAX];
    int fd = memory ? memfd_create("offchip", MFD_CLOEXEC) : -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i] || !*folders[i])
            continue;
        fd = open(folders[i], O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        (void)snprintf(name, sizeof name, "%.4000s/offchip-XXXXXX", folders[i]);
        if (fd < 0 && (fd = mkostemp(name, O_CLOEXEC)) >= 0)
            (void)unlink(name);
    }
    fd = above_standard(fd);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!file)
        (void)err_set(err, "cannot make a temporary file: %s", strerror(errno));
    if (!file && fd >= 0)
        (void)close(fd);
    return file;
}

/* --- taking its place --- */

int output_flush(struct output *output, struct err *err)
{
    errno = 0;
    bool failed = output->file && (fflush(output->file) || ferror(output->file));
    if (!failed && (output->fd || output->temporary)) { /* who wrote by name may have made another file of it */
        const int fd = output->temporary ? open(output->temporary, O_RDONLY | O_CLOEXEC) : output->fd;
        failed = fd < 0 || fsync(fd);
        failed |= output->temporary && fd >= 0 && close(fd);
    }
    output->synced = !failed && !output->file;
    return failed ? err_set(err, "cannot write '%s': %s", output->path,
                            errno ? strerror(errno) : "an earlier write failed")
                  : 0;
}

/* A file without a name to its name: at once, or over a name beside what it replaces. */
static int name_at_last(struct output *output)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[RANDOM] = {0};
    int failed = give_name(output->fd, output->path);
    if (!failed || errno != EEXIST || !output->replace)
        return failed;
    for (int attempt = 0; failed && errno == EEXIST && attempt < 100; attempt++) {
        if (name_temporary(output, NULL))
            return -1;
        (void)!getrandom(random, sizeof random, 0);
        for (size_t i = 0; i < RANDOM; i++)
            output->temporary[strlen(output->temporary) - 1 - i] = letters[random[i] % 32];
        (void)lock_file(output->fd);
        failed = give_name(output->fd, output->temporary);
    }
    if (!failed && (failed = rename(output->temporary, output->path))) {
        const int code = errno;
        (void)unlink(output->temporary);
        errno = code;
    }
    free(output->temporary);
    output->temporary = NULL;
    return failed;
}

/* To its name; without replacing only if nobody else took it meanwhile. */
static int take_name(struct output *output, struct err *err)
{
    if (atomic_load(&clash))
        return err_set(err, "the output '%s' is an input too", output->path);
    (void)(output->temporary ? chmod(output->temporary, output->mode) : fchmod(output->fd, output->mode));
    if (!output->temporary ? name_at_last(output) == 0
        : output->replace  ? rename(output->temporary, output->path) == 0
                           : renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (output->temporary && !output->replace && (errno == EINVAL || errno == ENOSYS)) /* a file system without that */
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
        if (!rc && outputs[i].fd)
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
