/* offchip verify: checks a recording against itself and the driver's rules, or a results file against its hashes. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "replay/results/results.h"
#include "replay/run/engine.h"
#include "replay/verify/verify.h"

static int format;
static bool strict;
static int64_t process = RECORDING_ANY, gpu = RECORDING_ANY;
static const struct opt options[] = {
    OPT("strict", 0, OPT_FLAG, NULL, &strict, "exit with status 4 if the recording is incomplete"),
    {"process", 0, OPT_INT, "PID", &process, "of a trace that holds several processes: this one", 0, INT64_MAX},
    {"gpu", 0, OPT_INT, "N", &gpu, "of a trace that holds several GPUs: this one", 0, INT32_MAX},
    OPT_FORMAT(&format),
    {0}};

static const char *verdict_of(const struct verify *verify)
{
    return verify->complete ? "complete" : "incomplete";
}

static int print_json(const struct verify *verify, const char *path)
{
    struct err err = {""};
    const struct outcome *o = &verify->outcome;
    json_t *root = json_pack("{s:i,s:o}", "schema", 1, "file", json_tree_text(path)), *findings = json_array();
    int bad = outcome_to_json(o, &root, &err) || json_object_del(root, "interval") || json_object_del(root, "notes") ||
              json_object_set_new(root, "verdict", json_string(verdict_of(verify)));
    for (size_t i = 0; i < o->note_count; i++)
        bad |= json_array_append_new(findings, json_string(o->notes[i]));
    bad |= json_object_set_new(root, "findings", findings);
    if (!bad)
        return cmd_print_json(root);
    json_decref(root);
    return cmd_fail(EXIT_DATA, "out of memory while writing JSON");
}

static void print_csv(const struct verify *verify)
{
    struct table t;
    const struct outcome *o = &verify->outcome;
    table_init(&t, o->count + 1);
    table_cell(&t, "verdict");
    for (size_t i = 0; i < o->count; i++)
        table_cell(&t, "%s", o->metrics[i].name);
    table_cell(&t, "%s", verdict_of(verify));
    for (size_t i = 0; i < o->count; i++)
        table_exact(&t, &o->metrics[i], &o->values[i], false);
    table_finish(&t, true);
}

static void print_table(const struct verify *verify, const char *path)
{
    struct table t;
    const struct outcome *o = &verify->outcome;
    printable_print(stdout, "%s: %s%s\n", path, verdict_of(verify),
                    verify->complete ? ": no record is known to be lost" : "");
    for (size_t i = 0; i < o->note_count; i++)
        printable_print(stdout, "- %s\n", o->notes[i]);
    TABLE_BEGIN(&t, "metric", "value");
    for (size_t i = 0; i < o->count; i++) {
        char buf[160];
        table_cell(&t, "%s", metric_label(o->metrics[i].name, buf, sizeof buf));
        table_cell(&t, "%s", metric_text(&o->metrics[i], &o->values[i], buf, sizeof buf));
    }
    table_finish(&t, false);
}

static int show(const struct verify *verify, const char *path)
{
    int status = EXIT_DONE;
    if (format == FORMAT_JSON)
        status = print_json(verify, path);
    else if (format == FORMAT_CSV)
        print_csv(verify);
    else
        print_table(verify, path);
    if (status == EXIT_DONE && strict && !verify->complete)
        return cmd_fail(EXIT_INCOMPLETE, "%s is incomplete", path);
    return status;
}

static int run_trace(const char *path)
{
    struct err err = {""};
    struct verify verify;
    struct store *store = store_open(path, &err);
    if (!store)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int status;
    if (verify_run(&verify, store, (struct recording){process, gpu}, &err)) {
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    } else {
        status = verify.nothing ? cmd_fail(EXIT_NOTHING, "%s holds no unified-memory record to verify", path)
                                : show(&verify, path);
        verify_release(&verify);
    }
    store_close(store);
    return status;
}

static int run_results(const char *path)
{
    struct err err = {""};
    struct verify verify;
    if (process != RECORDING_ANY || gpu != RECORDING_ANY)
        return cmd_usage("--process and --gpu choose a recording; '%s' is a results file", path);
    if (verify_results(&verify, path, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int status = show(&verify, path);
    verify_release(&verify);
    return status;
}

static int run(int argc, char **argv)
{
    if (argc != 1)
        return cmd_usage("expected one trace or results file");
    return results_is_results(argv[0]) ? run_results(argv[0]) : run_trace(argv[0]);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "say whether a recording is whole by the rules of the driver, or a results file as written",
    .usage = "FILE [OPTIONS]",
    .details = "The exit status is 0 either way; with --strict 4 if the recording is incomplete, 3 if there is nothing "
               "to verify. A results file that was changed is an error that names the run.",
    .examples = "  offchip verify s.db\n"
                "  offchip verify --strict --format json s.db\n"
                "  offchip verify results.db",
    .options = options,
    .run = run,
};
