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
 * options time_unit and bytes_unit. Rows whose word is not listed, or that have no word, are left out and counted. Of
 * CPU faults `bytes` is the program counter, of GPU faults their number: neither is in a unit of bytes.
 *
 * With columns device (a number, or "GPU X (0)") or process the stream has the columns process_id, src_id and dst_id.
 * A migration without an address is none of the records: it counts, with its bytes and time, as lost by the source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/event/uvm_event.h"
#include "trace/import/csv.h"
#include "trace/import/reader.h"
#include "trace/import/table_columns.h"

struct options {
    const char *columns, *kinds;
    int64_t time_unit, bytes_unit, bytes;
    struct csv_stream_options stream;
};

static const char *const time_units[] = {"ns", "us", "ms", "s", "cycles"};
static const char *const bytes_units[] = {"B", "KB", "MB", "GB", "KiB", "MiB", "GiB"};
enum { UNIT_CYCLES = 4, SHAPE_DEVICE = 9 };

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
    bool headed, first; /* a header was met; a row of units may follow */
    int64_t process;
    struct stream stream;
    int index;
    struct writer writer;
};

static unsigned long long line_of(const struct reading *g)
{
    return (unsigned long long)input_stream_line_number(g->source);
}

static const struct field *cell_of(const struct reading *g, const struct field *cells, enum ours ours)
{
    const struct table_map *m = table_columns_find(&g->t, cells, ours);
    return m ? &cells[m->at] : NULL;
}

static bool has(const struct reading *g, enum ours ours)
{
    return table_columns_find(&g->t, NULL, ours) != NULL;
}

/* --- cells --- */

/* The number of the first digits, or of those in the last brackets: "GPU X (0)". */
static int64_t device_of(const struct field *cell)
{
    const char *open = cell ? memrchr(cell->text, '(', cell->length) : NULL;
    const char *p = open ? open + 1 : cell ? cell->text : "";
    uint64_t number = 0;
    return field_digits(&p, &number) && number < INT32_MAX ? (int64_t)number : 0;
}

/* Three numbers, as in "(64 1 1)". */
static void take_triple(const struct field *cell, struct store_value *shape)
{
    const char *p = cell ? cell->text : "", *end = cell ? p + cell->length : p;
    for (int i = 0; i < 3; i++) {
        uint64_t number;
        while (p < end && (*p < '0' || *p > '9'))
            p++;
        if (p < end && field_digits(&p, &number) && number <= INT32_MAX)
            shape[i] = STORE_V_INT((int64_t)number);
    }
}

static int add_kernel(struct reading *g, const struct field *cells, struct record *r, struct err *err)
{
    struct store_value shape[READER_SHAPE];
    const struct field *name = cell_of(g, cells, NAME), *cell;
    char *text = mem_strndup(name ? name->text : "", name ? name->length : 0, err);
    int64_t id, number;
    if (!text)
        return -1;
    for (int i = 0; i < READER_SHAPE; i++) {
        cell = cell_of(g, cells, (enum ours)(SHAPE + i));
        shape[i] = cell && text_table_number(cell, (struct text_unit){QUANTITY_NONE, 1}, false, &number)
                       ? STORE_V_INT(number)
                       : STORE_V_NULL;
    }
    take_triple(cell_of(g, cells, GRID), shape);
    take_triple(cell_of(g, cells, BLOCK), shape + 3);
    if ((cell = cell_of(g, cells, DEVICE)))
        shape[SHAPE_DEVICE] = STORE_V_INT(device_of(cell));
    const int rc =
        reader_kernel(g->context, text, g->stream.unit == TIME_NS ? r->time : INT64_MIN, r->duration, shape, &id, err);
    free(text);
    r->id = (uint64_t)id;
    r->group = has(g, GROUP) ? r->group : (uint32_t)id;
    return rc;
}

static int bad_cell(const struct reading *g, enum ours ours, const struct field *f, const char *expected,
                    struct err *err)
{
    return err_set(err, "line %llu, column %s: '%.*s'; expected %s", line_of(g), table_ours_names[ours],
                   f->length < 60 ? (int)f->length : 60, f->text, expected);
}

