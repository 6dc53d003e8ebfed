#include "trace/recorder/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/base/clock.h"
#include "trace/base/mem.h"
#include "trace/recorder/recorder_machine.h"
#include "trace/recorder/wire/record_pipe.h"
#include "trace/store/output.h"

int recorder_check(const struct recorder_options *options, char *warning, size_t warning_bytes, struct err *err)
{
    char path[PATH_MAX];
    const char *set = getenv("CUDA_INJECTION64_PATH"), *device = getenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC");
    if (warning_bytes)
        warning[0] = 0;
    if (set && *set)
        return err_set(err,
                       "CUDA_INJECTION64_PATH is already set (to %s), so another tool wants to be loaded into the "
                       "program: unset it",
                       set);
    if (recorder_find_library(options->accesses, path, sizeof path, err))
        return -1;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!driver)
        return err_set(
            err,
            "there is no CUDA driver here: libcuda.so.1 cannot be loaded (%s). Recording needs an NVIDIA GPU "
            "and its driver; recordings made elsewhere are read with offchip import, info and replay",
            dlerror());
    dlclose(driver);
    if (options->accesses && !options->patch && recorder_find_patch(path, sizeof path, err))
        return -1;
    if (!options->accesses && device && strcmp(device, "1") == 0)
        (void)snprintf(
            warning, warning_bytes,
            "CUDA_MANAGED_FORCE_DEVICE_ALLOC=1 is set: managed memory stays on the device, so there will be no "
            "faults and no migrations; unset it to record them");
    return 0;
}

/* --- where recorded programs connect to, and who may record into a file ---
 *
 * Both are names of Linux's abstract namespace (trace/recorder/wire/record_pipe.h), which the kernel frees with the
 * process that has them, however it ends: no file is left. They are of one network namespace: a program that the target
 * starts in another one (unshare -n, a container of its own) does not find the recorder and runs unrecorded. */

enum { BACKLOG = 1024, SOCKET_NAME = 64 };

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

/* Listen; name gets what a program is told. The descriptor, or -1 with *err set. */
static int socket_listen(char name[SOCKET_NAME], struct err *err)
{
    unsigned long long random[2] = {0};
    (void)getrandom(random, sizeof random, GRND_NONBLOCK);
    (void)snprintf(name, SOCKET_NAME, "@offchip-%ld-%016llx%016llx", (long)getpid(), random[0], random[1]);
    int fd = named(name);
    if (fd < 0)
        return err_set(err, "%s: the recorder's socket cannot be made: %s", name, strerror(errno));
    if (listen(fd, BACKLOG) == 0)
        return fd;
    err_set(err, "%s: the recorder's socket does not listen: %s", name, strerror(errno));
    (void)close(fd);
    return -1;
}

/* The next connection, -1 if there is none. Only this user and root may connect: others are turned away. */
static int socket_accept(int listener)
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

/* Have the file `path` for ourselves until the returned descriptor is closed. -1 with *err set if another recorder on
 * this machine writes it. */
