/* csv_text: writes a text as a CSV cell that a spreadsheet shows but does not compute, and reads it back.
 *
 * Commas, quotes and line ends are quoted (RFC 4180). A text that begins with = + @ -, a tab or a carriage return and
 * is no number gets a ' in front, and so does one that begins with ' and would be misread. Numbers (-5, +1e3) and
 * ranges (-5..3) stay. Source: OWASP, CSV Injection. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* one_line: control characters become blanks, for readers that know no line ends inside quotes. */
void csv_text_put(FILE *to, const char *text, bool one_line);
/* The same of n bytes, behind which a zero byte stands; those among them stay. */
void csv_text_put_bytes(FILE *to, const char *text, size_t n, bool one_line);

/* How many bytes in front of a cell of n bytes, quotes taken off, were put there by csv_text_put(): 1 or 0. */
size_t csv_text_mark(const char *cell, size_t n);
