/* Where recorded programs connect to; and the program's start, told through its environment what to load and whom to
 * send to. */
#include "trace/recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/recorder/wire/record_pipe.h"
#include "trace/store/output.h"

enum { BACKLOG = 1024 };

/* A socket of that name; -1 with errno set. */
static int named(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = record_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, length) == 0)
        return fd;
    int code = errno;
    (void)close(fd);
    errno = code;
    return -1;
}

int recorder_socket_listen(char name[RECORDER_SOCKET_NAME], struct err *err)
{
    unsigned long long random[2] = {0};
    (void)getrandom(random, sizeof random, GRND_NONBLOCK);
    (void)snprintf(name, RECORDER_SOCKET_NAME, "@offchip-%ld-%016llx%016llx", (long)getpid(), random[0], random[1]);
    int fd = named(name);
    if (fd < 0)
        return err_set(err, "%s: the recorder's socket cannot be made: %s", name, strerror(errno));
    if (listen(fd, BACKLOG) == 0)
        return fd;
    err_set(err, "%s: the recorder's socket does not listen: %s", name, strerror(errno));
    (void)close(fd);
    return -1;
}

int recorder_socket_accept(int listener)
{
    for (;;) {
        struct ucred peer = {.uid = (uid_t)-1};
        socklen_t size = sizeof peer;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 ||
            (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0)))
            return fd;
        (void)close(fd);
    }
}

int recorder_socket_claim(const char *path, struct err *err)
{
    char name[RECORDER_SOCKET_NAME];
    char *file = output_resolve(path, err);
    if (!file)
        return err_set(err, "out of memory");
    struct stat st = {0};
    char *slash = strrchr(file, '/');
    if (slash) /* its folder as the kernel knows it: the same through every mount and link */
        *slash = 0;
    (void)stat(slash && slash != file ? file : slash ? "/" : ".", &st);
    const char *last = slash ? slash + 1 : file;
    (void)snprintf(name, sizeof name, "@offchip-file-%llx-%llx-%016llx", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino, (unsigned long long)XXH3_64bits(last, strlen(last)));
    free(file);
    int fd = named(name);
    if (fd < 0 && errno == EADDRINUSE)
        return err_set(err, "another offchip record is writing '%s': give each recording a file of its own (-o)", path);
    return fd < 0 ? err_set(err, "'%s' cannot be reserved: %s", path, strerror(errno)) : fd;
}

/* --- the program --- */

/* What the injected library is told through the environment. */
struct told {
    char library[PATH_MAX], tool[PATH_MAX], patch[PATH_MAX], want[64], limit[24], every[24];
};

static int find_told(const struct recorder_options *o, struct told *told, struct err *err)
{
    const char *tool = o->accesses ? o->sanitizer : o->cupti;
    if (o->library)
        (void)snprintf(told->library, sizeof told->library, "%s", o->library);
    else if (recorder_find_library(o->accesses, told->library, sizeof told->library, err))
        return -1;
    if (tool)
        (void)snprintf(told->tool, sizeof told->tool, "%s", tool);
    else if (o->accesses ? recorder_find_sanitizer(o->argv[0], told->tool, sizeof told->tool, err)
                         : recorder_find_cupti(o->argv[0], o->counters, told->tool, sizeof told->tool, err))
        return -1;
    if (o->patch)
        (void)snprintf(told->patch, sizeof told->patch, "%s", o->patch);
    else if (o->accesses && recorder_find_patch(told->patch, sizeof told->patch, err))
        return -1;
    (void)snprintf(told->want, sizeof told->want, "%s%s%s%s%s", o->touches ? RECORD_PIPE_TOUCHES "," : "",
                   o->call_sites ? RECORD_PIPE_SITES : "", o->unified_memory ? "uvm," : "",
                   o->counters ? RECORD_PIPE_COUNTERS : "", o->counters ? o->counter_group : "");
    (void)snprintf(told->every, sizeof told->every, "%lld", (long long)o->every);
    (void)snprintf(told->limit, sizeof told->limit, "%lld",
                   (long long)(o->limit ? o->limit : RECORD_PIPE_LIMIT_DEFAULT));
    return 0;
}

static void tell(const struct recorder_options *o, const struct told *told, const char *socket_name)
{
    setenv("CUDA_INJECTION64_PATH", told->library, 1);
    setenv(RECORD_PIPE_SOCKET, socket_name, 1);
    setenv(o->accesses ? RECORD_PIPE_SANITIZER : RECORD_PIPE_CUPTI, told->tool, 1);
    setenv(RECORD_PIPE_WANT, told->want, 1);
    if (o->unified_memory) /* NVTX gives CUPTI the program's own ranges, unless somebody else wants them */
        setenv("NVTX_INJECTION64_PATH", told->tool, 0);
    if (o->plan)
        setenv(RECORD_PIPE_PLAN, o->plan, 1);
    else
        unsetenv(RECORD_PIPE_PLAN);
    if (!o->accesses)
        return;
    setenv(RECORD_PIPE_PATCH, told->patch, 1);
    setenv(RECORD_PIPE_KERNELS, o->kernel ? o->kernel : "", 1);
    setenv(RECORD_PIPE_LIMIT, told->limit, 1);
    setenv(RECORD_PIPE_EVERY, told->every, 1);
}

/* Why the program could not be started, through a pipe that a start closes. */
static int wait_for_start(int from, pid_t child, const char *name, struct err *err)
{
    int code = 0;
    ssize_t n;
    while ((n = read(from, &code, sizeof code)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof code)
        return 0;
    (void)waitpid(child, NULL, 0);
    return err_set(err, "%s cannot be run: %s", name, strerror(code));
}

int recorder_start(const struct recorder_options *o, const char *socket_name, pid_t *child, struct err *err)
{
    struct told told = {.patch = ""};
    if (find_told(o, &told, err))
        return -1;
    int failure[2];
    if (pipe2(failure, O_CLOEXEC))
        return err_set(err, "no pipe: %s", strerror(errno));
    *child = fork();
    if (*child == 0) {
        tell(o, &told, socket_name);
        for (char *const *e = o->environment; e && *e; e++)
            putenv(*e);
        execvp(o->argv[0], o->argv);
        int code = errno;
        if (write(failure[1], &code, sizeof code) < 0)
            _exit(126);
        _exit(127);
    }
    close(failure[1]);
    int rc = *child < 0 ? err_set(err, "no new process: %s", strerror(errno))
                        : wait_for_start(failure[0], *child, o->argv[0], err);
    close(failure[0]);
    return rc;
}
