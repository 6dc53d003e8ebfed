/* folder: what else is in a folder, for messages about a file that is not there; the folder of the program. */
#ifndef TRACE_BASE_DIR_LIST_H
#define TRACE_BASE_DIR_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* "it holds a, b, c and 12 more": the first names in alphabetical order; "it is empty", or why it cannot be read.
 * folder "": the current one. Returns text. */
const char *dir_list(const char *folder, char *text, size_t size);

/* The same for the folder that a path lies in. */
const char *dir_list_beside(const char *path, char *text, size_t size);

/* Where this program lies, to find what stands beside it; without the slash behind. One that a bundle's loader runs is
 * not what /proc/self/exe says, but a file that the loader was given the name of. False: that cannot be found out. */
bool program_folder(char folder[PATH_MAX]);

#endif
