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
#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "replay/derive/derive.h"
#include "replay/uvm/second_run.h"
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

/* Two runs of the program, where the chip needs them. */
#define TWICE "l2+sectors"

enum { EXIT_STOPPED = 130 }; /* as shells give for ^C */

static const char *output, *interface;
static const char *kernel, *launches, *platform, *apply, *with;
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
    {"every", 0, OPT_INT, "N", &every,
     "--accesses and its views: of one thread block in N only; --counters: one launch in N", 1, 1000000},
    OPT("requests", 0, OPT_FLAG, NULL, &requests,
        "the requests over the link that the accesses would make, and their sizes (needs what --accesses needs)"),
    OPT("dram", 0, OPT_FLAG, NULL, &dram, "the requests that reach the GPU's memory (needs what --accesses needs)"),
    OPT("platform", 'p', OPT_TEXT, "NAME|FILE.ini", &platform, "--dram: whose L2 cache (default: as the GPU says)"),
    OPT("kernel", 0, OPT_TEXT, "REGEX", &kernel,
        "--counters, --accesses and its views: only kernels whose name, mangled or not, matches"),
    OPT("launches", 0, OPT_TEXT, "A..B", &launches, "--counters: only launches A to B of those kernels, from 0"),
    OPT("with", 0, OPT_TEXT, "TRACE", &with,
        "--touches, --accesses: add them to this recording of the same program's unified memory, checked"),
    {"limit", 0, OPT_INT, "N", &limit,
     "--accesses and its views: keep N warp accesses of a process, count the rest (default 1000000)", 1, INT64_MAX},
    OPT("apply", 0, OPT_TEXT, "PLAN", &apply,
        "give the advice and prefetches of a plan to the program's managed memory"),
    OPT("call-sites", 0, OPT_FLAG, NULL, &call_sites,
        "where in the program each managed allocation was called for, which a plan may name"),
    OPT("check", 0, OPT_FLAG, NULL, &check, "say what this machine has for recording, and how to get what is missing"),
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
    row("--accesses", "%s%s", why ? "no: " : "yes; so --touches, --requests and --dram", why ? why : "");
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
    if (!beware)
        row("beware", "nothing in the way");
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

/* --- --requests, --dram, --touches: a recording of accesses made into the stream that is asked for --- */

/* Ways of an L2 whose GPU says its size only: assumed. It hardly matters (fully associative and 16 ways differ by the
 * conflicts of strided arrays), and `derive dram` takes another number. */
enum { ASSUMED_WAYS = 16 };

/* The L2 of the platform, or of the recorded GPU. */
static int choose_l2(struct store *in, struct derive_options *o, char text[120], struct err *err)
{
    const char *said = store_origin_get(in, "gpu.0.l2_bytes");
    if (platform) {
        struct platform *p = platform_load(platform, err);
        if (!p)
            return -1;
        const struct gpu *gpu = platform_section_get(p, "gpu");
        o->l2_bytes = gpu->l2_bytes;
        o->l2_ways = gpu->l2_ways;
        (void)snprintf(text, 120, "%" PRId64 " bytes, %" PRId64 " ways, as %.40s", o->l2_bytes, o->l2_ways, p->name);
        platform_free(p);
        return 0;
    }
    o->l2_bytes = said ? strtoll(said, NULL, 10) : 0;
    o->l2_ways = ASSUMED_WAYS;
    if (o->l2_bytes < ASSUMED_WAYS * INT64_C(128))
        return err_set(err, "%s does not say how large the GPU's L2 is: --platform NAME says it", store_path(in));
    (void)snprintf(text, 120, "%" PRId64 " bytes, as the GPU says, %d ways, assumed", o->l2_bytes, ASSUMED_WAYS);
    return 0;
}

/* Requests by what they are and how large, in table origin: a request has whole sectors, at most a line. */
enum { SECTOR = 32, SECTORS = 4 };
struct histogram {
    uint64_t n[RECORD_KINDS][SECTORS + 1];
};

static int count_requests(struct store *out, struct histogram *h, struct err *err)
{
    int stream = store_stream_find(out, "requests");
    struct store_walk w = {0};
    while (stream >= 0 && store_walk_next(&w, out, stream, err))
        if (w.r->bytes > 0 && w.r->bytes % SECTOR == 0 && w.r->bytes <= (uint64_t)SECTOR * SECTORS)
            h->n[w.r->kind][w.r->bytes / SECTOR]++;
    return store_walk_end(&w);
}

