#include "cmd/console/table.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/console/printable.h"
#include "trace/base/csv_text.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

enum { SEPARATOR = 2 }; /* columns */

void table_init(struct table *table, size_t columns)
{
    memset(table, 0, sizeof *table);
    table->columns = columns;
}

/* NULL: the name is not mangled, or stays so. */
static char *demangled(const char *name)
{
    char *(*demangle)(const char *name, char *out, size_t *bytes, int *status);
    int status = -1;
    void *library = strncmp(name, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
    void *p = library ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &p, sizeof demangle);
    return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

void table_kernel(struct table *t, const char *name, size_t most)
{
    char *plain = demangled(name);
    const char *text = plain ? plain : name;
    size_t n = strlen(text);
    const bool cut = lines_columns(text, n) > most;
    for (n = cut ? most - 3 : n; cut && n && ((unsigned char)text[n] & 0xc0) == 0x80;) /* inside a character */
        n--;
    table_cell(t, "%.*s%s", (int)n, text, cut ? "..." : "");
    free(plain);
}

void table_words(struct table *table, const char *const *words)
{
    for (; *words; words++)
        table_cell(table, "%s", *words);
}

void table_begin(struct table *table, const char *const *words)
{
    table_init(table, 0);
    for (const char *const *w = words; *w; w++)
        table->columns++;
    table_words(table, words);
}

void table_release(struct table *table)
{
    mem_free_texts(table->cells, table->count);
    memset(table, 0, sizeof *table);
}

void table_cell(struct table *table, const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n >= 0 && !table->failed && MEM_ADD(table->cells, table->count, table->cap, NULL, printable(text)) == 0)
        return;
    if (n >= 0)
        free(text);
    table->failed = true;
    printable_fail();
}

void table_head(struct table *table, const char *name, bool ends)
{
    table_cell(table, "%s", name);
    if (ends) {
        table_cell(table, "%s_lo", name);
        table_cell(table, "%s_hi", name);
    }
}

void table_real(struct table *table, bool known, double value)
{
    if (known)
        table_cell(table, "%.17g", value);
    else
        table_cell(table, "%s", "");
}

void table_exact(struct table *table, const struct metric *metric, const struct metric_value *value, bool ends)
{
    if (value->known && metric && metric->type == METRIC_INT)
        table_cell(table, "%lld", (long long)value->whole);
    else
        table_real(table, value->known, value->real);
    if (ends) {
        table_real(table, value->interval, value->lo);
        table_real(table, value->interval, value->hi);
    }
}

static size_t width(const char *text)
{
    return lines_columns(text, strlen(text));
}

static bool numeric(const char *text)
{
    if (strcmp(text, "n/a") == 0 || strcmp(text, "=") == 0 || !*text)
        return true;
    const char *p = text + strspn(text, "-~> ");
    return isdigit((unsigned char)*p);
}

/* --- fitting a table to the terminal --- */

/* A column's width, its least width, and whether it is set to the right: all cells but the header are numbers. */
struct layout {
    size_t width, least;
    bool right;
};

static struct layout column_layout(const struct table *table, size_t column)
{
    size_t rows = table->count / table->columns;
    struct layout layout = {.right = rows > 1};
    for (size_t r = 0; r < rows; r++) {
        const char *cell = table->cells[r * table->columns + column];
        const size_t w = width(cell);
        layout.width = w > layout.width ? w : layout.width;
        layout.right = layout.right && (r == 0 || numeric(cell));
        for (const char *p = cell; *p; p += lines_piece(p)) {
            const size_t least = lines_columns(p, lines_trimmed(p, lines_piece(p)));
            layout.least = least > layout.least ? least : layout.least;
        }
    }
    layout.least = layout.right ? layout.width : layout.least;
    return layout;
}

/* Narrow the widest columns until the table fits or none can be narrower. */
static void narrow(struct layout *layouts, size_t columns, size_t room)
{
    for (;;) {
        size_t total = SEPARATOR * (columns - 1), second = 0;
        struct layout *widest = NULL;
        for (size_t c = 0; c < columns; c++) {
            struct layout *l = &layouts[c];
            total += l->width;
            if (l->width > l->least && (!widest || l->width > widest->width)) {
                second = widest ? widest->width : 0;
                widest = l;
            } else if (l->width > l->least && l->width > second) {
                second = l->width;
            }
        }
        if (total <= room || !widest)
            return;
        /* As wide as the next one at least, or they would change places for ever. */
        const size_t excess = total - room, few = widest->width > second ? widest->width - second : 1;
        const size_t can = widest->width - widest->least, less = excess < few ? excess : few;
        widest->width -= less < can ? less : can;
    }
}

