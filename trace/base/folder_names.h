/* folder_names: what else is in a folder, for messages about a file that is not there. */
#ifndef TRACE_BASE_FOLDER_NAMES_H
#define TRACE_BASE_FOLDER_NAMES_H

#include <stddef.h>

/* "it holds a, b, c and 12 more": the first names in alphabetical order; "it is empty", or why it cannot be read.
 * folder "": the current one. Returns text. */
const char *folder_names(const char *folder, char *text, size_t size);

/* The same for the folder that a path lies in. */
const char *folder_names_beside(const char *path, char *text, size_t size);

#endif
