/* ini: files of `[section]` and `key = value`, such as platforms and tasks.
 *
 * One thing a line, of any length; a line that begins with ';' or '#' is a comment, and so is what follows a ';' behind
 * white space. White space around names and values is not part of them; lines may end in CRLF, a byte order mark may
 * stand in front. A section stands once and a key once in its section. What is none of this is an error, which names
 * file and line. libinih is not used: its lines are cut after 199 bytes and its sections after 49 without a word, and
 * text behind ']', empty sections and zero bytes pass unseen. */
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
