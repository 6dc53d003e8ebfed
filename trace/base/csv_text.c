#include "trace/base/csv_text.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/units.h"

static bool is_number(const char *text)
{
    double value;
    return units_parse_real(text, &value, NULL) == 0;
}

/* "-5..3" */
static bool is_range(const char *text)
{
    const char *dots = strstr(text, "..");
    char first[64];
    if (!dots || dots == text || (size_t)(dots - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = 0;
    return is_number(first) && is_number(dots + 2);
}

/* Whether a spreadsheet would compute it; a sign alone it cannot. */
static bool computed(const char *text)
{
    if (*text == '-' || *text == '+')
        return text[1] && !is_number(text) && !is_range(text);
    return *text && strchr("=@\t\r", *text);
}

/* Whether commas, quotes or line ends would cut it. */
static bool is_cut(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] && strchr(",\"\n\r", text[i]))
            return true;
    return false;
}

void csv_text_put_bytes(FILE *to, const char *text, size_t n, bool one_line)
{
    const char *quote = is_cut(text, n) ? "\"" : "";
    (void)fprintf(to, "%s%s", quote, computed(text) || csv_text_mark(text, n) ? "'" : "");
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            (void)fputc('"', to);
        (void)fputc(one_line && (unsigned char)text[i] < ' ' ? ' ' : text[i], to);
    }
    (void)fputs(quote, to);
}

void csv_text_put(FILE *to, const char *text, bool one_line)
{
    csv_text_put_bytes(to, text, strlen(text), one_line);
}

size_t csv_text_mark(const char *cell, size_t n)
{
    return n > 1 && *cell == '\'' && strchr("=+-@\t\r'", cell[1]);
}
