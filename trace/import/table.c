/* table: a table of another tool as text: what its columns are called and which words it has for our kinds is given, or
 * it is one that the profilers of NVIDIA print (nvprof --print-gpu-trace, as csv or not; nsys stats -r cuda_gpu_trace).
 *
 *     columns=[time=timestamp,addr=address,kind=op]   ours=theirs; others are left out. One of theirs may be two of
 *                                                     ours; of two that are one of ours the first that is not empty
 *                                                     counts. Numbers (time=1,addr=3) stand for columns, from 1 on, of
 *                                                     a table without a header; addr=3.. for all from there on, one
 *                                                     record each (-1 and empty: none)
 *     kinds=[R=DRAM_READ,HtoD=COPY/1,*=KERNEL]        theirs=ours[/flags]; * is any other word that is not in brackets;
 *                                                     or one kind, of all rows: kinds=DRAM_READ
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
#include "trace/import/text_table.h"

enum { PAIRS = 64 };

enum ours { KIND, TIME, DUR, ADDR, BYTES, FLAGS, ID, GROUP, NAME, DEVICE, PROCESS, EXTRA, GRID, BLOCK, SHAPE };
static const char *const ours_names[] = {
    "kind",    "time",    "dur",       "addr",          "bytes",          "flags",  "id",     "group",  "name",
    "device",  "process", "extra:X",   "grid",          "block",          "grid_x", "grid_y", "grid_z", "block_x",
    "block_y", "block_z", "registers", "static_shared", "dynamic_shared", "",       "stream"};
enum { OURS = sizeof ours_names / sizeof *ours_names, SHAPE_DEVICE = 9 };

/* What nvprof and nsys print, in our words. */
static const char known_columns[] =
    "kind=Name,name=Name,time=Start,dur=Duration,addr=Virtual Address,bytes=Unified Memory,bytes=Size,bytes=Bytes,"
    "device=Device,grid=Grid Size,block=Block Size,grid_x=Grid X,grid_x=GrdX,grid_y=Grid Y,grid_y=GrdY,grid_z=Grid Z,"
    "grid_z=GrdZ,block_x=Block X,block_x=BlkX,block_y=Block Y,block_y=BlkY,block_z=Block "
    "Z,block_z=BlkZ,registers=Regs*,"
    "registers=Registers Per Thread,registers=Reg/Trd,stream=Stream,stream=Strm";
static const char known_kinds[] =
    "[Unified Memory Memcpy HtoD]=MIGRATE_H2D,[Unified Memory Memcpy DtoH]=MIGRATE_D2H,"
    "[Unified Memory Memcpy DtoD]=MIGRATE_D2D,[Unified Memory GPU page faults]=FAULT,"
    "[Unified Memory CPU page faults]=CPU_FAULT,[Unified Memory thrashing]=THRASH,"
    "[Unified Memory page throttle]=THROTTLE,[Unified Memory remote mapping]=REMOTE_MAP,"
    "[CUDA Unified Memory memcpy HtoD]=MIGRATE_H2D,[CUDA Unified Memory memcpy DtoH]=MIGRATE_D2H,"
    "[CUDA Unified Memory memcpy DtoD]=MIGRATE_D2D,[CUDA Unified Memory memcpy Host-to-Device]=MIGRATE_H2D,"
    "[CUDA Unified Memory memcpy Device-to-Host]=MIGRATE_D2H,[CUDA Unified Memory memcpy Device-to-Device]=MIGRATE_D2D,"
    "[CUDA memcpy HtoD]=COPY/1,[CUDA memcpy DtoH]=COPY/2,[CUDA memcpy DtoD]=COPY/3,[CUDA memcpy HtoH]=COPY/4,"
    "[CUDA memcpy PtoP]=COPY/5,[CUDA memcpy HtoA]=COPY/1,[CUDA memcpy AtoH]=COPY/2,[CUDA memcpy Host-to-Device]=COPY/1,"
    "[CUDA memcpy Device-to-Host]=COPY/2,[CUDA memcpy Device-to-Device]=COPY/3,[CUDA memcpy Host-to-Host]=COPY/4,"
    "[CUDA memcpy Peer-to-Peer]=COPY/5,*=KERNEL";

struct options {
    const char *columns, *kinds;
    int64_t time_unit, bytes_unit, bytes;
    struct csv_stream_options stream;
};

