/* offchip advise: record a program, add its touches, compare: what to do about its memory on this machine. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "trace/base/dir_list.h"
#include "trace/base/mem.h"
#include "trace/store/store.h"

static const char *platform, *output, *kernel;
static bool force, no_touches, try_it;
static const struct opt options[] = {
    OPT("platform", 'P', OPT_TEXT, "NAME|FILE.ini", &platform,
        "hardware numbers (default: of the GPU that the recording names)"),
    OPT("output", 'o', OPT_TEXT, "TRACE", &output, "the recording, which is kept (default advise.db)"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace TRACE, and the plan of --try, if they exist"),
    OPT("kernel", 0, OPT_TEXT, "REGEX", &kernel,
        "touches of kernels whose name matches only, where those of all take too long"),
    OPT("no-touches", 0, OPT_FLAG, NULL, &no_touches,
        "do not run the program again for its touches: other prefetchers and evictions stay estimates"),
    OPT("try", 0, OPT_FLAG, NULL, &try_it, "run the program once more under the best plan: predicted beside measured"),
    {0}};

/* How many times as long kernels take while their touches are recorded (an H200: 50 launches of 11.7 ms, 174 ms), and
 * what is left out unless it is asked for. */
enum { TOUCHES_SLOWER = 15, TOUCHES_MOST_S = 60 };

/* A command of ours, with a program behind "--" or without one. */
struct step {
    const char *args[16];
    size_t count;
};

static void add(struct step *step, const char *arg)
{
    step->args[step->count++] = arg;
}

/* This program, to start it again. What /proc calls a bundle's program is its loader; what starts that lies in the
 * folder. */
static const char *own_path(char *path, size_t size)
{
    char folder[PATH_MAX];
    (void)snprintf(path, size, "%s/offchip", program_folder(folder) ? folder : "");
    if (access(path, X_OK) != 0)
        (void)snprintf(path, size, "/proc/self/exe");
    return path;
}

