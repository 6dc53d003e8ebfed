#include "cmd/console/printable.h"

#include <stdlib.h>
#include <string.h>

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

void printable_vprint(FILE *to, const char *format, va_list ap)
{
    char *text;
    size_t n = strlen(format), ends = 0;
    while (ends < n && format[n - 1 - ends] == '\n')
        ends++;
    int length = vasprintf(&text, format, ap);
    if (length < 0)
        return;
    text[(size_t)length - ends] = 0;
    (void)fputs(printable(text), to);
    (void)fputs(format + n - ends, to);
    free(text);
}

void printable_print(FILE *to, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    printable_vprint(to, format, ap);
    va_end(ap);
}
