/* offchip import: foreign files to one trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/console/progress_line.h"
#include "trace/base/clock.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/suggest.h"
#include "trace/derived/batches.h"
#include "trace/import/reader.h"
#include "trace/store/dbfile.h"
#include "trace/store/output.h"

static const char *format, *output;
static struct opt_list sets;
static bool strict, force;

/* A table of another tool. */
static const char *columns, *kinds, *time_unit;

static const struct opt options[] = {
    OPT_GROUP("Input"),
    OPT("format", 0, OPT_TEXT, "NAME", &format,
        "format of the inputs ('offchip list formats'; default: found by content)"),
    OPT("set", 's', OPT_LIST, "KEY=VALUE", &sets, "an option of the format; repeatable"),
    OPT("strict", 0, OPT_FLAG, NULL, &strict, "stop at the first item that would be left out"),
    OPT_GROUP("Columns of a table that offchip does not know"),
    OPT("columns", 0, OPT_TEXT, "OURS=THEIRS,..", &columns, "which of its columns is which of ours"),
    OPT("kinds", 0, OPT_TEXT, "KIND|WORD=KIND,..", &kinds, "the kind of its rows, or which word of it is which kind"),
    OPT("time-unit", 0, OPT_TEXT, "ns|us|ms|s|cycles", &time_unit, "of its times"),
    OPT_GROUP("Output"),
    OPT("output", 'o', OPT_TEXT, "FILE", &output, "the trace to make"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite FILE"),
    {0}};

struct import {
    struct reader_context context;
    struct progress progress;
    uint64_t finished_bytes; /* of the inputs before this one */
    char names[256];         /* formats met */
    int count;               /* inputs */
};

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static void count_bytes(void *ctx, uint64_t bytes)
{
    struct import *im = ctx;
    atomic_store_explicit(&im->progress.done, im->finished_bytes + bytes, memory_order_relaxed);
}

/* --- compressed databases: SQLite reads an unpacked copy --- */

static struct unpacked {
    const char *given; /* the operand */
    FILE *file;
    char name[32]; /* of the file, which no folder lists: a KILL leaves nothing of it */
} unpacked[OUTPUT_MAX];
static size_t unpacked_count;

/* A message names operands. */
static const char *in_words(char *text, size_t size)
{
    for (size_t i = 0; i < unpacked_count; i++) {
        const char *file = unpacked[i].name;
        for (char *at; (at = strstr(text, file));) {
            char *rest = mem_format("%s%s", unpacked[i].given, at + strlen(file));
            (void)snprintf(at, size - (size_t)(at - text), "%s", rest ? rest : "?");
            free(rest);
        }
    }
    return text;
}

static int unpack(struct input_stream *source, char **operand, struct err *err)
{
    struct unpacked *u = &unpacked[unpacked_count];
    u->given = *operand;
    u->file = dbfile_follow() ? output_aside(false, err) : NULL;
    if (!u->file)
        return err_at(err, "%s: it is unpacked into a temporary file (TMPDIR)", *operand);
    (void)snprintf(u->name, sizeof u->name, "/proc/self/fd/%d", fileno(u->file));
    *operand = u->name;
    unpacked_count++;
    return input_stream_unpack(source, u->file, err) ? err_at(err, "%s", u->given) : 0;
}

/* Replace an operand that is a compressed database by an unpacked copy. Other faults are found on reading. */
static int unpack_database(char **operand, struct err *err)
{
    static const char magic[16] = "SQLite format 3";
    struct stat st;
    struct input_stream *source =
        stat(*operand, &st) || !S_ISREG(st.st_mode) ? NULL : input_stream_open(*operand, NULL);
    const unsigned char *head;
    size_t n;
    int rc = 0;
    if (source && input_stream_packed(source) && input_stream_peek(source, sizeof magic, &head, &n, NULL) == 0 &&
        n == sizeof magic && memcmp(head, magic, n) == 0)
        rc = unpacked_count < OUTPUT_MAX ? unpack(source, operand, err)
                                         : err_set(err, "more than %d packed databases: unpack them first", OUTPUT_MAX);
    input_stream_close(source);
    return rc;
}

static void remove_unpacked(void)
{
    while (unpacked_count)
        (void)fclose(unpacked[--unpacked_count].file);
}

static const char *given_as(const char *file)
{
    for (size_t i = 0; i < unpacked_count; i++)
        if (unpacked[i].name == file)
            return unpacked[i].given;
    return file;
}

/* --- before anything is written --- */

static int no_such_format(const char *name)
{
    char hint[SUGGEST_HINT];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; readers[i]; i++)
        suggest_offer(&suggest, readers[i]->name);
    return cmd_usage("no format is called '%s'; see 'offchip list formats'%s", name,
                     suggest_hint(&suggest, hint, sizeof hint));
}

