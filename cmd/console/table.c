#include "cmd/console/table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/console/printable.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

void table_init(struct table *table, size_t columns)
{
    memset(table, 0, sizeof *table);
    table->columns = columns;
}

void table_release(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free((void *)table->cells);
    memset(table, 0, sizeof *table);
}

static void out_of_memory(void)
{
    (void)fputs("offchip: out of memory while making a table\n", stderr);
    exit(1);
}

void table_cell(struct table *table, const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0 || mem_grow((void **)&table->cells, &table->cap, table->count + 1, sizeof *table->cells, NULL))
        out_of_memory();
    table->cells[table->count++] = printable(text);
}

/* Columns of UTF-8 text, continuation bytes not counted. */
static size_t width(const char *text)
{
    size_t n = 0;
    for (const char *p = text; *p; p++)
        n += ((unsigned char)*p & 0xC0) != 0x80;
    return n;
}

static bool numeric(const char *text)
{
    if (strcmp(text, "n/a") == 0 || !*text)
        return true;
    const char *p = text + (*text == '-' || *text == '~');
    return isdigit((unsigned char)*p);
}

/* How wide a column is, and whether it stands to the right: all its cells but the header are numbers. */
struct layout {
    size_t widest;
    bool right;
};

static struct layout column_layout(const struct table *table, size_t column)
{
    size_t rows = table->count / table->columns;
    struct layout layout = {0, rows > 1};
    for (size_t r = 0; r < rows; r++) {
        const char *cell = table->cells[r * table->columns + column];
        size_t w = width(cell);
        layout.widest = w > layout.widest ? w : layout.widest;
        layout.right = layout.right && (r == 0 || numeric(cell));
    }
    return layout;
}

/* Terminals get a bold head, unless NO_COLOR is set (no-color.org) or they can do nothing of the kind. */
static bool bold_head(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void table_print(const struct table *table, FILE *to)
{
    bool bold = bold_head(to);
    struct layout *layouts = mem_zalloc(table->columns, sizeof *layouts, NULL);
    if (!layouts)
        out_of_memory();
    for (size_t c = 0; c < table->columns; c++)
        layouts[c] = column_layout(table, c);
    for (size_t i = 0; i < table->count / table->columns * table->columns; i++) {
        const struct layout *layout = &layouts[i % table->columns];
        const char *cell = table->cells[i];
        int pad = (int)(layout->widest - width(cell));
        bool last = (i + 1) % table->columns == 0;
        if (bold && i == 0)
            (void)fputs("\033[1m", to);
        if (layout->right)
            (void)fprintf(to, "%*s%s", pad, "", cell);
        else
            (void)fprintf(to, "%s%*s", cell, last ? 0 : pad, "");
        if (bold && i + 1 == table->columns)
            (void)fputs("\033[0m", to);
        (void)fputs(last ? "\n" : "  ", to);
    }
    free(layouts);
}

/* Whether a spreadsheet would compute the cell. -5, -1.5e3 and -5..3 are numbers. */
static bool is_formula(const char *cell)
{
    if (*cell == '-')
        return cell[strspn(cell, "-+.0123456789eE")] != 0;
    return *cell && strchr("=+@\t\r", *cell);
}

void table_csv_cell(const char *cell, FILE *to)
{
    const char *mark = is_formula(cell) ? "'" : "", *quote = strpbrk(cell, ",\"\n\r") ? "\"" : "";
    (void)fprintf(to, "%s%s", quote, mark);
    for (const char *p = cell; *p; p++) {
        if (*p == '"')
            (void)fputc('"', to);
        (void)fputc(*p, to);
    }
    (void)fputs(quote, to);
}

void table_csv(const struct table *table, FILE *to)
{
    for (size_t i = 0; i < table->count; i++) {
        table_csv_cell(table->cells[i], to);
        (void)fputc((i + 1) % table->columns ? ',' : '\n', to);
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *number(const struct metric *metric, double value, char *buf, size_t size)
{
    if (ends_with(metric->name, "_per_s") && ends_with(metric->name, "bytes_per_s")) {
        (void)snprintf(buf, size, "%.3g GB/s", value / 1e9);
        return buf;
    }
    if (ends_with(metric->name, "_bytes"))
        return units_human_bytes(value, buf, size);
    if (ends_with(metric->name, "_ns"))
        return units_human_ns(value, buf, size);
    if (metric->type == METRIC_INT)
        (void)snprintf(buf, size, "%.0f", value);
    else if (fabs(value) >= 1000)
        (void)snprintf(buf, size, "%.0f", value);
    else
        (void)snprintf(buf, size, "%.*f", fabs(value) >= 100 ? 1 : fabs(value) >= 10 ? 2 : 3, value);
    return buf;
}

const char *table_metric(const struct metric *metric, const struct metric_value *value, char *buf, size_t size)
{
    char lo[64], hi[64], *whole = buf;
    if (value->unbound && value->known && size) {
        *buf++ = '~';
        size--;
    }
    if (value->interval)
        (void)snprintf(buf, size, "%s .. %s", number(metric, value->lo, lo, sizeof lo),
                       number(metric, value->hi, hi, sizeof hi));
    else if (!value->known)
        (void)snprintf(buf, size, "n/a");
    else if (metric->type == METRIC_INT && !ends_with(metric->name, "_bytes") && !ends_with(metric->name, "_ns"))
        (void)snprintf(buf, size, "%lld", (long long)value->whole);
    else
        number(metric, value->real, buf, size);
    return whole;
}
