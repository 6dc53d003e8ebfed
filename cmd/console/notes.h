/* notes: what a run says besides its numbers, for people. A long note is cut at the end of a clause; all of it stands
 * under --verbose, in JSON and in results. */
#ifndef CMD_CONSOLE_NOTES_H
#define CMD_CONSOLE_NOTES_H

#include <stdbool.h>
#include <stddef.h>

enum { NOTES_COLUMNS = 120, NOTES_LEAST = 20 }; /* of a note that is not cut; of a clause that says something */

/* Bytes of a note that are printed: all of a short one, of a refusal, and under --verbose; else as many whole clauses,
 * behind which "; " or ": " stands, as fit NOTES_COLUMNS columns, or the first that is more than a name. */
size_t notes_shown(const char *note);

/* "WHOSE: NOTE" on standard output, with " .." where it is cut. */
void notes_print(const char *whose, const char *note);

/* Behind the notes: a line that says how to see those that were cut whole, if any was since the last time. */
void notes_say_cut(void);

#endif