#define TIME_UNITS  "ns|us|ms|s|cycles"
#define BYTES_UNITS "B|KB|MB|GB|KiB|MiB|GiB"
enum { UNIT_CYCLES = 4 };

static const struct param options[] = {
    PARAM_TEXT_ROW(options, columns, NULL, "its names of our columns: [time=timestamp,addr=address]; or their numbers"),
    PARAM_TEXT_ROW(options, kinds, NULL, "its words for kinds: [R=DRAM_READ,W=DRAM_WRITE]; or the kind of all rows"),
    PARAM_CHOICE_ROW(options, time_unit, TIME_UNITS, 0, "of times that say no unit"),
    PARAM_CHOICE_ROW(options, bytes_unit, BYTES_UNITS, 0, "of bytes that say no unit"),
    PARAM_BYTES_ROW(options, bytes, 0, 1e15, 0, "of rows without a column of bytes"),
    CSV_STREAM_ROWS(options, stream),
    {0}};

/* One of our columns, and where it stands. */
struct map {
    enum ours ours;
    int extra; /* of EXTRA */
    const char *theirs;
    bool many; /* THEIRS.. */
    long at;   /* column, from 0; -1: not in this table */
    struct text_unit unit;
};

struct reading {
    struct reader_context *context;
    struct input_stream *source;
    struct options o;
    struct param_list columns, kinds;
    struct map maps[PAIRS];
    size_t map_count;
    enum record_kind only; /* of all rows; RECORD_NONE: rows say */
    bool known, numbered, binary, headed, first, owners, addressed;
    char separator;
    size_t width; /* cells of a row */
    int64_t process;
    struct stream stream;
    int extras, index;
    struct writer writer;
};

static unsigned long long line_of(const struct reading *g)
{
    return (unsigned long long)input_stream_line_number(g->source);
}

/* --- what the columns and words are called --- */

/* A list in brackets, or without them. */
static int list_init(struct param_list *list, const char *what, const char *text, struct err *err)
{
    const size_t n = strlen(text);
    const bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']' && !memchr(text + 1, '[', n - 2);
    char *inner = mem_strndup(text + brackets, n - 2 * (size_t)brackets, err);
    const int rc = inner ? param_list_init(list, inner, err) : -1;
    free(inner);
    if (rc)
        return err_at(err, "%s", what);
    if (list->count == 0 || list->count > PAIRS)
        return err_set(err, "%s: %zu names; expected 1 to %d", what, list->count, PAIRS);
    for (size_t i = 0; i < list->count; i++)
        if (!list->pairs[i].value || !*list->pairs[i].value)
            return err_set(err, "%s: '%.60s' has no other side; expected %s", what, list->pairs[i].key,
                           list == NULL || *what == 'c' ? "OURS=THEIRS" : "THEIRS=KIND");
    return 0;
}

/* KIND or KIND/FLAGS. */
static enum record_kind kind_of(const char *text, uint32_t *flags)
{
    char name[32];
    const size_t n = strcspn(text, "/");
    struct field number = {text + n + 1, text[n] ? strlen(text + n + 1) : 0};
    uint64_t value = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), text);
    if (text[n] && (!field_unsigned(&number, &value) || value > UINT32_MAX))
        return RECORD_NONE;
    *flags = (uint32_t)value;
    return record_kind_find(name);
}

static int take_kinds(struct reading *g, const char *kinds, struct err *err)
{
    uint32_t flags;
    g->only = kinds ? record_kind_find(kinds) : RECORD_NONE;
    if (!kinds || g->only != RECORD_NONE)
        return 0;
    if (list_init(&g->kinds, "kinds", kinds, err))
        return -1;
    for (size_t i = 0; i < g->kinds.count; i++)
        if (kind_of(g->kinds.pairs[i].value, &flags) == RECORD_NONE)
            return err_set(err, "kinds: '%.40s' is no record kind such as DRAM_READ (docs/trace-format.md lists them)",
                           g->kinds.pairs[i].value);
    return 0;
}

static int add_extra(struct reading *g, const char *name, struct map *m, struct err *err)
{
    const size_t n = strlen(name);
    if (g->extras == STORE_EXTRAS || n == 0 || n >= sizeof g->stream.extra[0])
        return err_set(err, "columns: extra:%.40s: at most %d columns with names of 1 to 31 bytes", name, STORE_EXTRAS);
    memcpy(g->stream.extra[g->extras], name, n + 1);
    *m = (struct map){.ours = EXTRA, .extra = g->extras++};
    return 0;
}

