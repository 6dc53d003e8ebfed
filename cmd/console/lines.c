#include "cmd/console/lines.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST = 20, HANGING = 2 };

size_t lines_width(FILE *to)
{
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    const unsigned long given = text ? strtoul(text, &end, 10) : 0;
    struct winsize size;
    if (text && end != text && *end == 0 && given >= LEAST && given <= INT_MAX)
        return given;
    if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &size) || size.ws_col < LEAST)
        return 0;
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
    return n;
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
