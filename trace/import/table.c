/* table: a table of another tool as text: what its columns are called and which words it has for our kinds is given, or
 * it is one that the profilers of NVIDIA print (nvprof --print-gpu-trace, as csv or not; nsys stats -r cuda_gpu_trace).
 *
 *     columns=[time=timestamp,addr=address,kind=op]   ours=theirs; others are left out. One of theirs may be two of
 *                                                     ours; of two that are one of ours the first that is not empty
 *                                                     counts. Numbers (time=1,addr=3) stand for columns, from 1 on, of
 *                                                     a table without a header; addr=3.. for all from there on, one
 *                                                     record each (-1 and empty: none)
 *     kinds=[R=DRAM_READ,Memcpy*=COPY,*=KERNEL]       theirs=ours[/flags]; * in a word is any text, alone any word
 *                                                     that is not in brackets; of copies without flags the word says
 *                                                     the direction; or one kind, of all rows: kinds=DRAM_READ
 *
 * Units stand behind a number (25us), in a row of units below the header, behind a title (Bytes (MB)), or are those of
 * options time_unit and bytes_unit. Rows whose word is not listed, or that have no word, are left out and counted. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/param_value.h"
#include "trace/import/table_rows.h"

struct options {
    const char *columns, *kinds;
    int64_t time_unit, bytes_unit, bytes;
    struct csv_stream_options stream;
};

enum { ROW_TIME_UNIT = 2, ROW_BYTES_UNIT, UNIT_CYCLES = 4 };

static const struct param options[] = {
    PARAM_TEXT_ROW(options, columns, NULL, "its names of our columns: [time=timestamp,addr=address]; or their numbers"),
    PARAM_TEXT_ROW(options, kinds, NULL, "its words for kinds: [R=DRAM_READ,W=DRAM_WRITE]; or the kind of all rows"),
    PARAM_CHOICE_ROW(options, time_unit, "ns|us|ms|s|cycles", 0, "of times that say no unit"),
    PARAM_CHOICE_ROW(options, bytes_unit, "B|KB|MB|GB|KiB|MiB|GiB", 0, "of bytes that say no unit"),
    PARAM_BYTES_ROW(options, bytes, 0, 1e15, 0, "of rows without a column of bytes"),
    CSV_STREAM_ROWS(options, stream),
    {0}};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct options o;
    struct table_columns t;
    struct table_rows rows;
    bool headed, first; /* a header was met; a row of units may follow */
    bool addressed;     /* a header had a column of addresses */
};

static unsigned long long line_of(const struct reading *g)
{
    return (unsigned long long)input_stream_line_number(g->source);
}

/* Where units stand nowhere else, they are those of the options. */
static int default_units(struct reading *g, struct err *err)
{
    for (size_t i = 0; i < g->t.count; i++) {
        struct table_map *m = &g->t.maps[i];
        const bool time = m->ours == TIME || m->ours == DUR;
        const enum text_quantity quantity = time ? QUANTITY_TIME : QUANTITY_BYTES;
        char name[16];
        (void)param_choice(&options[time ? ROW_TIME_UNIT : ROW_BYTES_UNIT], time ? g->o.time_unit : g->o.bytes_unit,
                           name, sizeof name);
        if ((time || m->ours == BYTES) && m->unit.quantity != quantity &&
            !text_table_unit(&(struct field){name, strlen(name)}, false, &m->unit))
            m->unit = (struct text_unit){quantity, 1}; /* cycles */
    }
    if (!table_columns_has(&g->t, KIND) && g->t.only == RECORD_NONE)
        return err_set(err, "line %llu: no column is the kind, and option kinds does not say it", line_of(g));
    g->rows.stream.unit = !table_columns_has(&g->t, TIME) ? TIME_NONE
                          : g->o.time_unit == UNIT_CYCLES ? TIME_CYCLES
                                                          : TIME_NS;
    return 0;
}

/* What a profiler prints around its table: "==4242== NVPROF is profiling process 4242". */
static bool is_talk(struct reading *g, const char *line)
{
    const char *p = line + 2;
    uint64_t process;
    if (strncmp(line, "==", 2) == 0 && field_digits(&p, &process) && process < INT32_MAX)
        g->rows.process = (int64_t)process;
    return g->t.known && strncmp(line, "==", 2) == 0;
}