/* Of time_ns, dur_cycles and the like the end is the unit. */
static int take_name(struct reading *g, const char *key, struct map *m, struct err *err)
{
    char name[32];
    const char *cycles = strstr(key, "_cycles"), *ns = strstr(key, "_ns");
    const size_t n = (size_t)((cycles ? cycles : ns ? ns : key + strlen(key)) - key);
    if (strncmp(key, "extra:", 6) == 0)
        return add_extra(g, key + 6, m, err);
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), key);
    if (cycles)
        g->o.time_unit = UNIT_CYCLES;
    for (int i = 0; i < OURS; i++)
        if (strcmp(name, ours_names[i]) == 0 && *name) {
            *m = (struct map){.ours = (enum ours)i};
            return 0;
        }
    return err_set(err,
                   "columns: unknown column '%.40s'; expected kind, time, dur, addr, bytes, flags, id, group, name, "
                   "device, process, extra:X",
                   key);
}

static int take_columns(struct reading *g, const char *columns, struct err *err)
{
    if (list_init(&g->columns, "columns", columns, err))
        return -1;
    g->numbered = true;
    for (size_t i = 0; i < g->columns.count; i++) {
        struct map *m = &g->maps[g->map_count++];
        const char *theirs = g->columns.pairs[i].value, *p = theirs;
        uint64_t at;
        if (take_name(g, g->columns.pairs[i].key, m, err))
            return -1;
        m->theirs = theirs;
        const bool number =
            field_digits(&p, &at) && (!*p || strcmp(p, "..") == 0) && at > 0 && at <= TEXT_TABLE_COLUMNS;
        m->at = number ? (long)at - 1 : -1;
        m->many = number && *p && m->ours == ADDR;
        g->numbered &= number && (!*p || m->many);
        g->owners |= m->ours == DEVICE || m->ours == PROCESS;
        g->addressed |= m->ours == ADDR;
    }
    return 0;
}

static const struct map *map_of(const struct reading *g, enum ours ours)
{
    for (size_t i = 0; i < g->map_count; i++)
        if (g->maps[i].ours == ours && g->maps[i].at >= 0)
            return &g->maps[i];
    return NULL;
}

/* --- the header --- */

/* Where theirs stands in the header: by its whole title, or without its unit. */
static void find_column(struct reading *g, struct map *m, const struct field *cells, size_t n)
{
    m->at = -1;
    m->unit.quantity = QUANTITY_NONE;
    for (size_t i = 0; i < n && m->at < 0; i++) {
        struct field title = cells[i];
        const struct text_unit unit = text_table_title(&title, g->binary);
        if (field_is(&cells[i], m->theirs) || field_is(&title, m->theirs)) {
            m->at = (long)i;
            m->unit = unit;
        }
    }
}

/* Of what the profilers print no table has all that is known. */
static bool found(const struct reading *g, const struct map *m)
{
    const bool needed = m->ours == TIME || m->ours == DUR || m->ours == NAME || m->ours == DEVICE;
    return m->at >= 0 || (g->known && !needed);
}

/* Whether the line, which is changed, is the header; *missing: the first name that it has not. */
static bool is_header(struct reading *g, char *line, char separator, const char **missing)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, separator, cells);
    for (size_t i = 0; i < g->map_count; i++)
        find_column(g, &g->maps[i], cells, n);
    for (size_t i = 0; i < g->map_count; i++)
        if (!found(g, &g->maps[i])) {
            *missing = g->maps[i].theirs;
            return false;
        }
    g->separator = separator;
    g->width = n;
    return n > 0;
}

/* Numbered columns: what separates as many cells as they ask for. */
static bool has_columns(struct reading *g, char *line, char separator)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, separator, cells);
    g->separator = separator;
    g->width = n;
    for (size_t i = 0; i < g->map_count; i++)
        if (g->maps[i].at >= (long)n)
            return false;
    return n > 0;
}

