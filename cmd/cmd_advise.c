/* offchip advise: record a program, add its touches, compare: what to do about its memory on this machine. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "replay/compare/compare.h"
#include "replay/run/platform_use.h"
#include "replay/uvm/second_run.h"
#include "trace/base/mem.h"
#include "trace/base/program_folder.h"
#include "trace/recorder/advice_plan.h"
#include "trace/recorder/recorder.h"
#include "trace/store/store.h"

enum { RUNS = 7, RUNS_MOST = 1000, RUNS_MOST_S = 300, ARGS = 8, WAIT_NS = 20000 /* for a launch, besides (an H100) */ };

static const char *platform, *output, *kernel;
static bool force, no_touches, try_it;
static int64_t runs = RUNS;
static const struct opt options[] = {
    OPT_GROUP("What runs"),
    OPT("kernel", 0, OPT_TEXT, "REGEX", &kernel,
        "only touches of kernels whose name matches, where those of all take too long"),
    OPT("no-touches", 0, OPT_FLAG, NULL, &no_touches,
        "no run for the touches: other prefetchers and evictions stay estimates"),
    {"runs", 0, OPT_INT, "N", &runs,
     "time the program N times without the profiler, as it is and with its memory on the GPU, for 5 minutes at most "
     "(default 7; 0: no such runs)",
     0, RUNS_MOST},
    OPT("try", 0, OPT_FLAG, NULL, &try_it,
        "also run the program under the best plan, and print predicted beside measured"),
    OPT_GROUP("Machine and output"),
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that the recording names)"),
    OPT("output", 'o', OPT_TEXT, "TRACE", &output, "the recording (default advise.db)"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace TRACE, and the plan of --try"),
    {0}};

/* Cost of recording touches (an H200: 50 launches of 11.7 ms take 174 ms; 1.2 ms a launch that touches 64 MiB), and the
 * longest such run that is done unasked. */
enum { TOUCHES_SLOWER = 15, TOUCHES_LAUNCH_MS = 2, TOUCHES_MOST_S = 120 };

/* Offset of the program's input, which each run reads from there; -1: it is no file. */
static off_t input_start;

/* Nobody types for a run that prints nothing, and a pipe is read once. */
static void input_again(void)
{
    const int nothing = lseek(0, input_start, SEEK_SET) < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (nothing >= 0 && dup2(nothing, 0) == 0)
        close(nothing);
}

/* Path of this program, to start it again. In a bundle /proc names the loader; its starter is in the same folder. */
static const char *own_path(char *path, size_t size)
{
    char folder[PATH_MAX];
    (void)snprintf(path, size, "%s/offchip", program_folder(folder) ? folder : "");
    if (access(path, X_OK) != 0)
        (void)snprintf(path, size, "/proc/self/exe");
    return path;
}

/* As shells have it. */
static int exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A command of ours, with a program behind "--" or without one; again: what that prints is known. Its exit status.
 * Signals are the child's: we have nothing to do but to wait for it. */
