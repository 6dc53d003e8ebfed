#include "trace/recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/store/output.h"

enum { CONNECTIONS = 256, MESSAGES = 4096, POLL_MS = 20 };

/* One recorded process. */
struct connection {
    int fd;
    struct recorder_trace *trace;
    size_t told;    /* problems passed on */
    size_t partial; /* bytes of a message begun */
    char rest[sizeof(struct record_pipe_message)];
};

struct run {
    const struct recorder_options *options;
    struct recorder_result *result;
    char folder[64], socket_path[96];
    int listener;
    struct connection connections[CONNECTIONS];
    size_t count, seen;
    pid_t child;
    bool child_over;
    struct record_pipe_message buffer[MESSAGES + 1];
};

static volatile sig_atomic_t passed_signal;

static void pass_on(int number)
{
    passed_signal = number;
}

static void problem(struct recorder_result *result, int64_t process, const char *text)
{
    struct err ignored;
    char line[800];
    if (process > 0)
        (void)snprintf(line, sizeof line, "process %lld: %s", (long long)process, text);
    else
        (void)snprintf(line, sizeof line, "%s", text);
    if (mem_grow((void **)&result->problems, &result->problem_cap, result->problem_count + 1, sizeof *result->problems,
                 &ignored))
        return;
    char *copy = mem_strdup(line, &ignored);
    if (copy)
        result->problems[result->problem_count++] = copy;
}

/* --- the socket --- */

