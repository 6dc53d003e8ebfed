/* text_table: a table that another tool prints: its cells, and what numbers in units mean. Commas, semicolons, tabs or
 * blanks stand between cells; readers of such tables have no other way to say units. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/import/field.h"

enum { TEXT_TABLE_COLUMNS = 256 };

/* What stands between cells. _ is two blanks or more, of tables whose cells have single ones. */
#define TEXT_TABLE_SEPARATORS ",\t;_ "

/* What a cell counts. */
enum text_quantity { QUANTITY_NONE, QUANTITY_TIME, QUANTITY_BYTES };

struct text_unit {
    enum text_quantity quantity;
    int64_t scale; /* in ns or bytes */
};

/* Split the line in place into cells, trimmed of blanks; quotes are taken off. A cell of "-" is empty. Their number, at
 * most TEXT_TABLE_COLUMNS; 0: a quote is not closed, or there are more. */
size_t text_table_split(char *line, char separator, struct field *cells);

/* The unit that a word names: ns nsec us ms s .. B bytes KB MB GB KiB MiB GiB. binary: a KB has 1024 bytes, as some
 * tools print it. */
bool text_table_unit(const struct field *word, bool binary, struct text_unit *unit);

/* Cut " (unit)" or " [unit]" off a title; quantity is QUANTITY_NONE where it has none. */
struct text_unit text_table_title(struct field *title, bool binary);

/* A number in a unit, or in one that stands behind it (25.0us), as ns or bytes. Times are the nearest; of bytes printed
 * with decimals the roundest number (of most factors 2) that prints so is taken. False: it is none, or beyond 2^62. */
bool text_table_number(const struct field *cell, struct text_unit unit, bool binary, int64_t *value);