static int socket_claim(const char *path, struct err *err)
{
    char name[SOCKET_NAME];
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
    if (recorder_find_library(o->accesses, told->library, sizeof told->library, err))
        return -1;
    if (tool)
        (void)snprintf(told->tool, sizeof told->tool, "%s", tool);
    else if (recorder_find_part(o->accesses ? PART_SANITIZER : PART_CUPTI, o->argv[0], o->counters && !o->accesses,
                                told->tool, sizeof told->tool, err))
        return -1;
    if (o->patch)
        (void)snprintf(told->patch, sizeof told->patch, "%s", o->patch);
    else if (o->accesses && recorder_find_patch(told->patch, sizeof told->patch, err))
        return -1;
    (void)snprintf(told->want, sizeof told->want, "%s%s%s%s%s%s%s", o->touches ? RECORD_PIPE_TOUCHES "," : "",
                   o->untraced ? RECORD_PIPE_TIME : "", o->call_sites ? RECORD_PIPE_SITES : "",
                   o->faults ? RECORD_PIPE_FAULTS : "", o->unified_memory ? "uvm," : "",
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
    setenv(RECORD_PIPE_KERNELS, o->kernel ? o->kernel : "", 1);
    setenv(RECORD_PIPE_EVERY, told->every, 1);
    setenv(RECORD_PIPE_LAUNCHES, o->launches ? o->launches : "", 1);
    if (!o->accesses)
        return;
    setenv(RECORD_PIPE_PATCH, told->patch, 1);
    setenv(RECORD_PIPE_LIMIT, told->limit, 1);
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

/* Start options->argv, which finds the recorder at `socket_name`. -1 with *err set if a library is missing or the
 * program cannot be run; then nothing runs. */
static int start(const struct recorder_options *o, const char *socket_name, pid_t *child, struct err *err)
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
        (void)alarm(o->most_s); /* which lasts through exec */
        const int nowhere = o->untraced ? open("/dev/null", O_WRONLY) : -1;
        for (int fd = 1; nowhere >= 0 && fd <= 2; fd++)
            (void)dup2(nowhere, fd);
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

/* --- a recording --- */

enum {
    CONNECTIONS = 256,
    MESSAGES = 4096,
    POLL_MS = 20,
    NOTICE_MS = 2000,
    ENDED_MOST = 4096,
    ENDED_MS = 250,
    REPORTS = 64
};

/* One recorded process. */
struct connection {
    int fd;
    struct recorder_trace *trace;
    bool heard;     /* a message came */
    bool ready;     /* to be read in this turn */
    size_t told;    /* problems passed on */
    size_t partial; /* bytes of a message begun */
    char rest[sizeof(struct record_pipe_message)];
};

struct run {
    const struct recorder_options *options;
    struct recorder_result *result;
    char socket_name[SOCKET_NAME];
    int listener, claim;
    struct connection connections[CONNECTIONS];
    size_t count, seen;
    /* Processes that have ended, whose files are still to be finished: those that end meanwhile are not kept waiting.
     */
    struct ended {
        struct recorder_trace *trace;
        int64_t ms;
    } ended[ENDED_MOST];
    size_t ended_first, ended_count;
    struct record_pipe_message reports[REPORTS]; /* of processes whose greetings were not read yet */
    size_t report_count;
    pid_t child;
    bool child_over, noticed;
    int64_t over_ms; /* when the program ended */
    struct record_pipe_message buffer[MESSAGES + 1];
};

/* Signals that came: to pass on, and to stop waiting. */
static volatile sig_atomic_t passed_signal, interrupts;

static void on_signal(int number)
{
    if (number == SIGTERM || number == SIGHUP)
        passed_signal = number;
    if (number != SIGQUIT)
        interrupts = interrupts + 1;
}

static void problem(struct run *run, int64_t process, const char *text)
{
    char line[800];
    if (process > 0)
        (void)snprintf(line, sizeof line, "process %lld: %s", (long long)process, text);
    else
        (void)snprintf(line, sizeof line, "%s", text);
    if (run->options->say)
        run->options->say(line);
}

static void failed(struct run *run, int64_t process, const char *text)
{
    problem(run, process, text);
    run->result->failed = true;
}

static const char *output_of(const struct recorder_options *options)
{
    return options->output ? options->output : "offchip.db";
}

/* --- connections --- */

/* False: there was none, or there is no room for it now: it waits, and what it sends waits with it. */
static bool connection_new(struct run *run)
{
    int fd = run->count < CONNECTIONS ? socket_accept(run->listener) : -1;
    struct err err;
    if (fd < 0)
        return false;
    const struct recorder_options *o = run->options;
    const struct recorder_trace_options options = {
        .path = output_of(o),
        .numbered = run->seen > 0,
        .force = o->force,
        .accesses = o->accesses,
        .only_counters = o->counters && !o->unified_memory,
        .cut = o->cut,
        .command_line = o->command_line,
        .sysfs = o->sysfs ? o->sysfs : "/sys",
    };
    struct recorder_trace *trace = recorder_trace_new(&options, &err);
    if (!trace) {
        failed(run, 0, "a process could not be recorded: out of memory");
        close(fd);
        return true;
    }
    run->seen++;
    run->connections[run->count++] = (struct connection){.fd = fd, .trace = trace};
    return true;
}

static void tell_problems(struct run *run, struct connection *c)
{
    for (const char *text; (text = recorder_trace_problem(c->trace, c->told)); c->told++)
        problem(run, 0, text);
}

/* Finish the file of the process that ended first. */
static void finish_one(struct run *run)
{
    struct recorder_result *result = run->result;
    struct recorder_trace_summary summary;
    struct err err;
    struct recorder_trace *trace = run->ended[run->ended_first].trace;
    run->ended_first = (run->ended_first + 1) % ENDED_MOST;
    run->ended_count--;
    if (recorder_trace_finish(trace, &summary, &err))
        failed(run, summary.process, err.msg);
    (void)MEM_ADD(result->files, result->file_count, result->file_cap, &err, summary);
}

/* The trace of a process is over. */
static void connection_end(struct run *run, size_t index)
{
    struct connection *c = &run->connections[index];
    tell_problems(run, c);
    close(c->fd);
    if (run->ended_count == ENDED_MOST)
        finish_one(run);
    run->ended[(run->ended_first + run->ended_count++) % ENDED_MOST] =
        (struct ended){c->trace, clock_ms(CLOCK_MONOTONIC)};
    run->connections[index] = run->connections[--run->count];
}

/* Count what a report says to its process, if that is known. */
static bool report_given(struct run *run, const struct record_pipe_message *report)
{
    for (size_t i = 0; i < run->count; i++)
        if (recorder_trace_lost(run->connections[i].trace, report))
            return true;
    for (size_t i = 0; i < run->ended_count; i++)
        if (recorder_trace_lost(run->ended[(run->ended_first + i) % ENDED_MOST].trace, report))
            return true;
    return false;
}

static void report_late(struct run *run, const struct record_pipe_message *report)
{
    char text[160];
    (void)snprintf(text, sizeof text, "%llu messages came too late for the recording, which is over",
                   (unsigned long long)report->addr);
    problem(run, (int64_t)report->id, text);
}

/* A connection that only says what a process could not send in time. Connections are read in any order: it is kept
 * where that process has not been heard of. */
static void take_report(struct run *run, const struct record_pipe_message *report)
{
    if (report_given(run, report))
        return;
    if (run->report_count < REPORTS)
        run->reports[run->report_count++] = *report;
    else
        report_late(run, report);
}

/* A process was heard of; or, `late`, no more will be. */
static void give_reports(struct run *run, bool late)
{
    for (size_t i = run->report_count; i-- > 0;) {
        const struct record_pipe_message report = run->reports[i];
        bool given = report_given(run, &report);
        if (!given && late)
            report_late(run, &report);
        if (given || late)
            run->reports[i] = run->reports[--run->report_count];
    }
}

/* Take what was read; false: the connection is over. */
static bool connection_take(struct run *run, struct connection *c, size_t n)
{
    struct err err;
    const struct record_pipe_message *first = run->buffer;
    if (n > 0 && !c->heard && first->type == RECORD_PIPE_HELLO && first->flags == RECORD_PIPE_LOSS_REPORT) {
        recorder_trace_discard(c->trace);
        c->trace = NULL;
        take_report(run, first);
        run->seen--;
        return false;
    }
    bool greeted = n > 0 && !c->heard;
    c->heard |= n > 0;
    if (recorder_trace_put(c->trace, run->buffer, n, &err)) {
        failed(run, 0, err.msg);
        return false;
    }
    if (greeted)
        give_reports(run, false);
    tell_problems(run, c);
    return true;
}

/* Read what is there. False: the connection is over. */
static bool connection_read(struct run *run, struct connection *c)
{
    char *bytes = (char *)run->buffer;
    memcpy(bytes, c->rest, c->partial);
    ssize_t got = recv(c->fd, bytes + c->partial, MESSAGES * sizeof *run->buffer, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0)
        return false;
    size_t total = c->partial + (size_t)got, n = total / sizeof *run->buffer;
    c->partial = total % sizeof *run->buffer;
    memcpy(c->rest, bytes + n * sizeof *run->buffer, c->partial);
    return connection_take(run, c, n);
}

static void connection_drop(struct run *run, size_t index)
{
    if (run->connections[index].trace) {
        connection_end(run, index);
        return;
    }
    close(run->connections[index].fd);
    run->connections[index] = run->connections[--run->count];
}

/* Whether what comes first from it says what a process could not send in time. */
static bool is_report(const struct connection *c)
{
    struct record_pipe_message m;
    return !c->heard && c->partial == 0 && recv(c->fd, &m, sizeof m, MSG_PEEK) == (ssize_t)sizeof m &&
           m.type == RECORD_PIPE_HELLO && m.flags == RECORD_PIPE_LOSS_REPORT;
}

/* Read the connections that are ready, from number `first` on: reports last, since a recorder that was stopped can find
 * a process's report beside its greeting. Where a process ends, its report comes before the end does: connections that
 * are still to be accepted are read first. */
static void read_ready(struct run *run, size_t first)
{
    for (int reports = 0; reports < 2; reports++)
        for (size_t i = run->count; i-- > first;) {
            struct connection *c = &run->connections[i];
            if (!c->ready || is_report(c) != (reports == 1))
                continue;
            c->ready = false;
            if (connection_read(run, c))
                continue;
            size_t known = run->count;
            while (first == 0 && c->trace && connection_new(run))
                run->connections[run->count - 1].ready = true;
            if (run->count > known)
                read_ready(run, known);
            connection_drop(run, i);
        }
}

/* --- the processes --- */

static void check_child(struct run *run)
{
    int status;
    if (run->child_over)
        return;
    if (passed_signal) {
        (void)kill(run->child, passed_signal);
        passed_signal = 0;
    }
    pid_t got = waitpid(run->child, &status, WNOHANG);
    if (got == run->child || (got < 0 && errno == ECHILD)) {
        run->child_over = true;
        run->over_ms = clock_ms(CLOCK_MONOTONIC);
        interrupts = 0;
        run->result->status = got == run->child ? status : 0;
    }
}

/* Put on the disk what is old enough. */
static void tick(struct run *run)
{
    struct err err;
    int64_t now = clock_ms(CLOCK_MONOTONIC);
    for (size_t i = run->count; i-- > 0;)
        if (recorder_trace_tick(run->connections[i].trace, now, &err)) {
            failed(run, 0, err.msg);
            connection_end(run, i);
        }
    if (run->child_over && run->count > 0 && !run->noticed && now - run->over_ms > NOTICE_MS) {
        char text[128];
        run->noticed = true;
        (void)snprintf(text, sizeof text,
                       "the program has ended; %zu process%s it started still record%s (^C stops waiting)", run->count,
                       run->count == 1 ? "" : "es", run->count == 1 ? "s" : "");
        if (run->options->say)
            run->options->say(text);
    }
}

/* One turn: whatever has come. */
static void serve(struct run *run)
{
    size_t count = run->count;
    struct pollfd fds[CONNECTIONS + 1] = {{.fd = count < CONNECTIONS ? run->listener : -1, .events = POLLIN}};
    for (size_t i = 0; i < count; i++)
        fds[i + 1] = (struct pollfd){.fd = run->connections[i].fd, .events = POLLIN};
    int ready = poll(fds, count + 1, run->ended_count ? 0 : POLL_MS);
    for (size_t i = 0; ready > 0 && i < count; i++)
        run->connections[i].ready = fds[i + 1].revents != 0;
    if (ready > 0)
        read_ready(run, 0);
    while (ready > 0 && fds[0].revents && connection_new(run))
        ;
    if (run->ended_count && (ready <= 0 || clock_ms(CLOCK_MONOTONIC) - run->ended[run->ended_first].ms > ENDED_MS))
        finish_one(run);
}

/* Until the program and every process that records have ended. A second ^C (or SIGTERM, SIGHUP), or the first one after
 * the end of the program, stops the wait. */
static void serve_all(struct run *run)
{
    bool last_look = false;
    while (!run->child_over || run->count > 0 || !last_look) {
        bool over = run->child_over;
        serve(run);
        check_child(run);
        tick(run);
        last_look = over; /* a process that connected just before the end has been accepted by now */
        if (interrupts >= (run->child_over ? 1 : 2)) {
            run->result->stopped = true;
            run->result->left_running = !run->child_over;
            break;
        }
    }
    while (run->count > 0)
        connection_end(run, run->count - 1);
    give_reports(run, true);
    while (run->ended_count > 0)
        finish_one(run);
}

static int run_all(struct run *run, struct err *err)
{
    static const int ours[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction old[4], act = {.sa_handler = on_signal};
    run->listener = socket_listen(run->socket_name, err);
    if (run->listener < 0 || start(run->options, run->socket_name, &run->child, err))
        return -1;
    run->result->started = true;
    for (int i = 0; i < 4; i++)
        sigaction(ours[i], &act, &old[i]);
    serve_all(run);
    for (int i = 0; i < 4; i++)
        sigaction(ours[i], &old[i], NULL);
    return 0;
}

/* Whether what is recorded can be written, before anything is run. A descriptor that keeps others from it in *claim. */
static int try_output(const struct recorder_options *options, int *claim, struct err *err)
{
    char path[RECORDER_TRACE_PATH];
    if (recorder_trace_path(output_of(options), getpid(), false, path, err) || output_try(path, options->force, err))
        return -1;
    *claim = socket_claim(path, err);
    return *claim < 0 ? -1 : 0;
}

int recorder_run(const struct recorder_options *options, struct recorder_result *result, struct err *err)
{
    *result = (struct recorder_result){0};
    struct run *run = mem_zalloc(1, sizeof *run, err);
    if (!run)
        return -1;
    run->options = options;
    run->result = result;
    run->listener = run->claim = -1;
    passed_signal = interrupts = 0;
    int rc = try_output(options, &run->claim, err) ? -1 : run_all(run, err);
    if (run->listener >= 0)
        close(run->listener);
    if (run->claim >= 0)
        close(run->claim);
    free(run);
    return rc;
}

void recorder_release(struct recorder_result *result)
{
    free(result->files);
    *result = (struct recorder_result){0};
}