/* 1: the line is the header; 2: the table has none, and it is the first row; 0: neither; -1 with *err set. */
static int take_header(struct reading *g, const char *line, struct err *err)
{
    const char *missing = NULL, *first = NULL;
    bool good = false;
    for (const char *s = TEXT_TABLE_SEPARATORS; *s && !good; s++) {
        char *copy = mem_strdup(line, err);
        if (!copy)
            return -1;
        good = g->numbered ? has_columns(g, copy, *s) : is_header(g, copy, *s, &missing);
        free(copy);
        first = first ? first : missing;
    }
    if (good && g->known)
        g->binary = !strstr(line, "Start (") && !strstr(line, "Start(");
    if (good || g->known)
        return good ? 1 + g->numbered : 0;
    return g->numbered ? err_set(err, "line %llu: fewer columns than option columns counts", line_of(g))
                       : err_set(err, "line %llu: no column '%.40s', which option columns names", line_of(g), first);
}

/* A row of units: nothing else is in it. They are those of the columns. */
static bool take_units(struct reading *g, const struct field *cells, size_t n)
{
    struct text_unit any = {QUANTITY_NONE, 1}, unit;
    size_t units = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        if (text_table_unit(&cells[i], g->binary, &unit)) {
            units++;
            any = unit.quantity == QUANTITY_BYTES ? unit : any;
        } else {
            others += cells[i].length && !memchr(cells[i].text, '/', cells[i].length);
        }
    if (!units || others)
        return false;
    for (size_t i = 0; i < g->map_count; i++) {
        struct map *m = &g->maps[i];
        if (m->at >= 0 && m->at < (long)n && !text_table_unit(&cells[m->at], g->binary, &m->unit) && m->ours == BYTES)
            m->unit = any; /* nvprof leaves it out of a column that counts faults, too */
    }
    return true;
}

/* --- rows --- */

static const struct field *cell_of(const struct reading *g, const struct field *cells, enum ours ours,
                                   const struct map **map)
{
    for (size_t i = 0; i < g->map_count; i++)
        if (g->maps[i].ours == ours && g->maps[i].at >= 0 && cells[g->maps[i].at].length) {
            if (map)
                *map = &g->maps[i];
            return &cells[g->maps[i].at];
        }
    return NULL;
}

/* The number of the first digits, or of those in the last brackets: "GPU X (0)". */
static int64_t device_of(const struct field *cell)
{
    const char *open = cell ? memrchr(cell->text, '(', cell->length) : NULL, *p = open   ? open + 1
                                                                                  : cell ? cell->text
                                                                                         : "";
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
    const struct field *name = cell_of(g, cells, NAME, NULL), *cell;
    char *text = mem_strndup(name ? name->text : "", name ? name->length : 0, err);
    int64_t id, number;
    if (!text)
        return -1;
    for (int i = 0; i < READER_SHAPE; i++) {
        cell = cell_of(g, cells, (enum ours)(SHAPE + i), NULL);
        shape[i] = cell && text_table_number(cell, (struct text_unit){QUANTITY_NONE, 1}, false, &number)
                       ? STORE_V_INT(number)
                       : STORE_V_NULL;
    }
    take_triple(cell_of(g, cells, GRID, NULL), shape);
    take_triple(cell_of(g, cells, BLOCK, NULL), shape + 3);
    if ((cell = cell_of(g, cells, DEVICE, NULL)))
        shape[SHAPE_DEVICE] = STORE_V_INT(device_of(cell));
    const int rc =
        reader_kernel(g->context, text, g->stream.unit == TIME_NS ? r->time : INT64_MIN, r->duration, shape, &id, err);
    free(text);
    r->id = (uint64_t)id;
    r->group = map_of(g, GROUP) ? r->group : (uint32_t)id;
    return rc;
}

static int bad_cell(const struct reading *g, enum ours ours, const struct field *f, const char *expected,
                    struct err *err)
{
    return err_set(err, "line %llu, column %s: '%.*s'; expected %s", line_of(g), ours_names[ours],
                   f->length < 60 ? (int)f->length : 60, f->text, expected);
}

/* A number of a column, 0 where it is empty. */
static int take_number(const struct reading *g, const struct field *cells, enum ours ours, int64_t *value,
                       struct err *err)
{
    const struct map *m;
    const struct field *f = cell_of(g, cells, ours, &m);
    struct text_unit unit = {QUANTITY_NONE, 1};
    *value = 0;
    if (!f)
        return 0;
    if (ours == TIME || ours == DUR || ours == BYTES)
        unit = m->unit;
    const bool comma = g->separator == ';' && memchr(f->text, ',', f->length); /* a point in some countries */
    return !comma && text_table_number(f, unit, g->binary, value) && (*value >= 0 || ours == TIME || ours == ID)
               ? 0
               : bad_cell(g, ours, f,
                          unit.scale > 1 ? "a number in its unit (options time_unit and bytes_unit), within 2^62"
                                         : "a whole number, decimal or 0x hexadecimal, within 2^62",
                          err);
}