static int check_operands(int argc, char **argv)
{
    if (argc < 1)
        return cmd_usage("nothing to import: name at least one input, or - for standard input");
    if (!output)
        return cmd_usage("an output is needed: -o FILE");
    if (format && !reader_find(format))
        return no_such_format(format);
    if (!format && columns)
        format = "table"; /* nothing in such a table says what it is */
    for (int i = 0; i < argc; i++) {
        cmd_reads(strcmp(argv[i], "-") == 0 ? "/dev/stdin" : argv[i]);
        for (int k = 0; k < i; k++)
            if (strcmp(argv[i], "-") == 0 && strcmp(argv[k], "-") == 0)
                return cmd_usage("standard input is named twice");
    }
    return cmd_writes(output, force);
}

/* Open input `path` and find its reader; *source stays NULL for a reader of whole files. */
static int open_input(const char *path, const struct reader **reader, struct input_stream **source, struct err *err)
{
    struct stat st;
    *source = NULL;
    *reader = format ? reader_find(format) : NULL;
    bool piped = strcmp(path, "-") == 0;
    if (*reader && (*reader)->whole_file && piped)
        return err_set(err, "format %s reads a file or folder, not standard input", (*reader)->name);
    if (!piped && stat(path, &st))
        return err_set(err, "cannot open '%s': %s", path, strerror(errno));
    if (*reader && (*reader)->whole_file)
        return 0;
    if (!piped && S_ISDIR(st.st_mode) && !*reader) {
        *reader = reader_probe(path, (const unsigned char *)"", 0, err);
        return *reader ? 0
                       : err_set(err, "'%s' is a folder that no format reads (accelsim: one with a kernelslist)", path);
    }
    *source = input_stream_open_piped(path, err);
    if (!*source)
        return -1;
    const unsigned char *head;
    size_t n;
    if (input_stream_peek(*source, READER_PROBE_BYTES, &head, &n, err))
        return reader_advice(path) ? err_set(err, "%s: %s", path, reader_advice(path)) : err_at(err, "%s", shown(path));
    if (!*reader)
        *reader = reader_probe(shown(path), head, n, err);
    if (*reader && (*reader)->whole_file) {
        input_stream_close(*source);
        *source = NULL;
        if (piped)
            return err_set(err, "format %s reads a file or folder, not standard input", (*reader)->name);
    }
    return *reader ? 0 : -1;
}

static int set_option(const struct reader *reader, void *values, const char *name, const char *value, struct err *err)
{
    if (!reader->options)
        return err_set(err, "%s=%s: format %s has no options", name, value, reader->name);
    return param_set(reader->options, values, name, value, err);
}

/* The reader's options; freed with free(). */
static void *read_options(const struct reader *reader, struct err *err)
{
    void *values = cmd_format_options(reader->name, reader->options, reader->options_size, &sets, "", err);
    if (values && ((columns && set_option(reader, values, "columns", columns, err)) ||
                   (kinds && set_option(reader, values, "kinds", kinds, err)) ||
                   (time_unit && set_option(reader, values, "time_unit", time_unit, err)))) {
        free(values);
        return NULL;
    }
    return values;
}