/* A number of a column, 0 where it is empty. */
static int take_number(const struct reading *g, const struct field *cells, enum ours ours, int64_t *value,
                       struct err *err)
{
    const struct table_map *m = table_columns_find(&g->t, cells, ours);
    const struct field *f = m ? &cells[m->at] : NULL;
    struct text_unit unit = {QUANTITY_NONE, 1};
    *value = 0;
    if (!f)
        return 0;
    if (ours == TIME || ours == DUR || ours == BYTES)
        unit = m->unit;
    const bool comma = g->t.separator == ';' && memchr(f->text, ',', f->length); /* a point in some countries */
    if (!comma && text_table_number(f, unit, g->t.binary, value) && (*value >= 0 || ours == TIME || ours == ID))
        return 0;
    return bad_cell(g, ours, f, "a number within 2^62, whole or in its unit (options time_unit, bytes_unit)", err);
}

/* Of faults the value is no size: their number, or behind "PC " a program counter. */
static int take_value(const struct reading *g, const struct field *cells, struct record *r, struct err *err)
{
    const struct field *f = cell_of(g, cells, BYTES);
    int64_t bytes;
    if (r->kind == RECORD_CPU_FAULT || r->kind == RECORD_FAULT) {
        struct field number = f ? *f : (struct field){"", 0};
        if (number.length > 3 && memcmp(number.text, "PC ", 3) == 0)
            number = (struct field){number.text + 3, number.length - 3};
        if (f && !field_unsigned(&number, r->kind == RECORD_FAULT ? &r->bytes : &r->id))
            return bad_cell(g, BYTES, f, "how many faults, or the PC of one", err);
        return 0;
    }
    if (take_number(g, cells, BYTES, &bytes, err))
        return -1;
    r->bytes = f ? (uint64_t)bytes : (uint64_t)g->o.bytes;
    return 0;
}

static int put(struct reading *g, struct record *r, const int64_t *owner, struct err *err)
{
    const bool moved = r->kind == RECORD_MIGRATE_H2D || r->kind == RECORD_MIGRATE_D2H || r->kind == RECORD_MIGRATE_D2D;
    if (moved && !has(g, ADDR) && !g->context->strict)
        return reader_lose(g->context, r);
    if ((moved || r->kind == RECORD_FAULT || r->kind == RECORD_CPU_FAULT) && !has(g, ADDR))
        return reader_skip_line(g->context, "no address", g->source, err);
    if (g->index < 0) {
        csv_stream_name(&g->stream, &g->o.stream, (enum record_kind)r->kind);
        if (reader_stream(g->context, &g->stream, &g->index, err) ||
            writer_open(&g->writer, g->context->store, g->index, g->t.owners ? 3 : 0, err))
            return -1;
    }
    return writer_add(&g->writer, r, owner, err);
}

/* The record of a row, once for each of its addresses. */
static int put_all(struct reading *g, const struct field *cells, size_t n, struct record *r, struct err *err)
{
    const struct table_map *m = table_columns_find(&g->t, NULL, ADDR);
    const struct field *process = cell_of(g, cells, PROCESS);
    const int64_t gpu = device_of(cell_of(g, cells, DEVICE));
    int64_t owner[3];
    uvm_event_owner((enum record_kind)r->kind, process ? device_of(process) : g->process, gpu, gpu, owner);
    for (size_t i = m ? (size_t)m->at : n - 1; i < n; i = m && m->many ? i + 1 : n) {
        const bool none = !m || !cells[i].length || field_is(&cells[i], "-1");
        r->addr = 0;
        if (!none && !field_unsigned(&cells[i], &r->addr))
            return bad_cell(g, ADDR, &cells[i], "an address, decimal or 0x hexadecimal", err);
        if ((!none || !m || !m->many) && put(g, r, owner, err))
            return -1;
    }
    return 0;
}

static int take_row(struct reading *g, const struct field *cells, size_t n, struct err *err)
{
    static const enum ours numbers[] = {TIME, DUR, FLAGS, ID, GROUP};
    struct record r = {.kind = g->t.only};
    int64_t at[5];
    const char *why = g->t.only ? NULL : table_columns_kind(&g->t, cell_of(g, cells, KIND), &r);
    if (why)
        return reader_skip_line(g->context, why, g->source, err);
    for (int i = 0; i < 5; i++)
        if (take_number(g, cells, numbers[i], &at[i], err))
            return -1;
    r.time = at[0];
    r.duration = at[1];
    r.flags = has(g, FLAGS) ? (uint32_t)at[2] : r.flags;
    r.id = (uint64_t)at[3];
    r.group = (uint32_t)at[4];
    if (take_value(g, cells, &r, err) || (r.kind == RECORD_KERNEL && add_kernel(g, cells, &r, err)))
        return -1;
    return put_all(g, cells, n, &r, err);
}

