#include "trace/import/table_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/uvm_event.h"

enum { SHAPE_DEVICE = 9 };

static const struct field *cell_of(const struct table_rows *g, const struct field *cells, enum ours ours)
{
    const struct table_map *m = table_columns_find(g->t, cells, ours);
    return m ? &cells[m->at] : NULL;
}

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

static int add_kernel(struct table_rows *g, const struct field *cells, struct record *r, struct err *err)
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
    r->group = table_columns_has(g->t, GROUP) ? r->group : (uint32_t)id;
    return rc;
}

static int bad_cell(const struct table_rows *g, enum ours ours, const struct field *f, const char *expected,
                    struct err *err)
{
    return err_set(err, "line %llu, column %s: '%.*s'; expected %s",
                   (unsigned long long)input_stream_line_number(g->source), table_ours_names[ours],
                   f->length < 60 ? (int)f->length : 60, f->text, expected);
}

/* A number of a column, 0 where it is empty. */
static int take_number(const struct table_rows *g, const struct field *cells, enum ours ours, int64_t *value,
                       struct err *err)
{
    const struct table_map *m = table_columns_find(g->t, cells, ours);
    const struct field *f = m ? &cells[m->at] : NULL;
    struct text_unit unit = {QUANTITY_NONE, 1};
    *value = 0;
    if (!f)
        return 0;
    if (ours == TIME || ours == DUR || ours == BYTES)
        unit = m->unit;
    const bool comma = g->t->separator == ';' && memchr(f->text, ',', f->length); /* a point in some countries */
    if (comma)
        return bad_cell(g, ours, f, "a number without a comma, which may be a point or stand between thousands", err);
    if (text_table_number(f, unit, g->t->binary, value) && (*value >= 0 || ours == TIME || ours == ID))
        return 0;
    return bad_cell(g, ours, f, "a number within 2^62, whole or in its unit (options time_unit, bytes_unit)", err);
}

/* Of faults the value is no size: their number, or behind "PC " a program counter. */
static int take_value(const struct table_rows *g, const struct field *cells, struct record *r, struct err *err)
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
    r->bytes = f ? (uint64_t)bytes : (uint64_t)g->bytes;
    return 0;
}

static int open_stream(struct table_rows *g, enum record_kind first, struct err *err)
{
    static const char *const owner[3] = {"process_id", "src_id", "dst_id"};
    for (int i = 0; g->t->owners && i < 3; i++)
        (void)snprintf(g->stream.extra[i], sizeof g->stream.extra[i], "%s", owner[i]);
    csv_stream_name(&g->stream, g->names, first);
    return reader_stream(g->context, &g->stream, &g->index, err) ||
                   writer_open(&g->writer, g->context->store, g->index, g->t->owners ? 3 : 0, err)
               ? -1
               : 0;
}

static int put(struct table_rows *g, struct record *r, const int64_t *owner, struct err *err)
{
    const bool moved = r->kind == RECORD_MIGRATE_H2D || r->kind == RECORD_MIGRATE_D2H || r->kind == RECORD_MIGRATE_D2D;
    if (moved && !table_columns_has(g->t, ADDR) && !g->context->strict)
        return reader_lose(g->context, r);
    if ((moved || r->kind == RECORD_FAULT || r->kind == RECORD_CPU_FAULT) && !table_columns_has(g->t, ADDR))
        return reader_skip_line(g->context, "no address", g->source, err);
    if (g->index < 0 && open_stream(g, (enum record_kind)r->kind, err))
        return -1;
    return writer_add(&g->writer, r, owner, err);
}

/* The record of a row, once for each of its addresses. */
static int put_all(struct table_rows *g, const struct field *cells, size_t n, struct record *r, struct err *err)
{
    const struct table_map *m = table_columns_find(g->t, NULL, ADDR);
    const struct field *process = cell_of(g, cells, PROCESS);
    const int64_t gpu = device_of(cell_of(g, cells, DEVICE));
    int64_t owner[3];
    uvm_event_owner(r, process ? device_of(process) : g->process, gpu, gpu, owner);
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

int table_rows_add(struct table_rows *g, const struct field *cells, size_t n, struct err *err)
{
    static const enum ours numbers[] = {TIME, DUR, FLAGS, ID, GROUP};
    struct record r = {.kind = g->t->only};
    int64_t at[5];
    const char *why = g->t->only ? NULL : table_columns_kind(g->t, cell_of(g, cells, KIND), &r);
    if (why)
        return reader_skip_line(g->context, why, g->source, err);
    for (int i = 0; i < 5; i++)
        if (take_number(g, cells, numbers[i], &at[i], err))
            return -1;
    r.time = at[0];
    r.duration = at[1];
    r.flags = table_columns_has(g->t, FLAGS) ? (uint32_t)at[2] : r.flags;
    r.id = (uint64_t)at[3];
    r.group = (uint32_t)at[4];
    if (take_value(g, cells, &r, err) || (r.kind == RECORD_KERNEL && add_kernel(g, cells, &r, err)))
        return -1;
    return put_all(g, cells, n, &r, err);
}
