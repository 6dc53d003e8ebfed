/* csv: our plain text form of records. The header row names the columns, in any order:
 *
 *     # offchip csv 3
 *     # state complete
 *     # fact kernels [0,"f(int)",0,10,5,64,1,1,256,1,1,16,0,0,0,7]
 *     # stream ["uvm","ns","",0,"bytes",""]
 *     kind,time_ns,dur_ns,addr,bytes,flags,id,group,name
 *     COPY,10,5,0x7f0000000000,4096,0,0,0,
 *     # records 1
 *
 * What the first line and those after it say is all that a trace holds (trace/store/facts.h): whether it is complete;
 * every row of its tables, as JSON in the order of trace/store/schema.sql, without NULLs at its end; and before each
 * header row the name, time unit, clock, Hz, address space and address layout of the stream that follows. Numbers of
 * kernels are those of the rows; `name` is for people. Facts of origin that say what the file was made of become
 * input.N.KEY. A second file's facts are refused beside those of a first: their numbers would mean two things.
 *
 * Such a file must end with the line that states its records; without, it is cut off: what it holds is kept, and the
 * trace is incomplete. So must a file whose first line says "# offchip csv 2", which has none of the other lines: its
 * kernels are those of column name. Files without a first line of ours are such files without an end.
 *
 * kind      a name of record_kinds[] ("MIGRATE_H2D"); required
 * time_ns   or time_cycles; none: the stream has no time. dur_ns or dur_cycles goes with it
 * time_none and dur_none, of a stream without times: what else such records keep there (docs/trace-format.md)
 * addr      byte address, decimal or 0x hexadecimal; bytes, flags, id, group: unsigned numbers, 0 where empty
 * name      of a KERNEL row, as csv_text.h writes texts: stored in table kernels, whose row the record's id then is
 * extra:X   a further signed 64-bit column X, at most four
 *
 * Lines may end in LF or CRLF; empty lines and lines that start with # are passed over; a field may stand in double
 * quotes ("" is one quote). A line that does not fit is an error with its number and column: nothing is guessed.
 * Left out and counted: kinds that are never stored (NONE, SKIPPED). `offchip export --format csv` writes this form.
 *
 * Another tool's table is read by reader table (trace/import/table.c).
 *
 * Options: stream (its name; by default from the first record's kind: uvm, tlp, accesses, touches, scans, requests),
 * clock and clock_hz (of time_cycles). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/csv_text.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/import/csv.h"
#include "trace/import/field.h"
#include "trace/import/reader.h"
#include "trace/store/facts.h"
#include "trace/store/schema.h"

/* --- the table --- */

enum column {
    COLUMN_KIND,
    COLUMN_TIME_NS,
    COLUMN_TIME_CYCLES,
    COLUMN_TIME_NONE,
    COLUMN_DUR_NS,
    COLUMN_DUR_CYCLES,
    COLUMN_DUR_NONE,
    COLUMN_ADDR,
    COLUMN_BYTES,
    COLUMN_FLAGS,
    COLUMN_ID,
    COLUMN_GROUP,
    COLUMN_NAME,
    COLUMN_EXTRA, /* COLUMN_EXTRA + i is extra column i */
};

enum { MOST_COLUMNS = 256 };

static const char *const column_names[COLUMN_EXTRA] = {"kind",       "time_ns",  "time_cycles", "time_none", "dur_ns",
                                                       "dur_cycles", "dur_none", "addr",        "bytes",     "flags",
                                                       "id",         "group",    "name"};
#define COLUMN_LIST "kind, time_ns or time_cycles, dur_ns or dur_cycles, addr, bytes, flags, id, group, name, extra:X"

struct options {
    struct csv_stream_options stream;
};

static const struct param options[] = {CSV_STREAM_ROWS(options, stream), {0}};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct options options;
    enum column columns[MOST_COLUMNS]; /* by position in the line */
    size_t column_count, extra_count;
    bool has[COLUMN_EXTRA];
    enum record_kind kind; /* of the last row */
    struct stream stream;
    int index;                   /* of the stream; -1 before the first record */
    int version;                 /* of a file of ours, which promises a last line; 0: it is none */
    bool headed, ended;          /* the stream's header row was met; the last line was */
    bool stated, announced;      /* version 3: its state is known; a stream was announced */
    uint64_t total;              /* records of the streams before this one */
    struct schema *schema;       /* of facts; NULL before the first */
    int64_t extra[STORE_EXTRAS]; /* of the line */
    struct writer writer;
};