/* --- one input --- */

static int store_source(struct import *im, const struct reader *reader, struct input_stream *source, struct err *err)
{
    char key[48], bytes[24], hash[33];
    const struct {
        const char *name, *value;
    } facts[] = {{"path", given_as(im->context.path)}, {"format", reader->name}, {"bytes", bytes}, {"xxh3_128", hash}};
    if (source) {
        (void)snprintf(bytes, sizeof bytes, "%" PRIu64, input_stream_compressed_offset(source));
        input_stream_hash(source, hash);
    }
    for (size_t i = 0; i < (source ? 4 : 2); i++) {
        (void)snprintf(key, sizeof key, "source.%d.%s", im->context.file_index, facts[i].name);
        if (store_origin(im->context.store, key, facts[i].value, err))
            return -1;
    }
    return 0;
}

static void note_format(struct import *im, const struct reader *reader)
{
    if (!strstr(im->names, reader->name))
        (void)mem_add_text(im->names, sizeof im->names, "%s%s", *im->names ? ", " : "", reader->name);
}

/* Read an opened input into the trace. */
static int read_input(struct import *im, const struct reader *reader, struct input_stream *source, struct err *err)
{
    void *values = read_options(reader, err);
    if (!values)
        return -1;
    im->context.options = values;
    if (source)
        input_stream_on_read(source, count_bytes, im);
    int rc = reader_run(reader, &im->context, source, err);
    if (rc == 0)
        rc = store_source(im, reader, source, err);
    if (source)
        im->finished_bytes += input_stream_compressed_offset(source);
    free(values);
    note_format(im, reader);
    return rc;
}

/* --- inputs that belong together --- */

/* *joint: the reader of an input if it takes all inputs at once. Files only: what is read of a pipe is gone. An input
 * that no reader takes is an error before the first is read. */
static int joint_reader(const char *path, const struct reader **joint, struct err *err)
{
    struct stat st;
    struct input_stream *source = NULL;
    const struct reader *reader = NULL;
    *joint = NULL;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return 0;
    const int rc = open_input(path, &reader, &source, err);
    input_stream_close(source);
    *joint = reader && reader->read_all ? reader : NULL;
    return rc;
}

/* *joint: the reader that all inputs share and that takes them at once, or NULL. */
static int find_joint(int argc, char **argv, const struct reader **joint)
{
    int first = -1, other = -1;
    struct err err = {""};
    *joint = NULL;
    for (int i = 0; i < argc; i++) {
        const struct reader *reader;
        if (joint_reader(argv[i], &reader, &err))
            return cmd_fail(EXIT_DATA, "%s", in_words(err.msg, sizeof err.msg));
        if (reader && first < 0) {
            first = i;
            *joint = reader;
        } else if (!reader) {
            other = i;
        }
    }
    if (*joint && other >= 0)
        return cmd_usage("'%s' is of format %s and '%s' is not: import that one by itself first", given_as(argv[first]),
                         (*joint)->name, given_as(argv[other]));
    for (int i = 0; *joint && i < argc; i++)
        for (int k = 0; k < i; k++)
            if (output_same(argv[k], argv[i]))
                return cmd_usage("'%s' and '%s' are the same file", argv[k], argv[i]);
    return EXIT_DONE;
}

static int create_trace(struct import *im, struct err *err)
{
    im->context.store = store_create(output, force ? OUTPUT_REPLACE : OUTPUT_NEW, cmd_line(), err);
    return im->context.store ? 0 : -1;
}

static int read_joint(struct import *im, const struct reader *reader, int argc, char **argv, struct err *err)
{
    im->context.path = argv[0];
    note_format(im, reader);
    if (create_trace(im, err) || reader->read_all(&im->context, (const char *const *)argv, (size_t)argc, err) ||
        reader_flush(&im->context, err))
        return -1;
    for (int i = 0; i < argc; i++) {
        im->context.path = argv[i];
        im->context.file_index = i;
        if (store_source(im, reader, NULL, err))
            return -1;
    }
    return 0;
}