static int dram_histogram(struct store *out, struct err *err)
{
    static const int kinds[] = {RECORD_DRAM_READ, RECORD_DRAM_WRITE, RECORD_DRAM_WRITEBACK};
    struct histogram h = {0};
    char key[64], text[32];
    if (store_flush(out, err) || count_requests(out, &h, err))
        return -1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int s = 1; s <= SECTORS; s++) {
            (void)snprintf(key, sizeof key, "dram_histogram.%s.%d", record_kinds[kinds[k]].name, s * SECTOR);
            (void)snprintf(text, sizeof text, "%" PRIu64, h.n[kinds[k]][s]);
            if (h.n[kinds[k]][s] && store_origin(out, key, text, err))
                return -1;
        }
    return 0;
}

static int derive(struct store *in, struct store *out, struct err *err)
{
    struct derive_source source = {.store = in, .name = store_path(in)};
    struct derive_options o = {.last = UINT64_MAX, .reuse = REUSE_NONE};
    struct program_counts counts = {0};
    char l2[120];
    if (touches)
        return derive_touches(&source, out, &o, &counts, err);
    if (requests)
        return store_origin(out, "derived", "requests", err) || store_origin(out, "reuse", "none", err) ||
                       derive_requests(&source, out, &o, &counts, err)
                   ? -1
                   : 0;
    if (choose_l2(in, &o, l2, err))
        return -1;
    return store_origin(out, "derived", "dram", err) || store_origin(out, "l2", l2, err) ||
                   derive_dram(&source, out, &o, &counts, err) || dram_histogram(out, err)
               ? -1
               : 0;
}

/* Replace the recording of accesses in `path` by a trace of what follows from it: first touches as a program of pages,
 * link requests and their sizes, or the DRAM requests behind an L2. What is said of the recording (origin, allocations,
 * what was left out or lost, whether it is complete) stays; touches have allocations of their own, the stretches that
 * they reach. -1 with *err set: path is as it was. */
static int make_view(const char *path, struct err *err)
{
    struct store *in = store_open(path, err);
    struct store *out = in ? store_create(path, OUTPUT_REPLACE, cmd_line(), err) : NULL;
    int rc = out ? 0 : -1;
    if (rc == 0)
        rc = recording_copy_facts(in, out, err) || (!touches && store_copy_table(in, out, "allocations", err)) ||
                     derive(in, out, err)
                 ? -1
                 : 0;
    if (rc == 0)
        rc = store_complete(in) ? store_finish(out, err) : store_keep(out, err);
    store_close(out);
    store_close(in);
    return rc;
}

/* --- --counter-group l2+sectors, for chips that do not count both in one pass: the counters of a second run of the
 * program, added to those of the first --- */

static const char counted_requests[] = "l2_sysmem_requests", counted_sectors[] = "l2_sysmem_sectors";

/* One counter of a run, launch by launch. */
struct launches {
    const char *counter;
    struct launch {
        char *kernel, *how;
        double value;
    } * items;
    size_t n, cap;
    struct err *err;
};

static int take_counter(void *ctx, const struct store_value *v, size_t n)
{
    struct launches *l = ctx;
    if (n < 5 || strcmp(v[1].s, l->counter) != 0)
        return 0;
    if (MEM_ADD(l->items, l->n, l->cap, l->err, (struct launch){.value = v[2].r}))
        return -1;
    struct launch *launch = &l->items[l->n - 1];
    launch->kernel = mem_strdup(v[0].s, l->err);
    launch->how = mem_strdup(v[4].s, l->err);
    return launch->kernel && launch->how ? 0 : -1;
}

static int launches_read(struct launches *l, struct store *store, const char *counter, struct err *err)
{
    *l = (struct launches){.counter = counter, .err = err};
    return store_rows(store, "counters", take_counter, l, err) ? -1 : 0;
}

static void launches_release(struct launches *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i].kernel);
        free(l->items[i].how);
    }
    free(l->items);
}

/* Whether the recording in `path` counted requests without sectors, so that a second run is of use. -1 with *err set if
 * it cannot be read. */
