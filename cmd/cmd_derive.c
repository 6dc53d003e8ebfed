/* offchip derive: accesses of a recording or of a generated program to page touches, link requests or DRAM requests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "replay/derive/derive.h"
#include "replay/run/platform_use.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"

static const char *output, *platform_name_or_file, *kernel, *range;
static struct opt_list sets;
static bool force;

static const struct opt options[] = {
    OPT_GROUP("What is taken"),
    OPT("kernel", 'k', OPT_TEXT, "REGEX", &kernel, "only launches of kernels whose name matches"),
    OPT("addr", 'a', OPT_TEXT, "FIRST-LAST", &range, "only accesses within these byte addresses (decimal or 0x)"),
    OPT_GROUP("Machine"),
    OPT("platform", 'p', OPT_TEXT, "NAME|FILE.ini", &platform_name_or_file,
        "dram: whose L2 cache and multiprocessors (default: of the GPU that a recording names, else v100)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets, "a platform number, such as l2_bytes=4MiB; repeatable"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "OUT", &output, "the trace to make"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite OUT"),
    {0}};

typedef int (*derivation)(const struct derive_source *source, struct store *out, const struct derive_options *options,
                          struct program_counts *counts, struct err *err);

/* view 0: what every program has that any engine can take a view of. */
static const struct {
    const char *name;
    derivation derive;
    enum workload_view view;
} derivations[] = {{"touches", derive_touches, VIEW_UVM},
                   {"requests", derive_requests, VIEW_ZEROCOPY},
                   {"dram", derive_dram, VIEW_DRAM},
                   {"accesses", derive_accesses, 0}};

static int parse_range(struct derive_options *o, struct err *err)
{
    o->first = 0;
    o->last = UINT64_MAX;
    if (!range)
        return 0;
    char *end = NULL;
    o->first = strtoull(range, &end, 0);
    if (end == range || *end != '-')
        return err_set(err, "--addr %s: expected FIRST-LAST, such as 0x7f0000000000-0x7f000003ffff", range);
    const char *second = end + 1;
    o->last = strtoull(second, &end, 0);
    if (end == second || *end || o->last < o->first)
        return err_set(err, "--addr %s: expected FIRST-LAST with FIRST at most LAST", range);
    return 0;
}

static int parse_platform(const char *name_or_file, struct gpu *gpu, char *name, size_t size, struct err *err)
{
    static const char *const read[] = {"gpu", NULL};
    const struct platform_scope scope = {.sections = read};
    struct platform *p = platform_load(name_or_file, err);
    if (!p)
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sets.count; i++) {
        char key[64];
        const char *eq = strchr(sets.items[i], '=');
        if (!eq || (size_t)(eq - sets.items[i]) >= sizeof key) {
            rc = err_set(err, "--set %s: expected KEY=VALUE", sets.items[i]);
            break;
        }
        (void)snprintf(key, sizeof key, "%.*s", (int)(eq - sets.items[i]), sets.items[i]);
        rc = platform_set(p, key, eq + 1, &scope, err);
    }
    if (rc == 0)
        rc = platform_whole(p, "gpu", err);
    *gpu = *(const struct gpu *)platform_section_get(p, "gpu");
    (void)snprintf(name, size, "%s", p->name);
    platform_free(p);
    return rc;
}

/* The GPU of a recording, where its numbers count: what no cache is asked for is any GPU's. */
static int platform_of(const struct input *in, size_t which, struct gpu *gpu, char *name, size_t size, struct err *err)
{
    struct platform_choice choice;
    int found =
        in->store && derivations[which].view == VIEW_DRAM ? platform_choice_recorded(in->store, &choice, err) : 0;
    return found < 0 ? -1 : parse_platform(found ? choice.name : "v100", gpu, name, size, err);
}