/* --- the whole --- */

static uint64_t records_of(const struct store *store)
{
    uint64_t n = 0;
    for (int i = 0; i < store_stream_count(store); i++)
        n += store_stream(store, i)->records;
    return n;
}

/* Fail: remove the output. */
static int give_up(struct import *im, enum exit_status status, const struct err *err)
{
    store_close(im->context.store);
    im->context.store = NULL;
    struct err said = *err;
    return cmd_fail(status, "%s", in_words(said.msg, sizeof said.msg));
}

/* Reasons and how often, as one line. */
struct counts {
    char text[384];
    uint64_t total;
};

static int add_count(void *ctx, const struct store_value *values, size_t n)
{
    struct counts *c = ctx;
    (void)n;
    c->total += (uint64_t)values[1].i;
    (void)mem_add_text(c->text, sizeof c->text, "%s%s %" PRId64, *c->text ? ", " : "", values[0].s, values[1].i);
    return 0;
}

/* What was left out, why, and what can be done about it; "": nothing was. */
static const char *left_out(const struct import *im, struct store *store, char *text, size_t size)
{
    struct counts skips = {0};
    *text = 0;
    if (im->context.skips.total && store_rows(store, "skipped", add_count, &skips, NULL) == 0)
        (void)snprintf(text, size, "left out %" PRIu64 ": %s%s%s", im->context.skips.total, skips.text,
                       *im->context.advice ? "; " : "", im->context.advice);
    return text;
}

static void summarise(struct import *im, uint64_t records, size_t batches, size_t services, double took)
{
    struct counts drops = {0};
    char skips[640] = "";
    struct store *back = store_open(output, NULL);
    if (back) {
        (void)left_out(im, back, skips, sizeof skips);
        (void)store_rows(back, "dropped", add_count, &drops, NULL);
    }
    cmd_say("%s: %" PRIu64 " records from %d input%s (%s)", output, records, im->count, im->count == 1 ? "" : "s",
            im->names);
    if (im->context.note[0])
        cmd_say("%s", in_words(im->context.note, sizeof im->context.note));
    if (opt_verbose)
        cmd_say("%.2f s, %.1f million records a second", took, 1e-6 * (double)records / took);
    if (services)
        cmd_say("%zu services in %zu batches", services, batches);
    const char *clock = back ? store_origin_get(back, "merge.clock") : NULL;
    if (clock && strcmp(clock, "assumed") == 0)
        cmd_say("warning: nothing in the inputs says that their times are of one clock: they are put in order as if "
                "they were");
    store_close(back);
    if (*skips)
        cmd_say("%s", skips);
    if (im->context.late)
        cmd_say("%" PRIu64 " records are earlier than one before them: a replay takes them in order of time",
                im->context.late);
    if (drops.total)
        cmd_say("the source lost %" PRIu64 ": %s", drops.total, drops.text);
}

/* Finish an input that was cut off: its records stay and the trace is incomplete; with --strict it fails. */
static int finish_incomplete(struct import *im)
{
    struct err err = {""};
    struct store *store = im->context.store;
    (void)in_words(im->context.incomplete, sizeof im->context.incomplete);
    if (strict) {
        err_set(&err, "%s", im->context.incomplete);
        return give_up(im, EXIT_INCOMPLETE, &err);
    }
    if ((!im->context.inherited && store_origin(store, "state.why", im->context.incomplete, &err)) ||
        store_keep(store, &err))
        return give_up(im, EXIT_DATA, &err);
    cmd_say("%s; %s keeps %" PRIu64 " records, marked incomplete", im->context.incomplete, output, records_of(store));
    store_close(store);
    return EXIT_DONE;
}

