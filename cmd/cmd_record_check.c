#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "trace/base/units.h"
#include "trace/recorder/recorder.h"
#include "trace/recorder/recorder_search.h"

enum { LEAST_UVM = 60, LEAST_COUNTERS = 70, CAP_NET_RAW_BIT = 13 };

struct check {
    struct recorder_box box;
    struct recorder_search parts[PARTS];
    const char *program;
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

static void say_driver(const struct recorder_box *box)
{
    if (!box->cuda)
        row("driver", "missing: %s; recording needs an NVIDIA GPU and its driver", box->why);
    else if (!box->driver)
        row("driver", "CUDA %d.%d, but %s", box->cuda / 1000, box->cuda % 1000 / 10, box->why);
    else
        row("driver", "CUDA %d.%d%s%s", box->cuda / 1000, box->cuda % 1000 / 10, box->kernel[0] ? ", module " : "",
            box->kernel);
}

static void say_gpus(const struct recorder_box *box)
{
    const struct recorder_gpu *g = &box->gpus[0];
    char bytes[64], more[48] = "";
    if (box->gpu_count == 0) {
        row("GPU", "none");
        return;
    }
    if (box->gpu_count > 1)
        (void)snprintf(more, sizeof more, "; %d GPUs", box->gpu_count);
    row("GPU", "%s, compute capability %d.%d, %d multiprocessors, %s%s%s", g->name, g->capability / 10,
        g->capability % 10, g->sms, units_human_bytes((double)g->memory_bytes, bytes, sizeof bytes), more,
        g->mig ? "; a MIG instance" : "");
}

/* What will be taken, and what else is there. */
static void say_part(const struct check *c, enum recorder_part part, const char *name)
{
    struct err err = {""};
    const struct recorder_library *l = recorder_search_choose(&c->parts[part], part, &c->box, false, &err);
    char others[400] = "", version[24] = "";
    if (!l) {
        row(name, c->parts[part].count ? "%s" : "missing: %s",
            c->parts[part].count ? err.msg : recorder_search_how(part));
        return;
    }
    for (int i = 0; i < c->parts[part].count; i++) {
        const struct recorder_library *o = &c->parts[part].found[i];
        size_t n = strlen(others);
        if (o != l && n < sizeof others - 1)
            (void)snprintf(others + n, sizeof others - n, "%s%d.%d %s", n ? ", " : "; also ", o->cuda / 1000,
                           o->cuda % 1000 / 10, o->from);
    }
    if (l->cuda)
        (void)snprintf(version, sizeof version, "%d.%d, ", l->cuda / 1000, l->cuda % 1000 / 10);
    row(name, "%s%s (%s)%s%s%s", version, l->path, l->from, l->good ? "" : ": ", l->good ? "" : l->why, others);
}

/* --- what can be recorded --- */

static bool say_uvm(const struct check *c)
{
    struct err err = {""};
    char path[PATH_MAX];
    int capability = recorder_box_capability(&c->box);
    const char *why = NULL;
    if (!c->box.driver)
        why = "there is no GPU to record";
    else if (c->box.wsl)
        why = "WSL does not report unified memory";
    else if (capability < LEAST_UVM)
        why = "unified memory moves by page faults from compute capability 6.0 on";
    else if (recorder_find_library(false, path, sizeof path, &err))
        why = err.msg;
    else if (!recorder_search_choose(&c->parts[PART_CUPTI], PART_CUPTI, &c->box, false, &err))
        why = "it needs CUPTI";
    row("record", "%s%s", why ? "no: " : "yes", why ? why : "");
    return !why;
}

static void say_counters(const struct check *c)
{
    struct err err = {""};
    const char *why = NULL;
    if (!c->box.driver)
        why = "there is no GPU to record";
    else if (recorder_box_capability(&c->box) < LEAST_COUNTERS)
        why = "the range profiler begins with compute capability 7.0";
    else if (!recorder_search_choose(&c->parts[PART_CUPTI], PART_CUPTI, &c->box, true, &err))
        why = "it needs a CUPTI of CUDA 12.6 or later (before 13 for Volta)";
    else if (!c->box.counters_for_all)
        why = "counters are for administrators here: the driver's option NVreg_RestrictProfilingToAdminUsers=0 opens "
              "them, or record as root";
    row("--counters", "%s%s", why ? "no: " : "yes", why ? why : "");
}

static void say_accesses(const struct check *c)
{
    struct err err = {""};
    char path[PATH_MAX];
    bool can = c->box.driver;
    if (!can)
        (void)err_set(&err, "there is no GPU to record");
    else if (recorder_box_capability(&c->box) < LEAST_COUNTERS)
        can = err_set(&err, "compute-sanitizer begins with compute capability 7.0") == 0;
    else if (!recorder_search_choose(&c->parts[PART_SANITIZER], PART_SANITIZER, &c->box, false, &err))
        can = err_set(&err, "it needs compute-sanitizer") == 0;
    else
        can = recorder_find_library(true, path, sizeof path, &err) == 0 &&
              recorder_find_patch(path, sizeof path, &err) == 0;
    row("--accesses", "%s%s", can ? "yes; so --touches, --requests and --dram" : "no: ", can ? "" : err.msg);
}

/* Whether packets may be captured: by root, or by the capability on the program. */
static bool may_capture(void)
{
    unsigned long long effective = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "CapEff:", 7) == 0)
            effective = strtoull(line + 7, NULL, 16);
    if (f)
        (void)fclose(f);
    return effective >> CAP_NET_RAW_BIT & 1;
}

static void say_beware(const struct check *c)
{
    const char *set = getenv("CUDA_INJECTION64_PATH"), *device = getenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC");
    const struct recorder_gpu *g = &c->box.gpus[0];
    bool beware = false;
    const struct {
        bool is;
        const char *text;
    } all[] = {
        {c->box.mps,
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

int cmd_record_check(const char *program)
{
    static struct check c;
    struct err err = {""};
    c.program = program;
    recorder_box_look(&c.box, recorder_search_root());
    for (int p = 0; p < PARTS; p++)
        if (recorder_search(&c.parts[p], (enum recorder_part)p, program, recorder_search_root(), &err))
            return cmd_fail(EXIT_DATA, "%s", err.msg);
    say_driver(&c.box);
    say_gpus(&c.box);
    say_part(&c, PART_CUPTI, "CUPTI");
    say_part(&c, PART_SANITIZER, "Sanitizer");
    bool can = say_uvm(&c);
    say_counters(&c);
    say_accesses(&c);
    row("--interface", "%s",
        may_capture() ? "yes" : "no: capturing needs root, or setcap cap_net_raw,cap_net_admin+ep");
    say_beware(&c);
    for (int p = 0; p < PARTS; p++)
        recorder_search_release(&c.parts[p]);
    return can ? EXIT_DONE : EXIT_DATA;
}
