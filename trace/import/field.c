#include "trace/import/field.h"

#include <string.h>

bool field_next(const char **cursor, struct field *field)
{
    const char *p = *cursor;
    if (!p)
        return false;
    size_t n = (size_t)(strchrnul(p, ',') - p);
    field->text = p;
    field->length = n;
    *cursor = p[n] ? p + n + 1 : NULL;
    return true;
}

int field_next_quoted(char **cursor, struct field *field)
{
    char *p = *cursor;
    if (!p)
        return 0;
    if (*p != '"') {
        const char *c = p;
        (void)field_next(&c, field);
        *cursor = c ? p + (c - p) : NULL;
        return 1;
    }
    char *out = ++p;
    field->text = out;
    for (;; p++) {
        if (*p == 0)
            return -1;
        if (*p == '"' && *++p != '"')
            break;
        *out++ = *p;
    }
    field->length = (size_t)(out - field->text);
    if (*p != ',' && *p != 0)
        return -1;
    *cursor = *p ? p + 1 : NULL;
    return 1;
}

#define NO4     16, 16, 16, 16
#define NO16    NO4, NO4, NO4, NO4
#define LETTERS 16, 10, 11, 12, 13, 14, 15, 16, NO4, NO4
const uint8_t field_hex_values[256] = {NO16, NO16, NO16, 0,    1,    2,    3,       4,    5,       6,
                                       7,    8,    9,    16,   16,   NO4,  LETTERS, NO16, LETTERS, NO16,
                                       NO16, NO16, NO16, NO16, NO16, NO16, NO16,    NO16};

bool field_hex_digits(const char **p, uint64_t *value)
{
    const char *s = *p;
    uint64_t v = 0;
    unsigned digit;
    for (; (digit = field_hex_values[(unsigned char)*s]) < 16; s++) {
        if (v >> 60)
            return false;
        v = v << 4 | digit;
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