/* Its exit status as shells have it. Signals are the child's: we have nothing to do but to wait for it. */
static int run_step(const struct step *step, char *const *program)
{
    size_t n = 0;
    while (program && program[n])
        n++;
    const char **argv = mem_zalloc(step->count + n + 5, sizeof *argv, NULL);
    int status = 0;
    if (!argv)
        return cmd_fail(EXIT_DATA, "out of memory");
    size_t at = 0;
    argv[at++] = "offchip";
    for (size_t i = 0; i < step->count; i++)
        argv[at++] = step->args[i];
    if (opt_quiet)
        argv[at++] = "-q";
    if (program)
        argv[at++] = "--";
    for (size_t i = 0; i < n; i++)
        argv[at++] = program[i];
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char path[PATH_MAX + 32];
        execv(own_path(path, sizeof path), (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    free(argv);
    if (child < 0)
        return cmd_fail(EXIT_DATA, "no new process: %s", strerror(errno));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int add_kernel(void *seconds, const struct store_value *v, size_t n)
{
    *(double *)seconds += n > 4 ? (double)v[4].i / 1e9 : 0;
    return 0;
}

/* Whether the program was recorded, whatever its own exit status; how long its kernels took. */
static bool recorded(const char *trace, double *seconds)
{
    struct err err = {""};
    struct store *store = store_open(trace, &err);
    int64_t launches = 0;
    *seconds = 0;
    const bool is = store && store_row_count(store, "kernels", &launches, &err) == 0 && launches > 0 &&
                    store_rows(store, "kernels", add_kernel, seconds, &err) == 0;
    store_close(store);
    return is;
}

/* The verdict of a recording; plan: where the best answer of unified memory goes as a plan, NULL: nowhere. */
static int compare(const char *trace, const char *plan)
{
    struct step step = {{"compare", trace}, 2};
    if (platform) {
        add(&step, "--platform");
        add(&step, platform);
    }
    if (plan) {
        add(&step, "-o");
        add(&step, plan);
        if (force)
            add(&step, "-f");
    }
    return run_step(&step, NULL);
}

/* A run for its touches; without them the comparison has fewer answers, and says so. */
static void add_touches(const char *trace, char *const *program)
{
    struct step step = {{"record", "--touches", "--with", trace}, 4};
    if (kernel) {
        add(&step, "--kernel");
        add(&step, kernel);
    }
    cmd_say("once more, for the pages that it touches%s%s%s (slower; --kernel REGEX takes those of some kernels, "
            "--no-touches none)",
            kernel ? ", by kernels that match '" : "", kernel ? kernel : "", kernel ? "'" : "");
    (void)run_step(&step, program);
}

/* Run the program under the best plan, beside what was predicted. */
static int try_plan(const char *plan, const char *tried, char *const *program)
{
    const struct step apply = {{"record", "--apply", plan, "-o", tried, "-f"}, 6};
    const struct step diff = {{"diff", plan, tried}, 3};
    double seconds;
    cmd_say("once more, under the plan %s", plan);
    (void)run_step(&apply, program);
    return recorded(tried, &seconds) ? run_step(&diff, NULL)
                                     : cmd_fail(EXIT_DATA, "the run under the plan was not recorded");
}

static int advise(const char *trace, char *const *program)
{
    char plan[PATH_MAX], tried[PATH_MAX];
    double seconds;
    (void)snprintf(plan, sizeof plan, "%s.plan.ini", trace);
    (void)snprintf(tried, sizeof tried, "%s.tried.db", trace);
    int status = cmd_writes(trace, force);
    if (!status && try_it)
        status = cmd_writes(plan, force) ?: cmd_writes(tried, force);
    if (status)
        return status;
    const struct step record = {{"record", "-o", trace, "-f"}, 4};
    cmd_say("the program runs, recorded into %s", trace);
    const int ended = run_step(&record, program);
    if (!recorded(trace, &seconds))
        return cmd_fail(ended ? ended : EXIT_DATA, "no kernel was recorded: there is nothing to advise on");
    if (ended)
        cmd_say("the program's exit status was %d: what follows is of what it did until then", ended);
    if (!no_touches && !kernel && seconds * TOUCHES_SLOWER > TOUCHES_MOST_S)
        cmd_say(
            "its touches would take about %.0f minutes and are left out: --kernel REGEX takes those of some kernels, "
            "--kernel . all",
            ceil(seconds * TOUCHES_SLOWER / 60));
    else if (!no_touches)
        add_touches(trace, program);
    status = compare(trace, try_it ? plan : NULL);
    if (try_it && status == EXIT_NOTHING) {
        cmd_say("leave unified memory as it is: there is no plan to try");
        return EXIT_DONE;
    }
    return status || !try_it ? status : try_plan(plan, tried, program);
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
    if (output || kernel || no_touches || try_it || force)
        return cmd_usage("%s is a recording: --platform alone goes with it", argv[0]);
    return compare(argv[0], NULL);
}

const struct command cmd_advise = {
    .name = "advise",
    .summary = "record a program and say what to do about its memory",
    .usage = "[-o TRACE] [-f] [--kernel REGEX] [--no-touches] [--try] [--platform P] [--] CMD [ARGS]\n"
             "       offchip advise [--platform NAME|FILE.ini] TRACE",
    .details = "On a machine with a GPU: runs CMD and records its unified memory, runs it again for the pages that it\n"
               "touches and adds them to the recording, and compares: what 'record', 'record --touches --with' and\n"
               "'compare' say, in this order. With --try, runs it a third time under the best plan and prints\n"
               "predicted beside measured, or says that there is none. Touches that would take more than a minute are\n"
               "left out. With a recording instead, its verdict alone, anywhere.",
    .examples = "  offchip advise -- ./app --size 4096\n"
                "  offchip advise --try -o app.db -- python train.py\n"
                "  offchip advise --platform h200 t.db",
    .options = options,
    .run = run,
    .raw = true,
};