static int listen_start(struct run *run, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    (void)snprintf(run->folder, sizeof run->folder, "%s/offchip-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(run->folder)) /* mode 0700: nobody else can connect */
        return err_set(err, "%s: no folder for the recorder's socket: %s", run->folder, strerror(errno));
    (void)snprintf(run->socket_path, sizeof run->socket_path, "%s/socket", run->folder);
    memcpy(addr.sun_path, run->socket_path, strlen(run->socket_path));
    run->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (run->listener < 0 || bind(run->listener, (struct sockaddr *)&addr, sizeof addr) || listen(run->listener, 64))
        return err_set(err, "%s: the recorder's socket cannot be made: %s", run->socket_path, strerror(errno));
    return 0;
}

static void listen_end(struct run *run)
{
    if (run->listener >= 0)
        close(run->listener);
    (void)unlink(run->socket_path);
    (void)rmdir(run->folder);
}

static void connection_new(struct run *run)
{
    int fd = accept4(run->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct err err;
    if (fd < 0)
        return;
    const struct recorder_options *o = run->options;
    const struct recorder_trace_options options = {
        .path = o->output ? o->output : "offchip.db",
        .numbered = run->seen > 0,
        .force = o->force,
        .accesses = o->accesses,
        .command_line = o->command_line,
        .sysfs = o->sysfs ? o->sysfs : "/sys",
    };
    struct recorder_trace *trace = run->count < CONNECTIONS ? recorder_trace_new(&options, &err) : NULL;
    if (!trace) {
        problem(run->result, 0, "a process could not be recorded: too many at once, or no memory");
        run->result->failed = true;
        close(fd);
        return;
    }
    run->seen++;
    run->connections[run->count++] = (struct connection){.fd = fd, .trace = trace};
}

/* --- the processes --- */

static void connection_end(struct run *run, size_t index)
{
    struct connection *c = &run->connections[index];
    struct recorder_result *result = run->result;
    struct recorder_trace_summary summary;
    struct err err;
    for (const char *text; (text = recorder_trace_problem(c->trace, c->told)); c->told++)
        problem(result, 0, text);
    close(c->fd);
    if (recorder_trace_finish(c->trace, &summary, &err)) {
        problem(result, summary.process, err.msg);
        result->failed = true;
    }
    if (mem_grow((void **)&result->files, &result->file_cap, result->file_count + 1, sizeof summary, &err) == 0)
        result->files[result->file_count++] = summary;
    run->connections[index] = run->connections[--run->count];
}

/* Read what is there. False: the connection is over. */
static bool connection_read(struct run *run, struct connection *c)
{
    struct err err;
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
    if (recorder_trace_put(c->trace, run->buffer, n, &err)) {
        problem(run->result, 0, err.msg);
        run->result->failed = true;
        return false;
    }
    return true;
}

/* What the injected library is told through the environment. */
struct told {
    char library[PATH_MAX], tool[PATH_MAX], patch[PATH_MAX], want[64], limit[24];
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
    else if (o->accesses ? recorder_find_sanitizer(told->tool, sizeof told->tool, err)
                         : recorder_find_cupti(told->tool, sizeof told->tool, err))
        return -1;
    if (o->patch)
        (void)snprintf(told->patch, sizeof told->patch, "%s", o->patch);
    else if (o->accesses && recorder_find_patch(told->patch, sizeof told->patch, err))
        return -1;
    (void)snprintf(told->want, sizeof told->want, "%s%s%s", o->unified_memory ? "uvm," : "",
                   o->counters ? RECORD_PIPE_COUNTERS : "", o->counters ? o->counter_group : "");
    (void)snprintf(told->limit, sizeof told->limit, "%lld",
                   (long long)(o->limit ? o->limit : RECORD_PIPE_LIMIT_DEFAULT));
    return 0;
}

static void tell(const struct recorder_options *o, const struct told *told, const char *socket_path)
{
    setenv("CUDA_INJECTION64_PATH", told->library, 1);
    setenv(RECORD_PIPE_SOCKET, socket_path, 1);
    setenv(o->accesses ? RECORD_PIPE_SANITIZER : RECORD_PIPE_CUPTI, told->tool, 1);
    setenv(RECORD_PIPE_WANT, told->want, 1);
    if (!o->accesses)
        return;
    setenv(RECORD_PIPE_PATCH, told->patch, 1);
    setenv(RECORD_PIPE_KERNELS, o->kernel ? o->kernel : "", 1);
    setenv(RECORD_PIPE_LIMIT, told->limit, 1);
}

static int start_child(struct run *run, struct err *err)
{
    const struct recorder_options *o = run->options;
    struct told told = {.patch = ""};
    if (find_told(o, &told, err))
        return -1;
    int failure[2];
    if (pipe2(failure, O_CLOEXEC))
        return err_set(err, "no pipe: %s", strerror(errno));
    run->child = fork();
    if (run->child == 0) {
        tell(o, &told, run->socket_path);
        for (char *const *e = o->environment; e && *e; e++)
            putenv(*e);
        execvp(o->argv[0], o->argv);
        int code = errno;
        if (write(failure[1], &code, sizeof code) < 0)
            _exit(126);
        _exit(127);
    }
    close(failure[1]);
    int code = 0;
    if (run->child < 0) {
        close(failure[0]);
        return err_set(err, "no new process: %s", strerror(errno));
    }
    ssize_t n;
    while ((n = read(failure[0], &code, sizeof code)) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    if (n == (ssize_t)sizeof code) {
        (void)waitpid(run->child, NULL, 0);
        return err_set(err, "%s cannot be run: %s", o->argv[0], strerror(code));
    }
    return 0;
}

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
        run->result->status = got == run->child ? status : 0;
    }
}

/* One turn: whatever has come. */
static void serve(struct run *run)
{
    struct pollfd fds[CONNECTIONS + 1] = {{.fd = run->listener, .events = POLLIN}};
    size_t count = run->count;
    for (size_t i = 0; i < count; i++)
        fds[i + 1] = (struct pollfd){.fd = run->connections[i].fd, .events = POLLIN};
    if (poll(fds, count + 1, POLL_MS) <= 0)
        return;
    for (size_t i = count; i-- > 0;)
        if (fds[i + 1].revents && !connection_read(run, &run->connections[i]))
            connection_end(run, i);
    if (fds[0].revents)
        connection_new(run);
}

/* Until the program and every process that records have ended. A signal to this program after its end of the program
 * stops the wait for the others. */
static void serve_all(struct run *run)
{
    bool last_look = false;
    while (!run->child_over || run->count > 0 || !last_look) {
        bool over = run->child_over;
        serve(run);
        check_child(run);
        if (over) {
            last_look = true; /* a process that connected just before the end has been accepted by now */
            if (passed_signal)
                break;
        }
    }
    while (run->count > 0)
        connection_end(run, run->count - 1);
}

int recorder_run(const struct recorder_options *options, struct recorder_result *result, struct err *err)
{
    static const int ours[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction old[4], ignore = {.sa_handler = SIG_IGN}, pass = {.sa_handler = pass_on};
    *result = (struct recorder_result){0};
    const char *output = options->output ? options->output : "offchip.db";
    if (!strchr(output, '%') && output_try(output, options->force, err))
        return -1;
    struct run *run = mem_zalloc(1, sizeof *run, err);
    if (!run)
        return -1;
    run->options = options;
    run->result = result;
    run->listener = -1;
    passed_signal = 0;
    int rc = listen_start(run, err);
    if (rc == 0)
        rc = start_child(run, err);
    if (rc == 0) {
        result->started = true;
        for (int i = 0; i < 4; i++)
            sigaction(ours[i], i < 2 ? &ignore : &pass, &old[i]);
        serve_all(run);
        for (int i = 0; i < 4; i++)
            sigaction(ours[i], &old[i], NULL);
    }
    listen_end(run);
    free(run);
    return rc;
}

void recorder_release(struct recorder_result *result)
{
    for (size_t i = 0; i < result->problem_count; i++)
        free(result->problems[i]);
    free(result->problems);
    free(result->files);
    *result = (struct recorder_result){0};
}
