/* offchip merge: several results files to one. */
#include "cmd/cmd.h"
#include "replay/results/results.h"

static const char *output;
static bool force;

static const struct opt options[] = {
    OPT("output", 'o', OPT_TEXT, "RESULTS", &output, "the results file to make"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "replace RESULTS if it exists"),
    {0},
};

/* All inputs must be sound before the work begins. */
static int check_inputs(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        struct err err = {""};
        struct results *results = results_open(argv[i], RESULTS_READ, &err);
        if (!results)
            return cmd_fail(EXIT_DATA, "%s", err.msg);
        struct results_counts counts;
        json_t *said = NULL;
        int failed = results_check(results, &counts, &err) || results_tell_unfinished(results, argv[i], &said, &err);
        cmd_say_notes(said);
        json_decref(said);
        results_close(results);
        if (failed)
            return cmd_fail(EXIT_DATA, "%s", err.msg);
    }
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    if (argc < 1)
        return cmd_usage("no results file is given");
    if (!output)
        return cmd_usage("no output is given: -o RESULTS");
    cmd_reads_all((const char *const *)argv, (size_t)argc);
    int status = cmd_writes(output, force);
    if (status || (status = check_inputs(argc, argv)))
        return status;
    struct err err = {""};
    struct results *results = results_open(output, force ? RESULTS_FORCE : RESULTS_CREATE, &err);
    if (!results)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int failed = results_merge(results, (const char *const *)argv, (size_t)argc, &err);
    if (!failed)
        results_settle(results);
    int64_t count = failed ? -1 : results_count(results, &err);
    failed = count < 0 || results_finish(results, &err);
    results_close(results);
    if (failed)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("%lld runs in '%s'", (long long)count, output);
    return EXIT_DONE;
}

const struct command cmd_merge = {
    .name = "merge",
    .summary = "put several results files into one",
    .usage = "RESULTS... -o RESULTS [--force]",
    .details =
        "A run that is in several files is taken once; one with other numbers is an error that names both files.",
    .examples = "  offchip merge shard-*.db -o sweep.db\n"
                "  offchip merge monday.db tuesday.db -o both.db --force",
    .options = options,
    .run = run,
};
