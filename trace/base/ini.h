/* ini: reads files of `[section]` and `key = value`, such as platforms and tasks.
 *
 * One item a line, of any length. A line that begins with ';' or '#' is a comment, and so is text from a ';' after
 * white space. White space around names and values is dropped; lines may end in CRLF, and a byte order mark may come
 * first. Sections, and keys in a section, are unique. Anything else is an error that names file and line. libinih is
 * not used: it silently cuts lines at 199 bytes and sections at 49, and accepts text behind ']' and zero bytes. */
#pragma once

#include <stddef.h>

#include "trace/base/err.h"

/* What is called for each section, with key and value NULL, and then for each of its keys. The texts are valid during
 * the call. It returns 0, or -1 with *err set; the place is put in front. */
struct ini_reader {
    int (*take)(void *ctx, const char *section, const char *key, const char *value, struct err *err);
    void *ctx;
};

/* Read file `path`, a regular one of at most 16 MiB. */
int ini_read_file(const char *path, const struct ini_reader *reader, struct err *err);

/* Read `bytes` bytes of text; `name` stands for the file in messages. */
int ini_read_text(const char *name, const char *text, size_t bytes, const struct ini_reader *reader, struct err *err);

/* `text` without the characters of `white_space` around it; it is written to. */
char *ini_trim(char *text, const char *white_space);
