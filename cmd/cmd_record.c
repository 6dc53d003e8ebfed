/* offchip record: run a program on a GPU and record what leaves the chip. */
#include <inttypes.h>
#include <regex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/record_views.h"
#include "trace/import/capture.h"
#include "trace/recorder/plan.h"
#include "trace/recorder/recorder.h"
#include "trace/recorder/wire/cupti_metrics.h"

/* Two runs of the program, where the chip needs them. */
#define TWICE "l2+sectors"

enum { EXIT_STOPPED = 130 }; /* as shells give for ^C */

static const char *output, *interface;
static const char *kernel, *platform, *apply;
static bool force, unified_memory, counters, accesses, check, requests, dram, touches;
static bool call_sites;
static int counter_group;
static int64_t limit, every;
static const struct opt options[] = {
    OPT("output", 'o', OPT_TEXT, "FILE", &output, "trace to write; %p: process, %h: host (default offchip.db)"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace FILE if it exists"),
    OPT("interface", 'i', OPT_TEXT, "IF", &interface, "PCIe packets from network interface IF until ^C"),
    OPT("uvm", 0, OPT_FLAG, NULL, &unified_memory,
        "unified memory, kernels, copies, allocations (default without --counters)"),
    OPT("counters", 0, OPT_FLAG, NULL, &counters, "hardware counters of every kernel"),
    OPT("counter-group", 0, OPT_CHOICE, CUPTI_METRICS_GROUPS "|" TWICE, &counter_group,
        "what one recording counts; see the manual page (default l2)"),
    OPT("accesses", 0, OPT_FLAG, NULL, &accesses, "every warp's accesses to global memory (needs compute-sanitizer)"),
    OPT("touches", 0, OPT_FLAG, NULL, &touches,
        "the pages that each launch touches, each page's first read and first write (needs what --accesses needs)"),
    {"every", 0, OPT_INT, "N", &every, "--accesses and its views: of one thread block in N only, and said so", 1,
     1000000},
    OPT("requests", 0, OPT_FLAG, NULL, &requests,
        "the requests over the link that the accesses would make, and their sizes (needs what --accesses needs)"),
    OPT("dram", 0, OPT_FLAG, NULL, &dram, "the requests that reach the GPU's memory (needs what --accesses needs)"),
    OPT("platform", 'p', OPT_TEXT, "NAME|FILE.ini", &platform, "--dram: whose L2 cache (default: as the GPU says)"),
    OPT("kernel", 0, OPT_TEXT, "REGEX", &kernel,
        "--accesses and its views: only kernels whose name, mangled or not, matches"),
    {"limit", 0, OPT_INT, "N", &limit,
     "--accesses and its views: keep N warp accesses of a process, count the rest (default 1000000)", 1, INT64_MAX},
    OPT("apply", 0, OPT_TEXT, "PLAN", &apply,
        "give the advice and prefetches of a plan to the program's managed memory"),
    OPT("call-sites", 0, OPT_FLAG, NULL, &call_sites,
        "where in the program each managed allocation was called for, which a plan may name"),
    OPT("check", 0, OPT_FLAG, NULL, &check, "say what this machine has for recording, and how to get what is missing"),
    {0},
};

/* What shells make of it. */
static int target_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say_file(const struct recorder_trace_summary *file)
{
    char lost[64] = "";
    if (file->dropped)
        (void)snprintf(lost, sizeof lost, ", %llu lost", (unsigned long long)file->dropped);
    const char *state = file->complete ? ""
                        : file->ended  ? "; incomplete"
                                       : "; incomplete, the program did not end in good order";
    cmd_say("%s: process %lld, %llu records%s%s", file->path, (long long)file->process,
            (unsigned long long)file->records, lost, state);
}

/* NULL, or why these options do not go together. */
static const char *contradiction(void)
{
    regex_t regex;
    if (touches && (requests || dram || accesses || limit || every))
        return "--touches records each page once: it goes with --kernel, -o and -f only";
    if (requests && dram)
        return "--requests and --dram are two views of accesses: record with --accesses, and derive both from it";
    if (!dram && platform)
        return "--platform is for --dram";
    if ((accesses || requests || dram || touches) && (unified_memory || counters))
        return "--accesses records accesses and nothing else: run the program once more with --uvm or --counters, into "
               "another file";
    if (apply && (accesses || requests || dram || touches))
        return "--apply measures what a plan changes: record it with --uvm or --counters";
    if (call_sites && (accesses || requests || dram || touches))
        return "--call-sites is for --uvm and --counters";
    if (!accesses && !requests && !dram && (limit || every))
        return "--limit and --every are for --accesses, --requests and --dram";
    if (!accesses && !requests && !dram && !touches && kernel)
        return "--kernel is for --accesses, --touches, --requests and --dram";
    if (!kernel)
        return NULL;
    if (regcomp(&regex, kernel, REG_EXTENDED | REG_NOSUB))
        return "--kernel takes an extended regular expression";
    regfree(&regex);
    return NULL;
}

/* The recordings of accesses made into what was asked for; false: one could not be, and is still one of accesses. */
static bool take_views(const struct recorder_result *result)
{
    bool good = true;
    enum record_view view = touches    ? RECORD_VIEW_TOUCHES
                            : requests ? RECORD_VIEW_REQUESTS
                            : dram     ? RECORD_VIEW_DRAM
                                       : RECORD_VIEW_NONE;
    for (size_t i = 0; view && i < result->file_count; i++) {
        const struct recorder_trace_summary *f = &result->files[i];
        struct err err = {""};
        if (!f->path[0] || f->fatal || f->records == 0)
            continue;
        if (record_views_make(f->path, view, platform, cmd_line(), &err)) {
            (void)cmd_fail(EXIT_DATA, "%s; %s holds the accesses", err.msg, f->path);
            good = false;
        }
    }
    return good;
}

static void say_problem(const char *text)
{
    printable_print(stderr, "offchip: %s\n", text);
}

/* Say what came of it; the exit status. */
static int conclude(const struct recorder_result *result)
{
    bool recorded = false, fatal = false;
    for (size_t i = 0; i < result->file_count; i++) {
        fatal |= result->files[i].fatal;
        if (result->files[i].path[0]) {
            recorded = true;
            say_file(&result->files[i]);
        }
    }
    int status = target_status(result->status);
    if (!take_views(result))
        return EXIT_DATA;
    if (result->stopped) {
        cmd_say("stopped waiting%s", result->left_running ? "; the program runs on, unrecorded" : "");
        return result->failed ? EXIT_DATA : result->left_running ? EXIT_STOPPED : status;
    }
    bool killed = WIFSIGNALED(result->status);
    if (killed)
        cmd_say("the program was ended by signal %d (%s)%s", WTERMSIG(result->status),
                strsignal(WTERMSIG(result->status)), recorded ? "" : "; nothing was recorded before that");
    else if (result->file_count == 0 && !result->failed)
        return cmd_fail(EXIT_DATA,
                        "nothing was recorded: the program (exit status %d) never initialised CUDA. Is it a CUDA "
                        "program, and does it find the driver (libcuda.so.1) and a GPU?",
                        status);
    if (result->failed || (fatal && result->file_count == 1) || !(recorded || killed))
        return cmd_fail(EXIT_DATA, "the recording is not good (the program's exit status was %d)", status);
    return status;
}

/* The second run, of the sectors, if the first did not count them; the exit status. */
static int record_again(const struct recorder_options *first, const struct recorder_result *done, int status)
{
    struct recorder_options o = *first;
    struct recorder_result result;
    struct err err = {""};
    char path[sizeof done->files[0].path + 16];
    int lacks = record_lacks_sectors(done->files[0].path, &err);
    if (lacks <= 0)
        return lacks < 0 ? cmd_fail(EXIT_DATA, "%s", err.msg) : status;
    (void)snprintf(path, sizeof path, "%s.sectors", done->files[0].path);
    o.output = path;
    o.counter_group = "sectors";
    cmd_say("the program runs once more, for the sectors");
    int rc = recorder_run(&o, &result, &err);
    if (rc == 0 && (result.file_count != 1 || !result.files[0].path[0] || result.failed))
        rc = err_set(&err, "the second run was not recorded");
    if (rc == 0)
        rc = record_join(done->files[0].path, result.files[0].path, cmd_line(), &err);
    if (result.file_count == 1 && result.files[0].path[0])
        (void)unlink(result.files[0].path);
    recorder_release(&result);
    return rc ? cmd_fail(EXIT_DATA, "%s; %s holds the first run only", err.msg, done->files[0].path) : status;
}

/* Run the program and record it; plan may be NULL. */
static int record(char **argv, const char *plan)
{
    struct recorder_result result;
    struct err err;
    char warning[300], group[16];
    const char *names = CUPTI_METRICS_GROUPS "|" TWICE;
    for (int i = 0; i < counter_group; i++)
        names = strchr(names, '|') + 1;
    (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(names, "|"), names);
    bool twice = strcmp(group, TWICE) == 0;
    const struct recorder_options o = {
        .output = output ? output : getenv("OFFCHIP_OUTPUT"),
        .force = force,
        .unified_memory = unified_memory || !(counters || accesses),
        .counters = counters,
        .counter_group = twice ? "l2" : group,
        .accesses = accesses,
        .touches = touches,
        .every = every,
        .kernel = kernel,
        .limit = limit,
        .call_sites = call_sites,
        .plan = plan,
        .command_line = cmd_line(),
        .argv = argv,
        .say = say_problem,
    };
    if (recorder_check(&o, warning, sizeof warning, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (warning[0])
        printable_print(stderr, "offchip: warning: %s\n", warning);
    int status = EXIT_DATA;
    if (recorder_run(&o, &result, &err))
        (void)cmd_fail(EXIT_DATA, "%s", err.msg);
    else {
        status = conclude(&result);
        if (twice && result.file_count == 1 && !result.failed && !result.stopped && result.files[0].path[0])
            status = record_again(&o, &result, status);
    }
    recorder_release(&result);
    return status;
}

/* --- packets of a network interface --- */

static atomic_int stop;

enum { SIGNALS = 3 };
static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[SIGNALS];

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop, 1);
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(numbers[i], &before[i], NULL);
}

/* ^C ends the capture, a second one the program. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(numbers[i], &action, &before[i]);
}

static uint64_t packets_of(const char *path)
{
    struct err err;
    struct store *store = store_open(path, &err);
    int stream = store ? store_stream_find(store, "tlp") : -1;
    uint64_t n = stream >= 0 ? store_stream(store, stream)->records : 0;
    store_close(store);
    return n;
}

static int keep_packets(const char *to, struct live *live, struct store *store)
{
    struct err err = {""};
    int rc = store_origin(store, "interface", interface, &err);
    if (rc == 0)
        rc = live_run(live, store, &stop, &err);
    if (rc == 0)
        rc = store_finish(store, &err);
    else
        (void)store_keep(store, NULL);
    store_close(store);
    uint64_t packets = packets_of(to);
    cmd_say("%s: %" PRIu64 " PCIe packets of %" PRIu64 " frames, %" PRIu64 " damaged, %" PRIu64 " dropped%s", to,
            packets, live_frames(live), live_damaged(live), live_dropped(live), rc ? "; incomplete" : "");
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    return packets ? EXIT_DONE : EXIT_NOTHING;
}

/* Until SIGINT, SIGTERM or SIGHUP, or until the interface goes away; the exit status. */
static int record_packets(const char *to)
{
    struct err err = {""};
    struct capture_options options_of_capture;
    struct nettlp_options o;
    nettlp_defaults(&o);
    if (nettlp_capture_options(&o, false, &options_of_capture, &err))
        return cmd_usage("%s", err.msg);
    int status = cmd_writes(to, force);
    if (status)
        return status;
    struct live *live = live_open(interface, &options_of_capture, &err);
    if (!live)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    struct store *store = store_create(to, force ? OUTPUT_REPLACE : OUTPUT_IN_PLACE, cmd_line(), &err);
    if (store) {
        catch_signals();
        cmd_say("recording PCIe packets on %s; ^C ends it", interface);
        status = keep_packets(to, live, store);
    } else {
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    live_close(live);
    return status;
}

static int run(int argc, char **argv)
{
    struct err err;
    if (interface) {
        if (argc != 0)
            return cmd_usage("--interface records packets: no program is run with it");
        return record_packets(output ? output : "offchip.db");
    }
    if (check)
        return cmd_record_check(argc ? argv[0] : NULL);
    if (contradiction())
        return cmd_usage("%s", contradiction());
    accesses |= requests || dram || touches;
    if (argc == 0)
        return cmd_usage("record needs a program to run: offchip record [OPTIONS] -- CMD [ARGS]");
    if (platform && record_views_platform(platform, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_reads(apply);
    char *plan = apply ? plan_read(apply, &err) : NULL;
    if (apply && !plan)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int status = record(argv, plan);
    free(plan);
    return status;
}
const struct command cmd_record = {
    .name = "record",
    .summary = "run a program on a GPU and record what leaves the chip",
    .usage = "[-o FILE] [--uvm] [--counters] [-f] [--] CMD [ARGS]\n"
             "       offchip record --accesses [--kernel REGEX] [--limit N] [-o FILE] [--] CMD [ARGS]\n"
             "       offchip record --touches [--kernel REGEX] [-o FILE] [--] CMD [ARGS]\n"
             "       offchip record --requests|--dram [--kernel REGEX] [--limit N] [-o FILE] [--] "
             "CMD [ARGS]\n"
             "       offchip record --apply PLAN [-o FILE] [--] CMD [ARGS]\n"
             "       offchip record --interface IF [-o FILE] [-f]\n"
             "       offchip record --check [CMD]",
    .details = "Runs CMD with liboffchip_inject.so, which the CUDA driver loads into it, and writes\n"
               "what CUPTI reports: page faults and migrations of unified memory, kernels, copies,\n"
               "allocations, advice and prefetches; with --counters, hardware counters of every kernel\n"
               "(l2: requests and sectors to host memory, DRAM sectors; pcie: bytes on the link).\n"
               "No root and no change to the program is needed. Each process that uses CUDA gets a file\n"
               "of its own. CMD's exit status is passed on when the recording is good.\n\n"
               "With --accesses, records every access of each warp to global memory, with its kernel and\n"
               "the allocations, by instrumenting the program with CUDA's compute-sanitizer: a\n"
               "program that each engine replays by its own view. Kernels run much\n"
               "slower, one after the other. --limit bounds the recording of each process; accesses past\n"
               "it are counted, and the recording then says that it is incomplete.\n\n"
               "With --touches, records which pages each launch touches, in the order of first touches: a\n"
               "program for 'replay uvm' that no limit cuts.\n\n"
               "With --requests or --dram, records accesses and stores what follows from them instead: the\n"
               "requests over the link, by size, as if the data were in host memory, or what reaches the\n"
               "GPU's memory through its L2. 'offchip info' calls such streams modelled, others captured.\n\n"
               "With --interface, records the PCIe packets that NetTLP adapters send over Ethernet, as\n"
               "they pass a network interface, until ^C. That needs the right to capture packets.",
    .examples = "  offchip record -o app.db -- ./app --size 4096\n"
                "  offchip record -o run-%p.db -- mpirun -n 2 ./app\n"
                "  offchip record --accesses --kernel 'bfs' --limit 5000000 -o accesses.db -- ./bfs graph.bel\n"
                "  offchip record --check\n"
                "  offchip record --touches -o touches.db -- ./app\n"
                "  offchip record --requests --kernel bfs -o requests.db -- ./bfs graph.bel\n"
                "  offchip record --interface eth1 -o pcie.db\n"
                "  offchip record --counters -o bfs.db -- ./bfs graph.bel",
    .options = options,
    .run = run,
    .raw = true,
};
