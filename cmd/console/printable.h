/* printable: texts that come from files, on their way to a person's terminal: nothing in them moves the cursor, changes
 * colours or titles, or looks like a line of ours. Data formats (CSV, JSON) keep texts as they are. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "replay/run/outcome.h"

/* Every control character, C0, DEL and C1 in UTF-8 (U+0080 to U+009F), becomes '?', byte by byte, in place. Returns
 * text. */
char *printable(char *text);

/* Something could not be printed for lack of memory: the command fails for it at its end. */
void printable_fail(void);
bool printable_failed(void);

/* As fprintf(), the outcome made plain except for the line ends in the format itself, at its end. The first one fits a
 * whole line to a terminal (below). */
void printable_print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void printable_vprint(FILE *to, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));

/* --- lines: text fitted to the width of a terminal: where a line may end, and how much of a text stands in it. Widths
 * are in columns, one for each character of UTF-8; `bytes` bytes of a text are whole characters --- */

enum { LINES_COLUMNS = 80 };

/* So many columns has standard output where it is no terminal: what a command that compares prints can be mailed. */
void lines_at_most(size_t columns);
/* Columns that a line may have: COLUMNS, where it is set to 20 or more, else those of the terminal, else
 * lines_at_most(); 0: as many as it needs. */
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

/* --- notes: what a run says besides its numbers, for people. A long note is cut at the end of a clause; all of it
 * stands under --verbose, in JSON and in results --- */

enum { NOTES_COLUMNS = 120, NOTES_LEAST = 20 }; /* of a note that is not cut; of a clause that says something */

/* Bytes of a note that are printed: all of a short one, of a refusal, and under --verbose; else as many whole clauses,
 * behind which "; " or ": " stands, as fit NOTES_COLUMNS columns, or the first that is more than a name. */
size_t notes_shown(const char *note);

/* "WHOSE: NOTE", with " .. (-v)" where it is cut. */
void notes_print(FILE *to, const char *whose, const char *note);

struct noted {
    const char *name;
    const struct outcome *outcome;
};

/* Each note of the runs once, with those that have it, if it matters. Those that the head says are none. Returns how
 * many are left. */
size_t notes_print_all(FILE *to, const struct noted *runs, size_t n,
                       bool (*matters)(const struct noted *runs, size_t n, size_t run, const char *note));
