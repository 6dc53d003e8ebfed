/* offchip synth: a generated trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/progress_line.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/event/dram_map.h"
#include "trace/graph/graph.h"
#include "trace/program/pages.h"
#include "trace/store/store.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

static const char *output;
static bool force;

static const struct opt options[] = {OPT("output", 'o', OPT_TEXT, "FILE", &output, "the trace to make"),
                                     OPT("force", 'f', OPT_FLAG, NULL, &force, "overwrite FILE"),
                                     {0}};

/* The keys of the workload, checked, as the origin keeps them. */
static int store_keys(struct store *store, const struct workload *w, const char *spec, struct err *err)
{
    if (store_origin(store, "workload", w->type->name, err) || store_origin(store, "workload.spec", spec, err) ||
        store_origin(store, "workload.source", w->type->source, err))
        return -1;
    char note[200];
    if (workload_size_note(w, note, sizeof note) && store_origin(store, "workload.size_note", note, err))
        return -1;
    for (const struct param *p = w->type->params; p && p->name; p++) {
        char key[96], value[256];
        (void)snprintf(key, sizeof key, "workload.%s", p->name);
        if (store_origin(store, key, param_format(p, w->params, value, sizeof value), err))
            return -1;
    }
    return 0;
}

/* Store the structures that SCAN records name by row, and the launch parameters. */
static int store_structures(struct store *store, const struct scan_ops *ops, void *state, struct err *err)
{
    struct scan_setup setup;
    char text[32];
    ops->setup(state, &setup);
    (void)snprintf(text, sizeof text, "%" PRIu64, setup.lanes);
    if (store_origin(store, "workload.lanes", text, err))
        return -1;
    (void)snprintf(text, sizeof text, "%" PRIu64, scan_runs(ops, state));
    if (store_origin(store, "workload.runs", text, err))
        return -1;
    for (size_t i = 0; i < setup.structure_count; i++) {
        const struct scan_structure *s = &setup.structures[i];
        if (STORE_ROW(store, "structures", err, STORE_V_INT(i), STORE_V_TEXT(s->name), STORE_V_INT(s->base),
                      STORE_V_INT(s->element), STORE_V_INT(s->elements),
                      i + 1 < setup.structure_count ? STORE_V_INT(i + 1) : STORE_V_NULL))
            return -1;
    }
    return 0;
}

/* Name the stream for this kind of workload, and say whether its records have times. */
static void describe(const struct workload_type *type, struct stream *stream)
{
    (void)snprintf(stream->name, sizeof stream->name, "%s", type->produces == WORKLOAD_SCANS ? "scans" : "requests");
    stream->unit = TIME_NONE;
    stream->space = ADDR_BYTES;
    if (type->produces == WORKLOAD_REQUESTS) { /* trace/workloads/workload.h */
        stream->unit = TIME_CYCLES;
        (void)snprintf(stream->clock, sizeof stream->clock, "dram");
        stream->space = ADDR_DRAM_PACKED;
        (void)snprintf(stream->addr_layout, sizeof stream->addr_layout, "%s", DRAM_ADDR_LAYOUT);
    }
}

static int write_records(struct store *store, struct workload *w, struct progress *progress, struct err *err)
{
    struct stream stream = {0};
    describe(w->type, &stream);
    int index;
    struct record *records = mem_zalloc(STORE_BATCH, sizeof *records, err);
    int rc = records ? store_stream_add(store, &stream, &index, err) : -1;
    for (size_t n = 1; rc == 0 && n;) {
        rc = w->type->next(w->state, records, STORE_BATCH, &n, err);
        if (rc == 0 && n)
            rc = store_append(store, index, records, NULL, n, err);
        progress_add(progress, n);
    }
    free(records);
    return rc;
}

static void count(void *progress, size_t records)
{
    progress_add(progress, records);
}