static int take_cells(struct reading *g, char *line, struct err *err)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, g->t.separator, cells);
    if (g->first && g->t.known && strncmp(line + strspn(line, " "), "---", 3) == 0)
        return err_set(err,
                       "line %llu: a table whose empty cells are blanks; 'nsys stats -f csv' prints one that import "
                       "reads",
                       line_of(g));
    if (g->first && table_columns_units(&g->t, cells, n))
        return 0;
    if (g->first && default_units(g, err))
        return -1;
    g->first = false;
    if (n == g->t.width || (n > g->t.width && g->t.maps[0].many))
        return table_rows_add(&g->rows, cells, n, err);
    if (g->t.known)
        return reader_skip_line(g->context, "not as many cells as the header", g->source, err);
    return err_set(err, "line %llu: %s; the header row names %zu columns", line_of(g),
                   n == 0           ? "a quote is not closed"
                   : n > g->t.width ? "more fields than columns"
                                    : "fewer fields than columns",
                   g->t.width);
}

static int take_line(struct reading *g, char *line, size_t length, struct err *err)
{
    const char *missing;
    if (memchr(line, 0, length))
        return err_set(err, "line %llu: a zero byte in the text", line_of(g));
    if (length == 0)
        g->headed &= !g->t.known; /* the table ends, another may follow */
    if (length == 0 || *line == '#' || is_talk(g, line))
        return 0;
    if (g->headed)
        return take_cells(g, line, err);
    const int found = table_columns_header(&g->t, line, &missing, err);
    if (found == 0 && !g->t.known)
        return err_set(err, "line %llu: no column '%.40s', which option columns names", line_of(g), missing);
    g->headed = g->first = found > 0;
    g->addressed |= found > 0 && table_columns_has(&g->t, ADDR);
    return found == 2 ? take_cells(g, line, err) : found < 0 ? -1 : 0;
}

static int read_lines(struct reading *g, struct err *err)
{
    char *line;
    size_t length;
    int more;
    while ((more = input_stream_line(g->source, &line, &length, err)) > 0) {
        if (take_line(g, line, length, err))
            return -1;
    }
    if (more == 0 && !g->t.width && !g->t.numbered)
        return err_set(err, "line %llu: no header row%s is in it", line_of(g),
                       g->t.known ? " of a table of GPU activities" : "");
    return more;
}

static int store_kinds(struct reading *g, struct err *err)
{
    static const char all[] =
        "KERNEL COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D THRASH THROTTLE REMOTE_MAP";
    if (!g->t.known || g->rows.index < 0)
        return 0;
    if (!g->addressed)
        reader_note(g->context,
                    "%s: no addresses are in it: how much migrated is known, not what; 'nsys export --type sqlite' has "
                    "them",
                    g->context->path);
    return store_origin(g->context->store, "kinds.uvm", g->addressed ? all : "KERNEL COPY", err);
}

static int read_all(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    *g = (struct reading){.context = context, .source = source, .o = *(const struct options *)context->options};
    g->rows = (struct table_rows){context, source, &g->t, &g->o.stream, g->o.bytes, .index = -1};
    int rc =
        table_columns_init(&g->t, g->o.columns, g->o.kinds, err) || read_lines(g, err) || store_kinds(g, err) ? -1 : 0;
    if (writer_flush(&g->rows.writer, rc ? NULL : err))
        rc = -1;
    writer_close(&g->rows.writer);
    table_columns_release(&g->t);
    free(g);
    return rc;
}

/* A header of what the profilers print, in the first lines. */
static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head, *end = p + n;
    char line[1024];
    while (reader_head_line(&p, end, line, sizeof line)) {
        const char *start = strstr(line, "Start"), *duration = start ? strstr(start, "Duration") : NULL;
        if (duration && duration - start <= 16 && strstr(duration, "Device") && strstr(duration, "Name") &&
            (*line == 'S' || *line == '"' || *line == ' '))
            return PROBE_YES;
    }
    return PROBE_NO;
}

const struct reader read_table = {
    .name = "table",
    .summary = "other tools' tables (--columns), and GPU traces as nvprof and nsys stats print them",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read_all,
};