/* Of faults the value is no size: their number, or behind "PC " a program counter. */
static int take_value(const struct reading *g, const struct field *cells, struct record *r, struct err *err)
{
    const struct field *f = cell_of(g, cells, BYTES, NULL);
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

/* The kind that a word stands for: NULL and r->kind, or why the row is left out. */
static const char *take_kind(const struct reading *g, const struct field *word, struct record *r)
{
    const char *kind = NULL;
    char name[32];
    if (!word)
        return "no word for a kind";
    for (size_t i = 0; i < g->kinds.count && !kind; i++)
        if (field_is(word, g->kinds.pairs[i].key) || (strcmp(g->kinds.pairs[i].key, "*") == 0 && *word->text != '['))
            kind = g->kinds.pairs[i].value;
    (void)snprintf(name, sizeof name, "%.*s", (int)(word->length < sizeof name ? word->length : 0), word->text);
    r->kind = kind_of(kind ? kind : name, &r->flags);
    return r->kind == RECORD_NONE ? "a word that option kinds does not list" : NULL;
}

static int put(struct reading *g, struct record *r, const int64_t *extra, struct err *err)
{
    const bool moved = r->kind == RECORD_MIGRATE_H2D || r->kind == RECORD_MIGRATE_D2H || r->kind == RECORD_MIGRATE_D2D;
    if (moved && !map_of(g, ADDR) && !g->context->strict)
        return reader_lose(g->context, r);
    if ((moved || r->kind == RECORD_FAULT || r->kind == RECORD_CPU_FAULT) && !map_of(g, ADDR))
        return reader_skip_line(g->context, "no address", g->source, err);
    if (g->index < 0) {
        csv_stream_name(&g->stream, &g->o.stream, (enum record_kind)r->kind);
        if (reader_stream(g->context, &g->stream, &g->index, err) ||
            writer_open(&g->writer, g->context->store, g->index, g->extras, err))
            return -1;
    }
    return writer_add(&g->writer, r, extra, err);
}

/* The record of a row, once for each of its addresses. */
static int put_all(struct reading *g, const struct field *cells, size_t n, struct record *r, const int64_t *extra,
                   struct err *err)
{
    const struct map *m = map_of(g, ADDR);
    for (size_t i = m ? (size_t)m->at : n - 1; i < n; i = m && m->many ? i + 1 : n) {
        const bool none = !m || !cells[i].length || field_is(&cells[i], "-1");
        r->addr = 0;
        if (!none && !field_unsigned(&cells[i], &r->addr))
            return bad_cell(g, ADDR, &cells[i], "an address, decimal or 0x hexadecimal", err);
        if ((!none || !m || !m->many) && put(g, r, extra, err))
            return -1;
    }
    return 0;
}

static int take_extras(const struct reading *g, const struct field *cells, const struct record *r, int64_t *extra,
                       struct err *err)
{
    const struct field *process = cell_of(g, cells, PROCESS, NULL);
    const int64_t gpu = device_of(cell_of(g, cells, DEVICE, NULL));
    for (size_t i = 0; i < g->map_count; i++) {
        const struct map *m = &g->maps[i];
        if (m->ours == EXTRA && cells[m->at].length && !field_signed(&cells[m->at], &extra[m->extra]))
            return bad_cell(g, EXTRA, &cells[m->at], "a whole number", err);
    }
    if (g->owners)
        uvm_event_owner((enum record_kind)r->kind, process ? device_of(process) : g->process, gpu, gpu,
                        extra + g->extras - 3);
    return 0;
}

static int take_row(struct reading *g, const struct field *cells, size_t n, struct err *err)
{
    static const enum ours numbers[] = {TIME, DUR, FLAGS, ID, GROUP};
    struct record r = {.kind = g->only};
    int64_t extra[STORE_EXTRAS] = {0}, at[5];
    const char *why = g->only ? NULL : take_kind(g, cell_of(g, cells, KIND, NULL), &r);
    if (why)
        return reader_skip_line(g->context, why, g->source, err);
    for (int i = 0; i < 5; i++)
        if (take_number(g, cells, numbers[i], &at[i], err))
            return -1;
    r.time = at[0];
    r.duration = at[1];
    r.flags = map_of(g, FLAGS) ? (uint32_t)at[2] : r.flags;
    r.id = (uint64_t)at[3];
    r.group = (uint32_t)at[4];
    if (take_value(g, cells, &r, err) || take_extras(g, cells, &r, extra, err) ||
        (r.kind == RECORD_KERNEL && add_kernel(g, cells, &r, err)))
        return -1;
    return put_all(g, cells, n, &r, extra, err);
}

/* --- lines --- */

/* Where units stand nowhere else, they are those of the options. */
static int default_units(struct reading *g, struct err *err)
{
    static const int64_t times[] = {1, 1000, 1000000, 1000000000, 1};
    static const int64_t bytes[] = {1, 1000, 1000000, 1000000000, 1 << 10, 1 << 20, 1 << 30};
    for (size_t i = 0; i < g->map_count; i++) {
        struct map *m = &g->maps[i];
        if ((m->ours == TIME || m->ours == DUR) && m->unit.quantity != QUANTITY_TIME)
            m->unit = (struct text_unit){QUANTITY_TIME, times[g->o.time_unit]};
        else if (m->ours == BYTES && m->unit.quantity != QUANTITY_BYTES)
            m->unit = (struct text_unit){QUANTITY_BYTES, bytes[g->o.bytes_unit]};
    }
    if (!map_of(g, KIND) && g->only == RECORD_NONE)
        return err_set(err, "line %llu: no column is the kind, and option kinds does not say it", line_of(g));
    g->stream.unit = !map_of(g, TIME) ? TIME_NONE : g->o.time_unit == UNIT_CYCLES ? TIME_CYCLES : TIME_NS;
    return 0;
}

/* What a profiler prints around its table: "==4242== NVPROF is profiling process 4242". */
static bool is_talk(struct reading *g, const char *line)
{
    const char *p = line + 2;
    uint64_t process;
    if (strncmp(line, "==", 2) == 0 && field_digits(&p, &process) && process < INT32_MAX)
        g->process = (int64_t)process;
    return g->known && strncmp(line, "==", 2) == 0;
}

static int take_cells(struct reading *g, char *line, struct err *err)
{
    struct field cells[TEXT_TABLE_COLUMNS];
    const size_t n = text_table_split(line, g->separator, cells);
    if (g->first && take_units(g, cells, n))
        return 0;
    if (g->first && default_units(g, err))
        return -1;
    g->first = false;
    if (n == g->width || (n > g->width && g->maps[0].many))
        return take_row(g, cells, n, err);
    if (g->known)
        return reader_skip_line(g->context, "not as many cells as the header", g->source, err);
    return err_set(err, "line %llu: %s; the header row names %zu columns", line_of(g),
                   n == 0         ? "a quote is not closed"
                   : n > g->width ? "more fields than columns"
                                  : "fewer fields than columns",
                   g->width);
}

static int take_line(struct reading *g, char *line, size_t length, struct err *err)
{
    if (memchr(line, 0, length))
        return err_set(err, "line %llu: a zero byte in the text", line_of(g));
    if (length == 0)
        g->headed &= !g->known; /* the table ends, another may follow */
    if (length == 0 || *line == '#' || is_talk(g, line))
        return 0;
    if (g->headed)
        return take_cells(g, line, err);
    const int found = take_header(g, line, err);
    if (found < 0)
        return -1;
    g->headed = g->first = found > 0;
    return found == 2 ? take_cells(g, line, err) : 0;
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
    if (more == 0 && !g->width)
        return err_set(err, "line %llu: no header row of a table of GPU activities is in it", line_of(g));
    return more;
}

static int store_kinds(struct reading *g, struct err *err)
{
    const bool addressed = map_of(g, ADDR) != NULL;
    if (!g->known || g->index < 0)
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
    g->known = !g->o.columns;
    if (take_columns(g, g->known ? known_columns : g->o.columns, err) ||
        take_kinds(g, g->known ? known_kinds : g->o.kinds, err))
        return -1;
    if (g->owners && g->extras > STORE_EXTRAS - 3)
        return err_set(err, "columns: with device or process, one extra:X at most");
    for (int i = 0; g->owners && i < 3; i++)
        (void)snprintf(g->stream.extra[g->extras++], sizeof *g->stream.extra, "%s",
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
    param_list_release(&g->columns);
    param_list_release(&g->kinds);
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
