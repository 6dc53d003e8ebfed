#include "trace/base/ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"

enum { FILE_BYTES_MAX = 16 << 20 };

static const char white[] = " \t\r\v\f";

/* A section or a key that was there. */
struct given {
    UT_hash_handle hh;
    size_t line;
    char name[]; /* of the section, a newline, the key; zero-terminated */
};

struct ini {
    const struct ini_reader *reader;
    const char *section; /* NULL: none yet */
    size_t line;         /* from 1 */
    struct given *given;
};

char *ini_trim(char *text, const char *white_space)
{
    text += strspn(text, white_space);
    size_t n = strlen(text);
    while (n && strchr(white_space, text[n - 1]))
        n--;
    text[n] = 0;
    return text;
}

static void cut_comment(char *line)
{
    const char *first = line + strspn(line, white);
    for (char *p = line; *p; p++)
        if ((p == first && *p == '#') || (*p == ';' && (p <= first || strchr(white, p[-1])))) {
            *p = 0;
            return;
        }
}

/* A second section of one name, or a second key in it, would be the one that counts without a word. Key "": none. */
static int note_once(struct ini *ini, const char *key, struct err *err)
{
    size_t room = strlen(ini->section) + strlen(key) + 2;
    struct given *given = mem_zalloc(1, sizeof *given + room, err), *before = NULL;
    if (!given)
        return -1;
    (void)snprintf(given->name, room, "%s\n%s", ini->section, key);
    given->line = ini->line;
    HASH_FIND_STR(ini->given, given->name, before);
    if (before) {
        free(given);
        return err_set(err, "%.60s is given again; it stands in line %zu", *key ? key : ini->section, before->line);
    }
    HASH_ADD_STR(ini->given, name, given);
    if (hash_has(given))
        return 0;
    free(given);
    return err_set(err, "out of memory");
}

static int take_section(struct ini *ini, char *text, struct err *err)
{
    size_t n = strcspn(text, "]");
    if (!text[n] || text[n + 1])
        return err_set(err, "found '%.60s'; expected '[section]' and nothing else", text);
    text[n] = 0;
    ini->section = ini_trim(text + 1, white);
    if (!*ini->section)
        return err_set(err, "found '[]'; expected a name between the brackets");
    if (note_once(ini, "", err))
        return -1;
    return ini->reader->take(ini->reader->ctx, ini->section, NULL, NULL, err);
}

static int take_line(struct ini *ini, char *line, struct err *err)
{
    cut_comment(line);
    char *text = ini_trim(line, white), *equals = strchr(text, '=');
    if (!*text)
        return 0;
    if (*text == '[')
        return take_section(ini, text, err);
    if (!equals || equals == text)
        return err_set(err, "found '%.60s'; expected '[section]' or 'key = value'", text);
    if (!ini->section)
        return err_set(err, "'%.60s' stands before the first [section]", text);
    *equals = 0;
    const char *key = ini_trim(text, white);
    if (note_once(ini, key, err))
        return -1;
    return ini->reader->take(ini->reader->ctx, ini->section, key, ini_trim(equals + 1, white), err);
}

/* `text` is written to: a line ends in zero, the last one at text[bytes]. */
static int take_lines(struct ini *ini, char *text, size_t bytes, struct err *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    char *end = text + bytes;
    if (bytes >= 3 && memcmp(text, mark, 3) == 0)
        text += 3;
    for (char *line = text, *next; line < end; line = next) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        *stop = 0;
        ini->line++;
        size_t n = strlen(line);
        if (line + n < stop)
            return err_set(err, "found a zero byte after %zu characters; expected text", n);
        if (take_line(ini, line, err))
            return -1;
    }
    return 0;
}

static int read_lines(const char *name, char *text, size_t bytes, const struct ini_reader *reader, struct err *err)
{
    struct ini ini = {.reader = reader};
    int rc = take_lines(&ini, text, bytes, err);
    HASH_FREE(ini.given, given, (void)0);
    return rc ? err_at(err, "%.200s:%zu", name, ini.line) : 0;
}

int ini_read_file(const char *path, const struct ini_reader *reader, struct err *err)
{
    size_t bytes;
    char *text = regular_file_read(path, FILE_BYTES_MAX, &bytes, err);
    int rc = text ? read_lines(path, text, bytes, reader, err) : -1;
    free(text);
    return rc;
}

int ini_read_text(const char *name, const char *text, size_t bytes, const struct ini_reader *reader, struct err *err)
{
    char *copy = mem_strndup(text, bytes, err);
    int rc = copy ? read_lines(name, copy, bytes, reader, err) : -1;
    free(copy);
    return rc;
}
