/* table_columns: what the columns and words of another tool's table are in ours, and where they stand in it.
 *
 * init(), header() with each line until it is found, units() with the next row; cell() and kind() then look at rows. */
#pragma once

#include "trace/base/param_value.h"
#include "trace/event/record.h"
#include "trace/import/text_table.h"

enum { PAIRS = 64 };

/* Our columns; from SHAPE on those of table kernels from grid_x on. */
enum ours { KIND, TIME, DUR, ADDR, BYTES, FLAGS, ID, GROUP, NAME, DEVICE, PROCESS, GRID, BLOCK, SHAPE };
extern const char *const table_ours_names[];

/* One of our columns, and where it stands. */
struct table_map {
    enum ours ours;
    const char *theirs;
    bool many; /* THEIRS.. */
    long at;   /* column, from 0; -1: not in this table */
    struct text_unit unit;
};

struct table_columns {
    struct param_list columns, kinds;
    struct table_map maps[PAIRS];
    size_t count;
    enum record_kind only; /* of all rows; RECORD_NONE: rows say */
    bool known;            /* what the profilers print: no table has all that is known */
    bool numbered, binary, owners;
    char separator;
    size_t width; /* cells of a row */
};

/* Take the lists of options columns and kinds; columns NULL: both are those of table_forms.h. */
int table_columns_init(struct table_columns *t, const char *columns, const char *kinds, struct err *err);
void table_columns_release(struct table_columns *t);

/* 1: the line is the header; 2: the table has none, and it is the first row; 0: neither, *missing is the first name
 * that it has not; -1 with *err set. */
int table_columns_header(struct table_columns *t, const char *line, const char **missing, struct err *err);

/* Take a row of units, which nothing else is in. False: it is none. */
bool table_columns_units(struct table_columns *t, const struct field *cells, size_t n);

/* The first column of ours that stands in the table, and whose cell is not empty if cells are given; NULL: none. */
const struct table_map *table_columns_find(const struct table_columns *t, const struct field *cells, enum ours ours);

bool table_columns_has(const struct table_columns *t, enum ours ours);

/* The kind and flags that a word stands for: NULL, or why the row is left out. */
const char *table_columns_kind(const struct table_columns *t, const struct field *word, struct record *r);
