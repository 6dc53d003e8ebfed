/* offchip export: a stream of a trace in another tool's form. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "trace/base/mem.h"
#include "trace/base/suggest.h"
#include "trace/derived/limits.h"
#include "trace/export/exporter.h"
#include "trace/store/output.h"

static const char *format, *output, *stream_name;
static struct opt_list sets;
static bool force;

static const struct opt options[] = {
    OPT("format", 0, OPT_TEXT, "NAME", &format, "the form to write"),
    OPT("output", 'o', OPT_TEXT, "FILE", &output, "where to; - is standard output"),
    OPT("stream", 0, OPT_TEXT, "NAME", &stream_name,
        "which stream (csv: all by default; else needed where there are several)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets, "an option of the format; repeatable"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite FILE"),
    {0}};

static void list_exporters(char *buf, size_t size, struct suggest *suggest)
{
    buf[0] = 0;
    for (size_t i = 0; exporters[i] && suggest->word; i++)
        suggest_offer(suggest, exporters[i]->name);
    for (size_t i = 0; exporters[i]; i++)
        (void)mem_add_text(buf, size, "%s%s", i ? ", " : "", exporters[i]->name);
}

/* The index of the stream to write, -1: all of them; *status is set where there is no such thing. */
static int pick_stream(struct store *store, const char *path, const struct exporter *exporter, int *status)
{
    char names[256] = "";
    int count = store_stream_count(store);
    for (int i = 0; i < count; i++)
        (void)mem_add_text(names, sizeof names, "%s%s", i ? ", " : "", store_stream(store, i)->name);
    int index = stream_name ? store_stream_find(store, stream_name) : count == 1 ? 0 : -1;
    if (index >= 0 || (count > 1 && !stream_name && exporter->carries & FACT(STREAMS)))
        return index;
    if (count == 0)
        *status = cmd_fail(EXIT_NOTHING, "%s holds no stream of records", path);
    else if (stream_name)
        *status = cmd_fail(EXIT_NOTHING, "%s holds no stream '%s'; it has %s", path, stream_name, names);
    else
        *status = cmd_usage("%s holds several streams (%s); choose with --stream", path, names);
    return -1;
}

/* Into the file, or to standard output. */
static int write_records(const struct exporter *exporter, struct exporter_context *context, struct err *err)
{
    struct output file = {0};
    bool named = strcmp(output, "-") != 0;
    if (named && output_open(&file, output, force, err))
        return -1;
    context->to = named ? file.file : stdout;
    int rc = exporter->write(exporter, context, err);
    if (!rc && !named && (fflush(stdout) || ferror(stdout)))
        rc = err_set(err, "cannot write '%s': %s", output, strerror(errno));
    bool none = !rc && !context->written;
    rc = output_close(&file, none ? -1 : rc, err);
    return none ? 0 : rc;
}

static int write_all(const struct exporter *exporter, struct exporter_context *context)
{
    struct err err = {""};
    char of[80], left[512];
    if (exporter_left_out(exporter, context, left, sizeof left, &err) || write_records(exporter, context, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    const struct stream *one = store_stream(context->store, context->stream);
    (void)snprintf(of, sizeof of, one ? "stream %s" : "all streams", one ? one->name : "");
    if (!context->written)
        (void)cmd_fail(EXIT_NOTHING, "%s hold%s no record that %s can carry", of, one ? "s" : "", exporter->name);
    else
        cmd_say("%s: %" PRIu64 " records of %s as %s", output, context->written, of, exporter->name);
    if (*left && context->written)
        cmd_say("left out: %s", left);
    for (size_t i = 0; i < context->skip_count; i++)
        cmd_say("left out %" PRIu64 ": %s", context->skips[i].n, context->skips[i].reason);
    return context->written ? EXIT_DONE : EXIT_NOTHING;
}

static int export_trace(const struct exporter *exporter, const char *path)
{
    struct err err = {""};
    struct exporter_context context = {0};
    int status = EXIT_DONE;
    void *values = cmd_format_options(exporter->name, exporter->options, exporter->options_size, &sets, "--set ", &err);
    if (!values)
        return cmd_usage("%s", err.msg);
    context.options = values;
    context.store = limits_open(path, cmd_say_limit, NULL, &err);
    if (!context.store)
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    else
        context.stream = pick_stream(context.store, path, exporter, &status);
    if (!status)
        status = write_all(exporter, &context);
    store_close(context.store);
    free(values);
    return status;
}

static int run(int argc, char **argv)
{
    char names[256], hint[SUGGEST_HINT];
    struct suggest suggest = {.word = format};
    list_exporters(names, sizeof names, &suggest);
    if (argc != 1)
        return cmd_usage("expected one trace file");
    if (!format)
        return cmd_usage("--format NAME is required: %s", names);
    const struct exporter *exporter = exporter_find(format);
    if (!exporter)
        return cmd_usage("no form is called '%s'; known: %s%s", format, names,
                         suggest_hint(&suggest, hint, sizeof hint));
    if (!output)
        return cmd_usage("an output is needed: -o FILE (- is standard output)");
    cmd_reads(argv[0]);
    int status = strcmp(output, "-") == 0 ? EXIT_DONE : cmd_writes(output, force);
    return status ? status : export_trace(exporter, argv[0]);
}

const struct command cmd_export = {
    .name = "export",
    .summary = "write a trace in another tool's form",
    .usage = "FILE --format NAME -o FILE [OPTIONS]",
    .details = "csv is offchip's plain form: all of a trace, and import reads it back to the same. What a form cannot "
               "carry is counted by reason.",
    .examples = "  offchip export s.db --format csv -o s.csv\n"
                "  offchip export s.db --format csv --stream uvm -o - | head",
    .options = options,
    .run = run,
};
