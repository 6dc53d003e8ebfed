/* offchip policy: a policy of one's own, without a fork. */
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "models/plugin/plugin_load.h"

static const char *output;
static bool force;
static const struct opt options[] = {OPT("output", 'o', OPT_TEXT, "FILE.so", &output, "what --policy loads"),
                                     OPT("force", 'f', OPT_FLAG, NULL, &force, "replace FILE.so"),
                                     {0}};

static int build(const char *source)
{
    struct err err = {""};
    if (!output || !plugin_is_path(output))
        return cmd_usage("-o FILE.so is needed: the name ends in .so, by which --policy knows a file");
    if (access(source, R_OK))
        return cmd_fail(EXIT_DATA, "'%s' cannot be read", source);
    cmd_reads(source);
    int status = cmd_writes(output, force);
    if (status)
        return status;
    const struct policy_head *head = policy_build(source, output, force, &err);
    if (!head)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("%s: %s '%s'; --policy %s%s takes it", output, plugin_interface_name(plugin_interface(head)), head->name,
            strchr(output, '/') ? "" : "./", output);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[0], "build") != 0)
        return cmd_usage("expected: offchip policy build FILE.c -o FILE.so");
    return build(argv[1]);
}

const struct command cmd_policy = {
    .name = "policy",
    .summary = "build a policy of your own for --policy",
    .usage = "build FILE.c -o FILE.so",
    .details = "FILE.c is the source of one policy (docs/adding-a-policy.md). --policy then takes ./FILE.so:key=value "
               "as it takes a name. It is code, and runs as you: load none that you would not run.",
    .examples = "  offchip policy build readahead.c -o readahead.so\n"
                "  offchip replay uvm synth:bicg,bytes=64MiB --policy tree,./readahead.so:pages=64",
    .options = options,
    .run = run,
};