static int note_origin(const struct input *in, struct store *out, const char *what, const struct derive_options *o,
                       const char *platform, struct err *err)
{
    char size[48];
    if (store_origin(out, "derived", what, err) || store_origin(out, "derived_from", in->spec, err) ||
        store_origin(out, "derived_from_hash", in->hash, err))
        return -1;
    static const char *const kept[] = {"driver", "access_order"};
    for (size_t i = 0; in->store && i < sizeof kept / sizeof *kept; i++)
        if (store_origin_get(in->store, kept[i]) &&
            store_origin(out, kept[i], store_origin_get(in->store, kept[i]), err))
            return -1;
    const char *gpu = in->store ? platform_choice_gpu(in->store) : NULL;
    if (gpu && store_origin(out, "gpu.0.name", gpu, err))
        return -1;
    if ((o->kernel && store_origin(out, "kernels.chosen", o->kernel, err)) ||
        (range && store_origin(out, "addresses.chosen", range, err)))
        return -1;
    if (strcmp(what, "dram") != 0)
        return 0;
    (void)snprintf(size, sizeof size, "%" PRId64 " bytes, %" PRId64 " ways", o->l2_bytes, o->l2_ways);
    return store_origin(out, "platform", platform, err) || store_origin(out, "l2", size, err) ? -1 : 0;
}

static int derive(size_t which, const struct input *in, const struct derive_options *o, const char *platform)
{
    struct err err = {""};
    struct program_counts counts = {0};
    struct derive_input source;
    const unsigned any = in->workload.type ? in->workload.type->views : VIEW_UVM;
    const enum workload_view view = derivations[which].view;
    if (derive_input_open(&source, in, view ? view : (enum workload_view)(any & (0 - any)), &err))
        return cmd_fail(EXIT_NOTHING, "%s", err.msg);
    struct store *out = store_create(output, force ? OUTPUT_REPLACE : OUTPUT_NEW, cmd_line(), &err);
    if (!out)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = derivations[which].derive(&source.source, out, o, &counts, &err);
    if (rc == 0)
        rc = note_origin(in, out, derivations[which].name, o, platform, &err);
    if (rc == 0)
        rc = in->store ? limits_finish(in->store, out, &err) : store_finish(out, &err);
    store_close(out);
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (counts.instructions == 0) { /* a page view is made without them */
        cmd_say("%s: %" PRIu64 " records of %" PRIu64 " launches", output, counts.records, counts.launches);
        return EXIT_DONE;
    }
    cmd_say("%s: %" PRIu64 " records from %" PRIu64 " accesses (%" PRIu64 " lines, %" PRIu64 " sectors) of %" PRIu64
            " launches; %" PRIu64 " accesses left out",
            output, counts.records, counts.instructions, counts.lines, counts.sectors, counts.launches,
            counts.left_out);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct err err = {""};
    struct gpu gpu;
    struct derive_options o = {.kernel = kernel, .gpu = &gpu};
    char platform[64];
    size_t which = 0, all = sizeof derivations / sizeof *derivations;
    if (argc != 2 || !output)
        return cmd_usage("expected what to derive, a trace with accesses or synth:PROGRAM, and -o OUT");
    while (which < all && strcmp(derivations[which].name, argv[0]) != 0)
        which++;
    if (which == all)
        return cmd_usage("'%s' cannot be derived; expected touches, requests, dram or accesses", argv[0]);
    const char *given = platform_name_or_file;
    if (parse_range(&o, &err) || (given && parse_platform(given, &gpu, platform, sizeof platform, &err)) ||
        input_check(argv[1], &err))
        return cmd_usage("%s", err.msg);
    cmd_reads(argv[1]);
    cmd_reads(platform_name_or_file);
    int status = cmd_writes(output, force);
    if (status)
        return status;
    struct input in;
    if (input_open(&in, argv[1], "", false, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say_notes(in.limits);
    if (!given && platform_of(&in, which, &gpu, platform, sizeof platform, &err)) {
        input_close(&in);
        return cmd_usage("%s", err.msg);
    }
    o.l2_bytes = gpu.l2_bytes;
    o.l2_ways = gpu.l2_ways;
    status = derive(which, &in, &o, platform);
    input_close(&in);
    return status;
}

const struct command cmd_derive = {
    .name = "derive",
    .summary = "write what an engine replays of a program's accesses",
    .usage = "touches|requests|dram|accesses RECORDING|synth:PROGRAM -o OUT [OPTIONS]",
    .details = "touches: of 4 KiB pages, for uvm. requests: reads and writes over the link, as if the data were in "
               "host memory. dram: what reaches DRAM through a platform's L2 cache. accesses: a generated program as a "
               "recording. 'offchip replay' derives by itself.",
    .examples = "  offchip derive touches accesses.db -o touches.db\n"
                "  offchip derive requests synth:triad -o triad.db\n"
                "  offchip derive dram accesses.db --platform v100 --set l2_bytes=1MiB -o dram.db",
    .options = options,
    .run = run,
};