static int finish(struct import *im, int64_t started)
{
    struct err err = {""};
    struct store *store = im->context.store;
    size_t batches = 0, services = 0;
    if (batches_write(store, &batches, &services, &err))
        return give_up(im, EXIT_DATA, &err);
    if (im->context.incomplete[0])
        return finish_incomplete(im);
    int64_t counters = 0; /* a recording of them alone has no record */
    uint64_t records =
        store_flush(store, &err) || store_row_count(store, "counters", &counters, &err) ? 0 : records_of(store);
    if (err.msg[0])
        return give_up(im, EXIT_DATA, &err);
    if (records == 0 && counters == 0) {
        char skips[400];
        const char *sep = *left_out(im, store, skips, sizeof skips) ? "; " : "";
        err_set(&err, "nothing to import: no input holds a record%s%s", sep, skips);
        return give_up(im, EXIT_NOTHING, &err);
    }
    if (store_finish(store, &err))
        return give_up(im, EXIT_DATA, &err);
    store_close(store);
    im->context.store = NULL;
    summarise(im, records, batches, services, 1e-9 * (double)(clock_ns(CLOCK_MONOTONIC) - started));
    return EXIT_DONE;
}

static uint64_t total_bytes(int argc, char **argv)
{
    uint64_t total = 0;
    struct stat st;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "-") == 0 || stat(argv[i], &st) || !S_ISREG(st.st_mode))
            return 0;
        total += (uint64_t)st.st_size;
    }
    return total;
}

static int import_all(struct import *im, int argc, char **argv)
{
    struct err err = {""};
    const struct reader *joint;
    int status = find_joint(argc, argv, &joint);
    if (status)
        return status;
    if (joint)
        return read_joint(im, joint, argc, argv, &err) ? give_up(im, EXIT_DATA, &err) : EXIT_DONE;
    for (int i = 0; i < argc; i++) {
        const struct reader *reader = NULL;
        struct input_stream *source = NULL;
        im->context.path = argv[i];
        im->context.file_index = i;
        int rc = open_input(argv[i], &reader, &source, &err);
        /* The file is made when the first input is known to be good for something. */
        if (rc == 0 && i == 0) {
            void *values = read_options(reader, &err);
            if (!values) {
                input_stream_close(source);
                return cmd_usage("%s", err.msg);
            }
            free(values);
            rc = create_trace(im, &err);
        }
        if (rc == 0)
            rc = read_input(im, reader, source, &err);
        input_stream_close(source);
        if (rc)
            return give_up(im, EXIT_DATA, &err);
    }
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    int status = check_operands(argc, argv);
    if (status)
        return status;
    static struct import im;
    im.context.strict = strict;
    im.count = argc;
    const int64_t started = clock_ns(CLOCK_MONOTONIC);
    atomic_store(&im.progress.total, total_bytes(argc, argv));
    struct progress_line *meter = progress_line_start(&im.progress, "import");
    struct err err = {""};
    for (int i = 0; i < argc && !status; i++)
        if (unpack_database(&argv[i], &err))
            status = cmd_fail(EXIT_DATA, "%s", err.msg);
    status = status ? status : import_all(&im, argc, argv);
    progress_line_stop(meter);
    status = status ? status : finish(&im, started);
    remove_unpacked();
    return status;
}

const struct command cmd_import = {
    .name = "import",
    .summary = "make a trace from other tools' recordings",
    .usage = "INPUT... -o FILE [OPTIONS]",
    .details = "The format is found by content, packed (gzip, xz, zstd) or not; '-' is standard input. Items that "
               "cannot be kept are counted by reason; a malformed input is an error with its place. Several recordings "
               "become one trace.",
    .examples = "  offchip import recording.csv.xz -o s.db\n"
                "  offchip import app.1041.db app.1042.db -o app.db\n"
                "  offchip import --columns time=ts,addr=address,kind=op --kinds R=DRAM_READ,W=DRAM_WRITE --time-unit "
                "us t.csv -o t.db",
    .options = options,
    .run = run,
};