/* A program, by the pages it touches. */
static int write_touches(struct store *store, struct workload *w, struct progress *progress, struct err *err)
{
    struct program program;
    struct program_pages *pages = mem_zalloc(1, sizeof *pages, err);
    int rc = !pages || w->type->program(w->state, &program, err) || program_pages_init(pages, &program, NULL, err) ||
                     touches_write(store, &program_pages_ops, pages, count, progress, err)
                 ? -1
                 : 0;
    free(pages);
    return rc;
}

static int write_trace(const char *spec, struct workload *w, uint64_t *total, struct err *err)
{
    struct store *store = store_create(output, force ? OUTPUT_REPLACE : OUTPUT_NEW, cmd_line(), err);
    if (!store)
        return -1;
    struct progress progress = {0};
    struct progress_line *meter = progress_line_start(&progress, "records");
    int rc = store_keys(store, w, spec, err);
    if (rc == 0 && w->type->produces == WORKLOAD_SCANS)
        rc = store_structures(store, w->type->ops, w->state, err);
    if (rc == 0)
        rc = w->type->produces == WORKLOAD_PROGRAM ? write_touches(store, w, &progress, err)
                                                   : write_records(store, w, &progress, err);
    progress_line_stop(meter);
    *total = atomic_load(&progress.done);
    if (rc == 0)
        rc = store_finish(store, err);
    store_close(store);
    return rc;
}

/* A generated graph goes to graph files, not to a trace. */
static int write_graph(const struct workload *w, struct err *err)
{
    const struct graph *graph = w->state;
    if (cmd_graph_write(output, force, graph, err))
        return cmd_fail(EXIT_DATA, "%s", err->msg);
    cmd_say("%s: %" PRIu64 " vertices, %" PRIu64 " elements of %s", output, graph->vertices, graph->elements,
            w->type->name);
    return EXIT_DONE;
}

/* Before anything is generated. */
static int check_output(const char *spec, struct err *err)
{
    char name[64];
    if (workload_check(spec, err))
        return cmd_usage("%s", err->msg);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ","), spec);
    const struct workload_type *type = workload_find(name);
    return type && type->produces == WORKLOAD_GRAPH ? cmd_graph_writes(output, force) : cmd_writes(output, force);
}

static int run(int argc, char **argv)
{
    if (argc != 1)
        return cmd_usage("expected one workload, NAME[,key=value...]; see 'offchip list programs'");
    if (!output)
        return cmd_usage("an output is needed: -o FILE");
    const char *spec = strncmp(argv[0], "synth:", 6) == 0 ? argv[0] + 6 : argv[0];
    struct workload w;
    struct err err = {""};
    char note[200];
    uint64_t total = 0;
    cmd_reads(strchr(spec, ',')); /* the keys */
    int status = check_output(spec, &err);
    if (status)
        return status;
    if (workload_open(&w, spec, &err))
        return cmd_usage("%s", err.msg);
    if (w.type->produces == WORKLOAD_GRAPH)
        status = write_graph(&w, &err);
    else if ((!w.type->next && w.type->produces != WORKLOAD_PROGRAM) || w.type->beside)
        status = cmd_usage("workload %s cannot be written as a trace", w.type->name);
    else if (write_trace(spec, &w, &total, &err))
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    else
        cmd_say("%s: %" PRIu64 " records of %s", output, total, w.type->name);
    if (!status && workload_size_note(&w, note, sizeof note))
        cmd_say("%s", note);
    workload_close(&w);
    return status;
}

const struct command cmd_synth = {
    .name = "synth",
    .summary = "write a generated program as a trace, or a generated graph",
    .usage = "PROGRAM[,key=value...] -o FILE [--force]",
    .details = "'offchip list programs' names them and their keys. A graph (kron, urand) goes into the format of "
               "FILE's ending: NAME.bel, .sg, .mtx or .el.",
    .examples = "  offchip synth conv2d,bytes=64MiB -o conv.db\n"
                "  offchip synth array,bytes=256MiB,pattern=random -o random.db --force",
    .options = options,
    .run = run,
};