void csv_stream_name(struct stream *s, const struct csv_stream_options *o, enum record_kind first)
{
    static const char *const names[RECORD_KINDS] = {
        [RECORD_TLP] = "tlp",      [RECORD_ACCESS] = "accesses",        [RECORD_TOUCH] = "touches",
        [RECORD_SCAN] = "scans",   [RECORD_DRAM_READ] = "requests",     [RECORD_DRAM_WRITE] = "requests",
        [RECORD_PIM] = "requests", [RECORD_DRAM_WRITEBACK] = "requests"};
    (void)snprintf(s->name, sizeof s->name, "%s", o->stream ? o->stream : names[first] ? names[first] : "uvm");
    if (s->unit == TIME_CYCLES) {
        (void)snprintf(s->clock, sizeof s->clock, "%s", o->clock ? o->clock : "core");
        s->clock_hz = o->clock_hz;
    }
    if (o->addr_layout) {
        s->space = ADDR_DRAM_PACKED;
        (void)snprintf(s->addr_layout, sizeof s->addr_layout, "%s", o->addr_layout);
    }
}

static unsigned long long line_of(const struct reading *g)
{
    return (unsigned long long)input_stream_line_number(g->source);
}

/* --- the header row --- */

/* Open the stream, by its first record where the file does not announce it. */
static int open_stream(struct reading *g, enum record_kind first, struct err *err)
{
    const struct csv_stream_options *o = &g->options.stream;
    struct stream *s = &g->stream, announced = *s;
    csv_stream_name(s, o, first);
    if (g->announced && !o->stream)
        memcpy(s->name, announced.name, sizeof s->name);
    if (g->announced && !o->clock) {
        memcpy(s->clock, announced.clock, sizeof s->clock);
        s->clock_hz = announced.clock_hz;
    }
    return reader_stream(g->context, s, &g->index, err) ||
                   writer_open(&g->writer, g->context->store, g->index, (int)g->extra_count, err)
               ? -1
               : 0;
}

static int header_extra(struct reading *g, const struct field *f, struct err *err)
{
    size_t n = f->length - 6;
    if (g->extra_count == STORE_EXTRAS)
        return err_set(err, "line %llu: more than %d extra columns", line_of(g), STORE_EXTRAS);
    if (n == 0 || n >= sizeof g->stream.extra[0])
        return err_set(err, "line %llu: extra column '%.*s' needs a name of 1 to 31 bytes", line_of(g), (int)f->length,
                       f->text);
    memcpy(g->stream.extra[g->extra_count], f->text + 6, n);
    g->columns[g->column_count++] = (enum column)(COLUMN_EXTRA + g->extra_count++);
    return 0;
}

static int header_column(struct reading *g, const struct field *f, struct err *err)
{
    if (g->column_count == MOST_COLUMNS)
        return err_set(err, "line %llu: more than %d columns", line_of(g), MOST_COLUMNS);
    if (f->length > 6 && memcmp(f->text, "extra:", 6) == 0)
        return header_extra(g, f, err);
    for (int c = 0; c < COLUMN_EXTRA; c++)
        if (field_is(f, column_names[c])) {
            if (g->has[c])
                return err_set(err, "line %llu: column %s appears twice", line_of(g), column_names[c]);
            g->has[c] = true;
            g->columns[g->column_count++] = (enum column)c;
            return 0;
        }
    if (field_is(f, "time") || field_is(f, "dur"))
        return err_set(err, "line %llu: column '%.*s' has no unit; expected %.*s_ns or %.*s_cycles", line_of(g),
                       (int)f->length, f->text, (int)f->length, f->text, (int)f->length, f->text);
    return err_set(err, "line %llu: unknown column '%.*s'; expected %s", line_of(g),
                   f->length < 40 ? (int)f->length : 40, f->text, COLUMN_LIST);
}

