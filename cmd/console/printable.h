/* printable: texts that come from files, on their way to a person's terminal: nothing in them moves the cursor, changes
 * colours or titles, or looks like a line of ours. Data formats (CSV, JSON) keep texts as they are. */
#ifndef CMD_CONSOLE_PRINTABLE_H
#define CMD_CONSOLE_PRINTABLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Every control character, C0, DEL and C1 in UTF-8 (U+0080 to U+009F), becomes '?', byte by byte, in place. Returns
 * text. */
char *printable(char *text);

/* Something could not be printed for lack of memory: the command fails for it at its end (cmd_printed()). */
void printable_fail(void);
bool printable_failed(void);

/* As fprintf(), the outcome made plain except for the line ends in the format itself, at its end. The first one fits a
 * whole line to a terminal (cmd/console/lines.h). */
void printable_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void printable_vprint(FILE *to, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

#endif
