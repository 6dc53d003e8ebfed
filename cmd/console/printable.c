#include "cmd/console/printable.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/console/lines.h"

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