static int take_header(struct reading *g, char *line, struct err *err)
{
    struct field f;
    int rc;
    char *cursor = line;
    while ((rc = field_next_quoted(&cursor, &f)) > 0)
        if (header_column(g, &f, err))
            return -1;
    if (rc < 0)
        return err_set(err, "line %llu: a quote is not closed", line_of(g));
    if (!g->has[COLUMN_KIND])
        return err_set(err, "line %llu: no column 'kind'; the header row names the columns: %s", line_of(g),
                       COLUMN_LIST);
    const bool ns = g->has[COLUMN_TIME_NS], cycles = g->has[COLUMN_TIME_CYCLES], none = g->has[COLUMN_TIME_NONE];
    if (ns + cycles + none > 1 || (g->has[COLUMN_DUR_NS] && !ns) || (g->has[COLUMN_DUR_CYCLES] && !cycles) ||
        (g->has[COLUMN_DUR_NONE] && !none))
        return err_set(err, "line %llu: time and duration have different units, or a duration has no time", line_of(g));
    const enum time_unit unit = ns ? TIME_NS : cycles ? TIME_CYCLES : TIME_NONE;
    if (g->version == 3 && (!g->announced || unit != g->stream.unit))
        return err_set(err,
                       "line %llu: a header row in %s; expected the line '" CSV_STREAM "[..]' of this unit before it",
                       line_of(g), time_unit_name(unit));
    g->stream.unit = unit;
    g->headed = true;
    return g->version == 3 ? open_stream(g, RECORD_NONE, err) : 0;
}

/* --- records --- */

static int bad_value(const struct reading *g, size_t position, const struct field *f, const char *expected,
                     struct err *err)
{
    const enum column c = g->columns[position];
    return err_set(err, "line %llu, column %s: '%.*s'; expected %s", line_of(g),
                   c < COLUMN_EXTRA ? column_names[c] : g->stream.extra[c - COLUMN_EXTRA],
                   f->length < 60 ? (int)f->length : 60, f->text, expected);
}

static int set_kind(struct reading *g, const struct field *f, struct record *r)
{
    char name[32];
    if (!field_is(f, record_kinds[g->kind].name)) { /* mostly as in the row before */
        if (f->length >= sizeof name)
            return -1;
        memcpy(name, f->text, f->length);
        name[f->length] = 0;
        g->kind = record_kind_find(name);
    }
    r->kind = g->kind;
    return r->kind == RECORD_NONE ? -1 : 0;
}

/* Store one field; the error text of a bad one, or NULL. */
static const char *set_field(struct reading *g, enum column c, const struct field *f, struct record *r)
{
    static const char number[] = "a whole number, decimal or 0x hexadecimal";
    uint64_t u = 0;
    if (c == COLUMN_KIND)
        return set_kind(g, f, r) ? "a record kind such as MIGRATE_H2D (docs/trace-format.md lists them)" : NULL;
    if (c == COLUMN_NAME || f->length == 0)
        return NULL;
    if (c >= COLUMN_EXTRA)
        return field_signed(f, &g->extra[c - COLUMN_EXTRA]) ? NULL : number;
    if (c >= COLUMN_TIME_NS && c <= COLUMN_TIME_NONE) {
        if (!field_signed(f, &r->time))
            return number;
        return r->time <= RECORD_TIME_MAX && r->time >= -RECORD_TIME_MAX ? NULL : "a time between -2^62 and 2^62";
    }
    if (c == COLUMN_ID && f->text[0] == '-')
        return field_signed(f, (int64_t *)&r->id) ? NULL : number;
    if (!field_unsigned(f, &u))
        return number;
    bool narrow = c == COLUMN_FLAGS || c == COLUMN_GROUP;
    bool duration = c >= COLUMN_DUR_NS && c <= COLUMN_DUR_NONE;
    if ((narrow && u > UINT32_MAX) || (duration && u > RECORD_TIME_MAX))
        return narrow ? "0 to 4294967295" : "0 to 4611686018427387903";
    if (duration)
        r->duration = (int64_t)u;
    else if (c == COLUMN_ADDR)
        r->addr = u;
    else if (c == COLUMN_BYTES)
        r->bytes = u;
    else if (c == COLUMN_ID)
        r->id = u;
    else if (c == COLUMN_FLAGS)
        r->flags = (uint32_t)u;
    else
        r->group = (uint32_t)u;
    return NULL;
}

static int add_kernel(struct reading *g, const struct field *name, struct record *r, struct err *err)
{
    const size_t mark = name->text && g->version ? csv_text_mark(name->text, name->length) : 0;
    char *text = mem_strndup(name->text ? name->text + mark : "", name->length - mark, err);
    if (!text)
        return -1;
    int64_t id;
    int rc =
        reader_kernel(g->context, text, g->stream.unit == TIME_NS ? r->time : INT64_MIN, r->duration, NULL, &id, err);
    free(text);
    r->id = (uint64_t)id;
    if (!g->has[COLUMN_GROUP])
        r->group = (uint32_t)id;
    return rc;
}

