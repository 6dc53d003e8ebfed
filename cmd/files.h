/* files: what a command reads and writes, looked at before its work begins: first cmd_reads() of all that is read, then
 * cmd_writes() of each file that is written. */
#ifndef CMD_FILES_H
#define CMD_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A word of the command line that names an input, or may: a path, a prefix as NAME.bel, "synth:W,key=FILE", "key=A|B",
 * the name of a platform. NULL is allowed. */
void cmd_reads(const char *word);
void cmd_reads_all(const char *const *words, size_t n);

/* EXIT_DONE if the file can be written, is none of those named before, and does not exist or may be replaced; otherwise
 * says what is wrong and returns the exit status. */
int cmd_writes(const char *path, bool replace);

/* The same for a results file that runs are added to: it is one, if it is there. */
int cmd_adds_to(const char *results);

#endif
