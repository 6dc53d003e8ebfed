/* embedded: text files of the source tree that the program carries (schema, platforms); written by make. */
#pragma once

#include <stddef.h>
#include <string.h>

struct embedded_file {
    const char *path; /* as in the source tree: "models/platforms/titanv.ini" */
    const char *text;
};

/* Ends with a zeroed element. */
extern const struct embedded_file embedded_files[];

/* The text of the file at `path`, or NULL. */
static inline const char *embedded_text(const char *path)
{
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return embedded_files[i].text;
    return NULL;
}
