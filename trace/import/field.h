/* field: one field of a line of text, cut off at a separator, and turned into a number without locale or allocation.
 *
 * A cursor walks over a line that ends with a zero byte (input_stream_line()). Numbers must fill their field. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
    const char *text; /* not ended by zero */
    size_t length;
};

/* The field at *cursor up to the next comma or the end of the line; *cursor moves behind the comma, or becomes NULL
 * after the last field. False if *cursor is NULL: there is no further field. */
bool field_next(const char **cursor, struct field *field);

/* The same where a field may stand in double quotes ("" is one quote), which are taken off in the line itself. Returns
 * 1, 0 after the last field, -1 if a quote is not closed, or something stands behind it. */
int field_next_quoted(char **cursor, struct field *field);

/* Decimal digits from *p on, up to `end` (a comma or the end of the line): the usual case, kept inline. *p moves to the
 * first byte that is no digit. False without a digit or above 2^64 - 1. */
static inline bool field_digits(const char **p, uint64_t *value)
{
    const char *s = *p;
    uint64_t v = 0;
    for (; *s >= '0' && *s <= '9'; s++) {
        uint64_t digit = (uint64_t)(*s - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    bool any = s != *p;
    *p = s;
    *value = v;
    return any;
}

/* The value of a hexadecimal digit, above 15 for any other byte. */
extern const uint8_t field_hex_values[256];

/* Hexadecimal digits without 0x, at most 16. */
bool field_hex_digits(const char **p, uint64_t *value);

/* The next word of a line, behind blanks: up to 16 hexadecimal digits, perhaps after 0x. *p moves to its end. */
static inline bool field_hex_word(const char **p, uint64_t *value)
{
    const char *s = *p;
    uint64_t v = 0;
    int n = 0;
    while (*s == ' ' || *s == '\t')
        s++;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        s += 2;
    for (unsigned d; (d = field_hex_values[(unsigned char)*s]) <= 15; s++, n++)
        v = v << 4 | d;
    if (n == 0 || n > 16 || (*s && *s != ' ' && *s != '\t'))
        return false;
    *p = s;
    *value = v;
    return true;
}

/* A whole field: decimal, or hexadecimal after 0x. */
bool field_unsigned(const struct field *field, uint64_t *value);
/* The same with an optional sign, -2^63 .. 2^63 - 1. */
bool field_signed(const struct field *field, int64_t *value);

bool field_is(const struct field *field, const char *text);