static int lacks_sectors(const char *path, struct err *err)
{
    struct launches has, lacks;
    struct store *store = store_open(path, err);
    if (!store)
        return -1;
    int rc = launches_read(&has, store, counted_requests, err) | launches_read(&lacks, store, counted_sectors, err);
    rc = rc ? -1 : has.n > 0 && lacks.n == 0;
    launches_release(&has);
    launches_release(&lacks);
    store_close(store);
    return rc;
}

static int compare(const struct launches *a, const struct launches *b, struct err *err)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (strcmp(a->items[i].kernel, b->items[i].kernel) != 0)
            return err_set(err, "the program did not do the same twice: launch %zu was of %.100s and then of %.100s", i,
                           a->items[i].kernel, b->items[i].kernel);
    return a->n == b->n ? 0
                        : err_set(err, "the program did not do the same twice: %zu launches were counted and then %zu",
                                  a->n, b->n);
}

struct adding {
    struct store *out;
    const struct launches *sectors;
    size_t n; /* added so far */
    struct err *err;
};

/* The counters of a launch stand together. */
static int copy_counter(void *ctx, const struct store_value *v, size_t n)
{
    struct adding *a = ctx;
    if (store_row(a->out, "counters", v, n, a->err))
        return -1;
    if (strcmp(v[1].s, counted_requests) != 0 || a->n >= a->sectors->n)
        return 0;
    const struct launch *launch = &a->sectors->items[a->n++];
    return STORE_ROW(a->out, "counters", a->err, v[0], STORE_V_TEXT(counted_sectors), STORE_V_REAL(launch->value),
                     STORE_V_TEXT("sectors"), STORE_V_TEXT(launch->how));
}

static int join(struct store *first, const struct launches *more, struct store *out, struct err *err)
{
    static const char *const tables[] = {"kernels", "allocations", "batches", "services"};
    struct adding adding = {.out = out, .sectors = more, .err = err};
    if (recording_copy_facts(first, out, err) || store_origin(out, "counter_group", "l2+sectors, two runs", err))
        return -1;
    if (recording_copy_tables(first, out, tables, sizeof tables / sizeof *tables, err))
        return -1;
    for (int s = 0; s < store_stream_count(first); s++)
        if (recording_copy_stream(first, out, s, err))
            return -1;
    return store_rows(first, "counters", copy_counter, &adding, err) ? -1 : 0;
}

/* Add the sectors that `two` counted to `first`, in place of it. Both must have launched the same kernels in the
 * same order; -1 with *err set if not: then `first` is as it was. */
static int join_runs(const char *first, struct store *two, struct err *err)
{
    struct launches a = {0}, b = {0};
    struct store *one = store_open(first, err), *out = NULL;
    int rc = one ? 0 : -1;
    if (rc == 0)
        rc = launches_read(&a, one, counted_requests, err) || launches_read(&b, two, counted_sectors, err) ||
                     compare(&a, &b, err)
                 ? -1
                 : 0;
    if (rc == 0 && !(out = store_create(first, OUTPUT_REPLACE, cmd_line(), err)))
        rc = -1;
    if (rc == 0)
        rc = join(one, &b, out, err);
    if (rc == 0)
        rc = store_complete(one) && store_complete(two) ? store_finish(out, err) : store_keep(out, err);
    launches_release(&a);
    launches_release(&b);
    store_close(out);
    store_close(one);
    return rc;
}

/* --- a program --- */

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
    struct err err;
    struct store *store = apply && file->path[0] ? store_open(file->path, &err) : NULL;
    const char *calls = store ? store_origin_get(store, "plan.calls") : NULL,
               *ns = store ? store_origin_get(store, "plan.calls_ns") : NULL;
    if (calls && ns)
        cmd_say("%s: the plan's calls: %s, %.3g ms (info says which and when)", file->path, calls, atof(ns) / 1e6);
    store_close(store);
}