static int take_line(struct reading *g, char *line, size_t length, struct err *err)
{
    if (memchr(line, 0, length))
        return err_set(err, "line %llu: a zero byte in the text", line_of(g));
    struct record r = {0};
    struct field f, name = {NULL, 0};
    size_t position = 0;
    int rc;
    char *cursor = line;
    for (size_t c = 0; c < g->extra_count; c++)
        g->extra[c] = 0;
    while ((rc = field_next_quoted(&cursor, &f)) > 0 && position < g->column_count) {
        const char *expected = set_field(g, g->columns[position], &f, &r);
        if (expected)
            return bad_value(g, position, &f, expected, err);
        if (g->columns[position++] == COLUMN_NAME)
            name = f;
    }
    if (rc != 0 || position != g->column_count)
        return err_set(err, "line %llu: %s; the header row names %zu columns", line_of(g),
                       rc < 0   ? "a quote is not closed"
                       : rc > 0 ? "more fields than columns"
                                : "fewer fields than columns",
                       g->column_count);
    if (g->index < 0 && open_stream(g, (enum record_kind)r.kind, err))
        return -1;
    if (r.kind == RECORD_KERNEL && g->version < 3 && add_kernel(g, &name, &r, err))
        return -1;
    return writer_add(&g->writer, &r, g->extra, err);
}

/* --- what a file of ours says of itself --- */

/* A JSON value as a column holds it; `text` stays in the value. */
static bool take_value(const json_t *json, const struct schema_column *column, struct store_value *v)
{
    *v = json_is_integer(json)  ? STORE_V_INT(json_integer_value(json))
         : json_is_real(json)   ? STORE_V_REAL(json_real_value(json))
         : json_is_string(json) ? STORE_V_TEXT(json_string_value(json))
                                : STORE_V_NULL;
    if (v->type == STORE_NULL)
        return (!json || json_is_null(json)) && !column->required;
    if (column->type == SCHEMA_REAL && v->type == STORE_INT)
        *v = STORE_V_REAL((double)v->i);
    return v->type == (column->type == SCHEMA_TEXT      ? STORE_TEXT
                       : column->type == SCHEMA_REAL    ? STORE_REAL
                       : column->type == SCHEMA_INTEGER ? STORE_INT
                                                        : STORE_NULL);
}

/* A row of a table of ours from JSON. NULL with *err set; else values[] are the table's columns while it lives. */
static json_t *take_row(const struct schema_table *table, const char *text, struct store_value *values, struct err *err)
{
    json_t *row = json_tree_parse(text, strlen(text), NULL);
    bool fits = json_is_array(row) && json_array_size(row) <= (size_t)table->columns;
    int c = 0;
    while (fits && c < table->columns && take_value(json_array_get(row, (size_t)c), &table->column[c], &values[c]))
        c++;
    if (fits && c == table->columns)
        return row;
    json_decref(row);
    if (fits)
        err_set(err, "'%.80s': value %d is none of column %s of table %s", text, c + 1, table->column[c].name,
                table->name);
    else
        err_set(err, "'%.80s'; expected a JSON array of at most %d columns of table %s", text, table->columns,
                table->name);
    return NULL;
}

static int put_fact(struct reading *g, const struct schema_table *table, const struct store_value *v, struct err *err)
{
    struct reader_context *context = g->context;
    const enum fact fact = fact_of_table(table->name);
    char key[400];
    if (fact == FACT_SKIPPED || fact == FACT_DROPPED)
        return reader_count(context, fact == FACT_SKIPPED, v, err);
    if (fact == FACT_KERNELS && v[0].i >= context->launches && v[0].i < INT64_MAX)
        context->launches = v[0].i + 1;
    if (fact < FACTS)
        return store_row(context->store, table->name, v, (size_t)table->columns, err);
    (void)snprintf(key, sizeof key, "input.%d.%.350s", context->file_index, v[0].s);
    return store_origin(context->store, facts_of_making(v[0].s) ? key : v[0].s, v[1].s, err);
}