static int run_step(const char *const *args, char *const *program, bool again)
{
    size_t n = 0, at = 0;
    while (program && program[n])
        n++;
    const char **argv = mem_zalloc(ARGS + n + 4, sizeof *argv, NULL);
    int status = 0;
    if (!argv)
        return cmd_fail(EXIT_DATA, "out of memory");
    argv[at++] = "offchip";
    while (*args)
        argv[at++] = *args++;
    if (opt_quiet)
        argv[at++] = "-q";
    if (program)
        argv[at++] = "--";
    for (size_t i = 0; i < n; i++)
        argv[at++] = program[i];
    (void)fflush(NULL);
    if (again)
        input_again();
    const pid_t child = fork();
    if (child == 0) {
        char path[PATH_MAX + 32];
        const int nowhere = again ? open("/dev/null", O_WRONLY) : -1;
        if (nowhere >= 0)
            (void)dup2(nowhere, 1);
        execv(own_path(path, sizeof path), (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    free(argv);
    if (child < 0)
        return cmd_fail(EXIT_DATA, "no new process: %s", strerror(errno));
    return exit_status(status);
}

static int add_kernel(void *seconds, const struct store_value *v, size_t n)
{
    *(double *)seconds += n > 4 ? (double)v[4].i / 1e9 : 0;
    return 0;
}

/* Count the recorded kernels and add up their time, whatever the exit status. */
static int64_t recorded(const char *trace, double *seconds)
{
    struct err err = {""};
    struct store *store = store_open(trace, &err);
    int64_t launches = 0;
    *seconds = 0;
    const bool is = store && store_row_count(store, "kernels", &launches, &err) == 0 &&
                    store_rows(store, "kernels", add_kernel, seconds, &err) == 0;
    store_close(store);
    return is ? launches : 0;
}

/* Whether a platform is of the recording's GPU: nobody waits for more runs to hear that none is. */
static bool is_described(const char *trace, struct err *err)
{
    struct platform_choice choice;
    struct store *store = store_open(trace, err);
    const bool is = store && platform_choice_recorded(store, &choice, err) >= 0;
    store_close(store);
    return is;
}

/* The verdict of a recording; plan: where the best answer of unified memory goes as a plan, NULL: nowhere. */
static int compare(const char *trace, const char *plan)
{
    const char *args[ARGS] = {"compare", trace, "--platform", platform};
    size_t n = platform ? 4 : 2;
    args[n] = plan ? "-o" : NULL;
    args[n + 1] = plan;
    args[n + 2] = plan && force ? "-f" : NULL;
    return run_step(args, NULL, false);
}

/* The recorded run. */
static struct {
    char *const *program;
    int status; /* as shells have it */
    time_t s;
} first;

/* How long the GPU was at work in a run that was not traced; of several processes in the one where that was longest. -1
 * with *err set: it does not say. */
static int run_once(const char *trace, const char *plan, double *ns, struct err *err)
{
    char path[PATH_MAX];
    struct recorder_result result;
    struct recorder_options o = {.output = path, .force = true, .untraced = true, .command_line = ""};
    o.most_s = 10 + 10 * (unsigned)first.s;
    o.plan = plan;
    o.argv = first.program;
    (void)snprintf(path, sizeof path, "%s.untraced", trace);
    input_again();
    int rc = recorder_run(&o, &result, err);
    const int status = exit_status(result.status);
    double s = *ns = 0;
    for (size_t i = 0; i < result.file_count; i++) {
        if (recorded(result.files[i].path, &s) && !result.files[i].dropped)
            *ns = fmax(*ns, s * 1e9);
        (void)unlink(result.files[i].path);
    }
    if (result.stopped || status == 128 + SIGINT)
        exit(128 + SIGINT);
    recorder_release(&result);
    if (rc == 0 && status != first.status)
        rc = err_set(err, "the program's exit status was %d, and %d when it ran again%s", first.status, status,
                     input_start < 0 ? " (input that is no file is read once)" : "");
    return rc || *ns > 0 ? rc : err_set(err, "the program never waits for its kernels");
}

/* Runs in turn, as the program is and under a plan, into u[0] and u[1], and a sentence. -1 with *err set: why not. */
static int run_pairs(const char *trace, const char *plan, const char *what, FILE *to, struct untraced u[2],
                     struct err *err)
{
    static double ns[2][RUNS_MOST];
    const time_t begin = time(NULL);
    double *at[] = {ns[0], ns[1]};
    char text[2][96];
    size_t n = 0, slower = 0;
    if (2 * first.s > RUNS_MOST_S)
        return err_set(err, "two more runs take longer than %d minutes", RUNS_MOST_S / 60);
    cmd_say("the program runs %lld times without the profiler, in turn as it is and %s (--runs)", (long long)runs,
            what);
    for (; n < (size_t)runs && time(NULL) - begin + 2 * first.s <= RUNS_MOST_S; n++) {
        if (run_once(trace, NULL, at[0]++, err) || run_once(trace, plan, at[1]++, err))
            return -1;
        slower += ns[1][n] > ns[0][n];
    }
    u[0] = untraced_of(ns[0], n);
    u[1] = untraced_of(ns[1], n);
    if (to == stdout || !opt_quiet)
        printable_print(to, "%s%s %s, as it is %s: slower in %zu of %zu pairs%s\n",
                        to == stdout ? "" : "offchip: ", what, untraced_say(&u[1], text[1], sizeof *text),
                        untraced_say(&u[0], text[0], sizeof *text), slower, n,
                        n < (size_t)runs ? "; 5 minutes were over" : "");
    return 0;
}

/* Whether there are rows that times of kernels go into; -1 with *err set: why not. */
static int has_rows(const char *trace, struct err *err)
{
    const struct compare_request request = {.spec = trace, .platform = platform, .threads = 1};
    struct compare_result result;
    bool usage, has = false;
    if (compare_run(&request, &result, &usage, err))
        return -1;
    for (size_t i = 0; i < result.count; i++)
        if (result.rows[i].mechanism == COMPARE_COPY) {
            has = result.rows[i].answered && !json_array_size(result.limits);
            err_set(err, "%s", result.rows[i].outcome.note_count ? result.rows[i].outcome.notes[0] : "");
        }
    compare_release(&result);
    return has ? 0 : -1;
}

/* How long the program takes by itself, and its kernels with their memory in place, into the recording; or why the
 * comparison has bounds instead. */
static void measure(const char *trace, double seconds, int64_t launches)
{
    struct untraced u[2];
    struct err err = {"--runs 0"};
    int rc = runs ? has_rows(trace, &err) : -1;
    rc = rc ? rc : run_pairs(trace, PLAN_BRING, "with its memory on the GPU", stderr, u, &err);
    if (rc == 0 && u[0].low_ns > seconds * 1e9 + (double)launches * WAIT_NS)
        rc = err_set(&err, "the program works longer between launches than its kernels run");
    if (rc || untraced_put(trace, UNTRACED_PLAIN, &u[0], &err) || untraced_put(trace, UNTRACED_RESIDENT, &u[1], &err))
        cmd_say("the kernels' times are bounded by the recording, not measured: %s", err.msg);
}

/* A run for its touches; without them the comparison has fewer answers, and says so. */
static void add_touches(const char *trace, double seconds, int64_t launches)
{
    const char *const args[ARGS] = {"record", "--touches", "--with", trace, kernel ? "--kernel" : NULL, kernel};
    const double more = seconds * TOUCHES_SLOWER + (double)launches * TOUCHES_LAUNCH_MS / 1e3;
    if (!kernel && more > TOUCHES_MOST_S) {
        cmd_say("recording its touches would take about %.0f minutes more: left out (--kernel REGEX: of some kernels, "
                "--kernel .: of all)",
                ceil(more / 60));
        return;
    }
    cmd_say("the program runs again to record the pages that it touches: about %.0f s longer (--kernel REGEX: of some "
            "kernels, --no-touches: of none)",
            ceil(more));
    if (run_step(args, first.program, true) != EXIT_DONE && first.status == 0)
        cmd_say("its touches were not recorded: the verdict is from the recording alone, with more estimates (~)");
}

/* Run the program under the best plan and compare with the prediction. */
static int try_plan(const char *plan, const char *tried)
{
    const char *const apply[ARGS] = {"record", "--apply", plan, "-o", tried, "-f"};
    struct untraced u[2];
    struct err err = {"--runs 0"};
    double seconds;
    cmd_say("the program runs under the plan %s", plan);
    (void)run_step(apply, first.program, true);
    if (!recorded(tried, &seconds))
        return cmd_fail(EXIT_DATA, "the run under the plan was not recorded");
    char *calls = runs ? advice_plan_read(plan, &err) : NULL;
    if (!calls || run_pairs(tried, calls, "under the plan", stdout, u, &err) ||
        untraced_put(tried, UNTRACED_PLANNED, &u[1], &err))
        cmd_say("the time under the plan is that of the recorded run, which the profiler slows: %s", err.msg);
    free(calls);
    return run_step((const char *const[]){"diff", plan, tried, NULL}, NULL, false);
}

static int advise(const char *trace, char *const *program)
{
    char plan[PATH_MAX], tried[PATH_MAX];
    double seconds;
    struct err err;
    (void)snprintf(plan, sizeof plan, "%s.plan.ini", trace);
    (void)snprintf(tried, sizeof tried, "%s.tried.db", trace);
    int status = cmd_writes(trace, force);
    if (!status && try_it)
        status = cmd_writes(plan, force) ?: cmd_writes(tried, force);
    if (status)
        return status;
    cmd_say("the program runs, recorded into %s", trace);
    const time_t begin = time(NULL);
    input_start = lseek(0, 0, SEEK_CUR);
    first.program = program;
    first.status = run_step((const char *const[]){"record", "-o", trace, "-f", NULL}, program, false);
    first.s = time(NULL) - begin;
    const int64_t launches = recorded(trace, &seconds);
    if (!launches && access(trace, F_OK) != 0) /* `record` said why */
        return first.status ? first.status : EXIT_DATA;
    if (!launches)
        return cmd_fail(first.status ? first.status : EXIT_DATA,
                        "no kernel was recorded, so there is nothing to advise on; recordings of the program's other "
                        "processes lie beside %s: offchip advise FILE",
                        trace);
    if (!platform && !is_described(trace, &err))
        return cmd_fail(EXIT_DATA, "%s; then: offchip advise --platform NAME %s", err.msg, trace);
    if (first.status)
        cmd_say("the program ended with status %d: the verdict is on what it did until then", first.status);
    measure(trace, seconds, launches);
    if (!no_touches)
        add_touches(trace, seconds, launches);
    status = compare(trace, try_it ? plan : NULL);
    if (try_it && status == EXIT_NOTHING) {
        cmd_say("leave unified memory as it is: there is no plan to try");
        return EXIT_DONE;
    }
    return status || !try_it ? status : try_plan(plan, tried);
}

static int run(int argc, char **argv)
{
    if (argc == 0)
        return cmd_usage("advise needs a recording, or a program to run: offchip advise [OPTIONS] -- CMD [ARGS]");
    struct err err = {""};
    struct store *store = argc == 1 ? store_open(argv[0], &err) : NULL; /* a program is none */
    store_close(store);
    if (!store)
        return advise(output ? output : "advise.db", argv);
    if (output || kernel || no_touches || try_it || force || runs != RUNS)
        return cmd_usage("%s is a recording, with which only --platform can be given", argv[0]);
    return compare(argv[0], NULL);
}

const struct command cmd_advise = {
    .name = "advise",
    .summary = "run a program, record it, and say how its data should reach the GPU",
    .usage = "[OPTIONS] [--] CMD [ARGS]\n"
             "       offchip advise [--platform NAME|FILE.ini] RECORDING",
    .details = "CMD runs several times: recorded, again for the pages that it touches, and timed without the profiler. "
               "It must do the same each time. That needs a GPU; the verdict on a recording does not.",
    .examples = "  offchip advise -- ./app --size 4096\n"
                "  offchip advise --try -o app.db -- python train.py\n"
                "  offchip advise --platform h200 t.db",
    .options = options,
    .run = run,
    .raw = true,
};
