/* offchip derive: recorded accesses to page touches, link requests or DRAM requests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "replay/derive/derive.h"
#include "trace/base/units.h"

static const char *output, *platform_name_or_file = "v100", *kernel, *range;
static struct opt_list sets;
static bool force, keep_dirty;
static int reuse;

static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, "OUT", &output, "the trace to make", 0, 0},
    {"force", 'f', OPT_FLAG, NULL, &force, "overwrite OUT", 0, 0},
    {"kernel", 'k', OPT_TEXT, "REGEX", &kernel, "only launches of kernels whose name matches", 0, 0},
    {"addr", 'a', OPT_TEXT, "FIRST-LAST", &range, "only accesses within these byte addresses (decimal or 0x)", 0, 0},
    {"reuse", 0, OPT_CHOICE, "none|prevwarp|warp", &reuse,
     "requests: sectors that need no request again (default none)", 0, 0},
    {"platform", 'p', OPT_TEXT, "NAME|FILE.ini", &platform_name_or_file, "dram: whose L2 cache (default v100)", 0, 0},
    {"set", 's', OPT_LIST, "KEY=VALUE", &sets, "dram: a platform number, such as l2_bytes=4MiB; repeatable", 0, 0},
    {"keep-dirty", 0, OPT_FLAG, NULL, &keep_dirty, "dram: what is dirty in L2 at the end is not written back", 0, 0},
    {0}};

typedef int (*derivation)(struct store *in, struct store *out, const struct derive_options *options,
                          struct derive_counts *counts, struct err *err);

static const struct {
    const char *name;
    derivation derive;
} derivations[] = {{"touches", derive_touches}, {"requests", derive_requests}, {"dram", derive_dram}};

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

/* The L2 of the platform. */
static int parse_platform(struct derive_options *o, char *name, size_t size, struct err *err)
{
    struct platform *p = platform_load(platform_name_or_file, err);
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
        rc = platform_set(p, key, eq + 1, NULL, err);
    }
    const struct gpu *gpu = platform_section_get(p, "gpu");
    o->l2_bytes = gpu->l2_bytes;
    o->l2_ways = gpu->l2_ways;
    (void)snprintf(name, size, "%s", platform_name(p));
    platform_free(p);
    return rc;
}

static int note_origin(struct store *in, struct store *out, const char *what, const struct derive_options *o,
                       const char *platform, struct err *err)
{
    static const char *const reuses[] = {"none", "prevwarp", "warp"};
    char hash[33], size[48];
    if (store_hash(in, hash, err) || store_origin(out, "derived", what, err) ||
        store_origin(out, "derived_from", store_path(in), err) || store_origin(out, "derived_from_hash", hash, err))
        return -1;
    if (strcmp(what, "requests") == 0)
        return store_origin(out, "reuse", reuses[reuse], err);
    if (strcmp(what, "dram") != 0)
        return 0;
    (void)snprintf(size, sizeof size, "%" PRId64 " bytes, %" PRId64 " ways", o->l2_bytes, o->l2_ways);
    return store_origin(out, "platform", platform, err) || store_origin(out, "l2", size, err) ? -1 : 0;
}

static int derive(size_t which, struct store *in, const struct derive_options *o, const char *platform)
{
    struct err err = {""};
    struct derive_counts counts = {0};
    struct store *out = store_create(output, force ? OUTPUT_REPLACE : OUTPUT_NEW, cmd_line(), &err);
    if (!out)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = derivations[which].derive(in, out, o, &counts, &err);
    if (rc == 0)
        rc = note_origin(in, out, derivations[which].name, o, platform, &err);
    if (rc == 0)
        rc = store_finish(out, &err);
    store_close(out);
    if (rc)
        return cmd_fail(store_stream_find(in, "accesses") < 0 ? EXIT_NOTHING : EXIT_DATA, "%s", err.msg);
    cmd_say("%s: %" PRIu64 " records from %" PRIu64 " accesses (%" PRIu64 " lines, %" PRIu64 " sectors) of %" PRIu64
            " launches; %" PRIu64 " accesses left out",
            output, counts.records, counts.instructions, counts.lines, counts.sectors, counts.launches,
            counts.left_out);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct err err = {""};
    struct derive_options o = {.kernel = kernel, .keep_dirty = keep_dirty};
    char platform[64];
    size_t which = 0, all = sizeof derivations / sizeof *derivations;
    if (argc != 2 || !output)
        return cmd_usage("expected what to derive, a trace with accesses, and -o OUT");
    while (which < all && strcmp(derivations[which].name, argv[0]) != 0)
        which++;
    if (which == all)
        return cmd_usage("'%s' cannot be derived; expected touches, requests or dram", argv[0]);
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_PREVWARP, REUSE_WARP};
    o.reuse = rules[reuse];
    if (parse_range(&o, &err) || parse_platform(&o, platform, sizeof platform, &err))
        return cmd_usage("%s", err.msg);
    cmd_reads(argv[1]);
    cmd_reads(platform_name_or_file);
    int status = cmd_writes(output, force);
    if (status)
        return status;
    struct store *in = store_open(argv[1], &err);
    if (!in)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    status = derive(which, in, &o, platform);
    store_close(in);
    return status;
}

const struct command cmd_derive = {
    .name = "derive",
    .summary = "accesses to page touches, link requests or DRAM requests",
    .usage = "touches|requests|dram FILE -o OUT [--kernel REGEX] [--addr FIRST-LAST]",
    .details = "Makes of recorded accesses (an Accel-Sim trace, or one recorded through compute-sanitizer)\n"
               "what an engine replays: touches of 4 KiB pages for uvm; read and write requests over the\n"
               "link, by size, as if the data were in host memory; the requests that reach DRAM through\n"
               "the L2 cache of a platform. Launches and their order are kept; there is no time.",
    .examples = "  offchip derive touches accesses.db -o touches.db\n"
                "  offchip derive requests accesses.db --addr 0x7f25ac600000-0x7f25afffffff -o requests.db\n"
                "  offchip derive dram accesses.db --platform v100 --set l2_bytes=1MiB -o dram.db",
    .options = options,
    .run = run,
};
