/* embedded: text files of the source tree that the program carries (schema, platforms); written by make. */
#ifndef TRACE_BASE_EMBEDDED_H
#define TRACE_BASE_EMBEDDED_H

struct embedded_file {
    const char *path; /* as in the source tree: "models/platforms/titanv.ini" */
    const char *text;
};

/* Ends with a zeroed element. */
extern const struct embedded_file embedded_files[];

#endif
