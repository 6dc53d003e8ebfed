#include "trace/import/uvmeval.h"

#include <string.h>

#include "trace/import/field.h"

static const char *skip_spaces(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* "prio,seq,usec,flags[,...];TEXT" or "[sec.usec] TEXT" or TEXT: where TEXT begins. */
static const char *skip_prefix(const char *p, struct uvmeval_line *line)
{
    const char *q = p;
    uint64_t priority, number, time;
    if (*p == '[') {
        const char *end = strchr(p, ']');
        return end ? skip_spaces(end + 1) : p;
    }
    if (field_digits(&q, &priority) && *q++ == ',' && field_digits(&q, &number) && *q++ == ',' &&
        field_digits(&q, &time) && *q == ',') {
        const char *text = strchr(q, ';');
        if (text) {
            line->numbered = true;
            line->sequence = number;
            return text + 1;
        }
    }
    return p;
}

/* Numbers between commas up to the end of the line, the first one hexadecimal if asked. False if anything else is
 * there. An empty rest is no number. A trailing "-1" (status) counts as a number too. */
static bool numbers(const char *p, bool hex_first, struct uvmeval_line *line)
{
    line->count = 0;
    p = skip_spaces(p);
    if (*p == 0)
        return true;
    for (;;) {
        uint64_t v;
        p = skip_spaces(p);
        bool negative = *p == '-';
        p += negative;
        if (line->count == UVMEVAL_FIELDS)
            return false;
        if (hex_first && line->count == 0 ? !field_hex_digits(&p, &v) : !field_digits(&p, &v))
            return false;
        line->values[line->count++] = negative ? -v : v;
        p = skip_spaces(p);
        if (*p == 0)
            return true;
        if (*p++ != ',')
            return false;
    }
}

/* "0x<start>,<bytes>" with or without spaces. */
static bool range(const char *p, struct uvmeval_line *line)
{
    p = skip_spaces(p);
    if (p[0] != '0' || (p[1] != 'x' && p[1] != 'X'))
        return false;
    p += 2;
    if (!field_hex_digits(&p, &line->values[0]))
        return false;
    p = skip_spaces(p);
    if (*p++ != ',')
        return false;
    p = skip_spaces(p);
    if (!field_digits(&p, &line->values[1]))
        return false;
    line->count = 2;
    return *skip_spaces(p) == 0;
}

static enum uvmeval_kind letter_kind(char letter, struct uvmeval_line *line)
{
    int n = line->count;
    switch (letter) {
    case 's':
        return n <= 1 ? UVMEVAL_START : UVMEVAL_BAD;
    case 'f':
        return n == 14 ? UVMEVAL_FAULT : UVMEVAL_BAD;
    case 'b':
        return n == 0 || n == 2 ? UVMEVAL_END : n == 30 ? UVMEVAL_BATCH : UVMEVAL_BAD;
    case 'e':
        return n == 1 ? UVMEVAL_EVICT : n == 31 ? UVMEVAL_FAILED : UVMEVAL_BAD;
    case 'p':
        return n == 1 ? UVMEVAL_PREFETCH : UVMEVAL_BAD;
    case 'd':
        return UVMEVAL_DISCARD;
    default:
        return UVMEVAL_NOTICE;
    }
}

void uvmeval_line_parse(const char *text, struct uvmeval_line *line)
{
    *line = (struct uvmeval_line){.kind = UVMEVAL_OTHER};
    if (*text == 0 || *text == ' ') {
        line->kind = UVMEVAL_BLANK;
        return;
    }
    const char *p = skip_prefix(text, line);
    static const char destroy[] = "uvm range destroy", vrange[] = "vrange,";
    if (strncmp(p, vrange, sizeof vrange - 1) == 0) {
        line->kind = range(p + sizeof vrange - 1, line) ? UVMEVAL_RANGE : UVMEVAL_BAD;
    } else if (strncmp(p, destroy, sizeof destroy - 1) == 0) {
        const char *colon = strchr(p, ':');
        line->kind = colon && range(colon + 1, line) ? UVMEVAL_RANGE : UVMEVAL_BAD;
    } else if (p[0] == '0' && range(p, line)) {
        line->kind = UVMEVAL_RANGE;
    } else if (p[0] && p[1] == ',' && strchr("sfbepda", p[0])) {
        /* Addresses are hexadecimal; of the lines that start with e the 31 fields of a failed batch are not. */
        bool hex = strchr("fpda", p[0]) || (p[0] == 'e' && !strchr(p + 2, ','));
        line->kind = numbers(p + 2, hex, line) ? letter_kind(p[0], line)
                     : p[0] == 'd'             ? UVMEVAL_DISCARD
                     : p[0] == 'a'             ? UVMEVAL_NOTICE
                                               : UVMEVAL_BAD;
    }
}
