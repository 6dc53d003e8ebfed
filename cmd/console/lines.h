/* lines: text fitted to the width of a terminal: where a line may end, and how much of a text stands in it. Widths are
 * in columns, one for each character of UTF-8; `bytes` bytes of a text are whole characters. */
#ifndef CMD_CONSOLE_LINES_H
#define CMD_CONSOLE_LINES_H

#include <stddef.h>
#include <stdio.h>

/* Columns that a line may have: COLUMNS, where it is set to 20 or more, else those of the terminal; 0: as many as it
 * needs. */
size_t lines_width(FILE *to);

size_t lines_columns(const char *text, size_t bytes);
/* `bytes` without the spaces at the end of them. */
size_t lines_trimmed(const char *text, size_t bytes);

/* Bytes of the piece that text begins with, up to where a line may end: behind spaces, and behind marks that join
 * (, | ;), but not inside "1,234". */
size_t lines_piece(const char *text);
/* Bytes of text that stand in a line of `room` columns: whole pieces, one at least, spaces at the end not counted. */
size_t lines_bytes(const char *text, size_t room);

/* Print text and a line end; what does not fit goes to further lines, two columns further in than the first. */
void lines_print(FILE *to, const char *text);

#endif
