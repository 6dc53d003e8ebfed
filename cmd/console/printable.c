#include "cmd/console/printable.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/console/opt.h"
#include "replay/run/platform_use.h"
#include "trace/derived/limits.h"

char *printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)
            p[0] = p[1] = '?';
        if (*p < ' ' || *p == 0x7F)
            *p = '?';
    }
    return text;
}

static bool failed;

void printable_fail(void)
{
    failed = true;
}

bool printable_failed(void)
{
    return failed;
}

/* The text, plain, without the line ends at the end of the format; *ends of those. NULL: no memory. */
static __attribute__((format(printf, 1, 0))) char *plain(const char *format, size_t *ends, va_list ap)
{
    char *text;
    const size_t n = strlen(format);
    *ends = 0;
    while (*ends < n && format[n - 1 - *ends] == '\n')
        (*ends)++;
    const int length = vasprintf(&text, format, ap);
    if (length < 0) {
        printable_fail();
        return NULL;
    }
    text[(size_t)length - *ends] = 0;
    return printable(text);
}

void printable_vprint(FILE *to, const char *format, va_list ap)
{
    size_t ends;
    char *text = plain(format, &ends, ap);
    if (!text)
        return;
    (void)fputs(text, to);
    (void)fputs(format + strlen(format) - ends, to);
    free(text);
}

void printable_print(FILE *to, const char *format, ...)
{
    size_t ends;
    va_list ap;
    va_start(ap, format);
    char *text = plain(format, &ends, ap);
    va_end(ap);
    if (text && ends) {
        lines_print(to, text);
        (void)fputs(format + strlen(format) - ends + 1, to);
    } else if (text) {
        (void)fputs(text, to);
    }
    free(text);
}

/* --- lines --- */

enum { LEAST = 20, HANGING = 2 };

static size_t most; /* columns of standard output that is no terminal; 0: as many as it needs */

void lines_at_most(size_t columns)
{
    most = columns;
}

size_t lines_width(FILE *to)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    const unsigned long given = text ? strtoul(text, &end, 10) : 0;
    struct winsize size;
    if (text && end != text && *end == 0 && given >= LEAST && given <= INT_MAX)
        return given;
    const int file = fileno(to) < 0 ? STDOUT_FILENO : fileno(to); /* what is written to memory is printed there */
    if (!isatty(file) || ioctl(file, TIOCGWINSZ, &size) || size.ws_col < LEAST)
        return file == STDOUT_FILENO ? most : 0;
    return size.ws_col;
}

size_t lines_columns(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

size_t lines_trimmed(const char *text, size_t bytes)
{
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    return bytes;
}

/* Whether the comma at text[n] stands in a number, "1,234". */
static bool in_number(const char *text, size_t n)
{
    return text[n] == ',' && n > 0 && isdigit((unsigned char)text[n - 1]) && isdigit((unsigned char)text[n + 1]) &&
           isdigit((unsigned char)text[n + 2]) && isdigit((unsigned char)text[n + 3]);
}

size_t lines_piece(const char *text)
{
    size_t n = strcspn(text, " ,|;");
    while (in_number(text, n))
        n += 1 + strcspn(text + n + 1, " ,|;");
    while (text[n] && strchr(" ,|;", text[n]))
        n++;
    return n + (strcmp(text + n, "*") == 0 || strcmp(text + n, "=") == 0); /* a mark at the end stays with its word */
}

size_t lines_bytes(const char *text, size_t room)
{
    size_t n = lines_piece(text);
    for (size_t next; text[n] && (next = n + lines_piece(text + n)); n = next)
        if (lines_columns(text, lines_trimmed(text, next)) > room)
            break;
    return n;
}

void lines_print(FILE *to, const char *text)
{
    const size_t room = lines_width(to), indent = strspn(text, " ");
    size_t before = 0; /* columns in front of this line */
    while (room && lines_columns(text, strlen(text)) + before > room) {
        const size_t lead = before ? 0 : indent;
        const size_t bytes = lead + lines_bytes(text + lead, room > before + lead ? room - before - lead : 1);
        if (text[bytes] == 0)
            break;
        (void)fprintf(to, "%*s%.*s\n", (int)before, "", (int)lines_trimmed(text, bytes), text);
        text += bytes;
        before = indent + HANGING < room / 2 ? indent + HANGING : 0;
    }
    (void)fprintf(to, "%*s%s\n", (int)before, "", text);
}

/* --- notes --- */

/* Where the last clause of the first n bytes ends, behind enough to say something; 0: there is none. */
static size_t clause(const char *note, size_t n)
{
    while (--n > NOTES_LEAST)
        if ((note[n] == ';' || note[n] == ':') && note[n + 1] == ' ')
            return n;
    return 0;
}

size_t notes_shown(const char *note)
{
    size_t n = strlen(note), shorter;
    if (opt_verbose || strncmp(note, "refused", strlen("refused")) == 0 || limits_note(note))
        return n;
    while (lines_columns(note, n) > NOTES_COLUMNS && (shorter = clause(note, n)) > 0)
        n = shorter;
    return n;
}

void notes_print(FILE *to, const char *whose, const char *note)
{
    const size_t n = notes_shown(note);
    printable_print(to, "%s: %.*s%s\n", whose, (int)n, note, note[n] ? " .. (-v)" : "");
}

/* "tree", "tree, none", "tree and 4 others", "all": who of the runs from `first` on has the note. */
static const char *who(const struct noted *runs, size_t n, size_t first, const char *note, char *buf, size_t size)
{
    size_t have = 0, second = first;
    for (size_t i = first; i < n; i++)
        if (outcome_has_note(runs[i].outcome, note) && have++ == 1)
            second = i;
    if (have > 1 && have == n)
        (void)snprintf(buf, size, "all");
    else if (have > 2)
        (void)snprintf(buf, size, "%s and %zu others", runs[first].name, have - 1);
    else
        (void)snprintf(buf, size, "%s%s%s", runs[first].name, have > 1 ? ", " : "", have > 1 ? runs[second].name : "");
    return buf;
}

size_t notes_print_all(FILE *to, const struct noted *runs, size_t n,
                       bool (*matters)(const struct noted *runs, size_t n, size_t run, const char *note))
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < runs[i].outcome->note_count; k++) {
            const char *note = runs[i].outcome->notes[k];
            char names[600];
            size_t first = 0;
            while (!outcome_has_note(runs[first].outcome, note))
                first++;
            if (first < i || limits_note(note) || platform_use_is_head(note)) /* said above */
                continue;
            if (matters(runs, n, i, note))
                notes_print(to, who(runs, n, i, note, names, sizeof names), note);
            else
                left++;
        }
    return left;
}