/* --- lines --- */

/* Where units stand nowhere else, they are those of the options. */
static int default_units(struct reading *g, struct err *err)
{
    for (size_t i = 0; i < g->t.count; i++) {
        struct table_map *m = &g->t.maps[i];
        const bool time = m->ours == TIME || m->ours == DUR;
        const char *name = time ? time_units[g->o.time_unit] : bytes_units[g->o.bytes_unit];
        const enum text_quantity quantity = time ? QUANTITY_TIME : QUANTITY_BYTES;
        if ((time || m->ours == BYTES) && m->unit.quantity != quantity &&
            !text_table_unit(&(struct field){name, strlen(name)}, false, &m->unit))
            m->unit = (struct text_unit){quantity, 1}; /* cycles */
    }
    if (!has(g, KIND) && g->t.only == RECORD_NONE)
        return err_set(err, "line %llu: no column is the kind, and option kinds does not say it", line_of(g));
    g->stream.unit = !has(g, TIME) ? TIME_NONE : g->o.time_unit == UNIT_CYCLES ? TIME_CYCLES : TIME_NS;
    return 0;
}

/* What a profiler prints around its table: "==4242== NVPROF is profiling process 4242". */
static bool is_talk(struct reading *g, const char *line)
{
    const char *p = line + 2;
    uint64_t process;
    if (strncmp(line, "==", 2) == 0 && field_digits(&p, &process) && process < INT32_MAX)
        g->process = (int64_t)process;
    return g->t.known && strncmp(line, "==", 2) == 0;
}

static int take_cells(struct reading *g, char *line, struct err *err)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, g->t.separator, cells);
    if (g->first && table_columns_units(&g->t, cells, n))
        return 0;
    if (g->first && default_units(g, err))
        return -1;
    g->first = false;
    if (n == g->t.width || (n > g->t.width && g->t.maps[0].many))
        return take_row(g, cells, n, err);
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
    return found == 2 ? take_cells(g, line, err) : found < 0 ? -1 : 0;
}

static int read_lines(struct reading *g, struct err *err)
{
    char *line;
    size_t length;
    int more;
    while ((more = input_stream_line(g->source, &line, &length, err)) > 0) {
        const size_t mark = line_of(g) == 1 && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        if (take_line(g, line + mark, length - mark, err))
            return -1;
    }
    if (more == 0 && !g->t.width)
        return err_set(err, "line %llu: no header row of a table of GPU activities is in it", line_of(g));
    return more;
}

static int store_kinds(struct reading *g, struct err *err)
{
    const bool addressed = has(g, ADDR);
    if (!g->t.known || g->index < 0)
        return 0;
    if (!addressed)
        reader_note(g->context,
                    "%s: no addresses are in it: how much migrated is known, not what; 'nsys export --type "
                    "sqlite' has them",
                    g->context->path);
    return store_origin(g->context->store, "kinds.uvm",
                        addressed ? "KERNEL COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H "
                                    "MIGRATE_D2D THRASH THROTTLE REMOTE_MAP"
                                  : "KERNEL COPY",
                        err);
}

static int set_up(struct reading *g, struct err *err)
{
    if (g->context->options)
        g->o = *(const struct options *)g->context->options;
    if (table_columns_init(&g->t, g->o.columns, g->o.kinds, err))
        return -1;
    if (g->t.cycles)
        g->o.time_unit = UNIT_CYCLES;
    for (int i = 0; g->t.owners && i < 3; i++)
        (void)snprintf(g->stream.extra[i], sizeof g->stream.extra[i], "%s",
                       ((const char *const[]){"process_id", "src_id", "dst_id"})[i]);
    return 0;
}

static int read_all(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    g->index = -1;
    int rc = set_up(g, err) || read_lines(g, err) || store_kinds(g, err) ? -1 : 0;
    if (writer_flush(&g->writer, rc ? NULL : err))
        rc = -1;
    writer_close(&g->writer);
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
    .fills = FACTS_ALL,
    .probe = probe,
    .read = read_all,
};
