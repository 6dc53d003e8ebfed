#include "trace/readers/field.h"

#include <string.h>

bool field_next(const char **cursor, struct field *field)
{
    const char *p = *cursor;
    if (!p)
        return false;
    size_t n = strcspn(p, ",");
    field->text = p;
    field->length = n;
    *cursor = p[n] ? p + n + 1 : NULL;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool field_hex_digits(const char **p, uint64_t *value)
{
    const char *s = *p;
    uint64_t v = 0;
    int digit;
    for (; (digit = hex_value(*s)) >= 0; s++) {
        if (v >> 60)
            return false;
        v = v << 4 | (uint64_t)digit;
    }
    bool any = s != *p;
    *p = s;
    *value = v;
    return any;
}

bool field_unsigned(const struct field *field, uint64_t *value)
{
    const char *p = field->text, *end = field->text + field->length;
    bool hex = field->length > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    if (hex)
        p += 2;
    return (hex ? field_hex_digits(&p, value) : field_digits(&p, value)) && p == end;
}

bool field_signed(const struct field *field, int64_t *value)
{
    struct field rest = *field;
    bool minus = rest.length > 0 && rest.text[0] == '-';
    if (minus) {
        rest.text++;
        rest.length--;
    }
    uint64_t v;
    if (!field_unsigned(&rest, &v) || v > (uint64_t)INT64_MAX + minus)
        return false;
    *value = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool field_is(const struct field *field, const char *text)
{
    return strlen(text) == field->length && memcmp(field->text, text, field->length) == 0;
}