/* "A..B", A not after B. */
static bool is_range(const char *text)
{
    long long first = -1, last = -1;
    int end = 0;
    return sscanf(text, "%lld..%lld%n", &first, &last, &end) == 2 && !text[end] && first >= 0 && first <= last;
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
    if (with && (!(touches || accesses) || requests || dram || output))
        return "--with adds to a recording what --touches or --accesses records: no other output goes with it";
    if (call_sites && (accesses || requests || dram || touches))
        return "--call-sites is for --uvm and --counters";
    if (!accesses && !requests && !dram && (limit || (every && !counters)))
        return "--limit and --every are for --accesses, --requests and --dram, --every for --counters too";
    if (!accesses && !requests && !dram && !touches && !counters && kernel)
        return "--kernel is for --counters, --accesses, --touches, --requests and --dram";
    if (launches && (!counters || !is_range(launches)))
        return "--launches takes A..B, two numbers of launches from 0, and is for --counters";
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
    for (size_t i = 0; (touches || requests || dram) && !with && i < result->file_count; i++) {
        const struct recorder_trace_summary *f = &result->files[i];
        struct err err = {""};
        if (!f->path[0] || f->fatal || f->records == 0)
            continue;
        if (make_view(f->path, &err)) {
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
            if (!with)
                say_file(&result->files[i]);
        }
    }
    bool killed = WIFSIGNALED(result->status);
    int status = killed ? 128 + WTERMSIG(result->status) : WEXITSTATUS(result->status); /* as shells have it */
    if (!take_views(result))
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
        return cmd_fail(EXIT_DATA, "the recording is not good (the program's exit status was %d)", status);
    return status;
}

/* --- a second run of the program --- */

/* Where it goes meanwhile: beside `first`. */
static int second_path(const char *first, char *path, size_t size, struct err *err)
{
    (void)snprintf(path, size, "%s.second-run", first);
    return access(path, F_OK) == 0 ? err_set(err, "%s is in the way: move it", path) : 0;
}

/* What it recorded, whose file goes as soon as it is open; NULL with *err set: there is none. */
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

/* The second run, of the sectors, if the first did not count them; the exit status. */
static int record_again(const struct recorder_options *first, const struct recorder_result *done, int status)
{
    struct recorder_options o = *first;
    struct recorder_result result = {0};
    struct err err = {""};
    char path[sizeof done->files[0].path + 16];
    int lacks = lacks_sectors(done->files[0].path, &err);
    if (lacks <= 0)
        return lacks < 0 ? cmd_fail(EXIT_DATA, "%s", err.msg) : status;
    o.output = path;
    o.force = true;
    o.counter_group = "sectors";
    int rc = second_path(done->files[0].path, path, sizeof path, &err);
    if (rc == 0) {
        cmd_say("the program runs once more, for the sectors");
        rc = recorder_run(&o, &result, &err);
    }
    struct store *second = rc ? NULL : second_open(&result, &err);
    rc = second ? join_runs(done->files[0].path, second, &err) : -1;
    store_close(second);
    recorder_release(&result);
    return rc ? cmd_fail(EXIT_DATA, "%s; %s holds the first run only", err.msg, done->files[0].path) : status;
}

/* Put the first run and what the second recorded in place of the first. */
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
        cmd_say("%s: with the %s of %llu records of process %lld", with, touches ? "page touches" : "accesses",
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
    accesses |= requests || dram || touches;
    if (argc == 0)
        return cmd_usage("record needs a program to run: offchip record [OPTIONS] -- CMD [ARGS]");
    struct platform *known = platform ? platform_load(platform, &err) : NULL;
    platform_free(known);
    if (platform && !known)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
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
    .usage = "[-o FILE] [--uvm] [--counters] [-f] [--] CMD [ARGS]\n"
             "       offchip record --accesses [--kernel REGEX] [--limit N] [-o FILE] [--] CMD [ARGS]\n"
             "       offchip record --touches [--kernel REGEX] [-o FILE] [--] CMD [ARGS]\n"
             "       offchip record --touches|--accesses --with TRACE [--kernel REGEX] [--] CMD [ARGS]\n"
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
               "program for 'replay uvm' that no limit cuts. With --with TRACE they are added to a recording of\n"
               "the same program's unified memory, and so are accesses: compare and replay take them from there.\n\n"
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
                "  offchip record --touches --with app.db -- ./app --size 4096\n"
                "  offchip record --requests --kernel bfs -o requests.db -- ./bfs graph.bel\n"
                "  offchip record --interface eth1 -o pcie.db\n"
                "  offchip record --counters -o bfs.db -- ./bfs graph.bel",
    .options = options,
    .run = run,
    .drops = true,
    .raw = true,
};
