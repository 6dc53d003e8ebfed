#include "trace/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

struct suffix {
    const char *name;
    double factor;
};

static const struct suffix byte_suffixes[] = {{"", 1},       {"B", 1},        {"K", 0x1p10}, {"KiB", 0x1p10},
                                              {"M", 0x1p20}, {"MiB", 0x1p20}, {"G", 0x1p30}, {"GiB", 0x1p30},
                                              {"T", 0x1p40}, {"TiB", 0x1p40}, {"kB", 1e3},   {"KB", 1e3},
                                              {"MB", 1e6},   {"GB", 1e9},     {"TB", 1e12},  {NULL, 0}};

static const struct suffix time_suffixes[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};

int units_parse_int(const char *text, int64_t *value, struct err *err)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits))
        return err_set(err, "'%.80s' is not a whole number", text);
    int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, base);
    if (errno == ERANGE)
        return err_set(err, "'%.80s' does not fit 64 bits", text);
    if (*end)
        return err_set(err, "'%.80s' is not a whole number", text);
    *value = v;
    return 0;
}

int units_parse_range(const char *text, int64_t *lo, int64_t *hi, struct err *err)
{
    char low[32];
    const char *colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof low)
        return err_set(err, "'%.80s' is not LO:HI", text);
    (void)snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
    return units_parse_int(low, lo, err) || units_parse_int(colon + 1, hi, err) ? -1 : 0;
}

/* Digits, one dot, an exponent: read by hand so that no locale changes the meaning. Returns the end, NULL if none. */
static const char *scan_real(const char *text, double *value)
{
    const char *p = text + (*text == '-' || *text == '+');
    bool digit = false;
    long double v = 0;
    int scale = 0;
    for (bool dot = false; isdigit((unsigned char)*p) || (*p == '.' && !dot); p++) {
        if (*p == '.') {
            dot = true;
            continue;
        }
        digit = true;
        v = v * 10 + (*p - '0');
        scale -= dot;
    }
    if (!digit)
        return NULL;
    if ((*p == 'e' || *p == 'E') &&
        (isdigit((unsigned char)p[1]) || ((p[1] == '-' || p[1] == '+') && isdigit((unsigned char)p[2])))) {
        char *end;
        long e = strtol(p + 1, &end, 10);
        if (e > 400 || e < -400)
            return NULL;
        scale += (int)e;
        p = end;
    }
    v = scale < 0 ? v / powl(10, -scale) : v * powl(10, scale);
    *value = (double)(*text == '-' ? -v : v);
    return isfinite(*value) ? p : NULL;
}

int units_parse_real(const char *text, double *value, struct err *err)
{
    double v;
    const char *end = scan_real(text, &v);
    if (!end || *end)
        return err_set(err, "'%.80s' is not a number", text);
    *value = v;
    return 0;
}

static int parse_suffixed(const char *text, const struct suffix *suffixes, const char *what, int64_t *value,
                          struct err *err)
{
    double v;
    const char *end = scan_real(text, &v);
    if (end)
        while (*end == ' ')
            end++;
    for (const struct suffix *s = suffixes; end && s->name; s++) {
        if (strcmp(end, s->name) != 0)
            continue;
        if (s->factor == 1 && !strpbrk(text, ".eE")) {
            char *stop;
            errno = 0;
            *value = strtoll(text, &stop, 10);
            return errno ? err_set(err, "'%.80s' does not fit 64 bits", text) : 0;
        }
        double scaled = v * s->factor;
        if (fabs(scaled) >= 0x1p63)
            return err_set(err, "'%.80s' does not fit 64 bits", text);
        if (scaled != floor(scaled))
            return err_set(err, "'%.80s' is not a whole number of %s", text, what);
        *value = (int64_t)scaled;
        return 0;
    }
    char known[80] = "";
    for (const struct suffix *s = suffixes + 1; s->name; s++)
        (void)mem_add_text(known, sizeof known, " %s", s->name);
    return err_set(err, "'%.80s' is not a number of %s; known units:%s", text, what, known);
}

int units_parse_bytes(const char *text, int64_t *bytes, struct err *err)
{
    return parse_suffixed(text, byte_suffixes, "bytes", bytes, err);
}

int units_parse_ns(const char *text, int64_t *ns, struct err *err)
{
    return parse_suffixed(text, time_suffixes, "nanoseconds", ns, err);
}

const char *units_format_bytes(int64_t bytes, char *buf, size_t size)
{
    static const char *const names[] = {"", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (unit < 4 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(buf, size, "%lld%s", (long long)bytes, names[unit]);
    return buf;
}

static const char *human(double value, double step, const char *const *names, int last, char *buf, size_t size)
{
    int unit = 0;
    double shown = value;
    while (unit < last && fabs(shown) >= step) {
        shown /= step;
        unit++;
    }
    int digits = fabs(shown) >= 100 || shown == floor(shown) ? 0 : fabs(shown) >= 10 ? 1 : 2;
    (void)snprintf(buf, size, "%.*f %s", digits, shown, names[unit]);
    return buf;
}

const char *units_human_bytes(double bytes, char *buf, size_t size)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return human(bytes, 1024, names, 4, buf, size);
}

const char *units_human_ns(double ns, char *buf, size_t size)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    return human(ns, 1000, names, 3, buf, size);
}

const char *units_human_count(int64_t count, char *buf, size_t size)
{
    char digits[32];
    size_t used = 0;
    (void)snprintf(digits, sizeof digits, "%" PRId64, count);
    for (const char *p = digits; *p && used + 1 < size; p++) {
        buf[used++] = *p;
        if (*p != '-' && p[1] && strlen(p + 1) % 3 == 0 && used + 1 < size)
            buf[used++] = ',';
    }
    if (size)
        buf[used] = 0;
    return buf;
}
