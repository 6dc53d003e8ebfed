#include "trace/graph/graph_build.h"

#include <inttypes.h>
#include <string.h>

#include "trace/base/units.h"
#include "trace/import/field.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';';
}

bool graph_line_done(const char *p)
{
    while (blank(*p))
        p++;
    return *p == 0;
}

bool graph_take_u64(const char **p, uint64_t *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    uint64_t v;
    if (!field_digits(&s, &v))
        return false;
    if (*s && !blank(*s))
        return false;
    *p = s;
    *value = v;
    return true;
}

bool graph_take_i64(const char **p, int64_t *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    bool negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    uint64_t v;
    if (*s < '0' || *s > '9' || !graph_take_u64(&s, &v) || v > INT64_MAX)
        return false;
    *value = negative ? -(int64_t)v : (int64_t)v;
    *p = s;
    return true;
}

bool graph_take_real(const char **p, double *value)
{
    const char *s = *p;
    while (blank(*s))
        s++;
    char word[64];
    size_t n = 0;
    while (s[n] && !blank(s[n]))
        n++;
    if (n == 0 || n >= sizeof word)
        return false;
    memcpy(word, s, n);
    word[n] = 0;
    if (units_parse_real(word, value, NULL))
        return false;
    *p = s + n;
    return true;
}

bool graph_head_line(const unsigned char *head, size_t n, size_t *at, char *line, size_t size)
{
    while (*at < n) {
        size_t end = *at;
        while (end < n && head[end] != '\n')
            end++;
        size_t length = end - *at < size - 1 ? end - *at : size - 1;
        memcpy(line, head + *at, length);
        line[length] = 0;
        if (length && line[length - 1] == '\r')
            line[length - 1] = 0;
        *at = end + 1;
        if (strlen(line) == length - (length && head[end - 1] == '\r') && *line != '#' && *line != '%' &&
            !graph_line_done(line))
            return true;
    }
    return false;
}

void graph_text_edges(FILE *file, const struct graph *g, uint64_t first, bool weighted)
{
    for (uint64_t v = 0; v < g->vertices; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            if (weighted)
                (void)fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRId32 "\n", v + first, graph_target(g, i) + first,
                              g->weights[i]);
            else
                (void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", v + first, graph_target(g, i) + first);
        }
}