/* Any table of ours that holds neither streams nor chunks. */
static int take_fact(struct reading *g, const char *text, struct err *err)
{
    char name[40];
    const size_t n = strcspn(text, " ");
    struct store_value values[SCHEMA_COLUMNS];
    if (!g->schema && !(g->schema = schema_trace(err)))
        return -1;
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), text);
    const struct schema_table *table = schema_find(g->schema, name);
    if (!table || (fact_of_table(name) == FACTS && strcmp(name, "origin") != 0))
        return err_set(err, "'%.60s' names no table of facts (docs/trace-format.md)", text);
    if (g->context->file_index > 0)
        return err_set(err, "facts of a further file; expected to import each by itself, then the traces together");
    json_t *row = take_row(table, text + n, values, err);
    const int rc = row ? put_fact(g, table, values, err) : -1;
    json_decref(row);
    return rc;
}

static bool copy_text(char *to, size_t size, const char *from)
{
    return (size_t)snprintf(to, size, "%s", from) < size;
}

static int close_stream(struct reading *g, struct err *err)
{
    g->total += g->writer.total;
    const int rc = writer_flush(&g->writer, err);
    writer_close(&g->writer);
    return rc;
}

/* Columns 1 to 6 of a row of table streams. */
static int take_stream(struct reading *g, const char *text, struct err *err)
{
    static const struct schema_table table = {"streams",
                                              6,
                                              {{"name", SCHEMA_TEXT, true},
                                               {"time_unit", SCHEMA_TEXT, true},
                                               {"clock", SCHEMA_TEXT, true},
                                               {"clock_hz", SCHEMA_INTEGER, true},
                                               {"addr_space", SCHEMA_TEXT, true},
                                               {"addr_layout", SCHEMA_TEXT, true}},
                                              0,
                                              false};
    struct store_value v[6];
    struct stream s = {0};
    json_t *row = take_row(&table, text, v, err);
    if (!row)
        return -1;
    while (s.unit <= TIME_CYCLES && strcmp(time_unit_name(s.unit), v[1].s) != 0)
        s.unit++;
    s.space = strcmp(v[4].s, addr_space_name(ADDR_DRAM_PACKED)) == 0 ? ADDR_DRAM_PACKED : ADDR_BYTES;
    const bool good = s.unit <= TIME_CYCLES && strcmp(v[4].s, addr_space_name(s.space)) == 0 && *v[0].s &&
                      v[3].i >= 0 && copy_text(s.name, sizeof s.name, v[0].s) &&
                      copy_text(s.clock, sizeof s.clock, v[2].s) &&
                      copy_text(s.addr_layout, sizeof s.addr_layout, v[5].s);
    s.clock_hz = v[3].i;
    json_decref(row);
    if (!good || (g->announced && !g->headed))
        return err_set(err, "'%.80s'; expected %s", text,
                       good ? "the header row of the stream before"
                            : "the name, time unit, clock, Hz, address space and layout of a stream");
    if (store_stream_find(g->context->store, s.name) >= 0 && !g->context->file_index)
        return err_set(err, "'%.80s': there is a stream of this name already", text);
    g->stream = s;
    g->announced = true;
    g->headed = false;
    g->column_count = g->extra_count = 0;
    memset(g->has, 0, sizeof g->has);
    return close_stream(g, err);
}

static int take_state(struct reading *g, const char *text, struct err *err)
{
    if (g->stated || (strcmp(text, "complete") != 0 && strcmp(text, "incomplete") != 0))
        return err_set(err, "'%.40s'; expected complete or incomplete, once", text);
    g->stated = true;
    g->context->inherited = *text == 'i';
    if (*text == 'i')
        reader_incomplete(g->context, "%s: the trace that it was made of is incomplete", g->context->path);
    return 0;
}

static int take_end(struct reading *g, const char *text, struct err *err)
{
    const struct field number = {text, strlen(text)};
    const uint64_t read = g->total + g->writer.total;
    uint64_t stated;
    if (!field_unsigned(&number, &stated) || g->ended)
        return err_set(err, "'%.60s'; expected the number of records, once", text);
    if (stated != read)
        return err_set(err, "the end states %llu records, but there are %llu", (unsigned long long)stated,
                       (unsigned long long)read);
    if (g->version == 3 && !g->stated)
        return err_set(err, "no line '" CSV_STATE "complete' or '" CSV_STATE "incomplete' came before");
    g->ended = true;
    return 0;
}

