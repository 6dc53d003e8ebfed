/* offchip calibrate: fit a platform to measurements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/table.h"
#include "models/base/platform.h"
#include "replay/calibrate/calibrate.h"
#include "trace/store/output.h"

static const char *output, *base, *predict;
static bool force;
static int format;

static const struct opt options[] = {
    OPT("output", 'o', OPT_TEXT, "FILE.ini", &output, "the platform file to write (needed)"),
    OPT("base", 0, OPT_TEXT, "PLATFORM", &base, "where all other numbers come from (default: the engine's platform)"),
    OPT("predict", 0, OPT_TEXT, "CSV", &predict, "zerocopy: rows to predict with what was fitted to the others"),
    OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite FILE.ini"),
    OPT_FORMAT(&format),
    {0}};

static const struct {
    const char *name, *base;
    int (*fit)(struct calibration *c, const struct measurements *from, struct err *err);
} kinds[] = {{"uvm", "h200", calibrate_uvm},
             {"zerocopy", "v100", calibrate_zerocopy},
             {"placement", "tx2", calibrate_placement}};

/* Print the measurements and the fit; returns their array for JSON. */
static json_t *print_rows(const struct calibration *c)
{
    struct table t;
    json_t *rows = json_array();
    TABLE_BEGIN(&t, "row", "measured_ns", "fitted_ns", "deviation_pct", "bound", "predicted");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct calibrated_row *r = &c->rows[i];
        double deviation = 100 * (r->fitted_ns / r->measured_ns - 1);
        table_cell(&t, "%s", r->name);
        table_cell(&t, "%.0f", r->measured_ns);
        table_cell(&t, "%.0f", r->fitted_ns);
        table_cell(&t, "%+.2f", deviation);
        TABLE_WORDS(&t, r->bound, r->predicted ? "yes" : "no");
        json_tree_add(&rows, json_pack("{s:o,s:f,s:f,s:f,s:s,s:b}", "row", json_tree_text(r->name), "measured_ns",
                                       r->measured_ns, "fitted_ns", r->fitted_ns, "deviation_pct", deviation, "bound",
                                       r->bound, "predicted", r->predicted));
    }
    if (c->row_count && format == FORMAT_TABLE) {
        (void)putchar('\n');
        table_print(&t, stdout);
    }
    table_release(&t);
    return rows;
}

static int print(const struct calibration *c)
{
    struct table t;
    json_t *rows = json_array();
    TABLE_BEGIN(&t, "number", "value", "standard_error", "rows", "residual_rms", "r2", "from");
    for (size_t i = 0; i < c->count; i++) {
        const struct calibrated *n = &c->numbers[i];
        table_cell(&t, "%s.%s", n->section, n->key);
        table_cell(&t, "%.6g", n->value);
        table_cell(&t, isfinite(n->error) ? "%.3g" : "not identified", n->error);
        table_cell(&t, "%zu", n->rows);
        table_cell(&t, "%.3g %s", n->rms, n->rms_unit);
        table_cell(&t, "%.4f", n->r2);
        table_cell(&t, "%s", n->from);
        json_t *error = isfinite(n->error) ? json_real(n->error) : json_null();
        json_tree_add(&rows, json_pack("{s:s,s:s,s:f,s:o,s:I,s:f,s:f,s:s}", "section", n->section, "key", n->key,
                                       "value", n->value, "standard_error", error, "rows", (json_int_t)n->rows,
                                       "residual_rms", n->rms, "r2", n->r2, "from", n->from));
    }
    int status = EXIT_DONE;
    if (format == FORMAT_JSON) {
        json_t *notes = c->limits ? json_copy(c->limits) : json_array();
        for (size_t i = 0; i < c->note_count; i++)
            json_tree_add(&notes, json_tree_text(c->notes[i]));
        json_t *root =
            json_pack("{s:i,s:O,s:o,s:o}", "schema", 1, "numbers", rows, "notes", notes, "rows", print_rows(c));
        status = cmd_print_json(root);
    } else if (format == FORMAT_CSV) {
        table_csv(&t, stdout);
    } else {
        table_print(&t, stdout);
        json_decref(print_rows(c));
    }
    json_decref(rows);
    table_release(&t);
    return status;
}

/* Write the file, then print what was fitted. */
static int write_file(const struct calibration *c, const char *from)
{
    struct err err = {""};
    struct output file;
    char name[64];
    const char *slash = strrchr(output, '/');
    (void)snprintf(name, sizeof name, "%s", slash ? slash + 1 : output);
    char *dot = strrchr(name, '.');
    if (dot)
        *dot = 0;
    if (output_open(&file, output, force, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int rc = calibration_write(c, name, from, file.file, &err) ? err_at(&err, "cannot write '%s'", output) : 0;
    if (output_close(&file, rc, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("wrote %s", output);
    return print(c);
}

/* Check the base platform: it is read with the file that is based on it. */
static int check_base(void)
{
    struct err err = {""};
    struct platform *platform = base ? platform_load(base, &err) : NULL;
    platform_free(platform);
    return base && !platform ? cmd_usage("--base: %s", err.msg) : EXIT_DONE;
}

static int run(int argc, char **argv)
{
    if (argc < 2)
        return cmd_usage("what to fit and measurements are needed: offchip calibrate uvm RECORDING... -o FILE.ini");
    if (!output)
        return cmd_usage("-o FILE.ini is needed");
    cmd_reads_all((const char *const *)argv + 1, (size_t)argc - 1);
    cmd_reads(base);
    cmd_reads(predict);
    int status = check_base();
    status = status ? status : cmd_writes(output, force);
    if (status)
        return status;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, argv[0]) != 0)
            continue;
        struct calibration c;
        struct err err = {""};
        struct measurements from = {.paths = (const char *const *)argv + 1,
                                    .count = (size_t)argc - 1,
                                    .base = base ? base : kinds[i].base,
                                    .predict = predict};
        if (predict && kinds[i].fit != calibrate_zerocopy)
            return cmd_usage("--predict is for zerocopy only");
        const int failed = kinds[i].fit(&c, &from, &err);
        cmd_say_notes(c.limits);
        status = failed ? cmd_fail(EXIT_DATA, "%s", err.msg) : write_file(&c, from.base);
        for (size_t n = 0; n < c.note_count && status == EXIT_DONE; n++)
            cmd_say("%s", c.notes[n]);
        calibration_release(&c);
        return status;
    }
    return cmd_usage("cannot calibrate '%s'; expected uvm, zerocopy or placement", argv[0]);
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .summary = "fit a platform's numbers to recordings or micro-benchmarks",
    .usage = "uvm|zerocopy|placement RECORDING|CSV... -o FILE.ini [OPTIONS]",
    .details = "uvm takes recordings, zerocopy CSV of requests and times, or recordings with counters, placement CSV "
               "with the header what,bytes,ms. The manual page names the columns. Prints each number with its standard "
               "error, and what the input cannot tell.",
    .examples = "  offchip calibrate uvm recording.db -o my-gpu.ini --base h200\n"
                "  offchip calibrate zerocopy rows.csv -o my-link.ini --base h200 --predict others.csv\n"
                "  offchip calibrate placement microbenchmarks.csv -o my-board.ini",
    .options = options,
    .run = run,
};
