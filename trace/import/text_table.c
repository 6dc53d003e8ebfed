#include "trace/import/text_table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "trace/event/record.h"

static struct field trimmed(struct field f)
{
    while (f.length && (f.text[0] == ' ' || f.text[0] == '\t')) {
        f.text++;
        f.length--;
    }
    while (f.length && (f.text[f.length - 1] == ' ' || f.text[f.length - 1] == '\t'))
        f.length--;
    if (f.length == 1 && *f.text == '-')
        f.length = 0;
    return f;
}

static char *cell_end(char *p, char separator)
{
    char *two = separator == '_' ? strstr(p, "  ") : NULL;
    return two                ? two
           : separator == '_' ? p + strlen(p)
           : separator == ' ' ? p + strcspn(p, " \t")
                              : strchrnul(p, separator);
}

/* A quoted cell from *p on, without its quotes. *p moves to what follows it; false: the quote is not closed. */
static bool quoted(char **p, struct field *cell)
{
    char *in = *p + 1, *out = in;
    cell->text = out;
    for (;; in++) {
        if (*in == 0)
            return false;
        if (*in == '"' && *++in != '"')
            break;
        *out++ = *in;
    }
    cell->length = (size_t)(out - cell->text);
    *p = in;
    return true;
}

size_t text_table_split(char *line, char separator, struct field *cells)
{
    const bool blanks = separator == ' ' || separator == '_';
    size_t n = 0;
    for (char *p = line;; p++) {
        p += strspn(p, separator == '\t' ? " " : " \t");
        if (blanks && !*p)
            return n;
        if (n == TEXT_TABLE_COLUMNS)
            return 0;
        struct field *cell = &cells[n++];
        if (*p == '"') {
            if (!quoted(&p, cell))
                return 0;
            p = cell_end(p, separator);
        } else {
            char *end = cell_end(p, separator);
            *cell = (struct field){p, (size_t)(end - p)};
            p = end;
        }
        *cell = trimmed(*cell);
        if (!*p)
            return n;
    }
}

bool text_table_unit(const struct field *word, bool binary, struct text_unit *unit)
{
    static const struct {
        const char *name;
        enum text_quantity quantity;
        int64_t decimal, binary;
    } units[] = {{"ns", QUANTITY_TIME, 1, 1},
                 {"nsec", QUANTITY_TIME, 1, 1},
                 {"us", QUANTITY_TIME, 1000, 1000},
                 {"usec", QUANTITY_TIME, 1000, 1000},
                 {"\xc2\xb5s", QUANTITY_TIME, 1000, 1000},
                 {"\xce\xbcs", QUANTITY_TIME, 1000, 1000},
                 {"ms", QUANTITY_TIME, 1000000, 1000000},
                 {"msec", QUANTITY_TIME, 1000000, 1000000},
                 {"s", QUANTITY_TIME, 1000000000, 1000000000},
                 {"sec", QUANTITY_TIME, 1000000000, 1000000000},
                 {"b", QUANTITY_BYTES, 1, 1},
                 {"byte", QUANTITY_BYTES, 1, 1},
                 {"bytes", QUANTITY_BYTES, 1, 1},
                 {"kb", QUANTITY_BYTES, 1000, 1 << 10},
                 {"mb", QUANTITY_BYTES, 1000000, 1 << 20},
                 {"gb", QUANTITY_BYTES, 1000000000, 1 << 30},
                 {"kib", QUANTITY_BYTES, 1 << 10, 1 << 10},
                 {"mib", QUANTITY_BYTES, 1 << 20, 1 << 20},
                 {"gib", QUANTITY_BYTES, 1 << 30, 1 << 30}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (word->length == strlen(units[i].name) && strncasecmp(word->text, units[i].name, word->length) == 0) {
            *unit = (struct text_unit){units[i].quantity, binary ? units[i].binary : units[i].decimal};
            return true;
        }
    return false;
}

struct text_unit text_table_title(struct field *title, bool binary)
{
    struct text_unit unit = {QUANTITY_NONE, 1};
    const char last = title->length ? title->text[title->length - 1] : 0;
    const char *open = last == ')' || last == ']' ? memrchr(title->text, last == ')' ? '(' : '[', title->length) : NULL;
    if (!open)
        return unit;
    const struct field word = {open + 1, (size_t)(title->text + title->length - open) - 2};
    if (text_table_unit(&word, binary, &unit))
        *title = trimmed((struct field){title->text, (size_t)(open - title->text)});
    return unit;
}

/* Of the numbers within `half` of x the one with most factors 2. */
static int64_t roundest(long double x, long double half)
{
    const int64_t lo = (int64_t)ceill(x - half), hi = (int64_t)floorl(x + half);
    for (int k = 61; k > 0 && x >= 1; k--) {
        const int64_t m = hi >> k << k;
        if (m > 0 && m >= lo)
            return m;
    }
    return (int64_t)roundl(x);
}

/* Digits with a point, as whole * 10^-places; commas in groups of three are passed over. *p moves behind them. */
static bool digits(const char **p, const char *end, int64_t *whole, int *places)
{
    const char *s = *p, *group = NULL;
    bool point = false, any = false;
    for (*whole = *places = 0; s < end; s++) {
        if (*s == ',' && any && !point && (!group || s - group == 4)) {
            group = s;
            continue;
        }
        if (*s == '.' && any && !point && !(group && s - group != 4)) {
            point = true;
            any = false;
            continue;
        }
        if (*s < '0' || *s > '9')
            break;
        any = true;
        const int digit = *s - '0';
        const bool fits = *whole <= (INT64_MAX - digit) / 10;
        if (!fits && !point)
            return false;
        *whole = fits ? *whole * 10 + digit : *whole;
        *places += point && fits;
    }
    *p = s;
    return any && (point || !group || s - group == 4);
}

bool text_table_number(const struct field *cell, struct text_unit unit, bool binary, int64_t *value)
{
    const char *p = cell->text, *end = p + cell->length;
    const bool minus = p < end && *p == '-';
    int64_t whole;
    int places;
    uint64_t hex;
    if (unit.scale == 1 && field_unsigned(cell, &hex) && cell->length > 2 && cell->text[1] > '9') {
        *value = (int64_t)hex;
        return hex <= RECORD_TIME_MAX;
    }
    p += minus;
    if (!digits(&p, end, &whole, &places))
        return false;
    const struct field suffix = trimmed((struct field){p, (size_t)(end - p)});
    struct text_unit own;
    if (suffix.length) {
        if (!text_table_unit(&suffix, binary, &own) || (unit.quantity && own.quantity != unit.quantity))
            return false;
        unit = own;
    }
    if (places && unit.scale == 1)
        return false;
    const bool exact = places == 0 || unit.quantity != QUANTITY_BYTES;
    for (; places && unit.scale % 10 == 0; places--)
        unit.scale /= 10;
    const long double one = (long double)unit.scale / powl(10, places), x = (long double)whole * one;
    if (x >= (long double)RECORD_TIME_MAX + 1)
        return false;
    *value = exact ? (int64_t)roundl(x) : roundest(x, one / 2);
    *value = minus ? -*value : *value;
    return *value <= RECORD_TIME_MAX;
}