/* Terminals get a bold head, unless NO_COLOR is set (no-color.org) or they can do nothing of the kind. */
static bool bold_head(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* Columns 0..keys-1 and from..end-1 of a table. */
struct block {
    const struct table *table;
    const struct layout *layouts;
    size_t keys, from, end;
    const char **rest; /* of the row under way: what is still to be printed of each cell */
};

/* One line of the row under way, without spaces at its end; whether there is more of the row. */
static bool print_line(const struct block *b, bool bold, FILE *to)
{
    bool more = false;
    size_t spaces = 0;
    (void)fputs(bold ? "\033[1m" : "", to);
    for (size_t c = 0; c < b->end; c = c + 1 == b->keys ? b->from : c + 1) {
        const struct layout *layout = &b->layouts[c];
        const char *text = b->rest[c];
        size_t bytes = width(text) <= layout->width ? strlen(text) : lines_bytes(text, layout->width);
        b->rest[c] += bytes;
        more |= *b->rest[c] != 0;
        bytes = lines_trimmed(text, bytes);
        const size_t w = lines_columns(text, bytes), pad = layout->width > w ? layout->width - w : 0;
        spaces += layout->right ? pad : 0;
        if (bytes > 0) {
            (void)fprintf(to, "%*s%.*s", (int)spaces, "", (int)bytes, text);
            spaces = 0;
        }
        spaces += SEPARATOR + (layout->right ? 0 : pad);
    }
    (void)fputs(bold ? "\033[0m\n" : "\n", to);
    return more;
}

static void print_block(const struct block *b, FILE *to)
{
    const size_t columns = b->table->columns;
    for (size_t r = 0; r < b->table->count / columns; r++) {
        for (size_t c = 0; c < columns; c++)
            b->rest[c] = b->table->cells[r * columns + c];
        while (print_line(b, r == 0 && bold_head(to), to))
            ;
    }
}

/* Count the columns that every block repeats: the keys, if they leave room for the widest other column. */
static size_t repeated(const struct table *table, const struct layout *layouts, size_t room)
{
    size_t used = 0, widest = 0;
    for (size_t c = 0; c < table->columns; c++)
        if (c < table->keys)
            used += layouts[c].width + SEPARATOR;
        else
            widest = layouts[c].width > widest ? layouts[c].width : widest;
    return table->keys && (!room || used + widest <= room) ? table->keys : 1;
}

void table_print(const struct table *table, FILE *to)
{
    const size_t room = lines_width(to);
    struct layout *layouts = mem_zalloc(table->columns, sizeof *layouts, NULL);
    const char **rest = mem_zalloc(table->columns, sizeof *rest, NULL);
    if (!layouts || !rest || table->failed) {
        free(layouts);
        free((void *)rest);
        printable_fail();
        return;
    }
    for (size_t c = 0; c < table->columns; c++)
        layouts[c] = column_layout(table, c);
    if (room)
        narrow(layouts, table->columns, room);
    /* What still does not stand side by side stands below, behind the keys again. */
    const size_t keys = repeated(table, layouts, room);
    size_t from = keys;
    do {
        size_t used = 0, end = from;
        for (size_t c = 0; c < keys; c++)
            used += layouts[c].width + (c > 0 ? SEPARATOR : 0);
        for (; end < table->columns; end++) {
            used += SEPARATOR + layouts[end].width;
            if (room && used > room && end > from)
                break;
        }
        const struct block block = {table, layouts, keys, from, end, rest};
        (void)fputs(from > keys ? "\n" : "", to);
        print_block(&block, to);
        from = end;
    } while (from < table->columns && !table->left);
    if (table->left)
        *table->left = table->columns - from;
    free(layouts);
    free((void *)rest);
}

void table_csv(const struct table *table, FILE *to)
{
    for (size_t i = 0; i < table->count && !table->failed; i++) {
        csv_text_put(to, table->cells[i], false);
        (void)fputc((i + 1) % table->columns ? ',' : '\n', to);
    }
}

void table_finish(struct table *table, bool csv)
{
    (csv ? table_csv : table_print)(table, stdout);
    table_release(table);
}

void table_joined(struct table *table, json_t *texts, const char *between)
{
    char *all = NULL;
    size_t bytes = 0, i;
    json_t *text;
    FILE *to = open_memstream(&all, &bytes);
    json_array_foreach(texts, i, text) if (to)(void) fprintf(to, "%s%s", i ? between : "", json_string_value(text));
    table->failed |= !texts || !to || fclose(to);
    if (table->failed)
        printable_fail();
    else
        table_cell(table, "%s", all);
    free(all);
    json_decref(texts);
}

void table_estimates(struct table *table, const struct outcome *run)
{
    json_t *names = json_array();
    for (size_t m = 0; m < run->count; m++)
        if (run->values[m].unbound && run->values[m].known)
            json_tree_add(&names, json_string(run->metrics[m].name));
    table_joined(table, names, " ");
}

void table_leave_out(struct table *table, size_t column)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count && !table->failed; i++)
        if (i % table->columns == column)
            free(table->cells[i]);
        else
            table->cells[kept++] = table->cells[i];
    table->count = table->failed ? table->count : kept;
    table->columns -= !table->failed;
}

void table_leave_out_empty(struct table *table, size_t first, size_t end)
{
    for (size_t c = end; c-- > first && !table->failed;) {
        bool said = false;
        for (size_t i = table->columns + c; i < table->count; i += table->columns)
            said |= *table->cells[i] != 0;
        if (!said)
            table_leave_out(table, c);
    }
}

void left_out_add(struct left_out *left, bool known)
{
    left->known += known;
    left->unknown += !known;
}

void left_out_say(const struct left_out *left, const char *where)
{
    const size_t metrics = left->known ? left->known : left->unknown;
    char unknown[128] = "";
    if (left->known && left->unknown)
        (void)snprintf(unknown, sizeof unknown, ", and %zu n/a %s", left->unknown, where);
    else if (left->unknown)
        (void)snprintf(unknown, sizeof unknown, ", n/a %s", where);
    if (metrics)
        printable_print(stdout, "left out: %zu metric%s%s (--all prints them)\n", metrics, metrics == 1 ? "" : "s",
                        unknown);
}
