#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/graph/graph.h"
#include "trace/workloads/graph/graph_source.h"
#include "trace/workloads/workload.h"

/* All that can be read, or written. */
static void format_names(bool written, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; graph_formats[i] && used < size; i++)
        if (!written || graph_formats[i]->write)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", graph_formats[i]->name);
}

static const struct graph_format *named(const char *name, struct err *err)
{
    const struct graph_format *format = graph_format_find(name);
    char known[128];
    format_names(false, known, sizeof known);
    if (!format)
        (void)err_set(err, "no graph format is called '%s'; expected one of %s", name, known);
    return format;
}

/* The workload's graph is handed over: it is moved out of the state. */
static int generate(const char *spec, struct graph *graph, struct err *err)
{
    struct workload w;
    if (workload_open(&w, spec, err))
        return -1;
    if (w.type->produces != WORKLOAD_GRAPH) {
        (void)err_set(err, "workload %s makes no graph", w.type->name);
        workload_close(&w);
        return -1;
    }
    struct graph *made = w.state;
    *graph = *made;
    memset(made, 0, sizeof *made);
    workload_close(&w);
    return 0;
}

int graph_file_read(const char *spec, const char *from, const struct graph_options *options, struct graph *graph,
                    struct err *err)
{
    memset(graph, 0, sizeof *graph);
    if (strncmp(spec, "synth:", 6) == 0)
        return generate(spec + 6, graph, err);
    const struct graph_format *format = from ? named(from, err) : NULL;
    if (from && !format)
        return -1;
    return graph_load(spec, format, options, graph, err);
}

static const struct graph_format *format_of(const char *path, const char *to, struct err *err)
{
    const struct graph_format *format = to ? named(to, err) : graph_format_by_suffix(path);
    char known[128];
    format_names(true, known, sizeof known);
    if (!format && !to)
        (void)err_set(err, "'%s' has the ending of no graph format (%s); name one with --to", path, known);
    if (format && !format->write) {
        (void)err_set(err, "format %s is only read; expected one of %s", format->name, known);
        return NULL;
    }
    return format;
}

struct writing {
    bool force;
};

static int writes(void *ctx, const char *file)
{
    return cmd_writes(file, ((const struct writing *)ctx)->force);
}

int graph_file_writes(const char *path, const char *to, bool force)
{
    struct err err = {""};
    const struct graph_format *format = format_of(path, to, &err);
    if (!format)
        return cmd_usage("%s", err.msg);
    return graph_format_files(format, path, writes, &(struct writing){force});
}

int graph_file_write(const char *path, const char *to, bool force, const struct graph *graph, struct err *err)
{
    const struct graph_format *format = format_of(path, to, err);
    return format ? format->write(path, force, graph, err) : -1;
}