static int take_head(struct reading *g, const char *line, struct err *err)
{
    g->version = strcmp(line, CSV_HEAD) == 0 ? 3 : strcmp(line, CSV_HEAD_2) == 0 ? 2 : 0;
    if (g->version || strncmp(line, CSV_MARK, sizeof CSV_MARK - 1) != 0)
        return 0;
    return err_set(err, "'%.60s'; expected version 2 or 3", line);
}

/* A line that starts with #; of files of ours some say something. */
static int take_remark(struct reading *g, const char *line, struct err *err)
{
    static const struct {
        const char *mark;
        int first, last; /* versions */
        int (*take)(struct reading *g, const char *text, struct err *err);
    } remarks[] = {{CSV_END, 2, 3, take_end},
                   {CSV_STATE, 3, 3, take_state},
                   {CSV_FACT, 3, 3, take_fact},
                   {CSV_STREAM, 3, 3, take_stream}};
    int rc = line_of(g) == 1 ? take_head(g, line, err) : 0;
    for (size_t i = 0; rc == 0 && i < sizeof remarks / sizeof *remarks; i++)
        if (g->version >= remarks[i].first && g->version <= remarks[i].last &&
            strncmp(line, remarks[i].mark, strlen(remarks[i].mark)) == 0)
            rc = remarks[i].take(g, line + strlen(remarks[i].mark), err);
    return rc ? err_at(err, "line %llu", line_of(g)) : 0;
}

/* Of a file of ours: a line without its end is cut, however well it reads, and nothing stands behind the last one.
 * Returns 1 for a cut line. */
static int check_end(struct reading *g, size_t length, bool cut, struct err *err)
{
    if (g->version && g->ended && length)
        return err_set(err, "line %llu: something stands behind the end line", line_of(g));
    return g->version && cut;
}

static int read_lines(struct reading *g, struct err *err)
{
    char *line;
    size_t length;
    uint64_t start = 0;
    int more, end;
    for (; (more = input_stream_line(g->source, &line, &length, err)) > 0; start = input_stream_offset(g->source)) {
        if ((end = check_end(g, length, input_stream_offset(g->source) == start + length, err)))
            return end < 0 ? -1 : 0;
        if (length && line[0] == '#' && strlen(line) != length)
            return err_set(err, "line %llu: a zero byte in the text", line_of(g));
        if (length && line[0] == '#' && take_remark(g, line, err))
            return -1;
        if (length == 0 || line[0] == '#')
            continue;
        if (g->headed ? take_line(g, line, length, err) : take_header(g, line, err))
            return -1;
    }
    if (more == 0 && !g->headed && !g->version)
        return err_set(err, "byte 0: no header row; expected %s", COLUMN_LIST);
    return more;
}

static int read_all(struct reader_context *context, struct input_stream *source, struct err *err)
{
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    g->source = source;
    g->index = -1;
    if (context->options)
        g->options = *(const struct options *)context->options;
    int rc = read_lines(g, err);
    bool cut = rc == 0 && g->version && !g->ended;
    if (close_stream(g, rc ? NULL : err))
        rc = -1;
    if (cut && g->total == 0)
        rc = err_set(err, "line %llu: the file is cut off before its first record", line_of(g));
    else if (cut)
        reader_incomplete(context, "%s: the end line is missing: the file is cut off after %llu records", context->path,
                          (unsigned long long)g->total);
    free(g->schema);
    free(g);
    return rc;
}

/* Sure when it says so, or when the first row that is no comment names a column "kind". */
static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    const char *p = (const char *)head, *end = p + n;
    if (end - p >= (ptrdiff_t)sizeof CSV_MARK - 1 && memcmp(p, CSV_MARK, sizeof CSV_MARK - 1) == 0)
        return PROBE_YES; /* its header row may be far below */
    while (p < end && (*p == '#' || *p == '\n' || *p == '\r')) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        p = nl ? nl + 1 : end;
    }
    while (p < end) {
        const char *start = p;
        while (p < end && *p != ',' && *p != '\n' && *p != '\r')
            p++;
        if (p - start == 4 && memcmp(start, "kind", 4) == 0)
            return PROBE_YES;
        if (p == end || *p != ',')
            return PROBE_NO;
        p++;
    }
    return PROBE_NO;
}

const struct reader read_csv = {
    .name = "csv",
    .summary = "our plain form: a header row naming kind, time_ns, dur_ns, addr, bytes, flags, id, group, name",
    .options = options,
    .options_size = sizeof(struct options),
    .probe = probe,
    .read = read_all,
};
