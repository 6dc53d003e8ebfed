/* offchip record: run a program on a GPU and record what leaves the chip. */
#include <inttypes.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "replay/derive/derive.h"
#include "replay/uvm/second_run.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/privilege.h"
#include "trace/base/regular_file.h"
#include "trace/base/units.h"
#include "trace/import/capture.h"
#include "trace/recorder/advice_plan.h"
#include "trace/recorder/recorder.h"
#include "trace/recorder/recorder_machine.h"
#include "trace/recorder/wire/cupti_metrics.h"

enum { EXIT_STOPPED = 130 }; /* as shells give for ^C */

static const char *output, *interface;
static const char *kernel, *launches, *apply, *with;
static bool force, unified_memory, counters, accesses, check, touches;
static bool call_sites, no_faults;
static int counter_group;
static int64_t limit, every;
static const struct opt options[] = {
    OPT_GROUP("What to record"),
    OPT("uvm", 0, OPT_FLAG, NULL, &unified_memory, "unified memory, kernels, copies, allocations (default)"),
    OPT("no-faults", 0, OPT_FLAG, NULL, &no_faults,
        "--uvm: without the single faults, replays and evictions of the driver's own event queue"),
    OPT("counters", 0, OPT_FLAG, NULL, &counters, "hardware counters of every kernel"),
    OPT("counter-group", 0, OPT_CHOICE, CUPTI_METRICS_GROUPS, &counter_group, "what one recording counts (default l2)"),
    OPT("accesses", 0, OPT_FLAG, NULL, &accesses,
        "every warp's accesses to global memory; kernels run much slower (needs compute-sanitizer)"),
    OPT("touches", 0, OPT_FLAG, NULL, &touches,
        "the pages that each launch reads and writes first (needs what --accesses needs)"),
    OPT("interface", 'i', OPT_TEXT, "IF", &interface,
        "PCIe packets that NetTLP adapters send over network interface IF, until ^C"),
    OPT("check", 0, OPT_FLAG, NULL, &check, "say what this machine has for recording, and how to get what is missing"),
    OPT_GROUP("How much of it"),
    OPT("kernel", 0, OPT_TEXT, "REGEX", &kernel, "--counters, --accesses, --touches: only kernels whose name matches"),
    OPT("launches", 0, OPT_TEXT, "A..B", &launches, "--counters: only launches A to B of those kernels, from 0"),
    {"every", 0, OPT_INT, "N", &every, "--accesses: of one thread block in N; --counters: of one launch in N", 1,
     1000000},
    {"limit", 0, OPT_INT, "N", &limit,
     "--accesses: keep N warp accesses of a process, count the rest (default 1000000)", 1, INT64_MAX},
    OPT_GROUP("The program"),
    OPT("apply", 0, OPT_TEXT, "PLAN", &apply,
        "give the advice and prefetches of a plan to the program's managed memory"),
    OPT("call-sites", 0, OPT_FLAG, NULL, &call_sites,
        "also where in the program each managed allocation was called for, for plans"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "FILE", &output, "trace to write; %p: process, %h: host (default offchip.db)"),
    OPT("with", 0, OPT_TEXT, "TRACE", &with,
        "--touches, --accesses: add them to this recording of the same program's unified memory"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace FILE if it exists"),
    {0},
};

/* --- --check: what this machine has for recording, what is missing, and how to get it --- */

enum { LEAST_UVM = 60, LEAST_COUNTERS = 70, CAP_NET_RAW_BIT = 13 };

struct check {
    struct recorder_machine machine;
    struct recorder_libraries parts[PARTS];
};

__attribute__((format(printf, 2, 3))) static void row(const char *what, const char *format, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    printable_print(stdout, "%-13s%s\n", what, text);
}

static void say_driver(const struct recorder_machine *machine)
{
    if (!machine->cuda)
        row("driver", "missing: %s; recording needs an NVIDIA GPU and its driver", machine->why);
    else if (!machine->driver)
        row("driver", "CUDA %d.%d, but %s", machine->cuda / 1000, machine->cuda % 1000 / 10, machine->why);
    else
        row("driver", "CUDA %d.%d%s%s", machine->cuda / 1000, machine->cuda % 1000 / 10,
            machine->kernel[0] ? ", module " : "", machine->kernel);
}

static void say_gpus(const struct recorder_machine *machine)
{
    const struct recorder_gpu *g = &machine->gpus[0];
    char bytes[64], more[48] = "";
    if (machine->gpu_count == 0) {
        row("GPU", "none");
        return;
    }
    if (machine->gpu_count > 1)
        (void)snprintf(more, sizeof more, "; %d GPUs", machine->gpu_count);
    row("GPU", "%s, compute capability %d.%d, %d multiprocessors, %s%s%s", g->name, g->capability / 10,
        g->capability % 10, g->sms, units_human_bytes((double)g->memory_bytes, bytes, sizeof bytes), more,
        g->mig ? "; a MIG instance" : "");
}

/* What will be taken, and what else is there. */
static void say_part(const struct check *c, enum recorder_part part, const char *name)
{
    struct err err = {""};
    const struct recorder_library *l = recorder_libraries_choose(&c->parts[part], part, &c->machine, false, &err);
    char others[400] = "", version[24] = "";
    if (!l) {
        row(name, c->parts[part].count ? "%s" : "missing: %s",
            c->parts[part].count ? err.msg : recorder_libraries_how(part));
        return;
    }
    for (int i = 0; i < c->parts[part].count; i++) {
        const struct recorder_library *o = &c->parts[part].found[i];
        if (o != l)
            (void)mem_add_text(others, sizeof others, "%s%d.%d %s", *others ? ", " : "; also ", o->cuda / 1000,
                               o->cuda % 1000 / 10, o->from);
    }
    if (l->cuda)
        (void)snprintf(version, sizeof version, "%d.%d, ", l->cuda / 1000, l->cuda % 1000 / 10);
    row(name, "%s%s (%s)%s%s%s", version, l->path, l->from, l->good ? "" : ": ", l->good ? "" : l->why, others);
}

static bool say_uvm(const struct check *c)
{
    struct err err = {""};
    char path[PATH_MAX];
    int capability = recorder_machine_capability(&c->machine);
    const char *why = NULL;
    if (!c->machine.driver)
        why = "there is no GPU to record";
    else if (c->machine.wsl)
        why = "WSL does not report unified memory";
    else if (capability < LEAST_UVM)
        why = "unified memory moves by page faults from compute capability 6.0 on";
    else if (recorder_find_library(false, path, sizeof path, &err))
        why = err.msg;
    else if (!recorder_libraries_choose(&c->parts[PART_CUPTI], PART_CUPTI, &c->machine, false, &err))
        why = "it needs CUPTI";
    row("record", "%s%s", why ? "no: " : "yes", why ? why : "");
    return !why;
}

static void say_counters(const struct check *c)
{
    struct err err = {""};
    const char *why = NULL;
    if (!c->machine.driver)
        why = "there is no GPU to record";
    else if (recorder_machine_capability(&c->machine) < LEAST_COUNTERS)
        why = "the range profiler begins with compute capability 7.0";
    else if (!recorder_libraries_choose(&c->parts[PART_CUPTI], PART_CUPTI, &c->machine, true, &err))
        why = "it needs a CUPTI of CUDA 12.6 or later (before 13 for Volta)";
    else if (!c->machine.counters_for_all)
        why = "counters are for administrators here: the driver's option NVreg_RestrictProfilingToAdminUsers=0 opens "
              "them, or record as root";
    row("--counters", "%s%s", why ? "no: " : "yes", why ? why : "");
}

static void say_accesses(const struct check *c)
{
    struct err err = {""};
    char path[PATH_MAX];
    const char *why = NULL;
    if (!c->machine.driver)
        why = "there is no GPU to record";
    else if (recorder_machine_capability(&c->machine) < LEAST_COUNTERS)
        why = "compute-sanitizer begins with compute capability 7.0";
    else if (!recorder_libraries_choose(&c->parts[PART_SANITIZER], PART_SANITIZER, &c->machine, false, &err))
        why = "it needs compute-sanitizer";
    else if (recorder_find_library(true, path, sizeof path, &err) || recorder_find_patch(path, sizeof path, &err))
        why = err.msg;
    row("--accesses", "%s%s", why ? "no: " : "yes; so --touches", why ? why : "");
}

/* Whether packets may be captured, as found at the start: by root, or by the capability on the program. */
static bool capturing;

static bool may_capture(void)
{
    static const char effective[] = "CapEff:";
    char line[256];
    return regular_file_line("/proc/self/status", effective, line, sizeof line) &&
           strtoull(line + strlen(effective), NULL, 16) >> CAP_NET_RAW_BIT & 1;
}

static void say_beware(const struct check *c)
{
    const char *set = getenv("CUDA_INJECTION64_PATH"), *device = getenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC");
    const struct recorder_gpu *g = &c->machine.gpus[0];
    bool beware = false;
    const struct {
        bool is;
        const char *text;
    } all[] = {
        {c->machine.mps,
         "the multi-process service (MPS) runs: CUPTI refuses unified memory beside it; stop it for a recording"},
        {g->mig, "MIG instances refuse unified-memory records: record on a whole GPU"},
        {g->page_tables,
         "the GPU reads all memory through the host's page tables (ATS): CUPTI reports managed memory only"},
        {g->pageable && !g->page_tables,
         "the GPU reaches memory of malloc() by page faults (HMM), which CUPTI does not report"},
        {set && *set, "CUDA_INJECTION64_PATH is set: another tool wants to be loaded; unset it"},
        {device && strcmp(device, "1") == 0,
         "CUDA_MANAGED_FORCE_DEVICE_ALLOC=1 keeps managed memory on the device: no faults; unset it"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is) {
            row(beware ? "" : "beware", "%s", all[i].text);
            beware = true;
        }
    if (!beware && c->machine.gpu_count)
        row("beware", "nothing: no setting is known to disturb a recording");
}

/* program: what is to be recorded, may be NULL. Returns an exit status: 0 if unified memory can be recorded. */
static int look_around(const char *program)
{
    static struct check c;
    struct err err = {""};
    recorder_machine_look(&c.machine, recorder_machine_root());
    for (int p = 0; p < PARTS; p++)
        if (recorder_libraries_find(&c.parts[p], (enum recorder_part)p, program, recorder_machine_root(), &err))
            return cmd_fail(EXIT_DATA, "%s", err.msg);
    say_driver(&c.machine);
    say_gpus(&c.machine);
    say_part(&c, PART_CUPTI, "CUPTI");
    say_part(&c, PART_SANITIZER, "Sanitizer");
    bool can = say_uvm(&c);
    say_counters(&c);
    say_accesses(&c);
    row("--interface", "%s", capturing ? "yes" : "no: capturing needs root, or setcap cap_net_raw,cap_net_admin+ep");
    say_beware(&c);
    for (int p = 0; p < PARTS; p++)
        recorder_libraries_release(&c.parts[p]);
    return can ? EXIT_DONE : EXIT_DATA;
}

/* --- --touches: a recording of accesses made into first touches --- */

/* Replace the recording of accesses in `path` by its first touches as a program of pages. Origin, losses and
 * completeness stay; the touched stretches become allocations. -1 with *err set: path is unchanged. */
static int keep_touches(const char *path, struct err *err)
{
    struct store *in = store_open(path, err);
    struct store *out = in ? store_create(path, OUTPUT_REPLACE, cmd_line(), err) : NULL;
    struct derive_source source = {.store = in, .name = path};
    struct derive_options o = {.last = UINT64_MAX};
    struct program_counts counts = {0};
    int rc = out ? 0 : -1;
    if (rc == 0)
        rc = recording_copy_facts(in, out, err) || derive_touches(&source, out, &o, &counts, err) ? -1 : 0;
    if (rc == 0)
        rc = store_complete(in) ? store_finish(out, err) : store_keep(out, err);
    store_close(out);
    store_close(in);
    return rc;
}

/* --- a program --- */

static void say_file(const struct recorder_trace_summary *file)
{
    char lost[64] = "";
    if (file->dropped)
        (void)snprintf(lost, sizeof lost, ", %llu lost", (unsigned long long)file->dropped);
    const char *state = file->complete ? ""
                        : file->cut    ? "; incomplete: its end was not recorded (offchip verify says what is missing)"
                        : file->ended  ? "; incomplete"
                                       : "; incomplete, the program did not end in good order";
    cmd_say("%s: process %lld, %llu records%s%s", file->path, (long long)file->process,
            (unsigned long long)file->records, lost, state);
    struct err err;
    struct store *store = apply && file->path[0] ? store_open(file->path, &err) : NULL;
    const char *calls = store ? store_origin_get(store, "plan.calls") : NULL,
               *ns = store ? store_origin_get(store, "plan.calls_ns") : NULL;
    if (calls && ns)
        cmd_say("%s: the plan's calls: %s, %.3g ms (offchip info says which and when)", file->path, calls,
                strtod(ns, NULL) / 1e6);
    store_close(store);
}

/* "A..B", A not after B. */
static bool is_range(const char *text)
{
    char *dots, *end;
    const long long first = strtoll(text, &dots, 10);
    if (dots == text || strncmp(dots, "..", 2) != 0)
        return false;
    const long long last = strtoll(dots + 2, &end, 10);
    return end > dots + 2 && !*end && first >= 0 && first <= last;
}

/* NULL, or why these options do not go together. */
static const char *contradiction(void)
{
    regex_t regex;
    if (touches && (accesses || limit || every))
        return "--touches records each page once: it goes with --kernel, -o and -f only";
    if ((accesses || touches) && (unified_memory || counters))
        return "--accesses records accesses and nothing else: run the program once more with --uvm or --counters, into "
               "another file";
    if (apply && (accesses || touches))
        return "--apply measures what a plan changes: record it with --uvm or --counters";
    if (with && (!(touches || accesses) || output))
        return "--with adds to a recording what --touches or --accesses records: no other output goes with it";
    if (no_faults && (accesses || touches || (counters && !unified_memory)))
        return "--no-faults is for --uvm: nothing else records faults";
    if (call_sites && (accesses || touches))
        return "--call-sites is for --uvm and --counters";
    if (!accesses && (limit || (every && !counters)))
        return "--limit and --every are for --accesses, --every for --counters too";
    if (!accesses && !touches && !counters && kernel)
        return "--kernel is for --counters, --accesses and --touches";
    if (launches && (!counters || !is_range(launches)))
        return "--launches takes A..B, two numbers of launches from 0, and is for --counters";
    if (!kernel)
        return NULL;
    if (regcomp(&regex, kernel, REG_EXTENDED | REG_NOSUB))
        return "--kernel takes an extended regular expression";
    regfree(&regex);
    return NULL;
}

/* The recordings of accesses made into touches; false: one could not be, and is still one of accesses. */
static bool take_touches(const struct recorder_result *result)
{
    bool good = true;
    for (size_t i = 0; touches && !with && i < result->file_count; i++) {
        const struct recorder_trace_summary *f = &result->files[i];
        struct err err = {""};
        if (!f->path[0] || f->fatal || f->records == 0)
            continue;
        if (keep_touches(f->path, &err)) {
            (void)cmd_fail(EXIT_DATA, "%s; %s holds the accesses", err.msg, f->path);
            good = false;
        }
    }
    return good;
}

/* What processes have in common is said once. */
static void say_problem(const char *text)
{
    static char last[800];
    if (strncmp(text, last, sizeof last - 1) == 0)
        return;
    (void)snprintf(last, sizeof last, "%s", text);
    printable_print(stderr, "offchip: %s\n", text);
}

/* Report the result; returns the exit status. */
static int conclude(const struct recorder_result *result)
{
    bool recorded = false, fatal = false;
    for (size_t i = 0; i < result->file_count; i++) {
        fatal |= result->files[i].fatal;
        if (result->files[i].path[0]) {
            recorded = true;
            if (!with)
                say_file(&result->files[i]);
        }
    }
    bool killed = WIFSIGNALED(result->status);
    int status = killed ? 128 + WTERMSIG(result->status) : WEXITSTATUS(result->status); /* as shells have it */
    if (!take_touches(result))
        return EXIT_DATA;
    if (result->stopped) {
        cmd_say("stopped waiting%s", result->left_running ? "; the program runs on, unrecorded" : "");
        return result->failed ? EXIT_DATA : result->left_running ? EXIT_STOPPED : status;
    }
    if (killed)
        cmd_say("the program was ended by signal %d (%s)%s", WTERMSIG(result->status),
                strsignal(WTERMSIG(result->status)), recorded ? "" : "; nothing was recorded before that");
    else if (result->file_count == 0 && !result->failed)
        return cmd_fail(EXIT_DATA,
                        "nothing was recorded: the program (exit status %d) never initialised CUDA. Is it a CUDA "
                        "program, and does it find the driver (libcuda.so.1) and a GPU?",
                        status);
    if (result->failed || (fatal && result->file_count == 1) || !(recorded || killed))
        return cmd_fail(EXIT_DATA, "no usable recording (the program ended with status %d)", status);
    return status;
}

/* --- a second run of the program --- */

/* The second run's temporary path, in the folder of `first`. */
static int second_path(const char *first, char *path, size_t size, struct err *err)
{
    (void)snprintf(path, size, "%s.second-run", first);
    return access(path, F_OK) == 0 ? err_set(err, "%s exists and is in the way: move it", path) : 0;
}

/* Open the second run's trace and unlink it; NULL with *err set: there is none. */
static struct store *second_open(const struct recorder_result *result, struct err *err)
{
    struct store *store = NULL;
    if (result->file_count != 1 || !result->files[0].path[0] || result->failed || result->files[0].fatal ||
        result->stopped)
        err_set(err, "the second run was not recorded");
    else
        store = store_open(result->files[0].path, err);
    for (size_t i = 0; i < result->file_count; i++)
        if (result->files[i].path[0])
            (void)unlink(result->files[i].path);
    return store;
}

/* Replace the first run's trace by both runs joined. */
static int add_second(struct store *first, const struct recorder_result *result, struct err *err)
{
    struct store *second = second_open(result, err);
    struct store *out = second ? store_create(store_path(first), OUTPUT_REPLACE, cmd_line(), err) : NULL;
    int rc = out ? 0 : -1;
    if (rc == 0 && !store_complete(second))
        rc = err_set(err, "the second run is not whole: %s",
                     result->files[0].dropped ? "records of it were lost" : "its program did not end in good order");
    if (rc == 0)
        rc = second_run_join(first, second, touches, kernel != NULL, out, err);
    if (rc == 0)
        rc = store_complete(first) ? store_finish(out, err) : store_keep(out, err);
    store_close(out);
    store_close(second);
    return rc;
}

/* Run the program once more for its touches or accesses, which go into `with`; the exit status. */
static int record_with(const struct recorder_options *again)
{
    struct recorder_options o = *again;
    struct recorder_result result = {0};
    struct err err = {""};
    char path[PATH_MAX];
    int status = EXIT_DATA;
    struct store *first = store_open(with, &err);
    o.output = path;
    o.force = true;
    int rc = !first || second_run_check(first, &err) || second_path(with, path, sizeof path, &err) ||
             output_try(with, true, &err) || recorder_run(&o, &result, &err);
    if (rc == 0) {
        status = conclude(&result);
        rc = add_second(first, &result, &err);
    }
    if (rc)
        status = cmd_fail(EXIT_DATA, "%s; %s is as it was", err.msg, with);
    else
        cmd_say("%s: added %s: %llu records of process %lld", with, touches ? "page touches" : "accesses",
                (unsigned long long)result.files[0].records, (long long)result.files[0].process);
    store_close(first);
    recorder_release(&result);
    return status;
}

/* Run the program and record it; plan may be NULL. */
static int record(char **argv, const char *plan)
{
    struct recorder_result result;
    struct err err;
    char warning[300], group[16];
    const char *names = CUPTI_METRICS_GROUPS;
    for (int i = 0; i < counter_group; i++)
        names = strchr(names, '|') + 1;
    (void)snprintf(group, sizeof group, "%.*s", (int)strcspn(names, "|"), names);
    const bool driver = unified_memory || !(counters || accesses || touches);
    const struct recorder_options o = {
        .output = output ? output : getenv("OFFCHIP_OUTPUT"),
        .force = force,
        .unified_memory = driver,
        .cut = uvm_recording_ends_early,
        .faults = driver && !no_faults,
        .counters = counters,
        .counter_group = group,
        .accesses = accesses,
        .touches = touches,
        .every = every,
        .kernel = kernel,
        .launches = launches,
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
    if (with)
        return record_with(&o);
    if (recorder_run(&o, &result, &err))
        (void)cmd_fail(EXIT_DATA, "%s", err.msg);
    else
        status = conclude(&result);
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
    const struct live_counts counts = live_counts(live);
    cmd_say("%s: %" PRIu64 " PCIe packets of %" PRIu64 " frames, %" PRIu64 " damaged, %" PRIu64 " dropped%s", to,
            packets, counts.frames, counts.damaged, counts.dropped, rc ? "; incomplete" : "");
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    return packets ? EXIT_DONE : EXIT_NOTHING;
}

/* Until SIGINT, SIGTERM or SIGHUP, or until the interface goes away; the exit status. */
static int record_packets(const char *to)
{
    struct err err = {""};
    const struct capture_options options_of_capture = {.tlp_offset = -1};
    struct live *live = live_open(interface, &options_of_capture, &err);
    if (privilege_drop(live ? &err : NULL) || !live) {
        live_close(live);
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    int status = cmd_writes(to, force);
    if (status) {
        live_close(live);
        return status;
    }
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
    capturing = may_capture();
    /* The program that is run keeps what is the user's own. */
    if (!interface && privilege_given() && privilege_drop(&err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (interface) {
        if (argc != 0)
            return cmd_usage("--interface records packets: no program is run with it");
        return record_packets(output ? output : "offchip.db");
    }
    if (check)
        return look_around(argc ? argv[0] : NULL);
    if (contradiction())
        return cmd_usage("%s", contradiction());
    accesses |= touches;
    if (argc == 0)
        return cmd_usage("record needs a program to run: offchip record [OPTIONS] -- CMD [ARGS]");
    cmd_reads(apply);
    char *plan = apply ? advice_plan_read(apply, &err) : NULL;
    if (apply && !plan)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int status = record(argv, plan);
    free(plan);
    return status;
}
const struct command cmd_record = {
    .name = "record",
    .summary = "run a program on a GPU and record what leaves the chip",
    .usage = "[OPTIONS] [--] CMD [ARGS]\n"
             "       offchip record --interface IF [OPTIONS]\n"
             "       offchip record --check [CMD]",
    .details = "No root and no change to CMD is needed. Each process that uses CUDA gets a file of its own. CMD's exit "
               "status is passed on when the recording is good.",
    .examples = "  offchip record -o app.db -- ./app --size 4096\n"
                "  offchip record --touches --with app.db -- ./app --size 4096\n"
                "  offchip record --check",
    .options = options,
    .run = run,
    .drops = true,
    .raw = true,
};
