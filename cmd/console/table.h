/* table: rows of cells, printed aligned for people or as CSV. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "replay/run/outcome.h"

struct table {
    char **cells; /* row after row */
    size_t columns, count, cap;
    size_t keys;  /* the first columns, which name a row and stand again where columns stand below; 0: one does */
    size_t *left; /* gets how many columns are left out for want of room; NULL: these stand below */
    bool failed;  /* no memory */
};

/* The first row is the header. columns: 0 if they are counted, and set, when it stands. */
void table_init(struct table *table, size_t columns);
/* The same with those words as the header; they end with NULL. */
void table_begin(struct table *table, const char *const *words);
#define TABLE_BEGIN(TABLE, ...) table_begin(TABLE, (const char *const[]){__VA_ARGS__, NULL})
void table_release(struct table *table);
/* Print it on standard output, as CSV or for people, and release it. */
void table_finish(struct table *table, bool csv);

/* Append one cell; a row is full after `columns` cells. Control characters are shown as '?'. A failure to get memory
 * is one of printing (printable_fail()), and nothing of the table is printed. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A kernel's name as people read it, by the C++ runtime where there is one, cut to `most` columns. */
void table_kernel(struct table *table, const char *name, size_t most);
/* A cell for each word, up to NULL. */
void table_words(struct table *table, const char *const *words);
#define TABLE_WORDS(TABLE, ...) table_words(TABLE, (const char *const[]){__VA_ARGS__, NULL})
/* For CSV: a column's name; with `ends` also NAME_lo and NAME_hi. */
void table_head(struct table *table, const char *name, bool ends);
/* For CSV: an exact number, empty where it is not known. */
void table_real(struct table *table, bool known, double value);
/* The same of a metric, NULL: a real; ends: and two more cells, the ends of its interval. */
void table_exact(struct table *table, const struct metric *metric, const struct metric_value *value, bool ends);

/* Print aligned columns: numbers to the right, the rest to the left, the head bold on a terminal (not with NO_COLOR).
 * Lines keep to lines_width(): long cells wrap, and columns that do not fit go into a second table below, after the
 * keys. Only one long word may exceed the width. */
void table_print(const struct table *table, FILE *to);
/* Cells as csv_text_put() writes them, LF line ends. */
void table_csv(const struct table *table, FILE *to);

/* For CSV: a cell with the names of a run's estimates. */
void table_estimates(struct table *table, const struct outcome *run);
/* For CSV: texts in one cell; the array is taken over. */
void table_joined(struct table *table, json_t *texts, const char *between);
void table_leave_out(struct table *table, size_t column);
/* Leave out those columns from `first` up to `end` of which no row says anything. */
void table_leave_out_empty(struct table *table, size_t first, size_t end);

/* Metrics that a table for people leaves out: known ones, and n/a in every run. */
struct left_out {
    size_t known, unknown;
};

void left_out_add(struct left_out *left, bool known);
/* A line that says so, and how to see them; nothing if there are none. where: "under every policy". */
void left_out_say(const struct left_out *left, const char *where);
